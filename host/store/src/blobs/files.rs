//! The directory of blobs: paths, listing and reading.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tollhouse_types::untrusted_file::{self, ReadError};

use super::blob_cache::BlobCache;
use super::durable::{IfExists, make_directory, write_file};
use super::encoding::{MAX_FILE_BYTES, decode};
use super::packs::KnownPacks;
use super::upload_pool::UploadPool;
use crate::{BlobError, BlobId, BlobSource, Blobs, Upload};

/// Contents of `DIR/blobs/format` as long as each blob has a file of its own.
const FORMAT_OF_FILES: &[u8] = b"tollhouse blobs 1\n";

/// Contents of `DIR/blobs/format` since the first pack was written: versions that do not know packs refuse it.
const FORMAT_OF_PACKS: &[u8] = b"tollhouse blobs 2\n";

/// Size of the cache of blobs: a large file is read in pieces far smaller than its chunks.
const CACHE_BYTES: usize = 64 << 20;

/// Maximum number of faults kept: with so many, more of them would not help the user.
const MAX_FAULTS: usize = 64;

/// A directory of blob files, shared by threads and by processes.
#[derive(Debug)]
pub struct BlobFiles {
    directory: PathBuf,
    /// Handle of `DIR/blobs`, open as long as this is: syncing it reports all write errors since then.
    pub(super) root: File,
    pub(super) pool: Mutex<UploadPool>,
    pub(super) working: Mutex<BTreeSet<u8>>,
    pub(super) packs: Mutex<Arc<KnownPacks>>,
    /// Set once the format is known to allow packs.
    allows_packs: AtomicBool,
    cache: Mutex<BlobCache>,
    faults: Mutex<VecDeque<Fault>>,
}

/// A blob that could not be read, and why.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Name of the blob.
    pub blob: BlobId,
    /// Error of the last attempt.
    pub error: BlobError,
}

