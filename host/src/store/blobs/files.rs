//! The directory of blobs: where each is, and reading.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tollhouse_registry::untrusted_file::{self, ReadError};

use super::cache::Cache;
use super::durable::{make_directory, make_entry, sync_directory};
use super::encoding::{MAX_FILE_BYTES, decode};
use super::pool::Pool;
use crate::store::{BlobError, BlobId, BlobSource, Blobs, Upload};

/// What `DIR/blobs/format` holds.
const FORMAT: &[u8] = b"tollhouse blobs 1\n";

/// How many bytes of blobs are kept in memory: a large file is read in pieces far smaller than its chunks.
const CACHE_BYTES: usize = 64 << 20;

/// How many faults are remembered. Who has so many needs no more to know what to do.
const MAX_FAULTS: usize = 64;

/// A directory of blobs. Shared by threads and by processes.
#[derive(Debug)]
pub struct BlobFiles {
    directory: PathBuf,
    /// `DIR/blobs`, as long as this is open: what was not written since is told when it is synced.
    pub(super) root: File,
    pub(super) pool: Mutex<Pool>,
    pub(super) working: Mutex<BTreeSet<u8>>,
    cache: Mutex<Cache>,
    faults: Mutex<VecDeque<Fault>>,
}

/// A blob that could not be read.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Which.
    pub blob: BlobId,
    /// Why.
    pub error: BlobError,
}

impl BlobFiles {
    /// Opens the blobs of `directory`, making what is absent, durably.
    ///
    /// # Errors
    /// If the system refuses, or another version of Tollhouse has made the directory.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, BlobError> {
        let directory = directory.into();
        let blobs = directory.join("blobs");
        let path = blobs.join("format");
        match fs::read(&path) {
            Ok(format) if format == FORMAT => {}
            Ok(_) => {
                let other = "these blobs are of another version of Tollhouse";
                return Err(BlobError::at(&path)(io::Error::new(io::ErrorKind::InvalidData, other)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&blobs, &path)?,
            Err(error) => return Err(BlobError::at(&path)(error)),
        }
        Ok(Self {
            directory,
            root: File::open(&blobs).map_err(BlobError::at(&blobs))?,
            pool: Mutex::default(),
            working: Mutex::default(),
            cache: Mutex::new(Cache::new(CACHE_BYTES)),
            faults: Mutex::default(),
        })
    }

    /// The directory that was opened: `DIR`.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn blobs(&self) -> PathBuf {
        self.directory.join("blobs")
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.directory.join("blobs/tmp")
    }

    /// Where blobs are whose name begins with a byte.
    pub(super) fn shelf(&self, first: u8) -> PathBuf {
        self.directory.join(format!("blobs/{first:02x}"))
    }

    /// Where a blob is, if it is.
    #[must_use]
    pub fn path(&self, id: &BlobId) -> PathBuf {
        let name = id.to_string();
        let (shelf, rest) = name.split_at(2);
        let mut path = self.blobs();
        path.push(shelf);
        path.push(rest);
        path
    }

