//! The figures that Tollhouse promises, beside Node.js's.

use anyhow::Result;

use crate::build::{self, Profile, binary};
use crate::run::{command, run};

/// Measures a release build.
pub(crate) fn bench() -> Result<()> {
    build::all(Profile::Release)?;
    // It was built with the rest: running it through cargo would select other packages, and build wasmtime again.
    let binary = binary(Profile::Release);
    run(command(binary.with_file_name("bench")).env("TOLLHOUSE_BIN", &binary))
}
