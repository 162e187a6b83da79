//! Python: componentize-py, from PyPI, in a virtual environment of the package's own.

use std::io;
use std::path::PathBuf;

use tollhouse_registry::{MAX_COMPONENT, untrusted_file, without_export};

use super::{BuildJob, CliError, LEFT, Result, write};

/// Hint on how to install Python.
const PYTHON: &str = "install Python 3.10 or newer: https://python.org, or `apt-get install python3 python3-venv`";

/// Hint for a virtual environment that lacks the program.
const COMPONENTIZE: &str = "`requirements.txt` must name it: type \
    `echo componentize-py==0.25.1 >> requirements.txt`, and build again";

/// Marker of the installed dependencies: a copy of `requirements.txt`.
const STAMP: &str = ".venv/tollhouse-requirements.txt";

pub(super) fn build(job: &BuildJob<'_>, command: &[String]) -> Result<PathBuf> {
    let requirements = job.text("requirements.txt")?.unwrap_or_default();
    if !job.is_installed(STAMP, &requirements) {
        let mut python = job.command("python3");
        python.args(["-m", "venv", ".venv"]);
        job.run(python, PYTHON)?;
        let mut pip = job.command(job.directory.join(".venv/bin/python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
            "requirements.txt",
        ]);
        job.run(pip, "type: rm -rf .venv && python3 -m venv .venv; Debian has that in the package `python3-venv`")?;
        job.installed(STAMP, &requirements);
    }
    let left = job.left();
    if let [_, ..] = command {
        job.run(job.words(command), COMPONENTIZE)?;
        return without_initialiser(left);
    }
    let (resolve, world) = job.world()?;
    let source = if job.directory.join("src").is_dir() { "src" } else { "." };
    let mut componentize = job.command(job.directory.join(".venv/bin/componentize-py"));
    componentize.args([
        "-d",
        "wit",
        "-w",
        &resolve.worlds[world].name,
        "componentize",
        "app",
        "-p",
        source,
        "-o",
        LEFT,
    ]);
    job.run(componentize, COMPONENTIZE)?;
    without_initialiser(left)
}

/// Removes the interface `exports` that componentize-py leaves in the component's exports: its own initialiser, which
/// has already run.
fn without_initialiser(left: PathBuf) -> Result<PathBuf> {
    let unusable = |error: &(dyn std::error::Error + 'static)| {
        CliError::because(format!("what componentize-py made, `{}`, cannot be used", left.display()), error)
    };
    // A custom build command may write it elsewhere.
    if !left.exists() {
        return Ok(left);
    }
    let component = untrusted_file::read_regular(&left, MAX_COMPONENT as u64);
    let component = component.map_err(|error| unusable(&io::Error::from(error)))?;
    if let Some(without) = without_export(&component, "exports").map_err(|error| unusable(&error))? {
        write(&left, &without).map_err(|error| unusable(&error))?;
    }
    Ok(left)
}
