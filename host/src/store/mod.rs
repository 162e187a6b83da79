//! What outlives a process: small records in a [`Store`], bytes of files in [`Blobs`].
//!
//! What is inside:
//! - `record`: keys, values, batches: what a store is asked;
//! - `memory`: the store that ends with its process;
//! - `blob`: what content-addressed bytes are, and where they are put and read;
//! - `blobs`: them in files, on disk.
//!
//! **Invariant:** this module knows nothing of sessions, trees or wasmtime: it keeps bytes under keys and under hashes.
//!
//! **Invariant:** what a method here has acknowledged survives `kill -9`; on disk, also a power cut. Blobs are durable
//! before a record names them.

mod blob;
mod blobs;
mod memory;
mod record;

pub use blob::{BlobError, BlobId, BlobSink, BlobSource, Blobs, MAX_BLOB_BYTES, MemoryBlobs, Upload, new_place};
pub use blobs::{BlobFiles, Exclusive, Fault, FileUpload, Verified};
pub use memory::MemoryStore;
pub use record::{Batch, Change, Expectation, MAX_KEY_BYTES, MAX_VALUE_BYTES, Owner, Record, Store, StoreError};
