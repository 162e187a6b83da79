//! The crash tests, for long: `tests/crash` and `tests/sessions/on_disk` have the short form, which `cargo xtask test`
//! runs.

use anyhow::{Context, Result, bail};

use crate::build::{self, Profile};
use crate::conditional_tests::can_mount;
use crate::run::{cargo, run, say};

/// Number of cycles of each kind without `--cycles`.
const CYCLES: u32 = 200;

/// The tests that kill, by the beginning of their names.
const TESTS: [&str; 5] = [
    "crash::blobs::",
    "crash::store::",
    "sessions::on_disk::a_killed_run",
    "sessions::on_disk::disk::sessions",
    "sessions::on_disk::kills::",
];

/// Runs them one after the other, with both stores.
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
    // With the default members: another selection brings other features, and builds wasmtime again.
    let mut tests = cargo(&["test", "--features", "tollhouse-tests/redb", "--test", "all", "--"]);
    tests.args(TESTS).args(["--nocapture", "--test-threads=1"]);
    match can_mount() {
        true => drop(tests.arg("--include-ignored")),
        false => say("not run: power cuts, since no file system can be mounted here"),
    }
    run(tests.env("TOLLHOUSE_CRASH_CYCLES", cycles.to_string()))
}
