//! Reference side: runs the real programs, isolated in a sandbox.
//!
//! bubblewrap makes the sandbox: an unprivileged user, namespaces of its own, no network, and the system's programs
//! read-only. The only writable directories are `/workspace` and `/tmp`, which are in memory and bounded. This binary
//! itself runs in the sandbox as the [worker](super::worker), and executes one case after the other.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::engine::EngineProcess;
use crate::run::{command, output, root, run, succeeds, target};
use crate::setup;

/// Debian packages of the reference programs, each with a program by which its presence is recognized.
const PACKAGES: [(&str, &str); 11] = [
    ("bubblewrap", "bwrap"),
    ("gawk", "gawk"),
    ("bc", "bc"),
    ("dc", "dc"),
    ("jq", "jq"),
    ("xxd", "xxd"),
    ("bsdextrautils", "column"),
    ("file", "file"),
    ("patch", "patch"),
    ("unzip", "unzip"),
    ("zip", "zip"),
];

/// npm package of jq. Debian's jq is older than the version that Tollhouse follows.
const JQ: &str = "jq-wasm@3.0.0-jq-1.8.2";

/// Command line for jq from npm.
const JQ_PROGRAM: &str = include_str!("jq.mjs");

/// Program that replaces Debian's jq in the sandbox.
const JQ_LAUNCHER: &str = "#!/bin/sh\nexec /usr/bin/node /run/jq/jq.mjs \"$@\"\n";

/// Number of cases after which a sandbox is replaced, so that the limit on its worker's own CPU time is never reached.
const RENEW_AFTER: usize = 1_000;

/// Size of each writable directory in a sandbox, in bytes.
const SCRATCH: &str = "67108864";

/// User id of `nobody`, which the sandbox runs as when root starts it.
const NOBODY: &str = "65534";

/// Reference programs, ready to run.
pub(crate) struct ReferencePrograms {
    worker: TempDir,
}

impl ReferencePrograms {
    /// Installs missing programs where that is possible, and tries the sandbox.
    pub(crate) fn prepare() -> Result<Self> {
        for (package, program) in PACKAGES {
            setup::reference_program(package, program)?;
        }
        let worker = tempfile::Builder::new().prefix("tollhouse-differential-").tempdir()?;
        // A copy, because the user in the sandbox may be unable to read cargo's target directory.
        std::fs::copy(std::env::current_exe()?, worker.path().join("worker"))?;
        std::fs::set_permissions(worker.path(), std::fs::Permissions::from_mode(0o755))?;
        install_jq(&worker.path().join("jq"))?;
        let reference = Self { worker };
        let mut trial = sandbox(reference.worker.path());
        output(trial.args(["/usr/bin/bash", "-c", ":"]))
            .context("bubblewrap cannot make a sandbox here (user namespaces may be disabled)")?;
        Ok(reference)
    }

    /// Returns an engine whose sandbox starts with its first case.
    pub(crate) fn engine(&self) -> EngineProcess {
        let worker = self.worker.path().to_owned();
        EngineProcess::new(RENEW_AFTER, move || {
            let mut command = sandbox(&worker);
            command.args(["/run/worker", "differential-worker"]);
            command
        })
    }
}

/// Writes jq, its command line and its launcher to a directory.
fn install_jq(directory: &Path) -> Result<()> {
    let installed = target().join("differential/npm");
    let npm = run(command("npm").args(["install", "--silent", "--no-fund", "--prefix"]).arg(&installed).arg(JQ));
    npm.with_context(|| format!("npm cannot install {JQ}, which `jq` is compared with"))?;
    std::fs::create_dir(directory)?;
    let package = installed.join("node_modules/jq-wasm");
    run(command("cp").arg("-r").arg(package).arg(directory))?;
    std::fs::write(directory.join("jq.mjs"), JQ_PROGRAM)?;
    let launcher = directory.join("jq");
    std::fs::write(&launcher, JQ_LAUNCHER)?;
    Ok(std::fs::set_permissions(launcher, std::fs::Permissions::from_mode(0o755))?)
}

/// Returns a `bwrap` command, to be completed with the command that runs in the sandbox; `reference` is the directory
/// of jq.
fn sandbox(reference: &Path) -> Command {
    let root_user = output(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut sandbox = command(if root_user { "setpriv" } else { "bwrap" });
    if root_user {
        sandbox.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--no-new-privs", "bwrap"]);
    }
    // Not `--die-with-parent`: the parent is the thread that starts the sandbox, which ends before it. The sandbox ends
    // when its input does.
    sandbox.args(["--unshare-all", "--new-session", "--clearenv", "--cap-drop", "ALL"]);
    sandbox.args(["--ro-bind", "/usr", "/usr"]);
    for (target, link) in [("usr/bin", "/bin"), ("usr/sbin", "/sbin"), ("usr/lib", "/lib"), ("usr/lib64", "/lib64")] {
        sandbox.args(["--symlink", target, link]);
    }
    // Links of Debian's alternatives system, which choose one of several programs, such as `awk`.
    if Path::new("/etc/alternatives").exists() {
        sandbox.args(["--ro-bind", "/etc/alternatives", "/etc/alternatives"]);
    }
    sandbox.args(["--proc", "/proc", "--dev", "/dev"]);
    for scratch in ["/workspace", "/tmp"] {
        sandbox.args(["--size", SCRATCH, "--tmpfs", scratch]);
    }
    let jq = reference.join("jq");
    sandbox.arg("--ro-bind").arg(jq.join("jq")).arg("/usr/bin/jq").arg("--ro-bind").arg(jq).arg("/run/jq");
    sandbox.arg("--ro-bind").arg(reference.join("worker")).arg("/run/worker");
    sandbox.args(["--remount-ro", "/", "--chdir", "/workspace"]);
    sandbox
}

/// Returns true if bubblewrap is installed or can be.
pub(crate) fn available() -> bool {
    succeeds(command("bwrap").arg("--version")) || setup::may_install()
}

/// Returns the versions of the reference programs, for the report.
pub(crate) fn versions() -> String {
    let first_line = |program: &str| {
        let text = output(command(program).arg("--version")).unwrap_or_default();
        text.lines().next().unwrap_or("absent").to_owned()
    };
    let versions: Vec<String> = ["bash", "gawk", "sed", "node"].map(first_line).into_iter().collect();
    format!("{}; {JQ} (in {})", versions.join("; "), root().display())
}
