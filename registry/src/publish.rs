//! What may be published, and how: everything is checked before anything is written, and written before it is named.

use std::time::SystemTime;

use semver::Version;

use crate::{
    component::{Component, ComponentError},
    error::Error,
    index::{Change, Release},
    manifest::Manifest,
    name::{NameError, PackageName},
    registry::Registry,
    wit::{Wit, WitError, print_component},
};

/// What to publish.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PublishRequest {
    /// The component's bytes.
    pub component: Vec<u8>,
    /// The text of the manifest. None: name and version come from the component, or from `name` and `version`.
    pub manifest: Option<String>,
    /// The WIT text, with doc comments. None: it is printed from the component, which has none.
    pub wit: Option<String>,
    /// The readme.
    pub readme: Option<String>,
    /// The name, instead of the component's own. A manifest must say the same.
    pub name: Option<PackageName>,
    /// The version, instead of the component's own. A manifest must say the same.
    pub version: Option<Version>,
}

impl PublishRequest {
    /// A component alone.
    #[must_use]
    pub fn new(component: Vec<u8>) -> Self {
        Self { component, ..Self::default() }
    }
}

/// What was published.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Published {
    /// The release.
    pub release: Release,
    /// Whether it was there before, the same to the byte.
    pub already: bool,
    /// What the publisher should know.
    pub warnings: Vec<String>,
}

/// Why something is not published. Nothing was written that counts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The bytes are no component.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The manifest means nothing.
    #[error("the manifest is wrong: {0}")]
    Manifest(#[from] crate::manifest::ManifestError),
    /// The WIT text means nothing, or something else than the component.
    #[error(transparent)]
    Wit(#[from] WitError),
    /// Nothing says what it is called.
    #[error("the component does not say its {what}")]
    Unnamed {
        /// `name` or `version`.
        what: &'static str,
    },
    /// What the component calls itself is no name here.
    #[error("the component calls itself `{given}`")]
    Name {
        /// What it calls itself.
        given: String,
        /// Why that is no name.
        source: NameError,
    },
    /// Manifest and caller say different things.
    #[error("the manifest says {what} `{manifest}`, and `{given}` was asked for")]
    Conflict {
        /// `name` or `version`.
        what: &'static str,
        /// What the manifest says.
        manifest: String,
        /// What was asked for.
        given: String,
    },
    /// A version has build metadata.
    #[error("the version `{0}` has build metadata: that would be a second release of one version")]
    BuildMetadata(Version),
    /// The version exists, and is something else.
    #[error("`{name}@{version}` exists with other bytes: its {parts} differ")]
    Exists {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
        /// Which parts differ, in words.
        parts: String,
    },
    /// The registry cannot be read or written.
    #[error(transparent)]
    Registry(#[from] Error),
}

impl PublishError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Component(error) => error.hint(),
            Self::Wit(error) => error.hint(),
            Self::Registry(error) => error.hint(),
            Self::Unnamed { .. } | Self::Name { .. } => {
                Some("say it with `--name NAMESPACE:PACKAGE --version 1.0.0`, or in a `tool.toml` beside it")
            }
            Self::Conflict { .. } => Some("change the manifest, or leave the option out"),
            Self::BuildMetadata(_) => Some("leave out the `+…`"),
            Self::Exists { .. } => Some("a release never changes: publish under the next version"),
            Self::Manifest(_) => None,
        }
    }
}

impl Registry {
    /// Publishes a release: blobs first, durably, then the line of the index that names them. Of many at once, in
    /// this or other processes, exactly one makes a version.
    ///
    /// # Errors
    /// What does not pass, or a version that exists with other bytes. Publishing the same bytes again is fine.
    pub fn publish(&self, request: PublishRequest) -> Result<Published, PublishError> {
        let component = Component::read(&request.component)?;
        let manifest = request.manifest.as_deref().map(Manifest::parse).transpose()?;
        let (name, version) = identity(&request, manifest.as_ref(), &component)?;
        if !version.build.is_empty() {
            return Err(PublishError::BuildMetadata(version));
        }
        let mut warnings = Vec::new();
        let wit = match &request.wit {
            Some(text) => {
                let wit = Wit::parse(text)?;
                wit.check(&component)?;
                let package = wit.package();
                if format!("{}:{}", package.namespace, package.name) != name.as_str() {
                    warnings.push(format!("the WIT package is called `{package}`, and the release `{name}`"));
                }
                text.clone()
            }
            None => print_component(&component)?,
        };
        let manifest = request.manifest.unwrap_or_else(|| described(&name, &version, &component));
        let parts = Parts { component: &request.component, wit: &wit, manifest: &manifest, readme: request.readme.as_deref() };
        let (release, already) = self.write(name, version, &parts)?;
        Ok(Published { release, already, warnings })
    }

