//! The tree, its limits, and the primitive edits. The operations of guests and the host in `inspect`, `file`, `entry`
//! and `import` consist of these and check permissions and limits first: an edit that has begun does not fail.

use std::sync::Arc;

use super::directory::DirectoryNode;
use super::errno::Errno;
use super::node::{EntryMeta, Name, PathExtent, TreeNode, Usage};
use super::path::{self, MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, PathLookup, UnrestrictedWalk};
use super::write_rules::WriteRules;

/// Paths that guests may write to in a new tree, with their permission bits.
const WRITABLE_DIRECTORIES: [(&str, u32); 2] = [("workspace", 0o755), ("tmp", 0o1777)];

/// Permission bits of a new directory.
pub(super) const DIRECTORY_MODE: u32 = 0o755;

/// Permission bits that an entry can have.
pub(super) const MODE_BITS: u32 = 0o7777;

/// Limits on the size of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes of all files and link targets, mounts included.
    pub bytes: u64,
    /// Maximum number of files, directories and links, mounts included.
    pub entries: u64,
    /// Maximum size of one file in bytes.
    pub file_bytes: u64,
}

impl Default for Limits {
    /// Returns 1 GiB, in one file or in many, and 250,000 entries (each of which costs the host some hundreds of
    /// bytes).
    fn default() -> Self {
        Limits { bytes: 1 << 30, entries: 250_000, file_bytes: 1 << 30 }
    }
}

/// A persistent tree of files. A clone is a snapshot: its cost does not depend on the size, and changes to one are
/// never visible in the other.
#[derive(Debug, Clone)]
pub struct Tree {
    root: TreeNode,
    write_rules: Arc<WriteRules>,
    limits: Limits,
    next_id: u64,
}

impl Tree {
    /// Creates a tree with `/workspace` and `/tmp`, which guests may write to; everything else is read-only. `now` is
    /// in nanoseconds since the Unix epoch, as everywhere in this module.
    #[must_use]
    pub fn new(limits: Limits, now: u64) -> Tree {
        let root = TreeNode::directory(EntryMeta { id: 1, mode: DIRECTORY_MODE, modified: now });
        let mut tree = Tree { root, write_rules: Arc::default(), limits, next_id: 2 };
        for (name, mode) in WRITABLE_DIRECTORIES {
            let names = [Name::from(name)];
            let meta = EntryMeta { id: tree.next_id, mode, modified: now };
            tree.attach(&names, TreeNode::directory(meta), now).expect("the root is a directory");
            tree.next_id += 1;
            tree.set_writable(&names, true);
        }
        tree
    }

