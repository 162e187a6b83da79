//! Differences between trees as edits that can be applied to a third tree: this is how the work done on a snapshot is
//! merged into a tree that has changed since.
//!
//! The cost of finding the edits depends on the differences: shared parts are recognized and skipped. The edit of a
//! file shares its content.
//!
//! Applying is last-writer-wins for each entry, and no more: an edit replaces or removes exactly the entry that it
//! names. So changes to different files of one directory are all kept, and a directory is removed only if it contains
//! nothing that its remover did not know. Conflicts are errors, see [`ApplyError`]. Links are never followed: a path
//! that has become a link leads nowhere else.

use super::compare::{self, ChangedEntry};
use super::content::Content;
use super::errno::Errno;
use super::node::{EntryMeta, Name, PathExtent, TreeNode};
use super::path;
use super::tree::{DIRECTORY_MODE, MODE_BITS, Tree};

/// A change of one entry.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Edit {
    /// Absolute path of the entry, without links, `.` and `..`.
    pub path: String,
    /// Change that is made to the entry.
    pub action: Action,
}

/// The change that an edit makes to an entry.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Removes the entry.
    Remove {
        /// Set if the entry was a directory. Its entries have edits of their own.
        directory: bool,
    },
    /// Creates the entry, or replaces the existing one.
    Put {
        /// New content of the entry.
        body: Body,
        /// Permission bits, 0 to 0o7777.
        mode: u32,
        /// Time of the last change of its content, in nanoseconds since the Unix epoch.
        modified: u64,
    },
}

/// The content of an entry that an edit creates or replaces.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// A file with its content.
    File(Content),
    /// A directory without its entries: an existing directory keeps them.
    Directory,
    /// A symbolic link with its target.
    Link(String),
}

impl Edit {
    /// Creates an edit, for example from a record of it. [`Tree::apply`] checks its parts.
    #[must_use]
    pub fn new(path: String, action: Action) -> Edit {
        Edit { path, action }
    }
}

/// Error of applying edits; none of them was applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot change `{path}`")]
#[non_exhaustive]
pub struct ApplyError {
    /// Path of the entry that could not be changed; `/` if the error concerns the whole tree.
    pub path: String,
    /// Reason: `NotDirectory` if a parent has become a file or a link, `NotEmpty` if a non-empty directory is in the
    /// way, `Quota`, `TooLarge`; `Invalid` or `NameTooLong` for an edit that no tree could hold.
    pub source: Errno,
}

impl Tree {
    /// Returns the edits that turn `base` into this tree: removals, innermost first, then creations and changes,
    /// outermost first. Access rights and limits are not included; a renamed entry is removed and created.
    ///
    /// # Errors
    /// `Io` if something that must be compared cannot be read.
    pub fn changes_since(&self, base: &Tree) -> Result<Vec<Edit>, Errno> {
        let (mut removed, mut put) = (PendingRemovals::default(), Vec::new());
        for ChangedEntry { path, old, new } in compare::changes(base.root(), self.root())? {
            let kinds = (old.as_ref().map(TreeNode::kind), new.as_ref().map(TreeNode::kind));
            if let Some(old) = old.filter(|_| kinds.0 != kinds.1) {
                removed.add(path.clone(), old.as_directory().is_some());
            }
            if let Some(new) = new {
                let EntryMeta { mode, modified, .. } = *new.meta();
                put.push(Edit { path, action: Action::Put { body: Body::of(&new), mode, modified } });
            }
        }
        let mut edits = removed.done();
        edits.append(&mut put);
        Ok(edits)
    }

    /// Applies all edits or none. Missing parent directories are created (mode 0755). A removal is skipped if the entry
    /// is gone, has changed between directory and non-directory, or contains something that the edits do not remove. An
    /// entry that replaces one of the same kind keeps its id; other entries get a new one.
    ///
    /// The limits apply to the resulting tree. Access rights are not checked: they were when the edits were made.
    ///
    /// # Errors
    /// See [`ApplyError`]. The tree is then unchanged.
    pub fn apply(&mut self, edits: &[Edit]) -> Result<(), ApplyError> {
        let mut next = self.clone();
        let whole = |source| ApplyError { path: "/".to_owned(), source };
        self.bound(edits).map_err(whole)?;
        for edit in edits {
            next.edit_entry(edit).map_err(|source| ApplyError { path: edit.path.clone(), source })?;
        }
        self.afford(self.usage(), next.usage()).map_err(whole)?;
        *self = next;
        Ok(())
    }

