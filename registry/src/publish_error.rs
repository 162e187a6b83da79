//! Errors of publishing, with hints.

use semver::Version;

use crate::{
    component::ComponentError,
    error::{Error, excerpt},
    key::PublicKey,
    manifest::ManifestError,
    name::{NameError, PackageName, ReleaseName},
    oci::Repository,
    publish::MAX_README,
    wit::WitError,
};

/// Reason why a release is not published. Nothing took effect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The bytes are not a valid component.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The manifest is not valid.
    #[error("the manifest is not valid: {0}")]
    Manifest(#[from] ManifestError),
    /// The WIT text is not valid, or does not describe the component.
    #[error(transparent)]
    Wit(#[from] WitError),
    /// The readme is larger than [`MAX_README`].
    #[error("the readme has {size} bytes: at most {MAX_README} are allowed")]
    Readme {
        /// Size of the readme in bytes.
        size: usize,
    },
    /// The component does not export the manifest's default interface.
    #[error("the manifest's default interface is `{wanted}`, which the component does not export")]
    NoDefault {
        /// The interface named by the manifest.
        wanted: String,
    },
    /// The name or version is missing or ambiguous.
    #[error("the component does not say its {what}{}", candidates(found))]
    Unnamed {
        /// Missing part: `name` or `version`.
        what: &'static str,
        /// The candidates, if there are several: packages whose interfaces the component exports.
        found: Vec<String>,
    },
    /// The component's own name is not a valid package name here.
    #[error("the component calls itself `{given}`")]
    Name {
        /// The component's own name.
        given: String,
        /// Reason why it is not valid.
        source: NameError,
    },
    /// Manifest and caller contradict each other.
    #[error("the manifest says {what} `{manifest}`, but `{given}` was requested")]
    Conflict {
        /// Contested part: `name` or `version`.
        what: &'static str,
        /// Value in the manifest.
        manifest: String,
        /// Value given by the caller.
        given: String,
    },
    /// The version has build metadata.
    #[error("the version `{0}` has build metadata, which would allow two releases of one version")]
    BuildMetadata(Version),
    /// The manifest requests permissions that no import of the component can use.
    #[error("the manifest requests {}", needless.iter().map(|(key, import)| format!("`{key}`, but the component does not import {import}")).collect::<Vec<_>>().join("; for "))]
    Needless {
        /// Keys under `[permissions]`, each with the import that it would need.
        needless: Vec<(&'static str, String)>,
    },
    /// The component has an import that no host provides and no other tool can.
    #[error(
        "the component imports {}, which is not an interface of a package, so neither the host nor another tool can provide it",
        names(imports)
    )]
    Ungiven {
        /// Names of these imports.
        imports: Vec<String>,
    },
    /// The release breaks users of an earlier one, although its version claims to be compatible.
    #[error("`{name}@{version}` breaks `{earlier}`: {}", differences.join("; "))]
    Breaks {
        /// Name of the package.
        name: PackageName,
        /// Version of the release.
        version: Version,
        /// Version of the release that it breaks.
        earlier: Version,
        /// Differences, a sentence each, a few at most.
        differences: Vec<String>,
        /// Hint on how to fix the problem.
        hint: String,
    },
    /// The version exists with other content.
    #[error("`{name}@{version}` exists with other content: different {parts}")]
    Exists {
        /// Name of the package.
        name: PackageName,
        /// Version of the release.
        version: Version,
        /// The parts that differ, in words.
        parts: String,
    },
    /// A foreign registry has a new version of a package that is here, and the caller did not confirm it: resolving the
    /// package would then select it.
    #[error("`{repository}` has the release `{release}`, and the local releases of that package come from elsewhere")]
    Intruder {
        /// Name of the release.
        release: ReleaseName,
        /// Repository that it was pulled from.
        repository: Repository,
    },
    /// A signature that came with the release does not match it.
    #[error(
        "the signature of `{release}` by `{key}` that came with it is not valid: it belongs to another release or other bytes, or is forged"
    )]
    Forged {
        /// Name of the release.
        release: ReleaseName,
        /// Key of the signature.
        key: PublicKey,
    },
    /// The registry cannot be read or written.
    #[error(transparent)]
    Registry(#[from] Error),
}

impl PublishError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Breaks { hint, .. } => Some(hint),
            Self::Ungiven { .. } => {
                Some("import an interface of WASI or of another tool, or compose it with a component that exports this")
            }
            Self::Needless { .. } => Some("remove it from `[permissions]`, or build a component that uses it"),
            Self::Component(error) => error.hint(),
            Self::Wit(error) => error.hint(),
            Self::Registry(error) => error.hint(),
            Self::Unnamed { .. } | Self::Name { .. } => {
                Some("set it with `--name NAMESPACE:PACKAGE --version 1.0.0`, or in a `tool.toml` beside the component")
            }
            Self::Conflict { .. } => Some("change the manifest, or omit the option"),
            Self::NoDefault { .. } => {
                Some("name an interface without its package, `none`, or leave `default` out of the manifest")
            }
            Self::BuildMetadata(_) => Some("remove the `+…`"),
            Self::Exists { .. } => Some("a release never changes: publish under the next version"),
            Self::Intruder { .. } => {
                Some("`--name NAMESPACE:PACKAGE` confirms that this package, or another one, is meant")
            }
            Self::Forged { .. } => Some("nothing of it was used; ask the owner of the key"),
            Self::Manifest(_) | Self::Readme { .. } => None,
        }
    }
}

/// Formats candidate names for a message.
fn candidates(found: &[String]) -> String {
    match found.split_last() {
        Some((last, [first, ..])) if found.len() == 2 => {
            format!(": it exports interfaces of `{first}` and `{last}`")
        }
        Some((last, [first, ..])) => format!(": it exports interfaces of `{first}`, … and `{last}`"),
        _ => String::new(),
    }
}

fn names(imports: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<String> = imports.iter().take(SHOWN).map(|name| format!("`{}`", excerpt(name))).collect();
    if let Some(more @ 1..) = imports.len().checked_sub(SHOWN) {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}
