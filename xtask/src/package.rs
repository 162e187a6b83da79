//! Packages the published crates as for crates.io, checks that each is complete and small enough, and builds the
//! command line from the packages alone, without any tool chain but Rust's.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;
use serde_json::Value;
use toml::Table;

use crate::run::{cargo, command, output, root, run, say, target};

/// Largest package that crates.io accepts, in bytes.
const MAX_SIZE: u64 = 10_000_000;

/// Files from outside of a package that its build reads, by links, which packaging follows: crate and path.
const LINKED: [(&str, &str); 5] = [
    ("tollhouse", "wit/guest.wit"),
    ("tollhouse", "wit/program/tools.wit"),
    ("tollhouse", "wit/tool/context.wit"),
    ("tollhouse", "wit/deps/keyvalue/world.wit"),
    ("tollhouse-cli", "src/programs/python3/wit/deps/program/tools.wit"),
];

/// Crate that is published.
struct PublishedCrate {
    name: String,
    version: String,
    manifest: String,
}

impl PublishedCrate {
    /// Returns the path of the packaged crate.
    fn archive(&self) -> PathBuf {
        target().join("package").join(format!("{}-{}.crate", self.name, self.version))
    }
}

/// Packages the crates, and refuses one that is too large or lacks a file that git tracks in its directory.
pub(crate) fn test() -> Result<()> {
    say("packaging the crates that are published");
    let published = published()?;
    let mut package = cargo(&["package", "--quiet", "--locked", "--no-verify", "--allow-dirty"]);
    for PublishedCrate { name, .. } in &published {
        package.args(["--package", name]);
    }
    run(&mut package)?;
    published.iter().try_for_each(check)?;
    build_command_line(&published)
}

/// Returns the published packages of this workspace.
fn published() -> Result<Vec<PublishedCrate>> {
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--no-deps", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let mut published = Vec::new();
    for package in metadata["packages"].as_array().context("cargo names no packages")? {
        let word = |key: &str| package[key].as_str().map(str::to_owned).with_context(|| format!("no {key}"));
        // Guests are published as components, in the crate that stores them.
        if package["publish"].is_null() && word("name")? != "tollhouse-guest-js" {
            published.push(PublishedCrate {
                name: word("name")?,
                version: word("version")?,
                manifest: word("manifest_path")?,
            });
        }
    }
    Ok(published)
}

/// Builds the command line from the packages, and runs a script of each language.
fn build_command_line(published: &[PublishedCrate]) -> Result<()> {
    say("building the command line from the packages, with clang and the wasm targets hidden");
    let workspace = target().join("package/workspace");
    if workspace.exists() {
        fs::remove_dir_all(&workspace)?;
    }
    unpack(published, &workspace)?;
    let built = target().join("package/built");
    let mut build = cargo(&["build", "--offline", "--package", "tollhouse-cli", "--target-dir"]);
    build.arg(&built).current_dir(&workspace);
    hide_toolchains(&mut build, &workspace.join("hidden"))?;
    run(build.env_remove("TOLLHOUSE_GUESTS_DIR"))?;
    let home = workspace.join("home");
    fs::create_dir_all(&home)?;
    for (script, expected) in [("return 6 * 7", "42\n"), ("echo $((6 * 7)) | rev", "24\n")] {
        let mut tollhouse = command(built.join("debug/tollhouse"));
        tollhouse.args(["run", "-e", script]).current_dir(&home).env_clear().env("HOME", &home);
        tollhouse.args(script.starts_with("echo").then_some(["--lang", "sh"]).into_iter().flatten());
        let printed = output(&mut tollhouse)?;
        ensure!(printed == expected, "`{script}` printed {printed:?}, and not {expected:?}");
    }
    Ok(())
}

/// Creates a workspace from the packages, with the locked dependencies and the profiles of this one.
fn unpack(published: &[PublishedCrate], workspace: &Path) -> Result<()> {
    let (mut members, mut patched) = (Vec::new(), Table::new());
    for package in published {
        tar::Archive::new(GzDecoder::new(File::open(package.archive())?)).unpack(workspace)?;
        let directory = format!("{}-{}", package.name, package.version);
        patched.insert(package.name.clone(), Table::from_iter([("path".to_owned(), directory.clone().into())]).into());
        members.push(directory);
    }
    let own: Table = fs::read_to_string(root().join("Cargo.toml"))?.parse()?;
    let list = Table::from_iter([("members".to_owned(), members.into()), ("resolver".to_owned(), "3".into())]);
    let mut manifest = Table::from_iter([("workspace".to_owned(), list.into())]);
    manifest.insert("patch".to_owned(), Table::from_iter([("crates-io".to_owned(), patched.into())]).into());
    let profile = own.get("profile").and_then(|profiles| profiles.get("dev")).context("there is a profile `dev`")?;
    manifest.insert("profile".to_owned(), Table::from_iter([("dev".to_owned(), profile.clone())]).into());
    fs::write(workspace.join("Cargo.toml"), manifest.to_string())?;
    fs::copy(root().join("Cargo.lock"), workspace.join("Cargo.lock"))?;
    Ok(())
}

/// Makes a build fail if it calls clang or builds for a wasm target.
fn hide_toolchains(build: &mut std::process::Command, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let script = |name: &str, text: &str| -> Result<PathBuf> {
        let path = directory.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    };
    script("clang", "echo 'clang is hidden' >&2; exit 1")?;
    let wrapper = "case \"$*\" in *'--target wasm'*) echo 'wasm targets are hidden' >&2; exit 1 ;; esac\nexec \"$@\"";
    build.env("RUSTC_WRAPPER", script("rustc-wrapper", wrapper)?);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(directory.to_owned()).chain(std::env::split_paths(&path)))?;
    build.env("PATH", path);
    Ok(())
}

fn check(package: &PublishedCrate) -> Result<()> {
    let PublishedCrate { name, manifest, .. } = package;
    let archive = package.archive();
    let size = archive.metadata().with_context(|| format!("{} is not there", archive.display()))?.len();
    ensure!(size < MAX_SIZE, "{name} is {size} bytes, and crates.io takes {MAX_SIZE}");
    let mut packed = BTreeSet::new();
    for entry in tar::Archive::new(GzDecoder::new(File::open(&archive)?)).entries()? {
        // The archive has all files in one directory, which is removed from the path.
        let path: std::path::PathBuf = entry?.path()?.components().skip(1).collect();
        packed.insert(path.to_string_lossy().into_owned());
    }
    let directory = Path::new(manifest).parent().context("a manifest lies in a directory")?;
    let of_git = output(crate::run::command("git").current_dir(directory).args([
        "ls-files",
        "--",
        "src",
        "templates",
        "build.rs",
    ]))?;
    let linked = LINKED.iter().filter(|(of, _)| of == name).map(|(_, path)| *path);
    let lacking: Vec<&str> = of_git.lines().chain(linked).filter(|path| !packed.contains(*path)).collect();
    if !lacking.is_empty() {
        bail!(
            "the package of {name} lacks {lacking:?}: has a directory a Cargo.toml of its own, or its manifest an `include`?"
        );
    }
    Ok(())
}
