//! Crates by other authors that the guests use with patches of ours: the published crate, to which the patches of a
//! directory are applied in the order of their names.
//!
//! The shell guest uses bashkit. cargo fetches the crate for a rival in the conformance run, which uses it unpatched.
//! The patched copy is in `guest-shell/target`, inside the workspace of the guest: for packages inside a workspace, the
//! hashes that cargo makes of paths are the same wherever the workspace is, and so the guest is the same.
//!
//! The JavaScript guest uses QuickJS, which is part of the crate `rquickjs-sys`. A dependency of this workspace cannot
//! be a path that does not exist yet, so the crate stays unpatched; its C compiler is a script that compiles the
//! patched file instead.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::run::{cargo, output, root, run, say, target};

/// Package that uses the crate without patches, and pins its version.
pub(crate) const RIVAL: &str = "tests/conformance/rivals/bashkit/Cargo.toml";

/// Crate that is patched, with its patches.
struct PatchedCrate {
    /// Name of the crate.
    name: &'static str,
    /// Manifest of a package that depends on the crate; the `Cargo.lock` next to it pins version and checksum.
    manifest: &'static str,
    /// Directory of the patches.
    patches: &'static str,
}

const BASHKIT: PatchedCrate = PatchedCrate { name: "bashkit", manifest: RIVAL, patches: "guest-shell/patches" };
const QUICKJS: PatchedCrate =
    PatchedCrate { name: "rquickjs-sys", manifest: "Cargo.toml", patches: "guest-js/patches" };

/// File of the crate that is replaced by its patched form.
const QUICKJS_FILE: &str = "quickjs/quickjs.c";

/// File in the patched copy that identifies the crate and the patches that it was made from.
const STAMP: &str = ".made-of";

/// Files by their path in the crate.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Patch file.
struct PatchFile {
    /// Path of the patch in this workspace.
    name: String,
    text: String,
}

/// Makes the patched copy of bashkit, unless an up-to-date one exists.
pub(crate) fn bashkit() -> Result<()> {
    let directory = root().join("guest-shell/target").join(BASHKIT.name);
    let (version, checksum) = BASHKIT.pinned()?;
    let patches = BASHKIT.patches()?;
    let stamp = stamp(&checksum, &patches);
    if std::fs::read_to_string(directory.join(STAMP)).is_ok_and(|made_of| made_of == stamp) {
        return Ok(());
    }
    let mut files = BASHKIT.patched(&version, &checksum, &patches)?;
    files.insert(STAMP.into(), stamp.into_bytes());
    write(&directory, &files)
}

/// Returns the pinned version and checksum of bashkit, as text.
pub(crate) fn bashkit_pinned() -> Result<String> {
    let (version, checksum) = BASHKIT.pinned()?;
    Ok(format!("{version} {checksum}"))
}

/// Makes the patched QuickJS, and returns a C compiler that compiles it in place of the published one.
///
/// The path of the compiler contains a digest of everything that it depends on, so that cargo builds QuickJS again when
/// any of it changes.
pub(crate) fn quickjs(compiler: &str) -> Result<PathBuf> {
    let (version, checksum) = QUICKJS.pinned()?;
    let patches = QUICKJS.patches()?;
    // The script itself is part of the digest.
    let script = wrapper_script(compiler, Path::new(QUICKJS_FILE));
    let digest = stamp(&format!("{checksum} {script}"), &patches);
    let directory = target().join("quickjs").join(&digest[..16]);
    let wrapper = directory.join("clang");
    if wrapper.exists() {
        return Ok(wrapper);
    }
    let mut files = QUICKJS.patched(&version, &checksum, &patches)?;
    let patched = directory.join(QUICKJS_FILE);
    let content = files.remove(Path::new(QUICKJS_FILE)).with_context(|| format!("no {QUICKJS_FILE}"))?;
    std::fs::create_dir_all(patched.parent().unwrap_or(&directory))?;
    std::fs::write(&patched, content)?;
    // The final name appears only once the directory is complete, so an interrupted run leaves no compiler behind.
    let unfinished = wrapper.with_extension("unfinished");
    std::fs::write(&unfinished, wrapper_script(compiler, &patched))?;
    std::fs::set_permissions(&unfinished, std::fs::Permissions::from_mode(0o755))?;
    std::fs::rename(unfinished, &wrapper)?;
    Ok(wrapper)
}

