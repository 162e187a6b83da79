//! The packs of a directory: which ones are known, and reading from them.
//!
//! A process knows the packs that it has written or has looked for so far. Other processes add packs, and replace them
//! when they remove blobs. So a reader that does not find a blob looks for packs again, and an upload looks for them
//! itself before it relies on one: as long as it is alive, none is removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, MutexGuard, PoisonError};

use bytes::Bytes;

use super::durable::sync_directory;
use super::files::{BlobFiles, decode_verified};
use super::pack::{Pack, PackEntry};
use crate::{BlobError, BlobId};

/// Known packs of a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownPacks {
    packs: BTreeMap<BlobId, Arc<Pack>>,
    /// Names of the packs whose index cannot be read. Nobody knows what blobs they contain.
    damaged: BTreeSet<BlobId>,
}

impl KnownPacks {
    pub(super) fn packs(&self) -> impl Iterator<Item = &Arc<Pack>> {
        self.packs.values()
    }

    /// Names of the packs whose index cannot be read.
    pub(super) fn damaged(&self) -> &BTreeSet<BlobId> {
        &self.damaged
    }

    /// Returns the places of a blob, which is usually in one pack.
    pub(super) fn find(&self, id: &BlobId) -> impl Iterator<Item = (&Arc<Pack>, PackEntry)> {
        self.packs().filter_map(|pack| pack.find(id).map(|entry| (pack, entry)))
    }
}

impl BlobFiles {
    pub(super) fn packs_directory(&self) -> PathBuf {
        self.blobs().join("packs")
    }

    fn lock_packs(&self) -> MutexGuard<'_, Arc<KnownPacks>> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The packs known so far.
    pub(super) fn known_packs(&self) -> Arc<KnownPacks> {
        Arc::clone(&self.lock_packs())
    }

    /// Adds packs that this process has written.
    pub(super) fn add_packs(&self, packs: Vec<Pack>) {
        if !packs.is_empty() {
            let known = &mut *self.lock_packs();
            Arc::make_mut(known).packs.extend(packs.into_iter().map(|pack| (pack.name, Arc::new(pack))));
        }
    }

    /// Forgets the known packs, some of which may have been removed.
    pub(super) fn forget_packs(&self) {
        *self.lock_packs() = Arc::default();
    }

    /// Looks for packs, and reads the indexes of new ones.
    pub(super) fn find_packs(&self) -> Result<Arc<KnownPacks>, BlobError> {
        let directory = self.packs_directory();
        let known = self.known_packs();
        let mut found = KnownPacks::default();
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Arc::default()),
            entries => entries.map_err(BlobError::at(&directory))?,
        };
        for entry in entries {
            let path = entry.map_err(BlobError::at(&directory))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()?.parse::<BlobId>().ok()) else { continue };
            if let Some(pack) = known.packs.get(&name) {
                found.packs.insert(name, Arc::clone(pack));
                continue;
            }
            match Pack::open(name, path.clone()) {
                Ok(Some(pack)) => drop(found.packs.insert(name, Arc::new(pack))),
                Ok(None) => drop(found.damaged.insert(name)),
                // Removed since it was listed: its blobs are in a pack that replaces it, or nowhere.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(BlobError::at(&path)(error)),
            }
        }
        let found = Arc::new(found);
        // A pack that this process has written meanwhile may be missing: whoever needs it looks again.
        *self.lock_packs() = Arc::clone(&found);
        Ok(found)
    }

    /// Looks for packs, and makes their names durable: another process may have just renamed some.
    pub(super) fn find_durable_packs(&self) -> Result<Arc<KnownPacks>, BlobError> {
        let packs = self.find_packs()?;
        if packs.packs().next().is_some() {
            sync_directory(&self.packs_directory())?;
        }
        Ok(packs)
    }

    /// Reads a blob from packs and verifies it. If no pack contains it, it is missing; if none has an intact copy, it is
    /// damaged.
    pub(super) fn read_packed(&self, packs: &KnownPacks, id: &BlobId) -> Result<Bytes, BlobError> {
        let mut failure = BlobError::Missing(*id);
        for (pack, entry) in packs.find(id) {
            match pack.read(entry) {
                Ok(bytes) => match decode_verified(id, bytes) {
                    Err(damaged) => failure = damaged,
                    intact => return intact,
                },
                // Another process has replaced the pack.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(BlobError::at(&pack.path)(error)),
            }
        }
        Err(failure)
    }
}
