//! The upload pool: all blobs that uploads of this process have put and that are not durable yet.
//!
//! A sync by any upload makes the whole pool durable. So uploads of many sessions share the waits for the disk, and an
//! upload may rely on what another one of the same place (see [`BlobSink::place`](crate::BlobSink::place)) has
//! put: syncing makes that durable too. If blobs are lost instead, because writing fails or an upload is dropped first,
//! the place ends: uploads that are alive then fail when they sync, and later ones get a new place.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use super::durable::{make_entry, pays_to_sync_file_system, sync_directory, sync_file_system};
use super::encoding::BlobEncoder;
use super::files::BlobFiles;
use crate::{BlobError, BlobId, new_place, parallel_map};

/// Minimum size of blobs that several threads compress: one thread compresses 200 MB/s. For smaller ones, handing them
/// over costs more than it saves.
const MIN_LARGE_BYTES: usize = 64 << 10;

/// Number of bytes of large blobs that are collected for the threads.
const LARGE_BATCH_BYTES: usize = 8 << 20;

/// Maximum number of files that stay open until they are synced.
const MAX_OPEN_FILES: usize = 8;

/// The pool of uploaded blobs; see the module.
#[derive(Debug)]
pub(super) struct UploadPool {
    /// Id of the place where blobs are currently put.
    pub(super) place: u64,
    /// Number of past removals of blobs when the place began.
    pub(super) removals: u64,
    /// Error that ended the previous place.
    failure: Option<BlobError>,
    unsynced: UnsyncedBlobs,
}

#[derive(Debug, Default)]
struct UnsyncedBlobs {
    /// Large blobs that are not written yet.
    waiting: Vec<(PendingBlob, Vec<u8>)>,
    /// Number of bytes of the blobs in `waiting`.
    waiting_bytes: usize,
    /// Blobs that are written to temporary files and not yet renamed.
    pending: Vec<PendingBlob>,
    /// Number of plain bytes put since the last sync.
    bytes: u64,
    /// First bytes of the names that may not be durable.
    shelves: BTreeSet<u8>,
}

/// A blob that is being written to a file.
#[derive(Debug)]
pub(super) struct PendingBlob {
    pub(super) id: BlobId,
    /// Path of its temporary file.
    pub(super) path: PathBuf,
    /// Number of the upload that has put it.
    pub(super) upload: u64,
    /// Open handle for the sync, if there are few of them.
    file: Option<File>,
}

impl PendingBlob {
    pub(super) fn new(id: BlobId, path: PathBuf, upload: u64) -> Self {
        Self { id, path, upload, file: None }
    }

    fn discard(&self) {
        // The file may not exist yet. If it stays, it is removed with the files of killed processes.
        let _ = fs::remove_file(&self.path);
    }
}

impl Default for UploadPool {
    fn default() -> Self {
        Self { place: new_place(), removals: 0, failure: None, unsynced: UnsyncedBlobs::default() }
    }
}

impl UploadPool {
    /// Fails if the place is no longer the current one.
    fn check(&self, place: u64) -> Result<(), BlobError> {
        match &self.failure {
            _ if place == self.place => Ok(()),
            Some(failure) => Err(failure.clone()),
            None => Err(BlobError::Abandoned),
        }
    }

    /// Ends the current place, and begins a new one.
    pub(super) fn renew(&mut self, failure: Option<BlobError>) {
        self.place = new_place();
        self.failure = failure;
    }

    /// Removes the blobs that an upload has put. If there are any, they are lost, and other uploads of the same place
    /// may have relied on them.
    fn abandon(&mut self, place: u64, upload: u64, failure: Option<&BlobError>) {
        let pending = self.unsynced.pending.extract_if(.., |pending| pending.upload == upload);
        let waiting = self.unsynced.waiting.extract_if(.., |(pending, _)| pending.upload == upload);
        let lost: Vec<PendingBlob> = pending.chain(waiting.map(|(pending, _)| pending)).collect();
        self.unsynced.waiting_bytes = self.unsynced.waiting.iter().map(|(_, plain)| plain.len()).sum();
        lost.iter().for_each(PendingBlob::discard);
        // If the place has ended, those other uploads fail already, and later ones are not affected.
        if !lost.is_empty() && place == self.place {
            self.renew(failure.cloned());
        }
    }
}

