//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use tollhouse_cli::Program;

/// Runs the command line with these arguments, of which the first is the program's name, and ends the process. `executable`
/// and `before` run it once more.
#[pyfunction]
pub(crate) fn command_line(py: Python<'_>, executable: PathBuf, before: Vec<OsString>, arguments: Vec<OsString>) {
    let program = Program { executable, before };
    let exit = py.detach(|| tollhouse_cli::main(program, arguments));
    // Not by way of the interpreter, which knows nothing of what Rust has not written out yet.
    std::process::exit(exit.code().into());
}
