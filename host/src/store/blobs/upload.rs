//! Writing blobs.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

use super::encoding::Encoder;
use super::files::BlobFiles;
use super::pool::Pending;
use crate::store::{BlobError, BlobId, BlobSink, MAX_BLOB_BYTES, Upload};

/// Blobs on their way to the disk. As long as this is alive, no blob is removed: drop it when the record that names its
/// blobs is committed, and soon.
///
/// When it fails, it does no more, and its place has ended: begin another, and put all of it again.
#[derive(Debug)]
pub struct FileUpload<'a> {
    files: &'a BlobFiles,
    place: u64,
    /// Which of this process.
    number: u64,
    /// What names of its temporary files begin with.
    prefix: String,
    encoder: Encoder,
    /// What was put.
    seen: HashSet<BlobId>,
    /// Whether it has put something since it was synced.
    unsynced: bool,
    failed: Option<BlobError>,
    _lock: File,
}

impl BlobFiles {
    /// Begins to write blobs. Waits while blobs are removed.
    ///
    /// A thread that is removing blobs itself waits in vain.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn begin(&self) -> Result<FileUpload<'_>, BlobError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let blobs = self.blobs();
        let (lock, removals) = self.lock_shared()?;
        let prefix = getrandom::u64().map_err(io::Error::from).map_err(BlobError::at(&blobs))?;
        let encoder = Encoder::new().map_err(BlobError::at(&blobs))?;
        let mut pool = self.pool();
        if pool.removals != removals {
            // What was here need not be any more.
            pool.removals = removals;
            pool.renew(None);
        }
        Ok(FileUpload {
            files: self,
            place: pool.place,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            prefix: format!("{prefix:016x}"),
            encoder,
            seen: HashSet::new(),
            unsynced: false,
            failed: None,
            _lock: lock,
        })
    }
}

impl BlobSink for FileUpload<'_> {
    /// The place of the blobs of this directory: another after blobs were removed from it, or after an upload of this
    /// process failed.
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
            if !there && upload.find(id)? {
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
    /// Makes everything that was put at this place durable, and visible to all. Uploads of several threads share the work.
    ///
    /// If it fails, some of it may be visible, which does no harm. What it says to another upload of this
    /// process is told here too: this one may have relied on what that one has put.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&mut self) -> Result<(), BlobError> {
        self.attempt(|upload| {
            upload.files.sync(upload.place)?;
            upload.unsynced = false;
            Ok(())
        })
    }

    /// Works, or ends this upload.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<(), BlobError>) -> Result<(), BlobError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        work(self).inspect_err(|error| {
            self.failed = Some(error.clone());
            self.abandon(Some(error));
        })
    }

    /// Takes a blob that was not put before.
    fn take(&mut self, id: BlobId, plain: Vec<u8>) -> Result<(), BlobError> {
        if self.find(&id)? {
            return Ok(());
        }
        self.unsynced = true;
        let path = self.files.temporary().join(format!("{}-{}", self.prefix, self.seen.len()));
        self.files.take(self.place, Pending::new(id, path, self.number), plain, &mut self.encoder)
    }

    /// Whether a blob is there; then its name is made durable too.
    fn find(&self, id: &BlobId) -> Result<bool, BlobError> {
        // An empty file is not even an empty blob. What is damaged is replaced if that is known, but not looked for: that
        // would cost as much as writing.
        let there = self.files.stat(id)?.is_some_and(|length| length > 0) && !self.files.is_faulty(id);
        if there {
            self.files.found(self.place, id)?;
        }
        Ok(there)
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
