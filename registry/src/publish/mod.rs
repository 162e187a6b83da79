//! Publishing: everything is checked before anything is written, and written before the index names it.

mod checked_request;

use semver::Version;

use self::checked_request::CheckedRequest;
use crate::{
    component::Component,
    error::Error,
    index::{Release, ReleaseChange},
    key::PublicKey,
    name::{PackageName, ReleaseName},
    oci::Origin,
    publish_error::PublishError,
    registry::Registry,
    store::{Blob, WriteLock},
    wit::{self, Shape, WitText, compat},
};

/// Largest readme in bytes: text for people, without its pictures.
pub const MAX_README: usize = 1 << 20;

/// Request to publish a release.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PublishRequest {
    /// Bytes of the component, or of a core module that is a program (`wasm32-wasip1`), which is converted to a
    /// component.
    pub component: Vec<u8>,
    /// Text of the manifest. If `None`, name and version come from the component, or from `name` and `version`.
    pub manifest: Option<String>,
    /// WIT text with doc comments. If `None`, the text that `tollhouse build` wrote into the component, else one
    /// printed from the component, without doc comments.
    pub wit: Option<String>,
    /// Text of the readme.
    pub readme: Option<String>,
    /// Name that replaces the component's own. A manifest must have the same.
    pub name: Option<PackageName>,
    /// Version that replaces the component's own. A manifest must have the same.
    pub version: Option<Version>,
    /// True to allow breaking changes to a release that SemVer calls compatible. The index then records that.
    pub allow_breaking: bool,
    /// Signatures that came with the release. If one does not match it exactly, the request is refused.
    pub signatures: Vec<GivenSignature>,
    /// Origin of a pulled release.
    pub origin: Option<Origin>,
}

/// Unverified signature from elsewhere.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GivenSignature {
    /// Claimed key of the signature.
    pub key: PublicKey,
    /// Bytes of the signature.
    pub bytes: Vec<u8>,
}

impl PublishRequest {
    /// Creates a request for a component alone.
    #[must_use]
    pub fn new(component: Vec<u8>) -> Self {
        Self { component, ..Self::default() }
    }

    /// Checks everything that can be checked without a registry: all but the relation to other releases.
    ///
    /// # Errors
    /// Any error that [`Registry::publish`] would return.
    pub fn check(&self) -> Result<(), PublishError> {
        CheckedRequest::new(self.clone()).map(drop)
    }
}

/// Result of a publish.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Published {
    /// Release that was published.
    pub release: Release,
    /// True if it was published before, so that nothing changed, except that damaged files were repaired.
    pub already: bool,
    /// Warnings to the publisher.
    pub warnings: Vec<String>,
}

