//! What a store has acknowledged is there after `kill -9` and after a power cut, and nothing by halves.
//!
//! - `writer`: a process that commits and says so, until it is killed;
//! - `check`: what must then be there;
//! - `broken`: a disk that fails to keep what it has taken;
//! - `power`: a disk of its own, and what of it is left when the power is cut.
//!
//! A few cycles each; `cargo xtask crash --cycles N` runs many.

mod broken;
mod check;
mod power;
mod writer;

use std::time::Duration;

use check::Acknowledged;
use tollhouse::store::open;
use tollhouse_tests::{cycles, slow_cycles};
use writer::{Kind, Writer, Writers};

/// Number of cycles, unless `TOLLHOUSE_CRASH_CYCLES` says otherwise.
const CYCLES: u32 = 10;

/// Numbers that differ from run to run. What fails here fails by the moment of the kill, which no seed brings back.
fn random(below: u64) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0) % below
}

/// Long enough for some commits, and for the timer of sled; short enough to hit what happens at the start.
fn moment() -> Duration {
    Duration::from_millis(random(if random(4) == 0 { 1500 } else { 250 }))
}

/// The process that is killed: it is this test, run by the others in a process of its own.
#[test]
fn child() {
    writer::child();
}

fn survives_a_kill(kind: Kind) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut acknowledged = Acknowledged::default();
    for cycle in 0..cycles(CYCLES) {
        let mut writer = Writer::start(dir.path(), kind, 0);
        writer.wait_for_one(&mut acknowledged);
        std::thread::sleep(moment());
        writer.kill(&mut acknowledged);
        let store = open(dir.path(), kind.backend()).unwrap_or_else(|error| panic!("cycle {cycle}: {error}"));
        check::check(&store, &mut acknowledged).unwrap_or_else(|lost| panic!("cycle {cycle}: {lost}"));
    }
    println!("{kind:?}: {} kills, {} commits acknowledged, none lost", cycles(CYCLES), acknowledged.commits());
}

fn survives_the_kill_of_its_leader(kind: Kind) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut acknowledged = Acknowledged::default();
    let (mut kills, mut slowest) = (0, Duration::ZERO);
    for cycle in 0..cycles(CYCLES) {
        let mut writers = Writers::start(dir.path(), kind, 3);
        writers.wait_for_all(&mut acknowledged);
        for _ in 0..2 {
            std::thread::sleep(moment() / 3);
            slowest = slowest.max(writers.kill_the_leader(dir.path(), &mut acknowledged));
            kills += 1;
        }
        writers.kill_all(&mut acknowledged);
        let store = open(dir.path(), kind.backend()).unwrap_or_else(|error| panic!("cycle {cycle}: {error}"));
        check::check(&store, &mut acknowledged).unwrap_or_else(|lost| panic!("cycle {cycle}: {lost}"));
    }
    let commits = acknowledged.commits();
    println!(
        "{kind:?}: {kills} leaders killed, {commits} commits acknowledged, none lost or made twice; \
              the next was committed after {slowest:?} at most"
    );
}

fn survives_a_power_cut(kind: Kind) {
    let report = power::cut_the_power(kind, slow_cycles(CYCLES));
    if let Some(lost) = report.lost {
        panic!("{kind:?}: cycle {}: {lost}", report.cycles);
    }
    println!("{kind:?}: {} power cuts, {} commits acknowledged, none lost", report.cycles, report.commits);
}

#[test]
fn sled_survives_a_kill() {
    survives_a_kill(Kind::Sled);
}

#[test]
fn sled_survives_the_kill_of_its_leader() {
    survives_the_kill_of_its_leader(Kind::Sled);
}

#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn sled_survives_a_disk_that_breaks() {
    broken::survives_a_disk_that_breaks(Kind::Sled);
}

#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn sled_survives_a_power_cut() {
    survives_a_power_cut(Kind::Sled);
}

/// The test above would notice: sled as it comes loses what it acknowledged.
#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn flush_alone_does_not_survive_a_power_cut() {
    let report = power::cut_the_power(Kind::PlainSled, 20);
    let lost = report.lost.expect("sled's own flush does not sync, and the test notices");
    println!("plain sled, power cut {}: {lost}", report.cycles);
}

#[cfg(feature = "redb")]
#[test]
fn redb_survives_a_kill() {
    survives_a_kill(Kind::Redb);
}

#[cfg(feature = "redb")]
#[test]
fn redb_survives_the_kill_of_its_leader() {
    survives_the_kill_of_its_leader(Kind::Redb);
}

#[cfg(feature = "redb")]
#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn redb_survives_a_disk_that_breaks() {
    broken::survives_a_disk_that_breaks(Kind::Redb);
}

#[cfg(feature = "redb")]
#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn redb_survives_a_power_cut() {
    survives_a_power_cut(Kind::Redb);
}
