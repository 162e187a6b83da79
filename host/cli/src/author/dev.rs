//! `tollhouse dev`.
//!
//! It starts toolchains repeatedly, so it is not confined itself; their output is read, compiled and run by processes
//! of this program that are confined as if a person had started them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use tollhouse_registry::package_manifest;

use super::super::confine::ConfineArgs;
use super::super::locations::Locations;
use super::super::publish::package_error;
use super::watch::SourceTimes;
use super::{CliError, CtrlCHandler, Result, directory, lang};
use crate::Exit;

/// Registry of the last build, in the package's directory.
const REGISTRY: &str = "build/registry";

/// Interval at which the sources are checked.
const EVERY: Duration = Duration::from_millis(300);

/// Build and test a tool on each save
///
/// Each build is published into the package's registry build/registry, which is recreated each time, so that the
/// version stays: `tollhouse run --registry build/registry` in another terminal uses the last build. Ctrl-C ends the
/// command, and a running build.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse dev
  tollhouse dev tools/prices --run try.js")]
pub(crate) struct DevCommand {
    /// A package directory
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Run this script after each build, with every function of the package granted; it is watched too
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
    /// Build quickly, like `tollhouse build --debug`
    #[arg(long)]
    debug: bool,
    /// Build and test once, and exit, with status 1 if something fails
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    confine: ConfineArgs,
}

impl DevCommand {
    /// Repeats rounds until Ctrl-C.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        let directory = directory(&self.path)?;
        let stop = CtrlCHandler::listen();
        loop {
            // Read before the build: changes during it are built next.
            let seen = self.sources(&directory);
            let done = self.round(locations, &directory, &stop);
            if stop.is_stopped() {
                return Ok(Exit::SUCCESS);
            }
            let passed = done.unwrap_or_else(|error| {
                error.show();
                false
            });
            if self.once {
                return Ok(if passed { Exit::SUCCESS } else { Exit::FAILURE });
            }
            note!("waiting for a change in {}; Ctrl-C ends", self.path.display());
            while self.sources(&directory) == seen {
                std::thread::sleep(EVERY);
                if stop.is_stopped() {
                    return Ok(Exit::SUCCESS);
                }
            }
        }
    }

    fn sources(&self, directory: &Path) -> SourceTimes {
        SourceTimes::of(directory, self.run.as_slice())
    }

    /// Builds, publishes, tests, runs. Returns true if everything succeeded.
    fn round(&self, locations: &Locations, directory: &Path, stop: &CtrlCHandler) -> Result<bool> {
        let program = OwnProgram { locations, confine: self.confine, stop };
        let package = directory.as_os_str();
        let mut build = program.command("build", [package]);
        build.args(self.debug.then_some("--debug"));
        if !program.succeeds(build)? {
            return Ok(false);
        }
        let Some(registry) = publish(&program, directory)? else { return Ok(false) };
        let tested = program.succeeds(program.command("test", [package, OsStr::new("--no-build")]))?;
        let ran = self.run.as_deref().map(|script| run(&program, directory, &registry, script)).transpose()?;
        Ok(tested && ran.unwrap_or(true))
    }
}

/// Processes of this program for the steps of a round.
struct OwnProgram<'a> {
    locations: &'a Locations,
    confine: ConfineArgs,
    stop: &'a CtrlCHandler,
}

impl OwnProgram<'_> {
    /// Returns a command of this program, with the registry that this process was given.
    fn command<'o>(&self, name: &str, arguments: impl IntoIterator<Item = &'o OsStr>) -> Command {
        self.command_with(&self.locations.registry, name, arguments)
    }

    fn command_with<'o>(&self, registry: &Path, name: &str, arguments: impl IntoIterator<Item = &'o OsStr>) -> Command {
        let mut command = Command::new(&self.locations.program.executable);
        command.args(&self.locations.program.before).arg(name).args(self.confine.flags());
        command.arg("--registry").arg(registry).args(self.locations.trust_writers.then_some("--trust-writers"));
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end, and returns whether it succeeded. It reports its own errors.
    fn succeeds(&self, command: Command) -> Result<bool> {
        let ended = lang::spawn(command, self.stop);
        Ok(ended.map_err(|error| CliError::because("cannot start another process of this program", &error))?.success())
    }
}

/// Publishes the build in a new registry, in place of the previous one. Returns the registry's path, or `None` if the
/// build is rejected.
fn publish(program: &OwnProgram<'_>, directory: &Path) -> Result<Option<PathBuf>> {
    let place = directory.join(REGISTRY);
    let unmade = |error: &(dyn std::error::Error + 'static)| {
        CliError::because(format!("cannot make `{}`", place.display()), error)
    };
    let new = tempfile::tempdir_in(directory.join("build")).map_err(|error| unmade(&error))?;
    // The examples are run by the test that follows.
    let arguments = [directory.as_os_str(), OsStr::new("--no-examples")];
    let mut publish = program.command_with(new.path(), "publish", arguments);
    publish.stdout(Stdio::null());
    if !program.succeeds(publish)? {
        return Ok(None);
    }
    if place.exists() {
        fs::remove_dir_all(&place).map_err(|error| unmade(&error))?;
    }
    fs::rename(new.keep(), &place).map_err(|error| unmade(&error))?;
    Ok(Some(place))
}

/// Runs a script, as in another terminal. Returns true if it succeeded.
fn run(program: &OwnProgram<'_>, directory: &Path, registry: &Path, script: &Path) -> Result<bool> {
    let manifest = package_manifest(directory)
        .map_err(|error| package_error(&format!("cannot run `{}`", script.display()), &error))?;
    let allowed = format!("{}/**", manifest.name.package());
    let arguments = [OsStr::new("--allow"), OsStr::new(&allowed), script.as_os_str()];
    program.succeeds(program.command_with(registry, "run", arguments))
}
