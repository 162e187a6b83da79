//! What may be published, and how: everything is checked before anything is written, and written before it is named.

use semver::Version;

use crate::{
    asks,
    component::{Component, ComponentError, adapted},
    digest::Digest,
    error::Error,
    identity,
    index::{Change, Release},
    manifest::{DefaultInterface, Manifest, ManifestError},
    name::{NameError, PackageName, ReleaseName},
    oci::{Origin, Repository},
    registry::Registry,
    signature::{PublicKey, Statement},
    store::{Blob, Lock},
    wit::{self, Shape, Wit, WitError, compat, print_component},
};

/// Largest readme in bytes: text for people, without its pictures.
pub const MAX_README: usize = 1 << 20;

/// What to publish.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PublishRequest {
    /// The component's bytes; or those of a core module that is a program (`wasm32-wasip1`), which is made a component.
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
    /// Whether it may break what a release had with which SemVer calls it compatible. The index then says that it does.
    pub allow_breaking: bool,
    /// Signatures that came with it. One that is not of exactly this release refuses all.
    pub signatures: Vec<GivenSignature>,
    /// Where it was pulled from.
    pub origin: Option<Origin>,
}

/// A signature that came from elsewhere, and was not verified.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GivenSignature {
    /// Whose it is said to be.
    pub key: PublicKey,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl PublishRequest {
    /// A component alone.
    #[must_use]
    pub fn new(component: Vec<u8>) -> Self {
        Self { component, ..Self::default() }
    }

    /// Checks all that can be checked without a registry, which is all but how it stands to other releases.
    ///
    /// # Errors
    /// What [`Registry::publish`] would say.
    pub fn check(&self) -> Result<(), PublishError> {
        Checked::new(self.clone()).map(drop)
    }
}

/// What was published.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Published {
    /// The release.
    pub release: Release,
    /// Whether it was there before. Then nothing was changed, but that damaged files were put right.
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
    Manifest(#[from] ManifestError),
    /// The WIT text means nothing, or something else than the component.
    #[error(transparent)]
    Wit(#[from] WitError),
    /// More than [`MAX_README`].
    #[error("the readme has {size} bytes: at most {MAX_README} are allowed")]
    Readme {
        /// How many.
        size: usize,
    },
    /// The manifest's default interface is none that the component exports.
    #[error("the manifest's default interface is `{wanted}`, which the component does not export")]
    NoDefault {
        /// What the manifest says.
        wanted: String,
    },
    /// Nothing says what it is called, or several things say different things.
    #[error("the component does not say its {what}{}", candidates(found))]
    Unnamed {
        /// `name` or `version`.
        what: &'static str,
        /// The packages whose interfaces it exports, if there are several.
        found: Vec<String>,
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
    /// The manifest asks for what no import of the component could use.
    #[error("the manifest asks for {}", needless.iter().map(|(key, import)| format!("`{key}`, and the component does not import {import}")).collect::<Vec<_>>().join("; for "))]
    Needless {
        /// The keys under `[permissions]`, each with what it would take.
        needless: Vec<(&'static str, String)>,
    },
    /// Who uses an earlier release could not use this one, and its version says that they could.
    #[error("`{name}@{version}` breaks what `{earlier}` has: {}", differences.join("; "))]
    Breaks {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
        /// The version that it is said to be compatible with.
        earlier: Version,
        /// What is gone or another: a sentence each, a few at most.
        differences: Vec<String>,
        /// What to do about it.
        hint: String,
    },
    /// The version exists, and is something else.
    #[error("`{name}@{version}` exists with other bytes: another {parts}")]
    Exists {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
        /// Which parts differ, in words.
        parts: String,
    },
    /// Somebody else's registry has a new version of a package that is here, and nobody said that it is meant: what resolves
    /// the package would take it.
    #[error("`{repository}` calls it `{release}`, and the releases of that package that are here come from elsewhere")]
    Intruder {
        /// The release.
        release: ReleaseName,
        /// Where it was pulled from.
        repository: Repository,
    },
    /// A signature that came with it is one of something else.
    #[error(
        "the signature of `{release}` by `{key}` that came with it is wrong: it is of another release, of other bytes, or forged"
    )]
    Forged {
        /// The release.
        release: ReleaseName,
        /// The key.
        key: PublicKey,
    },
    /// The registry cannot be read or written.
    #[error(transparent)]
    Registry(#[from] Error),
}

impl PublishError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Breaks { hint, .. } => Some(hint),
            Self::Needless { .. } => Some("leave it out of `[permissions]`, or build the component that uses it"),
            Self::Component(error) => error.hint(),
            Self::Wit(error) => error.hint(),
            Self::Registry(error) => error.hint(),
            Self::Unnamed { .. } | Self::Name { .. } => {
                Some("say it with `--name NAMESPACE:PACKAGE --version 1.0.0`, or in a `tool.toml` beside it")
            }
            Self::Conflict { .. } => Some("change the manifest, or leave the option out"),
            Self::NoDefault { .. } => {
                Some("name an interface without its package, `none`, or leave `default` out of the manifest")
            }
            Self::BuildMetadata(_) => Some("leave out the `+…`"),
            Self::Exists { .. } => Some("a release never changes: publish under the next version"),
            Self::Intruder { .. } => {
                Some("`--name NAMESPACE:PACKAGE` says that this package, or another one, is meant")
            }
            Self::Forged { .. } => Some("nothing of it was used; ask who is said to have signed it"),
            Self::Manifest(_) | Self::Readme { .. } => None,
        }
    }
}

