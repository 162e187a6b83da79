//! bashkit as the shell guest builds it: the published crate, with the patches of `guest-shell/patches` applied in the
//! order of their names.
//!
//! cargo fetches the crate for the rival that the conformance run compares with, which builds it as it is; that
//! package's `Cargo.lock` is the one place that pins version and checksum. The patched copy lies under `target`, always
//! of this workspace, since `guest-shell/Cargo.toml` names it by its path.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::run::{cargo, output, root, run, say};

/// Who uses the crate unpatched, and pins it.
pub(crate) const RIVAL: &str = "tests/conformance/rivals/bashkit/Cargo.toml";
/// What is patched.
const CRATE: &str = "bashkit";
/// In the copy: what it was made of.
const STAMP: &str = ".made-of";

/// Files by their path in the crate.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// One file of `guest-shell/patches`.
struct Patch {
    name: String,
    text: String,
}

/// Makes the patched copy, unless it is there and made of the same.
pub(crate) fn bashkit() -> Result<()> {
    let directory = root().join("target").join(CRATE);
    let (version, checksum) = pinned(&std::fs::read_to_string(root().join(RIVAL).with_file_name("Cargo.lock"))?)?;
    let patches = patches(&root().join("guest-shell/patches"))?;
    let stamp = stamp(&checksum, &patches);
    if std::fs::read_to_string(directory.join(STAMP)).is_ok_and(|made_of| made_of == stamp) {
        return Ok(());
    }
    say(&format!("patching {CRATE} {version}: {} patches", patches.len()));
    let mut files = unpack(&published(&version, &checksum)?)?;
    for patch in &patches {
        apply(patch, &mut files)?;
    }
    files.insert(STAMP.into(), stamp.into_bytes());
    write(&directory, &files)
}

/// Version and checksum of the crate in a `Cargo.lock`.
fn pinned(lock: &str) -> Result<(String, String)> {
    let package = lock.split("[[package]]").find(|package| package.contains(&format!("\nname = \"{CRATE}\"\n")));
    let value = |key: &str| {
        let lines = package?.lines();
        let value = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')).next()?;
        Some(value.to_owned())
    };
    let pinned = value("version").zip(value("checksum"));
    pinned.with_context(|| format!("the Cargo.lock beside {RIVAL} does not pin {CRATE} with a checksum"))
}

/// The patches in a directory, in order.
fn patches(directory: &Path) -> Result<Vec<Patch>> {
    let mut patches = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            patches.push(Patch { name, text });
        }
    }
    patches.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(patches)
}

/// A digest of all that the copy is made of.
fn stamp(checksum: &str, patches: &[Patch]) -> String {
    let mut made_of = Sha256::new_with_prefix(checksum);
    for patch in patches {
        made_of.update((patch.text.len() as u64).to_le_bytes());
        made_of.update(&patch.text);
    }
    format!("{:x}\n", made_of.finalize())
}

/// The crate as it was published: the archive that cargo fetched, checked.
fn published(version: &str, checksum: &str) -> Result<Vec<u8>> {
    run(&mut cargo(&["fetch", "--quiet", "--locked", "--manifest-path", RIVAL]))?;
    let described = ["metadata", "--format-version", "1", "--offline", "--locked", "--manifest-path", RIVAL];
    let metadata: Value = serde_json::from_str(&output(&mut cargo(&described))?)?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let package = packages.iter().find(|package| package["name"] == CRATE && package["version"] == version);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let sources = manifest.and_then(|manifest| Path::new(manifest).parent());
    archive(sources.with_context(|| format!("cargo does not say where {CRATE} {version} is"))?, checksum)
}

/// The archive of a crate that cargo keeps unpacked in this directory, checked.
pub(crate) fn archive(sources: &Path, checksum: &str) -> Result<Vec<u8>> {
    // cargo keeps `registry/src/INDEX/NAME-VERSION/` unpacked, from `registry/cache/INDEX/NAME-VERSION.crate`.
    let named = format!("{}.crate", sources.file_name().unwrap_or_default().to_string_lossy());
    let archive = sources.ancestors().nth(3).zip(sources.parent().and_then(Path::file_name));
    let archive = archive.map(|(registry, index)| registry.join("cache").join(index).join(named));
    let archive = archive.with_context(|| format!("{} is no place in cargo's registry", sources.display()))?;
    let bytes = std::fs::read(&archive)
        .with_context(|| format!("cannot read {}: remove {} and try again", archive.display(), sources.display()))?;
    let found = format!("{:x}", Sha256::digest(&bytes));
    if found != checksum {
        bail!(
            "{} is not what was published: its SHA-256 is {found}, and not {checksum}, which is pinned; remove it and try \
             again",
            archive.display()
        );
    }
    Ok(bytes)
}

