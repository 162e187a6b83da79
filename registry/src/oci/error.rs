//! What goes wrong between this machine and a registry of OCI artifacts.

use crate::{
    digest::Digest,
    error::{Error, excerpt},
    signature::SignatureError,
};

/// Why nothing was pushed or pulled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OciError {
    /// No answer, or half of one.
    #[error("cannot reach `{host}`: {problem}")]
    Unreachable {
        /// The host.
        host: String,
        /// What happened.
        problem: String,
    },
    /// The registry says no.
    #[error("`{host}` does not {what}: {problem}")]
    Refused {
        /// The host.
        host: String,
        /// What was asked of it: a verb and its object.
        what: String,
        /// What it says.
        problem: String,
    },
    /// The registry wants to know who asks, or does not let them.
    #[error("`{host}` does not {what}: {}", if *known { "it refuses the credentials" } else { "it wants credentials, and there are none" })]
    Unauthorized {
        /// The host.
        host: String,
        /// What was asked of it.
        what: String,
        /// Whether there were credentials.
        known: bool,
    },
    /// The credentials cannot be found out.
    #[error("cannot get the credentials for `{host}`: {problem}")]
    Credentials {
        /// The host.
        host: String,
        /// What happened.
        problem: String,
    },
    /// There is no such artifact.
    #[error("there is no `{reference}`")]
    NotFound {
        /// What was asked for.
        reference: String,
    },
    /// It says nothing about which.
    #[error("`{reference}` names neither a tag nor a digest")]
    Which {
        /// What was asked for.
        reference: String,
    },
    /// The registry sends elsewhere, to where nothing is fetched from.
    #[error("`{host}` sends to `{to}`, which is not followed")]
    Redirected {
        /// The host.
        host: String,
        /// Where to.
        to: String,
    },
    /// More than what a release may have.
    #[error("the {what} has more than {limit} bytes")]
    TooLarge {
        /// Which part.
        what: String,
        /// How many are allowed.
        limit: u64,
    },
    /// The registry gives something else than what was asked for.
    #[error("the {what} is not what was asked for: it should hash to `{expected}`, and hashes to `{found}`")]
    Altered {
        /// Which part.
        what: String,
        /// What it should be.
        expected: Digest,
        /// What it is.
        found: Digest,
    },
    /// The tag names something else than what was pinned.
    #[error("`{reference}` has moved: the tag now names `{found}`")]
    Moved {
        /// What was asked for.
        reference: String,
        /// What the tag names.
        found: Digest,
    },
    /// It is no WebAssembly artifact, or none of a form that is known here.
    #[error("`{reference}` is no artifact of WebAssembly: {problem}")]
    NotWasm {
        /// What was asked for.
        reference: String,
        /// What it is instead.
        problem: String,
    },
    /// The tag names something else.
    #[error("`{reference}` exists with other content: the tag names `{found}`, and this release would be `{ours}`")]
    Taken {
        /// The tag.
        reference: String,
        /// What it names.
        found: Digest,
        /// What it would name.
        ours: Digest,
    },
    /// What would be pushed is not what was published.
    #[error(transparent)]
    Registry(#[from] Error),
    /// What would be pushed has a signature that is none.
    #[error(transparent)]
    Signature(#[from] SignatureError),
}

impl OciError {
    /// What to do about it.
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

    /// A manifest or a config that means nothing.
    pub(super) fn not_wasm(reference: &impl ToString, problem: impl ToString) -> Self {
        Self::NotWasm { reference: reference.to_string(), problem: excerpt(&problem.to_string()) }
    }
}
