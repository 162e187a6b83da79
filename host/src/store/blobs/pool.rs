//! What the uploads of this process have taken and is not durable yet: one pool of all of them.
//!
//! Whoever syncs makes all of it durable. So uploads of many sessions share the waits for the disk, and one may rely on
//! what another of the same place has put: when it has been synced, that is durable too. If what was put is lost instead,
//! because writing fails or an upload is dropped first, the place ends: the uploads that are alive fail when they sync, and
//! those that begin then are of another place.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use super::durable::{make_entry, pays_to_sync_file_system, sync_directory, sync_file_system};
use super::encoding::Encoder;
use super::files::BlobFiles;
use crate::store::{BlobError, BlobId, abreast, new_place};

/// Blobs of this size are compressed by several threads: one thread compresses 200 MB/s. Smaller ones are not worth
/// their handing over.
const LARGE: usize = 64 << 10;

/// How many bytes of large blobs wait for that.
const BATCH: usize = 8 << 20;

/// How many files stay open until they are synced.
const OPEN: usize = 8;

/// See the module.
#[derive(Debug)]
pub(super) struct Pool {
    /// What all of it is put at.
    pub(super) place: u64,
    /// How often blobs had been removed when the place began.
    pub(super) removals: u64,
    /// Why the place before it ended.
    failure: Option<BlobError>,
    unsynced: Unsynced,
}

#[derive(Debug, Default)]
struct Unsynced {
    /// Large blobs that are not written yet.
    waiting: Vec<(Pending, Vec<u8>)>,
    /// How many bytes those have.
    waiting_bytes: usize,
    /// What is written and has no name yet.
    pending: Vec<Pending>,
    /// How many bytes of blobs that is, plain.
    bytes: u64,
    /// The first bytes of names that may not be durable.
    shelves: BTreeSet<u8>,
}

/// A blob on its way into a file.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) id: BlobId,
    /// Its temporary file.
    pub(super) path: PathBuf,
    /// Which upload has put it.
    pub(super) upload: u64,
    /// Kept for the sync, if there are few.
    file: Option<File>,
}

impl Pending {
    pub(super) fn new(id: BlobId, path: PathBuf, upload: u64) -> Self {
        Self { id, path, upload, file: None }
    }

    fn discard(&self) {
        // It may not be there yet. What stays is removed with what killed processes leave.
        let _ = fs::remove_file(&self.path);
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self { place: new_place(), removals: 0, failure: None, unsynced: Unsynced::default() }
    }
}

impl Pool {
    /// Fails if the place has ended.
    fn check(&self, place: u64) -> Result<(), BlobError> {
        match &self.failure {
            _ if place == self.place => Ok(()),
            Some(failure) => Err(failure.clone()),
            None => Err(BlobError::Abandoned),
        }
    }

    /// Ends the place.
    pub(super) fn renew(&mut self, failure: Option<BlobError>) {
        self.place = new_place();
        self.failure = failure;
    }

    /// Takes out what an upload has put. If there is any, it is lost; others of its place may have relied on it.
    fn abandon(&mut self, place: u64, upload: u64, failure: Option<&BlobError>) {
        let pending = self.unsynced.pending.extract_if(.., |pending| pending.upload == upload);
        let waiting = self.unsynced.waiting.extract_if(.., |(pending, _)| pending.upload == upload);
        let lost: Vec<Pending> = pending.chain(waiting.map(|(pending, _)| pending)).collect();
        self.unsynced.waiting_bytes = self.unsynced.waiting.iter().map(|(_, plain)| plain.len()).sum();
        lost.iter().for_each(Pending::discard);
        // If the place has ended, those others fail already, and who began since has no part in this.
        if !lost.is_empty() && place == self.place {
            self.renew(failure.cloned());
        }
    }
}

impl BlobFiles {
    pub(super) fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held while things leave the pool, until they are durable: who has it knows of all. Taken before the pool. It guards
    /// the first bytes of shelves that are known to be durable.
    fn working(&self) -> MutexGuard<'_, BTreeSet<u8>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A blob is there; that its name is durable is not known: another process may have just renamed it.
    pub(super) fn found(&self, place: u64, id: &BlobId) -> Result<(), BlobError> {
        let mut pool = self.pool();
        pool.check(place)?;
        pool.unsynced.shelves.insert(id.as_bytes()[0]);
        Ok(())
    }

    /// Takes a blob into the pool, written or to be written.
    pub(super) fn take(
        &self,
        place: u64,
        mut pending: Pending,
        plain: Vec<u8>,
        encoder: &mut Encoder,
    ) -> Result<(), BlobError> {
        let large = plain.len() >= LARGE;
        if !large {
            match write(self, &pending.path, encoder, &plain) {
                Ok(file) => pending.file = Some(file),
                Err(error) => {
                    pending.discard();
                    return Err(error);
                }
            }
        }
        let mut pool = self.pool();
        pool.check(place).inspect_err(|_| pending.discard())?;
        let unsynced = &mut pool.unsynced;
        unsynced.shelves.insert(pending.id.as_bytes()[0]);
        unsynced.bytes = unsynced.bytes.saturating_add(u64::try_from(plain.len()).unwrap_or(u64::MAX));
        if large {
            unsynced.waiting_bytes += plain.len();
            unsynced.waiting.push((pending, plain));
        } else {
            pending.file.take_if(|_| unsynced.pending.len() >= OPEN);
            unsynced.pending.push(pending);
        }
        let full = unsynced.waiting_bytes >= BATCH;
        drop(pool);
        if full { self.write_waiting() } else { Ok(()) }
    }

