//! `tollhouse publish`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use semver::Version;
use serde_json::json;
use tollhouse::tool::names::{Face, Spelling, taken_by, to_camel};
use tollhouse_registry::{
    MAX_COMPONENT, Manifest, PackageError, PackageName, PrivateKey, PublicKey, PublishError, PublishRequest, Registry,
    Release, ReleaseName, untrusted_file,
};

use super::confine::{ConfineArgs, Confinement};
use super::error::USAGE;
use super::locations::Locations;
use super::registry::{failed, sign::private_key};
use super::{CliError, Result, examples, show};
use crate::Exit;

/// Publish a component to the registry
///
/// PATH is a component file, or a package directory: `tool.toml`, `wit/`, and a component that `tollhouse build`, `cargo build
/// --target wasm32-wasip2` or `cargo component build` made. A release never changes: publishing the same bytes again is fine,
/// other bytes need another version.
///
/// Before anything is written it is checked that the component is valid, that `wit/` describes it, that no permission is
/// asked for that it could not use, that it has all that earlier releases have with which SemVer calls it compatible, and
/// that the examples of `tool.toml` come out as they say, each in a sandbox without network.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse publish tools/stats
  tollhouse publish tools/stats --dry-run
  tollhouse publish tools/stats --key acme.key
  tollhouse publish echo.wasm --name my:echo --version 0.1.0")]
pub(crate) struct PublishCommand {
    /// A component file or a package directory
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// The package's name, if the component does not say: `namespace:package`
    #[arg(long, value_name = "NS:NAME")]
    name: Option<PackageName>,
    /// Its version, if the component does not say
    #[arg(long, value_name = "VERSION")]
    version: Option<Version>,
    /// Sign it with this private key, as `registry keygen` wrote it
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Publish what breaks an earlier release with which its version is compatible; the registry records that it does
    #[arg(long)]
    allow_breaking: bool,
    /// Do not run the examples, for instance because they need a host of the network
    #[arg(long)]
    no_examples: bool,
    /// Check everything, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: name, version, digest, already, breaking, signed, examples, warnings, dry_run
    #[arg(long)]
    json: bool,
}

/// Report of a publication, for a person or a program.
struct PublishReport {
    release: ReleaseName,
    digest: String,
    already: bool,
    breaking: bool,
    signed: Option<PublicKey>,
    examples: usize,
    warnings: Vec<String>,
}

