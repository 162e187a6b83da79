//! A release, as the lines of the index make it.

use std::{fmt, time::SystemTime};

use semver::Version;

use crate::{
    digest::Digest,
    name::{PackageName, ReleaseName, Requirement},
    oci::Origin,
    signature::PublicKey,
    store::Blob,
};

/// What is published under a name and a version. It never changes, but for `yanked`, `deprecated` and `signatures`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Release {
    /// The package.
    pub name: PackageName,
    /// Its version.
    pub version: Version,
    /// The component.
    pub component: Blob,
    /// The WIT text, with doc comments if the publisher gave it.
    pub wit: Blob,
    /// The manifest, as the publisher wrote it.
    pub manifest: Blob,
    /// The readme.
    pub readme: Option<Blob>,
    /// When, by the clock of who published it.
    pub published: SystemTime,
    /// Where it was pulled from, if it was not published here.
    pub origin: Option<Origin>,
    /// It breaks what earlier releases had that its version says it does not, and the publisher said so.
    pub breaking: bool,
    /// Taken back: it is not resolved any more, and who has pinned it still gets it.
    pub yanked: bool,
    /// Who uses it should use something else: it is resolved all the same.
    pub deprecated: Option<Deprecation>,
    /// Who signed it, as the index says. [`Registry::verify_signature`](crate::Registry::verify_signature) says whether
    /// they did.
    pub signatures: Vec<Signature>,
}

/// Why a release should not be used any more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deprecation {
    /// What its users are told.
    pub message: String,
    /// What to use instead.
    pub replacement: Option<Requirement>,
}

/// A signature of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signature {
    /// Whose.
    pub key: PublicKey,
    /// The bytes.
    pub signature: Blob,
}

impl Release {
    /// The component's hash.
    pub fn digest(&self) -> Digest {
        self.component.digest
    }

    /// Name and version.
    #[must_use]
    pub fn full_name(&self) -> ReleaseName {
        ReleaseName { name: self.name.clone(), version: self.version.clone() }
    }

    /// All blobs that it names, each with a word for what it holds.
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
