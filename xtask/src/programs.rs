//! Programs that Tollhouse offers for scripts: built for WASI 0.1 from published crates or sources, or assembled from a
//! published interpreter, and published to the local registry.

mod git;
mod sqlite;

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::build::{self, Profile, binary};
use crate::patched;
use crate::run::{command, output, root, run, say, succeeds, target};

/// Program in the form in which its own project released it.
struct ShippedProgram {
    /// Name of the program in scripts.
    name: &'static str,
    /// Crate of the program, and the version that is built.
    package: &'static str,
    version: &'static str,
    /// SHA-256 of the crate's archive, in hexadecimal. The `Cargo.lock` in the archive has the checksums of all
    /// dependencies.
    sha256: &'static str,
    /// Further arguments for cargo.
    features: &'static [&'static str],
    /// Dependency that does not work on WASI, and its replacement.
    instead: Option<(&'static str, DependencyReplacement)>,
    /// File that cargo builds.
    file: &'static str,
    description: &'static str,
    license: &'static str,
}

/// Replacement of a dependency.
#[derive(Clone, Copy)]
enum DependencyReplacement {
    /// Crate in this repository, by its path.
    Ours(&'static str),
    /// Published crate of this version, with one text in one file replaced.
    Edited { version: &'static str, sha256: &'static str, file: &'static str, from: &'static str, to: &'static str },
}

/// Program that `tollhouse programs add` assembles, and its version.
const PYTHON: (&str, &str) = ("python3", "3.14.0");

/// Programs that are built from crates, without threads, processes and C code, which WASI 0.1 does not support.
const SHIPPED: [ShippedProgram; 3] = [
    ShippedProgram {
        name: "uutils",
        package: "coreutils",
        version: "0.12.0",
        sha256: "a179dc3f3af0389cbd0a8d238ea047abbd72b47225bb49cbadb9a3824a44938e",
        features: &["--no-default-features", "--features", "feat_wasm"],
        instead: None,
        file: "coreutils.wasm",
        description: "The uutils coreutils: `uutils sort`, `uutils wc` and some seventy more.",
        license: "MIT",
    },
    ShippedProgram {
        name: "rg",
        package: "ripgrep",
        version: "15.2.0",
        sha256: "a30750b6d0743bfdd2656ebbaf4555aa278c43144b84bc389bcbfa399485ec71",
        features: &[],
        // WASI cannot tell a pipe from a missing input, so there is an input if it has a byte. The bytes that are
        // peeked at stay in the standard library's buffer, which ripgrep reads.
        instead: Some((
            "grep-cli",
            DependencyReplacement::Edited {
                version: "0.1.12",
                sha256: "cf32d263c5d5cc2a23ce587097f5ddafdb188492ba2e6fb638eaccdc22453631",
                file: "src/lib.rs",
                from: "log::debug!(\"on non-{{Unix,Windows}}, assuming stdin is not readable\");\n        false",
                to: "std::io::BufRead::fill_buf(&mut std::io::stdin().lock()).is_ok_and(|first| !first.is_empty())",
            },
        )),
        file: "rg.wasm",
        description: "ripgrep: searches files for a regular expression, or its input if there is some.",
        license: "Unlicense OR MIT",
    },
    ShippedProgram {
        name: "jaq",
        package: "jaq",
        version: "3.1.2",
        sha256: "f686343ddd30a3cb6028299b080fb135480532e74b5f6628362c11fdb52f7d22",
        features: &["--no-default-features"],
        instead: Some(("rustyline", DependencyReplacement::Ours("xtask/jaq/rustyline"))),
        file: "jaq.wasm",
        description: "jaq: the language of jq, for JSON and its relatives.",
        license: "MIT",
    },
];

/// Builds and publishes the named programs, or all of them if `names` is empty.
pub(crate) fn programs(names: &[&str]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !known().any(|(known, _)| known == **name)) {
        bail!("`{unknown}` is none of the programs: {}", known().map(|(name, _)| name).collect::<Vec<_>>().join(", "));
    }
    let tollhouse = binary(Profile::Debug);
    if !tollhouse.exists() {
        build::all(Profile::Debug)?;
    }
    let known: Vec<(&str, &str)> = known().collect();
    for (name, version) in known.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        let release = format!("tollhouse:{name}@{version}");
        // A release never changes, and a second build may give other bytes.
        if succeeds(command(&tollhouse).args(["registry", "show", &release])) {
            say(&format!("{release} is in the local registry"));
            continue;
        }
        for (_, package) in make(&[name])? {
            say(&format!("publishing {release} to the local registry"));
            run(command(&tollhouse).arg("publish").arg(package))?;
        }
    }
    Ok(())
}

