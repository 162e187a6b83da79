//! A package directory: `tool.toml`, `wit/`, `README.md`, and a component that a build left somewhere near. Must not
//! build anything.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use semver::Version;

use crate::{
    cargo,
    component::{Component, MAX_COMPONENT},
    manifest::{MAX_MANIFEST, Manifest, ManifestError},
    publish::{MAX_README, PublishRequest},
    untrusted_file::{self, ReadError},
    wit::{MAX_WIT_FILES, Wit, WitError},
};

/// Why a directory is no package.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file is larger than what may be published.
    #[error("`{}` has more than {limit} bytes", path.display())]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// How many are allowed.
        limit: u64,
    },
    /// A pipe, a device, or a directory in the place of a file.
    #[error("`{}` is {kind}, not a regular file", path.display())]
    NotRegular {
        /// Which.
        path: PathBuf,
        /// Kind of what is there, with its article.
        kind: &'static str,
    },
    /// A link to a file that does not belong to the package: what it leads to would be published.
    #[error("`{}` is a link to `{}`, outside of the package", path.display(), target.display())]
    Outside {
        /// Which.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// More files than a package has.
    #[error("`{}` has more than {MAX_WIT_FILES} files", path.display())]
    TooMany {
        /// Which directory.
        path: PathBuf,
    },
    /// There is neither a manifest nor a Rust package.
    #[error("there is no `tool.toml` in `{}`", directory.display())]
    NoManifest {
        /// The directory.
        directory: PathBuf,
    },
    /// The manifest means nothing.
    #[error("`{}` is wrong: {source}", path.display())]
    Manifest {
        /// Its file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong.
        source: ManifestError,
    },
    /// The manifest names a component that is not there.
    #[error("the component `{}`, which `tool.toml` names, does not exist", path.display())]
    NoComponent {
        /// Where it should be.
        path: PathBuf,
    },
    /// The WIT files mean nothing.
    #[error(transparent)]
    Wit(#[from] WitError),
    /// cargo could not say where it builds.
    #[error("cargo cannot describe `{}`: {problem}", directory.display())]
    Cargo {
        /// The directory.
        directory: PathBuf,
        /// What it said.
        problem: String,
    },
    /// Nothing was built where builds go by default, and cargo, which knows other places, is not there.
    #[error("no built component of `{}` was found, and cargo is not installed (or not on PATH)", directory.display())]
    NoCargo {
        /// The directory.
        directory: PathBuf,
    },
    /// Nothing was built, or not where it is looked for.
    #[error("no built component of `{}` was found: build it with `{command}`", directory.display())]
    NotBuilt {
        /// The directory.
        directory: PathBuf,
        /// What builds it.
        command: &'static str,
    },
    /// Nothing says how it is built or where the component is.
    #[error("`{}` has no `Cargo.toml`, and its `tool.toml` does not say where the component is", directory.display())]
    NoBuild {
        /// The directory.
        directory: PathBuf,
    },
}

impl PackageError {
    /// What is wrong with a file that cannot be read.
    pub(crate) fn unread(path: &Path) -> impl FnOnce(ReadError) -> Self {
        let path = path.to_owned();
        move |error| match error {
            ReadError::Kind { kind } => Self::NotRegular { path, kind },
            ReadError::TooLarge { limit } => Self::TooLarge { path, limit },
            error => Self::Io { path, source: error.into() },
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoManifest { .. } => {
                "write one (`name = \"my:tool\"`, `version = \"0.1.0\"`), name a component file, or begin with `tollhouse new`"
            }
            Self::NoComponent { .. } => "build it, or fix `component` in `tool.toml`; it is relative to that file",
            Self::NotBuilt { .. } | Self::NoBuild { .. } | Self::NoCargo { .. } => {
                "if it is built elsewhere, say where with `component = \"…\"` in `tool.toml`"
            }
            Self::Cargo { .. } => "fix its `Cargo.toml`, or say where the component is with `component = \"…\"`",
            Self::Wit(error) => return error.hint(),
            Self::Outside { .. } => "put a copy of the file there",
            Self::Io { .. }
            | Self::TooLarge { .. }
            | Self::NotRegular { .. }
            | Self::TooMany { .. }
            | Self::Manifest { .. } => return None,
        })
    }
}

/// Reads a package directory: all that is published of it.
///
/// The component is where `component` in `tool.toml` says, else the newest that `tollhouse build`, cargo or
/// cargo-component made. A Rust package without `tool.toml` is named as its `Cargo.toml` or its WIT says; the caller can
/// replace both.
///
/// # Errors
/// What is missing or wrong.
pub fn package_dir(directory: &Path) -> Result<PublishRequest, PackageError> {
    let manifest = manifest(directory)?;
    let (component, crate_) = match manifest.as_ref().and_then(|(_, manifest)| manifest.component.as_ref()) {
        Some(component) => (directory.join(component), None),
        None => found(directory, manifest.as_ref().map(|(_, manifest)| manifest))?,
    };
    let bytes = read(&component, MAX_COMPONENT)?.ok_or(PackageError::NoComponent { path: component })?;
    let mut request = PublishRequest::new(bytes);
    let wit = wit(directory)?;
    if let (None, Some(crate_)) = (&manifest, crate_) {
        (request.name, request.version) = named(wit.as_ref(), &crate_);
    }
    request.wit = wit.map(|wit| wit.print()).transpose()?;
    request.readme = read_text(directory, "README.md", MAX_README)?;
    request.manifest = manifest.map(|(text, _)| text);
    Ok(request)
}