    /// Writes the large blobs that wait.
    fn write_waiting(&self) -> Result<(), BlobError> {
        let _working = self.working();
        let mut batch = Unsynced::default();
        let mut pool = self.pool();
        mem::swap(&mut batch.waiting, &mut pool.unsynced.waiting);
        pool.unsynced.waiting_bytes = 0;
        drop(pool);
        self.attempt(&mut batch, |batch| batch.write(self))?;
        self.pool().unsynced.pending.append(&mut batch.pending);
        Ok(())
    }

    /// Makes all that was put at a place durable, and visible.
    pub(super) fn sync(&self, place: u64) -> Result<(), BlobError> {
        let mut durable = self.working();
        let mut batch = mem::take(&mut self.pool().unsynced);
        let synced = self.attempt(&mut batch, |batch| batch.sync(self, &mut durable));
        self.pool().check(place).and(synced)
    }

    /// An upload ends before all that it has put was synced.
    pub(super) fn abandon(&self, place: u64, upload: u64, failure: Option<&BlobError>) {
        // Some of it may be out of the pool, being written.
        let _working = self.working();
        self.pool().abandon(place, upload, failure);
    }

    /// Works on what was in the pool. If that fails, it is lost.
    fn attempt(
        &self,
        batch: &mut Unsynced,
        work: impl FnOnce(&mut Unsynced) -> Result<(), BlobError>,
    ) -> Result<(), BlobError> {
        work(batch).inspect_err(|error| {
            batch.pending.iter().for_each(Pending::discard);
            batch.waiting.iter().for_each(|(pending, _)| pending.discard());
            self.pool().renew(Some(error.clone()));
        })
    }
}

impl Unsynced {
    fn write(&mut self, files: &BlobFiles) -> Result<(), BlobError> {
        abreast(&self.waiting, true, |(Pending { path, .. }, plain)| {
            let mut encoder = Encoder::new().map_err(BlobError::at(path))?;
            write(files, path, &mut encoder, plain).map(drop)
        })?;
        self.pending.extend(self.waiting.drain(..).map(|(pending, _)| pending));
        Ok(())
    }

    fn sync(&mut self, files: &BlobFiles, durable: &mut BTreeSet<u8>) -> Result<(), BlobError> {
        self.write(files)?;
        let many = self.pending.len() > 1 || self.shelves.len() > 1;
        let whole = many && pays_to_sync_file_system(&files.root, self.bytes);
        self.sync_contents(files, whole)?;
        self.rename(files)?;
        self.sync_names(files, whole, durable)?;
        durable.append(&mut self.shelves);
        Ok(())
    }

    fn sync_contents(&self, files: &BlobFiles, whole: bool) -> Result<(), BlobError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        if whole {
            return sync_file_system(&files.root).map_err(BlobError::at(&files.blobs()));
        }
        let sync = |Pending { path, file, .. }: &Pending| {
            let sync = || match file {
                Some(file) => file.sync_data(),
                None => File::open(path)?.sync_data(),
            };
            sync().map_err(BlobError::at(path))
        };
        abreast(&self.pending, true, sync).map(drop)
    }

    fn rename(&mut self, files: &BlobFiles) -> Result<(), BlobError> {
        while let Some(pending) = self.pending.last() {
            let path = files.path(&pending.id);
            match fs::rename(&pending.path, &path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    make_entry(&files.shelf(pending.id.as_bytes()[0]))?;
                    fs::rename(&pending.path, &path).map_err(BlobError::at(&path))?;
                }
                renamed => renamed.map_err(BlobError::at(&path))?,
            }
            files.forget(&pending.id);
            self.pending.pop();
        }
        Ok(())
    }

    fn sync_names(&self, files: &BlobFiles, whole: bool, durable: &BTreeSet<u8>) -> Result<(), BlobError> {
        if whole && self.shelves.len() > 1 {
            return sync_file_system(&files.root).map_err(BlobError::at(&files.blobs()));
        }
        let mut directories: Vec<PathBuf> = self.shelves.iter().map(|first| files.shelf(*first)).collect();
        if !self.shelves.is_subset(durable) {
            // The shelf itself may be new, and of another process.
            directories.push(files.blobs());
        }
        let sync = |directory: &PathBuf| match sync_directory(directory) {
            // What was to lie there was given up.
            Err(BlobError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
            synced => synced,
        };
        abreast(&directories, true, sync).map(drop)
    }
}

/// Writes a blob to a new file.
fn write(files: &BlobFiles, path: &Path, encoder: &mut Encoder, plain: &[u8]) -> Result<File, BlobError> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Some tools that copy directories leave empty ones out.
            make_entry(&files.temporary())?;
            options.open(path)
        }
        file => file,
    };
    let write = |mut file: File| {
        encoder.encode(plain)?.iter().try_for_each(|part| file.write_all(part))?;
        Ok(file)
    };
    file.and_then(write).map_err(BlobError::at(path))
}
