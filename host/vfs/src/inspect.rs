//! Reading the tree: the read-only half of the guests' `files` interface. Everything is readable.

use super::content::Content;
use super::errno::Errno;
use super::node::TreeNode;
use super::path;
use super::tree::Tree;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
}

/// Metadata of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Kind of the entry.
    pub kind: Kind,
    /// Bytes in a file; length of a link's target; number of entries of a directory.
    pub size: u64,
    /// Permission bits, 0 to 0o7777. They are stored but not enforced: write access depends on the path.
    pub mode: u32,
    /// Time of the last change of its content, in nanoseconds since the Unix epoch.
    pub modified: u64,
    /// Id of the entry: two paths of one tree have the same id exactly if they are the same entry.
    pub id: u64,
}

/// An entry of a directory listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name of the entry, without the path.
    pub name: String,
    /// Kind of the entry.
    pub kind: Kind,
}

impl TreeNode {
    pub(super) fn kind(&self) -> Kind {
        match self {
            TreeNode::File(_) => Kind::File,
            TreeNode::Directory(_) => Kind::Directory,
            TreeNode::Link(_) => Kind::Link,
        }
    }

    pub(super) fn stat(&self) -> Stat {
        let size = match self {
            TreeNode::File(file) => file.content.len(),
            TreeNode::Directory(directory) => directory.sums().entries,
            // The length is in memory: no platform has a `usize` wider than 64 bits.
            TreeNode::Link(link) => link.target.len() as u64,
        };
        let meta = self.meta();
        Stat { kind: self.kind(), size, mode: meta.mode, modified: meta.modified, id: meta.id }
    }
}

impl Tree {
    /// Returns the metadata of an entry; `follow` says whether a link at the end of the path is followed.
    ///
    /// # Errors
    /// Errors of resolving a path: `NoEntry`, `NotDirectory`, `TooManyLinks`, `NameTooLong`, and `Invalid` if it is not
    /// absolute or contains a NUL. The same holds for every path in this module.
    pub fn stat(&self, path: &str, follow: bool) -> Result<Stat, Errno> {
        // A `/` at the end requires following a link, whatever `follow` says.
        Ok(self.find(path, follow || path.ends_with('/'))?.existing()?.stat())
    }

    /// Returns the metadata of the entry at exactly this path: no link is followed, not even on the way.
    ///
    /// # Errors
    /// `NoEntry`, `NotDirectory`; `Invalid` for a path that contains `.`, `..` or a redundant `/`.
    pub fn stat_here(&self, path: &str) -> Result<Stat, Errno> {
        Ok(self.entry(&path::names(path)?)?.stat())
    }

