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

use super::durable::{make_directory, make_entry, pays_to_sync_file_system, sync_directory, sync_file_system};
use super::encoding::BlobEncoder;
use super::files::BlobFiles;
use super::pack::{FULL_PACK_BYTES, MAX_PACK_BLOBS, Pack, PackBuilder};
use crate::{BlobError, BlobId, new_place, parallel_map};

/// Minimum size of blobs that several threads compress: one thread compresses 200 MB/s. For smaller ones, handing them
/// over costs more than it saves.
const MIN_LARGE_BYTES: usize = 64 << 10;

/// Number of bytes of large blobs that are collected for the threads.
const LARGE_BATCH_BYTES: usize = 8 << 20;

/// Minimum number of blobs of a pack; fewer get files of their own.
const MIN_PACK_BLOBS: usize = 16;

/// Number of bytes that are written in the time in which one file is synced.
const BYTES_PER_SYNC: u64 = 64 << 10;

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
    waiting: WaitingBlobs,
    /// Small blobs that are not written yet, and will be in packs.
    packed: WaitingBlobs,
    /// Files that are written under temporary names and not yet renamed.
    pending: Vec<PendingFile>,
    /// Number of plain bytes put since the last sync, and [`BYTES_PER_SYNC`] for each file.
    bytes: u64,
    /// First bytes of the names that may not be durable.
    shelves: BTreeSet<u8>,
}

/// A blob that an upload has put, before it is written.
#[derive(Debug)]
pub(super) struct NewBlob {
    pub(super) id: BlobId,
    pub(super) plain: Vec<u8>,
    /// Number of the upload.
    pub(super) upload: u64,
    /// Path of the temporary file to be written.
    pub(super) path: PathBuf,
}

impl NewBlob {
    /// Writes the blob to a file of its own.
    fn write(&self, files: &BlobFiles, encoder: &mut BlobEncoder) -> Result<File, BlobError> {
        let parts = encoder.encode(&self.plain).map_err(BlobError::at(&self.path))?;
        write(files, &self.path, &parts)
    }
}

/// Blobs that are not written yet.
#[derive(Debug, Default)]
struct WaitingBlobs {
    blobs: Vec<NewBlob>,
    /// Number of plain bytes.
    bytes: usize,
}

impl WaitingBlobs {
    fn push(&mut self, blob: NewBlob) {
        self.bytes += blob.plain.len();
        self.blobs.push(blob);
    }

    /// Removes the blobs that an upload has put; returns true if there were any.
    fn abandon(&mut self, upload: u64) -> bool {
        let before = self.blobs.len();
        self.blobs.retain(|blob| blob.upload != upload);
        self.bytes = self.blobs.iter().map(|blob| blob.plain.len()).sum();
        self.blobs.len() < before
    }
}

/// A file with one or many blobs, under a temporary name.
#[derive(Debug)]
struct PendingFile {
    content: PendingContent,
    /// Path of the temporary file.
    path: PathBuf,
    /// Number of the upload that has put the blobs.
    upload: u64,
    /// Open handle for the sync, if there are few of them.
    file: Option<File>,
}

#[derive(Debug)]
enum PendingContent {
    Blob(BlobId),
    Pack(Pack),
}

impl PendingFile {
    fn of_blob(NewBlob { id, path, upload, .. }: NewBlob, file: Option<File>) -> Self {
        Self { content: PendingContent::Blob(id), path, upload, file }
    }

    /// Gives the file its name.
    fn rename(&self, files: &BlobFiles) -> Result<(), BlobError> {
        let path = match &self.content {
            PendingContent::Blob(id) => files.path(id),
            PendingContent::Pack(pack) => pack.path.clone(),
        };
        match fs::rename(&self.path, &path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match &self.content {
                    PendingContent::Blob(id) => make_entry(&files.shelf(id.as_bytes()[0]))?,
                    PendingContent::Pack(_) => make_directory(&files.packs_directory())?,
                }
                fs::rename(&self.path, &path).map_err(BlobError::at(&path))
            }
            renamed => renamed.map_err(BlobError::at(&path)),
        }
    }

    fn discard(&self) {
        discard(&self.path);
    }
}

