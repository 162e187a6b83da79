//! Entries of the tree, and the sums that every directory keeps of everything below it.
//!
//! Nothing here checks a limit or a permission: `tree` does so before an edit.

use std::sync::Arc;

use super::content::Content;
use super::directory::DirectoryNode;
use super::format_params::MAX_SUM;
use super::path::{MAX_DEPTH, MAX_PATH_BYTES};

/// A name in a directory: not empty, not `.` or `..`, without `/` and NUL.
pub(super) type Name = Arc<str>;

/// The part of its quota that a tree uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Bytes of all files, and of the targets of links. Holes and shared pieces count in full.
    pub bytes: u64,
    /// Number of files, directories and links, not counting the root.
    pub entries: u64,
}

/// Length of the longest paths below an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct PathExtent {
    /// Number of names in the longest path below.
    pub(super) levels: usize,
    /// Number of bytes in the longest path below, `/` included.
    pub(super) bytes: usize,
}

impl PathExtent {
    /// Returns the same as seen from the parent of an entry whose name has this many bytes.
    pub(super) fn above(self, name: usize) -> PathExtent {
        PathExtent { levels: self.levels + 1, bytes: self.bytes + 1 + name }
    }

    pub(super) fn or(self, other: PathExtent) -> PathExtent {
        PathExtent { levels: self.levels.max(other.levels), bytes: self.bytes.max(other.bytes) }
    }

    /// Returns true if the maximum `self` may decrease when `before`, which is part of it, becomes `after`.
    fn sinks(self, before: PathExtent, after: PathExtent) -> bool {
        (before.levels == self.levels && after.levels < before.levels)
            || (before.bytes == self.bytes && after.bytes < before.bytes)
    }
}

/// Sums over the contents of a directory, of one of its pages or of an entry, known without loading them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct SubtreeSums {
    /// Number of entries of the directory itself.
    pub(super) entries: u64,
    /// Quota that the entries and everything below them use.
    pub(super) usage: Usage,
    /// Length of the longest paths, as seen from the directory.
    pub(super) reach: PathExtent,
}

impl SubtreeSums {
    /// The contribution of one entry to the sums of its directory.
    pub(super) fn of(name: &str, node: &TreeNode) -> SubtreeSums {
        SubtreeSums { entries: 1, usage: node.usage(), reach: node.reach().above(name.len()) }
    }

    /// Adds two sums; returns `None` if the result is more than a tree may claim.
    pub(super) fn and(self, other: SubtreeSums) -> Option<SubtreeSums> {
        let sum = |a: u64, b: u64| a.checked_add(b).filter(|sum| *sum <= MAX_SUM);
        let bytes = sum(self.usage.bytes, other.usage.bytes)?;
        let usage = Usage { bytes, entries: sum(self.usage.entries, other.usage.entries)? };
        Some(SubtreeSums { entries: sum(self.entries, other.entries)?, usage, reach: self.reach.or(other.reach) })
    }

    /// Returns true if a directory can have these sums.
    pub(super) fn plausible(&self) -> bool {
        let SubtreeSums { entries, usage, reach } = *self;
        let nothing = entries == 0;
        // Not `2 * levels`: these numbers are unchecked and may be anything.
        let reaches = reach.levels >= 1 && reach.bytes / 2 >= reach.levels && usage.entries >= entries;
        let within = usage.bytes <= MAX_SUM && usage.entries <= MAX_SUM;
        let within = within && reach.levels <= MAX_DEPTH && reach.bytes <= MAX_PATH_BYTES;
        within && if nothing { *self == SubtreeSums::default() } else { reaches }
    }

