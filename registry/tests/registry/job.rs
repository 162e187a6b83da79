//! Work that a test has done by another process: this test program again, told by its environment what to do.

use std::{
    env,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use tollhouse_registry::{PublishError, Registry, package_dir};

use crate::support::request;

const JOB: &str = "TOLLHOUSE_REGISTRY_TEST_JOB";
const PLACE: &str = "TOLLHOUSE_REGISTRY_TEST_PLACE";

/// The command that does a job at a place. Its lines of output that begin with `> ` are the job's.
pub(crate) fn command(job: &str, place: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("a running program has a path"));
    command.args(["--exact", "job::run", "--nocapture"]);
    command.env(JOB, job).env(PLACE, place).env_remove("CARGO_TARGET_DIR");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command
}

/// Returns the lines that a job printed as its result.
pub(crate) fn said(output: &str) -> Vec<&str> {
    output.lines().filter_map(|line| line.split_once("> ")).map(|(_, said)| said).collect()
}

#[test]
fn run() {
    let (Ok(job), Some(place)) = (env::var(JOB), env::var_os(PLACE)) else { return };
    let place = Path::new(&place);
    let (verb, rest) = job.split_once(' ').unwrap_or((&job, ""));
    match verb {
        "publish" => publish(place, rest),
        "fill" => fill(place, rest),
        "package" => package(place),
        _ => panic!("no such job: {job}"),
    }
}

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("> {what}\n").as_bytes()).and_then(|()| out.flush()).expect("the test reads");
}

/// Publishes one version, with a note of its own.
fn publish(place: &Path, note: &str) {
    let registry = Registry::open(place).expect("it opens");
    say(match registry.publish(request("a:b", "1.0.0", note)) {
        Ok(published) if published.already => "already",
        Ok(_) => "won",
        Err(PublishError::Exists { .. }) => "exists",
        Err(error) => panic!("{error}"),
    });
}

/// Publishes until it is killed, and says what is published.
fn fill(place: &Path, package: &str) {
    let registry = Registry::open(place).expect("it opens");
    for minor in 0.. {
        let version = format!("1.{minor}.0");
        registry.publish(request(package, &version, &version)).expect("it publishes");
        say(&version);
    }
}

/// Reads a package directory, and publishes it into a registry in it.
fn package(place: &Path) {
    let outcome = package_dir(place).map_err(|error| format!("{error} / {}", error.hint().unwrap_or_default()));
    let published = outcome.and_then(|request| {
        let registry = Registry::open(place.join("registry")).expect("it opens");
        registry.publish(request).map_err(|error| error.to_string())
    });
    match published {
        Ok(published) => {
            let release = published.release;
            say(&format!("{}@{} {}", release.name, release.version, release.component.size));
        }
        Err(error) => say(&error.replace('\n', " ")),
    }
}