/// Removes a temporary file, which may not exist yet. If it stays, it is removed with the files of killed processes.
fn discard(path: &Path) {
    let _ = fs::remove_file(path);
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
        let pending: Vec<_> = self.unsynced.pending.extract_if(.., |pending| pending.upload == upload).collect();
        pending.iter().for_each(PendingFile::discard);
        let mut lost = !pending.is_empty();
        lost |= self.unsynced.waiting.abandon(upload);
        lost |= self.unsynced.packed.abandon(upload);
        // If the place has ended, those other uploads fail already, and later ones are not affected.
        if lost && place == self.place {
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

    /// Adds a blob to the pool that gets a file of its own: small ones are written at once, large ones later.
    pub(super) fn take(&self, place: u64, blob: NewBlob, encoder: &mut BlobEncoder) -> Result<(), BlobError> {
        let discard = |_: &BlobError| discard(&blob.path);
        let large = blob.plain.len() >= MIN_LARGE_BYTES;
        let file = if large { None } else { Some(blob.write(self, encoder).inspect_err(discard)?) };
        let mut pool = self.pool();
        pool.check(place).inspect_err(discard)?;
        let unsynced = &mut pool.unsynced;
        unsynced.count_file(&blob);
        if large {
            unsynced.waiting.push(blob);
        } else {
            let file = file.filter(|_| unsynced.pending.len() < MAX_OPEN_FILES);
            unsynced.pending.push(PendingFile::of_blob(blob, file));
        }
        let full = unsynced.waiting.bytes >= LARGE_BATCH_BYTES;
        drop(pool);
        if full { self.write_waiting() } else { Ok(()) }
    }

    /// Adds a small blob to the pool that is written later, into a pack.
    pub(super) fn take_packed(&self, place: u64, blob: NewBlob) -> Result<(), BlobError> {
        let mut pool = self.pool();
        pool.check(place)?;
        let packed = &mut pool.unsynced.packed;
        packed.push(blob);
        let full = packed.bytes >= FULL_PACK_BYTES || packed.blobs.len() >= MAX_PACK_BLOBS;
        drop(pool);
        if full { self.write_waiting() } else { Ok(()) }
    }

    /// Writes the blobs that are waiting.
    fn write_waiting(&self) -> Result<(), BlobError> {
        let _working = self.working();
        let mut batch = UnsyncedBlobs::default();
        let mut pool = self.pool();
        mem::swap(&mut batch.waiting, &mut pool.unsynced.waiting);
        mem::swap(&mut batch.packed, &mut pool.unsynced.packed);
        drop(pool);
        self.attempt(&mut batch, |batch| batch.write(self))?;
        self.pool().unsynced.append(batch);
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
            batch.pending.iter().for_each(PendingFile::discard);
            batch.waiting.blobs.iter().chain(&batch.packed.blobs).for_each(|blob| discard(&blob.path));
            self.pool().renew(Some(error.clone()));
        })
    }
}

impl UnsyncedBlobs {
    /// Counts a blob that gets a file of its own.
    fn count_file(&mut self, blob: &NewBlob) {
        self.shelves.insert(blob.id.as_bytes()[0]);
        self.bytes = self.bytes.saturating_add(blob.plain.len() as u64 + BYTES_PER_SYNC);
    }

    /// Adds the files of another batch, which are written.
    fn append(&mut self, mut written: Self) {
        self.pending.append(&mut written.pending);
        self.shelves.append(&mut written.shelves);
        self.bytes = self.bytes.saturating_add(written.bytes);
    }

    /// Writes the blobs that are waiting.
    fn write(&mut self, files: &BlobFiles) -> Result<(), BlobError> {
        self.write_packs(files)?;
        parallel_map(&self.waiting.blobs, true, |blob| {
            let mut encoder = BlobEncoder::new().map_err(BlobError::at(&blob.path))?;
            blob.write(files, &mut encoder).map(drop)
        })?;
        let written = mem::take(&mut self.waiting).blobs;
        self.pending.extend(written.into_iter().map(|blob| PendingFile::of_blob(blob, None)));
        Ok(())
    }

