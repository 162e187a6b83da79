//! The crates that are published, packaged as for crates.io: whole, and small enough.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::run::{cargo, output, run, say, target};

/// Largest size that crates.io takes, in bytes.
const MAX_SIZE: u64 = 10_000_000;

/// Files from outside of a package that its build reads, by links, which packaging follows: crate and path.
const LINKED: [(&str, &str); 4] = [
    ("tollhouse", "wit/guest.wit"),
    ("tollhouse", "wit/program/tools.wit"),
    ("tollhouse", "wit/deps/keyvalue/world.wit"),
    ("tollhouse-cli", "src/programs/python3/wit/deps/program/tools.wit"),
];

/// Package that is published.
struct Published {
    name: String,
    version: String,
    manifest: String,
}

/// Packages the crates, and refuses one that is too large, or lacks a file that git has in its directory.
pub(crate) fn test() -> Result<()> {
    say("packaging the crates that are published");
    let published = published()?;
    let mut package = cargo(&["package", "--quiet", "--locked", "--no-verify", "--allow-dirty"]);
    for Published { name, .. } in &published {
        package.args(["--package", name]);
    }
    run(&mut package)?;
    published.iter().try_for_each(check)
}

/// Finds the packages of this workspace that are published.
fn published() -> Result<Vec<Published>> {
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--no-deps", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let mut published = Vec::new();
    for package in metadata["packages"].as_array().context("cargo names no packages")? {
        let word = |key: &str| package[key].as_str().map(str::to_owned).with_context(|| format!("no {key}"));
        // Guests are published as components.
        if package["publish"].is_null() && word("name")? != "tollhouse-guest-js" {
            published.push(Published {
                name: word("name")?,
                version: word("version")?,
                manifest: word("manifest_path")?,
            });
        }
    }
    Ok(published)
}

fn check(package: &Published) -> Result<()> {
    let Published { name, version, manifest } = package;
    let archive = target().join("package").join(format!("{name}-{version}.crate"));
    let size = archive.metadata().with_context(|| format!("{} is not there", archive.display()))?.len();
    ensure!(size < MAX_SIZE, "{name} is {size} bytes, and crates.io takes {MAX_SIZE}");
    let mut packed = BTreeSet::new();
    for entry in tar::Archive::new(GzDecoder::new(File::open(&archive)?)).entries()? {
        // Without the directory that they are all in.
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
