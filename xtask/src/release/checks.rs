//! Checks of consistency before a release. All findings are reported at once, each with its place.

use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use toml::Table;

use crate::advisories::{self, MANIFESTS};
use crate::build::SHELL;
use crate::guests;
use crate::patched;
use crate::run::{cargo, command, output, root, run, say, succeeds};

/// Kind of release that is checked.
pub(super) struct ReleaseKind<'a> {
    /// Version that the command line asks for.
    pub(super) version: Option<&'a str>,
    /// True for a release that is not published: nothing is tagged, and the changes are still under `Unreleased`.
    pub(super) snapshot: bool,
}

/// Inconsistencies, each with its place and its remedy.
type Findings = Vec<String>;

/// Refuses an inconsistent tree. Returns the version of the release.
pub(super) fn check(kind: &ReleaseKind<'_>) -> Result<String> {
    say("checking that what is released is consistent");
    let manifest = table("Cargo.toml")?;
    let version = text_at(&manifest, &["workspace", "package", "version"]).context("Cargo.toml has no version")?;
    patched::bashkit()?;
    refuse(&lock_files())?;
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--no-deps", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let mut findings = versions(&manifest, &metadata, &table("python/pyproject.toml")?, &table(SHELL)?);
    if let Some(asked) = kind.version.filter(|asked| *asked != version) {
        findings.push(format!(
            "Cargo.toml: the version is {version}, and `--version {asked}` was asked for: change one of them"
        ));
    }
    findings.extend(oldest_rust(&manifest, &metadata, &table("rust-toolchain.toml")?, &table(SHELL)?));
    findings.extend(changelog(&read("CHANGELOG.md")?, &version, kind.snapshot));
    if !kind.snapshot {
        findings.extend(tag(&version)?);
    }
    findings.extend(guests::check().err().map(|error| format!("host/guests: {error:#}")));
    refuse(&findings)?;
    licences()?;
    Ok(version)
}

fn refuse(findings: &[String]) -> Result<()> {
    if !findings.is_empty() {
        bail!("this cannot be released:\n- {}", findings.join("\n- "));
    }
    Ok(())
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))
}

fn table(path: &str) -> Result<Table> {
    read(path)?.parse().with_context(|| format!("{path} is no TOML"))
}

/// Returns the text under a path of keys.
fn text_at(table: &Table, keys: &[&str]) -> Option<String> {
    let (last, above) = keys.split_last()?;
    let table = above.iter().try_fold(table, |table, key| table.get(*key)?.as_table())?;
    table.get(*last)?.as_str().map(str::to_owned)
}

/// Returns the packages in cargo's metadata, each with the path of its manifest in the repository.
fn packages(metadata: &Value) -> impl Iterator<Item = (&Value, &str)> {
    let start = metadata["workspace_root"].as_str().unwrap_or_default();
    metadata["packages"].as_array().into_iter().flatten().map(move |package| {
        let path = package["manifest_path"].as_str().unwrap_or_default();
        (package, path.strip_prefix(start).unwrap_or(path).trim_start_matches('/'))
    })
}

/// Compares the versions of all packages with that of the workspace. The npm packages are generated with the right
/// version.
fn versions(manifest: &Table, metadata: &Value, python: &Table, shell: &Table) -> Findings {
    let version = text_at(manifest, &["workspace", "package", "version"]).unwrap_or_default();
    let differs = |found: &str| format!("the version is {found}, and the workspace's is {version}");
    let mut findings = Findings::new();
    for (package, path) in packages(metadata) {
        let found = package["version"].as_str().unwrap_or_default();
        if found != version {
            findings.push(format!("{path}: {}: write `version.workspace = true`", differs(found)));
        }
    }
    let dependencies = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies")?.as_table());
    for (name, dependency) in dependencies.into_iter().flatten().filter(|(_, value)| value.get("path").is_some()) {
        let found = dependency.get("version").and_then(|found| found.as_str()).unwrap_or("missing");
        if found != version {
            findings.push(format!("Cargo.toml, [workspace.dependencies] {name}: {}", differs(found)));
        }
    }
    // Without a version of its own, maturin takes that of Cargo.toml.
    if let Some(found) = text_at(python, &["project", "version"]).filter(|found| *found != version) {
        findings.push(format!("python/pyproject.toml: {}: write `dynamic = [\"version\"]`", differs(&found)));
    }
    if let Some(found) = text_at(shell, &["package", "version"]).filter(|found| *found != version) {
        findings.push(format!("{SHELL}: {}", differs(&found)));
    }
    findings
}