/// The files of a crate's archive, without the directory that they are all in.
pub(crate) fn unpack(archive: &[u8]) -> Result<Files> {
    let mut files = Files::new();
    for entry in tar::Archive::new(flate2::read::GzDecoder::new(archive)).entries()? {
        let mut entry = entry?;
        let path: PathBuf = entry.path()?.components().skip(1).collect();
        if entry.header().entry_type().is_file() && is_below(&path) {
            let mut content = Vec::new();
            entry.read_to_end(&mut content)?;
            files.insert(path, content);
        }
    }
    Ok(files)
}

fn is_below(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(_)))
}

/// Applies one patch: all of it, or none.
fn apply(patch: &Patch, files: &mut Files) -> Result<()> {
    let name = &patch.name;
    let failed =
        || format!("guest-shell/patches/{name} does not fit: guest-shell/patches/README.md says how to make it anew");
    let mut parts = 0;
    for part in PatchSet::parse(&patch.text, ParseOptions::gitdiff()) {
        let part = part.with_context(failed)?;
        let (path, base) = match part.operation().strip_prefix(1) {
            FileOperation::Modify { original, modified } if original == modified => {
                let path = PathBuf::from(original.as_ref());
                let base = files.get(&path).with_context(|| format!("{CRATE} has no {}", path.display()));
                let text = String::from_utf8(base.with_context(failed)?.clone()).with_context(failed)?;
                (path, text)
            }
            FileOperation::Create(path) => (PathBuf::from(path.as_ref()), String::new()),
            other => return Err(anyhow::anyhow!("{other:?} is not done here")).with_context(failed),
        };
        let text = part.patch().as_text().context("it is not of text").with_context(failed)?;
        let applied = diffy::apply(&base, text).with_context(|| path.display().to_string()).with_context(failed)?;
        if !is_below(&path) {
            bail!("guest-shell/patches/{name} reaches outside of {CRATE}: {}", path.display());
        }
        files.insert(path, applied.into_bytes());
        parts += 1;
    }
    if parts == 0 {
        bail!("guest-shell/patches/{name} changes nothing");
    }
    Ok(())
}

/// Brings a directory to these files. What is the same already is left alone, so cargo does not build it again.
pub(crate) fn write(directory: &Path, files: &Files) -> Result<()> {
    let mut found = Vec::new();
    if directory.exists() {
        // While files change it vouches for nothing.
        std::fs::write(directory.join(STAMP), "")?;
        list(directory, &mut found)?;
    }
    for path in found {
        if path.strip_prefix(directory).is_ok_and(|path| !files.contains_key(path)) {
            std::fs::remove_file(&path)?;
        }
    }
    // The stamp sorts before the rest, so it is written last.
    for (path, content) in files.iter().rev() {
        let path = directory.join(path);
        if std::fs::read(&path).is_ok_and(|found| found == *content) {
            continue;
        }
        std::fs::create_dir_all(path.parent().unwrap_or(directory))?;
        std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// All files below a directory.
fn list(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Files, Patch, apply, pinned};

    fn patch(text: &str) -> Patch {
        Patch { name: "01-it.patch".to_owned(), text: text.to_owned() }
    }

    fn one_file() -> Files {
        Files::from([("src/lib.rs".into(), b"one\ntwo\nthree\n".to_vec())])
    }

    const HEAD: &str = "Why it is so.\n\ndiff --git a/src/lib.rs b/src/lib.rs\n--- a/src/lib.rs\n+++ b/src/lib.rs\n";

    #[test]
    fn a_patch_that_fits_is_applied() {
        let mut files = one_file();
        let text = format!("{HEAD}@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
        apply(&patch(&text), &mut files).expect("it fits");
        assert_eq!(files[std::path::Path::new("src/lib.rs")], b"one\n2\nthree\n");
    }

    #[test]
    fn a_patch_that_does_not_fit_is_named_and_says_what_to_do() {
        for text in [format!("{HEAD}@@ -1,3 +1,3 @@\n one\n-zwei\n+2\n three\n"), HEAD.replace("lib.rs", "main.rs")] {
            let error = apply(&patch(&text), &mut one_file()).expect_err("it does not fit");
            assert!(format!("{error:#}").contains("guest-shell/patches/01-it.patch"), "{error:#}");
        }
        let outside = format!("{HEAD}@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n").replace("src/lib.rs", "../lib.rs");
        apply(&patch(&outside), &mut one_file()).expect_err("it reaches outside");
    }

    #[test]
    fn a_lock_without_a_checksum_pins_nothing() {
        let package = "version = 4\n\n[[package]]\nname = \"bashkit\"\nversion = \"1.2.3\"\n";
        assert!(pinned(package).is_err());
        let (version, checksum) = pinned(&format!("{package}checksum = \"ab\"\n")).expect("it is pinned");
        assert_eq!((version.as_str(), checksum.as_str()), ("1.2.3", "ab"));
    }
}