/// Publishes packages to a new registry below the target directory, and returns the registry's path.
pub(crate) fn publish_to(home: &str, packages: &[(&str, PathBuf)]) -> Result<PathBuf> {
    let home = target().join(home);
    if home.exists() {
        fs::remove_dir_all(&home).with_context(|| format!("cannot clear {}", home.display()))?;
    }
    for (_, package) in packages {
        run(command(binary(Profile::Debug)).arg("publish").arg(package).env("TOLLHOUSE_HOME", &home))?;
    }
    Ok(home.join("registry"))
}

/// Returns the names and versions of all programs.
fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    let others = [(sqlite::NAME, sqlite::VERSION), PYTHON, (git::NAME, git::VERSION)];
    SHIPPED.iter().map(|shipped| (shipped.name, shipped.version)).chain(others)
}

/// Builds the named programs (all of them if `names` is empty) unless they exist. Returns names, and the directories of
/// the packages.
pub(crate) fn make(names: &[&str]) -> Result<Vec<(&'static str, PathBuf)>> {
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let mut packages = Vec::new();
    for shipped in SHIPPED.iter().filter(|shipped| wanted(shipped.name)) {
        packages.push((shipped.name, shipped.build()?));
    }
    if wanted(sqlite::NAME) {
        packages.push((sqlite::NAME, sqlite()?));
    }
    if wanted(PYTHON.0) {
        packages.push((PYTHON.0, python()?));
    }
    if wanted(git::NAME) {
        packages.push((git::NAME, git()?));
    }
    Ok(packages)
}

/// Returns the directory of a program's package.
fn place(name: &str, version: &str) -> PathBuf {
    target().join("programs").join(format!("{name}-{version}"))
}

/// Builds `sqlite3` unless a build of its current sources exists. Returns the directory of the package.
fn sqlite() -> Result<PathBuf> {
    let place = place(sqlite::NAME, sqlite::VERSION);
    let component = "bin/sqlite3.wasm";
    let module = place.join(component);
    let layer = SourceStamp::of(&["xtask/sqlite", "xtask/src/programs/sqlite.rs"], &place)?;
    if !module.exists() || !layer.is_current() {
        let sources = place.join("source");
        sqlite::make(&place, &sources, &module)?;
        layer.record()?;
        for made in [place.join("asking"), sources] {
            let _ = fs::remove_dir_all(made);
        }
    }
    let (name, version) = (sqlite::NAME, sqlite::VERSION);
    PackageManifest { name, version, description: sqlite::DESCRIPTION, license: sqlite::LICENSE, component }
        .write(&place)?;
    Ok(place)
}

/// Assembles `python3` with the command line unless it exists. Returns the directory of the package.
fn python() -> Result<PathBuf> {
    let (name, version) = PYTHON;
    let place = place(name, version);
    if !place.join("bin/python3.wasm").exists() {
        say(&format!("making {name} {version} (a minute)"));
        run(command(binary(Profile::Debug)).args(["programs", "add", name, "--output"]).arg(&place))?;
    }
    Ok(place)
}

