//! Why something is not published, and what to do about it.

use semver::Version;

use crate::{
    component::ComponentError,
    error::{Error, excerpt},
    manifest::ManifestError,
    name::{NameError, PackageName, ReleaseName},
    oci::Repository,
    publish::MAX_README,
    signature::PublicKey,
    wit::WitError,
};

/// Why something is not published. Nothing was written that counts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The bytes are no component.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The manifest means nothing.
    #[error("the manifest is wrong: {0}")]
    Manifest(#[from] ManifestError),
    /// The WIT text means nothing, or something else than the component.
    #[error(transparent)]
    Wit(#[from] WitError),
    /// More than [`MAX_README`].
    #[error("the readme has {size} bytes: at most {MAX_README} are allowed")]
    Readme {
        /// How many.
        size: usize,
    },
    /// The manifest's default interface is none that the component exports.
    #[error("the manifest's default interface is `{wanted}`, which the component does not export")]
    NoDefault {
        /// What the manifest says.
        wanted: String,
    },
    /// Nothing says what it is called, or several things say different things.
    #[error("the component does not say its {what}{}", candidates(found))]
    Unnamed {
        /// `name` or `version`.
        what: &'static str,
        /// The packages whose interfaces it exports, if there are several.
        found: Vec<String>,
    },
    /// What the component calls itself is no name here.
    #[error("the component calls itself `{given}`")]
    Name {
        /// What it calls itself.
        given: String,
        /// Why that is no name.
        source: NameError,
    },
    /// Manifest and caller say different things.
    #[error("the manifest says {what} `{manifest}`, and `{given}` was asked for")]
    Conflict {
        /// `name` or `version`.
        what: &'static str,
        /// What the manifest says.
        manifest: String,
        /// What was asked for.
        given: String,
    },
    /// A version has build metadata.
    #[error("the version `{0}` has build metadata: that would be a second release of one version")]
    BuildMetadata(Version),
    /// The manifest asks for what no import of the component could use.
    #[error("the manifest asks for {}", needless.iter().map(|(key, import)| format!("`{key}`, and the component does not import {import}")).collect::<Vec<_>>().join("; for "))]
    Needless {
        /// The keys under `[permissions]`, each with what it would take.
        needless: Vec<(&'static str, String)>,
    },
    /// It imports what no host gives, and no other tool could.
    #[error(
        "the component imports {}, which is no interface of a package, so no host and no other tool can give it",
        names(imports)
    )]
    Ungiven {
        /// What it imports.
        imports: Vec<String>,
    },
    /// Who uses an earlier release could not use this one, and its version says that they could.
    #[error("`{name}@{version}` breaks what `{earlier}` has: {}", differences.join("; "))]
    Breaks {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
        /// The version that it is said to be compatible with.
        earlier: Version,
        /// What is gone or another: a sentence each, a few at most.
        differences: Vec<String>,
        /// What to do about it.
        hint: String,
    },
    /// The version exists, and is something else.
    #[error("`{name}@{version}` exists with other bytes: another {parts}")]
    Exists {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
        /// Which parts differ, in words.
        parts: String,
    },
    /// Somebody else's registry has a new version of a package that is here, and nobody said that it is meant: what resolves
    /// the package would take it.
    #[error("`{repository}` calls it `{release}`, and the releases of that package that are here come from elsewhere")]
    Intruder {
        /// The release.
        release: ReleaseName,
        /// Where it was pulled from.
        repository: Repository,
    },
    /// A signature that came with it is one of something else.
    #[error(
        "the signature of `{release}` by `{key}` that came with it is wrong: it is of another release, of other bytes, or forged"
    )]
    Forged {
        /// The release.
        release: ReleaseName,
        /// The key.
        key: PublicKey,
    },
    /// The registry cannot be read or written.
    #[error(transparent)]
    Registry(#[from] Error),
}

impl PublishError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Breaks { hint, .. } => Some(hint),
            Self::Ungiven { .. } => {
                Some("import an interface of WASI or of another tool, or compose it with a component that exports this")
            }
            Self::Needless { .. } => Some("leave it out of `[permissions]`, or build the component that uses it"),
            Self::Component(error) => error.hint(),
            Self::Wit(error) => error.hint(),
            Self::Registry(error) => error.hint(),
            Self::Unnamed { .. } | Self::Name { .. } => {
                Some("say it with `--name NAMESPACE:PACKAGE --version 1.0.0`, or in a `tool.toml` beside it")
            }
            Self::Conflict { .. } => Some("change the manifest, or leave the option out"),
            Self::NoDefault { .. } => {
                Some("name an interface without its package, `none`, or leave `default` out of the manifest")
            }
            Self::BuildMetadata(_) => Some("leave out the `+…`"),
            Self::Exists { .. } => Some("a release never changes: publish under the next version"),
            Self::Intruder { .. } => {
                Some("`--name NAMESPACE:PACKAGE` says that this package, or another one, is meant")
            }
            Self::Forged { .. } => Some("nothing of it was used; ask who is said to have signed it"),
            Self::Manifest(_) | Self::Readme { .. } => None,
        }
    }
}

/// Names for a message.
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
