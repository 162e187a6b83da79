//! Bytes that are named by what they are.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most bytes of a blob. A damaged file, or an archive of a stranger, that claims more is not believed, so this is what
/// reading one blob costs in memory at most. Contents of files are cut into chunks far smaller; a directory of 100,000
/// entries has a tenth of it.
pub const MAX_BLOB_BYTES: usize = 160 << 20;

/// The name of bytes: their blake3 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId([u8; 32]);

impl BlobId {
    /// The name of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for BlobId {
    fn from(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(blake3::Hash::from(self.0).to_hex().as_str())
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for BlobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlobId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for BlobId {
    type Err = blake3::HexError;

    /// Reads 64 hexadecimal digits, in lower case as [`BlobId`] writes them.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(*blake3::Hash::from_hex(text)?.as_bytes()))
    }
}

/// Why a blob cannot be had, or kept. Cheap to clone.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// There is none of this name.
    #[error("the blob {0} is missing")]
    Missing(BlobId),
    /// Its bytes are not those that were kept.
    #[error("the blob {0} is damaged: its bytes are not what its name says")]
    Damaged(BlobId),
    /// An upload of this process ended before it was synced, and others may have relied on what it had put.
    #[error("another upload was given up meanwhile: try again")]
    Abandoned,
    /// More than a blob may have.
    #[error("a blob of {0} bytes is too large: at most {MAX_BLOB_BYTES}")]
    TooLarge(usize),
    /// The disk is full.
    #[error("no space is left on the device that holds `{}`", path.display())]
    Full {
        /// What was written.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<io::Error>,
    },
    /// The system refused.
    #[error("cannot read or write `{}`", path.display())]
    Io {
        /// What was read or written.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<io::Error>,
    },
}

impl BlobError {
    /// What the system said of a path.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path, source: Arc::new(error) },
            _ => Self::Io { path, source: Arc::new(error) },
        }
    }
}

/// Where blobs are read. What it gives is what the name says: it has been checked.
pub trait BlobSource: Send + Sync + fmt::Debug {
    /// The bytes of a name. What is read often should be kept at hand: callers read parts of one blob again and again.
    ///
    /// # Errors
    /// [`BlobError::Missing`], [`BlobError::Damaged`], or what the system says.
    fn get(&self, id: &BlobId) -> Result<Bytes, BlobError>;

    /// As [`BlobSink::place`], of the sink whose blobs this has: what came from here need not be put there again. 0 if there
    /// is none.
    fn place(&self) -> u64 {
        0
    }
}

/// Where blobs are put.
pub trait BlobSink {
    /// Which source will have them: a number that no other place has in this process. What was put at a place, by any sink
    /// of it, is there or will be durable with what is put now. Where that cannot be kept the place ends, and sinks that
    /// are made then are of another.
    fn place(&self) -> u64;

    /// Takes bytes and names them. They need not be durable before the sink says so.
    ///
    /// # Errors
    /// What the system says.
    fn put(&mut self, bytes: Vec<u8>) -> Result<BlobId, BlobError>;

    /// Whether a blob is there, so that it need not be read to be put; then it is as if it had been put. False if that is
    /// not known.
    ///
    /// # Errors
    /// What the system says.
    fn has(&mut self, _: &BlobId) -> Result<bool, BlobError> {
        Ok(false)
    }
}

/// A place of blobs: they are read there, and put there for good.
pub trait Blobs: BlobSource {
    /// Begins to put blobs. What has been put may be removed as unused until a record names it: keep the upload until then.
    ///
    /// # Errors
    /// What the system says.
    fn begin(&self) -> Result<Box<dyn Upload + '_>, BlobError>;
}

/// Blobs on their way.
pub trait Upload: BlobSink {
    /// Makes durable all that was put so far.
    ///
    /// # Errors
    /// What the system says; then it may be tried again.
    fn sync(&mut self) -> Result<(), BlobError>;
}

/// A number for [`BlobSink::place`], given once in this process.
#[must_use]
pub fn new_place() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Blobs in memory.
#[derive(Debug)]
pub struct MemoryBlobs {
    place: u64,
    blobs: Mutex<HashMap<BlobId, Bytes>>,
}

impl Default for MemoryBlobs {
    fn default() -> Self {
        Self { place: new_place(), blobs: Mutex::default() }
    }
}

impl MemoryBlobs {
    fn lock(&self) -> MutexGuard<'_, HashMap<BlobId, Bytes>> {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }
}

impl BlobSource for MemoryBlobs {
    fn get(&self, id: &BlobId) -> Result<Bytes, BlobError> {
        self.lock().get(id).cloned().ok_or(BlobError::Missing(*id))
    }

    fn place(&self) -> u64 {
        self.place
    }
}

impl Blobs for MemoryBlobs {
    fn begin(&self) -> Result<Box<dyn Upload + '_>, BlobError> {
        Ok(Box::new(self))
    }
}

impl Upload for &MemoryBlobs {
    fn sync(&mut self) -> Result<(), BlobError> {
        Ok(())
    }
}

impl BlobSink for &MemoryBlobs {
    fn place(&self) -> u64 {
        self.place
    }

    fn put(&mut self, bytes: Vec<u8>) -> Result<BlobId, BlobError> {
        let id = BlobId::of(&bytes);
        self.lock().entry(id).or_insert_with(|| bytes.into());
        Ok(id)
    }

    fn has(&mut self, id: &BlobId) -> Result<bool, BlobError> {
        Ok(self.lock().contains_key(id))
    }
}
