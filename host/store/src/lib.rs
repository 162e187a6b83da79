//! Persistent storage: small records in a [`Store`], file contents in [`Blobs`].
//!
//! Modules:
//! - `record`: keys, values and batches, and the [`Store`] trait;
//! - `memory`: the in-memory store;
//! - `group_commit`: group commit over a storage engine (`sled`, `redb`) in the store's directory (`store_dir`);
//!   `ack_counter` detects lost commits, `catch_panic` contains panics of the engine;
//! - `repair`: recovers what can be read of a damaged store;
//! - `foreign_writers`: refuses a store that other users can write to;
//! - `shared`: one store shared by many processes; `open` puts it all together;
//! - `blob`: content-addressed bytes, their sources and sinks;
//! - `blobs`: blobs in files on disk;
//! - `archive`: a session exported to one file;
//! - `parallel_map`: a map over many items with several threads.
//!
//! **Invariant:** this module knows nothing of sessions, trees or wasmtime: it maps keys and hashes to bytes.
//!
//! **Invariant:** whatever a method here has acknowledged survives `kill -9`; on disk, also a power failure. Blobs are
//! durable before a record refers to them.
#![deny(missing_docs)]

mod ack_counter;
mod archive;
mod blob;
mod blobs;
mod catch_panic;
mod foreign_writers;
mod group_commit;
mod memory;
mod open;
mod parallel_map;
mod record;
#[cfg(feature = "redb")]
mod redb;
mod repair;
mod shared;
mod sled;
mod store_dir;
#[cfg(test)]
mod tests;

pub use archive::{ArchiveError, ArchiveWriter, Part, read_archive};
pub use blob::{BlobError, BlobId, BlobSink, BlobSource, Blobs, MAX_BLOB_BYTES, MemoryBlobs, Upload, new_place};
pub use blobs::{Amount, BlobFiles, Exclusive, Fault, FileUpload, Named, SweepOptions, Swept, Verified};
pub use foreign_writers::refuse_strangers;
pub use group_commit::Compacted;
pub use memory::MemoryStore;
pub use open::open;
#[doc(hidden)]
pub use parallel_map::parallel_map;
pub use record::{
    Batch, Change, Done, Expectation, MAX_BATCH_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES, Owner, Record, Store, StoreError,
};
pub use repair::{Repaired, repair};
pub use shared::OpenStore;
#[cfg(unix)]
#[doc(hidden)]
pub use shared::{rewrite_answer, rewrite_request};
pub use store_dir::Backend;