    /// Rejects edits whose sizes, added to the tree's, would overflow.
    fn bound(&self, edits: &[Edit]) -> Result<(), Errno> {
        let sizes = edits.iter().map(|edit| match &edit.action {
            Action::Put { body: Body::File(content), .. } => content.len(),
            // At most 4,096, which is checked when the link is created.
            Action::Put { body: Body::Link(target), .. } => target.len() as u64,
            Action::Put { body: Body::Directory, .. } | Action::Remove { .. } => 0,
        });
        sizes.into_iter().try_fold(self.usage().bytes, u64::checked_add).map(drop).ok_or(Errno::Quota)
    }

    fn edit_entry(&mut self, edit: &Edit) -> Result<(), Errno> {
        // An edit may come from a record, so its path is checked like any other.
        let names = path::names(&edit.path)?;
        match &edit.action {
            Action::Remove { directory } => self.remove_edited(&names, *directory),
            Action::Put { body, mode, modified } => self.put_edited(&names, body, *mode, *modified),
        }
    }

    fn remove_edited(&mut self, names: &[Name], directory: bool) -> Result<(), Errno> {
        let Some((name, parent)) = names.split_last() else { return Err(Errno::Busy) };
        let expected = match self.entry(names) {
            Ok(TreeNode::Directory(found)) => directory && found.is_empty(),
            Ok(TreeNode::File(_) | TreeNode::Link(_)) => !directory,
            Err(Errno::Io) => return Err(Errno::Io),
            Err(_) => false,
        };
        if expected { self.edit(parent, |above| above.take(name)).map(drop) } else { Ok(()) }
    }

    fn put_edited(&mut self, names: &[Name], body: &Body, mode: u32, modified: u64) -> Result<(), Errno> {
        if mode > MODE_BITS {
            return Err(Errno::Invalid);
        }
        match body {
            Body::File(content) => self.allow_size(content.len())?,
            Body::Link(target) => path::check_target(target)?,
            Body::Directory => {}
        }
        let Some((_, parent)) = names.split_last() else {
            let directory = *body == Body::Directory;
            return if directory { self.set_meta(names, mode, modified) } else { Err(Errno::IsDirectory) };
        };
        Tree::allow_path(names, PathExtent::default())?;
        self.make_parents(parent, modified)?;
        let replaced = match self.entry(names) {
            Ok(TreeNode::Directory(_)) if *body == Body::Directory => return self.set_meta(names, mode, modified),
            Ok(TreeNode::Directory(found)) if !found.is_empty() => return Err(Errno::NotEmpty),
            Ok(node) => Some((node.kind(), node.meta().id)),
            Err(Errno::Io) => return Err(Errno::Io),
            Err(_) => None,
        };
        let mut node = body.node(EntryMeta { id: 0, mode, modified });
        node.meta_mut().id = match replaced {
            Some((kind, id)) if kind == node.kind() => id,
            _ => self.new_id(),
        };
        self.enter(names, node)
    }

    fn make_parents(&mut self, parent: &[Name], now: u64) -> Result<(), Errno> {
        if let Ok(TreeNode::Directory(_)) = self.entry(parent) {
            return Ok(());
        }
        for depth in 1..=parent.len() {
            match self.entry(&parent[..depth]) {
                Ok(TreeNode::Directory(_)) => {}
                Ok(TreeNode::File(_) | TreeNode::Link(_)) => return Err(Errno::NotDirectory),
                Err(Errno::Io) => return Err(Errno::Io),
                Err(_) => {
                    let meta = EntryMeta { id: self.new_id(), mode: DIRECTORY_MODE, modified: now };
                    self.enter(&parent[..depth], TreeNode::directory(meta))?;
                }
            }
        }
        Ok(())
    }

