//! Facts that cargo knows about a package: its name, and where its built component may be. Must not build anything, nor
//! use the network.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use semver::Version;
use serde::Deserialize;

use crate::{
    name::PackageName,
    package::{PackageError, read},
    untrusted_file,
};

/// Largest size of a `Cargo.toml` in bytes.
const MAX_CARGO_MANIFEST: usize = 4 << 20;

/// Targets that produce components. cargo-component uses the name of the second one, also for components.
const TARGETS: [&str; 2] = ["wasm32-wasip2", "wasm32-wasip1"];

/// Directories of the build profiles that are searched. `guest` is a profile of Tollhouse's own.
const PROFILES: [&str; 3] = ["release", "guest", "debug"];

/// Description of a Rust package.
pub(crate) struct RustPackage {
    /// Version of the package.
    pub(crate) version: Version,
    /// True if cargo-component builds the package.
    pub(crate) cargo_component: bool,
    /// Name of the package as cargo-component knows it.
    pub(crate) package: Option<PackageName>,
    /// Files that a build of the package may have written.
    pub(crate) candidates: Vec<PathBuf>,
}

/// Asks cargo about the package in a directory.
pub(crate) fn describe(directory: &Path) -> Result<RustPackage, PackageError> {
    let failed = |problem: String| PackageError::Cargo { directory: directory.to_owned(), problem };
    let manifest = directory.join("Cargo.toml");
    // cargo would read a file of any kind and length to its end.
    read(&manifest, MAX_CARGO_MANIFEST)?;
    let mut command = Command::new("cargo");
    command.args(["metadata", "--format-version", "1", "--no-deps", "--manifest-path"]).arg(&manifest);
    // A backtrace of cargo or rustup itself says nothing about the package.
    let output = command.env_remove("RUST_BACKTRACE").stdin(Stdio::null()).output();
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => PackageError::NoCargo { directory: directory.to_owned() },
        _ => failed(error.to_string()),
    })?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let metadata: CargoMetadata = serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))?;
    let manifest = manifest.canonicalize().map_err(|source| PackageError::Io { path: manifest.clone(), source })?;
    // In a workspace cargo describes all members.
    let is_it = |package: &PackageMetadata| package.manifest_path.canonicalize().is_ok_and(|path| path == manifest);
    let package = metadata.packages.into_iter().find(is_it);
    let package = package.ok_or_else(|| failed("this is a workspace: name one of its packages".into()))?;
    let files: Vec<String> = package.targets.iter().filter_map(BuildTarget::file).collect();
    if files.is_empty() {
        return Err(failed("it has neither a library with `crate-type = [\"cdylib\"]` nor a program".into()));
    }
    // `[package.metadata.component]` is what cargo-component reads.
    let component = package.metadata.get("component");
    let name = component.and_then(|component| component.get("package")).and_then(serde_json::Value::as_str);
    let mut candidates = Vec::new();
    for (target, profile) in TARGETS.iter().flat_map(|target| PROFILES.iter().map(move |profile| (target, profile))) {
        let directory = metadata.target_directory.join(target).join(profile);
        candidates.extend(files.iter().map(|file| directory.join(file)));
    }
    Ok(RustPackage {
        version: package.version,
        cargo_component: component.is_some(),
        package: name.and_then(|name| name.parse().ok()),
        candidates,
    })
}

/// Lists paths where a build may have left a component, without asking cargo: below `target` of the directory and of
/// its parents, under the name that `Cargo.toml` gives.
pub(crate) fn usual_places(directory: &Path) -> Vec<PathBuf> {
    let text = read(&directory.join("Cargo.toml"), MAX_CARGO_MANIFEST).ok().flatten();
    let text = text.and_then(|bytes| untrusted_file::text(bytes).ok()).unwrap_or_default();
    let Ok(manifest) = toml::from_str::<CargoToml>(&text) else { return Vec::new() };
    let library = manifest.lib.filter(|library| library.kinds.iter().any(|kind| kind == "cdylib"));
    let file = match library {
        Some(library) => library.name.unwrap_or(manifest.package.name).replace('-', "_"),
        None => manifest.package.name,
    };
    let file = format!("{file}.wasm");
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let places = directory.ancestors().flat_map(|above| {
        TARGETS
            .iter()
            .flat_map(move |target| PROFILES.iter().map(move |profile| above.join("target").join(target).join(profile)))
    });
    places.map(|place| place.join(&file)).collect()
}

/// Parts of `Cargo.toml` that determine the name of the built file.
#[derive(Deserialize)]
struct CargoToml {
    package: CargoTomlPackage,
    lib: Option<CargoTomlLibrary>,
}

#[derive(Deserialize)]
struct CargoTomlPackage {
    name: String,
}

#[derive(Deserialize)]
struct CargoTomlLibrary {
    name: Option<String>,
    #[serde(default, rename = "crate-type")]
    kinds: Vec<String>,
}

/// Parts of the output of `cargo metadata` that are used here.
#[derive(Deserialize)]
struct CargoMetadata {
    packages: Vec<PackageMetadata>,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct PackageMetadata {
    manifest_path: PathBuf,
    version: Version,
    targets: Vec<BuildTarget>,
    /// `[package.metadata]`, which may have any form.
    #[serde(default)]
    metadata: serde_json::Value,
}

#[derive(Deserialize)]
struct BuildTarget {
    kind: Vec<String>,
    name: String,
}

impl BuildTarget {
    /// Returns the name of the built file, if the target can produce a component.
    fn file(&self) -> Option<String> {
        let is = |wanted: &str| self.kind.iter().any(|kind| kind == wanted);
        if is("cdylib") {
            Some(format!("{}.wasm", self.name.replace('-', "_")))
        } else if is("bin") {
            Some(format!("{}.wasm", self.name))
        } else {
            None
        }
    }
}
