//! The session's files: a persistent tree of files, directories and symbolic links.
//!
//! A [`Tree`] is a value. Cloning one costs a few reference counts; a change copies only the pages of directories on the
//! way to it and the pieces of content that it touches, so a clone is a snapshot that no later change can reach.
//! [`Tree::seal`] puts one into a store and names it, [`Tree::open`] gives it back: of what was stored, only that is loaded
//! which is looked at, and only that is stored again which has changed.
//!
//! What is inside:
//! - `tree`: the tree itself, its limits, the few primitive edits that everything else is made of;
//! - `node`, `directory`, `content`: what an entry is, directories in pages, the bytes of a file in pieces;
//! - `snapshot`: the format of what is stored, and the ways there and back;
//! - `chunk`, `rechunk`: contents as blobs;
//! - `stored`: what parts of a tree remember of the store; `scale`: how large parts are;
//! - `path`: the one place that walks a path, follows links and refuses hostile names;
//! - `places`: which parts a guest may write to;
//! - `scope`: which parts a tool was granted, and walks that stay in them;
//! - `inspect`, `file`, `entry`: the guests' `files` interface (`wit/guest.wit`);
//! - `import`: host directories copied in (`host_directory` opens them), files placed by the host;
//! - `compare`: what differs between two trees, found without looking at what they share;
//! - `change`, `unified`: that, for people: by path, and as text;
//! - `diff`: that, as what makes one tree of the other, applied to a third.
//!
//! **Invariant:** this module knows nothing of wasmtime or of a clock, and of the store only blobs: times come in as
//! `now`, nanoseconds since the Unix epoch. It touches the host's disk in `import` and `host_directory` only, and only to read.
//!
//! **Invariant:** an operation that fails leaves the tree as it was. What a store does not have, or has wrong, is
//! [`Errno::Io`] to whoever needs it, and to nobody else.
//!
//! **Invariant:** a tree's name follows from what is in it: its pages, chunks and encoding have no history.
//!
//! **Invariant:** every entry, also of a hostile snapshot, has a path of at most [`MAX_PATH_BYTES`] bytes and
//! [`MAX_DEPTH`] names, so a guest can name all that it made, and code that recurses over a tree (dropping it, too) does so within a known depth.
//!
//! ```
//! use tollhouse::vfs::{Limits, Tree, WriteMode};
//!
//! let mut tree = Tree::new(Limits::default(), 0);
//! tree.write("/workspace/notes.txt", b"hello", WriteMode::Create, 1)?;
//! let before = tree.clone();
//! tree.write("/workspace/notes.txt", b", world", WriteMode::Append, 2)?;
//! assert_eq!(tree.read_file("/workspace/notes.txt")?, b"hello, world");
//! assert_eq!(before.read_file("/workspace/notes.txt")?, b"hello");
//! # Ok::<(), tollhouse::vfs::Errno>(())
//! ```

mod change;
mod chunk;
mod compare;
mod content;
mod diff;
mod directory;
mod entry;
mod errno;
mod file;
mod host_directory;
mod import;
mod inspect;
#[cfg(test)]
mod model;
mod node;
mod path;
mod places;
mod rechunk;
mod scale;
mod scope;
mod snapshot;
mod stored;
mod tree;
mod unified;

pub use change::{Change, ChangeKind, changed_paths};
pub use content::{Content, Pieces};
pub use diff::{Action, ApplyError, Body, Edit};
pub use errno::Errno;
pub use file::WriteMode;
pub use import::{MountError, Mounted, SkipReason, Skipped, now};
pub use inspect::{Entry, Kind, Stat};
pub use node::Usage;
pub use path::{MAX_DEPTH, MAX_LINKS, MAX_NAME_BYTES, MAX_PATH_BYTES};
pub use scope::{Grant, Refusal, Resolved, Scope};
pub(crate) use snapshot::Claimed;
#[doc(hidden)]
pub use snapshot::rewrite;
pub use snapshot::{Malformed, OpenError, Reference, ReferenceKind, SnapshotId, references};
pub use tree::{Limits, Tree};
pub use unified::{UnifiedLimits, unified};
