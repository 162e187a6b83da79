//! Digest of everything that the build of a guest reads: sources of the guest and of its dependencies, settings, and
//! versions of the tools that git pins. clang is not pinned; its version is recorded in the manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};
use toml::{Table, Value};

use super::GETRANDOM;
use crate::patched;
use crate::run::root;

/// Files and directories that both guests are built from.
const SHARED: [&str; 5] =
    ["wit/guest.wit", "wit/deps", "rust-toolchain.toml", "host/engine/src/guest.rs", "host/engine/src/warm_pages.rs"];

/// Sources of the JavaScript guest. Of `guest-js/node`, only the bundle gets into the guest.
const JAVASCRIPT: [&str; 6] = [
    "guest-js/Cargo.toml",
    "guest-js/build.rs",
    "guest-js/src",
    "guest-js/patches",
    "guest-js/node/bundle.js",
    "guest-js/node/intl-data.bin",
];

/// Sources of the shell guest.
const SHELL: [&str; 5] = [
    "guest-shell/Cargo.toml",
    "guest-shell/Cargo.lock",
    "guest-shell/build.rs",
    "guest-shell/src",
    "guest-shell/patches",
];

/// Crates of the program that pre-initialises guests.
const TOOLS: [&str; 3] = ["wasmtime", "wasmtime-wizer", "wit-component"];

/// Computes the digest of the sources of a guest.
pub(super) fn digest(name: &str) -> Result<String> {
    let mut digest = SourceDigest(Sha256::new());
    digest.add("flags", GETRANDOM.as_bytes());
    for path in SHARED.iter().chain(if name == "js" { JAVASCRIPT.as_slice() } else { &SHELL }) {
        digest.add_path(path)?;
    }
    let lock = LockedPackages::read("Cargo.lock")?;
    digest.add("tools", lock.versions(&TOOLS)?.as_bytes());
    if name == "js" {
        digest.add("compiler", patched::wrapper_script("clang", Path::new("quickjs.c")).as_bytes());
        digest.add("dependencies", lock.closure("tollhouse-guest-js")?.as_bytes());
        digest.add("settings", inherited(&table("Cargo.toml")?, &table("guest-js/Cargo.toml")?).as_bytes());
    } else {
        // The guest's own lock file, which is among these files, pins everything but the patched crate.
        digest.add("bashkit", patched::bashkit_pinned()?.as_bytes());
    }
    Ok(format!("{:x}", digest.0.finalize()))
}

/// Digest of named parts, added one after the other.
struct SourceDigest(Sha256);

impl SourceDigest {
    /// Adds a part, with lengths, so that the borders between parts are unambiguous.
    fn add(&mut self, name: &str, content: &[u8]) {
        for part in [name.as_bytes(), content] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    /// Adds a file, or all files below a directory in the order of their names.
    fn add_path(&mut self, path: &str) -> Result<()> {
        let full = root().join(path);
        if !full.is_dir() {
            let content = std::fs::read(&full).with_context(|| format!("cannot read {}", full.display()))?;
            self.add(path, &content);
            return Ok(());
        }
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(&full).with_context(|| format!("cannot read {}", full.display()))? {
            names.insert(entry?.file_name().to_string_lossy().into_owned());
        }
        names.iter().try_for_each(|name| self.add_path(&format!("{path}/{name}")))
    }
}

fn table(path: &str) -> Result<Table> {
    let full = root().join(path);
    let text = std::fs::read_to_string(&full).with_context(|| format!("cannot read {}", full.display()))?;
    text.parse().with_context(|| format!("{} is not TOML", full.display()))
}

/// Describes what a package inherits from its workspace: profiles, values of `[package]`, dependencies.
fn inherited(workspace: &Table, package: &Table) -> String {
    let mut names = BTreeSet::new();
    for section in ["dependencies", "build-dependencies"] {
        let dependencies = package.get(section).and_then(Value::as_table).into_iter().flatten();
        names.extend(dependencies.filter(|(_, value)| value.get("workspace").is_some()).map(|(name, _)| name.as_str()));
    }
    let shared = workspace.get("workspace");
    let dependencies = shared.and_then(|shared| shared.get("dependencies"));
    let profiles = workspace.get("profile");
    let mut text = canonical(shared.and_then(|shared| shared.get("package")));
    for name in ["guest", "release"] {
        text += &format!("profile {name} {}\n", canonical(profiles.and_then(|profiles| profiles.get(name))));
    }
    for name in names {
        text += &format!("{name} {}\n", canonical(dependencies.and_then(|dependencies| dependencies.get(name))));
    }
    text
}

/// Returns a canonical text of a value, with the keys of tables in order.
fn canonical(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::Table(table)) => {
            let sorted: BTreeMap<&String, String> =
                table.iter().map(|(key, value)| (key, canonical(Some(value)))).collect();
            format!("{sorted:?}")
        }
        Some(Value::Array(values)) => {
            format!("{:?}", values.iter().map(|value| canonical(Some(value))).collect::<Vec<_>>())
        }
        Some(value) => value.to_string(),
    }
}

