//! The test MCP server `tests/mcp-server/server.py`, whose modes make it misbehave, and policies that mount it.

use std::process::Command;

use crate::root;

/// Returns Python as it is installed: the path of the interpreter, and the directory of its library.
///
/// # Panics
/// Panics if Python is not installed.
#[must_use]
pub fn python() -> (String, String) {
    let code = "import os, sys; print(os.path.realpath(sys.executable)); print(sys.base_prefix)";
    let told = Command::new("python3").args(["-c", code]).output().expect("there is Python");
    let told = String::from_utf8(told.stdout).expect("paths are text");
    let mut lines = told.lines().map(str::to_owned);
    (lines.next().expect("the interpreter"), lines.next().expect("its directory"))
}

/// Writes a policy that mounts the test server under `name` in a mode, with the additional keys `keys` in its table,
/// and grants all of its tools.
///
/// # Panics
///
/// Panics if Python is not installed.
#[must_use]
pub fn policy_of(name: &str, mode: &str, keys: &str) -> String {
    let (python, library) = python();
    let beside = root().join("tests/mcp-server/");
    let script = beside.join("server.py");
    format!(
        "[tools]\n[mcp.{name}]\ncommand = [{python:?}, \"-I\", {script:?}, {mode:?}]\nread = [{library:?}, {beside:?}]\n{keys}\n\
         [[grant]]\nmethod = \"{name}/**\"\n"
    )
}