    /// Like `attach`, but leaves the time of the directory alone, which has an edit of its own.
    fn enter(&mut self, names: &[Name], node: TreeNode) -> Result<(), Errno> {
        let (name, parent) = names.split_last().ok_or(Errno::Busy)?;
        self.edit(parent, |directory| directory.put(Name::clone(name), node))
    }

    fn set_meta(&mut self, names: &[Name], mode: u32, modified: u64) -> Result<(), Errno> {
        self.alter_meta(names, |meta| (meta.mode, meta.modified) = (mode, modified))
    }
}

impl Body {
    fn of(node: &TreeNode) -> Body {
        match node {
            TreeNode::File(file) => Body::File(file.content.clone()),
            TreeNode::Directory(_) => Body::Directory,
            TreeNode::Link(link) => Body::Link(link.target.to_string()),
        }
    }

    fn node(&self, meta: EntryMeta) -> TreeNode {
        match self {
            Body::File(content) => TreeNode::file(meta, content.clone()),
            Body::Directory => TreeNode::directory(meta),
            Body::Link(target) => TreeNode::link(meta, target),
        }
    }
}

/// Removals, which are found outermost first and must be applied innermost first.
#[derive(Default)]
struct PendingRemovals {
    edits: Vec<Edit>,
    /// The directories that contain the last entry found, and that entry: removals in them may still follow.
    open: Vec<(String, bool)>,
}

impl PendingRemovals {
    fn add(&mut self, path: String, directory: bool) {
        let holds =
            |(above, _): &(String, bool)| path.strip_prefix(above.as_str()).is_some_and(|rest| rest.starts_with('/'));
        while self.open.last().is_some_and(|last| !holds(last)) {
            self.close();
        }
        self.open.push((path, directory));
    }

    fn close(&mut self) {
        let removal = |(path, directory)| Edit { path, action: Action::Remove { directory } };
        self.edits.extend(self.open.pop().map(removal));
    }

