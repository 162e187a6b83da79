//! Checks of a publish request that need no registry.

use semver::Version;

use super::{GivenSignature, MAX_README, PublishRequest};
use crate::{
    component::{Component, adapted, path_of_builder},
    digest::Digest,
    error::excerpt,
    host_imports, identity,
    index::Release,
    manifest::{DefaultInterface, Manifest},
    name::{PackageName, ReleaseName},
    oci::Origin,
    permission::Permissions,
    publish_error::PublishError,
    signature::{Statement, has_signed},
    store::Blob,
    unused_permissions,
    wit::{self, Shape, WitText, print_component},
};

/// Text of a release.
pub(super) struct ReleaseText {
    pub(super) text: String,
    /// True if the publisher gave it, false if it was generated from the component.
    given: bool,
}

/// Request that passed all checks that need no registry.
pub(super) struct CheckedRequest {
    pub(super) name: PackageName,
    pub(super) version: Version,
    pub(super) component: Vec<u8>,
    pub(super) wit: ReleaseText,
    pub(super) manifest: ReleaseText,
    pub(super) readme: Option<String>,
    pub(super) exports: Shape,
    /// Imported packages of other tools, each with the interface.
    tools: Vec<(String, String)>,
    pub(super) signatures: Vec<GivenSignature>,
    pub(super) origin: Option<Origin>,
    /// True if the caller gave the name.
    pub(super) named: bool,
    pub(super) allow_breaking: bool,
    pub(super) warnings: Vec<String>,
}

impl CheckedRequest {
    pub(super) fn new(request: PublishRequest) -> Result<Self, PublishError> {
        if let Some(size) = request.readme.as_ref().map(String::len).filter(|size| *size > MAX_README) {
            return Err(PublishError::Readme { size });
        }
        let request = PublishRequest { component: adapted(request.component)?, ..request };
        let component = Component::read(&request.component)?;
        let manifest = request.manifest.as_deref().map(Manifest::parse).transpose()?;
        if let Some(DefaultInterface::Interface(wanted)) = manifest.as_ref().and_then(|it| it.default.as_ref())
            && !identity::exports_interface(&component, wanted)
        {
            return Err(PublishError::NoDefault { wanted: wanted.clone() });
        }
        let wit = request.wit.as_deref().or(component.about.wit.as_deref());
        let wit = wit.map(WitText::parse).transpose()?;
        if let Some(wit) = &wit {
            wit.check(&component)?;
        }
        let (name, version) = identity::of(&request, manifest.as_ref(), wit.as_ref(), &component)?;
        let asked = manifest.as_ref().map(|manifest| manifest.permissions.clone()).unwrap_or_default();
        let impossible = host_imports::impossible(&component);
        if !impossible.is_empty() {
            return Err(PublishError::Ungiven { imports: impossible });
        }
        let needless = unused_permissions::needless(&asked, &component);
        if !needless.is_empty() {
            return Err(PublishError::Needless { needless });
        }
        let warnings = warnings(&request.component, &component, &asked, &name, wit.as_ref());
        let manifest = match request.manifest {
            Some(text) => ReleaseText { text, given: true },
            None => ReleaseText { text: described(&name, &version, &component), given: false },
        };
        let wit = match (request.wit, &component.about.wit) {
            (Some(text), _) => ReleaseText { text, given: true },
            (None, Some(text)) => ReleaseText { text: text.clone(), given: false },
            (None, None) => ReleaseText { text: print_component(&component)?, given: false },
        };
        let exports = wit::exports(&component)?;
        let tools = host_imports::of_tools(&component);
        let named = request.name.is_some();
        let PublishRequest { component, readme, signatures, origin, allow_breaking, .. } = request;
        let checked = Self {
            name,
            version,
            component,
            wit,
            manifest,
            readme,
            exports,
            tools,
            signatures,
            origin,
            named,
            allow_breaking,
            warnings,
        };
        checked.verify()?;
        Ok(checked)
    }

