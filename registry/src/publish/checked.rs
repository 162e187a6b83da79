//! What of a request is checked without a registry.

use semver::Version;

use super::{GivenSignature, MAX_README, PublishRequest};
use crate::{
    asks,
    component::{Component, adapted, path_of_builder},
    digest::Digest,
    error::excerpt,
    given, identity,
    index::Release,
    manifest::{DefaultInterface, Manifest},
    name::{PackageName, ReleaseName},
    oci::Origin,
    permission::Permissions,
    refusal::PublishError,
    signature::Statement,
    store::Blob,
    wit::{self, Shape, Wit, print_component},
};

/// A text of a release.
pub(super) struct Text {
    pub(super) text: String,
    /// Whether the publisher gave it, or it was made from the component.
    given: bool,
}

/// A request that passed all checks that need no registry.
pub(super) struct Checked {
    pub(super) name: PackageName,
    pub(super) version: Version,
    pub(super) component: Vec<u8>,
    pub(super) wit: Text,
    pub(super) manifest: Text,
    pub(super) readme: Option<String>,
    pub(super) exports: Shape,
    /// The packages of other tools that it imports, each with the interface.
    tools: Vec<(String, String)>,
    pub(super) signatures: Vec<GivenSignature>,
    pub(super) origin: Option<Origin>,
    /// Whether the caller said the name.
    pub(super) named: bool,
    pub(super) allow_breaking: bool,
    pub(super) warnings: Vec<String>,
}

impl Checked {
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
        let wit = wit.map(Wit::parse).transpose()?;
        if let Some(wit) = &wit {
            wit.check(&component)?;
        }
        let (name, version) = identity::of(&request, manifest.as_ref(), wit.as_ref(), &component)?;
        let asked = manifest.as_ref().map(|manifest| manifest.permissions.clone()).unwrap_or_default();
        let impossible = given::impossible(&component);
        if !impossible.is_empty() {
            return Err(PublishError::Ungiven { imports: impossible });
        }
        let needless = asks::needless(&asked, &component);
        if !needless.is_empty() {
            return Err(PublishError::Needless { needless });
        }
        let warnings = warnings(&request.component, &component, &asked, &name, wit.as_ref());
        let manifest = match request.manifest {
            Some(text) => Text { text, given: true },
            None => Text { text: described(&name, &version, &component), given: false },
        };
        let wit = match (request.wit, &component.about.wit) {
            (Some(text), _) => Text { text, given: true },
            (None, Some(text)) => Text { text: text.clone(), given: false },
            (None, None) => Text { text: print_component(&component)?, given: false },
        };
        let exports = wit::exports(&component)?;
        let tools = given::of_tools(&component);
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

    /// Checks that the signatures that came with it are of exactly this release.
    fn verify(&self) -> Result<(), PublishError> {
        let Self { name, version, .. } = self;
        let component = Digest::of(&self.component);
        let (wit, manifest) = (Digest::of(self.wit.text.as_bytes()), Digest::of(self.manifest.text.as_bytes()));
        let statement = || Statement { name, version, component, wit, manifest };
        match self.signatures.iter().find(|given| !given.key.has_signed(statement(), &given.bytes)) {
            None => Ok(()),
            Some(given) => {
                let release = ReleaseName { name: name.clone(), version: version.clone() };
                Err(PublishError::Forged { release, key: given.key })
            }
        }
    }

    /// Checks that a release is what was asked to be published. What was not given is not compared: it may have been
    /// given the first time, or be printed otherwise by another version of this program. Nor is the readme, which
    /// changes nothing that runs.
    pub(super) fn compare(&self, release: &Release) -> Result<(), PublishError> {
        let same = |text: &Text, blob: &Blob| !text.given || Blob::of(text.text.as_bytes()) == *blob;
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

    /// What to say of tools that it imports and that are not here. They may be where it runs.
    pub(super) fn absent(&self, releases: &[Release]) -> impl Iterator<Item = String> {
        let absent = self.tools.iter().filter(|(package, _)| {
            package != self.name.as_str() && !releases.iter().any(|release| release.name.as_str() == package)
        });
        absent
            .map(|(package, import)| format!("the component imports `{import}`, and this registry has no `{package}`"))
    }

    /// The bytes of all parts, also of those that were made from the component.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let texts = [Some(self.wit.text.as_str()), Some(self.manifest.text.as_str()), self.readme.as_deref()];
        std::iter::once(&self.component[..]).chain(texts.into_iter().flatten().map(str::as_bytes))
    }
}

/// What the publisher should know of a component that passes.
fn warnings(
    bytes: &[u8],
    component: &Component,
    asked: &Permissions,
    name: &PackageName,
    wit: Option<&Wit>,
) -> Vec<String> {
    let mut warnings: Vec<String> = asks::unasked(asked, component)
        .into_iter()
        .map(|key| format!("the component imports `wasi:{key}`, and the manifest asks for no `{key}`: it is denied"))
        .collect();
    let trapping = given::trapping(component).into_iter();
    warnings.extend(trapping.map(|import| {
        format!("the component imports `{}`, which no host of Tollhouse gives: a call of it traps", excerpt(&import))
    }));
    if let Some(package) = wit.map(Wit::package)
        && identity::names_a_package(package)
        && format!("{}:{}", package.namespace, package.name) != name.as_str()
    {
        warnings.push(format!("the WIT package is called `{package}`, and the release `{name}`"));
    }
    if let Some(path) = path_of_builder(bytes) {
        warnings.push(format!(
            "the component holds paths of the machine that built it (`{path}`), so elsewhere other bytes come of it: \
             `tollhouse build` leaves them out, and so does `--remap-path-prefix` in RUSTFLAGS"
        ));
    }
    warnings
}

/// A manifest for a component that came without one.
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
