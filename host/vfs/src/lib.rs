//! The session's files: a persistent tree of files, directories and symbolic links.
//!
//! A [`Tree`] is a value. Cloning it costs a few reference counts; a change copies only the directory pages on the path
//! and the pieces of content that it touches, so a clone is a snapshot that later changes cannot affect. [`Tree::seal`]
//! stores a tree and returns its name, [`Tree::open`] opens it again: parts of a stored tree are loaded only when they
//! are accessed, and stored again only if they have changed.
//!
//! Modules:
//! - `tree`: the tree itself, its limits, and the few primitive edits that all operations consist of;
//! - `node`, `directory`, `content`: entries, directories in pages, file contents in pieces;
//! - `snapshot`: the storage format, its encoding and decoding;
//! - `chunk`, `chunked_upload`: contents as blobs;
//! - `blob_ref`: references from parts of a tree to the store; `format_params`: sizes of the parts;
//! - `path`: the only code that resolves paths, follows links and rejects invalid names;
//! - `write_rules`: the parts of the tree that guests may write to;
//! - `scope`: the parts of the tree that a tool was granted, and path resolution confined to them;
//! - `inspect`, `file`, `entry`: the guests' `files` interface (`wit/guest.wit`);
//! - `import`: copies of host directories (opened by `host_directory`), and files created by the host;
//! - `compare`: the differences between two trees, found without reading what they share;
//! - `changed_paths`, `unified_diff`: differences for people, as paths and as text;
//! - `diff`: differences as edits that can be applied to a third tree.
//!
//! **Invariant:** this module knows nothing of wasmtime or of a clock, and of the store only blobs: times are passed as
//! `now`, in nanoseconds since the Unix epoch. Only `import` and `host_directory` access the host's disk, and only to
//! read.
//!
//! **Invariant:** a failed operation leaves the tree unchanged. Missing or damaged data of the store is [`Errno::Io`]
//! for the operations that need it, and affects no others.
//!
//! **Invariant:** a tree's name depends only on its contents: its pages, chunks and encoding do not depend on its
//! history.
//!
//! **Invariant:** every entry, even of a hostile snapshot, has a path of at most [`MAX_PATH_BYTES`] bytes and
//! [`MAX_DEPTH`] names, so that a guest can name everything it has created, and code that recurses over a tree
//! (including dropping it) does so within a known depth.
//!
//! ```
//! use tollhouse_vfs::{Limits, Tree, WriteMode};
//!
//! let mut tree = Tree::new(Limits::default(), 0);
//! tree.write("/workspace/notes.txt", b"hello", WriteMode::Create, 1)?;
//! let before = tree.clone();
//! tree.write("/workspace/notes.txt", b", world", WriteMode::Append, 2)?;
//! assert_eq!(tree.read_file("/workspace/notes.txt")?, b"hello, world");
//! assert_eq!(before.read_file("/workspace/notes.txt")?, b"hello");
//! # Ok::<(), tollhouse_vfs::Errno>(())
//! ```
#![deny(missing_docs)]

mod blob_ref;
mod changed_paths;
mod chunk;
mod chunked_upload;
mod compare;
mod content;
mod diff;
mod directory;
mod entry;
mod errno;
mod file;
mod format_params;
mod host_directory;
mod import;
mod inspect;
#[cfg(test)]
mod model;
mod node;
mod path;
mod scope;
mod snapshot;
mod tree;
mod unified_diff;
mod write_rules;

pub use changed_paths::{Change, ChangeKind, changed_paths};
pub use content::{Content, Pieces};
pub use diff::{Action, ApplyError, Body, Edit};
pub use errno::Errno;
pub use file::WriteMode;
pub use import::{MountError, Mounted, SkipReason, Skipped, now};
pub use inspect::{Entry, Kind, Stat};
pub use node::Usage;
pub use path::{MAX_DEPTH, MAX_LINKS, MAX_NAME_BYTES, MAX_PATH_BYTES};
pub use scope::{Grant, Refusal, Resolved, Scope};
#[doc(hidden)]
pub use snapshot::Claimed;
#[doc(hidden)]
pub use snapshot::rewrite;
pub use snapshot::{Malformed, OpenError, Reference, ReferenceKind, SnapshotId, references};
pub use tree::{Limits, Tree};
pub use unified_diff::{UnifiedLimits, unified};