    /// How many bytes a blob takes on disk, compressed; none if it is absent. It is not read.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn stat(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        let path = self.path(id);
        match fs::symlink_metadata(&path) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(BlobError::at(&path)(error)),
        }
    }

    /// All blobs and how many bytes they take on disk, in the order of their names. Blobs that come or go meanwhile may be
    /// among them or not. Files whose names are not those of blobs are passed over.
    pub fn list(&self) -> impl Iterator<Item = Result<(BlobId, u64), BlobError>> {
        (0..=u8::MAX).flat_map(|first| match self.list_shelf(first) {
            Ok(listed) => listed.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    }

    fn list_shelf(&self, first: u8) -> Result<Vec<(BlobId, u64)>, BlobError> {
        let shelf = self.shelf(first);
        let entries = match fs::read_dir(&shelf) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(BlobError::at(&shelf))?,
        };
        let mut listed = Vec::new();
        for entry in entries {
            let entry = entry.map_err(BlobError::at(&shelf))?;
            let Some(id) = name(first, &entry) else { continue };
            match entry.metadata() {
                Ok(metadata) => listed.push((id, metadata.len())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(BlobError::at(&entry.path())(error)),
            }
        }
        listed.sort_unstable();
        Ok(listed)
    }

    /// Reads a blob from disk and checks it.
    pub(super) fn read(&self, id: &BlobId) -> Result<Bytes, BlobError> {
        let path = self.path(id);
        // A pipe, which might stand there too, would have the reader wait.
        let file = match untrusted_file::open_regular(&path) {
            Ok(file) => file,
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BlobError::Missing(*id));
            }
            Err(ReadError::Io(error)) => return Err(BlobError::at(&path)(error)),
            Err(_) => return Err(BlobError::Damaged(*id)),
        };
        // The length is looked at first, so that what someone made huge is never read into memory.
        let length = file.metadata().map_err(BlobError::at(&path))?.len();
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_FILE_BYTES);
        let length = length.ok_or(BlobError::Damaged(*id))?;
        let mut bytes = Vec::with_capacity(length);
        // So many and no more: to ask for what is behind them would be another call.
        file.take(length as u64).read_to_end(&mut bytes).map_err(BlobError::at(&path))?;
        match decode(bytes) {
            Some(plain) if BlobId::of(&plain) == *id => Ok(plain),
            _ => Err(BlobError::Damaged(*id)),
        }
    }

    /// The blobs that could not be read, each with what was said last; at most 64, the latest at the end. A blob that is
    /// written anew is no longer among them.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        self.lock_faults().iter().cloned().collect()
    }

    fn remember(&self, fault: Fault) {
        let mut faults = self.lock_faults();
        faults.retain(|known| known.blob != fault.blob);
        if faults.len() >= MAX_FAULTS {
            faults.pop_front();
        }
        faults.push_back(fault);
    }

    /// Whether the blob could not be read when it was tried.
    pub(super) fn is_faulty(&self, id: &BlobId) -> bool {
        self.lock_faults().iter().any(|fault| fault.blob == *id)
    }

    /// The blob was written anew, or is no more: what was known of it is no longer so.
    pub(super) fn forget(&self, id: &BlobId) {
        self.lock_faults().retain(|fault| fault.blob != *id);
        self.lock_cache().remove(id);
    }

    fn lock_faults(&self) -> MutexGuard<'_, VecDeque<Fault>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the directories, and the file that says what is in them.
fn make(blobs: &Path, format: &Path) -> Result<(), BlobError> {
    make_directory(blobs)?;
    let temporary = blobs.join("tmp");
    make_entry(&temporary)?;
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(&temporary)?;
        io::Write::write_all(&mut file, FORMAT)?;
        file.as_file().sync_all()?;
        file.persist(format)?;
        Ok(())
    };
    write().map_err(BlobError::at(format))?;
    sync_directory(blobs)
}

impl Blobs for BlobFiles {
    fn begin(&self) -> Result<Box<dyn Upload + '_>, BlobError> {
        Ok(Box::new(BlobFiles::begin(self)?))
    }
}

impl BlobSource for BlobFiles {
    fn get(&self, id: &BlobId) -> Result<Bytes, BlobError> {
        if let Some(bytes) = self.lock_cache().get(id) {
            return Ok(bytes);
        }
        // Not under the lock: many read at once. Two that read the same blob both read it; that is rare and right.
        match self.read(id) {
            Ok(bytes) => {
                self.lock_cache().insert(*id, bytes.clone());
                Ok(bytes)
            }
            Err(error) => {
                self.remember(Fault { blob: *id, error: error.clone() });
                Err(error)
            }
        }
    }

    fn place(&self) -> u64 {
        self.pool().place
    }
}

/// The blob whose file an entry of a shelf is.
fn name(first: u8, entry: &DirEntry) -> Option<BlobId> {
    let name = entry.file_name();
    let name = name.to_str()?;
    let id: BlobId = format!("{first:02x}{name}").parse().ok()?;
    // The hexadecimal digits of other spellings are not where anyone looks.
    (id.to_string()[2..] == *name).then_some(id)
}
