//! The MCP server of the tests, `tests/mcp-server/server.py`, which does as its tools say, and policies that mount it.

use std::process::Command;

use crate::root;

/// Returns Python as it is installed: the path of the interpreter, and the directory of its library.
///
/// # Panics
/// If there is no Python.
#[must_use]
pub fn python() -> (String, String) {
    let code = "import os, sys; print(os.path.realpath(sys.executable)); print(sys.base_prefix)";
    let told = Command::new("python3").args(["-c", code]).output().expect("there is Python");
    let told = String::from_utf8(told.stdout).expect("paths are text");
    let mut lines = told.lines().map(str::to_owned);
    (lines.next().expect("the interpreter"), lines.next().expect("its directory"))
}

/// Writes a policy that mounts the server under a name in one of its modes, with further keys of its table, and grants all
/// of its tools.
///
/// # Panics
/// If there is no Python.
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
