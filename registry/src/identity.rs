//! Name and version of a release. They come from the manifest, else from the caller, else from the WIT text and the
//! component as far as these tell. Must not look at a registry.

use semver::Version;
use wit_parser::{WorldItem, WorldKey};

use crate::{
    component::Component, error::excerpt, manifest::Manifest, name::PackageName, publish::PublishRequest,
    publish_error::PublishError, wit::WitText,
};

/// Determines name and version of a release.
pub(crate) fn of(
    request: &PublishRequest,
    manifest: Option<&Manifest>,
    wit: Option<&WitText>,
    component: &Component,
) -> Result<(PackageName, Version), PublishError> {
    let (name, version) = match manifest {
        Some(manifest) => declared(request, manifest)?,
        None => found(request, wit, component)?,
    };
    if version.build.is_empty() { Ok((name, version)) } else { Err(PublishError::BuildMetadata(version)) }
}

/// Returns name and version of the manifest, after comparing them with the caller's.
fn declared(request: &PublishRequest, manifest: &Manifest) -> Result<(PackageName, Version), PublishError> {
    let conflict = |what, manifest: &dyn ToString, given: &dyn ToString| PublishError::Conflict {
        what,
        manifest: manifest.to_string(),
        given: given.to_string(),
    };
    match (&request.name, &request.version) {
        (Some(given), _) if *given != manifest.name => Err(conflict("name", &manifest.name, given)),
        (_, Some(given)) if *given != manifest.version => Err(conflict("version", &manifest.version, given)),
        _ => Ok((manifest.name.clone(), manifest.version.clone())),
    }
}

/// Returns name and version given by the caller, else found in the component.
fn found(
    request: &PublishRequest,
    wit: Option<&WitText>,
    component: &Component,
) -> Result<(PackageName, Version), PublishError> {
    let packages = exported_packages(component);
    let written = wit.map(WitText::package).filter(|package| names_a_package(package));
    let only = match &packages[..] {
        [only] => Some(*only),
        _ => None,
    };
    let named_in_section = component.about.name.as_deref().and_then(|name| name.parse().ok());
    let name = match (&request.name, written.or(only), named_in_section) {
        (Some(name), ..) => name.clone(),
        (None, Some(package), _) => {
            let given = full_name(package);
            given.parse().map_err(|source| PublishError::Name { given: excerpt(&given), source })?
        }
        (None, None, Some(name)) => name,
        (None, None, None) => {
            return Err(PublishError::Unnamed {
                what: "name",
                found: packages.iter().map(|package| full_name(package)).collect(),
            });
        }
    };
    // The version of a WIT package is that of the release only if the package is the release's own.
    let of_package = [written, only].into_iter().flatten().find(|package| full_name(package) == name.as_str());
    let in_section = || component.about.version.as_deref().and_then(|version| version.parse().ok());
    let version = request.version.clone().or_else(|| of_package?.version.clone()).or_else(in_section);
    Ok((name, version.ok_or(PublishError::Unnamed { what: "version", found: Vec::new() })?))
}

/// Returns the packages of the exported interfaces, each once. WASI's are left out: they do not identify the component.
fn exported_packages(component: &Component) -> Vec<&wit_parser::PackageName> {
    let resolve = &component.resolve;
    let mut packages: Vec<&wit_parser::PackageName> = Vec::new();
    for item in resolve.worlds[component.world].exports.values() {
        if let WorldItem::Interface { id, .. } = item
            && let Some(package) = resolve.interfaces[*id].package
        {
            let name = &resolve.packages[package].name;
            if name.namespace != "wasi" && names_a_package(name) && !packages.contains(&name) {
                packages.push(name);
            }
        }
    }
    packages
}

/// Returns true if an interface of that name can be a package's default.
pub(crate) fn exports_interface(component: &Component, wanted: &str) -> bool {
    let resolve = &component.resolve;
    resolve.worlds[component.world].exports.iter().any(|(key, item)| match (key, item) {
        (WorldKey::Name(name), WorldItem::Interface { .. }) => name == wanted,
        (_, WorldItem::Interface { id, .. }) => resolve.interfaces[*id].name.as_deref() == Some(wanted),
        _ => false,
    })
}