/// Builds `git` unless a build of its current sources exists. Returns the directory of the package.
fn git() -> Result<PathBuf> {
    let place = place(git::NAME, git::VERSION);
    let module = place.join("bin/git.wasm");
    let layer = SourceStamp::of(&["xtask/git", "xtask/src/programs/git.rs"], &place)?;
    if !module.exists() || !layer.is_current() {
        git::make(&place, &module)?;
        layer.record()?;
    }
    let about = PackageManifest {
        name: git::NAME,
        version: git::VERSION,
        description: git::DESCRIPTION,
        license: git::LICENSE,
        component: "bin/git.wasm",
    };
    about.write(&place)?;
    Ok(place)
}

/// Digest of our own sources of a program, including the code that builds it, to decide whether the program must be
/// built again.
struct SourceStamp {
    hash: String,
    /// File next to the module that records the digest of the sources at the time of its build.
    built: PathBuf,
}

impl SourceStamp {
    fn of(sources: &[&str], place: &Path) -> Result<Self> {
        let mut files = Vec::new();
        let mut paths: Vec<PathBuf> = sources.iter().map(|source| root().join(source)).collect();
        while let Some(path) = paths.pop() {
            if !path.is_dir() {
                files.push(path);
                continue;
            }
            for entry in fs::read_dir(&path).with_context(|| format!("cannot list {}", path.display()))? {
                paths.push(entry?.path());
            }
        }
        files.sort();
        let mut hasher = DefaultHasher::new();
        let root = root();
        for file in files {
            let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            (file.strip_prefix(&root).unwrap_or(&file), bytes).hash(&mut hasher);
        }
        Ok(Self { hash: format!("{:016x}", hasher.finish()), built: place.join("layer.hash") })
    }

    fn is_current(&self) -> bool {
        fs::read_to_string(&self.built).is_ok_and(|built| built == self.hash)
    }

    fn record(&self) -> Result<()> {
        fs::write(&self.built, &self.hash).with_context(|| format!("cannot write {}", self.built.display()))
    }
}

/// Manifest of a program's package. The package requests all files; a policy decides which of them it is granted.
struct PackageManifest<'a> {
    name: &'a str,
    version: &'a str,
    description: &'a str,
    license: &'a str,
    component: &'a str,
}

impl PackageManifest<'_> {
    fn write(&self, place: &Path) -> Result<()> {
        let Self { name, version, description, license, component } = self;
        let manifest = format!(
            "name = \"tollhouse:{name}\"\nversion = \"{version}\"\ndescription = \"{description}\"\n\
             license = \"{license}\"\ncomponent = \"{component}\"\n\n[permissions]\nfiles = [\"/\"]\n"
        );
        let path = place.join("tool.toml");
        fs::write(&path, manifest).with_context(|| format!("cannot write {}", path.display()))
    }
}

impl ShippedProgram {
    /// Builds the program unless it exists. Returns the directory of the package.
    fn build(&self) -> Result<PathBuf> {
        let place = place(self.name, self.version);
        let module = place.join("bin").join(self.file);
        if !module.exists() {
            say(&format!("building {} {} (wasm32-wasip1)", self.package, self.version));
            let sources = place.join("source");
            source(self.package, self.version, self.sha256, &place, &sources)?;
            let patch = match self.instead {
                Some((name, instead)) => {
                    let path = instead.place(name, &place)?;
                    Some(format!("patch.crates-io.{name}.path={path:?}"))
                }
                None => None,
            };
            let patch = patch.iter().flat_map(|patch| ["--config", patch]).collect::<Vec<_>>();
            relock(&sources, &patch)?;
            let mut install = command("cargo");
            install.args(["install", "--locked", "--path"]).arg(&sources).args(self.features).args(patch);
            install.args(["--target", "wasm32-wasip1", "--root"]).arg(&place);
            // Size matters more than speed: every byte is compiled to machine code when the program is loaded.
            install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "s").env("CARGO_PROFILE_RELEASE_STRIP", "true");
            let objects = target().join("programs/target");
            run(install.env("CARGO_TARGET_DIR", &objects))?;
            // Objects and sources take some hundred megabytes, and nothing else uses them.
            for made in [objects, place.join("asking"), sources, place.join("instead")] {
                let _ = fs::remove_dir_all(made);
            }
        }
        let Self { name, version, description, license, .. } = *self;
        let component = format!("bin/{}", self.file);
        PackageManifest { name, version, description, license, component: &component }.write(&place)?;
        Ok(place)
    }
}

