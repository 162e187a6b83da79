//! Changes of a release after it was published: yanked, deprecated, signed. Each is a line of the index, written the
//! way a publish is.

use std::time::SystemTime;

use semver::Version;

use crate::{
    PrivateKey, PublicKey,
    error::{Error, ResolveError},
    index::{MAX_MESSAGE, Release, ReleaseChange, Signature, check_message},
    name::{PackageName, ReleaseName, Requirement},
    registry::Registry,
    signature::{SignatureError, has_signed, sign},
    store::{Blob, WriteLock},
};

/// Result of a change.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Changed {
    /// The release after the change.
    pub release: Release,
    /// True if the release was in this state already, so that nothing was written.
    pub already: bool,
}

/// Reason why a release is not changed. Nothing took effect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The release does not exist.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The message of a deprecation is empty, too long, or has several lines.
    #[error("the message of a deprecation must have 1 to {MAX_MESSAGE} bytes and no control characters")]
    Message,
    /// The registry cannot be used, or the release is not as it was published.
    #[error(transparent)]
    Registry(#[from] Error),
}

impl ChangeError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Resolve(error) => error.hint(),
            Self::Registry(error) => error.hint(),
            Self::Message => Some("say in a sentence why, and what to use instead"),
        }
    }
}

impl Registry {
    /// Yanks a release, or undoes that. A yanked release is no longer resolved, but stays available to those who have
    /// pinned it.
    ///
    /// # Errors
    /// If there is no such release, or the index cannot be written.
    pub fn yank(&self, release: &ReleaseName, yanked: bool) -> Result<Changed, ChangeError> {
        self.change(release, |found, _| {
            let ReleaseName { name, version } = release.clone();
            let change =
                if yanked { ReleaseChange::Yank { name, version } } else { ReleaseChange::Unyank { name, version } };
            Ok((found.yanked != yanked).then_some(change))
        })
    }

    /// Deprecates a release with a message to its users, which may name a replacement, or undoes that with `None`.
    ///
    /// # Errors
    /// As [`Registry::yank`]; if the message is empty, too long, or has several lines.
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
            Ok((!same).then_some(ReleaseChange::Deprecate { name, version, message, replacement }))
        })
    }

    /// Signs a release: its name, its version, and the digests of component, WIT and manifest. These files are read
    /// first, and must be as they were published.
    ///
    /// # Errors
    /// As [`Registry::yank`]; if a part of the release is missing or was altered.
    pub fn sign(&self, release: &ReleaseName, key: &PrivateKey) -> Result<Changed, ChangeError> {
        self.change(release, |found, lock| {
            self.load_component(found)?;
            self.load_wit(found)?;
            self.load_manifest(found)?;
            let ReleaseName { name, version } = release.clone();
            let (signature, key) = (sign(key, found), key.public());
            let named = found.signatures.iter().any(|own| own.key == key && own.signature == Blob::of(&signature));
            // A signature that the index names already is written too, which repairs a damaged file.
            let signature = lock.write(&signature)?;
            Ok((!named).then_some(ReleaseChange::Sign { name, version, key, signature }))
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
        if has_signed(*key, release, &signature) {
            return Ok(());
        }
        Err(SignatureError::Wrong { release: full, key: *key })
    }

    /// Loads the bytes of a signature that the index names.
    pub(crate) fn load_signature(&self, release: &Release, signature: &Signature) -> Result<Vec<u8>, Error> {
        let what = || format!("signature of `{}` by `{}`", release.full_name(), signature.key);
        self.store.read(&signature.signature, what)
    }

    /// Appends the change that `make` returns for a release, under the lock. If it returns none, nothing is written.
    fn change(
        &self,
        release: &ReleaseName,
        make: impl FnOnce(&Release, &WriteLock<'_>) -> Result<Option<ReleaseChange>, ChangeError>,
    ) -> Result<Changed, ChangeError> {
        // Checked first, since taking the lock would create a directory for a registry that does not exist.
        self.find(release)?;
        let lock = self.store.lock()?;
        let found = self.find(release)?;
        let Some(change) = make(&found, &lock)? else {
            return Ok(Changed { release: found, already: true });
        };
        let release = self.append(&lock, &release.name, &release.version, change)?;
        Ok(Changed { release, already: false })
    }

    /// Appends a line to the index, and returns the changed release.
    pub(crate) fn append(
        &self,
        lock: &WriteLock<'_>,
        name: &PackageName,
        version: &Version,
        change: ReleaseChange,
    ) -> Result<Release, Error> {
        let cached = self.settled_index()?;
        let line = cached.index.line(change, SystemTime::now());
        lock.append(cached.index.end(), &line)?;
        drop(cached);
        let found = self.settled_index()?.index.release(name, version).cloned();
        found.ok_or_else(|| self.lost())
    }
}
