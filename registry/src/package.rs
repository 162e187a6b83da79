//! A package directory: `tool.toml`, `wit/`, `README.md`, and a component that a build left somewhere near.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    component::Component,
    manifest::{Manifest, ManifestError},
    publish::PublishRequest,
    wit::{Wit, WitError},
};

/// Targets that make components, and the profiles that cargo builds them in.
const TARGETS: [&str; 2] = ["wasm32-wasip2", "wasm32-wasip1"];
const PROFILES: [&str; 3] = ["release", "guest", "debug"];

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
    /// There is no manifest.
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
    /// Nothing was built, or not where it is looked for.
    #[error("no built component of `{}` was found", directory.display())]
    NotBuilt {
        /// The directory.
        directory: PathBuf,
    },
}

impl PackageError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoManifest { .. } => {
                Some("write one (`name = \"my:tool\"`, `version = \"0.1.0\"`), or name a component file")
            }
            Self::NotBuilt { .. } => Some(
                "build it: `cargo build --release --target wasm32-wasip2`; or say where it is with `component = \"…\"` in `tool.toml`",
            ),
            Self::Wit(error) => error.hint(),
            _ => None,
        }
    }
}

/// Reads a package directory.
///
/// # Errors
/// What is missing or wrong.
pub fn package_dir(directory: &Path) -> Result<PublishRequest, PackageError> {
    let path = directory.join("tool.toml");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(PackageError::NoManifest { directory: directory.to_owned() });
        }
        Err(source) => return Err(PackageError::Io { path, source }),
    };
    let manifest = match Manifest::parse(&text) {
        Ok(manifest) => manifest,
        Err(source) => return Err(PackageError::Manifest { path, text, source }),
    };
    let component = match &manifest.component {
        Some(component) => directory.join(component),
        None => built(directory)?,
    };
    let wit = directory.join("wit");
    let mut request = PublishRequest::new(read(&component)?);
    request.wit = wit.is_dir().then(|| Wit::read_directory(&wit)?.print()).transpose()?;
    request.readme = fs::read_to_string(directory.join("README.md")).ok();
    request.manifest = Some(text);
    Ok(request)
}

fn read(path: &Path) -> Result<Vec<u8>, PackageError> {
    fs::read(path).map_err(|source| PackageError::Io { path: path.to_owned(), source })
}

/// The newest component that cargo built of the package in a directory.
fn built(directory: &Path) -> Result<PathBuf, PackageError> {
    let (target, library) = cargo(directory)?;
    let candidates = TARGETS.iter().flat_map(|triple| {
        let (target, library) = (&target, &library);
        PROFILES.iter().map(move |profile| target.join(triple).join(profile).join(format!("{library}.wasm")))
    });
    let components = candidates.filter(|path| {
        // wasm32-wasip1 also makes plain modules: only what is a component counts.
        fs::read(path).is_ok_and(|bytes| Component::is_header(&bytes))
    });
    let newest = components.max_by_key(|path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok());
    newest.ok_or_else(|| PackageError::NotBuilt { directory: directory.to_owned() })
}

/// Where cargo builds, and what it calls the package's library.
fn cargo(directory: &Path) -> Result<(PathBuf, String), PackageError> {
    let manifest = directory.join("Cargo.toml");
    if !manifest.exists() {
        return Err(PackageError::NotBuilt { directory: directory.to_owned() });
    }
    let failed = |problem: String| PackageError::Cargo { directory: directory.to_owned(), problem };
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps", "--manifest-path"])
        .arg(&manifest)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))?;
    let manifest = manifest.canonicalize().map_err(|source| PackageError::Io { path: manifest.clone(), source })?;
    let package = metadata
        .packages
        .into_iter()
        .find(|package| package.manifest_path.canonicalize().is_ok_and(|path| path == manifest));
    let targets = package.into_iter().flat_map(|package| package.targets);
    let library = targets.into_iter().find(|target| target.kind.iter().any(|kind| kind == "cdylib"));
    let library = library.ok_or_else(|| failed("it has no library of the kind `cdylib`".into()))?;
    Ok((metadata.target_directory, library.name.replace('-', "_")))
}

/// What is needed of `cargo metadata`.
#[derive(serde::Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

#[derive(serde::Deserialize)]
struct Package {
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(serde::Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}