/// Returns a shell script that calls the C compiler and substitutes the patched `quickjs.c` for the published one,
/// whose directory still provides the headers. The output names no directory of this machine; without the flags,
/// assertions would.
pub(crate) fn wrapper_script(compiler: &str, patched: &Path) -> String {
    let patched = patched.display();
    format!(
        "#!/bin/sh
for argument; do
  shift
  case $argument in
    */quickjs.c) set -- \"$@\" \"-I${{argument%/*}}\" '{patched}' '-ffile-prefix-map={patched}={QUICKJS_FILE}' ;;
    */*.c) set -- \"$@\" \"$argument\" \"-ffile-prefix-map=${{argument%/*}}=quickjs\" ;;
    *) set -- \"$@\" \"$argument\" ;;
  esac
done
exec '{compiler}' \"$@\"
"
    )
}

impl PatchedCrate {
    /// Returns the version and checksum that the `Cargo.lock` pins.
    fn pinned(&self) -> Result<(String, String)> {
        let lock = root().join(self.manifest).with_file_name("Cargo.lock");
        let text = std::fs::read_to_string(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
        pinned(&text, self.name)
            .with_context(|| format!("{} does not pin {} with a checksum", lock.display(), self.name))
    }

    /// Returns the patches, in the order of their names.
    fn patches(&self) -> Result<Vec<PatchFile>> {
        read_patches(self.patches)
    }

    /// Returns the files of the crate with the patches applied.
    fn patched(&self, version: &str, checksum: &str, patches: &[PatchFile]) -> Result<Files> {
        say(&format!("patching {} {version}: {} patches", self.name, patches.len()));
        let mut files = unpack(&self.published(version, checksum)?)?;
        for patch in patches {
            apply(patch, &mut files)?;
        }
        Ok(files)
    }

    /// Returns the archive of the published crate that cargo fetched, after checking its checksum.
    fn published(&self, version: &str, checksum: &str) -> Result<Vec<u8>> {
        run(&mut cargo(&["fetch", "--quiet", "--locked", "--manifest-path", self.manifest]))?;
        let described =
            ["metadata", "--format-version", "1", "--offline", "--locked", "--manifest-path", self.manifest];
        let metadata: Value = serde_json::from_str(&output(&mut cargo(&described))?)?;
        let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let package = packages.iter().find(|package| package["name"] == self.name && package["version"] == version);
        let manifest = package.and_then(|package| package["manifest_path"].as_str());
        let sources = manifest.and_then(|manifest| Path::new(manifest).parent());
        archive(sources.with_context(|| format!("cargo does not say where {} {version} is", self.name))?, checksum)
    }
}

/// Reads the patches in a directory of this workspace, in the order of their names.
fn read_patches(directory: &str) -> Result<Vec<PatchFile>> {
    let path = root().join(directory);
    let mut patches = Vec::new();
    for entry in std::fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            patches.push(PatchFile { name: format!("{directory}/{name}"), text });
        }
    }
    patches.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(patches)
}

/// Applies the patches in a directory of this workspace to files.
pub(crate) fn apply_all(patches: &str, files: &mut Files) -> Result<()> {
    read_patches(patches)?.iter().try_for_each(|patch| apply(patch, files))
}

/// Applies the patches in a directory of this workspace to sources that lie elsewhere.
pub(crate) fn apply_to(sources: &Path, patches: &str) -> Result<()> {
    for patch in read_patches(patches)? {
        let mut files = Files::new();
        for line in patch.text.lines().filter_map(|line| line.strip_prefix("--- a/")) {
            let path = sources.join(line);
            let content = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.insert(line.into(), content);
        }
        apply(&patch, &mut files)?;
        for (path, content) in files {
            let path = sources.join(path);
            std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

/// Finds the version and checksum of a crate in the text of a `Cargo.lock`.
fn pinned(lock: &str, name: &str) -> Option<(String, String)> {
    let package = lock.split("[[package]]").find(|package| package.contains(&format!("\nname = \"{name}\"\n")))?;
    let value = |key: &str| {
        let mut lines = package.lines();
        lines.find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')?.to_owned()))
    };
    value("version").zip(value("checksum"))
}

/// Returns the digest of a published crate and its patches.
fn stamp(checksum: &str, patches: &[PatchFile]) -> String {
    let mut made_of = Sha256::new_with_prefix(checksum);
    for patch in patches {
        made_of.update((patch.text.len() as u64).to_le_bytes());
        made_of.update(&patch.text);
    }
    format!("{:x}\n", made_of.finalize())
}

/// Returns the archive of the crate that cargo unpacked into `sources`, after checking its checksum.
pub(crate) fn archive(sources: &Path, checksum: &str) -> Result<Vec<u8>> {
    // cargo unpacks `registry/cache/INDEX/NAME-VERSION.crate` into `registry/src/INDEX/NAME-VERSION/`.
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

/// Returns the files in the archive of a crate, without the top directory that contains them all.
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

/// Applies one patch completely, or not at all.
fn apply(patch: &PatchFile, files: &mut Files) -> Result<()> {
    let name = &patch.name;
    let failed = || format!("{name} does not fit: the README.md beside it says how to make it anew");
    let mut parts = 0;
    for part in PatchSet::parse(&patch.text, ParseOptions::gitdiff()) {
        let part = part.with_context(failed)?;
        let (path, base) = match part.operation().strip_prefix(1) {
            FileOperation::Modify { original, modified } if original == modified => {
                let path = PathBuf::from(original.as_ref());
                let base = files.get(&path).with_context(|| format!("there is no {}", path.display()));
                let text = String::from_utf8(base.with_context(failed)?.clone()).with_context(failed)?;
                (path, text)
            }
            FileOperation::Create(path) => (PathBuf::from(path.as_ref()), String::new()),
            other => return Err(anyhow::anyhow!("{other:?} is not done here")).with_context(failed),
        };
        let text = part.patch().as_text().context("it is not of text").with_context(failed)?;
        check_positions(&base, text).with_context(|| path.display().to_string()).with_context(failed)?;
        let applied = diffy::apply(&base, text).with_context(|| path.display().to_string()).with_context(failed)?;
        if !is_below(&path) {
            bail!("{name} reaches outside of the crate: {}", path.display());
        }
        files.insert(path, applied.into_bytes());
        parts += 1;
    }
    if parts == 0 {
        bail!("{name} changes nothing");
    }
    Ok(())
}

/// Checks that each hunk of a patch has one place in a file: the line that the hunk names, or, if earlier patches have
/// moved that line, the only one where the hunk fits. Hunks have one line of context, which may occur several times.
fn check_positions(base: &str, patch: &diffy::Patch<'_, str>) -> Result<()> {
    let lines: Vec<&str> = base.split_inclusive('\n').collect();
    for hunk in patch.hunks() {
        let old: Vec<&str> = hunk.lines().iter().filter_map(old_line).collect();
        if old.is_empty() {
            continue;
        }
        let start = hunk.old_range().start().saturating_sub(1);
        if lines.get(start..).is_some_and(|rest| rest.starts_with(&old)) {
            continue;
        }
        let places = lines.windows(old.len()).filter(|window| *window == old).count();
        if places != 1 {
            bail!("the hunk of line {} fits at {places} places", hunk.old_range().start());
        }
    }
    Ok(())
}

/// Returns a line of a hunk if it is one of the old file.
fn old_line<'a>(line: &diffy::Line<'a, str>) -> Option<&'a str> {
    match line {
        diffy::Line::Context(text) | diffy::Line::Delete(text) => Some(*text),
        diffy::Line::Insert(_) => None,
    }
}

/// Writes these files to a directory. Files that are the same already are not touched, so that cargo does not build the
/// crate again.
pub(crate) fn write(directory: &Path, files: &Files) -> Result<()> {
    let mut found = Vec::new();
    if directory.exists() {
        // While files change, the stamp is empty.
        std::fs::write(directory.join(STAMP), "")?;
        list(directory, &mut found)?;
    }
    for path in found {
        if path.strip_prefix(directory).is_ok_and(|path| !files.contains_key(path)) {
            std::fs::remove_file(&path)?;
        }
    }
    // The stamp sorts before the other files, so that in reverse order it is written last.
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

/// Returns all files below a directory.
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
    use super::{Files, PatchFile, apply, pinned};

    fn patch(text: &str) -> PatchFile {
        PatchFile { name: "patches/01-it.patch".to_owned(), text: text.to_owned() }
    }

    fn one_file() -> Files {
        Files::from([("src/lib.rs".into(), b"one\ntwo\nthree\n".to_vec())])
    }

    const HEAD: &str = "Why it is so.\n\ndiff --git a/src/lib.rs b/src/lib.rs\n--- a/src/lib.rs\n+++ b/src/lib.rs\n";

    #[test]
    fn patch_that_fits_is_applied() {
        let mut files = one_file();
        let text = format!("{HEAD}@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
        apply(&patch(&text), &mut files).expect("it fits");
        assert_eq!(files[std::path::Path::new("src/lib.rs")], b"one\n2\nthree\n");
    }

    #[test]
    fn patch_that_does_not_fit_is_reported_with_a_remedy() {
        for text in [format!("{HEAD}@@ -1,3 +1,3 @@\n one\n-zwei\n+2\n three\n"), HEAD.replace("lib.rs", "main.rs")] {
            let error = apply(&patch(&text), &mut one_file()).expect_err("it does not fit");
            assert!(format!("{error:#}").contains("patches/01-it.patch"), "{error:#}");
        }
        let outside = format!("{HEAD}@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n").replace("src/lib.rs", "../lib.rs");
        apply(&patch(&outside), &mut one_file()).expect_err("it reaches outside");
    }

    #[test]
    fn patch_whose_lines_have_moved_is_applied_only_if_they_occur_once() {
        let hunk = format!("{HEAD}@@ -1,2 +1,3 @@\n two\n+2.5\n three\n");
        let mut files = one_file();
        apply(&patch(&hunk), &mut files).expect("there is one place");
        assert_eq!(files[std::path::Path::new("src/lib.rs")], b"one\ntwo\n2.5\nthree\n");
        let twice = b"one\ntwo\nthree\ntwo\nthree\n".to_vec();
        let mut files = Files::from([("src/lib.rs".into(), twice.clone())]);
        let error = apply(&patch(&hunk), &mut files).expect_err("there are two places");
        assert!(format!("{error:#}").contains("fits at 2 places"), "{error:#}");
        let exact = hunk.replace("-1,2 +1,3", "-4,2 +4,3");
        apply(&patch(&exact), &mut files).expect("the hunk names the second");
        assert_eq!(files[std::path::Path::new("src/lib.rs")], b"one\ntwo\nthree\ntwo\n2.5\nthree\n");
    }

    #[test]
    fn lock_entry_without_checksum_pins_nothing() {
        let package = "version = 4\n\n[[package]]\nname = \"bashkit\"\nversion = \"1.2.3\"\n";
        assert!(pinned(package, "bashkit").is_none());
        let (version, checksum) = pinned(&format!("{package}checksum = \"ab\"\n"), "bashkit").expect("it is pinned");
        assert_eq!((version.as_str(), checksum.as_str()), ("1.2.3", "ab"));
    }
}