/// Compares every mention of the oldest supported Rust with the version that everything is built and tested with.
fn oldest_rust(manifest: &Table, metadata: &Value, toolchain: &Table, shell: &Table) -> Findings {
    let oldest = text_at(manifest, &["workspace", "package", "rust-version"]).unwrap_or_default();
    let mut findings = Findings::new();
    let used = text_at(toolchain, &["toolchain", "channel"]).unwrap_or_default();
    if used != oldest && !used.starts_with(&format!("{oldest}.")) {
        findings.push(format!(
            "rust-toolchain.toml: the channel is {used}, and `rust-version` in Cargo.toml is {oldest}, which nothing is tested with"
        ));
    }
    for (package, path) in packages(metadata) {
        let published = package["publish"].is_null() && package["name"] != "tollhouse-guest-js";
        match package["rust_version"].as_str() {
            None if published => {
                findings.push(format!("{path}: no oldest Rust: write `rust-version.workspace = true`"))
            }
            Some(found) if found != oldest => {
                findings.push(format!("{path}: the oldest Rust is {found}, and the workspace's is {oldest}"));
            }
            _ => {}
        }
    }
    if let Some(found) = text_at(shell, &["package", "rust-version"]).filter(|found| *found != oldest) {
        findings.push(format!("{SHELL}: the oldest Rust is {found}, and the workspace's is {oldest}"));
    }
    findings
}

/// Checks that the changelog has entries for a version, and that a published release leaves none under `Unreleased`.
fn changelog(text: &str, version: &str, snapshot: bool) -> Findings {
    // Returns the line and the number of entries of a section: `## 1.2.3`, with a date or without.
    let section = |wanted: &str| {
        let mut lines = text.lines().enumerate();
        let (at, _) = lines.find(|(_, line)| {
            let title = line.strip_prefix("## ").unwrap_or_default().trim_start_matches('[');
            let rest = title.strip_prefix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ']']))
        })?;
        let entries = lines.take_while(|(_, line)| !line.starts_with("## ")).filter(|(_, line)| line.starts_with("- "));
        Some((at + 1, entries.count()))
    };
    let wanted = if snapshot { "Unreleased" } else { version };
    let mut findings = Findings::new();
    match section(wanted) {
        None => findings.push(format!("CHANGELOG.md: there is no section `## {wanted}`: write what changes for users")),
        Some((line, 0)) => findings.push(format!("CHANGELOG.md:{line}: `## {wanted}` has no entries")),
        Some(_) => {}
    }
    if !snapshot && let Some((line, entries @ 1..)) = section("Unreleased") {
        findings.push(format!(
            "CHANGELOG.md:{line}: {entries} entries are under `## Unreleased`: move them to `## {version}`"
        ));
    }
    findings
}