/// The manifest of a package directory.
///
/// # Errors
/// If there is none, or it means nothing.
pub fn package_manifest(directory: &Path) -> Result<Manifest, PackageError> {
    match manifest(directory)? {
        Some((_, manifest)) => Ok(manifest),
        None => Err(PackageError::NoManifest { directory: directory.to_owned() }),
    }
}

/// The WIT text of a package directory, with doc comments, that stands alone. None if it has no `wit/`.
///
/// # Errors
/// If it cannot be read.
pub fn package_wit(directory: &Path) -> Result<Option<String>, PackageError> {
    Ok(wit(directory)?.map(|wit| wit.print()).transpose()?)
}

/// The newest component or module that cargo or cargo-component built of a Rust package with a profile, in the directory of
/// that name: `release`, `debug`.
///
/// # Errors
/// If there is none, or cargo cannot describe the package.
pub fn cargo_built(directory: &Path, profile: &str) -> Result<PathBuf, PackageError> {
    let mut crate_ = cargo::describe(directory)?;
    crate_.candidates.retain(|path| path.parent().is_some_and(|parent| parent.ends_with(profile)));
    newest(&crate_.candidates).ok_or_else(|| not_built(directory, &crate_))
}

/// The newest component that a build left, and what cargo says of the package if it knows it.
fn found(directory: &Path, manifest: Option<&Manifest>) -> Result<(PathBuf, Option<cargo::Crate>), PackageError> {
    let mut candidates: Vec<PathBuf> = manifest.map(|manifest| directory.join(manifest.built())).into_iter().collect();
    let crate_ = match directory.join("Cargo.toml").is_file().then(|| cargo::describe(directory)).transpose() {
        Ok(crate_) => crate_,
        // What is built already needs no cargo.
        Err(error) => {
            candidates.extend(cargo::usual_places(directory));
            return newest(&candidates).map(|newest| (newest, None)).ok_or(error);
        }
    };
    candidates.extend(crate_.iter().flat_map(|crate_| crate_.candidates.iter().cloned()));
    if let Some(newest) = newest(&candidates) {
        return Ok((newest, crate_));
    }
    let directory = directory.to_owned();
    Err(match (crate_, manifest) {
        (_, Some(manifest)) if manifest.build.is_some() => {
            PackageError::NotBuilt { directory, command: "tollhouse build" }
        }
        (Some(crate_), _) => not_built(&directory, &crate_),
        (None, Some(_)) => PackageError::NoBuild { directory },
        (None, None) => PackageError::NoManifest { directory },
    })
}

/// `wit/`, if there is one.
fn wit(directory: &Path) -> Result<Option<Wit>, PackageError> {
    let wit = directory.join("wit");
    if !wit.is_dir() {
        return Ok(None);
    }
    Wit::read_directory(&wit).map(Some)
}

/// `tool.toml`, if there is one.
fn manifest(directory: &Path) -> Result<Option<(String, Manifest)>, PackageError> {
    let path = directory.join("tool.toml");
    let Some(text) = read_text(directory, "tool.toml", MAX_MANIFEST)? else { return Ok(None) };
    match Manifest::parse(&text) {
        Ok(manifest) => Ok(Some((text, manifest))),
        Err(source) => Err(PackageError::Manifest { path, text, source }),
    }
}

/// What a Rust package without `tool.toml` is called. What is left open is found in the component.
fn named(wit: Option<&Wit>, crate_: &cargo::Crate) -> (Option<crate::PackageName>, Option<Version>) {
    let package = wit.map(Wit::package);
    let written = || package.and_then(|package| format!("{}:{}", package.namespace, package.name).parse().ok());
    let version = package.and_then(|package| package.version.clone());
    (crate_.package.clone().or_else(written), Some(version.unwrap_or_else(|| crate_.version.clone())))
}

fn not_built(directory: &Path, crate_: &cargo::Crate) -> PackageError {
    PackageError::NotBuilt {
        directory: directory.to_owned(),
        command: if crate_.cargo_component {
            "cargo component build --release"
        } else {
            "cargo build --release --target wasm32-wasip2"
        },
    }
}

/// The newest of the files that is a component. If there are only modules, the newest of those: publishing says what
/// is wrong with it.
fn newest(candidates: &[PathBuf]) -> Option<PathBuf> {
    // Of two of one age the first: `max_by_key` takes the last.
    let seen = candidates.iter().rev().filter_map(|path| {
        let mut header = [0; 8];
        let mut file = untrusted_file::open_regular(path).ok()?;
        file.read_exact(&mut header).ok()?;
        let modified = file.metadata().and_then(|metadata| metadata.modified());
        Some(((Component::is_header(&header), modified.unwrap_or(SystemTime::UNIX_EPOCH)), path))
    });
    seen.max_by_key(|(rank, _)| *rank).map(|(_, path)| path.clone())
}

/// A file's content, if there is such a file.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, PackageError> {
    match untrusted_file::read_regular(path, u64::try_from(limit).unwrap_or(u64::MAX)) {
        Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(PackageError::unread(path)),
    }
}

/// A text of a package directory, which lies in it.
fn read_text(directory: &Path, name: &str, limit: usize) -> Result<Option<String>, PackageError> {
    let path = directory.join(name);
    if let (Ok(inside), Ok(target)) = (fs::canonicalize(directory), fs::canonicalize(&path))
        && !target.starts_with(inside)
    {
        return Err(PackageError::Outside { path, target });
    }
    let text = read(&path, limit)?.map(untrusted_file::text).transpose();
    text.map_err(PackageError::unread(&path))
}
