//! What cargo knows about a package that is to be published: where its component may be, and what it is called. Must
//! not build anything, nor use the network.

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

/// Largest `Cargo.toml` in bytes.
const MAX_CARGO_MANIFEST: usize = 4 << 20;

/// Targets that make components. cargo-component names the second one, also for what it has made a component.
const TARGETS: [&str; 2] = ["wasm32-wasip2", "wasm32-wasip1"];

/// The directories of the profiles that are looked into. `guest` is Tollhouse's own.
const PROFILES: [&str; 3] = ["release", "guest", "debug"];

/// A Rust package.
pub(crate) struct Crate {
    /// Its version.
    pub(crate) version: Version,
    /// Whether it is built with cargo-component.
    pub(crate) cargo_component: bool,
    /// What cargo-component calls it.
    pub(crate) package: Option<PackageName>,
    /// Where a build of it may have left a component.
    pub(crate) candidates: Vec<PathBuf>,
}

/// Asks cargo about the package in a directory.
pub(crate) fn describe(directory: &Path) -> Result<Crate, PackageError> {
    let failed = |problem: String| PackageError::Cargo { directory: directory.to_owned(), problem };
    let manifest = directory.join("Cargo.toml");
    // cargo would read whatever is there, to its end.
    read(&manifest, MAX_CARGO_MANIFEST)?;
    let mut command = Command::new("cargo");
    command.args(["metadata", "--format-version", "1", "--no-deps", "--manifest-path"]).arg(&manifest);
    // A backtrace of cargo's or rustup's own says nothing about the package.
    let output = command.env_remove("RUST_BACKTRACE").stdin(Stdio::null()).output();
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => PackageError::NoCargo { directory: directory.to_owned() },
        _ => failed(error.to_string()),
    })?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))?;
    let manifest = manifest.canonicalize().map_err(|source| PackageError::Io { path: manifest.clone(), source })?;
    // In a workspace cargo describes all members.
    let is_it = |package: &Package| package.manifest_path.canonicalize().is_ok_and(|path| path == manifest);
    let package = metadata.packages.into_iter().find(is_it);
    let package = package.ok_or_else(|| failed("this is a workspace: name one of its packages".into()))?;
    let files: Vec<String> = package.targets.iter().filter_map(Target::file).collect();
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
    Ok(Crate {
        version: package.version,
        cargo_component: component.is_some(),
        package: name.and_then(|name| name.parse().ok()),
        candidates,
    })
}

/// Lists where a build may have left a component, without asking cargo: in `target` of the directory and of those above it,
/// under the name that `Cargo.toml` gives.
pub(crate) fn usual_places(directory: &Path) -> Vec<PathBuf> {
    let text = read(&directory.join("Cargo.toml"), MAX_CARGO_MANIFEST).ok().flatten();
    let text = text.and_then(|bytes| untrusted_file::text(bytes).ok()).unwrap_or_default();
    let Ok(manifest) = toml::from_str::<Written>(&text) else { return Vec::new() };
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

/// Parts of `Cargo.toml` that name the built file.
#[derive(Deserialize)]
struct Written {
    package: WrittenPackage,
    lib: Option<WrittenLibrary>,
}

#[derive(Deserialize)]
struct WrittenPackage {
    name: String,
}

#[derive(Deserialize)]
struct WrittenLibrary {
    name: Option<String>,
    #[serde(default, rename = "crate-type")]
    kinds: Vec<String>,
}

/// What is needed of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    manifest_path: PathBuf,
    version: Version,
    targets: Vec<Target>,
    /// `[package.metadata]`: anyone's, so of any form.
    #[serde(default)]
    metadata: serde_json::Value,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

impl Target {
    /// What the built file is called, if it can be a component.
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
