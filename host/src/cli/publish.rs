//! `tollhouse publish`.

use std::fs;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use semver::Version;
use serde_json::json;
use tollhouse_registry::{PackageError, PackageName, PublishRequest, Registry, Release};

use super::error::{USAGE, tame};
use super::places::Places;
use super::{CliError, Result, show};

/// Components larger than this, in bytes, take seconds to compile: then a person is told.
const PROGRESS: u64 = 1 << 20;

/// Publish a component to the registry
///
/// PATH is a component file, or a package directory: `tool.toml`, `wit/`, and a component that `cargo build --target
/// wasm32-wasip2` or `cargo component build` made. A release never changes: publishing the same bytes again is fine,
/// other bytes need another version.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse publish tools/stats
  tollhouse publish echo.wasm --name my:echo --version 0.1.0")]
pub(crate) struct Publish {
    /// A component file or a package directory
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// The package's name, if the component does not say: `namespace:package`
    #[arg(long, value_name = "NS:NAME")]
    name: Option<PackageName>,
    /// Its version, if the component does not say
    #[arg(long, value_name = "VERSION")]
    version: Option<Version>,
    /// Print one JSON object: name, version, digest, already, warnings
    #[arg(long)]
    json: bool,
}

impl Publish {
    /// Publishes, and says what.
    pub(crate) fn execute(self, places: &Places) -> Result {
        let shown = self.path.display().to_string();
        let refused = |cause: &dyn std::error::Error| CliError::because(format!("cannot publish `{shown}`"), cause);
        let metadata = fs::metadata(&self.path).map_err(|error| refused(&error).status(USAGE))?;
        let mut request = if metadata.is_dir() {
            tollhouse_registry::package_dir(&self.path).map_err(|error| package_error(&shown, &error))?
        } else {
            PublishRequest::new(fs::read(&self.path).map_err(|error| refused(&error))?)
        };
        request.name = self.name.or(request.name);
        request.version = self.version.or(request.version);
        let registry =
            Registry::open(&places.registry).map_err(|error| CliError::because("cannot open the registry", &error))?;
        let published = registry.publish(request).map_err(|error| {
            let shown = refused(&error);
            match error.hint() {
                Some(hint) => shown.hint(hint),
                None => shown,
            }
        })?;
        let release = &published.release;
        if self.json {
            let report = json!({
                "name": release.name.to_string(), "version": release.version.to_string(),
                "digest": format!("sha256:{}", release.digest().hex()), "already": published.already,
                "warnings": published.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            });
            show::line(report);
        } else {
            for warning in &published.warnings {
                eprintln!("warning: {}", tame(&warning.to_string()));
            }
            let what = if published.already { "already published" } else { "published" };
            show::line(format_args!("{what} {}@{} sha256:{}", release.name, release.version, release.digest().hex()));
        }
        if !published.already {
            compile(places, published.release);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Compiles a release for the runs to come: a large one takes longer than a script may. Whatever goes wrong here, it is
/// published, and a call will say what is wrong with it.
fn compile(places: &Places, release: Release) {
    if release.component.size > PROGRESS && std::io::stderr().is_terminal() {
        eprintln!("compiling {}@{} ({} KiB), once", release.name, release.version, release.component.size >> 10);
    }
    let compiled = places.host().and_then(|host| {
        let package = host.packages().package(release).map_err(|error| CliError::because("cannot mount it", &error))?;
        package.compile().map_err(CliError::usage)
    });
    if let Err(error) = compiled {
        eprintln!("warning: it is published, but cannot be called yet: {error}");
    }
}

/// What is wrong with a package directory; a fault in the manifest is shown in its place.
fn package_error(shown: &str, error: &PackageError) -> CliError {
    let refused = CliError::because(format!("cannot publish `{shown}`"), error).status(USAGE);
    let refused = match error {
        PackageError::Manifest { path, text, source } => CliError::usage(format!(
            "cannot publish `{shown}`: {}",
            source.message()
        ))
        .at(&path.display().to_string(), text, Some(source.span())),
        _ => refused,
    };
    match error.hint() {
        Some(hint) => refused.hint(hint),
        None => refused,
    }
}
