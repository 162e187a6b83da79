//! Imports of tools from other tools: which packages satisfy them, and the check that a policy names those packages.

use std::sync::Arc;

use semver::{Version, VersionReq};
use tollhouse_registry::{PackageName, Requirement, ResolveError};

use super::mounted::MountError;
use super::package::{Package, Packages};
use crate::capability::{Pattern, Policy};

/// Returns true if an exported interface satisfies an import: `acme:payments/charges@1.3.0` satisfies `…@1.2.0`.
pub(crate) fn serves(export: &str, import: &str) -> bool {
    let ((export, has), (import, wants)) = (versioned(export), versioned(import));
    export == import
        && match (has, wants) {
            (Some(has), Some(wants)) => compatible(&wants).is_some_and(|wanted| wanted.matches(&has)),
            (has, wants) => has == wants,
        }
}

fn versioned(name: &str) -> (&str, Option<Version>) {
    let (base, version) = name.split_once('@').map_or((name, None), |(base, version)| (base, Some(version)));
    (base, version.and_then(|version| version.parse().ok()))
}

/// Returns the requirement of all versions that are compatible with this one.
fn compatible(version: &Version) -> Option<VersionReq> {
    version.to_string().parse().ok()
}

/// Returns the package of an interface, and the requirement of the versions that satisfy the import.
fn package_of(import: &str) -> Option<(PackageName, VersionReq)> {
    let (base, version) = versioned(import);
    let (package, _) = base.split_once('/')?;
    let versions = version.as_ref().map_or(Some(VersionReq::STAR), compatible)?;
    Some((package.parse().ok()?, versions))
}

/// Returns true if a package exports an interface that satisfies an import.
fn has(package: &Package, import: &str) -> bool {
    package.types().interfaces.iter().any(|interface| serves(&interface.export, import))
}

/// Returns true if the policy lets the tools of an alias call a method of a package, under its own name.
fn may_call(policy: &Policy, alias: &str, name: &PackageName) -> bool {
    let Ok(all) = format!("{}/**", name.package()).parse::<Pattern>() else { return false };
    policy.permissions.get(alias).is_some_and(|granted| granted.tools.iter().any(|grant| grant.method.overlaps(&all)))
}

impl Packages {
    /// Rejects a policy that lets a mounted tool call an import that the registry has but no mounted package satisfies:
    /// otherwise the author of a tool could choose whose package answers, by the names of its imports. Imports that the
    /// registry does not have, or that do not fit, are ignored here: calling them reports that.
    ///
    /// # Errors
    /// [`MountError::Unnamed`]; if the registry cannot be read.
    pub(super) fn check_imports(&self, mounted: &[(String, Arc<Package>)], policy: &Policy) -> Result<(), MountError> {
        // Without names, the whole registry is mounted.
        if policy.tools.is_none() {
            return Ok(());
        }
        let served = |import: &str| mounted.iter().any(|(_, package)| has(package, import));
        for (alias, package) in mounted {
            for import in package.types().imports.iter().filter(|import| !served(import)) {
                let Some((name, versions)) = package_of(import) else { continue };
                if !may_call(policy, alias, &name) {
                    continue;
                }
                let package = Requirement { name, versions };
                if self.would_serve(&package, import)? {
                    return Err(MountError::Unnamed { alias: alias.clone(), import: import.clone(), package });
                }
            }
        }
        Ok(())
    }

    /// Returns true if the registry has a release that would satisfy an import.
    fn would_serve(&self, wanted: &Requirement, import: &str) -> Result<bool, MountError> {
        let Some(registry) = self.registry() else { return Ok(false) };
        match registry.resolve(&wanted.name, &wanted.versions) {
            // A release may export its interface in a version other than its own. A damaged one might satisfy the
            // import.
            Ok(release) => Ok(self.package(release).map_or(true, |package| has(&package, import))),
            Err(ResolveError::Registry(source)) => {
                Err(MountError::Package { alias: wanted.name.package().to_owned(), source: source.into() })
            }
            Err(_) => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_import_is_served_by_compatible_version_only() {
        for (export, import, fits) in [
            ("a:b/c@1.3.0", "a:b/c@1.2.0", true),
            ("a:b/c@1.2.0", "a:b/c@1.3.0", false),
            ("a:b/c@2.0.0", "a:b/c@1.2.0", false),
            ("a:b/c@0.2.1", "a:b/c@0.2.0", true),
            ("a:b/c@0.3.0", "a:b/c@0.2.0", false),
            ("a:b/c", "a:b/c", true),
            ("a:b/c@1.0.0", "a:b/c", false),
            ("a:b/d@1.2.0", "a:b/c@1.2.0", false),
        ] {
            assert_eq!(serves(export, import), fits, "{export} for {import}");
        }
    }

    #[test]
    fn import_name_gives_its_package_and_version() {
        let (name, versions) = package_of("acme:stats/stats@0.1.2").expect("a package");
        assert_eq!((name.to_string().as_str(), versions.to_string().as_str()), ("acme:stats", "^0.1.2"));
        for none in ["stats", "describe", "a:b", "../x:y/z"] {
            assert!(package_of(none).is_none(), "{none}");
        }
    }
}
