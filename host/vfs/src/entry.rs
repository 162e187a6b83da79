//! Creating, moving and removing entries.

use super::errno::Errno;
use super::node::{Name, TreeNode};
use super::path::{self, UnresolvedRest};
use super::tree::{DIRECTORY_MODE, Tree};

/// Permission bits of a link, the same on all systems.
const LINK_MODE: u32 = 0o777;

/// The party that requests an operation: write rules bind guests only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallerKind {
    Guest,
    Host,
}

impl Tree {
    /// Creates a directory (mode 0755); with `parents` also its parents, and then it may exist already.
    ///
    /// # Errors
    /// `Exists`, `Access`, `NameTooLong`, `Quota`.
    pub fn create_directory(&mut self, path: &str, parents: bool, now: u64) -> Result<(), Errno> {
        if parents {
            return self.create_directories(path, CallerKind::Guest, now).map(drop);
        }
        let found = self.find(path, false)?;
        if found.optional()?.is_some() {
            return Err(Errno::Exists);
        }
        let names = found.names();
        self.writable_parent(&names)?;
        self.add(&names, TreeNode::directory, DIRECTORY_MODE, now)
    }

    /// Removes a file, a link or an empty directory; with `all` also a directory with its contents. Links are not
    /// followed.
    ///
    /// # Errors
    /// `NotEmpty`, `Access`, `Busy` for the root and for mount points and their parents; `Invalid` for `.` and `..`.
    pub fn remove(&mut self, path: &str, all: bool, now: u64) -> Result<(), Errno> {
        let found = self.find(path, false)?;
        let node = found.existing()?;
        let names = found.named()?;
        self.writable_parent(&names)?;
        self.movable(&names)?;
        if !all && holds_something(node) {
            return Err(Errno::NotEmpty);
        }
        self.detach(&names, now).map(drop)
    }

    /// Renames an entry, replacing what POSIX `rename` replaces: a non-directory by a non-directory, an empty directory
    /// by a directory. Links are not followed. An entry renamed to itself is unchanged.
    ///
    /// # Errors
    /// `IsDirectory`, `NotDirectory`, `NotEmpty` if the existing entry cannot be replaced; `Invalid` for a directory
    /// moved into itself, and for `.` and `..`; `Access`; `Busy` for the root and for mount points and their parents;
    /// `NameTooLong` if the path of any entry in it would become too long.
    pub fn rename(&mut self, from: &str, to: &str, now: u64) -> Result<(), Errno> {
        let source = self.find(from, false)?;
        source.optional()?;
        let target = self.find(to, false)?;
        let replaced = target.optional()?;
        let (old, new) = (source.named()?, target.named()?);
        let node = source.existing()?;
        let is_directory = node.as_directory().is_some();
        if target.slash() && !is_directory {
            return Err(Errno::NotDirectory);
        }
        if old == new {
            return Ok(());
        }
        if new.starts_with(&old) {
            return Err(Errno::Invalid);
        }
        if old.starts_with(&new) {
            return Err(Errno::NotEmpty);
        }
        self.writable_parent(&old)?;
        self.writable_parent(&new)?;
        match replaced.map(|replaced| replaced.as_directory().is_some()) {
            Some(true) if !is_directory => return Err(Errno::IsDirectory),
            Some(false) if is_directory => return Err(Errno::NotDirectory),
            _ => {}
        }
        self.movable(&old)?;
        self.movable(&new)?;
        if replaced.is_some_and(holds_something) {
            return Err(Errno::NotEmpty);
        }
        Tree::allow_path(&new, node.reach())?;
        // On a copy of the tree: a failure halfway must not lose the entry.
        let mut next = self.clone();
        let node = next.detach(&old, now)?;
        next.attach(&new, node, now)?;
        *self = next;
        Ok(())
    }

