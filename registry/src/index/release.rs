//! Releases, as the lines of the index describe them.

use std::{fmt, time::SystemTime};

use semver::Version;

use crate::{
    digest::Digest,
    key::PublicKey,
    name::{PackageName, ReleaseName, Requirement},
    oci::Origin,
    store::Blob,
};

/// Files that were published under a name and a version. A release never changes, except for `yanked`, `deprecated` and
/// `signatures`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Release {
    /// Name of the package.
    pub name: PackageName,
    /// Version of the release.
    pub version: Version,
    /// Blob of the component.
    pub component: Blob,
    /// Blob of the WIT text, with doc comments if the publisher gave it.
    pub wit: Blob,
    /// Blob of the manifest, as the publisher wrote it.
    pub manifest: Blob,
    /// Blob of the readme.
    pub readme: Option<Blob>,
    /// Time of publication, by the publisher's clock.
    pub published: SystemTime,
    /// Origin of a release that was pulled rather than published here.
    pub origin: Option<Origin>,
    /// True if it breaks users of earlier releases although its version claims otherwise, which the publisher
    /// confirmed.
    pub breaking: bool,
    /// True if it is no longer resolved. Users who have pinned it still get it.
    pub yanked: bool,
    /// Advice to use something else. The release is resolved all the same.
    pub deprecated: Option<Deprecation>,
    /// Signatures according to the index. [`Registry::verify_signature`](crate::Registry::verify_signature) checks
    /// them.
    pub signatures: Vec<Signature>,
}

/// Deprecation of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deprecation {
    /// Message to the users of the release.
    pub message: String,
    /// Package to use instead.
    pub replacement: Option<Requirement>,
}

/// Signature of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signature {
    /// Key of the signature.
    pub key: PublicKey,
    /// Blob of the signature.
    pub signature: Blob,
}

impl Release {
    /// Returns the digest of the component.
    pub fn digest(&self) -> Digest {
        self.component.digest
    }

    /// Returns name and version.
    #[must_use]
    pub fn full_name(&self) -> ReleaseName {
        ReleaseName { name: self.name.clone(), version: self.version.clone() }
    }

    /// Iterates over all blobs of the release, each with a word for its content.
    pub(crate) fn blobs(&self) -> impl Iterator<Item = (&'static str, Blob)> {
        let parts = [("component", self.component), ("WIT text", self.wit), ("manifest", self.manifest)];
        let readme = self.readme.map(|blob| ("readme", blob));
        let signatures = self.signatures.iter().map(|signature| ("signature", signature.signature));
        parts.into_iter().chain(readme).chain(signatures)
    }
}

impl fmt::Display for Deprecation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        match &self.replacement {
            Some(replacement) => write!(out, "; use `{replacement}`"),
            None => Ok(()),
        }
    }
}