/// Names for a message.
fn candidates(found: &[String]) -> String {
    match found.split_last() {
        Some((last, [first, ..])) if found.len() == 2 => {
            format!(": it exports interfaces of `{first}` and `{last}`")
        }
        Some((last, [first, ..])) => format!(": it exports interfaces of `{first}`, … and `{last}`"),
        _ => String::new(),
    }
}

impl Registry {
    /// Publishes a release: blobs first, durably, then the line of the index that names them. Of many at once, in
    /// this or other processes, exactly one makes a version.
    ///
    /// # Errors
    /// What does not pass, or a version that exists with other bytes. Publishing the same again is fine: what the
    /// request leaves out may be anything in the release that is there.
    pub fn publish(&self, request: PublishRequest) -> Result<Published, PublishError> {
        let checked = Checked::new(request)?;
        let lock = self.store.lock()?;
        let existing = self.settled_index()?.index.release(&checked.name, &checked.version).cloned();
        let mut warnings = checked.warnings.clone();
        let breaking = existing.is_none() && self.breaks_or_intrudes(&checked, &mut warnings)?;
        if let Some(release) = existing {
            checked.compare(&release)?;
            for bytes in checked.parts() {
                // What was damaged since is put right. What the release does not hold is not added.
                if holds(&release, bytes) {
                    lock.write(bytes)?;
                }
            }
            if checked.readme.as_deref().is_some_and(|readme| release.readme != Some(Blob::of(readme.as_bytes()))) {
                warnings.push("the readme differs from the one that was published, which stays".into());
            }
            let release = self.add_signatures(&lock, release, &checked.signatures)?;
            return Ok(Published { release, already: true, warnings });
        }
        let change = Change::Publish {
            name: checked.name.clone(),
            version: checked.version.clone(),
            component: lock.write(&checked.component)?,
            wit: lock.write(checked.wit.text.as_bytes())?,
            manifest: lock.write(checked.manifest.text.as_bytes())?,
            readme: checked.readme.as_ref().map(|readme| lock.write(readme.as_bytes())).transpose()?,
            breaking,
            origin: checked.origin.clone(),
        };
        let release = self.append(&lock, &checked.name, &checked.version, change)?;
        let release = self.add_signatures(&lock, release, &checked.signatures)?;
        Ok(Published { release, already: false, warnings })
    }

    /// Names the signatures that came with a release, which were verified, unless its keys have signed it already.
    fn add_signatures(
        &self,
        lock: &Lock<'_>,
        release: Release,
        signatures: &[GivenSignature],
    ) -> Result<Release, Error> {
        let mut release = release;
        for GivenSignature { key, bytes } in signatures {
            if self.verify_signature(&release, key).is_err() {
                let ReleaseName { name, version } = release.full_name();
                let signature = lock.write(bytes)?;
                let change = Change::Sign { name: name.clone(), version: version.clone(), key: *key, signature };
                release = self.append(lock, &name, &version, change)?;
            }
        }
        Ok(release)
    }

    /// Checks all that [`publish`](Self::publish) checks, and writes nothing.
    ///
    /// # Errors
    /// What [`publish`](Self::publish) would say.
    pub fn check(&self, request: PublishRequest) -> Result<Checkup, PublishError> {
        let checked = Checked::new(request)?;
        let existing = self.release(&checked.name, &checked.version)?;
        let mut warnings = checked.warnings.clone();
        let breaking = match &existing {
            Some(release) => {
                checked.compare(release)?;
                release.breaking
            }
            None => self.breaks_or_intrudes(&checked, &mut warnings)?,
        };
        let Checked { name, version, component, .. } = checked;
        let component = Blob::of(&component);
        let release = ReleaseName { name, version };
        Ok(Checkup { release, component, already: existing.is_some(), breaking, warnings })
    }

    /// Checks how a new release stands to those of its package. Whether it breaks what one had.
    fn breaks_or_intrudes(&self, checked: &Checked, warnings: &mut Vec<String>) -> Result<bool, PublishError> {
        if let Some(origin) = checked.origin.as_ref().filter(|_| !checked.named) {
            let releases = self.list()?.into_iter().filter(|release| release.name == checked.name);
            let mut origins = releases.map(|release| release.origin.map(|origin| origin.repository)).peekable();
            if origins.peek().is_some() && !origins.any(|own| own.as_ref() == Some(&origin.repository)) {
                let release = ReleaseName { name: checked.name.clone(), version: checked.version.clone() };
                return Err(PublishError::Intruder { release, repository: origin.repository.clone() });
            }
        }
        self.breaks(checked, warnings)
    }

