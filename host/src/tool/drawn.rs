//! What tools import of other tools: who serves it, and what is mounted because of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use semver::{Version, VersionReq};
use tollhouse_registry::PackageName;

use super::lock::Lock;
use super::mounted::MountError;
use super::names::{self, Spelling};
use super::package::{Package, PackageError, Packages};
use crate::capability::{Pattern, Policy};

/// What is mounted, by alias.
type Mounted = BTreeMap<String, Arc<Package>>;

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

/// What a mounted tool imports, and may call, and nothing that is mounted serves: the import, and who may have it.
fn missing(mounted: &Mounted, policy: &Policy) -> Vec<(String, PackageName, VersionReq)> {
    let served = |import: &str| mounted.values().any(|package| has(package, import));
    let wanted = mounted.iter().flat_map(|(alias, package)| {
        let imports = package.types().imports.iter().filter(|import| !served(import));
        let named =
            imports.filter_map(|import| package_of(import).map(|(name, versions)| (import.clone(), name, versions)));
        named.filter(|(_, name, _)| may_call(policy, alias, name))
    });
    wanted.collect()
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
    /// Mounts what mounted tools import and the policy lets them call, under its own name: the release that is pinned, or
    /// the highest of its version. What the registry has not, what does not serve, or whose name is taken, stays out: its call
    /// says so.
    pub(super) fn draw_in(&self, mounted: &mut Mounted, policy: &Policy, pinned: &Lock) -> Result<(), MountError> {
        let mut queue = missing(mounted, policy);
        while let Some((import, name, versions)) = queue.pop() {
            let alias = name.package().to_owned();
            if mounted.contains_key(&alias) || names::check_alias(&alias, Spelling::Wit).is_err() {
                continue;
            }
            let release = match self.wanted(&alias, &format!("{name}@{versions}"), pinned) {
                Ok(release) => release,
                Err(MountError::Package { source: PackageError::Resolve(_), .. }) => continue,
                Err(error) => return Err(error),
            };
            let package = self.accepted(&alias, release, &policy.signed)?;
            // The release of a version may export its interface in another one.
            if has(&package, &import) {
                mounted.insert(alias, package);
                // It may import in its turn.
                queue = missing(mounted, policy);
            }
        }
        Ok(())
    }
}

/// Whether something else that is mounted imports what an alias exports, and may call it.
pub(super) fn is_needed(mounted: &[(String, Arc<Package>)], alias: &str, policy: &Policy) -> bool {
    let Some((_, own)) = mounted.iter().find(|(other, _)| other == alias) else { return false };
    mounted.iter().any(|(other, package)| {
        other != alias
            && package.types().imports.iter().any(|import| has(own, import))
            && may_call(policy, other, &own.release().name)
    })
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
