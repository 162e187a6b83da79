//! Package directories: `tool.toml`, `wit/`, `README.md`, and a component that a build left nearby. Must not build
//! anything.

use std::{
    fs,
    io::{self, Read as _},
    path::{Component as PathPart, Path, PathBuf},
    time::SystemTime,
};

use semver::Version;

use crate::{
    cargo,
    component::{Component, MAX_COMPONENT},
    manifest::{MAX_MANIFEST, Manifest, ManifestError},
    publish::{MAX_README, PublishRequest},
    untrusted_file::{self, ReadError},
    wit::{MAX_WIT_FILES, WitError, WitText},
};

/// Reason why a directory is not a package.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is larger than may be published.
    #[error("`{}` has more than {limit} bytes", path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// Largest allowed size in bytes.
        limit: u64,
    },
    /// A pipe, a device, or a directory is in the place of a file.
    #[error("`{}` is {kind}, not a regular file", path.display())]
    NotRegular {
        /// Path of the entry.
        path: PathBuf,
        /// Kind of the entry, with its article.
        kind: &'static str,
    },
    /// A link leads to a file outside the package, which must not be published by accident.
    #[error("`{}` is a link to `{}`, outside of the package", path.display(), target.display())]
    Outside {
        /// Path of the link.
        path: PathBuf,
        /// Target of the link.
        target: PathBuf,
    },
    /// A directory has more files than a package may have.
    #[error("`{}` has more than {MAX_WIT_FILES} files", path.display())]
    TooMany {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The directory has neither a manifest nor a Rust package.
    #[error("there is no `tool.toml` in `{}`", directory.display())]
    NoManifest {
        /// Path of the directory.
        directory: PathBuf,
    },
    /// The manifest is not valid.
    #[error("`{}` is not valid: {source}", path.display())]
    Manifest {
        /// Path of the manifest.
        path: PathBuf,
        /// Text of the manifest.
        text: String,
        /// Error in the manifest.
        source: ManifestError,
    },
    /// The manifest names a component that does not exist.
    #[error("the component `{}`, which `tool.toml` names, does not exist", path.display())]
    NoComponent {
        /// Expected path of the component.
        path: PathBuf,
    },
    /// The WIT files are not valid.
    #[error(transparent)]
    Wit(#[from] WitError),
    /// cargo could not say where it builds.
    #[error("cargo cannot describe `{}`: {problem}", directory.display())]
    Cargo {
        /// Path of the directory.
        directory: PathBuf,
        /// Error output of cargo.
        problem: String,
    },
    /// No build was found at the default location, and cargo, which knows other locations, is not installed.
    #[error("no built component of `{}` was found, and cargo is not installed (or not on PATH)", directory.display())]
    NoCargo {
        /// Path of the directory.
        directory: PathBuf,
    },
    /// No build was found.
    #[error("no built component of `{}` was found: build it with `{command}`", directory.display())]
    NotBuilt {
        /// Path of the directory.
        directory: PathBuf,
        /// Command that builds the package.
        command: &'static str,
    },
    /// Neither a build nor the component's location is configured.
    #[error("`{}` has no `Cargo.toml`, and its `tool.toml` does not say where the component is", directory.display())]
    NoBuild {
        /// Path of the directory.
        directory: PathBuf,
    },
}

impl PackageError {
    /// Converts an error of reading the file at `path`.
    pub(crate) fn unread(path: &Path) -> impl FnOnce(ReadError) -> Self {
        let path = path.to_owned();
        move |error| match error {
            ReadError::Kind { kind } => Self::NotRegular { path, kind },
            ReadError::TooLarge { limit } => Self::TooLarge { path, limit },
            error => Self::Io { path, source: error.into() },
        }
    }

    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoManifest { .. } => {
                "write one (`name = \"my:tool\"`, `version = \"0.1.0\"`), name a component file, or begin with `tollhouse new`"
            }
            Self::NoComponent { .. } => "build it, or fix `component` in `tool.toml`; it is relative to that file",
            Self::NotBuilt { .. } | Self::NoBuild { .. } | Self::NoCargo { .. } => {
                "if it is built elsewhere, set `component = \"…\"` in `tool.toml`"
            }
            Self::Cargo { .. } => "fix its `Cargo.toml`, or set `component = \"…\"`",
            Self::Wit(error) => return error.hint(),
            Self::Outside { .. } => "put a copy there",
            Self::Io { .. }
            | Self::TooLarge { .. }
            | Self::NotRegular { .. }
            | Self::TooMany { .. }
            | Self::Manifest { .. } => return None,
        })
    }
}

