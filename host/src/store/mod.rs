//! What outlives a process: small records in a [`Store`], bytes of files in [`Blobs`].
//!
//! What is inside:
//! - `record`: keys, values, batches: what a store is asked;
//! - `memory`: the store that ends with its process;
//! - `group`: group commit, over a database (`sled`, `redb`) in its directory (`place`), watched by `tail` and `guard`;
//! - `repair`: saves what can be read of a damaged store;
//! - `strangers`: a store that others can write is refused;
//! - `shared`: one store, many processes; `open` puts it all together;
//! - `blob`: what content-addressed bytes are, and where they are put and read;
//! - `blobs`: them in files, on disk;
//! - `archive`: a session in one file;
//! - `abreast`: several threads on many things.
//!
//! **Invariant:** this module knows nothing of sessions, trees or wasmtime: it keeps bytes under keys and under hashes.
//!
//! **Invariant:** what a method here has acknowledged survives `kill -9`; on disk, also a power cut. Blobs are durable
//! before a record names them.

mod abreast;
mod archive;
mod blob;
mod blobs;
mod group;
mod guard;
mod memory;
mod open;
mod place;
mod record;
#[cfg(feature = "redb")]
mod redb;
mod repair;
mod shared;
mod sled;
mod strangers;
mod tail;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use abreast::abreast;
pub use archive::{ArchiveError, ArchiveWriter, Part, read_archive};
pub use blob::{BlobError, BlobId, BlobSink, BlobSource, Blobs, MAX_BLOB_BYTES, MemoryBlobs, Upload, new_place};
pub use blobs::{Amount, BlobFiles, Exclusive, Fault, FileUpload, Named, SweepOptions, Swept, Verified};
pub use group::Compacted;
pub use memory::MemoryStore;
pub use open::open;
pub use place::Backend;
pub use record::{
    Batch, Change, Done, Expectation, MAX_BATCH_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES, Owner, Record, Store, StoreError,
};
pub use repair::{Repaired, repair};
pub use shared::OpenStore;
#[cfg(unix)]
#[doc(hidden)]
pub use shared::{rewrite_answer, rewrite_request};
pub use strangers::refuse_strangers;
