//! `tollhouse registry keygen|sign`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use tollhouse_registry::{PrivateKey, ReleaseName, untrusted_file};

use super::super::error::USAGE;
use super::super::locations::Locations;
use super::super::{CliError, Result, key_file, show};
use crate::Exit;

/// Size of the largest key file, in bytes.
const MAX_KEY: u64 = 4 << 10;

/// Create a key that signs releases: the private key goes into FILE (mode 0600), the public key into FILE.pub
#[derive(Args)]
#[command(after_help = "\
Example:
  tollhouse registry keygen --out acme.key
  tollhouse registry sign acme:payments@1.2.0 --key acme.key")]
pub(crate) struct SigningKeygenCommand {
    /// The file for the private key, which must not exist yet
    #[arg(long, value_name = "FILE", default_value = "tollhouse-signing.key")]
    out: PathBuf,
    /// Print one JSON object: key, file
    #[arg(long)]
    json: bool,
}

/// Sign a release: its name, its version, and the digests of component, WIT and manifest
///
/// The signature is kept in the registry. `publish --key FILE` does both at once.
#[derive(Args)]
#[command(after_help = "Example:\n  tollhouse registry sign acme:payments@1.2.0 --key acme.key")]
pub(crate) struct SignCommand {
    /// The release
    #[arg(value_name = "NS:NAME@VERSION")]
    release: ReleaseName,
    /// The file of the private key, as `keygen` wrote it
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Print the release as one JSON object
    #[arg(long)]
    json: bool,
}

impl SigningKeygenCommand {
    pub(super) fn execute(&self) -> Result {
        let key = PrivateKey::generate().map_err(|error| CliError::because("cannot make a key", &error))?;
        key_file::write_pair(&self.out, &key.to_text(), &key.public().to_string())?;
        if self.json {
            show::json(&json!({ "key": key.public().to_string(), "file": self.out.display().to_string() }));
        } else {
            show::line(key.public());
        }
        Ok(Exit::SUCCESS)
    }
}

impl SignCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        let key = private_key(&self.key)?;
        let signed = super::existing(locations)?
            .sign(&self.release, &key)
            .map_err(|error| super::failed(&format!("cannot sign `{}`", self.release), &error, error.hint()))?;
        if self.json {
            show::json(&super::list::described(&signed.release));
        } else {
            let already = if signed.already { "already " } else { "" };
            show::line(format_args!("{already}signed {} by {}", self.release, key.public()));
        }
        Ok(Exit::SUCCESS)
    }
}

/// Reads a private key.
pub(crate) fn private_key(path: &Path) -> Result<PrivateKey> {
    let failed = |error: &(dyn std::error::Error + 'static)| {
        CliError::because(format!("cannot read the key `{}`", path.display()), error).status(USAGE)
    };
    let text = untrusted_file::read_named_text(path, MAX_KEY).map_err(|error| failed(&std::io::Error::from(error)))?;
    text.parse().map_err(|error| failed(&error).hint("`tollhouse registry keygen --out FILE` creates one"))
}
