//! `tollhouse registry pull`.

use clap::Args;
use semver::Version;
use serde_json::json;
use tollhouse_registry::oci::{Reference, Wanted};
use tollhouse_registry::{Digest, PackageName, PublishError, Registry, Release};

use super::super::confine::{ConfineArgs, Confinement};
use super::super::locations::Locations;
use super::super::progress::Progress;
use super::super::{Result, publish, show};
use super::credentials::remote;
use crate::Exit;

/// Pull a release from a container registry into this one
///
/// Everything is checked as when it is published, and signatures that came with it are verified, before anything is written.
/// From then on it runs without the network. With a digest exactly that is pulled; a tag that has moved is refused.
///
/// Any WebAssembly component can be pulled. If Tollhouse did not push it and it has no name, give it one with `--name`
/// and `--version`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse registry pull ghcr.io/acme/payments:1.2.0
  tollhouse registry pull ghcr.io/acme/payments:1.2.0@sha256:6b86…
  tollhouse registry pull ghcr.io/somebody/echo:latest --name my:echo --version 0.1.0")]
pub(crate) struct PullCommand {
    /// The release: by tag, by digest, or by a tag that must have that digest
    #[arg(value_name = "HOST/REPOSITORY[:TAG][@sha256:…]")]
    from: Reference,
    /// The package's name, instead of what the component says: `namespace:package`
    #[arg(long, value_name = "NS:NAME")]
    name: Option<PackageName>,
    /// Its version, instead of what tag, annotations or component say
    #[arg(long, value_name = "VERSION")]
    version: Option<Version>,
    /// Pull what breaks an earlier release with which its version is compatible; the registry records that it does
    #[arg(long)]
    allow_breaking: bool,
    /// Connect without TLS, as is always done for a registry on this machine
    #[arg(long)]
    plain_http: bool,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: name, version, digest, manifest, already, signed, warnings
    #[arg(long)]
    json: bool,
}

impl PullCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let registry = super::open(locations)?;
        let mut wanted = Wanted::default();
        (wanted.name, wanted.version) = (self.name.clone(), self.version.clone());
        if let Some(release) = self.pinned(&registry, &wanted)? {
            let manifest = self.from.digest;
            self.print_report(&release, manifest.as_ref(), true, &[]);
            return Ok(Exit::SUCCESS);
        }
        let what = format!("cannot pull `{}`", self.from);
        let progress = Progress::new(format!("pulling {}", self.from.repository));
        let watch = |_: &str, bytes: u64, all: u64| progress.at(bytes, all);
        let pulled = remote(self.plain_http, &watch)?
            .pull(&self.from, wanted)
            .map_err(|error| super::failed(&what, &error, error.hint()));
        drop(progress);
        let mut request = pulled?;
        // Everything is here. Pulling took the network, and a program that knows the credentials.
        self.confine.seal(|| Confinement::of(locations, false).writing_in(Some(&locations.registry)))?;
        request.allow_breaking = self.allow_breaking;
        let manifest = request.origin.as_ref().map(|origin| origin.manifest);
        let published =
            registry.publish(request).map_err(|error: PublishError| super::failed(&what, &error, error.hint()))?;
        self.print_report(&published.release, manifest.as_ref(), published.already, &published.warnings);
        if !published.already {
            publish::compile(locations, published.release);
        }
        Ok(Exit::SUCCESS)
    }

    /// Returns the release that was pulled before under exactly that digest.
    fn pinned(&self, registry: &Registry, wanted: &Wanted) -> Result<Option<Release>> {
        let Some(digest) = self.from.digest else { return Ok(None) };
        registry.pulled(&digest, wanted).map_err(|error| super::unreadable(&error))
    }

    fn print_report(&self, release: &Release, manifest: Option<&Digest>, already: bool, warnings: &[String]) {
        if self.json {
            let manifest = manifest.map(ToString::to_string);
            let signed: Vec<String> = release.signatures.iter().map(|signature| signature.key.to_string()).collect();
            show::json(&json!({
                "name": release.name.to_string(), "version": release.version.to_string(),
                "digest": release.digest().to_string(), "manifest": manifest, "already": already,
                "signed": signed, "warnings": warnings,
            }));
            return;
        }
        for warning in warnings {
            note!("warning: {warning}");
        }
        let already = if already { "already " } else { "" };
        let mut from = self.from.clone();
        from.digest = manifest.copied();
        show::line(format_args!("{already}pulled {} from {from}", release.full_name()));
    }
}
