//! Runs the crash tests for long. `cargo xtask test` runs a short form of the same tests, which are in `tests/crash`
//! and `tests/sessions/on_disk`.

use anyhow::{Context, Result, bail};

use crate::build::{self, Profile};
use crate::conditional_tests::can_mount;
use crate::run::{cargo, run, say};

/// Number of cycles of each test without `--cycles`.
const CYCLES: u32 = 200;

/// Prefixes of the names of the tests that kill processes or cut the power.
const TESTS: [&str; 6] = [
    "crash::blobs::",
    "crash::durable_runs::",
    "crash::store::",
    "sessions::on_disk::run_killed",
    "sessions::on_disk::disk::sessions",
    "sessions::on_disk::kills::",
];

/// Runs the crash tests one after the other, with both databases.
pub(crate) fn crash(arguments: &[&str]) -> Result<()> {
    let cycles = match arguments {
        [] => CYCLES,
        ["--cycles", given] => given.parse().with_context(|| format!("`--cycles {given}` is no whole number"))?,
        _ => bail!("`{}` is none of the arguments of `cargo xtask crash`: `--cycles N`", arguments.join(" ")),
    };
    say(&format!(
        "killing {cycles} times each, and cutting the power a sixth as often, which takes root and loop devices"
    ));
    build::all(Profile::Debug)?;
    // With the default members, as every other build: another selection of packages has other features, and builds
    // wasmtime again.
    let mut tests = cargo(&["test", "--features", "tollhouse-tests/redb", "--test", "all", "--"]);
    tests.args(TESTS).args(["--nocapture", "--test-threads=1"]);
    match can_mount() {
        true => drop(tests.arg("--include-ignored")),
        false => say("not run: power cuts, since no file system can be mounted here"),
    }
    run(tests.env("TOLLHOUSE_CRASH_CYCLES", cycles.to_string()))
}