    /// Creates a symbolic link at `path`. Its target need not exist, and cannot be outside the tree.
    ///
    /// # Errors
    /// `Exists`, `Access`, `Quota`; for the target: `NoEntry` if it is empty, `NameTooLong`, `Invalid`.
    pub fn create_link(&mut self, target: &str, path: &str, now: u64) -> Result<(), Errno> {
        path::check_target(target)?;
        let found = self.find(path, false)?;
        if found.optional()?.is_some() {
            return Err(Errno::Exists);
        }
        if found.slash() {
            return Err(Errno::NoEntry);
        }
        let names = found.names();
        self.writable_parent(&names)?;
        self.add(&names, |meta| TreeNode::link(meta, target), LINK_MODE, now)
    }

    /// Creates a directory and its parents, and returns its path with links resolved. Creates all of them or none.
    pub(super) fn create_directories(&mut self, path: &str, caller: CallerKind, now: u64) -> Result<Vec<Name>, Errno> {
        path::check(path)?;
        let mut next = self.clone();
        let names = next.extend(path, caller, now)?;
        *self = next;
        Ok(names)
    }

    fn extend(&mut self, path: &str, caller: CallerKind, now: u64) -> Result<Vec<Name>, Errno> {
        let (mut base, mut rest) = (Vec::new(), path);
        loop {
            let found = self.find_from(&base, rest)?;
            let names = found.names();
            let missing = found.missing();
            match missing {
                None => return self.directory_at(path),
                Some(UnresolvedRest::Link) => return Err(Errno::Exists),
                Some(_) if caller == CallerKind::Guest => self.writable_parent(&names)?,
                Some(_) => {}
            }
            self.add(&names, TreeNode::directory, DIRECTORY_MODE, now)?;
            rest = match missing {
                Some(UnresolvedRest::Path { bytes }) => &rest[rest.len() - bytes..],
                _ => return Ok(names),
            };
            base = names;
        }
    }

    /// Path of an existing directory, possibly at the end of a link.
    fn directory_at(&self, path: &str) -> Result<Vec<Name>, Errno> {
        let found = self.find(path, true)?;
        let is_directory = matches!(found.existing(), Ok(TreeNode::Directory(_)));
        // Also for a link that leads nowhere: the link itself is in the way.
        if is_directory { Ok(found.names()) } else { Err(Errno::Exists) }
    }
}