impl BlobFiles {
    /// Opens the blobs in `directory`, creating durably whatever is absent.
    ///
    /// # Errors
    /// If the operating system reports an error, or another version of Tollhouse has written the directory.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, BlobError> {
        let directory = directory.into();
        let blobs = directory.join("blobs");
        let allows_packs = match read_format(&blobs)? {
            Some(allows_packs) => allows_packs,
            None => {
                let temporary = blobs.join("tmp");
                make_directory(&temporary)?;
                // Another process may have been faster.
                write_file(&temporary, &blobs.join("format"), FORMAT_OF_FILES, IfExists::Keep)?;
                read_format(&blobs)?.unwrap_or(false)
            }
        };
        Ok(Self {
            directory,
            root: File::open(&blobs).map_err(BlobError::at(&blobs))?,
            pool: Mutex::default(),
            working: Mutex::default(),
            packs: Mutex::default(),
            allows_packs: AtomicBool::new(allows_packs),
            cache: Mutex::new(BlobCache::new(CACHE_BYTES)),
            faults: Mutex::default(),
        })
    }

    /// The directory that was opened, `DIR`.
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

    /// Directory of the blobs whose name begins with this byte.
    pub(super) fn shelf(&self, first: u8) -> PathBuf {
        self.directory.join(format!("blobs/{first:02x}"))
    }

    /// Path of a blob's file, whether it exists or not.
    #[must_use]
    pub fn path(&self, id: &BlobId) -> PathBuf {
        let name = id.to_string();
        let (shelf, rest) = name.split_at(2);
        let mut path = self.blobs();
        path.push(shelf);
        path.push(rest);
        path
    }

    /// States durably that there may be packs, and makes their directory.
    pub(super) fn allow_packs(&self) -> Result<(), BlobError> {
        if !self.allows_packs.load(Ordering::Acquire) {
            // The directory first: the format is the last thing that is made.
            make_directory(&self.packs_directory())?;
            let path = self.blobs().join("format");
            write_file(&self.temporary(), &path, FORMAT_OF_PACKS, IfExists::Replace)?;
            self.allows_packs.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Returns the size of a blob on disk, compressed, without reading it; `None` if it is absent.
    ///
    /// # Errors
    /// If the operating system reports an error.
    pub fn stat(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        match self.stat_file(id)? {
            Some(length) => Ok(Some(length)),
            None => Ok(self.find_packs()?.find(id).next().map(|(_, entry)| entry.length.into())),
        }
    }

    /// Returns the size of a blob that has a file of its own.
    pub(super) fn stat_file(&self, id: &BlobId) -> Result<Option<u64>, BlobError> {
        let path = self.path(id);
        match fs::symlink_metadata(&path) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(BlobError::at(&path)(error)),
        }
    }

    /// Lists all blobs with their sizes on disk, in order of their names. Blobs added or removed meanwhile may be
    /// included or not. Files whose names are not those of blobs are skipped.
    pub fn list(&self) -> impl Iterator<Item = Result<(BlobId, u64), BlobError>> {
        let packs = self.find_packs();
        (0..=u8::MAX).flat_map(move |first| {
            let listed = packs.clone().and_then(|packs| {
                let mut listed = self.list_shelf(first)?;
                let packed = packs.packs().flat_map(|pack| pack.entries_of(first));
                listed.extend(packed.map(|entry| (entry.id, u64::from(entry.length))));
                // A blob may be in several places.
                listed.sort_by_key(|(id, _)| *id);
                listed.dedup_by_key(|(id, _)| *id);
                Ok(listed)
            });
            match listed {
                Ok(listed) => listed.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            }
        })
    }

    /// Lists the blobs with files of their own whose names begin with this byte.
    pub(super) fn list_shelf(&self, first: u8) -> Result<Vec<(BlobId, u64)>, BlobError> {
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

    /// Reads a blob from disk and verifies it: from the packs that are known, its own file, or packs that are not known
    /// yet, whichever has an intact copy.
    pub(super) fn read(&self, id: &BlobId) -> Result<Bytes, BlobError> {
        if let Ok(plain) = self.read_packed(&self.known_packs(), id) {
            return Ok(plain);
        }
        let error = match self.read_file(id) {
            Err(error @ (BlobError::Missing(_) | BlobError::Damaged(_))) => error,
            read => return read,
        };
        let packs = self.find_packs()?;
        match self.read_packed(&packs, id) {
            // It may have been in a pack whose index is damaged.
            Err(BlobError::Missing(_)) if !packs.damaged().is_empty() => Err(BlobError::Damaged(*id)),
            Err(BlobError::Missing(_)) => Err(error),
            read => read,
        }
    }

    /// Reads a blob that has a file of its own.
    fn read_file(&self, id: &BlobId) -> Result<Bytes, BlobError> {
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
        // The length is checked first, so that an oversized file is never read into memory.
        let length = file.metadata().map_err(BlobError::at(&path))?.len();
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_FILE_BYTES);
        let length = length.ok_or(BlobError::Damaged(*id))?;
        let mut bytes = Vec::with_capacity(length);
        // Exactly this many: looking for more would take another system call.
        file.take(length as u64).read_to_end(&mut bytes).map_err(BlobError::at(&path))?;
        decode_verified(id, bytes)
    }

    /// The blobs that could not be read, each with its last error: at most 64, the latest at the end. A blob that has
    /// been written again is removed from the list.
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

    /// Returns true if an earlier attempt to read the blob failed.
    pub(super) fn is_faulty(&self, id: &BlobId) -> bool {
        self.lock_faults().iter().any(|fault| fault.blob == *id)
    }

    /// Forgets what is known of a blob, because it was written again or removed.
    pub(super) fn forget(&self, id: &BlobId) {
        self.lock_faults().retain(|fault| fault.blob != *id);
        self.lock_cache().remove(id);
    }

    fn lock_faults(&self) -> MutexGuard<'_, VecDeque<Fault>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_cache(&self) -> MutexGuard<'_, BlobCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Decodes a blob, and compares it with its name.
pub(super) fn decode_verified(id: &BlobId, encoded: Vec<u8>) -> Result<Bytes, BlobError> {
    match decode(encoded) {
        Some(plain) if BlobId::of(&plain) == *id => Ok(plain),
        _ => Err(BlobError::Damaged(*id)),
    }
}

/// Reads the format: whether there may be packs. Returns `None` if it is not stated yet.
fn read_format(blobs: &Path) -> Result<Option<bool>, BlobError> {
    let path = blobs.join("format");
    match fs::read(&path) {
        Ok(format) if format == FORMAT_OF_FILES => Ok(Some(false)),
        Ok(format) if format == FORMAT_OF_PACKS => Ok(Some(true)),
        Ok(_) => {
            let other = "these blobs were written by another version of Tollhouse";
            Err(BlobError::at(&path)(io::Error::new(io::ErrorKind::InvalidData, other)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BlobError::at(&path)(error)),
    }
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
        // Not under the lock, so that many threads can read at once. If two threads read the same blob, both load it,
        // which is rare and correct.
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

/// Returns the blob whose file a directory entry is, or `None` if it is not a blob's file.
fn name(first: u8, entry: &DirEntry) -> Option<BlobId> {
    let name = entry.file_name();
    let name = name.to_str()?;
    let id: BlobId = format!("{first:02x}{name}").parse().ok()?;
    // Other spellings of the hexadecimal digits are not where readers look.
    (id.to_string()[2..] == *name).then_some(id)
}
