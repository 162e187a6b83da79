//! The paths that differ between two trees. The cost depends on the differences: directories that both trees share are
//! skipped.

use super::compare;
use super::errno::Errno;
use super::node::TreeNode;
use super::tree::Tree;

/// The kind of a change to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The entry no longer exists, or an entry of another kind has replaced it.
    Removed,
    /// The entry is new, or has replaced one of another kind.
    Added,
    /// The content, mode or time of a file or link differs; or the mode of a directory.
    Modified,
}

/// A path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Change {
    /// Absolute path of the entry.
    pub path: String,
    /// Kind of the change.
    pub kind: ChangeKind,
}

/// Lists the differences of `new` from `base`, sorted by path (bytewise). The contents of added and removed directories
/// are listed too. An entry that was replaced by another kind is reported as removed, then as added.
///
/// # Errors
/// `Io` if something that must be compared cannot be read.
pub fn changed_paths(base: &Tree, new: &Tree) -> Result<Vec<Change>, Errno> {
    let mut changes = Vec::new();
    for changed in compare::changes(base.root(), new.root())? {
        let (removed, added) = match changed.same_kind() {
            // The time of a directory only reflects changes to its entries.
            Some((TreeNode::Directory(old), TreeNode::Directory(new))) if old.meta.mode == new.meta.mode => continue,
            Some(_) => {
                changes.push(Change { path: changed.path, kind: ChangeKind::Modified });
                continue;
            }
            None => (changed.old.is_some(), changed.new.is_some()),
        };
        if removed {
            changes.push(Change { path: changed.path.clone(), kind: ChangeKind::Removed });
        }
        if added {
            changes.push(Change { path: changed.path, kind: ChangeKind::Added });
        }
    }
    changes.sort_unstable();
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, WriteMode};
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::new(Limits::default(), 0);
        for path in ["/workspace/a/b/c", "/workspace/a-/x", "/workspace/f"] {
            tree.place_file(path, b"x", 0o644, 1).expect("within limits");
        }
        tree
    }

    fn changes(base: &Tree, new: &Tree) -> Vec<(String, ChangeKind)> {
        let changes = changed_paths(base, new).expect("all is in memory");
        changes.into_iter().map(|change| (change.path, change.kind)).collect()
    }

    #[test]
    fn changes_between_equal_trees_are_empty() {
        let mut tree = tree();
        let base = tree.clone();
        assert_eq!(changes(&base, &tree), []);
        tree.write("/workspace/f", b"x", WriteMode::Replace, 1).expect("writable");
        assert_eq!(changes(&base, &tree), [], "the same bytes at the same time");
    }

    #[test]
    fn changes_name_every_path_in_order() {
        let base = tree();
        let mut tree = base.clone();
        tree.remove("/workspace/a", true, 2).expect("writable");
        tree.write("/workspace/a", b"now a file", WriteMode::Create, 2).expect("writable");
        tree.write("/workspace/a-/x", b"y", WriteMode::Append, 2).expect("writable");
        tree.set_mode("/workspace/a-", 0o700).expect("writable");
        tree.create_directory("/workspace/n/m", true, 2).expect("writable");
        let expected = [
            ("/workspace/a", ChangeKind::Removed),
            ("/workspace/a", ChangeKind::Added),
            ("/workspace/a-", ChangeKind::Modified),
            ("/workspace/a-/x", ChangeKind::Modified),
            ("/workspace/a/b", ChangeKind::Removed),
            ("/workspace/a/b/c", ChangeKind::Removed),
            ("/workspace/n", ChangeKind::Added),
            ("/workspace/n/m", ChangeKind::Added),
        ];
        assert_eq!(changes(&base, &tree), expected.map(|(path, kind)| (path.to_owned(), kind)));
    }

    #[test]
    fn changes_include_times_of_files_but_not_of_directories() {
        let base = tree();
        let mut tree = base.clone();
        tree.set_modified("/workspace/f", 9).expect("writable");
        tree.set_modified("/workspace/a", 9).expect("writable");
        assert_eq!(changes(&base, &tree), [("/workspace/f".to_owned(), ChangeKind::Modified)]);
    }
}