fn holds_something(node: &TreeNode) -> bool {
    node.as_directory().is_some_and(|directory| !directory.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Limits, MAX_PATH_BYTES, WriteMode};
    use super::*;

    /// A tree with `/workspace/d/f`, `/workspace/e` (empty), `/workspace/f`, and `/etc/a` created by the host.
    fn tree() -> Tree {
        let mut tree = Tree::new(Limits::default(), 0);
        tree.create_directory("/workspace/d", false, 1).expect("writable");
        tree.create_directory("/workspace/e", false, 1).expect("writable");
        tree.write("/workspace/d/f", b"inner", WriteMode::Create, 1).expect("writable");
        tree.write("/workspace/f", b"outer", WriteMode::Create, 1).expect("writable");
        tree.place_file("/etc/a", b"a", 0o644, 1).expect("the host may");
        tree
    }

    #[test]
    fn directories_are_made_with_their_parents_or_without() {
        let mut tree = tree();
        assert_eq!(tree.create_directory("/tmp/1/2", false, 2), Err(Errno::NoEntry));
        assert_eq!(tree.create_directory("/tmp/1/2/../3/", true, 2), Ok(()));
        assert_eq!(tree.stat("/tmp/1/2", false).expect("made").mode, 0o755);
        assert_eq!(tree.stat("/tmp/1/3", false).expect("made").kind, Kind::Directory);
        assert_eq!(tree.stat("/tmp", false).expect("there").modified, 2);
        assert_eq!(tree.create_directory("/tmp/1/3", true, 3), Ok(()));
        assert_eq!(tree.create_directory("/tmp/1/3", false, 3), Err(Errno::Exists));
        assert_eq!(tree.create_directory("/", true, 3), Ok(()));
        assert_eq!(tree.create_directory("/workspace/f", true, 3), Err(Errno::Exists));
        assert_eq!(tree.create_directory("/workspace/f/x", true, 3), Err(Errno::NotDirectory));
    }

    #[test]
    fn parents_are_made_all_or_none() {
        let mut tree = Tree::new(Limits { entries: 4, ..Limits::default() }, 0);
        assert_eq!(tree.create_directory("/tmp/1/2/3", true, 1), Err(Errno::Quota));
        assert_eq!(tree.stat("/tmp", true).expect("there").size, 0);
        assert_eq!(tree.create_directory("/tmp/1/2", true, 1), Ok(()));
    }

    #[test]
    fn directory_creation_over_dangling_link_is_refused() {
        let mut tree = tree();
        tree.create_link("none", "/workspace/l", 1).expect("writable");
        for path in ["/workspace/l", "/workspace/l/", "/workspace/l/x"] {
            assert_eq!(tree.create_directory(path, true, 1), Err(Errno::Exists));
        }
        tree.create_link("d", "/workspace/m", 1).expect("writable");
        assert_eq!(tree.create_directory("/workspace/m", true, 1), Ok(()));
        assert_eq!(tree.create_directory("/workspace/m/x", true, 1), Ok(()));
    }

    #[test]
    fn removal_of_entries_follows_posix() {
        let mut tree = tree();
        assert_eq!(tree.remove("/workspace/d", false, 2), Err(Errno::NotEmpty));
        tree.create_link("d", "/workspace/l", 2).expect("writable");
        assert_eq!(tree.remove("/workspace/l/", true, 2), Err(Errno::NotDirectory));
        tree.remove("/workspace/l", true, 2).expect("the link, not what it leads to");
        tree.remove("/workspace/e", false, 2).expect("empty");
        tree.remove("/workspace/d/", true, 2).expect("with all it holds");
        assert_eq!(tree.remove("/workspace/d", true, 2), Err(Errno::NoEntry));
        assert_eq!(tree.remove("/workspace/f/", false, 2), Err(Errno::NotDirectory));
        assert_eq!(tree.usage().bytes, 6);
    }

    #[test]
    fn removal_or_rename_of_root_or_dot_is_refused() {
        let mut tree = tree();
        assert_eq!(tree.remove("/", true, 2), Err(Errno::Busy));
        assert_eq!(tree.remove("/workspace/..", true, 2), Err(Errno::Busy));
        assert_eq!(tree.remove("/workspace/d/.", true, 2), Err(Errno::Invalid));
        assert_eq!(tree.remove("/workspace/d/..", true, 2), Err(Errno::Invalid));
        assert_eq!(tree.rename("/", "/tmp/x", 2), Err(Errno::Busy));
        assert_eq!(tree.rename("/workspace/d", "/", 2), Err(Errno::Busy));
        assert_eq!(tree.rename("/workspace/d/.", "/tmp/x", 2), Err(Errno::Invalid));
    }

    #[test]
    fn rename_keeps_the_id_and_replaces_as_posix() {
        let mut tree = tree();
        let id = tree.stat("/workspace/f", false).expect("there").id;
        tree.rename("/workspace/f", "/workspace/d/f", 2).expect("a file over a file");
        let moved = tree.stat("/workspace/d/f", false).expect("moved");
        assert_eq!((moved.id, moved.modified), (id, 1));
        assert_eq!(tree.stat("/workspace/d", false).expect("there").modified, 2);
        assert_eq!(tree.rename("/workspace/d/f", "/workspace/e", 2), Err(Errno::IsDirectory));
        assert_eq!(tree.rename("/workspace/e", "/workspace/d/f", 2), Err(Errno::NotDirectory));
        assert_eq!(tree.rename("/workspace/e", "/workspace/d", 2), Err(Errno::NotEmpty));
        assert_eq!(tree.rename("/workspace/d", "/workspace/d/x", 2), Err(Errno::Invalid));
        assert_eq!(tree.rename("/workspace/d/f", "/workspace/d", 2), Err(Errno::NotEmpty));
        assert_eq!(tree.rename("/workspace/d/f", "/workspace/g/", 2), Err(Errno::NotDirectory));
        assert_eq!(tree.rename("/workspace/none", "/workspace/g", 2), Err(Errno::NoEntry));
        assert_eq!(tree.rename("/workspace/d", "/workspace/none/g", 2), Err(Errno::NoEntry));
        tree.rename("/workspace/d", "/workspace/../workspace/d", 2).expect("to itself");
        tree.rename("/workspace/d", "/workspace/e/", 2).expect("a directory over an empty one");
        assert_eq!(tree.read_file("/workspace/e/f").as_deref(), Ok(b"outer".as_slice()));
        assert_eq!(tree.usage(), super::super::Usage { bytes: 6, entries: 6 });
    }

    #[test]
    fn rename_of_a_link_moves_the_link_itself() {
        let mut tree = tree();
        tree.create_link("../d", "/workspace/l", 1).expect("writable");
        tree.rename("/workspace/l", "/workspace/e/l", 2).expect("writable");
        assert_eq!(tree.read_link("/workspace/e/l").as_deref(), Ok("../d"));
        assert_eq!(tree.read_file("/workspace/e/l/f").as_deref(), Ok(b"inner".as_slice()));
    }

    #[test]
    fn links_are_made_where_nothing_is() {
        let mut tree = tree();
        assert_eq!(tree.create_link("x", "/workspace/f", 1), Err(Errno::Exists));
        assert_eq!(tree.create_link("x", "/workspace/new/", 1), Err(Errno::NoEntry));
        assert_eq!(tree.create_link("", "/workspace/l", 1), Err(Errno::NoEntry));
        assert_eq!(tree.create_link("a\0b", "/workspace/l", 1), Err(Errno::Invalid));
        assert_eq!(tree.create_link(&"x".repeat(MAX_PATH_BYTES + 1), "/workspace/l", 1), Err(Errno::NameTooLong));
        assert_eq!(tree.create_link(&"x".repeat(MAX_PATH_BYTES), "/workspace/l", 1), Ok(()));
        assert_eq!(tree.stat("/workspace/l", true), Err(Errno::NameTooLong));
    }

    #[test]
    fn outside_the_writable_places_everything_is_denied() {
        let mut tree = tree();
        let before = tree.clone();
        assert_eq!(tree.create_directory("/etc/d", false, 2), Err(Errno::Access));
        assert_eq!(tree.create_directory("/new/d", true, 2), Err(Errno::Access));
        assert_eq!(tree.create_link("a", "/etc/l", 2), Err(Errno::Access));
        assert_eq!(tree.remove("/etc/a", false, 2), Err(Errno::Access));
        assert_eq!(tree.remove("/etc", true, 2), Err(Errno::Access));
        assert_eq!(tree.remove("/workspace", true, 2), Err(Errno::Access));
        assert_eq!(tree.rename("/etc/a", "/workspace/a", 2), Err(Errno::Access));
        assert_eq!(tree.rename("/workspace/f", "/etc/a", 2), Err(Errno::Access));
        assert_eq!(tree.rename("/workspace/f", "/f", 2), Err(Errno::Access));
        assert_eq!(tree.rename("/tmp", "/workspace/e", 2), Err(Errno::Access));
        assert_eq!(super::super::changed_paths(&before, &tree), Ok(vec![]));
    }

    #[test]
    fn rename_that_makes_paths_too_long_or_deep_is_refused() {
        let mut tree = tree();
        let long = format!("/tmp/{}", ["n".repeat(200).as_str(); 15].join("/"));
        tree.create_directory(&long, true, 1).expect("3,020 bytes");
        let other = format!("/workspace/{}", ["m".repeat(200).as_str(); 15].join("/"));
        tree.create_directory(&other, true, 1).expect("3,026 bytes");
        let from = format!("/tmp/{}", "n".repeat(200));
        assert_eq!(tree.rename(&from, &format!("{other}/x"), 2), Err(Errno::NameTooLong));
        // The depth recorded for a directory decreases when entries are removed.
        tree.remove(&format!("{from}/{}", "n".repeat(200)), true, 2).expect("writable");
        assert_eq!(tree.rename(&from, &format!("{other}/x"), 2), Ok(()));
        let deep = "/tmp/deep".to_owned() + &"/d".repeat(300);
        tree.create_directory(&deep, true, 3).expect("302 names");
        tree.create_directory(&format!("/workspace{}", "/e".repeat(300)), true, 3).expect("writable");
        assert_eq!(tree.rename("/workspace/e/e", &format!("{deep}/x"), 3), Err(Errno::NameTooLong));
    }
}
