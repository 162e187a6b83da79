//! Running other programs: visibly, from the root of the workspace, stopping at the first that fails.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    // A binary in a shared target directory may have been compiled in another checkout: cargo says at run time which
    // one it runs for.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(), PathBuf::from);
    xtask.parent().expect("xtask lies in the workspace").to_owned()
}

/// Returns the directory in which cargo builds: `CARGO_TARGET_DIR`, else `target`.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |target| root().join(target))
}

/// Says what comes next.
pub(crate) fn say(what: &str) {
    eprintln!("==> {what}");
}

/// A program, to be run from the root.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// cargo, the same that runs this.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo set for this process is not meant for the next one, and would make it build again.
    cargo.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_PKG_NAME").args(arguments);
    if std::env::var_os("CARGO_TARGET_DIR").is_some() {
        // The host's build script looks in `target`, unless it is told.
        cargo.env("TOLLHOUSE_GUESTS_DIR", target().join("guests"));
    }
    cargo
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// Returns true if a command runs and succeeds. It shows nothing.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs a command and takes what it prints.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} ended with {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{command:?} printed no text"))
}