    /// Whether it breaks what a release had with which SemVer calls it compatible: the highest below it that is not
    /// yanked.
    fn breaks(&self, checked: &Checked, warnings: &mut Vec<String>) -> Result<bool, PublishError> {
        let releases: Vec<Release> =
            self.list()?.into_iter().filter(|release| release.name == checked.name && !release.yanked).collect();
        // Newest first.
        let earlier = releases.iter().find(|release| compat::is_compatible(&release.version, &checked.version));
        let Some(earlier) = earlier else { return Ok(false) };
        let mut differences = compat::breaks(&self.exports(earlier)?, &checked.exports);
        if differences.is_empty() {
            return Ok(false);
        }
        const SHOWN: usize = 5;
        if let Some(more @ 1..) = differences.len().checked_sub(SHOWN) {
            differences.truncate(SHOWN);
            differences.push(format!("and {more} more"));
        }
        if checked.allow_breaking {
            warnings.push(format!("it breaks what `{}` has: {}", earlier.full_name(), differences.join("; ")));
            return Ok(true);
        }
        let highest = releases.iter().map(|release| &release.version).max().unwrap_or(&checked.version);
        let next = compat::next_breaking(highest.max(&checked.version));
        Err(PublishError::Breaks {
            name: checked.name.clone(),
            version: checked.version.clone(),
            earlier: earlier.version.clone(),
            differences,
            hint: format!("publish it as `{next}`, or keep what is there; `--allow-breaking` publishes and records it"),
        })
    }

    /// What a release exports. Its WIT text was found to fit when it was published; which of several worlds did, only the
    /// component says.
    fn exports(&self, release: &Release) -> Result<Shape, PublishError> {
        match Wit::parse(&self.load_wit(release)?)?.exports() {
            Some(exports) => Ok(exports),
            None => Ok(wit::exports(&Component::read(&self.load_component(release)?)?)?),
        }
    }
}

/// What would be published.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checkup {
    /// Name and version.
    pub release: ReleaseName,
    /// The component.
    pub component: Blob,
    /// Whether it is there already.
    pub already: bool,
    /// Whether it breaks what an earlier release had.
    pub breaking: bool,
    /// What the publisher should know.
    pub warnings: Vec<String>,
}

/// A text of a release.
struct Text {
    text: String,
    /// Whether the publisher gave it, or it was made from the component.
    given: bool,
}

/// A request that passed all checks that need no registry.
struct Checked {
    name: PackageName,
    version: Version,
    component: Vec<u8>,
    wit: Text,
    manifest: Text,
    readme: Option<String>,
    exports: Shape,
    signatures: Vec<GivenSignature>,
    origin: Option<Origin>,
    /// Whether the caller said the name.
    named: bool,
    allow_breaking: bool,
    warnings: Vec<String>,
}

impl Checked {
    fn new(request: PublishRequest) -> Result<Self, PublishError> {
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
        let wit = request.wit.as_deref().map(Wit::parse).transpose()?;
        if let Some(wit) = &wit {
            wit.check(&component)?;
        }
        let (name, version) = identity::of(&request, manifest.as_ref(), wit.as_ref(), &component)?;
        let asked = manifest.as_ref().map(|manifest| manifest.permissions.clone()).unwrap_or_default();
        let needless = asks::needless(&asked, &component);
        if !needless.is_empty() {
            return Err(PublishError::Needless { needless });
        }
        let mut warnings: Vec<String> = asks::unasked(&asked, &component)
            .into_iter()
            .map(|key| {
                format!("the component imports `wasi:{key}`, and the manifest asks for no `{key}`: it is denied")
            })
            .collect();
        if let Some(package) = wit.as_ref().map(Wit::package)
            && identity::names_a_package(package)
            && format!("{}:{}", package.namespace, package.name) != name.as_str()
        {
            warnings.push(format!("the WIT package is called `{package}`, and the release `{name}`"));
        }
        let manifest = match request.manifest {
            Some(text) => Text { text, given: true },
            None => Text { text: described(&name, &version, &component), given: false },
        };
        let wit = match request.wit {
            Some(text) => Text { text, given: true },
            None => Text { text: print_component(&component)?, given: false },
        };
        let exports = wit::exports(&component)?;
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
    fn compare(&self, release: &Release) -> Result<(), PublishError> {
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

    /// The bytes of all parts, also of those that were made from the component.
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let texts = [Some(self.wit.text.as_str()), Some(self.manifest.text.as_str()), self.readme.as_deref()];
        std::iter::once(&self.component[..]).chain(texts.into_iter().flatten().map(str::as_bytes))
    }
}

/// Whether a release holds these bytes.
fn holds(release: &Release, bytes: &[u8]) -> bool {
    let blob = Blob::of(bytes);
    [release.component, release.wit, release.manifest].contains(&blob) || release.readme == Some(blob)
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
