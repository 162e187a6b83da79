//! `tollhouse precompile`.

use std::collections::BTreeSet;

use clap::Args;
use semver::VersionReq;
use serde_json::{Value, json};
use tollhouse::code::Cache;
use tollhouse::gate::Gate;
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, RunOptions, SessionOptions};
use tollhouse_registry::{PackageName, Release};

use super::confine::{ConfineArgs, Confinement};
use super::locations::Locations;
use super::progress::Progress;
use super::{CliError, Result, show};
use crate::Exit;

/// Fill the cache of compiled code ahead of the first run
///
/// Unpacks the guests and compiles packages of the registry, so that no run has to: for the image of a container, for
/// example. Existing cache entries stay as they are. A package that cannot be compiled is named, and the others are compiled;
/// then the exit status is 1.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse precompile
  tollhouse precompile tollhouse:sql tollhouse:stats")]
pub(crate) struct PrecompileCommand {
    /// These packages, their highest releases [default: all of the registry]
    #[arg(value_name = "PACKAGE")]
    packages: Vec<PackageName>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: {cache, packages, refused: [{package, error}]}
    #[arg(long)]
    json: bool,
}

impl PrecompileCommand {
    /// Fills the cache, and prints its location.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        let Some(cache) = &locations.cache else {
            return Err(CliError::usage("there is no cache: no home directory is known").hint("set TOLLHOUSE_HOME"));
        };
        self.confine.seal(|| Confinement::of(locations, false))?;
        // A run does without a cache that cannot be used; this command does not.
        Cache::open(cache).map_err(|error| CliError::because("cannot fill the cache", &error))?;
        let host = locations.host()?;
        let releases = self.releases(&host)?;
        let progress = Progress::new("unpacking the guests");
        for language in [Language::JavaScript, Language::Shell] {
            run_nothing(&host, language)?;
        }
        let (mut names, mut refused) = (Vec::new(), Vec::new());
        for release in &releases {
            let name = release.full_name().to_string();
            progress.now(format!("compiling {name}"));
            match compile(&host, release) {
                Ok(()) => names.push(name),
                Err(error) => refused.push((name, error)),
            }
        }
        drop(progress);
        let status = if refused.is_empty() { Exit::SUCCESS } else { Exit::FAILURE };
        if self.json {
            let refused = refused.iter().map(|(name, error)| json!({ "package": name, "error": error.to_string() }));
            let refused: Vec<Value> = refused.collect();
            show::json(&json!({ "cache": cache, "packages": names, "refused": refused }));
        } else {
            for (_, error) in refused {
                error.show();
            }
            show::line(format_args!("the guests and {} packages are in {}", names.len(), cache.display()));
        }
        Ok(status)
    }

    fn releases(&self, host: &Host) -> Result<Vec<Release>> {
        let registry = host.packages().registry().ok_or_else(|| CliError::usage("there is no registry"))?;
        if self.packages.is_empty() {
            return registry.latest().map_err(|error| CliError::because("cannot read the registry", &error));
        }
        let found = self.packages.iter().map(|name| registry.resolve(name, &VersionReq::STAR));
        found.collect::<std::result::Result<_, _>>().map_err(|error| CliError::because("cannot precompile it", &error))
    }
}

/// Fills the cache with the code that scripts of a session may run: both guests, and the packages that its policy
/// mounts, or grants methods of. A package that cannot be compiled is reported by its calls.
pub(crate) fn prepare(host: &Host, gate: &Gate) -> Result<()> {
    for language in [Language::JavaScript, Language::Shell] {
        run_nothing(host, language)?;
    }
    let is_named = gate.policy().tools.is_some();
    let called = gate.tools().iter().filter(|tool| is_named || gate.grants(tool.method()));
    let mut seen = BTreeSet::new();
    for package in called.filter_map(|tool| tool.package()) {
        if seen.insert(package.release().full_name().to_string()) {
            let _ = package.compile();
        }
    }
    Ok(())
}

fn compile(host: &Host, release: &Release) -> Result<()> {
    let package = host.packages().package(release.clone());
    let package =
        package.map_err(|error| CliError::because(format!("cannot load {}", release.full_name()), &error).status(1))?;
    package.compile().map_err(|failure| CliError::usage(failure.message))
}

/// Runs an empty script: a guest is loaded by its first run.
fn run_nothing(host: &Host, language: Language) -> Result<()> {
    let session = host.session(SessionOptions::default())?;
    let result = session.start(language, Script::default(), RunOptions::default())?.finish();
    match result.error {
        None => Ok(()),
        Some(error) => Err(CliError::because("a guest does not run", &error)),
    }
}
