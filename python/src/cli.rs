//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use tollhouse_cli::Program;

/// Runs the command line with these arguments, of which the first is the program's name, and ends the process.
/// `executable` and `before` are the command that runs it again.
#[pyfunction]
pub(crate) fn command_line(py: Python<'_>, executable: PathBuf, before: Vec<OsString>, arguments: Vec<OsString>) {
    let program = Program { executable, before };
    let exit = py.detach(|| tollhouse_cli::main(program, arguments));
    // Exits without the interpreter, which does not know the output that Rust has buffered.
    std::process::exit(exit.code().into());
}
