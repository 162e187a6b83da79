//! Runs other programs: with visible output, from the root of the workspace, stopping at the first failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Returns the root of the workspace.
pub(crate) fn root() -> PathBuf {
    // In a shared target directory this binary may have been compiled in another checkout. cargo tells at run time
    // which checkout it runs for.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(), PathBuf::from);
    xtask.parent().expect("xtask lies in the workspace").to_owned()
}

/// Returns the directory in which cargo builds: `CARGO_TARGET_DIR`, else `target`.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |target| root().join(target))
}

/// Prints what is done next.
pub(crate) fn say(what: &str) {
    eprintln!("==> {what}");
}

/// Returns a command that runs a program from the root of the workspace.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Returns a command of the cargo that runs this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Variables that cargo set for this process would make another cargo build everything again.
    cargo.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_PKG_NAME").args(arguments);
    if std::env::var_os("CARGO_TARGET_DIR").is_some() {
        // Without this variable, the host's build script looks in `target`.
        cargo.env("TOLLHOUSE_GUESTS_DIR", target().join("guests"));
    }
    cargo
}

/// Runs a command, and fails if the command does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// Returns true if a command runs and succeeds. Its output is discarded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs a command and returns its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} ended with {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{command:?} printed no text"))
}
