//! What tools import of other tools: who serves it, and that a policy names whoever does.

use std::sync::Arc;

use semver::{Version, VersionReq};
use tollhouse_registry::{PackageName, Requirement, ResolveError};

use super::mounted::MountError;
use super::package::{Package, Packages};
use crate::capability::{Pattern, Policy};

/// Whether an exported interface serves an import: `acme:payments/charges@1.3.0` serves `…@1.2.0`.
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

/// A version is a requirement of what is compatible with it.
fn compatible(version: &Version) -> Option<VersionReq> {
    version.to_string().parse().ok()
}

/// The package that an interface belongs to, and its versions that serve the import.
fn package_of(import: &str) -> Option<(PackageName, VersionReq)> {
    let (base, version) = versioned(import);
    let (package, _) = base.split_once('/')?;
    let versions = version.as_ref().map_or(Some(VersionReq::STAR), compatible)?;
    Some((package.parse().ok()?, versions))
}

/// Whether a package exports what serves an import.
fn has(package: &Package, import: &str) -> bool {
    package.types().interfaces.iter().any(|interface| serves(&interface.export, import))
}

/// Whether the policy lets the tools of an alias call something of a package, under its own name.
fn may_call(policy: &Policy, alias: &str, name: &PackageName) -> bool {
    let Ok(all) = format!("{}/**", name.package()).parse::<Pattern>() else { return false };
    policy.permissions.get(alias).is_some_and(|granted| granted.tools.iter().any(|grant| grant.method.overlaps(&all)))
}

impl Packages {
    /// Refuses a policy that lets a mounted tool call something that it imports, that the registry has, and that nothing
    /// mounted serves: whoever names the imports of a tool would choose whose package answers. What the registry has not, or
    /// what does not serve, stays out: its call says so.
    ///
    /// # Errors
    /// [`MountError::Unnamed`]; if the registry cannot be read.
    pub(super) fn check_imports(&self, mounted: &[(String, Arc<Package>)], policy: &Policy) -> Result<(), MountError> {
        // Without names, all of the registry is mounted.
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

    /// Returns true if the registry has a release that an import would be served by.
    fn would_serve(&self, wanted: &Requirement, import: &str) -> Result<bool, MountError> {
        let Some(registry) = self.registry() else { return Ok(false) };
        match registry.resolve(&wanted.name, &wanted.versions) {
            // The release of a version may export its interface in another one. One that is damaged may serve.
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
    fn a_later_compatible_version_serves() {
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
    fn an_import_names_its_package() {
        let (name, versions) = package_of("acme:stats/stats@0.1.2").expect("a package");
        assert_eq!((name.to_string().as_str(), versions.to_string().as_str()), ("acme:stats", "^0.1.2"));
        for none in ["stats", "describe", "a:b", "../x:y/z"] {
            assert!(package_of(none).is_none(), "{none}");
        }
    }
}
