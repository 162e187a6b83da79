//! The directory of a registry: reading its index and its content, which is checked each time. `publish` decides what
//! may be added.

use std::{
    collections::BTreeMap,
    io::{Read, Seek, SeekFrom},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use semver::{Comparator, Op, Version, VersionReq};

use crate::{
    digest::Digest,
    directory::AllowedWriters,
    error::{Error, ResolveError},
    index::{IndexDamage, Release, ReleaseIndex},
    manifest::Manifest,
    name::{PackageName, ReleaseName},
    store::{Blob, RegistryStore},
    wit::MAX_WIT,
};

/// Release with its texts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Shown {
    /// Release that is shown.
    pub release: Release,
    /// Manifest of the release.
    pub manifest: Manifest,
    /// WIT text of the release.
    pub wit: String,
    /// Readme of the release.
    pub readme: Option<String>,
    /// Releases of the package, newest version first.
    pub versions: Vec<Release>,
}

/// Handle of a registry. Every method can be called from many threads, and the directory can be used by many processes.
#[derive(Debug)]
pub struct Registry {
    pub(crate) store: RegistryStore,
    cached: Mutex<CachedIndex>,
}

impl Registry {
    /// Opens a registry. A directory that does not exist is an empty registry; the first publish creates it.
    ///
    /// # Errors
    /// If the path is not a directory, if other users can write it, or if its index was altered.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::unchecked(path).checked()
    }

    /// Opens a registry as [`open`](Self::open) does, without reading anything yet, so that a damaged registry can be
    /// examined.
    #[must_use]
    pub fn unchecked(path: impl Into<PathBuf>) -> Self {
        Self { store: RegistryStore::new(path.into()), cached: Mutex::default() }
    }

    /// Accepts a registry that other users can write too, if `trusted`: they can publish in it and rewrite its index.
    #[must_use]
    pub fn trusting_writers(mut self, trusted: bool) -> Self {
        self.store.writers = if trusted { AllowedWriters::Any } else { AllowedWriters::Own };
        self
    }

    /// Reads the index once, so that an unusable registry is reported early.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn checked(self) -> Result<Self, Error> {
        drop(self.index()?);
        Ok(self)
    }

    /// Lists all releases, by name, newest version first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn list(&self) -> Result<Vec<Release>, Error> {
        let cached = self.index()?;
        Ok(cached.index.packages().values().flat_map(|versions| versions.values().rev().cloned()).collect())
    }

    /// Lists the latest release of each package, by name: the one that `*` resolves to. A package without one is left
    /// out.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn latest(&self) -> Result<Vec<Release>, Error> {
        let cached = self.index()?;
        let newest = |versions: &_| highest(versions, &VersionReq::STAR).cloned();
        Ok(cached.index.packages().values().filter_map(newest).collect())
    }

    /// Returns the highest release of a package that satisfies the requirement and is not yanked.
    ///
    /// # Errors
    /// If there is none. The error lists the existing releases.
    pub fn resolve(&self, name: &PackageName, wanted: &VersionReq) -> Result<Release, ResolveError> {
        let cached = self.index()?;
        let Some(versions) = cached.index.packages().get(name) else { return Err(unknown(name, &cached)) };
        highest(versions, wanted).cloned().ok_or_else(|| no_release(name, wanted, versions))
    }

    /// Returns one release, even if it was yanked: for users who have pinned it.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn release(&self, name: &PackageName, version: &semver::Version) -> Result<Option<Release>, Error> {
        let cached = self.index()?;
        Ok(cached.index.release(name, version).cloned())
    }

    /// Returns the release of this name, even if it was yanked.
    ///
    /// # Errors
    /// If there is none. The error lists the existing releases.
    pub fn find(&self, wanted: &ReleaseName) -> Result<Release, ResolveError> {
        let ReleaseName { name, version } = wanted;
        if let Some(release) = self.release(name, version)? {
            return Ok(release);
        }
        let exact = Comparator {
            op: Op::Exact,
            major: version.major,
            minor: Some(version.minor),
            patch: Some(version.patch),
            pre: version.pre.clone(),
        };
        let wanted = VersionReq { comparators: vec![exact] };
        let cached = self.index()?;
        let Some(versions) = cached.index.packages().get(name) else { return Err(unknown(name, &cached)) };
        Err(no_release(name, &wanted, versions))
    }

    /// Returns everything about the release that [`resolve`](Self::resolve) returns, except its component.
    ///
    /// # Errors
    /// If there is none, or its blobs are missing or were altered.
    pub fn show(&self, name: &PackageName, wanted: &VersionReq) -> Result<Shown, ResolveError> {
        let release = self.resolve(name, wanted)?;
        let versions = match self.index()?.index.packages().get(name) {
            Some(versions) => versions.values().rev().cloned().collect(),
            // The index was replaced since.
            None => Vec::new(),
        };
        Ok(Shown {
            manifest: self.load_manifest(&release)?,
            wit: self.load_wit(&release)?,
            readme: self.load_readme(&release)?,
            release,
            versions,
        })
    }

    /// Loads the component of a release.
    ///
    /// # Errors
    /// If its blob is missing or was altered.
    pub fn load_component(&self, release: &Release) -> Result<Vec<u8>, Error> {
        self.load(release, &release.component, "component")
    }

    /// Loads the WIT text of a release.
    ///
    /// # Errors
    /// If its blob is missing or was altered.
    pub fn load_wit(&self, release: &Release) -> Result<String, Error> {
        self.load_text(release, &release.wit, "WIT text")
    }

    /// Loads the manifest of a release.
    ///
    /// # Errors
    /// If its blob is missing or was altered, or a later version of this program wrote it.
    pub fn load_manifest(&self, release: &Release) -> Result<Manifest, Error> {
        let text = self.load_text(release, &release.manifest, "manifest")?;
        Manifest::parse(&text).map_err(|error| Error::Unreadable {
            what: described(release, "manifest"),
            digest: release.manifest.digest,
            problem: error.to_string(),
        })
    }

    /// Loads the readme of a release, if it has one.
    ///
    /// # Errors
    /// If its blob is missing or was altered.
    pub fn load_readme(&self, release: &Release) -> Result<Option<String>, Error> {
        release.readme.as_ref().map(|blob| self.load_text(release, blob, "readme")).transpose()
    }

    /// Returns a text by its digest, whatever refers to it. Returns `None` if it is missing or damaged.
    #[must_use]
    pub fn text(&self, digest: &Digest) -> Option<String> {
        let most = u64::try_from(MAX_WIT).unwrap_or(u64::MAX);
        String::from_utf8(self.store.read_any(digest, most)?).ok()
    }

    fn load(&self, release: &Release, blob: &Blob, part: &str) -> Result<Vec<u8>, Error> {
        self.store.read(blob, || described(release, part))
    }

    pub(crate) fn load_text(&self, release: &Release, blob: &Blob, part: &str) -> Result<String, Error> {
        String::from_utf8(self.load(release, blob, part)?).map_err(|error| Error::Unreadable {
            what: described(release, part),
            digest: blob.digest,
            problem: error.to_string(),
        })
    }

    /// Returns the current index.
    ///
    /// Reading takes no lock. A writer that cuts off a torn line and appends its own may be seen in between, which
    /// looks like damage: so an index that looks damaged is read once more while nobody writes.
    pub(crate) fn index(&self) -> Result<MutexGuard<'_, CachedIndex>, Error> {
        let looks_damaged = {
            // After a panic the index may be half read: its chain would not fit, and it would be read again from its
            // start.
            let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
            match cached.refresh(&self.store) {
                Ok(()) => return Ok(cached),
                Err(error @ Error::Index { .. }) => error,
                Err(error) => return Err(error),
            }
        };
        // The mutex is released while this waits: a writer of this process holds the lock when it asks for the mutex.
        match self.store.lock_shared()? {
            None => Err(looks_damaged),
            Some(_lock) => self.settled_index(),
        }
    }

    /// Reads the whole index from its first byte: number of lines, and all releases.
    pub(crate) fn read_anew(&self) -> Result<FreshIndex, Error> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).stamp = None;
        let (lines, torn) = {
            let cached = self.index()?;
            let length = cached.stamp.map_or(0, |(length, _)| length);
            (cached.index.lines(), length.saturating_sub(cached.index.end()))
        };
        Ok(FreshIndex { lines, torn, releases: self.list()? })
    }

    /// Creates the error of a line that was just written and is missing.
    pub(crate) fn lost(&self) -> Error {
        let problem = "the line that was just written is missing".into();
        Error::Index { path: self.store.index(), line: 0, problem }
    }

    /// Returns the current index, for a caller that holds the lock.
    pub(crate) fn settled_index(&self) -> Result<MutexGuard<'_, CachedIndex>, Error> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.refresh(&self.store)?;
        Ok(cached)
    }
}

