//! Crates that a released binary and its embedded guests are built from: a bill of materials in CycloneDX format, and
//! the texts of the licences.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use toml::Table;

use super::Release;
use super::archive::sha256;
use super::program::TARGET;
use crate::build::SHELL;
use crate::guests;
use crate::run::{cargo, output, root};

/// Crate that is part of a binary.
pub(super) struct Dependency {
    name: String,
    version: String,
    /// Licence as an SPDX expression.
    licence: String,
    /// Directory of the crate's sources.
    directory: PathBuf,
    /// SHA-256 of the published crate; `None` for a crate of this workspace.
    checksum: Option<String>,
    /// Identifiers of the crates that this one depends on.
    needs: Vec<String>,
}

impl Dependency {
    /// Returns the identifier in the bill of materials: a package URL.
    fn purl(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// Returns all crates in the binary of a package, sorted by name: the package, its dependencies, and those of the
/// guests that it embeds.
pub(super) fn of(package: &str) -> Result<Vec<Dependency>> {
    let mut all = linked(package, "Cargo.toml", TARGET)?;
    for (guest, manifest) in [("tollhouse-guest-js", "Cargo.toml"), ("tollhouse-guest-shell", SHELL)] {
        let of_guest = linked(guest, manifest, guests::TARGET)?;
        let purl = of_guest.iter().find(|each| each.name == guest).map(Dependency::purl);
        let holder = all.iter_mut().find(|each| each.name == "tollhouse-guests");
        holder.with_context(|| format!("{package} has no guests"))?.needs.extend(purl);
        all.extend(of_guest);
    }
    Ok(merged(all))
}

/// Returns the crates that a package links for a target.
fn linked(package: &str, manifest: &str, target: &str) -> Result<Vec<Dependency>> {
    let mut metadata = cargo(&["metadata", "--format-version", "1", "--locked", "--filter-platform", target]);
    let metadata: Value = serde_json::from_str(&output(metadata.args(["--manifest-path", manifest]))?)?;
    let lock: Table = fs::read_to_string(root().join(manifest).with_file_name("Cargo.lock"))?.parse()?;
    closure(&metadata, &checksums(&lock), package)
}

/// Merges duplicates, uniting their dependencies, and sorts the crates.
fn merged(all: Vec<Dependency>) -> Vec<Dependency> {
    let mut merged: BTreeMap<(String, String), Dependency> = BTreeMap::new();
    for dependency in all {
        let key = (dependency.name.clone(), dependency.version.clone());
        match merged.entry(key) {
            Entry::Vacant(vacant) => _ = vacant.insert(dependency),
            Entry::Occupied(mut occupied) => {
                let needs = &mut occupied.get_mut().needs;
                needs.extend(dependency.needs);
                needs.sort();
                needs.dedup();
            }
        }
    }
    merged.into_values().collect()
}

/// Reads the checksums of a lock file, by name and version.
pub(super) fn checksums(lock: &Table) -> BTreeMap<(String, String), String> {
    let packages = lock.get("package").and_then(|packages| packages.as_array()).into_iter().flatten();
    packages
        .filter_map(|package| {
            let word = |key: &str| package.get(key)?.as_str().map(str::to_owned);
            Some(((word("name")?, word("version")?), word("checksum")?))
        })
        .collect()
}

fn closure(metadata: &Value, checksums: &BTreeMap<(String, String), String>, package: &str) -> Result<Vec<Dependency>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let packages: BTreeMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|package| (word(&package, "id"), package)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|node| (word(&node, "id"), node)).collect();
    let first = packages.values().find(|found| word(found, "name") == package && found["source"].is_null());
    let mut waiting = vec![word(first.with_context(|| format!("there is no package {package}"))?, "id")];
    let mut found: BTreeMap<String, Dependency> = BTreeMap::new();
    while let Some(id) = waiting.pop() {
        if found.contains_key(&id) {
            continue;
        }
        let package = packages.get(&id).with_context(|| format!("cargo does not describe {id}"))?;
        // Dependencies that only build scripts and tests use are not part of a binary.
        let linked = |dependency: &Value| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        let needs = list(&nodes.get(&id).with_context(|| format!("cargo does not resolve {id}"))?["deps"]);
        let needs: Vec<String> = needs.iter().filter(|&each| linked(each)).map(|each| word(each, "pkg")).collect();
        waiting.extend(needs.iter().cloned());
        let (name, version) = (word(package, "name"), word(package, "version"));
        let checksum = checksums.get(&(name.clone(), version.clone())).cloned();
        let manifest = PathBuf::from(word(package, "manifest_path"));
        let directory = manifest.parent().context("a manifest lies in a directory")?.to_owned();
        found.insert(id, Dependency { name, version, licence: word(package, "license"), directory, checksum, needs });
    }
    let purls: BTreeMap<String, String> = found.iter().map(|(id, each)| (id.clone(), each.purl())).collect();
    let mut found: Vec<Dependency> = found.into_values().collect();
    for dependency in &mut found {
        let needs: BTreeSet<String> = dependency.needs.iter().filter_map(|id| purls.get(id).cloned()).collect();
        dependency.needs = needs.into_iter().collect();
    }
    Ok(found)
}

