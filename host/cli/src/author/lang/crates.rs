//! Crates of a component that cargo built: those that it contains, and those that built it.

use std::collections::{BTreeMap, HashMap};

use semver::Version;
use serde::Deserialize;
use tollhouse_registry::{Dependency, DependencyKind};

use super::{BuildJob, CliError, Result};

/// Asks cargo after the build, when the lock file is as the build left it. The answer is not exact for this build, and
/// may name crates that only another package of the workspace needs.
pub(super) fn list(job: &BuildJob<'_>, target: &str) -> Result<Vec<Dependency>> {
    let mut cargo = job.command("cargo");
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", target]);
    let unlisted = |problem: &str| {
        CliError::usage(format!("cargo cannot list the crates of this build: {problem}"))
            .hint("type: cargo fetch (it may need the packages that only tests use)")
            .status(1)
    };
    let output = super::capture(cargo, job.stop).map_err(|error| unlisted(&error.to_string()))?;
    job.stop.check()?;
    if !output.status.success() {
        return Err(unlisted(String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: CargoMetadata =
        serde_json::from_slice(&output.stdout).map_err(|error| unlisted(&error.to_string()))?;
    metadata.listed().ok_or_else(|| unlisted("it names a package that it does not describe"))
}

/// Relevant part of the output of `cargo metadata`.
#[derive(Deserialize)]
struct CargoMetadata {
    packages: Vec<MetadataPackage>,
    resolve: DependencyGraph,
}

#[derive(Deserialize)]
struct MetadataPackage {
    id: String,
    name: String,
    version: Version,
    source: Option<String>,
    targets: Vec<PackageTarget>,
}

#[derive(Deserialize)]
struct PackageTarget {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct DependencyGraph {
    nodes: Vec<GraphNode>,
    root: String,
}

#[derive(Deserialize)]
struct GraphNode {
    id: String,
    deps: Vec<NodeDependency>,
}

#[derive(Deserialize)]
struct NodeDependency {
    pkg: String,
    dep_kinds: Vec<NodeDependencyKind>,
}

#[derive(Deserialize)]
struct NodeDependencyKind {
    /// `None` if it is linked; otherwise `build` or `dev`.
    kind: Option<String>,
}

impl CargoMetadata {
    /// Returns everything that the package needs except for its tests, in a fixed order. Returns `None` if a named
    /// package is not described.
    fn listed(&self) -> Option<Vec<Dependency>> {
        let packages: HashMap<&str, &MetadataPackage> = self.packages.iter().map(|it| (it.id.as_str(), it)).collect();
        let needs: HashMap<&str, &[NodeDependency]> =
            self.resolve.nodes.iter().map(|it| (it.id.as_str(), &it.deps[..])).collect();
        let mut kinds: BTreeMap<&str, DependencyKind> = BTreeMap::new();
        let mut open = vec![(self.resolve.root.as_str(), DependencyKind::Runtime)];
        while let Some((id, kind)) = open.pop() {
            if kinds.get(id).is_some_and(|known| *known >= kind) {
                continue;
            }
            kinds.insert(id, kind);
            for need in needs.get(id)?.iter().filter(|need| need.is_built()) {
                let linked = need.is_linked() && !packages.get(need.pkg.as_str())?.is_macro();
                open.push((&need.pkg, if linked { kind } else { DependencyKind::Build }));
            }
        }
        let mut listed: Vec<(&MetadataPackage, DependencyKind)> =
            kinds.iter().map(|(id, kind)| Some((*packages.get(id)?, *kind))).collect::<Option<_>>()?;
        listed.sort_by_key(|(package, _)| (&package.name, &package.version, package.source()));
        let locations: HashMap<&str, usize> =
            listed.iter().enumerate().map(|(at, (it, _))| (it.id.as_str(), at)).collect();
        let entry = |(package, kind): &(&MetadataPackage, DependencyKind)| {
            let mut dependencies: Vec<usize> = needs[package.id.as_str()]
                .iter()
                .filter(|need| need.is_built())
                .map(|need| locations[need.pkg.as_str()])
                .collect();
            dependencies.sort_unstable();
            Dependency {
                name: package.name.clone(),
                version: package.version.clone(),
                source: package.source().into(),
                kind: *kind,
                dependencies,
                root: package.id == self.resolve.root,
            }
        };
        Some(listed.iter().map(entry).collect())
    }
}

impl MetadataPackage {
    /// Returns the origin of the crate, in cargo-auditable's words.
    fn source(&self) -> &'static str {
        match self.source.as_deref() {
            None => "local",
            Some("registry+https://github.com/rust-lang/crates.io-index") => "crates.io",
            Some(source) if source.starts_with("git+") => "git",
            Some(_) => "registry",
        }
    }

    fn is_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    }
}

impl NodeDependency {
    fn is_linked(&self) -> bool {
        self.dep_kinds.iter().any(|it| it.kind.is_none())
    }

    /// Returns true if not only tests need it.
    fn is_built(&self) -> bool {
        self.dep_kinds.iter().any(|it| it.kind.as_deref() != Some("dev"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dependencies_linked_are_told_from_build_and_test_dependencies() {
        let package = |id: &str, source: Option<&str>, kind: &str| {
            json!({
                "id": id, "name": id, "version": "1.0.0", "source": source, "targets": [{ "kind": [kind] }],
            })
        };
        let need = |id: &str, kinds: &[Option<&str>]| {
            let kinds: Vec<_> = kinds.iter().map(|kind| json!({ "kind": kind, "target": null })).collect();
            json!({ "name": id, "pkg": id, "dep_kinds": kinds })
        };
        let crates_io = Some("registry+https://github.com/rust-lang/crates.io-index");
        let metadata: CargoMetadata = serde_json::from_value(json!({
            "packages": [
                package("shop", None, "cdylib"), package("linked", crates_io, "lib"),
                package("macros", Some("git+https://example.com/macros#1"), "proc-macro"),
                package("parser", Some("sparse+https://example.com/index/"), "lib"),
                package("both", crates_io, "lib"), package("tester", crates_io, "lib"),
            ],
            "resolve": { "root": "shop", "nodes": [
                { "id": "shop", "deps": [
                    need("linked", &[None]), need("macros", &[None]), need("both", &[Some("build"), Some("dev")]),
                    need("tester", &[Some("dev")]),
                ]},
                { "id": "linked", "deps": [need("both", &[None])] },
                { "id": "macros", "deps": [need("parser", &[None])] },
                { "id": "parser", "deps": [] }, { "id": "both", "deps": [] },
                { "id": "tester", "deps": [need("parser", &[None])] },
            ]},
        }))
        .expect("what cargo prints");
        let listed = metadata.listed().expect("it is whole");
        let told: Vec<_> =
            listed.iter().map(|it| (it.name.as_str(), it.source.as_str(), it.kind, &it.dependencies[..])).collect();
        let (build, runtime) = (DependencyKind::Build, DependencyKind::Runtime);
        let expected: [(&str, &str, DependencyKind, &[usize]); 5] = [
            ("both", "crates.io", runtime, &[]),
            ("linked", "crates.io", runtime, &[0]),
            ("macros", "git", build, &[3]),
            ("parser", "registry", build, &[]),
            ("shop", "local", runtime, &[0, 1, 2]),
        ];
        assert_eq!(told, expected);
        assert!(listed.iter().all(|it| it.root == (it.name == "shop")));
    }
}
