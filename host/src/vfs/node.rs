//! What an entry of the tree is, and the sums that every directory keeps of what is below it.
//!
//! Nothing here checks a limit or a right: `tree` does that before it edits.

use std::sync::Arc;

use super::content::Content;
use super::directory::Directory;
use super::path::{MAX_DEPTH, MAX_PATH_BYTES};
use super::scale::MAX_SUM;

/// A name in a directory: not empty, not `.` or `..`, without `/` and NUL.
pub(super) type Name = Arc<str>;

/// What a tree takes of its quota.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Bytes of all files, and of the targets of links. Holes and shared pieces count in full.
    pub bytes: u64,
    /// Files, directories and links; the root is not counted.
    pub entries: u64,
}

/// How far an entry reaches below itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Reach {
    /// Names in the longest path below.
    pub(super) levels: usize,
    /// Bytes in the longest path below, `/` included.
    pub(super) bytes: usize,
}

impl Reach {
    /// The same, seen from above an entry with a name of so many bytes.
    pub(super) fn above(self, name: usize) -> Reach {
        Reach { levels: self.levels + 1, bytes: self.bytes + 1 + name }
    }

    pub(super) fn or(self, other: Reach) -> Reach {
        Reach { levels: self.levels.max(other.levels), bytes: self.bytes.max(other.bytes) }
    }

    /// Whether the maximum `self` may sink when `before`, which is part of it, becomes `after`.
    fn sinks(self, before: Reach, after: Reach) -> bool {
        (before.levels == self.levels && after.levels < before.levels)
            || (before.bytes == self.bytes && after.bytes < before.bytes)
    }
}

/// What is known of a directory, a page of it or one of its entries without looking in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Sums {
    /// Entries of the directory itself.
    pub(super) entries: u64,
    /// What they and all that is below them take.
    pub(super) usage: Usage,
    /// How far they reach, seen from the directory.
    pub(super) reach: Reach,
}

impl Sums {
    /// What one entry adds to its directory.
    pub(super) fn of(name: &str, node: &Node) -> Sums {
        Sums { entries: 1, usage: node.usage(), reach: node.reach().above(name.len()) }
    }

    /// Both together; none if that is more than a tree may claim.
    pub(super) fn and(self, other: Sums) -> Option<Sums> {
        let sum = |a: u64, b: u64| a.checked_add(b).filter(|sum| *sum <= MAX_SUM);
        let bytes = sum(self.usage.bytes, other.usage.bytes)?;
        let usage = Usage { bytes, entries: sum(self.usage.entries, other.usage.entries)? };
        Some(Sums { entries: sum(self.entries, other.entries)?, usage, reach: self.reach.or(other.reach) })
    }

    /// Whether a directory can have these sums.
    pub(super) fn plausible(&self) -> bool {
        let Sums { entries, usage, reach } = *self;
        let nothing = entries == 0;
        // Not `2 * levels`: these numbers may be anything.
        let reaches = reach.levels >= 1 && reach.bytes / 2 >= reach.levels && usage.entries >= entries;
        let within = usage.bytes <= MAX_SUM && usage.entries <= MAX_SUM;
        let within = within && reach.levels <= MAX_DEPTH && reach.bytes <= MAX_PATH_BYTES;
        within && if nothing { *self == Sums::default() } else { reaches }
    }

    /// One part of the sum changes. `parts` are all of them, after that; they are looked at only if they must be.
    ///
    /// `before` is part of the sum, and `after` was checked against the tree's limits, which are no more than `u64`s:
    /// no step can overflow.
    pub(super) fn exchange(&mut self, before: Sums, after: Sums, parts: impl Iterator<Item = Reach>) {
        self.entries = self.entries - before.entries + after.entries;
        self.usage.bytes = self.usage.bytes - before.usage.bytes + after.usage.bytes;
        self.usage.entries = self.usage.entries - before.usage.entries + after.usage.entries;
        self.reach = if self.reach.sinks(before.reach, after.reach) {
            parts.fold(Reach::default(), Reach::or)
        } else {
            self.reach.or(after.reach)
        };
    }
}

/// What every entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meta {
    /// One number for each entry of a tree, from its creation on; renaming keeps it. It is not stored: when a tree is
    /// opened, its entries are numbered anew.
    pub(super) id: u64,
    /// Permission bits.
    pub(super) mode: u32,
    /// Last change of the content, nanoseconds since the Unix epoch.
    pub(super) modified: u64,
}

/// An entry.
#[derive(Debug, Clone)]
pub(super) enum Node {
    File(Arc<File>),
    Directory(Arc<Directory>),
    Link(Arc<Link>),
}

#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) meta: Meta,
    pub(super) content: Content,
}

#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) meta: Meta,
    pub(super) target: Box<str>,
}

impl Node {
    pub(super) fn file(meta: Meta, content: Content) -> Node {
        Node::File(Arc::new(File { meta, content }))
    }

    pub(super) fn directory(meta: Meta) -> Node {
        Node::Directory(Arc::new(Directory::new(meta)))
    }

    pub(super) fn link(meta: Meta, target: &str) -> Node {
        Node::Link(Arc::new(Link { meta, target: target.into() }))
    }

    pub(super) fn meta(&self) -> &Meta {
        match self {
            Node::File(file) => &file.meta,
            Node::Directory(directory) => &directory.meta,
            Node::Link(link) => &link.meta,
        }
    }

    pub(super) fn meta_mut(&mut self) -> &mut Meta {
        match self {
            Node::File(file) => &mut Arc::make_mut(file).meta,
            Node::Directory(directory) => &mut Arc::make_mut(directory).meta,
            Node::Link(link) => &mut Arc::make_mut(link).meta,
        }
    }

    pub(super) fn as_directory(&self) -> Option<&Directory> {
        match self {
            Node::Directory(directory) => Some(directory),
            Node::File(_) | Node::Link(_) => None,
        }
    }

    /// What this entry and all below it take.
    pub(super) fn usage(&self) -> Usage {
        match self {
            Node::File(file) => Usage { bytes: file.content.len(), entries: 1 },
            // A `usize` of a target that is at most 4,096 bytes long.
            Node::Link(link) => Usage { bytes: link.target.len() as u64, entries: 1 },
            Node::Directory(directory) => {
                let below = directory.sums().usage;
                Usage { entries: below.entries + 1, ..below }
            }
        }
    }

    /// How far it reaches.
    pub(super) fn reach(&self) -> Reach {
        self.as_directory().map_or_else(Reach::default, |directory| directory.sums().reach)
    }
}

impl PartialEq for Node {
    /// Whether two trees share the entry: identity, not content. This is what lets `OrdMap::diff` skip what is shared.
    fn eq(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::File(a), Node::File(b)) => Arc::ptr_eq(a, b),
            (Node::Directory(a), Node::Directory(b)) => Arc::ptr_eq(a, b),
            (Node::Link(a), Node::Link(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}
