//! Many at once, and killed in the middle.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    thread,
    time::Duration,
};

use tollhouse_registry::{PublishError, Registry};

use crate::{
    job,
    support::{Home, request, requirement},
};

/// Runs a process for each note, all at once, each of which publishes one version with its own note; counts the
/// outcomes.
fn race(notes: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let home = Home::new();
    let place = home.path("registry");
    let children: Vec<_> =
        notes.map(|note| job::command(&format!("publish {note}"), &place).spawn().expect("it starts")).collect();
    let mut outcomes = BTreeMap::new();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success());
        for said in job::said(&String::from_utf8_lossy(&output.stdout)) {
            *outcomes.entry(said.to_owned()).or_default() += 1;
        }
    }
    let registry = home.open().expect("the index is whole");
    let releases = registry.list().expect("it reads");
    assert_eq!(releases.len(), 1);
    registry.load_component(&releases[0]).expect("the blob is whole");
    outcomes
}

#[test]
fn release_raced_with_different_bytes_is_published_once() {
    let outcomes = race((0..50).map(|at| format!("note {at}")));
    assert_eq!(outcomes, BTreeMap::from([("won".into(), 1), ("exists".into(), 49)]));
}

#[test]
fn release_raced_with_same_bytes_is_published_once() {
    let outcomes = race((0..50).map(|_| "note".into()));
    assert_eq!(outcomes, BTreeMap::from([("won".into(), 1), ("already".into(), 49)]));
}

#[test]
fn registry_shared_by_threads_stays_consistent() {
    let home = Home::new();
    let won: usize = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            for _ in 0..200 {
                for release in home.open().expect("it opens").list().expect("whole at any time") {
                    home.registry.load_component(&release).expect("what is named is there");
                }
            }
        });
        let writers: Vec<_> = (0..8)
            .map(|at| {
                let registry = &home.registry;
                scope.spawn(move || {
                    (0..6)
                        .filter(|minor| {
                            match registry.publish(request("a:b", &format!("1.{minor}.0"), &at.to_string())) {
                                Ok(published) => !published.already,
                                Err(PublishError::Exists { .. }) => false,
                                Err(error) => panic!("{error}"),
                            }
                        })
                        .count()
                })
            })
            .collect();
        let won = writers.into_iter().map(|writer| writer.join().expect("no panic")).sum();
        reader.join().expect("no panic");
        won
    });
    assert_eq!(won, 6);
    assert_eq!(home.open().expect("it opens").list().expect("it reads").len(), 6);
}

/// After a kill, every release that was reported as published is there, and whatever else is there is whole; and the
/// registry goes on from there.
#[test]
fn registry_survives_kills_of_publishers() {
    let home = Home::new();
    let place = home.path("registry");
    for round in 0..12_u64 {
        let package = format!("kill:round-{round}");
        let mut child = job::command(&format!("fill {package}"), &place).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        // The first one shows that it is at work; how far it is then is chance, and the delay adds to it.
        let mut said: Vec<String> = Vec::new();
        for line in lines.by_ref() {
            said.extend(job::said(&line.expect("text")).into_iter().map(ToOwned::to_owned));
            if !said.is_empty() {
                break;
            }
        }
        thread::sleep(Duration::from_micros(1_700 * round + 300));
        child.kill().expect("it can be killed");
        child.wait().expect("it is dead");
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        said.extend(rest.iter().flat_map(|line| job::said(line)).map(ToOwned::to_owned));
        let registry = Registry::open(&place).expect("the index is whole or torn, and not altered");
        for version in said {
            let wanted = requirement(&format!("{package}@={version}"));
            let release = registry.resolve(&wanted.name, &wanted.versions).expect("it was said to be published");
            registry.load_component(&release).expect("and is whole");
        }
        for release in registry.list().expect("it reads") {
            registry
                .show(&release.name, &format!("={}", release.version).parse().expect("a requirement"))
                .expect("whole");
            registry.load_component(&release).expect("whole");
        }
    }
    let before = home.open().expect("it opens").list().expect("it reads").len();
    home.registry.publish(request("a:b", "1.0.0", "after")).expect("it goes on");
    assert_eq!(home.open().expect("it opens").list().expect("it reads").len(), before + 1);
}
