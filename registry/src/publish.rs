//! What may be published, and how: everything is checked before anything is written, and written before it is named.

use semver::Version;

use crate::{
    asks,
    component::{Component, adapted, path_of_builder},
    digest::Digest,
    error::{Error, excerpt},
    given, identity,
    index::{Change, Release},
    manifest::{DefaultInterface, Manifest},
    name::{PackageName, ReleaseName},
    oci::Origin,
    refusal::PublishError,
    registry::Registry,
    signature::{PublicKey, Statement},
    store::{Blob, Lock},
    wit::{self, Shape, Wit, compat, print_component},
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
    /// The WIT text, with doc comments. None: the one that `tollhouse build` wrote into the component, or else it is
    /// printed from the component, without doc comments.
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
        let listed = self.list()?;
        warnings.extend(checked.absent(&listed));
        let releases: Vec<Release> =
            listed.into_iter().filter(|release| release.name == checked.name && !release.yanked).collect();
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
    /// The packages of other tools that it imports, each with the interface.
    tools: Vec<(String, String)>,
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
        let mut warnings: Vec<String> = asks::unasked(&asked, &component)
            .into_iter()
            .map(|key| {
                format!("the component imports `wasi:{key}`, and the manifest asks for no `{key}`: it is denied")
            })
            .collect();
        let trapping = given::trapping(&component).into_iter();
        warnings.extend(trapping.map(|import| {
            format!(
                "the component imports `{}`, which no host of Tollhouse gives: a call of it traps",
                excerpt(&import)
            )
        }));
        if let Some(package) = wit.as_ref().map(Wit::package)
            && identity::names_a_package(package)
            && format!("{}:{}", package.namespace, package.name) != name.as_str()
        {
            warnings.push(format!("the WIT package is called `{package}`, and the release `{name}`"));
        }
        if let Some(path) = path_of_builder(&request.component) {
            warnings.push(format!(
                "the component holds paths of the machine that built it (`{path}`), so elsewhere other bytes come of it: \
                 `tollhouse build` leaves them out, and so does `--remap-path-prefix` in RUSTFLAGS"
            ));
        }
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

    /// What to say of tools that it imports and that are not here. They may be where it runs.
    fn absent(&self, releases: &[Release]) -> impl Iterator<Item = String> {
        let absent = self.tools.iter().filter(|(package, _)| {
            package != self.name.as_str() && !releases.iter().any(|release| release.name.as_str() == package)
        });
        absent
            .map(|(package, import)| format!("the component imports `{import}`, and this registry has no `{package}`"))
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
    if let Some(authors) = &about.authors {
        table.insert("authors".into(), vec![authors.clone()].into());
    }
    table.to_string()
}