    fn done(mut self) -> Vec<Edit> {
        while !self.open.is_empty() {
            self.close();
        }
        self.edits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Limits, MAX_NAME_BYTES, Usage, WriteMode};
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::new(Limits::default(), 0);
        for path in ["/workspace/a/b/c", "/workspace/a/d", "/workspace/f"] {
            tree.place_file(path, b"x", 0o644, 1).expect("within limits");
        }
        tree
    }

    fn write(tree: &mut Tree, path: &str, contents: &str, now: u64) {
        tree.write(path, contents.as_bytes(), WriteMode::Replace, now).expect("writable");
    }

    fn read(tree: &Tree, path: &str) -> String {
        String::from_utf8(tree.read_file(path).expect("there")).expect("text")
    }

    fn changes(tree: &Tree, base: &Tree) -> Vec<Edit> {
        tree.changes_since(base).expect("all is in memory")
    }

    /// Applies to `tree` the edits that turn `base` into `other`.
    fn bring(tree: &mut Tree, base: &Tree, other: &Tree) -> Result<(), (String, Errno)> {
        tree.apply(&changes(other, base)).map_err(|error| (error.path, error.source))
    }

    #[test]
    fn equal_trees_have_no_edits() {
        let mut tree = tree();
        let base = tree.clone();
        assert_eq!(changes(&tree, &base), []);
        write(&mut tree, "/workspace/f", "x", 1);
        assert_eq!(changes(&tree, &base), [], "the same bytes at the same time");
    }

    #[test]
    fn changes_list_removals_innermost_first_and_additions_outermost_first() {
        let base = tree();
        let mut other = base.clone();
        other.remove("/workspace/a", true, 2).expect("writable");
        other.create_directory("/workspace/n/m", true, 2).expect("writable");
        let paths: Vec<_> = changes(&other, &base).into_iter().map(|edit| edit.path).collect();
        let removed = ["/workspace/a/b/c", "/workspace/a/b", "/workspace/a/d", "/workspace/a"];
        assert_eq!(paths, [removed.as_slice(), &["/workspace", "/workspace/n", "/workspace/n/m"]].concat());
    }

    #[test]
    fn merge_of_work_on_different_files_keeps_both_sides() {
        let base = tree();
        let (mut run, mut tool) = (base.clone(), base.clone());
        write(&mut run, "/workspace/a/d", "run", 2);
        write(&mut run, "/workspace/a/run", "new", 2);
        run.remove("/workspace/a/b", true, 2).expect("writable");
        write(&mut tool, "/workspace/f", "tool", 3);
        write(&mut tool, "/workspace/a/tool", "new", 3);
        assert_eq!(bring(&mut run, &base, &tool), Ok(()));
        let all = ["/workspace/a/d", "/workspace/a/run", "/workspace/f", "/workspace/a/tool"];
        assert_eq!(all.map(|path| read(&run, path)), ["run", "new", "tool", "new"]);
        assert_eq!(run.stat("/workspace/a/b", false), Err(Errno::NoEntry));
    }

    #[test]
    fn merge_of_file_written_by_both_keeps_last_content_and_id() {
        let base = tree();
        let (mut run, mut tool) = (base.clone(), base.clone());
        write(&mut run, "/workspace/f", "run", 3);
        write(&mut tool, "/workspace/f", "tool", 2);
        assert_eq!(bring(&mut run, &base, &tool), Ok(()));
        let (now, then) = (run.stat("/workspace/f", false), base.stat("/workspace/f", false));
        assert_eq!((read(&run, "/workspace/f").as_str(), now.map(|stat| stat.modified)), ("tool", Ok(2)));
        assert_eq!(now.map(|stat| stat.id), then.map(|stat| stat.id));
    }

    #[test]
    fn entries_that_both_sides_made_have_ids_of_their_own() {
        let base = tree();
        let (mut run, mut tool) = (base.clone(), base.clone());
        write(&mut run, "/workspace/run", "1", 2);
        write(&mut tool, "/workspace/tool", "2", 2);
        assert_eq!(bring(&mut run, &base, &tool), Ok(()));
        write(&mut run, "/workspace/later", "3", 4);
        let mut ids = ["run", "tool", "later"].map(|name| run.stat(&format!("/workspace/{name}"), false).map(|s| s.id));
        ids.sort_by_key(|id| id.ok());
        assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
    }

    #[test]
    fn merge_of_write_into_removed_directory_recreates_the_directory() {
        let base = tree();
        let (mut run, mut tool) = (base.clone(), base.clone());
        run.remove("/workspace/a", true, 2).expect("writable");
        tool.write("/workspace/a/b/c", b"y", WriteMode::Append, 3).expect("writable");
        assert_eq!(bring(&mut run, &base, &tool), Ok(()));
        assert_eq!(read(&run, "/workspace/a/b/c"), "xy");
        assert_eq!(run.stat("/workspace/a/d", false), Err(Errno::NoEntry), "only what was written");
    }

    #[test]
    fn merge_of_directory_removal_fails_if_it_has_new_entries() {
        let base = tree();
        let (mut run, mut tool) = (base.clone(), base.clone());
        write(&mut run, "/workspace/a/new", "run", 2);
        tool.remove("/workspace/a", true, 3).expect("writable");
        assert_eq!(bring(&mut run, &base, &tool), Ok(()));
        let left: Vec<_> = run.read_directory("/workspace/a").expect("there").into_iter().map(|e| e.name).collect();
        assert_eq!(left, ["new"]);
        // Nor replaced by a file after that.
        write(&mut tool, "/workspace/a", "now a file", 3);
        let before = run.clone();
        let failed = bring(&mut run, &base, &tool);
        assert_eq!(failed, Err(("/workspace/a".to_owned(), Errno::NotEmpty)));
        assert_eq!(changes(&run, &before), []);
    }

    #[test]
    fn merge_does_not_follow_links() {
        let base = tree();
        let (mut run, mut tool) = (base.clone(), base.clone());
        run.rename("/workspace/a", "/tmp/a", 2).expect("writable");
        run.create_link("/tmp/a", "/workspace/a", 2).expect("writable");
        run.remove("/workspace/f", false, 2).expect("writable");
        run.create_link("/tmp/a/d", "/workspace/f", 2).expect("writable");
        let before = run.clone();
        write(&mut tool, "/workspace/a/d", "tool", 3);
        assert_eq!(bring(&mut run, &base, &tool), Err(("/workspace/a/d".to_owned(), Errno::NotDirectory)));
        let mut removing = base.clone();
        removing.remove("/workspace/a/d", false, 3).expect("writable");
        let edits = changes(&removing, &base);
        let removals: Vec<_> = edits.into_iter().filter(|edit| edit.path.ends_with('d')).collect();
        assert_eq!(run.apply(&removals), Ok(()), "it is gone from there");
        assert_eq!(changes(&run, &before), []);
        let mut replacing = base.clone();
        write(&mut replacing, "/workspace/f", "tool", 3);
        assert_eq!(bring(&mut run, &base, &replacing), Ok(()), "the link itself is replaced");
        assert_eq!((read(&run, "/workspace/f").as_str(), read(&run, "/tmp/a/d").as_str()), ("tool", "x"));
    }

    #[test]
    fn limits_hold_for_the_outcome_and_nothing_is_half_applied() {
        let limits = Limits { bytes: 10, entries: 5, file_bytes: 8 };
        let mut base = Tree::new(limits, 0);
        write(&mut base, "/tmp/a", "1234", 1);
        let (mut run, mut tool) = (base.clone(), base.clone());
        write(&mut run, "/tmp/run", "123", 2);
        write(&mut tool, "/tmp/b", "1", 2);
        write(&mut tool, "/tmp/c", "123", 2);
        let before = run.clone();
        assert_eq!(bring(&mut run, &base, &tool), Err(("/".to_owned(), Errno::Quota)));
        assert_eq!(changes(&run, &before), []);
        // Edits may exceed a limit at first if later ones compensate for it.
        let mut tool = base.clone();
        write(&mut tool, "/tmp/a", "1", 2);
        write(&mut tool, "/tmp/A", "123456", 2);
        assert_eq!(bring(&mut run, &base, &tool), Ok(()));
        assert_eq!(run.usage(), Usage { bytes: 10, entries: 5 });
        run.set_limits(Limits { file_bytes: 5, ..limits });
        assert_eq!(bring(&mut run, &base, &tool), Err(("/tmp/A".to_owned(), Errno::TooLarge)));
    }

    #[test]
    fn edits_from_a_record_are_checked() {
        let mut tree = tree();
        let file = || Body::File(Content::from(b"x".as_slice()));
        let put = |body| Action::Put { body, mode: 0o644, modified: 1 };
        let long = format!("/{}", "n".repeat(MAX_NAME_BYTES + 1));
        let hostile = [
            ("", Errno::NoEntry),
            ("a", Errno::Invalid),
            ("//a", Errno::Invalid),
            ("/a/", Errno::Invalid),
            ("/a/../b", Errno::Invalid),
            ("/./b", Errno::Invalid),
            ("/a\0", Errno::Invalid),
            ("/", Errno::IsDirectory),
            (&long, Errno::NameTooLong),
            (&"/d".repeat(600), Errno::NameTooLong),
            ("/workspace/f/g", Errno::NotDirectory),
        ];
        for (path, errno) in hostile {
            let edit = Edit::new(path.to_owned(), put(file()));
            assert_eq!(tree.apply(&[edit]).map_err(|error| error.source), Err(errno), "{path}");
        }
        let mut fails = |action| tree.apply(&[Edit::new("/workspace/new".to_owned(), action)]).map_err(|e| e.source);
        assert_eq!(fails(Action::Put { body: file(), mode: 0o10000, modified: 0 }), Err(Errno::Invalid));
        assert_eq!(fails(put(Body::Link(String::new()))), Err(Errno::NoEntry));
        assert_eq!(fails(Action::Remove { directory: true }), Ok(()), "gone already");
        let root = Edit::new("/".to_owned(), Action::Remove { directory: true });
        assert_eq!(tree.apply(&[root]).map_err(|error| error.source), Err(Errno::Busy));
    }

    const PATHS: [&str; 8] =
        ["/tmp/a", "/tmp/b", "/tmp/a/a", "/tmp/a/b", "/tmp/a/a/b", "/workspace/a", "/tmp", "/tmp/b/a"];

    /// Performs one of all operations of a guest, at a time of its own.
    fn act(tree: &mut Tree, (kind, path, other, size): (u8, usize, usize, u8), now: u64) {
        let (path, other) = (PATHS[path % PATHS.len()], PATHS[other % PATHS.len()]);
        let bytes = vec![size; usize::from(size)];
        // Many operations are refused; the test is about the effects of the others.
        let _ = match kind % 8 {
            0 => tree.write(path, &bytes, WriteMode::Replace, now),
            1 => tree.write(path, &bytes, WriteMode::Append, now),
            2 => tree.create_directory(path, true, now),
            3 => tree.remove(path, true, now),
            4 => tree.rename(path, other, now),
            5 => tree.create_link(other, path, now),
            6 => tree.set_mode(path, u32::from(size)),
            _ => tree.set_modified(path, u64::from(size)),
        };
    }

    type Acts = Vec<(u8, usize, usize, u8)>;

    fn acts() -> impl Strategy<Value = Acts> {
        prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>(), any::<u8>()), 0..25)
    }

    fn ids(node: &TreeNode, found: &mut Vec<u64>) {
        found.push(node.meta().id);
        if let Some(directory) = node.as_directory() {
            directory.entries().expect("all is there").for_each(|(_, node)| ids(node, found));
        }
    }

    fn consistent(tree: &Tree) -> bool {
        let mut all = Vec::new();
        ids(tree.root(), &mut all);
        let count = all.len() as u64;
        all.sort_unstable();
        all.dedup();
        all.len() as u64 == count
            && count == tree.usage().entries + 1
            && all.last().is_some_and(|id| *id < tree.clone().new_id())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

        #[test]
        fn merge_of_edits_into_unchanged_tree_gives_the_edited_tree(first: bool, before in acts(), after in acts()) {
            let mut base = Tree::new(Limits::default(), 0);
            before.iter().zip(1..).for_each(|(a, now)| act(&mut base, *a, now));
            let mut other = if first { base.clone() } else { Tree::new(Limits::default(), 0) };
            after.iter().zip(100..).for_each(|(a, now)| act(&mut other, *a, now));
            let mut made = base.clone();
            prop_assert_eq!(made.apply(&changes(&other, &base)), Ok(()));
            prop_assert_eq!(changes(&made, &other), []);
            prop_assert_eq!(made.usage(), other.usage());
            prop_assert!(consistent(&made));
        }

        #[test]
        fn merge_keeps_what_only_one_side_touched(before in acts(), one in acts(), two in acts()) {
            let mut base = Tree::new(Limits::default(), 0);
            before.iter().zip(1..).for_each(|(a, now)| act(&mut base, *a, now));
            let (mut run, mut tool) = (base.clone(), base.clone());
            one.iter().zip(100..).for_each(|(a, now)| act(&mut run, *a, now));
            two.iter().zip(200..).for_each(|(a, now)| act(&mut tool, *a, now));
            let (before, edits) = (run.clone(), changes(&tool, &base));
            if run.apply(&edits).is_err() {
                prop_assert_eq!(changes(&run, &before), []);
            } else {
                for edit in &edits {
                    if let Action::Put { body: Body::File(content), .. } = &edit.action {
                        prop_assert_eq!(&run.content(&edit.path), &Ok(content.clone()), "{}", edit.path);
                    }
                }
                let touched = |path: &str| edits.iter().any(|edit| edit.path == path);
                for edit in changes(&before, &base) {
                    if let Action::Put { body: Body::File(content), .. } = &edit.action
                        && !touched(&edit.path)
                    {
                        prop_assert_eq!(&run.content(&edit.path), &Ok(content.clone()), "{}", edit.path);
                    }
                }
            }
            prop_assert!(consistent(&run));
        }
    }
}