/// Reads a package directory: everything of it that is published.
///
/// The component is at `component` of `tool.toml`, else the newest that `tollhouse build`, cargo or cargo-component
/// made. A Rust package without `tool.toml` takes its name from `Cargo.toml` or its WIT; the caller can replace name
/// and version.
///
/// # Errors
/// The file that is missing or not valid.
pub fn package_dir(directory: &Path) -> Result<PublishRequest, PackageError> {
    let manifest = manifest(directory)?;
    let (component, crate_) = match manifest.as_ref().and_then(|(_, manifest)| manifest.component.as_ref()) {
        Some(component) => (named_component(directory, component)?, None),
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

/// Reads the manifest of a package directory.
///
/// # Errors
/// If there is none, or it is not valid.
pub fn package_manifest(directory: &Path) -> Result<Manifest, PackageError> {
    match manifest(directory)? {
        Some((_, manifest)) => Ok(manifest),
        None => Err(PackageError::NoManifest { directory: directory.to_owned() }),
    }
}

/// Reads the WIT text of a package directory, self-contained and with doc comments. Returns `None` if there is no
/// `wit/`.
///
/// # Errors
/// If it cannot be read.
pub fn package_wit(directory: &Path) -> Result<Option<String>, PackageError> {
    Ok(wit(directory)?.map(|wit| wit.print()).transpose()?)
}

/// Returns the newest component or module that cargo or cargo-component built of a Rust package with a profile, given
/// by the name of its directory: `release`, `debug`.
///
/// # Errors
/// If there is none, or cannot be determined since cargo cannot describe the package.
pub fn cargo_built(directory: &Path, profile: &str) -> Result<PathBuf, PackageError> {
    let mut crate_ = cargo::describe(directory)?;
    crate_.candidates.retain(|path| path.parent().is_some_and(|parent| parent.ends_with(profile)));
    newest(&crate_.candidates).ok_or_else(|| not_built(directory, &crate_))
}

/// Finds the newest built component, and describes the package if cargo was asked.
fn found(directory: &Path, manifest: Option<&Manifest>) -> Result<(PathBuf, Option<cargo::RustPackage>), PackageError> {
    let mut candidates: Vec<PathBuf> = manifest.map(|manifest| directory.join(manifest.built())).into_iter().collect();
    let crate_ = match directory.join("Cargo.toml").is_file().then(|| cargo::describe(directory)).transpose() {
        Ok(crate_) => crate_,
        // An existing build can be found without cargo.
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

/// Reads `wit/`, if it exists.
fn wit(directory: &Path) -> Result<Option<WitText>, PackageError> {
    let wit = directory.join("wit");
    if !wit.is_dir() {
        return Ok(None);
    }
    WitText::read_directory(directory, &wit).map(Some)
}

/// Reads `tool.toml`, if it exists.
fn manifest(directory: &Path) -> Result<Option<(String, Manifest)>, PackageError> {
    let path = directory.join("tool.toml");
    let Some(text) = read_text(directory, "tool.toml", MAX_MANIFEST)? else { return Ok(None) };
    match Manifest::parse(&text) {
        Ok(manifest) => Ok(Some((text, manifest))),
        Err(source) => Err(PackageError::Manifest { path, text, source }),
    }
}

/// Determines name and version of a Rust package without `tool.toml`. Either may remain unknown, and is then found in
/// the component.
fn named(wit: Option<&WitText>, crate_: &cargo::RustPackage) -> (Option<crate::PackageName>, Option<Version>) {
    let package = wit.map(WitText::package);
    let written = || package.and_then(|package| format!("{}:{}", package.namespace, package.name).parse().ok());
    let version = package.and_then(|package| package.version.clone());
    (crate_.package.clone().or_else(written), Some(version.unwrap_or_else(|| crate_.version.clone())))
}

fn not_built(directory: &Path, crate_: &cargo::RustPackage) -> PackageError {
    PackageError::NotBuilt {
        directory: directory.to_owned(),
        command: if crate_.cargo_component {
            "cargo component build --release"
        } else {
            "cargo build --release --target wasm32-wasip2"
        },
    }
}

/// Returns the newest component among the files. If there are only modules, the newest of those: publishing reports
/// what is wrong with it.
fn newest(candidates: &[PathBuf]) -> Option<PathBuf> {
    // Of two files of the same age the first is taken: `max_by_key` takes the last.
    let seen = candidates.iter().rev().filter_map(|path| {
        let mut header = [0; 8];
        let mut file = untrusted_file::open_regular(path).ok()?;
        file.read_exact(&mut header).ok()?;
        let modified = file.metadata().and_then(|metadata| metadata.modified());
        Some(((Component::is_header(&header), modified.unwrap_or(SystemTime::UNIX_EPOCH)), path))
    });
    seen.max_by_key(|(rank, _)| *rank).map(|(_, path)| path.clone())
}

/// Reads a file. Returns `None` if it does not exist.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, PackageError> {
    match untrusted_file::read_regular(path, u64::try_from(limit).unwrap_or(u64::MAX)) {
        Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(PackageError::unread(path)),
    }
}

/// Returns the path of the component that a manifest names. One that says itself that it is elsewhere, as a build directory
/// that packages share, is taken; one that says that it is in the package has to be.
fn named_component(directory: &Path, name: &str) -> Result<PathBuf, PackageError> {
    let path = directory.join(name);
    if Path::new(name).components().all(|part| matches!(part, PathPart::Normal(_) | PathPart::CurDir)) {
        check_inside(directory, &path)?;
    }
    Ok(path)
}

/// Refuses a path in a package directory that a link leads out of it. What does not exist is for its reader.
pub(crate) fn check_inside(directory: &Path, path: &Path) -> Result<(), PackageError> {
    match (fs::canonicalize(directory), fs::canonicalize(path)) {
        (Ok(inside), Ok(target)) if !target.starts_with(&inside) => {
            Err(PackageError::Outside { path: path.to_owned(), target })
        }
        _ => Ok(()),
    }
}

/// Reads a text file of a package directory, which must be within it.
fn read_text(directory: &Path, name: &str, limit: usize) -> Result<Option<String>, PackageError> {
    let path = directory.join(name);
    check_inside(directory, &path)?;
    let text = read(&path, limit)?.map(untrusted_file::text).transpose();
    text.map_err(PackageError::unread(&path))
}
