//! The figures that Tollhouse promises, beside Node.js's.

use anyhow::Result;

use crate::build::{self, Profile, binary};
use crate::run::{cargo, run};

/// Measures a release build.
pub(crate) fn bench() -> Result<()> {
    build::all(Profile::Release)?;
    let mut bench = cargo(&["run", "--release", "--quiet", "--package", "tollhouse-tests", "--bin", "bench"]);
    run(bench.env("TOLLHOUSE_BIN", binary(Profile::Release)))
}