/// Checks that the lock files match the manifests.
fn lock_files() -> Findings {
    let current = |manifest: &&str| {
        succeeds(&mut cargo(&["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest]))
    };
    let stale = MANIFESTS.iter().filter(|manifest| !current(manifest));
    stale
        .map(|manifest| {
            let lock = manifest.replace(".toml", ".lock");
            format!(
                "{lock}: it is not what {manifest} asks for: `cargo metadata --manifest-path {manifest}`, and commit it"
            )
        })
        .collect()
}

/// Checks that the tag of a version points at the current commit, and that nothing is uncommitted.
fn tag(version: &str) -> Result<Findings> {
    let mut findings = Findings::new();
    let changed = output(command("git").args(["status", "--porcelain"]))?;
    if !changed.is_empty() {
        findings
            .push(format!("the work tree is not what is committed: {}", changed.lines().next().unwrap_or_default()));
    }
    let tags = output(command("git").args(["tag", "--points-at", "HEAD"]))?;
    if !tags.lines().any(|tag| tag == format!("v{version}")) {
        findings.push(format!("no tag `v{version}` points at this commit: `git tag v{version}`, or `--snapshot`"));
    }
    Ok(findings)
}

/// Checks the licences of all linked crates.
fn licences() -> Result<()> {
    advisories::install_deny()?;
    for manifest in ["Cargo.toml", SHELL] {
        run(&mut cargo(&["fetch", "--quiet", "--locked", "--manifest-path", manifest]))?;
        let mut deny = cargo(&["deny", "--offline", "--manifest-path", manifest, "--config", "deny.toml", "check"]);
        run(deny.args(["licenses", "bans", "sources"]))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MANIFEST: &str = "[workspace.package]\nversion = '1.2.3'\nrust-version = '1.95'\n\
                            [workspace.dependencies]\nours = { path = 'a', version = '1.2.3' }\nother = '9'\n";

    fn toml(text: &str) -> Table {
        text.parse().expect("it is TOML")
    }

    fn metadata(version: &str, rust: &Value) -> Value {
        json!({"workspace_root": "/w", "packages": [{
            "name": "a", "version": version, "rust_version": rust, "publish": null, "manifest_path": "/w/a/Cargo.toml",
        }]})
    }

    #[test]
    fn versions_that_agree_have_no_findings() {
        let (manifest, python) = (toml(MANIFEST), toml("[project]\ndynamic = ['version']"));
        let shell = toml("[package]\nversion = '1.2.3'\nrust-version = '1.95'");
        let metadata = metadata("1.2.3", &json!("1.95"));
        assert_eq!(versions(&manifest, &metadata, &python, &shell), Findings::new());
        let toolchain = toml("[toolchain]\nchannel = '1.95.0'");
        assert_eq!(oldest_rust(&manifest, &metadata, &toolchain, &shell), Findings::new());
    }

    #[test]
    fn versions_that_differ_are_found_with_their_places() {
        let manifest = toml(&MANIFEST.replace("path = 'a', version = '1.2.3'", "path = 'a', version = '1.2.2'"));
        let python = toml("[project]\nversion = '1.2.1'");
        let shell = toml("[package]\nversion = '1.2.0'\nrust-version = '1.94'");
        let metadata = metadata("1.1.9", &json!("1.90"));
        let found = versions(&manifest, &metadata, &python, &shell).join("\n");
        for part in [
            "a/Cargo.toml: the version is 1.1.9",
            "ours: the version is 1.2.2",
            "pyproject.toml: the version is 1.2.1",
            "1.2.0",
        ] {
            assert!(found.contains(part), "{found}");
        }
        let toolchain = toml("[toolchain]\nchannel = '1.950.0'");
        let found = oldest_rust(&manifest, &metadata, &toolchain, &shell).join("\n");
        for part in ["rust-toolchain.toml: the channel is 1.950.0", "a/Cargo.toml: the oldest Rust is 1.90", "1.94"] {
            assert!(found.contains(part), "{found}");
        }
        let none = oldest_rust(&manifest, &self::metadata("1.2.3", &Value::Null), &toolchain, &shell).join("\n");
        assert!(none.contains("a/Cargo.toml: no oldest Rust"), "{none}");
    }

    #[test]
    fn changelog_without_the_version_or_with_forgotten_entries_is_found() {
        let text = "# Changelog\n\n## Unreleased\n\n- new\n\n## [1.2.3] - 2026-11-29\n\n- old\n\n## 1.2.2\n";
        assert_eq!(changelog(text, "1.2.3", true), Findings::new());
        assert_eq!(changelog(&text.replace("- new\n", ""), "1.2.3", false), Findings::new());
        let forgotten = changelog(text, "1.2.3", false);
        assert!(matches!(forgotten.as_slice(), [one] if one.starts_with("CHANGELOG.md:3: 1 entries")), "{forgotten:?}");
        let empty = changelog(text, "1.2.2", false);
        assert!(empty[0].starts_with("CHANGELOG.md:11: `## 1.2.2` has no entries"), "{empty:?}");
        let missing = changelog(text, "1.2", false);
        assert!(missing[0].contains("there is no section `## 1.2`"), "{missing:?}");
    }
}
