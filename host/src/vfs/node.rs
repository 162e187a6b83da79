//! What an entry of the tree is, and the sums that every directory keeps of what is below it.
//!
//! Nothing here checks a limit or a right: `tree` does that before it edits.

use std::sync::Arc;

use imbl::OrdMap;

use super::content::Content;

/// A name in a directory: not empty, not `.` or `..`, without `/` and NUL.
pub(super) type Name = Arc<str>;

/// What a tree takes of its quota.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of all files, and of the targets of links. Holes and shared pieces count in full.
    pub bytes: u64,
    /// Files, directories and links; the root is not counted.
    pub entries: u64,
}

/// How far an entry reaches below itself. For a directory it is an upper bound: removing does not shrink it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// Names in the longest path below.
    pub(super) levels: usize,
    /// Bytes in the longest path below, `/` included.
    pub(super) bytes: usize,
}

impl Reach {
    fn above(self, name: &str) -> Reach {
        Reach { levels: self.levels + 1, bytes: self.bytes + 1 + name.len() }
    }

    fn or(self, other: Reach) -> Reach {
        Reach { levels: self.levels.max(other.levels), bytes: self.bytes.max(other.bytes) }
    }
}

/// What every entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meta {
    /// One number for each entry of a tree, from its creation on; renaming keeps it.
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

#[derive(Debug, Clone)]
pub(super) struct Directory {
    pub(super) meta: Meta,
    entries: OrdMap<Name, Node>,
    usage: Usage,
    reach: Reach,
}

impl Node {
    pub(super) fn file(meta: Meta, content: Content) -> Node {
        Node::File(Arc::new(File { meta, content }))
    }

    pub(super) fn directory(meta: Meta) -> Node {
        let (usage, reach) = (Usage::default(), Reach::default());
        Node::Directory(Arc::new(Directory { meta, entries: OrdMap::new(), usage, reach }))
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
            Node::Directory(directory) => Usage { entries: directory.usage.entries + 1, ..directory.usage },
        }
    }

    /// How far it reaches, at most.
    pub(super) fn reach(&self) -> Reach {
        self.as_directory().map_or_else(Reach::default, |directory| directory.reach)
    }

    /// Replaces the bound of `reach` by the truth, which is looked for in all that is below.
    pub(super) fn measure(&mut self) -> Reach {
        let reach = measured(self);
        if let Node::Directory(directory) = self {
            Arc::make_mut(directory).reach = reach;
        }
        reach
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

fn measured(node: &Node) -> Reach {
    let below = node.as_directory().into_iter().flat_map(|directory| directory.entries.iter());
    below.fold(Reach::default(), |reach, (name, node)| reach.or(measured(node).above(name)))
}

impl Directory {
    pub(super) fn entries(&self) -> &OrdMap<Name, Node> {
        &self.entries
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// Enters `node` as `name`, in the place of what was there.
    pub(super) fn put(&mut self, name: Name, node: Node) -> Option<Node> {
        self.count(Usage::default(), node.usage());
        self.reach = self.reach.or(node.reach().above(&name));
        let replaced = self.entries.insert(name, node);
        if let Some(replaced) = &replaced {
            self.count(replaced.usage(), Usage::default());
        }
        replaced
    }

    /// Takes `name` out.
    pub(super) fn take(&mut self, name: &str) -> Option<Node> {
        let node = self.entries.remove(name)?;
        self.count(node.usage(), Usage::default());
        if self.entries.is_empty() {
            self.reach = Reach::default();
        }
        Some(node)
    }

    /// Changes the entry `name` in place.
    pub(super) fn alter<R>(&mut self, name: &str, change: impl FnOnce(&mut Node) -> R) -> Option<R> {
        let node = self.entries.get_mut(name)?;
        let before = node.usage();
        let result = change(node);
        let (after, reach) = (node.usage(), node.reach().above(name));
        self.count(before, after);
        self.reach = self.reach.or(reach);
        Some(result)
    }

    /// `before` is part of the sum, and `after` was checked against the tree's limits, which are no more than `u64`s:
    /// neither step can overflow.
    fn count(&mut self, before: Usage, after: Usage) {
        self.usage.bytes = self.usage.bytes - before.bytes + after.bytes;
        self.usage.entries = self.usage.entries - before.entries + after.entries;
    }
}
