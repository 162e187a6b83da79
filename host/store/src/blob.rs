//! Content-addressed bytes ("blobs"): their names, and the traits of sources and sinks.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Maximum size of a blob. A damaged file or an untrusted archive that claims more is rejected, so this is also the
/// maximum memory that reading one blob takes. File contents are split into far smaller chunks; a directory of 100,000
/// entries takes a tenth of this.
pub const MAX_BLOB_BYTES: usize = 160 << 20;

/// The name of a blob: the blake3 hash of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId([u8; 32]);

impl BlobId {
    /// Computes the name of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The bytes of the hash.
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

    /// Parses 64 hexadecimal digits, in lower case as [`BlobId`] prints them.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(*blake3::Hash::from_hex(text)?.as_bytes()))
    }
}

/// An error of reading or writing a blob. Cheap to clone.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// No blob has this name.
    #[error("the blob {0} is missing")]
    Missing(BlobId),
    /// The stored bytes do not match the blob's name.
    #[error("the blob {0} is damaged: its content does not match its hash")]
    Damaged(BlobId),
    /// Another upload of this process ended before it was synced, and this one may have relied on its blobs.
    #[error("another upload was abandoned in the meantime: try again")]
    Abandoned,
    /// The blob exceeds [`MAX_BLOB_BYTES`].
    #[error("a blob of {0} bytes is too large: at most {MAX_BLOB_BYTES}")]
    TooLarge(usize),
    /// The disk is full.
    #[error("no space is left on the device that holds `{}`", path.display())]
    Full {
        /// Path that was written.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: Arc<io::Error>,
    },
    /// The operating system reported an error.
    #[error("cannot read or write `{}`", path.display())]
    Io {
        /// Path that was read or written.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: Arc<io::Error>,
    },
}

impl BlobError {
    /// Converts an I/O error on `path`.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path, source: Arc::new(error) },
            _ => Self::Io { path, source: Arc::new(error) },
        }
    }
}

/// A source of blobs. The bytes that it returns have been checked against their name.
pub trait BlobSource: Send + Sync + fmt::Debug {
    /// Returns the bytes of a blob. Implementations should cache blobs, since callers read parts of one blob again and
    /// again.
    ///
    /// # Errors
    /// [`BlobError::Missing`], [`BlobError::Damaged`], or an error of the operating system.
    fn get(&self, id: &BlobId) -> Result<Bytes, BlobError>;

    /// Identifies the blob store that this source reads, as [`BlobSink::place`] does: blobs read from here need not be
    /// put there again. 0 if there is no such store.
    fn place(&self) -> u64 {
        0
    }
}

/// A sink of blobs.
pub trait BlobSink {
    /// Identifies the blob store that this sink writes to, unique within the process. Blobs put earlier under the same
    /// id, by any sink, are durable once this sink syncs. If that cannot be guaranteed, later sinks report a new id.
    fn place(&self) -> u64;

    /// Adds a blob and returns its name. The blob need not be durable before the sink is synced.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn put(&mut self, bytes: Vec<u8>) -> Result<BlobId, BlobError>;

    /// Returns true if a blob exists already, so that the caller need not read it to put it; it then counts as put.
    /// Returns false if that is not known.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn has(&mut self, _: &BlobId) -> Result<bool, BlobError> {
        Ok(false)
    }
}

/// A store of blobs, to read from and to write to.
pub trait Blobs: BlobSource {
    /// Begins an upload. Until a record refers to them, uploaded blobs may be removed as unused: keep the upload alive
    /// until then.
    ///
    /// # Errors
    /// Errors of the operating system.
    fn begin(&self) -> Result<Box<dyn Upload + '_>, BlobError>;
}

/// An upload of blobs that are not yet durable.
pub trait Upload: BlobSink {
    /// Makes all blobs put so far durable.
    ///
    /// # Errors
    /// Errors of the operating system; the call may then be repeated.
    fn sync(&mut self) -> Result<(), BlobError>;
}

/// Returns a new id for [`BlobSink::place`], unique within this process.
#[must_use]
pub fn new_place() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A store of blobs in memory.
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

    /// Number of blobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns true if there are no blobs.
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
