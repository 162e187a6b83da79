//! Errors between this machine and a registry of OCI artifacts.

use crate::{
    digest::Digest,
    error::{Error, excerpt},
    signature::SignatureError,
};

/// Reason why nothing was pushed or pulled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OciError {
    /// The registry cannot be reached, or broke off its answer.
    #[error("cannot reach `{host}`: {problem}")]
    Unreachable {
        /// Host of the registry.
        host: String,
        /// Description of the error.
        problem: String,
    },
    /// The registry refused a request.
    #[error("cannot {what} at `{host}`: {problem}")]
    Refused {
        /// Host of the registry.
        host: String,
        /// Request that failed: a verb and its object.
        what: String,
        /// Answer of the registry.
        problem: String,
    },
    /// The registry requires credentials, or does not accept them.
    #[error("cannot {what} at `{host}`: {}", if *known { "it rejects the credentials" } else { "it requires credentials, and none are configured" })]
    Unauthorized {
        /// Host of the registry.
        host: String,
        /// Request that failed: a verb and its object.
        what: String,
        /// True if credentials were known.
        known: bool,
    },
    /// The credentials cannot be determined.
    #[error("cannot get the credentials for `{host}`: {problem}")]
    Credentials {
        /// Host of the registry.
        host: String,
        /// Description of the error.
        problem: String,
    },
    /// The artifact does not exist.
    #[error("`{reference}` does not exist")]
    NotFound {
        /// Reference of the requested artifact.
        reference: String,
    },
    /// The reference has neither a tag nor a digest.
    #[error("`{reference}` has neither a tag nor a digest")]
    Which {
        /// Reference as it was given.
        reference: String,
    },
    /// The registry redirects to an address that must not be used.
    #[error("`{host}` redirects to `{to}`, which is not followed")]
    Redirected {
        /// Host of the registry.
        host: String,
        /// Target of the redirect.
        to: String,
    },
    /// A part is larger than a release may have.
    #[error("the {what} has more than {limit} bytes")]
    TooLarge {
        /// Name of the part.
        what: String,
        /// Largest allowed size in bytes.
        limit: u64,
    },
    /// The registry returned content other than what was requested.
    #[error("the {what} is not as requested: its digest should be `{expected}` and is `{found}`")]
    Altered {
        /// Name of the part.
        what: String,
        /// Digest that was expected.
        expected: Digest,
        /// Digest of the received content.
        found: Digest,
    },
    /// The size of a part is not what the manifest says.
    #[error("the {what} has {found} bytes, and its manifest says {expected}")]
    Size {
        /// Name of the part.
        what: String,
        /// Size according to the manifest, in bytes.
        expected: u64,
        /// Size of the received content, in bytes.
        found: u64,
    },
    /// The tag no longer refers to the pinned digest.
    #[error("`{reference}` has moved: the tag now refers to `{found}`")]
    Moved {
        /// Reference of the requested artifact.
        reference: String,
        /// Digest that the tag refers to.
        found: Digest,
    },
    /// The artifact is not WebAssembly, or not in a known layout.
    #[error("`{reference}` is not a WebAssembly artifact: {problem}")]
    NotWasm {
        /// Reference of the requested artifact.
        reference: String,
        /// Description of the artifact.
        problem: String,
    },
    /// The tag refers to another artifact.
    #[error("`{reference}` exists with other content: the tag refers to `{found}`, and this release would be `{ours}`")]
    Taken {
        /// Reference with the requested tag.
        reference: String,
        /// Digest that the tag refers to.
        found: Digest,
        /// Digest of the artifact to be pushed.
        ours: Digest,
    },
    /// The release to be pushed was altered.
    #[error(transparent)]
    Registry(#[from] Error),
    /// The release to be pushed has an invalid signature.
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

impl OciError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unreachable { .. } => {
                "releases that were pulled before are mounted without the network; `tollhouse registry ls` lists them"
            }
            Self::Unauthorized { known: false, .. } => "`docker login HOST`, or `podman login` with Docker's config",
            Self::Unauthorized { .. } => {
                "the credentials come from Docker's configuration: run `docker login HOST` again"
            }
            Self::Credentials { .. } => {
                "fix Docker's `config.json` or its credential helper, or run `docker logout HOST`"
            }
            Self::NotFound { .. } => "check its name and tag; a private one may need `docker login HOST`",
            Self::Which { .. } => "add `:TAG`, which is usually the version, or `@sha256:…`",
            Self::Altered { .. } | Self::Size { .. } => {
                "nothing of it was used; the registry, or a proxy before it, is broken or malicious"
            }
            Self::Moved { .. } => "nothing of it was used; find out why, then pin the new digest",
            Self::Taken { .. } => "push under another tag, or move the tag with `--force`",
            Self::Redirected { .. } => {
                "only redirects to https are followed, and none of an upload; ask the registry's operator"
            }
            Self::Registry(error) => return error.hint(),
            Self::Signature(error) => return error.hint(),
            Self::Refused { .. } | Self::TooLarge { .. } | Self::NotWasm { .. } => return None,
        })
    }

    /// Creates the error of a manifest or config that is not valid.
    pub(super) fn not_wasm(reference: &impl ToString, problem: impl ToString) -> Self {
        Self::NotWasm { reference: reference.to_string(), problem: excerpt(&problem.to_string()) }
    }
}