impl BlobFiles {
    pub(super) fn pool(&self) -> MutexGuard<'_, UploadPool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock that is held from the removal of blobs from the pool until they are durable: its holder knows of
    /// all of them. Acquired before the lock of the pool. Guards the first bytes of the directories that are known to
    /// be durable.
    fn working(&self) -> MutexGuard<'_, BTreeSet<u8>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a blob exists, whose name may not be durable: another process may have just renamed it.
    pub(super) fn found(&self, place: u64, id: &BlobId) -> Result<(), BlobError> {
        let mut pool = self.pool();
        pool.check(place)?;
        pool.unsynced.shelves.insert(id.as_bytes()[0]);
        Ok(())
    }

    /// Adds a blob to the pool: small ones are written at once, large ones later.
    pub(super) fn take(
        &self,
        place: u64,
        mut pending: PendingBlob,
        plain: Vec<u8>,
        encoder: &mut BlobEncoder,
    ) -> Result<(), BlobError> {
        let large = plain.len() >= MIN_LARGE_BYTES;
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
            pending.file.take_if(|_| unsynced.pending.len() >= MAX_OPEN_FILES);
            unsynced.pending.push(pending);
        }
        let full = unsynced.waiting_bytes >= LARGE_BATCH_BYTES;
        drop(pool);
        if full { self.write_waiting() } else { Ok(()) }
    }

    /// Writes the large blobs that are waiting.
    fn write_waiting(&self) -> Result<(), BlobError> {
        let _working = self.working();
        let mut batch = UnsyncedBlobs::default();
        let mut pool = self.pool();
        mem::swap(&mut batch.waiting, &mut pool.unsynced.waiting);
        pool.unsynced.waiting_bytes = 0;
        drop(pool);
        self.attempt(&mut batch, |batch| batch.write(self))?;
        self.pool().unsynced.pending.append(&mut batch.pending);
        Ok(())
    }

    /// Makes all blobs that were put at a place durable and visible.
    pub(super) fn sync(&self, place: u64) -> Result<(), BlobError> {
        let mut durable = self.working();
        let mut batch = mem::take(&mut self.pool().unsynced);
        let synced = self.attempt(&mut batch, |batch| batch.sync(self, &mut durable));
        self.pool().check(place).and(synced)
    }

    /// Ends an upload before all of its blobs were synced.
    pub(super) fn abandon(&self, place: u64, upload: u64, failure: Option<&BlobError>) {
        // Some of its blobs may be out of the pool, being written.
        let _working = self.working();
        self.pool().abandon(place, upload, failure);
    }

    /// Processes blobs taken out of the pool. If that fails, they are lost.
    fn attempt(
        &self,
        batch: &mut UnsyncedBlobs,
        work: impl FnOnce(&mut UnsyncedBlobs) -> Result<(), BlobError>,
    ) -> Result<(), BlobError> {
        work(batch).inspect_err(|error| {
            batch.pending.iter().for_each(PendingBlob::discard);
            batch.waiting.iter().for_each(|(pending, _)| pending.discard());
            self.pool().renew(Some(error.clone()));
        })
    }
}

impl UnsyncedBlobs {
    fn write(&mut self, files: &BlobFiles) -> Result<(), BlobError> {
        parallel_map(&self.waiting, true, |(PendingBlob { path, .. }, plain)| {
            let mut encoder = BlobEncoder::new().map_err(BlobError::at(path))?;
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
        let sync = |PendingBlob { path, file, .. }: &PendingBlob| {
            let sync = || match file {
                Some(file) => file.sync_data(),
                None => File::open(path)?.sync_data(),
            };
            sync().map_err(BlobError::at(path))
        };
        parallel_map(&self.pending, true, sync).map(drop)
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
            // The directory may be new, and created by another process.
            directories.push(files.blobs());
        }
        let sync = |directory: &PathBuf| match sync_directory(directory) {
            // The blobs that were to be stored there were abandoned.
            Err(BlobError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
            synced => synced,
        };
        parallel_map(&directories, true, sync).map(drop)
    }
}

/// Writes a blob to a new file.
fn write(files: &BlobFiles, path: &Path, encoder: &mut BlobEncoder, plain: &[u8]) -> Result<File, BlobError> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Some tools that copy directories omit empty ones.
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