impl Registry {
    /// Publishes a release: blobs first, durably, then the line of the index that names them. If several publish a
    /// version at once, in this or other processes, exactly one succeeds.
    ///
    /// # Errors
    /// If a check fails, or the version exists with other bytes. Publishing the same again succeeds: parts that the
    /// request leaves out may have any content in the existing release.
    pub fn publish(&self, request: PublishRequest) -> Result<Published, PublishError> {
        let checked = CheckedRequest::new(request)?;
        let lock = self.store.lock()?;
        let existing = self.settled_index()?.index.release(&checked.name, &checked.version).cloned();
        let mut warnings = checked.warnings.clone();
        let breaking = existing.is_none() && self.breaks_or_intrudes(&checked, &mut warnings)?;
        if let Some(release) = existing {
            checked.compare(&release)?;
            for bytes in checked.parts() {
                // Files that were damaged since are repaired. Parts that the release does not have are not added.
                if holds(&release, bytes) {
                    lock.write(bytes)?;
                }
            }
            if checked.readme.as_deref().is_some_and(|readme| release.readme != Some(Blob::of(readme.as_bytes()))) {
                warnings.push("the readme differs from the published one, which is kept".into());
            }
            let release = self.add_signatures(&lock, release, &checked.signatures)?;
            return Ok(Published { release, already: true, warnings });
        }
        let change = ReleaseChange::Publish {
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

    /// Adds the verified signatures that came with a release to the index, unless their keys have signed it already.
    fn add_signatures(
        &self,
        lock: &WriteLock<'_>,
        release: Release,
        signatures: &[GivenSignature],
    ) -> Result<Release, Error> {
        let mut release = release;
        for GivenSignature { key, bytes } in signatures {
            if self.verify_signature(&release, key).is_err() {
                let ReleaseName { name, version } = release.full_name();
                let signature = lock.write(bytes)?;
                let change = ReleaseChange::Sign { name: name.clone(), version: version.clone(), key: *key, signature };
                release = self.append(lock, &name, &version, change)?;
            }
        }
        Ok(release)
    }

    /// Makes all checks of [`publish`](Self::publish), and writes nothing.
    ///
    /// # Errors
    /// Any error that [`publish`](Self::publish) would return.
    pub fn check(&self, request: PublishRequest) -> Result<Checkup, PublishError> {
        let checked = CheckedRequest::new(request)?;
        let existing = self.release(&checked.name, &checked.version)?;
        let mut warnings = checked.warnings.clone();
        let breaking = match &existing {
            Some(release) => {
                checked.compare(release)?;
                release.breaking
            }
            None => self.breaks_or_intrudes(&checked, &mut warnings)?,
        };
        let CheckedRequest { name, version, component, .. } = checked;
        let component = Blob::of(&component);
        let release = ReleaseName { name, version };
        Ok(Checkup { release, component, already: existing.is_some(), breaking, warnings })
    }

    /// Checks a new release against those of its package. Returns true if it breaks an earlier one.
    fn breaks_or_intrudes(&self, checked: &CheckedRequest, warnings: &mut Vec<String>) -> Result<bool, PublishError> {
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

    /// Returns true if it breaks the highest earlier release that is not yanked and that SemVer calls compatible.
    fn breaks(&self, checked: &CheckedRequest, warnings: &mut Vec<String>) -> Result<bool, PublishError> {
        let listed = self.list()?;
        warnings.extend(checked.absent(&listed));
        let releases: Vec<Release> =
            listed.into_iter().filter(|release| release.name == checked.name && !release.yanked).collect();
        // The list begins with the newest.
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
            warnings.push(format!("it breaks `{}`: {}", earlier.full_name(), differences.join("; ")));
            return Ok(true);
        }
        let highest = releases.iter().map(|release| &release.version).max().unwrap_or(&checked.version);
        let next = compat::next_breaking(highest.max(&checked.version));
        Err(PublishError::Breaks {
            name: checked.name.clone(),
            version: checked.version.clone(),
            earlier: earlier.version.clone(),
            differences,
            hint: format!(
                "publish it as `{next}`, or undo the changes; `--allow-breaking` publishes it and records that"
            ),
        })
    }

    /// Returns the exports of a release. Its WIT text was found to fit when it was published; which of several worlds
    /// fits, only the component tells.
    fn exports(&self, release: &Release) -> Result<Shape, PublishError> {
        match WitText::parse(&self.load_wit(release)?)?.exports() {
            Some(exports) => Ok(exports),
            None => Ok(wit::exports(&Component::read(&self.load_component(release)?)?)?),
        }
    }
}

/// Result of a dry run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checkup {
    /// Name and version of the release.
    pub release: ReleaseName,
    /// Blob of the component.
    pub component: Blob,
    /// True if the release exists already.
    pub already: bool,
    /// True if it breaks an earlier release.
    pub breaking: bool,
    /// Warnings to the publisher.
    pub warnings: Vec<String>,
}

/// Returns true if a release has a blob with these bytes.
fn holds(release: &Release, bytes: &[u8]) -> bool {
    let blob = Blob::of(bytes);
    [release.component, release.wit, release.manifest].contains(&blob) || release.readme == Some(blob)
}
