//! Writing blobs.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::durable::{each, pays_to_sync_file_system, sync_directory, sync_file_system};
use super::encoding::Encoder;
use super::files::BlobFiles;
use crate::store::{BlobError, BlobId, BlobSink, MAX_BLOB_BYTES, Upload};

/// Blobs of this size are compressed by several threads: one thread compresses 200 MB/s. Smaller ones are not worth
/// their handing over.
const LARGE: usize = 64 << 10;

/// How many bytes of large blobs wait for that.
const BATCH: usize = 8 << 20;

/// How many files stay open until they are synced: many sessions may upload at once.
const OPEN: usize = 8;

/// Blobs on their way to the disk. As long as this is alive, no blob is removed: drop it when the record that names its
/// blobs is committed, and soon.
///
/// When it fails, nothing of it is pending, and it does no more: begin another.
#[derive(Debug)]
pub struct FileUpload<'a> {
    files: &'a BlobFiles,
    /// Opened before anything is written: see [`sync_file_system`].
    root: File,
    encoder: Encoder,
    /// What names of this upload's temporary files begin with.
    prefix: String,
    /// What was put.
    seen: HashSet<BlobId>,
    /// Large blobs that are not written yet.
    waiting: Vec<(Pending, Vec<u8>)>,
    /// How many bytes those have.
    waiting_bytes: usize,
    /// What is written and has no name yet.
    pending: Vec<Pending>,
    /// How many bytes of blobs were taken since the last sync.
    taken: u64,
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
    /// Kept for the sync, if there are few.
    file: Option<File>,
}

impl BlobFiles {
    /// Begins to write blobs. Waits while blobs are removed.
    ///
    /// A thread that is removing blobs itself waits in vain.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn upload(&self) -> Result<FileUpload<'_>, BlobError> {
        let blobs = self.blobs();
        let lock = self.lock_shared()?;
        let prefix = getrandom::u64().map_err(io::Error::from).map_err(BlobError::at(&blobs))?;
        Ok(FileUpload {
            files: self,
            root: File::open(&blobs).map_err(BlobError::at(&blobs))?,
            encoder: Encoder::new().map_err(BlobError::at(&blobs))?,
            prefix: format!("{prefix:016x}"),
            seen: HashSet::new(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            pending: Vec::new(),
            taken: 0,
            shelves: BTreeSet::new(),
            failed: None,
            _lock: lock,
        })
    }
}

impl BlobSink for FileUpload<'_> {
    fn place(&self) -> u64 {
        self.files.place()
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
}

impl Upload for FileUpload<'_> {
    /// Makes everything that was put durable, and visible to all. If it fails, some of it may be visible, which does no
    /// harm.
    fn sync(&mut self) -> Result<(), BlobError> {
        self.attempt(|upload| {
            upload.write_waiting()?;
            let many = upload.pending.len() > 1 || upload.shelves.len() > 1;
            let whole = many && pays_to_sync_file_system(&upload.root, upload.taken);
            upload.sync_contents(whole)?;
            upload.rename()?;
            upload.sync_names(whole)?;
            upload.taken = 0;
            Ok(())
        })
    }
}

impl FileUpload<'_> {
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
    fn take(&mut self, id: BlobId, plain: Vec<u8>) -> Result<(), BlobError> {
        // Also if it is there: another process may have just renamed it.
        self.shelves.insert(id.as_bytes()[0]);
        // An empty file is not even an empty blob. What is damaged is replaced if that is known, but not looked for: that
        // would cost as much as writing.
        let there = self.files.stat(&id)?.is_some_and(|length| length > 0);
        if there && !self.files.is_faulty(&id) {
            return Ok(());
        }
        let path = self.files.temporary().join(format!("{}-{}", self.prefix, self.seen.len()));
        let pending = Pending { id, path, file: None };
        self.taken = self.taken.saturating_add(u64::try_from(plain.len()).unwrap_or(u64::MAX));
        if plain.len() < LARGE {
            return self.write(pending, &plain);
        }
        self.waiting_bytes += plain.len();
        self.waiting.push((pending, plain));
        if self.waiting_bytes >= BATCH { self.write_waiting() } else { Ok(()) }
    }

    fn write(&mut self, pending: Pending, plain: &[u8]) -> Result<(), BlobError> {
        let keep = self.pending.len() < OPEN;
        // From here on it is removed if anything fails.
        self.pending.push(pending);
        let pending = self.pending.last_mut().expect("it was just pushed");
        let file = write(self.files, &pending.path, &mut self.encoder, plain)?;
        pending.file = keep.then_some(file);
        Ok(())
    }

    fn write_waiting(&mut self) -> Result<(), BlobError> {
        each(&self.waiting, |(Pending { path, .. }, plain)| {
            let mut encoder = Encoder::new().map_err(BlobError::at(path))?;
            write(self.files, path, &mut encoder, plain).map(drop)
        })?;
        self.pending.extend(self.waiting.drain(..).map(|(pending, _)| pending));
        self.waiting_bytes = 0;
        Ok(())
    }

    fn sync_contents(&self, whole: bool) -> Result<(), BlobError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        if whole {
            return sync_file_system(&self.root).map_err(BlobError::at(&self.files.blobs()));
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

    fn sync_names(&mut self, whole: bool) -> Result<(), BlobError> {
        if whole && self.shelves.len() > 1 {
            sync_file_system(&self.root).map_err(BlobError::at(&self.files.blobs()))?;
        } else {
            let shelves: Vec<PathBuf> = self.shelves.iter().map(|first| self.files.shelf(*first)).collect();
            each(&shelves, |shelf| sync_directory(shelf))?;
        }
        self.shelves.clear();
        Ok(())
    }

    /// Removes what has no name yet.
    fn discard(&mut self) {
        let waiting = self.waiting.drain(..).map(|(pending, _)| pending);
        for pending in self.pending.drain(..).chain(waiting) {
            // What stays is removed with what killed processes leave.
            let _ = fs::remove_file(pending.path);
        }
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
            files.make_directories()?;
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

impl Drop for FileUpload<'_> {
    fn drop(&mut self) {
        self.discard();
    }
}