    /// The part of its limits that the tree uses. Takes constant time.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.root.as_directory().map_or_else(Usage::default, |root| root.sums().usage)
    }

    /// The limits of the tree.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Changes the limits. A tree that exceeds them can still be read and reduced.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Creates a tree from its parts; `next_id` is an unused id.
    pub(super) fn assemble(root: TreeNode, write_rules: WriteRules, limits: Limits, next_id: u64) -> Tree {
        Tree { root, write_rules: Arc::new(write_rules), limits, next_id }
    }

    pub(super) fn root(&self) -> &TreeNode {
        &self.root
    }

    pub(super) fn write_rules(&self) -> &WriteRules {
        &self.write_rules
    }

    /// Returns the entry at `names`, without following links.
    pub(super) fn entry(&self, names: &[Name]) -> Result<&TreeNode, Errno> {
        names.iter().try_fold(&self.root, |node, name| {
            let found = node.as_directory().ok_or(Errno::NotDirectory)?.get(name)?;
            found.map(|(_, node)| node).ok_or(Errno::NoEntry)
        })
    }

    /// Returns an id that no entry has had.
    pub(super) fn new_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Resolves a path; `follow` says whether a link at its end is followed.
    pub(super) fn find<'a>(&'a self, path: &'a str, follow: bool) -> Result<PathLookup<'a>, Errno> {
        path::check(path)?;
        path::walk(&self.root, &[], path, follow, &UnrestrictedWalk)
    }

    /// Resolves a path from the directory `base`.
    pub(super) fn find_from<'a>(&'a self, base: &[Name], path: &'a str) -> Result<PathLookup<'a>, Errno> {
        path::walk(&self.root, base, path, false, &UnrestrictedWalk)
    }

    /// Returns true if guests may change the entry at a path. The path has no links that are followed.
    #[must_use]
    pub fn is_writable(&self, path: &str) -> bool {
        path::names(path).is_ok_and(|names| self.write_rules.writable(&names))
    }

    /// Fails if a guest may not change the entry at `names`.
    pub(super) fn writable(&self, names: &[Name]) -> Result<(), Errno> {
        if self.write_rules.writable(names) { Ok(()) } else { Err(Errno::Access) }
    }

    /// Fails if a guest may not create, remove or replace the entry at `names`.
    pub(super) fn writable_parent(&self, names: &[Name]) -> Result<(), Errno> {
        self.writable(names.split_last().map_or(&[], |(_, parent)| parent))
    }

    /// Fails if a write rule at or below `names` prevents moving or removing the entry.
    pub(super) fn movable(&self, names: &[Name]) -> Result<(), Errno> {
        if self.write_rules.pinned(names) { Err(Errno::Busy) } else { Ok(()) }
    }

    /// Makes `names` and everything below writable for guests, or read-only; changes nothing if it is so already.
    pub(super) fn set_writable(&mut self, names: &[Name], writable: bool) {
        if self.write_rules.writable(names) != writable {
            Arc::make_mut(&mut self.write_rules).set(names, writable);
        }
    }

    /// Makes a path and everything below read-only by a rule of its own, even if a parent's rule says so already.
    pub(super) fn set_read_only_at(&mut self, names: &[Name]) {
        Arc::make_mut(&mut self.write_rules).set(names, false);
    }

    /// Fails if a change that frees `freed` and takes `taken` would exceed a limit. A change that takes no more than it
    /// frees is always allowed.
    pub(super) fn afford(&self, freed: Usage, taken: Usage) -> Result<(), Errno> {
        let used = self.usage();
        let fits = |used: u64, freed: u64, taken: u64, limit: u64| {
            taken <= freed
                || used.checked_sub(freed).and_then(|kept| kept.checked_add(taken)).is_some_and(|n| n <= limit)
        };
        let bytes = fits(used.bytes, freed.bytes, taken.bytes, self.limits.bytes);
        let entries = fits(used.entries, freed.entries, taken.entries, self.limits.entries);
        if bytes && entries { Ok(()) } else { Err(Errno::Quota) }
    }

    /// Fails if the size exceeds the maximum of a file.
    pub(super) fn allow_size(&self, bytes: u64) -> Result<(), Errno> {
        if bytes > self.limits.file_bytes { Err(Errno::TooLarge) } else { Ok(()) }
    }

    /// Fails if a path is too long or too deep for an entry with paths of this length below it.
    pub(super) fn allow_path(names: &[Name], reach: PathExtent) -> Result<(), Errno> {
        let bytes: usize = names.iter().map(|name| name.len() + 1).sum();
        let fits = names.iter().all(|name| name.len() <= MAX_NAME_BYTES)
            && names.len() + reach.levels <= MAX_DEPTH
            && bytes + reach.bytes <= MAX_PATH_BYTES;
        if fits { Ok(()) } else { Err(Errno::NameTooLong) }
    }

    /// Adds a new entry at `names`, where none exists, if the limits allow it.
    pub(super) fn add(
        &mut self,
        names: &[Name],
        make: impl FnOnce(EntryMeta) -> TreeNode,
        mode: u32,
        now: u64,
    ) -> Result<(), Errno> {
        let node = make(EntryMeta { id: self.next_id, mode, modified: now });
        Tree::allow_path(names, node.reach())?;
        self.afford(Usage::default(), node.usage())?;
        self.attach(names, node, now)?;
        self.next_id += 1;
        Ok(())
    }

    /// Adds `node` at `names`, replacing an existing entry. The parent must be a directory.
    pub(super) fn attach(&mut self, names: &[Name], node: TreeNode, now: u64) -> Result<(), Errno> {
        let (name, parent) = names.split_last().ok_or(Errno::Busy)?;
        self.edit(parent, |directory| {
            directory.put(Name::clone(name), node)?;
            directory.meta.modified = now;
            Ok(())
        })
    }

    /// Removes the entry at `names` and returns it.
    pub(super) fn detach(&mut self, names: &[Name], now: u64) -> Result<TreeNode, Errno> {
        let (name, parent) = names.split_last().ok_or(Errno::Busy)?;
        self.edit(parent, |directory| {
            let taken = directory.take(name)?.ok_or(Errno::NoEntry)?;
            directory.meta.modified = now;
            Ok(taken)
        })
    }

    /// Changes the entry at `names` in place.
    pub(super) fn alter<R>(
        &mut self,
        names: &[Name],
        change: impl FnOnce(&mut TreeNode) -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        match names.split_last() {
            Some((name, parent)) => {
                self.edit(parent, |directory| directory.alter(name, change)?.ok_or(Errno::NoEntry)?)
            }
            None => change(&mut self.root),
        }
    }

    /// Changes the directory at `names`, and updates the sums of its parents. Copies parts that another tree shares. If
    /// `change` fails, it must leave the directory unchanged.
    pub(super) fn edit<R>(
        &mut self,
        names: &[Name],
        change: impl FnOnce(&mut DirectoryNode) -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        edit(&mut self.root, names, change)
    }
}

