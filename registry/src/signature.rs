//! Signatures of releases: the statement that keys sign. Must not decide whom to trust.
//!
//! The bytes of the statement and of the keys are in `format.md`; change both together.

use semver::Version;

use crate::{
    PrivateKey, PublicKey,
    digest::Digest,
    error::Error,
    index::Release,
    name::{PackageName, ReleaseName},
};

/// Length of a signature in bytes.
pub(crate) const SIGNATURE_BYTES: u64 = 64;

/// Purpose of the signatures, which is the first line of what is signed, so that a signature can never be one of another kind of message.
const PURPOSE: &str = "tollhouse release signature, version 1";

/// Error of a release that is not signed as expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The key has not signed the release.
    #[error("`{release}` is not signed by `{key}`")]
    Unsigned {
        /// Name of the release.
        release: ReleaseName,
        /// Key that was expected.
        key: PublicKey,
    },
    /// The index names a signature that does not match the release.
    #[error(
        "the signature of `{release}` by `{key}` is not valid: it belongs to another release or other bytes, or is forged"
    )]
    Wrong {
        /// Name of the release.
        release: ReleaseName,
        /// Key of the signature.
        key: PublicKey,
    },
    /// The signature cannot be read.
    #[error(transparent)]
    Registry(#[from] Error),
}

impl SignatureError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unsigned { .. } => {
                Some("nothing of it was used; the owner of the key can sign it with `registry sign`")
            }
            Self::Wrong { .. } => Some("nothing of it was used; find out who wrote it before signing it again"),
            Self::Registry(error) => error.hint(),
        }
    }
}

/// Content of a signed statement about a release.
pub(crate) struct Statement<'a> {
    pub(crate) name: &'a PackageName,
    pub(crate) version: &'a Version,
    pub(crate) component: Digest,
    pub(crate) wit: Digest,
    pub(crate) manifest: Digest,
}

impl<'a> From<&'a Release> for Statement<'a> {
    fn from(release: &'a Release) -> Self {
        let Release { name, version, component, wit, manifest, .. } = release;
        let (component, wit, manifest) = (component.digest, wit.digest, manifest.digest);
        Self { name, version, component, wit, manifest }
    }
}

/// Writes a statement as the text that is signed.
fn statement(statement: &Statement<'_>) -> String {
    let Statement { name, version, component, wit, manifest } = statement;
    format!("name {name}\nversion {version}\ncomponent {component}\nwit {wit}\nmanifest {manifest}\n")
}

/// Returns true if `signature` is a key's signature of a release.
pub(crate) fn has_signed<'a>(key: PublicKey, release: impl Into<Statement<'a>>, signature: &[u8]) -> bool {
    key.has_signed(PURPOSE, &statement(&release.into()), signature)
}

/// Signs a release.
pub(crate) fn sign(key: &PrivateKey, release: &Release) -> [u8; 64] {
    key.sign(PURPOSE, &statement(&release.into()))
}