impl PublishCommand {
    /// Publishes the package, and reports it.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        let key = self.key.as_deref().map(private_key).transpose()?;
        // It asks cargo where the component is, which the confined process could not start.
        let request = self.request()?;
        self.confine.seal(|| {
            let confinement = Confinement::of(locations, false).writing_in(examples::scratch(locations).as_deref());
            if self.dry_run { confinement } else { confinement.writing_in(Some(&locations.registry)) }
        })?;
        let registry =
            locations.registry().checked().map_err(|error| CliError::because("cannot open the registry", &error))?;
        let checked = registry.check(request.clone()).map_err(|error| self.refused(&error))?;
        let examples = if self.no_examples || checked.already { 0 } else { self.try_examples(locations, &request)? };
        let checked_name = checked.release.name.clone();
        let told = PublishReport {
            release: checked.release,
            digest: checked.component.digest.to_string(),
            already: checked.already,
            breaking: checked.breaking,
            signed: key.as_ref().map(PrivateKey::public),
            examples,
            warnings: checked.warnings.into_iter().chain(self.remarks(&registry, &checked_name)).collect(),
        };
        if self.dry_run {
            self.print_report(&told, "would be published", "is published already");
            return Ok(Exit::SUCCESS);
        }
        let published = registry.publish(request).map_err(|error| self.refused(&error))?;
        let told = PublishReport { already: published.already, ..told };
        if let Some(key) = &key {
            registry.sign(&told.release, key).map_err(|error| {
                failed(&format!("`{}` is published, and cannot be signed", told.release), &error, error.hint())
            })?;
        }
        self.print_report(&told, "published", "already published");
        if !published.already {
            compile(locations, published.release);
        }
        Ok(Exit::SUCCESS)
    }

    /// Returns remarks on names, and on missing metadata of a component file.
    fn remarks(&self, registry: &Registry, name: &PackageName) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.path.is_file() {
            remarks.push(
                "a component file comes without docs, manifest and examples, and a release never changes: the package \
                 directory will need another version"
                    .to_owned(),
            );
        }
        let short = name.package();
        let full = format!("{}-{short}", name.namespace());
        for face in Face::ALL {
            let Some(what) = taken_by(short, Spelling::Wit, face) else { continue };
            let instead = match face {
                Face::Global => {
                    let camel = to_camel(short);
                    format!("JavaScript calls its functions `{camel}_NAME(…)`, and a program `{camel}_(…)`")
                }
                Face::Command => format!("the shell calls it as `tool {short} …`"),
            };
            remarks.push(format!(
                "`{short}` is {what}, which cannot be replaced: {instead}; `--tool ALIAS={name}` mounts it under another name"
            ));
        }
        // The registry was read a moment ago; any problem with it was an error then.
        let latest = registry.latest().unwrap_or_default();
        let others = latest.into_iter().map(|release| release.name).filter(|other| other.package() == short);
        let packages: BTreeSet<String> = others.chain([name.clone()]).map(|name| format!("`{name}`")).collect();
        if packages.len() > 1 {
            let packages: Vec<String> = packages.into_iter().collect();
            remarks.push(format!(
                "`{short}` could be {}: without `[tools]` in a policy, this package is mounted as `{full}`; \
                 `--tool {short}={name}` gives it the short name",
                packages.join(" or ")
            ));
        }
        remarks
    }

    /// Reads the package that is to be published.
    fn request(&self) -> Result<PublishRequest> {
        let shown = self.path.display().to_string();
        let unread = |error: &std::io::Error| CliError::because(format!("cannot publish `{shown}`"), error);
        let metadata = fs::metadata(&self.path).map_err(|error| unread(&error).status(USAGE))?;
        let mut request = if metadata.is_dir() {
            tollhouse_registry::package_dir(&self.path)
                .map_err(|error| package_error(&format!("cannot publish `{shown}`"), &error))?
        } else {
            let bytes = untrusted_file::read_named(&self.path, MAX_COMPONENT as u64);
            PublishRequest::new(bytes.map_err(|error| unread(&error.into()))?)
        };
        request.name = self.name.clone().or(request.name);
        request.version = self.version.clone().or(request.version);
        request.allow_breaking = self.allow_breaking;
        Ok(request)
    }

    fn refused(&self, error: &PublishError) -> CliError {
        failed(&format!("cannot publish `{}`", self.path.display()), error, error.hint())
    }

    /// Runs the examples of the manifest. Returns their number.
    fn try_examples(&self, locations: &Locations, request: &PublishRequest) -> Result<usize> {
        let manifest = request.manifest.as_deref().map(Manifest::parse).transpose();
        let Ok(Some(manifest)) = manifest else { return Ok(0) };
        if manifest.examples.is_empty() && manifest.methods.is_empty() {
            return Ok(0);
        }
        examples::run(locations, request, &manifest).map_err(|error| {
            error.hint("fix the tool or the example in `tool.toml`; `--no-examples` publishes without running them")
        })
    }

    fn print_report(&self, told: &PublishReport, done: &str, already: &str) {
        let PublishReport { release, digest, signed, .. } = told;
        if self.json {
            show::json(&json!({
                "name": release.name.to_string(), "version": release.version.to_string(), "digest": digest,
                "already": told.already, "breaking": told.breaking, "signed": signed.map(|key| key.to_string()),
                "examples": told.examples, "warnings": told.warnings, "dry_run": self.dry_run,
            }));
            return;
        }
        for warning in &told.warnings {
            note!("warning: {warning}");
        }
        let signed = signed.map(|key| format!(" signed by {key}")).unwrap_or_default();
        if self.dry_run {
            show::line(format_args!("{release} {digest} {}{signed}", if told.already { already } else { done }));
        } else {
            show::line(format_args!("{} {release} {digest}{signed}", if told.already { already } else { done }));
        }
    }
}

/// Compiles a release for later runs: a large one takes longer than a script may. Failures here are only warnings: the
/// release is published, and a call reports the problem.
pub(super) fn compile(locations: &Locations, release: Release) {
    let compiled = locations.host().and_then(|host| {
        let package = host.packages().package(release).map_err(|error| CliError::because("cannot mount it", &error))?;
        package.compile().map_err(|failure| CliError::usage(failure.message))
    });
    if let Err(error) = compiled {
        note!("warning: it is published, but cannot be called yet: {error}");
    }
}

/// Converts the error of a package directory; an error in the manifest is shown with its position.
pub(super) fn package_error(what: &str, error: &PackageError) -> CliError {
    let refused =
        match error {
            PackageError::Manifest { path, text, source } => CliError::usage(format!("{what}: {}", source.message()))
                .at(&path.display().to_string(), text, Some(source.span())),
            _ => CliError::because(what, error).status(USAGE),
        };
    match error.hint() {
        Some(hint) => refused.hint(hint),
        None => refused,
    }
}