fn edit<R>(
    node: &mut TreeNode,
    names: &[Name],
    change: impl FnOnce(&mut DirectoryNode) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let TreeNode::Directory(directory) = node else { return Err(Errno::NotDirectory) };
    let directory = Arc::make_mut(directory);
    match names.split_first() {
        Some((name, below)) => directory.alter(name, |node| edit(node, below, change))?.ok_or(Errno::NoEntry)?,
        None => change(directory),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, WriteMode};
    use super::*;
    use tollhouse_store::{BlobSource, MemoryBlobs};

    #[test]
    fn new_tree_has_writable_workspace_and_tmp() {
        let tree = Tree::new(Limits::default(), 7);
        let workspace = tree.stat("/workspace", true).expect("made by `new`");
        assert_eq!((workspace.kind, workspace.mode, workspace.modified), (Kind::Directory, 0o755, 7));
        assert_eq!(tree.stat("/tmp", true).expect("made by `new`").mode, 0o1777);
        assert_eq!(tree.usage(), Usage { bytes: 0, entries: 2 });
        assert_eq!(tree.stat("/", true).expect("the root").size, 2);
    }

    #[test]
    fn tree_is_send_and_sync() {
        fn check<T: Send + Sync + 'static>() {}
        check::<Tree>();
    }

    #[test]
    fn tree_beyond_its_limits_can_only_shrink() {
        let mut tree = Tree::new(Limits::default(), 0);
        tree.write("/tmp/a", &[0; 100], WriteMode::Replace, 0).expect("within limits");
        tree.set_limits(Limits { bytes: 10, entries: 1, file_bytes: 10 });
        assert_eq!(tree.limits().bytes, 10);
        assert_eq!(tree.write("/tmp/a", b"x", WriteMode::Append, 0), Err(Errno::TooLarge));
        assert_eq!(tree.write("/tmp/b", b"", WriteMode::Replace, 0), Err(Errno::Quota));
        tree.write("/tmp/a", b"less", WriteMode::Replace, 0).expect("shrinks");
        tree.rename("/tmp/a", "/tmp/c", 0).expect("takes nothing");
        tree.remove("/tmp/c", false, 0).expect("shrinks");
    }

    #[test]
    fn deepest_tree_is_sealed_opened_and_compared_on_a_small_stack() {
        let deep = || {
            let blobs = Arc::new(MemoryBlobs::default());
            let empty = Tree::new(Limits::default(), 0);
            let mut tree = empty.clone();
            let path = format!("/tmp{}", "/d".repeat(MAX_DEPTH - 1));
            tree.create_directory(&path, true, 0).expect("as deep as allowed");
            let id = tree.seal(&mut &*blobs).expect("memory does not fail");
            let opened = Tree::open(id, Arc::clone(&blobs) as Arc<dyn BlobSource>, Limits::default());
            let mut opened = opened.expect("it was just sealed");
            assert_eq!(opened.changes_since(&empty).map(|edits| edits.len()), Ok(MAX_DEPTH - 1));
            opened.set_modified(&path, 1).expect("writable");
            assert_eq!(opened.changes_since(&tree).map(|edits| edits.len()), Ok(1));
            opened.seal(&mut &MemoryBlobs::default()).expect("memory does not fail");
        };
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(deep).expect("a thread starts");
        thread.join().expect("no overflow, no failed assertion");
    }

    #[test]
    fn deepest_tree_is_dropped_on_a_small_stack() {
        let deep = || {
            let mut tree = Tree::new(Limits::default(), 0);
            let path = format!("/tmp{}", "/d".repeat(MAX_DEPTH - 1));
            tree.create_directory(&path, true, 0).expect("as deep as allowed");
            let twin = tree.clone();
            tree.write("/tmp/a", b"a", WriteMode::Replace, 0).expect("written");
            assert_eq!(tree.create_directory(&format!("{path}/d"), false, 0), Err(Errno::NameTooLong));
            drop((tree, twin));
        };
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(deep).expect("a thread starts");
        thread.join().expect("no overflow, no failed assertion");
    }
}