    /// Writes packs, each with blobs of one upload, so that it can be abandoned. If there are too few blobs for a pack,
    /// they wait for files of their own.
    fn write_packs(&mut self, files: &BlobFiles) -> Result<(), BlobError> {
        let mut rest = mem::take(&mut self.packed).blobs;
        rest.sort_by_key(|blob| blob.upload);
        while let Some(first) = rest.first() {
            let of_upload = |blob: &&NewBlob| blob.upload == first.upload;
            let count = rest.iter().take(MAX_PACK_BLOBS).take_while(of_upload).count();
            let others = rest.split_off(count);
            let blobs = mem::replace(&mut rest, others);
            if blobs.len() < MIN_PACK_BLOBS {
                for blob in blobs {
                    self.count_file(&blob);
                    self.waiting.push(blob);
                }
            } else {
                self.write_pack(files, &blobs)?;
            }
        }
        Ok(())
    }

    fn write_pack(&mut self, files: &BlobFiles, blobs: &[NewBlob]) -> Result<(), BlobError> {
        files.allow_packs()?;
        let NewBlob { path, upload, .. } = &blobs[0];
        let mut encoder = BlobEncoder::new().map_err(BlobError::at(path))?;
        let mut pack = PackBuilder::default();
        for blob in blobs {
            pack.add(blob.id, &encoder.encode(&blob.plain).map_err(BlobError::at(path))?);
        }
        let (pack, bytes) = pack.finish(&files.packs_directory());
        let file = write(files, path, &[&bytes]).inspect_err(|_| discard(path))?;
        self.bytes = self.bytes.saturating_add(bytes.len() as u64 + BYTES_PER_SYNC);
        let content = PendingContent::Pack(pack);
        self.pending.push(PendingFile { content, path: path.clone(), upload: *upload, file: Some(file) });
        Ok(())
    }

    fn sync(&mut self, files: &BlobFiles, durable: &mut BTreeSet<u8>) -> Result<(), BlobError> {
        self.write(files)?;
        let many = self.pending.len() > 1 || self.shelves.len() > 1;
        let whole = many && pays_to_sync_file_system(&files.root, self.bytes);
        self.sync_contents(files, whole)?;
        let packs = self.rename(files)?;
        self.sync_names(files, whole, !packs.is_empty(), durable)?;
        files.add_packs(packs);
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
        let sync = |PendingFile { path, file, .. }: &PendingFile| {
            let sync = || match file {
                Some(file) => file.sync_data(),
                None => File::open(path)?.sync_data(),
            };
            sync().map_err(BlobError::at(path))
        };
        parallel_map(&self.pending, true, sync).map(drop)
    }

    /// Gives all files their names, and returns the packs among them.
    fn rename(&mut self, files: &BlobFiles) -> Result<Vec<Pack>, BlobError> {
        let mut packs = Vec::new();
        while let Some(pending) = self.pending.last() {
            pending.rename(files)?;
            match self.pending.pop().map(|pending| pending.content) {
                Some(PendingContent::Blob(id)) => files.forget(&id),
                Some(PendingContent::Pack(pack)) => {
                    pack.entries().iter().for_each(|entry| files.forget(&entry.id));
                    packs.push(pack);
                }
                None => {}
            }
        }
        Ok(packs)
    }

    fn sync_names(&self, files: &BlobFiles, whole: bool, packs: bool, durable: &BTreeSet<u8>) -> Result<(), BlobError> {
        if whole && self.shelves.len() + usize::from(packs) > 1 {
            return sync_file_system(&files.root).map_err(BlobError::at(&files.blobs()));
        }
        let mut directories: Vec<PathBuf> = self.shelves.iter().map(|first| files.shelf(*first)).collect();
        directories.extend(packs.then(|| files.packs_directory()));
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

/// Writes a new file.
fn write(files: &BlobFiles, path: &Path, parts: &[&[u8]]) -> Result<File, BlobError> {
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
        parts.iter().try_for_each(|part| file.write_all(part))?;
        Ok(file)
    };
    file.and_then(write).map_err(BlobError::at(path))
}
