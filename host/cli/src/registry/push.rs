//! `tollhouse registry push`.

use clap::Args;
use semver::Version;
use serde_json::json;
use tollhouse_registry::Requirement;
use tollhouse_registry::oci::Reference;

use super::super::locations::Locations;
use super::super::progress::Progress;
use super::super::{CliError, Result, show};
use super::credentials::remote;
use crate::Exit;

/// Push a release to a container registry
///
/// The artifact follows the CNCF's layout for WebAssembly, so that other clients (`wkg`, `oras`) can read the
/// component; manifest, WIT, readme and signatures are pushed with it. Without a tag, the tag is the version. A tag
/// that names something else is not changed. Credentials are those of `docker login`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse registry push acme:payments ghcr.io/acme/payments
  tollhouse registry push acme:payments@=1.2.0 localhost:5000/acme/payments:stable --force")]
pub(crate) struct PushCommand {
    /// The release: the newest that fits
    #[arg(value_name = "NS:NAME[@REQ]")]
    release: Requirement,
    /// The destination
    #[arg(value_name = "HOST/REPOSITORY[:TAG]")]
    to: Reference,
    /// Move a tag that names something else
    #[arg(long)]
    force: bool,
    /// Connect without TLS, as is always done for a registry on this machine
    #[arg(long)]
    plain_http: bool,
    /// Print one JSON object: name, version, reference, digest, already
    #[arg(long)]
    json: bool,
}

impl PushCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        if self.to.digest.is_some() {
            return Err(CliError::usage("a pushed release determines its digest: name a tag, or nothing"));
        }
        let registry = super::existing(locations)?;
        let what = format!("cannot push `{}`", self.release);
        let release = registry
            .resolve(&self.release.name, &self.release.versions)
            .map_err(|error| super::failed(&what, &error, error.hint()))?;
        let tag = self.to.tag.clone().unwrap_or_else(|| release.version.to_string());
        if tag.parse().is_ok_and(|version: Version| version != release.version) {
            return Err(CliError::usage(format!(
                "the tag `{tag}` is another version than that of `{}`",
                release.full_name()
            ))
            .hint("leave the tag out, or name one that is not a version, such as `stable`"));
        }
        let progress = Progress::new(format!("pushing {}", release.full_name()));
        let watch = |_: &str, bytes: u64, all: u64| progress.at(bytes, all);
        let pushed = remote(self.plain_http, &watch)?
            .push(&registry, &release, &self.to.repository, &tag, self.force)
            .map_err(|error| super::failed(&what, &error, error.hint()));
        drop(progress);
        let pushed = pushed?;
        if self.json {
            show::json(&json!({
                "name": release.name.to_string(), "version": release.version.to_string(),
                "reference": pushed.reference.to_string(), "digest": pushed.digest.to_string(),
                "already": pushed.already,
            }));
        } else {
            let already = if pushed.already { "already " } else { "" };
            show::line(format_args!("{already}pushed {} to {}", release.full_name(), pushed.reference));
        }
        Ok(Exit::SUCCESS)
    }
}