/// Index that was read from its first line.
pub(crate) struct FreshIndex {
    pub(crate) lines: u64,
    /// Number of bytes of an incomplete last line.
    pub(crate) torn: u64,
    pub(crate) releases: Vec<Release>,
}

/// Index as it was last read.
#[derive(Debug, Default)]
pub(crate) struct CachedIndex {
    pub(crate) index: ReleaseIndex,
    /// Length and modification time of the file at that time.
    stamp: Option<(u64, Option<SystemTime>)>,
}

impl CachedIndex {
    /// Updates the index: reads nothing of an unchanged file, and only the end of one that has grown.
    fn refresh(&mut self, store: &RegistryStore) -> Result<(), Error> {
        let path = store.index();
        let Some(mut file) = store.open_index()? else {
            *self = Self::default();
            return Ok(());
        };
        let metadata = file.metadata().map_err(Error::io("look at", &path))?;
        // Some file systems keep no times. The length alone has to do there.
        let stamp = (metadata.len(), metadata.modified().ok());
        if self.stamp == Some(stamp) {
            return Ok(());
        }
        let grown = self.stamp.is_some_and(|(length, _)| length < stamp.0);
        if !grown {
            *self = Self::default();
        }
        let mut bytes = Vec::new();
        let from = self.index.end();
        // No more than the length that was just determined.
        let rest = stamp.0.saturating_sub(from);
        let read = file.seek(SeekFrom::Start(from)).and_then(|_| file.take(rest).read_to_end(&mut bytes));
        read.map_err(Error::io("read", &path))?;
        match self.index.read(&bytes) {
            Ok(()) => {
                self.stamp = Some(stamp);
                Ok(())
            }
            Err(damage) => {
                *self = Self::default();
                Err(match damage {
                    IndexDamage::Altered { line, problem } => Error::Index { path, line, problem },
                    IndexDamage::Newer { line, what } => Error::Newer { path, line, what },
                })
            }
        }
    }
}

