//! `tollhouse programs ls|rm`.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::{Value, json};
use tollhouse::session::Host;
use tollhouse_registry::{Registry, Release};

use super::super::confine::ConfineArgs;
use super::super::locations::Locations;
use super::super::registry::{failed, open, read_only, unreadable};
use super::super::{CliError, Result, show};
use super::{COMPILED, MADE};
use crate::Exit;

/// List the programs of the registry, and those that can be added
#[derive(Args)]
pub(crate) struct ListProgramsCommand {
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print an array of {program, name, version, added, digest}
    #[arg(long)]
    json: bool,
}

/// Remove a program: scripts no longer find it
///
/// Sessions and `tollhouse.lock` files that pin it keep it: its release is yanked, as by `registry yank`. `programs
/// add` brings it back.
#[derive(Args)]
#[command(after_help = "Example:\n  tollhouse programs rm python3")]
pub(crate) struct RemoveProgramCommand {
    /// The program, by its name, or by that of its package
    #[arg(value_name = "[NS:]NAME")]
    name: String,
    /// Print one JSON object: program, removed (releases)
    #[arg(long)]
    json: bool,
}

impl ListProgramsCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        read_only(locations, self.confine)?;
        let registry = open(locations)?;
        let host = locations.host()?;
        let latest = registry.latest().map_err(|error| unreadable(&error))?;
        let added: Vec<Release> = latest.into_iter().filter(|release| runs(&host, release)).collect();
        let missing = [MADE.name].into_iter().chain(COMPILED);
        let missing = missing.filter(|name| !added.iter().any(|release| release.name.package() == *name));
        if self.json {
            let added = added.iter().map(|release| {
                json!({
                    "program": release.name.package(), "name": release.name.to_string(),
                    "version": release.version.to_string(), "added": true, "digest": release.digest().to_string(),
                })
            });
            let missing = missing
                .map(|name| json!({ "program": name, "name": null, "version": null, "added": false, "digest": null }));
            show::json_pretty(&added.chain(missing).collect::<Vec<Value>>());
            return Ok(Exit::SUCCESS);
        }
        for release in &added {
            show::line(format_args!("{:<12} {}", release.name.package(), release.full_name()));
        }
        for name in missing {
            show::line(format_args!("{name:<12} not added: `tollhouse programs add {name}`"));
        }
        Ok(Exit::SUCCESS)
    }
}

/// Returns true if a release is a program. A release that cannot be used is not one.
fn runs(host: &Host, release: &Release) -> bool {
    host.packages()
        .package(release.clone())
        .is_ok_and(|package| package.types().functions.iter().any(tollhouse::tool::types::Function::is_program))
}

impl RemoveProgramCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let registry = open(locations)?;
        let releases = self.releases(locations, &registry)?;
        for release in &releases {
            registry
                .yank(&release.full_name(), true)
                .map_err(|error| failed(&format!("cannot remove `{}`", self.name), &error, error.hint()))?;
        }
        let names: Vec<String> = releases.iter().map(|release| release.full_name().to_string()).collect();
        if self.json {
            show::json(&json!({ "program": self.name, "removed": names }));
        } else {
            show::line(format_args!("removed {}", names.join(", ")));
        }
        Ok(Exit::SUCCESS)
    }

    /// Returns the releases of the program that scripts would find.
    fn releases(&self, locations: &Locations, registry: &Registry) -> Result<Vec<Release>> {
        let host = locations.host()?;
        let all = registry.list().map_err(|error| unreadable(&error))?;
        let is_named = |release: &Release| release.name.package() == self.name || release.name.to_string() == self.name;
        let found: Vec<Release> =
            all.into_iter().filter(|release| !release.yanked && is_named(release) && runs(&host, release)).collect();
        let packages: BTreeSet<String> = found.iter().map(|release| format!("`{}`", release.name)).collect();
        if packages.len() > 1 {
            let packages: Vec<String> = packages.into_iter().collect();
            return Err(
                CliError::usage(format!("`{}` could be {}", self.name, packages.join(" or "))).hint("name one of them")
            );
        }
        if found.is_empty() {
            return Err(CliError::usage(format!("the program `{}` is not added", self.name))
                .status(1)
                .hint("`tollhouse programs ls` lists the added ones"));
        }
        Ok(found)
    }
}