/// Packages of a lock file.
struct LockedPackages(Vec<Table>);

impl LockedPackages {
    fn read(path: &str) -> Result<Self> {
        Ok(Self::of(table(path)?))
    }

    fn of(mut lock: Table) -> Self {
        let packages = lock.remove("package");
        let packages = packages.and_then(|packages| packages.try_into().ok()).unwrap_or_default();
        Self(packages)
    }

    /// Describes the versions of these packages.
    fn versions(&self, names: &[&str]) -> Result<String> {
        let mut text = String::new();
        for name in names {
            let package = self.find(name).with_context(|| format!("Cargo.lock has no {name}"))?;
            text += &describe(package);
        }
        Ok(text)
    }

    /// Describes a package and all its transitive dependencies, with their checksums.
    fn closure(&self, name: &str) -> Result<String> {
        let mut seen = BTreeSet::new();
        let mut next = vec![name.to_owned()];
        while let Some(name) = next.pop() {
            let package = self.find(&name).with_context(|| format!("Cargo.lock has no {name}"))?;
            if !seen.insert(describe(package)) {
                continue;
            }
            let dependencies = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
            next.extend(dependencies.filter_map(Value::as_str).map(str::to_owned));
        }
        Ok(seen.into_iter().collect())
    }

    /// Finds the package that an entry of `dependencies` names: by name, and by version where there are several.
    fn find(&self, dependency: &str) -> Option<&Table> {
        let mut words = dependency.split(' ');
        let (name, version) = (words.next(), words.next());
        let is = |package: &Table, key: &str, value: Option<&str>| package.get(key).and_then(Value::as_str) == value;
        self.0
            .iter()
            .find(|package| is(package, "name", name) && (version.is_none() || is(package, "version", version)))
    }
}

/// Describes a package in one line.
fn describe(package: &Table) -> String {
    let [name, version, checksum] =
        ["name", "version", "checksum"].map(|key| package.get(key).and_then(Value::as_str).unwrap_or("none"));
    format!("{name} {version} {checksum}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
[[package]]
name = "a"
version = "1"
dependencies = ["b 2"]
[[package]]
name = "b"
version = "1"
checksum = "b1"
[[package]]
name = "b"
version = "2"
checksum = "b2"
dependencies = ["c"]
[[package]]
name = "c"
version = "3"
checksum = "c3"
dependencies = ["b 2"]
"#;

    #[test]
    fn closure_of_a_package_has_the_versions_that_it_reaches() {
        let lock = LockedPackages::of(LOCK.parse().expect("TOML"));
        assert_eq!(lock.closure("a").expect("it is there"), "a 1 none\nb 2 b2\nc 3 c3\n");
        assert!(lock.closure("d").is_err());
    }

    #[test]
    fn settings_of_a_workspace_count_where_a_package_inherits_them() {
        let package = "[dependencies]\nx.workspace = true\ny = \"1\"".parse().expect("TOML");
        let of = |workspace: &str| inherited(&workspace.parse().expect("TOML"), &package);
        let plain =
            of("[workspace.dependencies]\nx = { version = \"1\", features = [\"f\"] }\n[profile.guest]\nlto = true");
        assert_eq!(
            plain,
            of(
                "[profile.guest]\nlto = true\n[workspace.dependencies]\nz = \"2\"\nx = { features = [\"f\"], version = \"1\" }"
            )
        );
        for other in [
            "[workspace.dependencies]\nx = { version = \"1\" }\n[profile.guest]\nlto = true",
            "[workspace.dependencies]\nx = { version = \"1\", features = [\"f\"] }\n[profile.guest]\nlto = false",
        ] {
            assert_ne!(plain, of(other));
        }
    }
}