fn unknown(name: &PackageName, cached: &CachedIndex) -> ResolveError {
    let packages = cached.index.packages();
    let nearest = nearest(name, packages.keys());
    ResolveError::UnknownPackage { name: name.clone(), nearest, packages: packages.len() }
}

fn no_release(name: &PackageName, wanted: &VersionReq, versions: &BTreeMap<Version, Release>) -> ResolveError {
    let available = versions.values().rev().map(|release| (release.version.clone(), release.yanked)).collect();
    ResolveError::NoRelease { name: name.clone(), wanted: wanted.clone(), available }
}

/// Returns the highest version that satisfies the requirement and is not yanked.
fn highest<'a>(versions: &'a BTreeMap<Version, Release>, wanted: &VersionReq) -> Option<&'a Release> {
    versions.values().rev().find(|release| !release.yanked && wanted.matches(&release.version))
}

/// Returns the name that is most similar to the wanted one.
fn nearest<'a>(wanted: &PackageName, names: impl Iterator<Item = &'a PackageName>) -> Option<PackageName> {
    let distance = |other: &PackageName| {
        // The same package name in another namespace is closer than any misspelling of both.
        if other.package() == wanted.package() { 1 } else { strsim::osa_distance(wanted.as_str(), other.as_str()) }
    };
    // With more than a third of the letters wrong it is another word.
    let similar = names.map(|other| (distance(other), other)).filter(|(far, other)| far * 3 <= other.as_str().len());
    similar.min_by_key(|(far, _)| *far).map(|(_, other)| other.clone())
}

