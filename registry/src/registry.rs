//! A registry's directory: what is in it, and bytes that are checked each time they are read.
//! What may be put in is decided in `publish`.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use semver::VersionReq;

use crate::{
    error::{Error, ResolveError},
    index::{Damage, Index, Release},
    manifest::Manifest,
    name::PackageName,
    store::{Blob, Store},
};

/// A release with its texts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Shown {
    /// The release.
    pub release: Release,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its WIT text.
    pub wit: String,
    /// Its readme.
    pub readme: Option<String>,
    /// All releases of the package, newest version first.
    pub versions: Vec<Release>,
}

/// A registry. Every method can be called from many threads, and the directory used by many processes.
#[derive(Debug)]
pub struct Registry {
    pub(crate) store: Store,
    cached: Mutex<Cached>,
}

impl Registry {
    /// Opens a registry. A directory that does not exist is an empty registry; the first publish makes it.
    ///
    /// # Errors
    /// If the path is something else than a directory, or its index was altered.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        if path.exists() && !path.is_dir() {
            return Err(Error::NotADirectory { path });
        }
        let registry = Self { store: Store::new(path), cached: Mutex::default() };
        drop(registry.index()?);
        Ok(registry)
    }

    /// All releases, by name, newest version first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn list(&self) -> Result<Vec<Release>, Error> {
        let cached = self.index()?;
        Ok(cached.index.packages().values().flat_map(|versions| versions.values().rev().cloned()).collect())
    }

    /// Of each package the release that a requirement of `*` resolves to, by name. A package without one is left out.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn latest(&self) -> Result<Vec<Release>, Error> {
        let cached = self.index()?;
        let newest = |versions: &_| highest(versions, &VersionReq::STAR).cloned();
        Ok(cached.index.packages().values().filter_map(newest).collect())
    }

    /// The highest release of a package that fits and is not yanked.
    ///
    /// # Errors
    /// If there is none: what there is instead.
    pub fn resolve(&self, name: &PackageName, wanted: &VersionReq) -> Result<Release, ResolveError> {
        let cached = self.index()?;
        let Some(versions) = cached.index.packages().get(name) else {
            let nearest = nearest(name, cached.index.packages().keys());
            let packages = cached.index.packages().len();
            return Err(ResolveError::UnknownPackage { name: name.clone(), nearest, packages });
        };
        highest(versions, wanted).cloned().ok_or_else(|| ResolveError::NoRelease {
            name: name.clone(),
            wanted: wanted.clone(),
            available: versions.values().rev().map(|release| (release.version.clone(), release.yanked)).collect(),
        })
    }

    /// Everything about the release that [`resolve`](Self::resolve) gives, but its component.
    ///
    /// # Errors
    /// If there is none, or its blobs are missing or were altered.
    pub fn show(&self, name: &PackageName, wanted: &VersionReq) -> Result<Shown, ResolveError> {
        let release = self.resolve(name, wanted)?;
        let versions = match self.index()?.index.packages().get(name) {
            Some(versions) => versions.values().rev().cloned().collect(),
            // The index was exchanged for another one since.
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

    /// The component of a release.
    ///
    /// # Errors
    /// If its blob is missing or was altered.
    pub fn load_component(&self, release: &Release) -> Result<Vec<u8>, Error> {
        self.load(release, &release.component, "component")
    }

    /// The WIT text of a release.
    ///
    /// # Errors
    /// If its blob is missing or was altered.
    pub fn load_wit(&self, release: &Release) -> Result<String, Error> {
        self.load_text(release, &release.wit, "WIT text")
    }

    /// The manifest of a release.
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

    /// The readme of a release, if it has one.
    ///
    /// # Errors
    /// If its blob is missing or was altered.
    pub fn load_readme(&self, release: &Release) -> Result<Option<String>, Error> {
        release.readme.as_ref().map(|blob| self.load_text(release, blob, "readme")).transpose()
    }

    fn load(&self, release: &Release, blob: &Blob, part: &str) -> Result<Vec<u8>, Error> {
        self.store.read(blob, || described(release, part))
    }

    fn load_text(&self, release: &Release, blob: &Blob, part: &str) -> Result<String, Error> {
        String::from_utf8(self.load(release, blob, part)?).map_err(|error| Error::Unreadable {
            what: described(release, part),
            digest: blob.digest,
            problem: error.to_string(),
        })
    }

    /// The index as it is now.
    ///
    /// Reading takes no lock. A writer that cuts off a torn line and appends its own may so be seen half way, which
    /// looks like damage: what looks damaged is read once more while nobody writes.
    pub(crate) fn index(&self) -> Result<MutexGuard<'_, Cached>, Error> {
        let looks_damaged = {
            // An index that a panic left half read would fail its chain, and be read anew.
            let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
            match cached.refresh(&self.store) {
                Ok(()) => return Ok(cached),
                Err(error @ Error::Index { .. }) => error,
                Err(error) => return Err(error),
            }
        };
        // The mutex is free while this waits: a writer of this process holds the lock when it asks for the mutex.
        match self.store.lock_shared()? {
            None => Err(looks_damaged),
            Some(_lock) => self.settled_index(),
        }
    }

    /// The index as it is now, for one who holds the lock.
    pub(crate) fn settled_index(&self) -> Result<MutexGuard<'_, Cached>, Error> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.refresh(&self.store)?;
        Ok(cached)
    }
}