    fn write(&self, name: PackageName, version: Version, parts: &Parts<'_>) -> Result<(Release, bool), PublishError> {
        let lock = self.store.lock()?;
        let index = self.index()?;
        if let Some(release) = index.release(&name, &version) {
            let differing = parts.differing(release);
            if !differing.is_empty() {
                return Err(PublishError::Exists { name, version, parts: differing.join(" and ") });
            }
            // The same again: what was damaged since is put right.
            for bytes in parts.bytes() {
                lock.write(bytes)?;
            }
            return Ok((release.clone(), true));
        }
        let change = Change::Publish {
            name: name.clone(),
            version: version.clone(),
            component: lock.write(parts.component)?,
            wit: lock.write(parts.wit.as_bytes())?,
            manifest: lock.write(parts.manifest.as_bytes())?,
            readme: parts.readme.map(|readme| lock.write(readme.as_bytes())).transpose()?,
        };
        let line = index.line(change, SystemTime::now());
        lock.append(index.end(), &line)?;
        drop(index);
        let index = self.index()?;
        let release = index.release(&name, &version).cloned();
        let missing = || Error::Index {
            path: self.store.index(),
            line: 0,
            problem: "the line that was just written is not there".into(),
        };
        Ok((release.ok_or_else(missing)?, false))
    }
}

/// The bytes of a release.
struct Parts<'a> {
    component: &'a [u8],
    wit: &'a str,
    manifest: &'a str,
    readme: Option<&'a str>,
}

impl Parts<'_> {
    fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        let texts = [Some(self.wit), Some(self.manifest), self.readme];
        std::iter::once(self.component).chain(texts.into_iter().flatten().map(str::as_bytes))
    }

    /// Which parts are not those of a release. The readme may change with the next release, and is not compared.
    fn differing(&self, release: &Release) -> Vec<&'static str> {
        use crate::store::Blob;
        let parts = [
            ("component", Blob::of(self.component) == release.component),
            ("WIT text", Blob::of(self.wit.as_bytes()) == release.wit),
            ("manifest", Blob::of(self.manifest.as_bytes()) == release.manifest),
        ];
        parts.into_iter().filter(|(_, same)| !same).map(|(part, _)| part).collect()
    }
}

/// What the release is called: what the caller says, what the manifest says, what the component says.
fn identity(
    request: &PublishRequest,
    manifest: Option<&Manifest>,
    component: &Component,
) -> Result<(PackageName, Version), PublishError> {
    if let Some(manifest) = manifest {
        let (name, version) = (manifest.name.clone(), manifest.version.clone());
        let conflict = |what, manifest: String, given: String| PublishError::Conflict { what, manifest, given };
        return match (&request.name, &request.version) {
            (Some(given), _) if *given != name => Err(conflict("name", name.to_string(), given.to_string())),
            (_, Some(given)) if *given != version => Err(conflict("version", version.to_string(), given.to_string())),
            _ => Ok((name, version)),
        };
    }
    let exported = exported_package(component);
    let name = match (&request.name, &exported) {
        (Some(name), _) => name.clone(),
        (None, Some(package)) => {
            let given = format!("{}:{}", package.namespace, package.name);
            given.parse().map_err(|source| PublishError::Name { given, source })?
        }
        (None, None) => return Err(PublishError::Unnamed { what: "name" }),
    };
    let about = component.about.version.as_deref().and_then(|version| version.parse().ok());
    let version = request.version.clone().or_else(|| exported?.version.clone()).or(about);
    Ok((name, version.ok_or(PublishError::Unnamed { what: "version" })?))
}

/// The package of the interfaces that a component exports, if it is one package and not the decoder's own.
fn exported_package(component: &Component) -> Option<&wit_parser::PackageName> {
    let resolve = &component.resolve;
    let mut found = None;
    for item in resolve.worlds[component.world].exports.values() {
        let wit_parser::WorldItem::Interface { id, .. } = item else { continue };
        let Some(package) = resolve.interfaces[*id].package else { continue };
        let name = &resolve.packages[package].name;
        if name.namespace == "root" || found.is_some_and(|other| other != name) {
            return None;
        }
        found = Some(name);
    }
    found
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
    table.to_string()
}
