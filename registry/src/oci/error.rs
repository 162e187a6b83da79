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
    #[error("`{host}` does not {what}: {problem}")]
    Refused {
        /// Host of the registry.
        host: String,
        /// The request: a verb and its object.
        what: String,
        /// Answer of the registry.
        problem: String,
    },
    /// The registry requires credentials, or does not accept them.
    #[error("`{host}` does not {what}: {}", if *known { "it refuses the credentials" } else { "it wants credentials, and there are none" })]
    Unauthorized {
        /// Host of the registry.
        host: String,
        /// The request: a verb and its object.
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
    #[error("there is no `{reference}`")]
    NotFound {
        /// The requested artifact.
        reference: String,
    },
    /// The reference has neither a tag nor a digest.
    #[error("`{reference}` names neither a tag nor a digest")]
    Which {
        /// The given reference.
        reference: String,
    },
    /// The registry redirects to an address that must not be used.
    #[error("`{host}` sends to `{to}`, which is not followed")]
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
        /// Limit in bytes.
        limit: u64,
    },
    /// The registry returned content other than what was requested.
    #[error("the {what} is not what was asked for: it should hash to `{expected}`, and hashes to `{found}`")]
    Altered {
        /// Name of the part.
        what: String,
        /// Expected digest.
        expected: Digest,
        /// Digest of the received content.
        found: Digest,
    },
    /// The tag no longer refers to the pinned digest.
    #[error("`{reference}` has moved: the tag now names `{found}`")]
    Moved {
        /// The requested artifact.
        reference: String,
        /// Digest that the tag refers to.
        found: Digest,
    },
    /// The artifact is not WebAssembly, or not in a known layout.
    #[error("`{reference}` is no artifact of WebAssembly: {problem}")]
    NotWasm {
        /// The requested artifact.
        reference: String,
        /// Description of the artifact.
        problem: String,
    },
    /// The tag refers to another artifact.
    #[error("`{reference}` exists with other content: the tag names `{found}`, and this release would be `{ours}`")]
    Taken {
        /// The requested tag.
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
                "what was pulled before is in the registry, and is mounted without the network: `tollhouse registry ls`"
            }
            Self::Unauthorized { known: false, .. } => "`docker login HOST`, or `podman login` with Docker's config",
            Self::Unauthorized { .. } => "they are those of Docker's config: `docker login HOST` anew",
            Self::Credentials { .. } => "fix `config.json` of Docker, or what it names, or `docker logout HOST`",
            Self::NotFound { .. } => "look at its name and its tag; a private one may need `docker login HOST`",
            Self::Which { .. } => "add `:TAG`, which is usually the version, or `@sha256:…`",
            Self::Altered { .. } => "nothing of it was used; the registry, or what stands between, is broken or lies",
            Self::Moved { .. } => "nothing of it was used; find out why, then pin what it names now",
            Self::Taken { .. } => "push under another tag, or `--force` if the tag is to move",
            Self::Redirected { .. } => "only https is followed, and no upload; ask who runs the registry",
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