/// The index as it was last read.
#[derive(Debug, Default)]
pub(crate) struct Cached {
    pub(crate) index: Index,
    /// Length and time of the file then.
    stamp: Option<(u64, Option<SystemTime>)>,
}

impl Cached {
    /// Brings it up to date: nothing is read of a file that has not changed, and only the end of one that has grown.
    fn refresh(&mut self, store: &Store) -> Result<(), Error> {
        let path = store.index();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self = Self::default();
                return Ok(());
            }
            Err(error) => return Err(Error::io("open", &path)(error)),
        };
        let metadata = file.metadata().map_err(Error::io("look at", &path))?;
        // Some file systems keep no times. The length then has to do.
        let stamp = (metadata.len(), metadata.modified().ok());
        if self.stamp == Some(stamp) {
            return Ok(());
        }
        let grown = self.stamp.is_some_and(|(length, _)| length < stamp.0);
        if !grown {
            *self = Self::default();
        }
        let mut bytes = Vec::new();
        let read = file.seek(SeekFrom::Start(self.index.end())).and_then(|_| file.read_to_end(&mut bytes));
        read.map_err(Error::io("read", &path))?;
        match self.index.read(&bytes) {
            Ok(()) => {
                self.stamp = Some(stamp);
                Ok(())
            }
            Err(damage) => {
                *self = Self::default();
                Err(match damage {
                    Damage::Altered { line, problem } => Error::Index { path, line, problem },
                    Damage::Newer { line, what } => Error::Newer { path, line, what },
                })
            }
        }
    }
}

/// The highest version that fits and is not yanked.
fn highest<'a>(
    versions: &'a std::collections::BTreeMap<semver::Version, Release>,
    wanted: &VersionReq,
) -> Option<&'a Release> {
    versions.values().rev().find(|release| !release.yanked && wanted.matches(&release.version))
}

/// The name that someone may have meant.
fn nearest<'a>(wanted: &PackageName, names: impl Iterator<Item = &'a PackageName>) -> Option<PackageName> {
    let distance = |other: &PackageName| {
        // The right package of another namespace is nearer than any misspelling of both.
        if other.package() == wanted.package() { 1 } else { strsim::osa_distance(wanted.as_str(), other.as_str()) }
    };
    // A third of the letters wrong, and it is another word.
    let similar = names.map(|other| (distance(other), other)).filter(|(far, other)| far * 3 <= other.as_str().len());
    similar.min_by_key(|(far, _)| *far).map(|(_, other)| other.clone())
}

fn described(release: &Release, part: &str) -> String {
    format!("{part} of `{}@{}`", release.name, release.version)
}
