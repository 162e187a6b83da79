//! Uploads: writing blobs.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::encoding::BlobEncoder;
use super::files::BlobFiles;
use super::pack::MAX_PACKED_BYTES;
use super::packs::KnownPacks;
use super::upload_pool::NewBlob;
use crate::{BlobError, BlobId, BlobSink, MAX_BLOB_BYTES, Upload};

/// Number of small blobs of an upload that get files of their own, before packs are used: a pack for each little change
/// would make reading slower, and a few files cost little.
const UNPACKED_BLOBS: usize = 64;

/// An upload of blobs that are not yet durable. As long as it is alive, no blob is removed: drop it soon after
/// committing the record that refers to its blobs.
///
/// After an error the upload is unusable and its place has ended: begin another one, and put all blobs again.
#[derive(Debug)]
pub struct FileUpload<'a> {
    files: &'a BlobFiles,
    place: u64,
    /// Number of this upload within the process.
    number: u64,
    /// Prefix of the names of its temporary files.
    prefix: String,
    encoder: BlobEncoder,
    /// Number of small blobs that were put and did not exist.
    small_blobs: usize,
    /// Packs that existed when this upload first looked for them: as long as it is alive, they do.
    packs: Option<Arc<KnownPacks>>,
    /// Blobs that were put, or found to exist.
    seen: HashSet<BlobId>,
    /// Set if something was put since the last sync.
    unsynced: bool,
    failed: Option<BlobError>,
    _lock: File,
}

impl BlobFiles {
    /// Begins an upload. Waits while blobs are removed.
    ///
    /// Deadlocks if the same thread is removing blobs.
    ///
    /// # Errors
    /// If the operating system reports an error.
    pub fn begin(&self) -> Result<FileUpload<'_>, BlobError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let blobs = self.blobs();
        let (lock, removals) = self.lock_shared()?;
        let prefix = getrandom::u64().map_err(io::Error::from).map_err(BlobError::at(&blobs))?;
        let encoder = BlobEncoder::new().map_err(BlobError::at(&blobs))?;
        let mut pool = self.pool();
        if pool.removals != removals {
            // Blobs that existed before may have been removed.
            pool.removals = removals;
            pool.renew(None);
        }
        Ok(FileUpload {
            files: self,
            place: pool.place,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            prefix: format!("{prefix:016x}"),
            encoder,
            small_blobs: 0,
            packs: None,
            seen: HashSet::new(),
            unsynced: false,
            failed: None,
            _lock: lock,
        })
    }
}

impl BlobSink for FileUpload<'_> {
    /// Identifies the blobs in this directory. The id changes after blobs were removed, or after an upload of this
    /// process has failed.
    fn place(&self) -> u64 {
        self.place
    }

    fn put(&mut self, bytes: Vec<u8>) -> Result<BlobId, BlobError> {
        if bytes.len() > MAX_BLOB_BYTES {
            return Err(BlobError::TooLarge(bytes.len()));
        }
        let id = BlobId::of(&bytes);
        self.attempt(|upload| {
            if !upload.seen.contains(&id) {
                upload.take(id, bytes)?;
                upload.seen.insert(id);
            }
            Ok(())
        })?;
        Ok(id)
    }

    fn has(&mut self, id: &BlobId) -> Result<bool, BlobError> {
        let mut there = self.seen.contains(id);
        self.attempt(|upload| {
            if !there && (upload.find_file(id)? || upload.find_packed(id)?) {
                there = upload.seen.insert(*id);
            }
            Ok(())
        })?;
        Ok(there)
    }
}

impl Upload for FileUpload<'_> {
    fn sync(&mut self) -> Result<(), BlobError> {
        FileUpload::sync(self)
    }
}

impl FileUpload<'_> {
    /// Makes all blobs put at this place durable and visible to all. Uploads of several threads share the work.
    ///
    /// If it fails, some of them may be visible, which does no harm. An error of another upload of this process is
    /// reported here too, since this upload may have relied on what that one has put.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn sync(&mut self) -> Result<(), BlobError> {
        self.attempt(|upload| {
            upload.files.sync(upload.place)?;
            upload.unsynced = false;
            Ok(())
        })
    }

    /// Performs an operation; an error ends this upload.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<(), BlobError>) -> Result<(), BlobError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        work(self).inspect_err(|error| {
            self.failed = Some(error.clone());
            self.abandon(Some(error));
        })
    }

    /// Adds a blob that this upload has not seen before.
    fn take(&mut self, id: BlobId, plain: Vec<u8>) -> Result<(), BlobError> {
        let small = plain.len() <= MAX_PACKED_BYTES;
        let packed = small && self.small_blobs >= UNPACKED_BLOBS;
        // An upload that is not packed does not look into packs: it may store a few blobs twice.
        if self.find_file(&id)? || (packed && self.find_packed(&id)?) {
            return Ok(());
        }
        self.unsynced = true;
        self.small_blobs += usize::from(small);
        let path = self.files.temporary().join(format!("{}-{}", self.prefix, self.seen.len()));
        let blob = NewBlob { id, plain, upload: self.number, path };
        if packed {
            self.files.take_packed(self.place, blob)
        } else {
            self.files.take(self.place, blob, &mut self.encoder)
        }
    }

    /// Returns true if a blob has a file of its own; then its name is made durable too.
    fn find_file(&self, id: &BlobId) -> Result<bool, BlobError> {
        // An empty file is not even an empty blob. A blob known to be damaged is replaced, but damage is not looked
        // for, which would cost as much as writing.
        let there = self.files.stat_file(id)?.is_some_and(|length| length > 0) && !self.files.is_faulty(id);
        if there {
            self.files.found(self.place, id)?;
        }
        Ok(there)
    }

    /// Returns true if a blob is in a pack.
    fn find_packed(&mut self, id: &BlobId) -> Result<bool, BlobError> {
        let packs = match &self.packs {
            Some(packs) => packs,
            None => self.packs.insert(self.files.find_durable_packs()?),
        };
        Ok(packs.find(id).next().is_some() && !self.files.is_faulty(id))
    }

    fn abandon(&mut self, failure: Option<&BlobError>) {
        if mem::take(&mut self.unsynced) {
            self.files.abandon(self.place, self.number, failure);
        }
    }
}

impl Drop for FileUpload<'_> {
    fn drop(&mut self) {
        self.abandon(None);
    }
}
