//! What may be published, and how: everything is checked before anything is written, and written before it is named.

mod checked;

use semver::Version;

use self::checked::Checked;
use crate::{
    component::Component,
    error::Error,
    index::{Change, Release},
    name::{PackageName, ReleaseName},
    oci::Origin,
    refusal::PublishError,
    registry::Registry,
    signature::PublicKey,
    store::{Blob, Lock},
    wit::{self, Shape, Wit, compat},
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

/// Whether a release holds these bytes.
fn holds(release: &Release, bytes: &[u8]) -> bool {
    let blob = Blob::of(bytes);
    [release.component, release.wit, release.manifest].contains(&blob) || release.readme == Some(blob)
}
