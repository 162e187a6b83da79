//! `tollhouse registry`.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::{Value, json};
use tollhouse_registry::{Registry as Store, Release, Requirement};

use super::error::tame;
use super::places::Places;
use super::{CliError, Result, show};

/// Look into the registry
#[derive(Subcommand)]
pub(crate) enum Registry {
    /// List the releases
    Ls {
        /// Print an array of {name, version, digest, published, yanked}
        #[arg(long)]
        json: bool,
    },
    /// Show a package: its newest release that fits, and what it exports
    Show {
        /// The package: `tollhouse:stats`, or with a requirement, `tollhouse:stats@^0.1`
        #[arg(value_name = "NS:NAME[@REQ]")]
        package: Requirement,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

impl Registry {
    /// Prints what was asked for.
    pub(crate) fn execute(self, places: &Places) -> Result {
        let failed = |error: &tollhouse_registry::Error| {
            let shown = CliError::because("cannot read the registry", error);
            match error.hint() {
                Some(hint) => shown.hint(hint),
                None => shown,
            }
        };
        let registry = Store::open(&places.registry).map_err(|error| failed(&error))?;
        match self {
            Self::Ls { json } => {
                let releases = registry.list().map_err(|error| failed(&error))?;
                list(&releases, json);
            }
            Self::Show { package, json } => {
                let release = registry.resolve(&package.name, &package.versions).map_err(|error| {
                    let shown = CliError::because(format!("cannot show `{}`", package.name), &error);
                    match error.hint() {
                        Some(hint) => shown.hint(hint),
                        None => shown,
                    }
                })?;
                let wit = registry.load_wit(&release).map_err(|error| failed(&error))?;
                show(&release, &wit, json);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn described(release: &Release) -> Value {
    let since = release.published.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    json!({
        "name": release.name.to_string(),
        "version": release.version.to_string(),
        "digest": format!("sha256:{}", release.digest().hex()),
        "size": release.component.size,
        "published": since.as_secs(),
        "yanked": release.yanked,
    })
}

fn list(releases: &[Release], json: bool) {
    if json {
        let listed: Vec<Value> = releases.iter().map(described).collect();
        show::line(serde_json::to_string_pretty(&listed).expect("JSON values serialise"));
        return;
    }
    for release in releases {
        let yanked = if release.yanked { "  yanked" } else { "" };
        let digest = release.digest().hex();
        show::line(format_args!("{:<32} {:<12} sha256:{}{yanked}", release.name, release.version, &digest[..16]));
    }
}

fn show(release: &Release, wit: &str, json: bool) {
    if json {
        let mut shown = described(release);
        shown["wit"] = json!(wit);
        show::line(serde_json::to_string_pretty(&shown).expect("a JSON value serialises"));
        return;
    }
    show::line(format_args!("{}@{}", release.name, release.version));
    show::line(format_args!("sha256:{}  {} bytes", release.digest().hex(), release.component.size));
    show::line(format_args!("\n{}", tame(wit)));
}