    /// Reads at most `length` bytes from `offset`; fewer at the end of the file, none after it.
    ///
    /// # Errors
    /// `IsDirectory`.
    pub fn read(&self, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, Errno> {
        self.content(path)?.read(offset, length)
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// `IsDirectory`.
    pub fn read_file(&self, path: &str) -> Result<Vec<u8>, Errno> {
        self.content(path)?.to_vec()
    }

    /// Returns the current content of a file, which later changes to the file do not affect.
    ///
    /// # Errors
    /// `IsDirectory`.
    pub fn content(&self, path: &str) -> Result<Content, Errno> {
        match self.find(path, true)?.existing()? {
            TreeNode::File(file) => Ok(file.content.clone()),
            TreeNode::Directory(_) => Err(Errno::IsDirectory),
            // A walk that follows links does not end at one.
            TreeNode::Link(_) => Err(Errno::TooManyLinks),
        }
    }

    /// Lists a directory, sorted by name (bytewise).
    ///
    /// # Errors
    /// `NotDirectory`.
    pub fn read_directory(&self, path: &str) -> Result<Vec<Entry>, Errno> {
        let directory = self.find(path, true)?.existing()?.as_directory().ok_or(Errno::NotDirectory)?;
        let entries = directory.entries()?;
        Ok(entries.map(|(name, node)| Entry { name: name.to_string(), kind: node.kind() }).collect())
    }

    /// Returns the first entry of a directory whose name is greater than `after` (bytewise), or the very first. So a
    /// directory can be read while it changes.
    ///
    /// # Errors
    /// `NotDirectory`.
    pub fn next_entry(&self, path: &str, after: Option<&str>) -> Result<Option<Entry>, Errno> {
        let directory = self.find(path, true)?.existing()?.as_directory().ok_or(Errno::NotDirectory)?;
        Ok(directory.next(after)?.map(|(name, node)| Entry { name: name.to_string(), kind: node.kind() }))
    }

    /// Reads the target of a symbolic link.
    ///
    /// # Errors
    /// `Invalid` if the entry is not a link.
    pub fn read_link(&self, path: &str) -> Result<String, Errno> {
        match self.find(path, path.ends_with('/'))?.existing()? {
            TreeNode::Link(link) => Ok(link.target.to_string()),
            TreeNode::File(_) | TreeNode::Directory(_) => Err(Errno::Invalid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, WriteMode};
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::new(Limits::default(), 0);
        tree.write("/workspace/b", b"0123456789", WriteMode::Create, 5).expect("writable");
        tree.create_directory("/workspace/a-", false, 6).expect("writable");
        tree.create_directory("/workspace/é", false, 6).expect("writable");
        tree.create_link("a-", "/workspace/Z", 7).expect("writable");
        tree
    }

    #[test]
    fn stat_follows_links_only_when_asked() {
        let tree = tree();
        let link = tree.stat("/workspace/Z", false).expect("there");
        assert_eq!((link.kind, link.size, link.mode, link.modified), (Kind::Link, 2, 0o777, 7));
        let directory = tree.stat("/workspace/Z", true).expect("there");
        assert_eq!((directory.kind, directory.size, directory.modified), (Kind::Directory, 0, 6));
        assert_eq!(tree.stat("/workspace/Z/", false), Ok(directory));
        assert_eq!(tree.stat("/workspace/a-/.", false), Ok(directory));
        assert_eq!(tree.stat("/workspace/b/", true), Err(Errno::NotDirectory));
        assert_eq!(tree.stat("/workspace/none", true), Err(Errno::NoEntry));
    }

    #[test]
    fn stat_here_follows_no_links() {
        let mut tree = tree();
        tree.create_link("b", "/workspace/a-/l", 7).expect("writable");
        assert_eq!(tree.stat_here("/workspace/b"), tree.stat("/workspace/b", true));
        assert_eq!(tree.stat_here("/"), tree.stat("/", true));
        assert_eq!(tree.stat_here("/workspace/Z").map(|stat| stat.kind), Ok(Kind::Link));
        assert_eq!(tree.stat_here("/workspace/Z/l"), Err(Errno::NotDirectory));
        assert_eq!(tree.stat_here("/workspace/none"), Err(Errno::NoEntry));
        for path in ["/workspace/", "/workspace/../workspace", "workspace"] {
            assert_eq!(tree.stat_here(path), Err(Errno::Invalid), "{path}");
        }
    }

    #[test]
    fn read_of_a_range_returns_the_bytes_present() {
        let tree = tree();
        assert_eq!(tree.read("/workspace/b", 2, 3).as_deref(), Ok(b"234".as_slice()));
        assert_eq!(tree.read("/workspace/b", 8, u64::MAX).as_deref(), Ok(b"89".as_slice()));
        assert_eq!(tree.read("/workspace/b", u64::MAX, u64::MAX).as_deref(), Ok(b"".as_slice()));
        assert_eq!(tree.read("/workspace", 0, 1), Err(Errno::IsDirectory));
        assert_eq!(tree.read("/workspace/b/", 0, 1), Err(Errno::NotDirectory));
    }

    #[test]
    fn directory_is_listed_in_byte_order() {
        let tree = tree();
        let entries = tree.read_directory("/workspace").expect("a directory");
        let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
        let expected = [("Z", Kind::Link), ("a-", Kind::Directory), ("b", Kind::File), ("é", Kind::Directory)];
        assert_eq!(names, expected);
        let mut after = None;
        while let Some(entry) = tree.next_entry("/workspace", after.as_deref()).expect("a directory") {
            after = Some(entry.name.clone());
            assert!(entries.contains(&entry));
        }
        assert_eq!(after.as_deref(), Some("é"));
        assert_eq!(tree.next_entry("/workspace", Some("c")).expect("a directory").expect("one more").name, "é");
        assert_eq!(tree.next_entry("/workspace/b", None), Err(Errno::NotDirectory));
        assert_eq!(tree.read_directory("/workspace/Z").as_deref(), Ok([].as_slice()));
        assert_eq!(tree.read_directory("/workspace/b"), Err(Errno::NotDirectory));
    }

    #[test]
    fn read_link_of_other_entries_is_refused() {
        let tree = tree();
        assert_eq!(tree.read_link("/workspace/Z").as_deref(), Ok("a-"));
        assert_eq!(tree.read_link("/workspace/Z/"), Err(Errno::Invalid));
        assert_eq!(tree.read_link("/workspace/b"), Err(Errno::Invalid));
        assert_eq!(tree.read_link("/workspace/none"), Err(Errno::NoEntry));
    }

    #[test]
    fn content_stays_as_it_was_taken() {
        let mut tree = tree();
        let content = tree.content("/workspace/b").expect("a file");
        tree.remove("/workspace/b", false, 8).expect("writable");
        assert_eq!(content.to_vec().as_deref(), Ok(b"0123456789".as_slice()));
    }
}
