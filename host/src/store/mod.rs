//! What outlives a process: small records in a [`Store`], bytes of files in [`Blobs`].
//!
//! What is inside:
//! - `record`: keys, values, batches: what a store is asked;
//! - `memory`: the store that ends with its process;
//! - `blob`: what content-addressed bytes are, and where they are put and read;
//! - `blobs`: them in files, on disk;
//! - `archive`: a session in one file.
//!
//! **Invariant:** this module knows nothing of sessions, trees or wasmtime: it keeps bytes under keys and under hashes.
//!
//! **Invariant:** what a method here has acknowledged survives `kill -9`; on disk, also a power cut. Blobs are durable
//! before a record names them.

mod archive;
mod blob;
mod blobs;
mod memory;
mod record;

pub use archive::{ArchiveError, ArchiveWriter, Part, read_archive};
pub use blob::{BlobError, BlobId, BlobSink, BlobSource, MAX_BLOB_BYTES, MemoryBlobs, new_place};
pub use blobs::{Amount, BlobFiles, Exclusive, Fault, Named, SweepOptions, Swept, Upload, Verified};
pub use memory::MemoryStore;
pub use record::{Batch, Change, Expectation, MAX_KEY_BYTES, MAX_VALUE_BYTES, Owner, Record, Store, StoreError};