    /// Checks that the signatures that came with the request are of exactly this release.
    fn verify(&self) -> Result<(), PublishError> {
        let Self { name, version, .. } = self;
        let component = Digest::of(&self.component);
        let (wit, manifest) = (Digest::of(self.wit.text.as_bytes()), Digest::of(self.manifest.text.as_bytes()));
        let statement = || Statement { name, version, component, wit, manifest };
        match self.signatures.iter().find(|given| !has_signed(given.key, statement(), &given.bytes)) {
            None => Ok(()),
            Some(given) => {
                let release = ReleaseName { name: name.clone(), version: version.clone() };
                Err(PublishError::Forged { release, key: given.key })
            }
        }
    }

    /// Checks that an existing release is the same as the requested one. Parts that the request does not give are not
    /// compared: they may have been given the first time, or be generated differently by another version of this
    /// program. Nor is the readme, which does not affect what runs.
    pub(super) fn compare(&self, release: &Release) -> Result<(), PublishError> {
        let same = |text: &ReleaseText, blob: &Blob| !text.given || Blob::of(text.text.as_bytes()) == *blob;
        let parts = [
            ("component", Blob::of(&self.component) == release.component),
            ("WIT text", same(&self.wit, &release.wit)),
            ("manifest", same(&self.manifest, &release.manifest)),
        ];
        let differing: Vec<&str> = parts.into_iter().filter(|(_, same)| !same).map(|(part, _)| part).collect();
        if differing.is_empty() {
            return Ok(());
        }
        Err(PublishError::Exists {
            name: self.name.clone(),
            version: self.version.clone(),
            parts: differing.join(" and "),
        })
    }

    /// Returns warnings about imported tools that this registry does not have. They may exist where the component runs.
    pub(super) fn absent(&self, releases: &[Release]) -> impl Iterator<Item = String> {
        let absent = self.tools.iter().filter(|(package, _)| {
            package != self.name.as_str() && !releases.iter().any(|release| release.name.as_str() == package)
        });
        absent
            .map(|(package, import)| format!("the component imports `{import}`, and this registry has no `{package}`"))
    }

    /// Iterates over the bytes of all parts, including those that were generated from the component.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let texts = [Some(self.wit.text.as_str()), Some(self.manifest.text.as_str()), self.readme.as_deref()];
        std::iter::once(&self.component[..]).chain(texts.into_iter().flatten().map(str::as_bytes))
    }
}

/// Collects warnings about a valid component.
fn warnings(
    bytes: &[u8],
    component: &Component,
    asked: &Permissions,
    name: &PackageName,
    wit: Option<&WitText>,
) -> Vec<String> {
    let mut warnings: Vec<String> = unused_permissions::unasked(asked, component)
        .into_iter()
        .map(|key| {
            format!("the component imports `wasi:{key}`, but the manifest requests no `{key}`: its calls are denied")
        })
        .collect();
    let trapping = host_imports::trapping(component).into_iter();
    warnings.extend(trapping.map(|import| {
        format!("the component imports `{}`, which no Tollhouse host provides: calling it traps", excerpt(&import))
    }));
    if let Some(package) = wit.map(WitText::package)
        && identity::names_a_package(package)
        && format!("{}:{}", package.namespace, package.name) != name.as_str()
    {
        warnings.push(format!("the WIT package is called `{package}`, and the release `{name}`"));
    }
    if let Some(path) = path_of_builder(bytes) {
        warnings.push(format!(
            "the component holds paths of the machine that built it (`{path}`), so other machines build other bytes: \
             `tollhouse build` omits them, and so does `--remap-path-prefix` in RUSTFLAGS"
        ));
    }
    warnings
}

/// Generates a manifest for a component that came without one.
fn described(name: &PackageName, version: &Version, component: &Component) -> String {
    let mut table = toml::Table::new();
    table.insert("name".into(), name.to_string().into());
    table.insert("version".into(), version.to_string().into());
    let about = &component.about;
    for (key, text) in [("description", &about.description), ("license", &about.licenses)] {
        if let Some(text) = text {
            table.insert(key.into(), text.clone().into());
        }
    }
    if let Some(authors) = &about.authors {
        table.insert("authors".into(), vec![authors.clone()].into());
    }
    table.to_string()
}