    /// Replaces one part of the sum. `parts` are all parts after the change; they are iterated only if necessary.
    ///
    /// `before` is part of the sum, and `after` was checked against the tree's limits, which are `u64`s at most, so no
    /// step can overflow.
    pub(super) fn exchange(
        &mut self,
        before: SubtreeSums,
        after: SubtreeSums,
        parts: impl Iterator<Item = PathExtent>,
    ) {
        self.entries = self.entries - before.entries + after.entries;
        self.usage.bytes = self.usage.bytes - before.usage.bytes + after.usage.bytes;
        self.usage.entries = self.usage.entries - before.usage.entries + after.usage.entries;
        self.reach = if self.reach.sinks(before.reach, after.reach) {
            parts.fold(PathExtent::default(), PathExtent::or)
        } else {
            self.reach.or(after.reach)
        };
    }
}

/// Metadata that every entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryMeta {
    /// Number of the entry, unique in its tree and kept by renaming. It is not stored: opening a tree numbers its
    /// entries again.
    pub(super) id: u64,
    /// Permission bits.
    pub(super) mode: u32,
    /// Time of the last change of the content, in nanoseconds since the Unix epoch.
    pub(super) modified: u64,
}

/// An entry of a tree.
#[derive(Debug, Clone)]
pub(super) enum TreeNode {
    File(Arc<FileNode>),
    Directory(Arc<DirectoryNode>),
    Link(Arc<LinkNode>),
}

#[derive(Debug, Clone)]
pub(super) struct FileNode {
    pub(super) meta: EntryMeta,
    pub(super) content: Content,
}

#[derive(Debug, Clone)]
pub(super) struct LinkNode {
    pub(super) meta: EntryMeta,
    pub(super) target: Box<str>,
}

impl TreeNode {
    pub(super) fn file(meta: EntryMeta, content: Content) -> TreeNode {
        TreeNode::File(Arc::new(FileNode { meta, content }))
    }

    pub(super) fn directory(meta: EntryMeta) -> TreeNode {
        TreeNode::Directory(Arc::new(DirectoryNode::new(meta)))
    }

    pub(super) fn link(meta: EntryMeta, target: &str) -> TreeNode {
        TreeNode::Link(Arc::new(LinkNode { meta, target: target.into() }))
    }

    pub(super) fn meta(&self) -> &EntryMeta {
        match self {
            TreeNode::File(file) => &file.meta,
            TreeNode::Directory(directory) => &directory.meta,
            TreeNode::Link(link) => &link.meta,
        }
    }

    pub(super) fn meta_mut(&mut self) -> &mut EntryMeta {
        match self {
            TreeNode::File(file) => &mut Arc::make_mut(file).meta,
            TreeNode::Directory(directory) => &mut Arc::make_mut(directory).meta,
            TreeNode::Link(link) => &mut Arc::make_mut(link).meta,
        }
    }

    pub(super) fn as_directory(&self) -> Option<&DirectoryNode> {
        match self {
            TreeNode::Directory(directory) => Some(directory),
            TreeNode::File(_) | TreeNode::Link(_) => None,
        }
    }

    /// Quota used by this entry and everything below it.
    pub(super) fn usage(&self) -> Usage {
        match self {
            TreeNode::File(file) => Usage { bytes: file.content.len(), entries: 1 },
            // The target is at most 4,096 bytes long.
            TreeNode::Link(link) => Usage { bytes: link.target.len() as u64, entries: 1 },
            TreeNode::Directory(directory) => {
                let below = directory.sums().usage;
                Usage { entries: below.entries + 1, ..below }
            }
        }
    }

    /// Length of the longest paths below this entry.
    pub(super) fn reach(&self) -> PathExtent {
        self.as_directory().map_or_else(PathExtent::default, |directory| directory.sums().reach)
    }
}

impl PartialEq for TreeNode {
    /// Returns true if two trees share the entry: identity, not content. This lets `OrdMap::diff` skip shared entries.
    fn eq(&self, other: &TreeNode) -> bool {
        match (self, other) {
            (TreeNode::File(a), TreeNode::File(b)) => Arc::ptr_eq(a, b),
            (TreeNode::Directory(a), TreeNode::Directory(b)) => Arc::ptr_eq(a, b),
            (TreeNode::Link(a), TreeNode::Link(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}
