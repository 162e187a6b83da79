//! A registry's directory: what is in it, and bytes that are checked each time they are read.
//! What may be put in is decided in `publish`.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use semver::VersionReq;

use crate::{
    error::{Error, ResolveError},
    index::{Damage, Index, Release},
    manifest::Manifest,
    name::PackageName,
    store::{Blob, Store},
};

/// A registry. Every method can be called from many threads, and the directory used by many processes.
#[derive(Debug)]
pub struct Registry {
    pub(crate) store: Store,
    index: Mutex<Index>,
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
        let registry = Self { store: Store::new(path), index: Mutex::default() };
        drop(registry.index()?);
        Ok(registry)
    }

    /// All releases, by name, newest version first.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn list(&self) -> Result<Vec<Release>, Error> {
        let index = self.index()?;
        Ok(index.packages().values().flat_map(|versions| versions.values().rev().cloned()).collect())
    }

    /// Of each package the release that a requirement of `*` resolves to, by name. A package without one is left out.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn latest(&self) -> Result<Vec<Release>, Error> {
        let index = self.index()?;
        let newest = |versions: &_| highest(versions, &VersionReq::STAR).cloned();
        Ok(index.packages().values().filter_map(newest).collect())
    }

    /// The highest release of a package that fits and is not yanked.
    ///
    /// # Errors
    /// If there is none: what there is instead.
    pub fn resolve(&self, name: &PackageName, wanted: &VersionReq) -> Result<Release, ResolveError> {
        let index = self.index()?;
        let Some(versions) = index.packages().get(name) else {
            let nearest = index
                .packages()
                .keys()
                .map(|other| (strsim::osa_distance(name.as_str(), other.as_str()), other))
                .filter(|(distance, other)| *distance <= other.as_str().len().max(6) / 3)
                .min_by_key(|(distance, _)| *distance)
                .map(|(_, other)| other.clone());
            let packages = index.packages().len();
            return Err(ResolveError::UnknownPackage { name: name.clone(), nearest, packages });
        };
        highest(versions, wanted).cloned().ok_or_else(|| ResolveError::NoRelease {
            name: name.clone(),
            wanted: wanted.clone(),
            available: versions.values().rev().map(|release| (release.version.clone(), release.yanked)).collect(),
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

    /// The index as it is now. What was read before is not read again.
    pub(crate) fn index(&self) -> Result<MutexGuard<'_, Index>, Error> {
        // An index that a panic left half read would fail its chain; it is begun again.
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.store.index();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *index = Index::default();
                return Ok(index);
            }
            Err(error) => return Err(Error::io("open", &path)(error)),
        };
        let length = file.metadata().map_err(Error::io("look at", &path))?.len();
        if length < index.end() {
            // Somebody put another index there.
            *index = Index::default();
        }
        if length > index.end() {
            let mut bytes = Vec::new();
            let read = file.seek(SeekFrom::Start(index.end())).and_then(|_| file.read_to_end(&mut bytes));
            read.map_err(Error::io("read", &path))?;
            if let Err(damage) = index.read(&bytes) {
                *index = Index::default();
                return Err(match damage {
                    Damage::Altered { line, problem } => Error::Index { path, line, problem },
                    Damage::Newer { line, what } => Error::Newer { path, line, what },
                });
            }
        }
        Ok(index)
    }
}

/// The highest version that fits and is not yanked.
fn highest<'a>(
    versions: &'a std::collections::BTreeMap<semver::Version, Release>,
    wanted: &VersionReq,
) -> Option<&'a Release> {
    versions.values().rev().find(|release| !release.yanked && wanted.matches(&release.version))
}

fn described(release: &Release, part: &str) -> String {
    format!("{part} of `{}@{}`", release.name, release.version)
}
