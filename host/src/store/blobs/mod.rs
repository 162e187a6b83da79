//! Blobs in files, named by their hash.
//!
//! ```text
//! DIR/blobs/format    says which version of Tollhouse has made this
//! DIR/blobs/ab/cdef…  the blob `abcdef…`: see `encoding`
//! DIR/blobs/tmp/      what uploads write before it has a name
//! DIR/blobs.lock      held shared by each upload, and alone by whoever removes blobs
//! DIR/blobs.turn      held by whoever waits to remove blobs, so that uploads let it pass
//! DIR/damaged/        blobs that were found damaged
//! ```
//!
//! What is inside:
//! - `files`: the directory, reading, looking;
//! - `encoding`: what a file holds; `cache`: what was read lately;
//! - `upload`, `pool`: writing; `durable`: how what was written becomes durable;
//! - `lock`: who may remove, and removing; `sweep`: removing what nothing names;
//! - `verify`: looking at every blob.
//!
//! **Invariant:** what is under a blob's name is whole and durable, all of it: it gets the name by a rename, after a sync.
//! A name is durable when the upload that saw or made it says so.
//!
//! **Invariant:** nothing is removed while an upload is alive: a blob that an upload has seen is there until the caller has
//! committed the record that names it, and has dropped the upload.

mod cache;
mod durable;
mod encoding;
mod files;
mod lock;
mod pool;
mod sweep;
mod upload;
mod verify;

#[cfg(test)]
mod tests;

pub use files::{BlobFiles, Fault};
pub use lock::Exclusive;
pub use sweep::{Amount, Named, SweepOptions, Swept};
pub use upload::FileUpload;
pub use verify::Verified;
