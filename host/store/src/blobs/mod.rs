//! Blobs in files, named by their hash.
//!
//! ```text
//! DIR/blobs/format    states which version of Tollhouse has written this directory
//! DIR/blobs/ab/cdef…  the blob `abcdef…`: see `encoding`
//! DIR/blobs/packs/…   small blobs that were put together, many in a file: see `pack`
//! DIR/blobs/tmp/      temporary files of uploads, before they are renamed
//! DIR/blobs.lock      held shared by each upload, and exclusively by a process that removes blobs
//! DIR/blobs.turn      held by a process that waits to remove blobs, so that new uploads do not overtake it
//! DIR/damaged/        blobs that were found damaged
//! ```
//!
//! Modules:
//! - `files`: the directory, listing and reading;
//! - `encoding`: the format of a file; `pack`, `packs`: the format of a pack, and the known ones; `blob_cache`: recently read blobs;
//! - `upload`, `upload_pool`: writing; `durable`: how written data becomes durable;
//! - `removal_lock`: the right to remove blobs, and their removal; `sweep`: garbage collection;
//! - `verify`: checking every blob.
//!
//! **Invariant:** a file under a blob's or a pack's name is complete and durable: it gets the name by a rename, after a sync. The
//! name is durable once the upload that found or created it has been synced.
//!
//! **Invariant:** no blob is removed while an upload is alive: a blob that an upload has found exists until the caller
//! has committed the record that refers to it, and has dropped the upload.

mod blob_cache;
mod durable;
mod encoding;
mod files;
mod pack;
mod packs;
mod removal_lock;
mod sweep;
mod upload;
mod upload_pool;
mod verify;

#[cfg(test)]
mod tests;

pub use files::{BlobFiles, Fault};
pub use removal_lock::Exclusive;
pub use sweep::{Amount, Named, SweepOptions, Swept};
pub use upload::FileUpload;
pub use verify::Verified;
