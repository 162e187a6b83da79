//! `tollhouse dev`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use tollhouse_registry::{Registry, package_dir, package_manifest};

use super::super::places::Places;
use super::super::publish::package_error;
use super::super::registry::failed;
use super::watch::Sources;
use super::{CliError, Result, Stop, build, directory, lang, test};
use crate::Exit;

/// The registry of what was built last, in the package's directory.
const REGISTRY: &str = "build/registry";

/// How often the sources are looked at.
const EVERY: Duration = Duration::from_millis(300);

/// Build and test a tool on each save
///
/// What was built is published into the registry build/registry of the package, made anew each time, so that the version stays:
/// `tollhouse run --registry build/registry` in another terminal has what was saved last. Ctrl-C ends it, and a build that runs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse dev
  tollhouse dev tools/prices --run try.js")]
pub(crate) struct Dev {
    /// A package directory
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Run this script after each build, with every function of the package granted; it is watched too
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
    /// Quick to build, as `tollhouse build --debug`
    #[arg(long)]
    debug: bool,
    /// Build and test once, and end: with exit status 1 if something fails
    #[arg(long)]
    once: bool,
}

impl Dev {
    /// Goes round until Ctrl-C.
    pub(crate) fn execute(self, places: &Places) -> Result {
        let directory = directory(&self.path)?;
        let stop = Stop::listen();
        loop {
            // Looked at before the build: what changes while it runs is built next.
            let seen = self.sources(&directory);
            let done = self.round(places, &directory, &stop);
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

    fn sources(&self, directory: &Path) -> Sources {
        Sources::of(directory, self.run.as_slice())
    }

    /// Builds, publishes, tests, runs: whether all went well.
    fn round(&self, places: &Places, directory: &Path, stop: &Stop) -> Result<bool> {
        build::build(places, directory, self.debug, stop, &|_| Ok(()))?.tell();
        let registry = publish(directory)?;
        let tested = test::test(places, directory, false, stop, &|| Ok(()))?;
        let ran = self.run.as_deref().map(|script| run(places, directory, &registry, script, stop)).transpose()?;
        Ok(tested && ran.unwrap_or(true))
    }
}

/// Publishes what was built in a new registry, in the place of the one before. Where that is.
fn publish(directory: &Path) -> Result<PathBuf> {
    let request = package_dir(directory)
        .map_err(|error| package_error(&format!("cannot publish `{}`", directory.display()), &error))?;
    let place = directory.join(REGISTRY);
    let unmade = |error: &(dyn std::error::Error + 'static)| {
        CliError::because(format!("cannot make `{}`", place.display()), error)
    };
    let new = tempfile::tempdir_in(directory.join("build")).map_err(|error| unmade(&error))?;
    let registry = Registry::open(new.path()).map_err(|error| unmade(&error))?;
    registry.publish(request).map_err(|error| failed("this could not be published", &error, error.hint()))?;
    drop(registry);
    if place.exists() {
        fs::remove_dir_all(&place).map_err(|error| unmade(&error))?;
    }
    fs::rename(new.keep(), &place).map_err(|error| unmade(&error))?;
    Ok(place)
}

/// Runs a script with this program, as in another terminal: whether it ended well.
fn run(places: &Places, directory: &Path, registry: &Path, script: &Path, stop: &Stop) -> Result<bool> {
    let manifest = package_manifest(directory)
        .map_err(|error| package_error(&format!("cannot run `{}`", script.display()), &error))?;
    let unrun = |error: std::io::Error| CliError::because(format!("cannot run `{}`", script.display()), &error);
    let mut command = Command::new(&places.program.executable);
    command.args(&places.program.before).arg("run").arg("--registry").arg(registry);
    command.args(["--allow", &format!("{}/**", manifest.name.package())]).arg(script).stdin(Stdio::null());
    Ok(lang::spawn(command, stop).map_err(unrun)?.success())
}