fn described(release: &Release, part: &str) -> String {
    format!("{part} of `{}@{}`", release.name, release.version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        publish::PublishRequest,
        testing::{CHARGES, component},
    };

    fn registry() -> (tempfile::TempDir, Registry) {
        let directory = tempfile::tempdir().expect("a directory");
        let registry = Registry::open(directory.path().join("registry")).expect("it opens");
        (directory, registry)
    }

    fn publish(registry: &Registry, name: &str, version: &str) {
        let mut request = PublishRequest::new(component(CHARGES));
        request.name = Some(name.parse().expect("a name"));
        request.version = Some(version.parse().expect("a version"));
        registry.publish(request).expect("it publishes");
    }

    fn resolve(registry: &Registry, requirement: &str) -> Result<String, ResolveError> {
        let requirement: crate::Requirement = requirement.parse().expect("a requirement");
        registry.resolve(&requirement.name, &requirement.versions).map(|release| release.version.to_string())
    }

    #[test]
    fn resolution_takes_the_highest_match_that_is_not_yanked() {
        let (_directory, registry) = registry();
        for version in ["1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "0.3.1", "0.3.0"] {
            publish(&registry, "a:b", version);
        }
        for (wanted, found) in
            [("a:b", "1.10.0"), ("a:b@<1.10", "1.9.0"), ("a:b@^0.3", "0.3.1"), ("a:b@=2.0.0-rc.1", "2.0.0-rc.1")]
        {
            assert_eq!(resolve(&registry, wanted).expect(wanted), found);
        }
        let newest = "a:b@1.10.0".parse().expect("a release");
        assert!(!registry.yank(&newest, true).expect("it yanks").already);
        assert!(registry.yank(&newest, true).expect("it is yanked").already);
        assert_eq!(resolve(&registry, "a:b").expect("another"), "1.9.0");
        let error = resolve(&registry, "a:b@^1.10").expect_err("yanked");
        assert_eq!(error.hint(), Some("the fitting releases were yanked; request another version"));
        assert!(error.to_string().contains("1.10.0 (yanked), 1.9.0, 1.0.0"), "{error}");
        registry.yank(&newest, false).expect("it unyanks");
        assert_eq!(resolve(&registry, "a:b").expect("it is back"), "1.10.0");
    }

    #[test]
    fn resolution_that_fails_hints_at_what_exists() {
        let (_directory, registry) = registry();
        let error = resolve(&registry, "acme:payments").expect_err("empty");
        assert_eq!(error.hint(), Some("the registry is empty: publish something first"));
        publish(&registry, "acme:payments", "1.2.0-rc.1");
        publish(&registry, "tollhouse:stats", "0.1.0");
        for (wanted, near) in
            [("acme:payment", Some("acme:payments")), ("my:stats", Some("tollhouse:stats")), ("x:unlike-any", None)]
        {
            let error = resolve(&registry, wanted).expect_err("not there");
            let ResolveError::UnknownPackage { nearest, .. } = error else { panic!("{error}") };
            assert_eq!(nearest.as_ref().map(PackageName::as_str), near, "{wanted}");
        }
        let error = resolve(&registry, "tollhouse:stats@^1").expect_err("no such version");
        assert_eq!(error.to_string(), "no release of `tollhouse:stats` fits `^1`: there is 0.1.0");
        let error = resolve(&registry, "acme:payments").expect_err("a pre-release only");
        assert!(error.hint().expect("a hint").contains("pre-release"));
    }

    #[test]
    fn registry_sees_releases_of_other_handles() {
        let (directory, one) = registry();
        let two = Registry::open(directory.path().join("registry")).expect("it opens");
        assert!(two.list().expect("it reads").is_empty());
        publish(&one, "a:b", "1.0.0");
        publish(&two, "a:b", "1.1.0");
        publish(&one, "a:c", "1.0.0");
        for registry in [&one, &two] {
            let listed = registry.list().expect("it reads");
            let listed: Vec<String> =
                listed.iter().map(|release| format!("{}@{}", release.name, release.version)).collect();
            assert_eq!(listed, ["a:b@1.1.0", "a:b@1.0.0", "a:c@1.0.0"]);
        }
    }

    #[test]
    fn registry_replaced_on_disk_is_read_anew() {
        let (directory, registry) = registry();
        publish(&registry, "a:b", "1.0.0");
        publish(&registry, "a:c", "1.0.0");
        std::fs::remove_dir_all(directory.path().join("registry")).expect("removed");
        assert!(registry.list().expect("it reads").is_empty());
        publish(&registry, "a:c", "1.0.0");
        assert_eq!(registry.list().expect("it reads").len(), 1);
    }
}