impl DependencyReplacement {
    /// Returns the directory of the replacement, which may be created below `work`.
    fn place(self, name: &str, work: &Path) -> Result<PathBuf> {
        match self {
            Self::Ours(path) => Ok(root().join(path)),
            Self::Edited { version, sha256, file, from, to } => {
                let copy = work.join("instead").join(name);
                source(name, version, sha256, work, &copy)?;
                let path = copy.join(file);
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                if text.matches(from).count() != 1 {
                    bail!("{name} {version} is not what it was: {} lacks `{from}`", path.display());
                }
                fs::write(&path, text.replace(from, to))?;
                Ok(copy)
            }
        }
    }
}

/// Library that is downloaded together with each crate, to find cargo's directory of sources: `cargo metadata` reports
/// no path for a crate without a library.
const BESIDE: &str = "cfg-if";

/// Unpacks a published crate into `copy`. A package in `work` depends on the crate, so that cargo fetches it. The copy
/// is a workspace of its own.
fn source(name: &str, version: &str, sha256: &str, work: &Path, copy: &Path) -> Result<()> {
    let asking = work.join("asking");
    fs::create_dir_all(asking.join("src")).with_context(|| format!("cannot make {}", asking.display()))?;
    fs::write(asking.join("src/lib.rs"), "")?;
    let manifest = asking.join("Cargo.toml");
    let package = "[package]\nname = \"asking\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(&manifest, format!("{package}[dependencies]\n{BESIDE} = \"1\"\n{name} = \"={version}\"\n"))?;
    let mut asks = command("cargo");
    asks.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(&manifest);
    let metadata: serde_json::Value = serde_json::from_str(&output(&mut asks)?)?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let beside = packages.iter().find(|package| package["name"] == BESIDE);
    let beside = beside.and_then(|package| package["manifest_path"].as_str());
    let kept = beside.and_then(|manifest| Path::new(manifest).parent()?.parent());
    let kept = kept.with_context(|| format!("cargo does not say where {name} {version} is"))?;
    let found = kept.join(format!("{name}-{version}"));
    let mut files = patched::unpack(&patched::archive(&found, sha256)?)?;
    let manifest = files.get_mut(Path::new("Cargo.toml")).context("a crate has a manifest")?;
    manifest.extend_from_slice(b"\n[workspace]\n");
    patched::write(copy, &files)
}

/// Updates the `Cargo.lock` of a crate after its dependencies were patched, which may only remove entries: a new
/// checksum is an error.
fn relock(sources: &Path, patch: &[&str]) -> Result<()> {
    let path = sources.join("Cargo.lock");
    let read = || fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()));
    let published = read()?;
    let mut resolve = command("cargo");
    resolve.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(sources.join("Cargo.toml"));
    output(resolve.args(patch))?;
    let locked = read()?;
    match checksums(&locked).find(|checksum| !checksums(&published).any(|known| known == *checksum)) {
        Some(checksum) => bail!("{} would be built with what its lock does not have: {checksum}", sources.display()),
        None => Ok(()),
    }
}

/// Returns the checksums in a `Cargo.lock`.
fn checksums(lock: &str) -> impl Iterator<Item = &str> {
    lock.lines().filter(|line| line.starts_with("checksum = "))
}