/// Writes the bill of materials of a package. Returns its file name and bytes.
pub(super) fn bill(release: &Release, package: &str, dependencies: &[Dependency]) -> Result<(String, Vec<u8>)> {
    let own = dependencies.iter().find(|each| each.name == package).context("a package is among its dependencies")?;
    let components: Vec<Value> = dependencies.iter().filter(|each| each.name != package).map(component).collect();
    let edges: Vec<Value> =
        dependencies.iter().map(|each| json!({"ref": each.purl(), "dependsOn": each.needs})).collect();
    let mut bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": release.time(),
            "tools": {"components": [{"type": "application", "name": "cargo xtask release", "version": release.version}]},
            "component": component(own),
        },
        "components": components,
        "dependencies": edges,
    });
    // A serial number that is derived from the contents, so that a rebuild gives the same one.
    bill["serialNumber"] = json!(uuid(&sha256(&serde_json::to_vec(&bill)?)));
    Ok((format!("tollhouse-{}.cdx.json", release.version), serde_json::to_vec_pretty(&bill)?))
}

fn component(dependency: &Dependency) -> Value {
    let mut component = json!({
        "type": if dependency.name == "tollhouse-cli" { "application" } else { "library" },
        "bom-ref": dependency.purl(),
        "name": dependency.name,
        "version": dependency.version,
        "purl": dependency.purl(),
    });
    if !dependency.licence.is_empty() {
        // Some old crates write `/` instead of `OR`.
        component["licenses"] = json!([{"expression": dependency.licence.replace('/', " OR ")}]);
    }
    if let Some(checksum) = &dependency.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// Derives a UUID of version 8 (application-specific bits) from a digest in hexadecimal.
fn uuid(digest: &str) -> String {
    let [a, b, c, d, e] = [0..8, 8..12, 13..16, 17..20, 20..32].map(|range| &digest[range]);
    format!("urn:uuid:{a}-{b}-8{c}-8{d}-{e}")
}

/// Collects the licence texts of the crates by other authors, each text once.
pub(super) fn licences(dependencies: &[Dependency]) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut summary = String::new();
    for dependency in dependencies.iter().filter(|each| !each.name.starts_with("tollhouse")) {
        let name = format!("{} {}", dependency.name, dependency.version);
        writeln!(summary, "{name}: {}", dependency.licence)?;
        for text in texts_of(dependency)? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let mut all = format!("Tollhouse contains these crates, under these licences.\n\n{summary}");
    let mut texts: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    for (names, text) in texts {
        write!(all, "\n{}\n{}:\n\n{text}\n", "-".repeat(80), names.join(", "))?;
    }
    let modules = root().join("guest-js/node/LICENCES.txt");
    let modules = fs::read_to_string(&modules).with_context(|| format!("cannot read {}", modules.display()))?;
    write!(all, "\n{}\nModules of Node.js in the JavaScript guest:\n\n{}\n", "-".repeat(80), modules.trim())?;
    Ok(all)
}

/// Reads the files of a crate that have the usual names of licences.
fn texts_of(dependency: &Dependency) -> Result<Vec<String>> {
    let mut texts = BTreeSet::new();
    for entry in fs::read_dir(&dependency.directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        let named = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
        if named.iter().any(|start| name.starts_with(start)) && entry.path().is_file() {
            let bytes = fs::read(entry.path())?;
            texts.insert(String::from_utf8_lossy(&bytes).replace('\r', "").trim().to_owned());
        }
    }
    Ok(texts.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Value {
        let package = |id: &str, source: Value| {
            json!({"id": id, "name": id, "version": "1.0.0", "license": "MIT/Apache-2.0", "source": source,
                   "manifest_path": format!("/src/{id}/Cargo.toml")})
        };
        let needs = |id: &str, kind: Value| json!({"pkg": id, "dep_kinds": [{"kind": kind}]});
        json!({
            "packages": [package("tollhouse-cli", Value::Null), package("b", json!("registry")),
                         package("built", json!("registry")), package("tested", json!("registry"))],
            "resolve": {"nodes": [
                {"id": "tollhouse-cli", "deps": [needs("b", Value::Null), needs("built", json!("build")), needs("tested", json!("dev"))]},
                {"id": "b", "deps": []}, {"id": "built", "deps": []}, {"id": "tested", "deps": []},
            ]},
        })
    }

    fn dependencies() -> Vec<Dependency> {
        let lock: Table = "[[package]]\nname = 'b'\nversion = '1.0.0'\nchecksum = 'aa'".parse().expect("TOML");
        merged(closure(&metadata(), &checksums(&lock), "tollhouse-cli").expect("it is resolved"))
    }

    #[test]
    fn crate_that_binary_and_guest_contain_is_named_once_with_what_both_need() {
        let mut twice = [dependencies(), dependencies()];
        twice[1][0].needs.push("pkg:cargo/c@1.0.0".to_owned());
        let merged = merged(twice.into_iter().flatten().collect());
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[0].needs, ["pkg:cargo/c@1.0.0"]);
    }

    #[test]
    fn dependency_bill_lists_linked_crates_and_no_build_or_test_ones() {
        let (name, bytes) = bill(&Release::for_tests(), "tollhouse-cli", &dependencies()).expect("it is made");
        let bill: Value = serde_json::from_slice(&bytes).expect("it is JSON");
        assert_eq!(name, "tollhouse-1.2.3.cdx.json");
        assert_eq!(bill["metadata"]["component"]["type"], "application");
        assert_eq!(bill["metadata"]["timestamp"], "2026-11-29T07:20:34Z");
        let expected = json!([{
            "type": "library", "bom-ref": "pkg:cargo/b@1.0.0", "name": "b", "version": "1.0.0",
            "purl": "pkg:cargo/b@1.0.0", "licenses": [{"expression": "MIT OR Apache-2.0"}],
            "hashes": [{"alg": "SHA-256", "content": "aa"}],
        }]);
        assert_eq!(bill["components"], expected);
        assert_eq!(
            bill["dependencies"][1],
            json!({"ref": "pkg:cargo/tollhouse-cli@1.0.0", "dependsOn": ["pkg:cargo/b@1.0.0"]})
        );
        assert!(bill["serialNumber"].as_str().is_some_and(|number| number.len() == "urn:uuid:".len() + 36), "{bill}");
    }

    #[test]
    fn binary_of_this_workspace_contains_the_crates_of_its_guests() {
        crate::patched::bashkit().expect("it is patched");
        let found = of("tollhouse-cli").expect("cargo resolves it");
        let names: BTreeSet<&str> = found.iter().map(|each| each.name.as_str()).collect();
        for name in ["bashkit", "rquickjs-sys", "tollhouse-guest-shell", "wasmtime"] {
            assert!(names.contains(name), "{name}");
        }
        assert!(!names.contains("proptest") && !names.contains("tollhouse-tests"), "{names:?}");
        let licences = licences(&found).expect("the sources are there");
        assert!(licences.contains("\nbashkit ") && licences.contains("Apache License"));
    }

    #[test]
    fn package_that_is_not_there_is_an_error() {
        assert!(closure(&metadata(), &BTreeMap::new(), "other").is_err());
    }
}