/// Returns true unless the name is a placeholder that the decoder gives to an unnamed package.
pub(crate) fn names_a_package(package: &wit_parser::PackageName) -> bool {
    (package.namespace.as_str(), package.name.as_str()) != ("root", "component")
}

fn full_name(package: &wit_parser::PackageName) -> String {
    format!("{}:{}", package.namespace, package.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CHARGES, component};

    fn identity(request: &PublishRequest) -> Result<String, String> {
        let component = Component::read(&request.component).expect("a component");
        let manifest = request.manifest.as_deref().map(|text| Manifest::parse(text).expect("a manifest"));
        let wit = request.wit.as_deref().map(|text| WitText::parse(text).expect("WIT"));
        let identity = of(request, manifest.as_ref(), wit.as_ref(), &component);
        identity.map(|(name, version)| format!("{name}@{version}")).map_err(|error| error.to_string())
    }

    fn request(wit: &str) -> PublishRequest {
        PublishRequest::new(component(wit))
    }

    #[test]
    fn identity_is_taken_from_manifest_and_must_agree() {
        let mut request = request(CHARGES);
        request.manifest = Some("name = \"a:b\"\nversion = \"3.0.0\"".into());
        assert_eq!(identity(&request), Ok("a:b@3.0.0".into()));
        request.version = Some(Version::new(3, 0, 0));
        assert_eq!(identity(&request), Ok("a:b@3.0.0".into()));
        request.version = Some(Version::new(4, 0, 0));
        assert_eq!(identity(&request), Err("the manifest says version `3.0.0`, but `4.0.0` was requested".into()));
    }

    #[test]
    fn identity_without_manifest_is_taken_from_exports() {
        assert_eq!(identity(&request(CHARGES)), Ok("acme:payments@1.2.0".into()));
        let with_wasi =
            "package acme:payments@1.2.0; interface c { f: func(); } world w { export c; export wasi:cli/run@0.2.0; }
            package wasi:cli@0.2.0 { interface run { run: func() -> result; } }";
        assert_eq!(identity(&request(with_wasi)), Ok("acme:payments@1.2.0".into()));
    }

    #[test]
    fn identity_that_is_missing_or_ambiguous_must_be_named() {
        let function = "package a:b@1.0.0; world w { export f: func(); }";
        assert_eq!(identity(&request(function)), Err("the component does not say its name".into()));
        let wasi = "package wasi:cli@0.2.0; interface run { run: func() -> result; } world w { export run; }";
        assert_eq!(identity(&request(wasi)), Err("the component does not say its name".into()));
        let two = "package a:b@1.0.0; world w { export c:d/i; export e:f/i; }
            package c:d { interface i { f: func(); } } package e:f { interface i { f: func(); } }";
        let error = identity(&request(two)).expect_err("two names");
        assert_eq!(error, "the component does not say its name: it exports interfaces of `c:d` and `e:f`");
        let unversioned = "package a:b; interface i { f: func(); } world w { export i; }";
        assert_eq!(identity(&request(unversioned)), Err("the component does not say its version".into()));
        let mut named = request(unversioned);
        named.version = Some(Version::new(0, 1, 0));
        assert_eq!(identity(&named), Ok("a:b@0.1.0".into()));
    }

    #[test]
    fn identity_under_another_name_needs_its_own_version() {
        let mut request = request(CHARGES);
        request.name = Some("my:copy".parse().expect("a name"));
        assert_eq!(identity(&request), Err("the component does not say its version".into()));
        request.version = Some("1.0.0+build".parse().expect("a version"));
        assert!(identity(&request).expect_err("build metadata").contains("build metadata"));
    }

    #[test]
    fn identity_of_functions_only_is_taken_from_wit_text() {
        let function = "package a:b@1.0.0; world w { export f: func(); }";
        let mut request = request(function);
        request.wit = Some(function.into());
        assert_eq!(identity(&request), Ok("a:b@1.0.0".into()));
    }
}
