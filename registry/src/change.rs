//! What is said of a release after it was published: yanked, deprecated, signed. Each is a line of the index, written as
//! that of a publish is.

use std::time::SystemTime;

use semver::Version;

use crate::{
    error::{Error, ResolveError},
    index::{Change, MAX_MESSAGE, Release, Signature, check_message},
    name::{PackageName, ReleaseName, Requirement},
    registry::Registry,
    signature::{PrivateKey, PublicKey, SignatureError},
    store::{Blob, Lock},
};

/// What came of a change.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Changed {
    /// The release as it is now.
    pub release: Release,
    /// Whether it was so before: then nothing was written.
    pub already: bool,
}

/// Why a release is not changed. Nothing was written that counts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// There is no such release.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A deprecation says nothing, or too much.
    #[error("the message of a deprecation has 1 to {MAX_MESSAGE} bytes and no control characters")]
    Message,
    /// What would be signed is not what was published.
    #[error(transparent)]
    Registry(#[from] Error),
}

impl ChangeError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Resolve(error) => error.hint(),
            Self::Registry(error) => error.hint(),
            Self::Message => Some("say in a sentence why, and what to use instead"),
        }
    }
}

impl Registry {
    /// Takes a release back, or puts it back in its place: what is yanked is not resolved any more, and who has pinned it
    /// still gets it.
    ///
    /// # Errors
    /// If there is no such release, or the index cannot be written.
    pub fn yank(&self, release: &ReleaseName, yanked: bool) -> Result<Changed, ChangeError> {
        self.change(release, |found, _| {
            let ReleaseName { name, version } = release.clone();
            let change = if yanked { Change::Yank { name, version } } else { Change::Unyank { name, version } };
            Ok((found.yanked != yanked).then_some(change))
        })
    }

    /// Tells the users of a release why to use something else, which may be named. None: it is deprecated no more.
    ///
    /// # Errors
    /// As [`Registry::yank`]; if the message is empty, too long, or more than a line.
    pub fn deprecate(
        &self,
        release: &ReleaseName,
        why: Option<(String, Option<Requirement>)>,
    ) -> Result<Changed, ChangeError> {
        if why.as_ref().is_some_and(|(message, _)| check_message(message).is_err()) {
            return Err(ChangeError::Message);
        }
        self.change(release, |found, _| {
            let ReleaseName { name, version } = release.clone();
            let same = found.deprecated.as_ref().map(|it| (&it.message, it.replacement.as_ref()))
                == why.as_ref().map(|(message, replacement)| (message, replacement.as_ref()));
            let (message, replacement) = why.map_or((None, None), |(message, other)| (Some(message), other));
            Ok((!same).then_some(Change::Deprecate { name, version, message, replacement }))
        })
    }

    /// Signs a release: its name, its version, and the digests of component, WIT and manifest. They are read first, and
    /// must be what was published.
    ///
    /// # Errors
    /// As [`Registry::yank`]; if a part of the release is missing or was altered.
    pub fn sign(&self, release: &ReleaseName, key: &PrivateKey) -> Result<Changed, ChangeError> {
        self.change(release, |found, lock| {
            self.load_component(found)?;
            self.load_wit(found)?;
            self.load_manifest(found)?;
            let ReleaseName { name, version } = release.clone();
            let (signature, key) = (key.sign(found), key.public());
            let named = found.signatures.iter().any(|own| own.key == key && own.signature == Blob::of(&signature));
            // Also what is named already: a damaged file is put right.
            let signature = lock.write(&signature)?;
            Ok((!named).then_some(Change::Sign { name, version, key, signature }))
        })
    }

    /// Checks that a key has signed a release.
    ///
    /// # Errors
    /// If it has not, or its signature is missing, was altered, or is of something else.
    pub fn verify_signature(&self, release: &Release, key: &PublicKey) -> Result<(), SignatureError> {
        let full = release.full_name();
        let Some(named) = release.signatures.iter().find(|signature| signature.key == *key) else {
            return Err(SignatureError::Unsigned { release: full, key: *key });
        };
        let signature = self.load_signature(release, named)?;
        if key.has_signed(release, &signature) {
            return Ok(());
        }
        Err(SignatureError::Wrong { release: full, key: *key })
    }

    /// The bytes of a signature, as the index names them.
    pub(crate) fn load_signature(&self, release: &Release, signature: &Signature) -> Result<Vec<u8>, Error> {
        let what = || format!("signature of `{}` by `{}`", release.full_name(), signature.key);
        self.store.read(&signature.signature, what)
    }

    /// Appends what `make` makes of a release, under the lock; nothing, if that is nothing.
    fn change(
        &self,
        release: &ReleaseName,
        make: impl FnOnce(&Release, &Lock<'_>) -> Result<Option<Change>, ChangeError>,
    ) -> Result<Changed, ChangeError> {
        // Without a look first, asking for what is not there would make a directory.
        self.find(release)?;
        let lock = self.store.lock()?;
        let found = self.find(release)?;
        let Some(change) = make(&found, &lock)? else {
            return Ok(Changed { release: found, already: true });
        };
        let release = self.append(&lock, &release.name, &release.version, change)?;
        Ok(Changed { release, already: false })
    }

    /// Appends a line, and gives the release that it is of as it then is.
    pub(crate) fn append(
        &self,
        lock: &Lock<'_>,
        name: &PackageName,
        version: &Version,
        change: Change,
    ) -> Result<Release, Error> {
        let cached = self.settled_index()?;
        let line = cached.index.line(change, SystemTime::now());
        lock.append(cached.index.end(), &line)?;
        drop(cached);
        let found = self.settled_index()?.index.release(name, version).cloned();
        found.ok_or_else(|| self.lost())
    }
}
