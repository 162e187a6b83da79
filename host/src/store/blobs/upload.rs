//! Writing blobs.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use super::durable::{FEW, each, sync_directory, sync_file_system};
use super::encoding::Encoder;
use super::files::BlobFiles;
use crate::store::{BlobError, BlobId, BlobSink, MAX_BLOB_BYTES};

/// Blobs on their way to the disk. As long as this is alive, no blob is removed: drop it when the record that names its
/// blobs is committed, and soon.
///
/// When it fails, nothing of it is pending, and it does no more: begin another.
#[derive(Debug)]
pub struct Upload<'a> {
    files: &'a BlobFiles,
    /// Opened before anything is written: see [`sync_file_system`].
    root: File,
    encoder: Encoder,
    /// What names of this upload's temporary files begin with.
    prefix: String,
    /// What was put.
    seen: HashSet<BlobId>,
    /// What has no name yet.
    pending: Vec<Pending>,
    /// The first bytes of names that may not be durable.
    shelves: BTreeSet<u8>,
    failed: Option<BlobError>,
    _lock: File,
}

/// A blob in a temporary file.
#[derive(Debug)]
struct Pending {
    id: BlobId,
    path: PathBuf,
    /// Closed when there are many.
    file: Option<File>,
}

impl BlobFiles {
    /// Begins to write blobs. Waits while blobs are removed.
    ///
    /// A thread that is removing blobs itself waits in vain.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn begin(&self) -> Result<Upload<'_>, BlobError> {
        let blobs = self.blobs();
        let lock = self.lock_shared()?;
        let prefix = getrandom::u64().map_err(io::Error::from).map_err(BlobError::at(&blobs))?;
        Ok(Upload {
            files: self,
            root: File::open(&blobs).map_err(BlobError::at(&blobs))?,
            encoder: Encoder::new().map_err(BlobError::at(&blobs))?,
            prefix: format!("{prefix:016x}"),
            seen: HashSet::new(),
            pending: Vec::new(),
            shelves: BTreeSet::new(),
            failed: None,
            _lock: lock,
        })
    }
}

impl BlobSink for Upload<'_> {
    fn place(&self) -> u64 {
        self.files.place()
    }

    fn put(&mut self, bytes: Vec<u8>) -> Result<BlobId, BlobError> {
        if bytes.len() > MAX_BLOB_BYTES {
            return Err(BlobError::TooLarge(bytes.len()));
        }
        let id = BlobId::of(&bytes);
        if !self.seen.contains(&id) {
            self.attempt(|upload| upload.take(id, &bytes))?;
            self.seen.insert(id);
        }
        Ok(id)
    }
}

impl Upload<'_> {
    /// Makes everything that was put durable, and visible to all.
    ///
    /// # Errors
    /// What the system says; then some of it may be visible, which does no harm.
    pub fn sync(&mut self) -> Result<(), BlobError> {
        self.attempt(|upload| {
            if !upload.pending.is_empty() {
                upload.sync_contents()?;
                upload.rename()?;
            }
            upload.sync_names()
        })
    }

    /// Works, or ends this upload.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<(), BlobError>) -> Result<(), BlobError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        work(self).inspect_err(|error| {
            self.failed = Some(error.clone());
            self.discard();
        })
    }

    /// Takes a blob that was not put before.
    fn take(&mut self, id: BlobId, plain: &[u8]) -> Result<(), BlobError> {
        // Also if it is there: another process may have just renamed it.
        self.shelves.insert(id.as_bytes()[0]);
        // An empty file is not even an empty blob. What is damaged is replaced if that is known, but not looked for: that
        // would cost as much as writing.
        let there = self.files.stat(&id)?.is_some_and(|length| length > 0);
        if there && !self.files.is_faulty(&id) {
            return Ok(());
        }
        let path = self.files.temporary().join(format!("{}-{}", self.prefix, self.seen.len()));
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Some tools that copy directories leave empty ones out.
                self.files.make_directories()?;
                options.open(&path)
            }
            file => file,
        };
        let mut file = file.map_err(BlobError::at(&path))?;
        // From here on it is removed if anything fails.
        self.pending.push(Pending { id, path, file: None });
        let pending = self.pending.last_mut().expect("it was just pushed");
        let parts = self.encoder.encode(plain).map_err(BlobError::at(&pending.path))?;
        parts.iter().try_for_each(|part| file.write_all(part)).map_err(BlobError::at(&pending.path))?;
        pending.file = Some(file);
        if self.pending.len() > FEW {
            // This one; once, those before it too.
            self.pending.iter_mut().rev().take(FEW + 1).for_each(|pending| pending.file = None);
        }
        Ok(())
    }

    fn sync_contents(&self) -> Result<(), BlobError> {
        if self.pending.len() > FEW && sync_file_system(&self.root).map_err(BlobError::at(&self.files.blobs()))? {
            return Ok(());
        }
        each(&self.pending, |Pending { path, file, .. }| {
            let sync = || match file {
                Some(file) => file.sync_data(),
                None => File::open(path)?.sync_data(),
            };
            sync().map_err(BlobError::at(path))
        })
    }

    fn rename(&mut self) -> Result<(), BlobError> {
        while let Some(pending) = self.pending.last() {
            let path = self.files.path(&pending.id);
            match fs::rename(&pending.path, &path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.files.make_directories()?;
                    fs::rename(&pending.path, &path).map_err(BlobError::at(&path))?;
                }
                renamed => renamed.map_err(BlobError::at(&path))?,
            }
            self.files.forget(&pending.id);
            self.pending.pop();
        }
        Ok(())
    }

    fn sync_names(&mut self) -> Result<(), BlobError> {
        let many = self.shelves.len() > FEW;
        if !(many && sync_file_system(&self.root).map_err(BlobError::at(&self.files.blobs()))?) {
            let shelves: Vec<PathBuf> = self.shelves.iter().map(|first| self.files.shelf(*first)).collect();
            each(&shelves, |shelf| sync_directory(shelf))?;
        }
        self.shelves.clear();
        Ok(())
    }

    /// Removes what has no name yet.
    fn discard(&mut self) {
        for pending in self.pending.drain(..) {
            // What stays is removed with what killed processes leave.
            let _ = fs::remove_file(pending.path);
        }
    }
}

impl Drop for Upload<'_> {
    fn drop(&mut self) {
        self.discard();
    }
}
