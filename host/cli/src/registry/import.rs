//! `tollhouse registry import`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tollhouse_registry::{Foreign, PublishRequest, Registry, Requirement, wkg_layout};

use super::super::confine::{ConfineArgs, Confinement};
use super::super::locations::Locations;
use super::super::{CliError, Result, show};
use crate::Exit;

/// Publish the releases in a directory of `wkg`: `DIR/NAMESPACE/PACKAGE/VERSION.wasm`
///
/// Each release is checked as when it is published, oldest version first. One that does not pass, or a directory that cannot be
/// listed, is named, and the others are imported; then the exit status is 1.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse registry import ~/wasm-packages
  tollhouse registry import ~/wasm-packages 'acme:payments@^1.2'")]
pub(crate) struct ImportReleasesCommand {
    /// The root of wkg's local backend
    #[arg(value_name = "DIR")]
    from: PathBuf,
    /// Only this package, and its matching releases
    #[arg(value_name = "NS:NAME[@REQ]")]
    package: Option<Requirement>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: imported (name, version, digest, already), refused (file, error)
    #[arg(long)]
    json: bool,
}

impl ImportReleasesCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        self.confine
            .seal(|| Confinement::of(locations, false).reading([&self.from]).writing_in(Some(&locations.registry)))?;
        let registry = super::open(locations)?;
        let shown = self.from.display().to_string();
        let found = wkg_layout(&self.from, self.package.as_ref())
            .map_err(|error| CliError::because(format!("cannot import `{shown}`"), &error))?;
        if found.releases.is_empty() && found.unlisted.is_empty() {
            let nothing = match &self.package {
                Some(package) => format!("there is no release of `{package}` in `{shown}`"),
                None => format!("there is no release in `{shown}`"),
            };
            return Err(CliError::usage(nothing)
                .status(1)
                .hint("a release is `NAMESPACE/PACKAGE/VERSION.wasm` below it, as wkg's local backend has it"));
        }
        let (mut imported, mut refused) = (Vec::new(), Vec::new());
        let mut refuse = |path: &Path, error: CliError| {
            refused.push(json!({ "file": path.display().to_string(), "error": error.to_string() }));
            if !self.json {
                error.show();
            }
        };
        for error in &found.unlisted {
            refuse(error.path(), CliError::because("cannot import what is there", error));
        }
        for foreign in &found.releases {
            match add(&registry, foreign) {
                Ok((line, value)) => {
                    self.say(&line);
                    imported.push(value);
                }
                Err(error) => refuse(&foreign.path, error),
            }
        }
        let status = if refused.is_empty() { Exit::SUCCESS } else { Exit::FAILURE };
        if self.json {
            show::json(&json!({ "imported": imported, "refused": refused }));
        }
        Ok(status)
    }

    fn say(&self, line: &str) {
        if !self.json {
            show::line(line);
        }
    }
}

/// Publishes one release. Returns the message for a person, and the JSON for a program.
fn add(registry: &Registry, foreign: &Foreign) -> Result<(String, Value)> {
    let what = format!("cannot import `{}`", foreign.path.display());
    let request: PublishRequest = foreign.request().map_err(|error| super::failed(&what, &error, error.hint()))?;
    let published = registry.publish(request).map_err(|error| super::failed(&what, &error, error.hint()))?;
    let (release, already) = (published.release, published.already);
    let words = if already { "already imported" } else { "imported" };
    Ok((
        format!("{words} {} {}", release.full_name(), release.digest()),
        json!({
            "name": release.name.to_string(), "version": release.version.to_string(),
            "digest": release.digest().to_string(), "already": already,
        }),
    ))
}
