//! Changing files: their content, permission bits and time.

use std::sync::Arc;

use super::content::Content;
use super::errno::Errno;
use super::node::{EntryMeta, FileNode, Name, TreeNode, Usage};
use super::tree::{MODE_BITS, Tree};

/// Permission bits of a new file.
const FILE_MODE: u32 = 0o644;

/// Treatment of an existing file by a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WriteMode {
    /// Replaces the content.
    Replace,
    /// Appends to the content.
    Append,
    /// Fails with `Exists`.
    Create,
}

/// The resolved path of a file to write: links are followed, and no directory is in the way.
pub(super) struct WriteTarget {
    names: Vec<Name>,
    /// Size of the existing file in bytes.
    old: Option<u64>,
}

impl Tree {
    /// Writes a whole file, or appends to one. A missing file is created, with mode 0644; a link is followed, even to a
    /// file that does not exist yet.
    ///
    /// # Errors
    /// `IsDirectory`, `Exists` with [`WriteMode::Create`], `Access`, `TooLarge`, `Quota`.
    pub fn write(&mut self, path: &str, contents: &[u8], mode: WriteMode, now: u64) -> Result<(), Errno> {
        if mode == WriteMode::Create && self.find(path, false)?.optional()?.is_some() {
            return Err(Errno::Exists);
        }
        let target = self.target(path)?;
        self.writable_target(&target)?;
        if mode == WriteMode::Append { self.append(target, contents, now) } else { self.replace(target, contents, now) }
    }

    /// Overwrites an existing file at `offset`, extending it if necessary; a gap is filled with zeros. Writing no bytes
    /// changes nothing.
    ///
    /// # Errors
    /// `IsDirectory`, `Access`, `TooLarge`, `Quota`.
    pub fn write_at(&mut self, path: &str, offset: u64, contents: &[u8], now: u64) -> Result<(), Errno> {
        self.find(path, true)?.existing()?;
        let target = self.target(path)?;
        let old = target.old.ok_or(Errno::NoEntry)?;
        self.writable_target(&target)?;
        if contents.is_empty() {
            return Ok(());
        }
        let size = offset.checked_add(length(contents)).ok_or(Errno::TooLarge)?.max(old);
        if size > old {
            self.allow_size(size)?;
            self.afford(bytes(old), bytes(size))?;
        }
        self.change_content(&target.names, now, |content| content.write_at(offset, contents))
    }

    /// Sets the size of a file by cutting it or adding zeros.
    ///
    /// # Errors
    /// `IsDirectory`, `Access`, `TooLarge`, `Quota`.
    pub fn truncate(&mut self, path: &str, size: u64, now: u64) -> Result<(), Errno> {
        self.find(path, true)?.existing()?;
        let target = self.target(path)?;
        let old = target.old.ok_or(Errno::NoEntry)?;
        self.writable_target(&target)?;
        if size == old {
            return Ok(());
        }
        self.allow_size(size)?;
        self.afford(bytes(old), bytes(size))?;
        self.change_content(&target.names, now, |content| content.resize(size))
    }

    /// Copies a file (content and mode), replacing an existing file: links are followed at both ends. A new file gets a
    /// new id; a replaced one keeps its id. A file copied onto itself is unchanged.
    ///
    /// # Errors
    /// `IsDirectory`, `Access`, `TooLarge`, `Quota`.
    pub fn copy(&mut self, from: &str, to: &str, now: u64) -> Result<(), Errno> {
        let content = self.content(from)?;
        let source = self.find(from, true)?;
        let (mode, source) = (source.existing()?.meta().mode, source.names());
        let target = self.target(to)?;
        self.writable_target(&target)?;
        if target.names == source { Ok(()) } else { self.store(target, content, Some(mode), now) }
    }

    /// Sets the permission bits, following a link.
    ///
    /// # Errors
    /// `Invalid` beyond 0o7777, `Access`.
    pub fn set_mode(&mut self, path: &str, mode: u32) -> Result<(), Errno> {
        if mode > MODE_BITS {
            return Err(Errno::Invalid);
        }
        let names = self.writable_entry(path)?;
        self.alter_meta(&names, |meta| meta.mode = mode)
    }

    /// Sets the time of the last change, in nanoseconds since the Unix epoch, following a link.
    ///
    /// # Errors
    /// `Access`.
    pub fn set_modified(&mut self, path: &str, modified: u64) -> Result<(), Errno> {
        let names = self.writable_entry(path)?;
        self.alter_meta(&names, |meta| meta.modified = modified)
    }

    /// Sets the time of the last change like [`Tree::set_modified`], but of the link itself if the path is one.
    ///
    /// # Errors
    /// `Access`.
    pub fn set_own_modified(&mut self, path: &str, modified: u64) -> Result<(), Errno> {
        let found = self.find(path, false)?;
        found.existing()?;
        let names = found.names();
        self.writable(&names)?;
        self.alter_meta(&names, |meta| meta.modified = modified)
    }

    /// Resolves the path of a file that exists or can be created.
    pub(super) fn target(&self, path: &str) -> Result<WriteTarget, Errno> {
        let found = self.find(path, true)?;
        let old = match found.optional()? {
            Some(TreeNode::File(_)) if found.slash() => return Err(Errno::NotDirectory),
            Some(TreeNode::File(file)) => Some(file.content.len()),
            Some(TreeNode::Directory(_)) => return Err(Errno::IsDirectory),
            // A walk that follows links does not end at one.
            Some(TreeNode::Link(_)) => return Err(Errno::TooManyLinks),
            // A path such as `new/` can only be a directory.
            None if found.slash() => return Err(Errno::IsDirectory),
            None => None,
        };
        Ok(WriteTarget { names: found.names(), old })
    }

    /// Stores `content` at `target`. A new file gets `mode`, or 0644; an existing one gets `mode` if it is given.
    pub(super) fn store(
        &mut self,
        target: WriteTarget,
        content: Content,
        mode: Option<u32>,
        now: u64,
    ) -> Result<(), Errno> {
        let WriteTarget { names, old } = target;
        self.allow_size(content.len())?;
        if let Some(old) = old {
            self.afford(bytes(old), bytes(content.len()))?;
            return self.change_file(&names, |file| {
                file.meta = EntryMeta { mode: mode.unwrap_or(file.meta.mode), modified: now, ..file.meta };
                file.content = content;
                Ok(())
            });
        }
        self.add(&names, |meta| TreeNode::file(meta, content), mode.unwrap_or(FILE_MODE), now)
    }

    fn replace(&mut self, target: WriteTarget, contents: &[u8], now: u64) -> Result<(), Errno> {
        // Checked before the bytes are copied.
        self.allow_size(length(contents))?;
        self.store(target, Content::from(contents), None, now)
    }

    fn append(&mut self, target: WriteTarget, contents: &[u8], now: u64) -> Result<(), Errno> {
        let Some(old) = target.old else { return self.replace(target, contents, now) };
        if contents.is_empty() {
            return Ok(());
        }
        self.allow_size(old.saturating_add(length(contents)))?;
        self.afford(Usage::default(), bytes(length(contents)))?;
        self.change_content(&target.names, now, |content| content.append(contents))
    }

    fn change_content(
        &mut self,
        names: &[Name],
        now: u64,
        change: impl FnOnce(&mut Content) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        self.change_file(names, |file| {
            change(&mut file.content)?;
            file.meta.modified = now;
            Ok(())
        })
    }

    fn change_file(
        &mut self,
        names: &[Name],
        change: impl FnOnce(&mut FileNode) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        self.alter(names, |node| match node {
            TreeNode::File(file) => change(Arc::make_mut(file)),
            TreeNode::Directory(_) => Err(Errno::IsDirectory),
            TreeNode::Link(_) => Err(Errno::TooManyLinks),
        })
    }

    /// Changes the metadata of an entry.
    pub(super) fn alter_meta(&mut self, names: &[Name], change: impl FnOnce(&mut EntryMeta)) -> Result<(), Errno> {
        self.alter(names, |node| {
            change(node.meta_mut());
            Ok(())
        })
    }

    fn writable_target(&self, target: &WriteTarget) -> Result<(), Errno> {
        match target.old {
            Some(_) => self.writable(&target.names),
            None => self.writable_parent(&target.names),
        }
    }

    fn writable_entry(&self, path: &str) -> Result<Vec<Name>, Errno> {
        let found = self.find(path, true)?;
        found.existing()?;
        let names = found.names();
        self.writable(&names)?;
        Ok(names)
    }
}

fn bytes(bytes: u64) -> Usage {
    Usage { bytes, entries: 0 }
}

/// Converts a length in memory: no platform has a `usize` wider than 64 bits.
fn length(contents: &[u8]) -> u64 {
    contents.len() as u64
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, MAX_LINKS, MAX_NAME_BYTES, MAX_PATH_BYTES};
    use super::*;

    const LIMITS: Limits = Limits { bytes: 100, entries: 6, file_bytes: 60 };

    fn tree() -> Tree {
        let mut tree = Tree::new(LIMITS, 0);
        tree.write("/workspace/a", b"abc", WriteMode::Create, 1).expect("a fresh tree has room");
        tree
    }

    #[test]
    fn writes_replace_append_and_create() {
        let mut tree = tree();
        let id = tree.stat("/workspace/a", true).expect("written").id;
        tree.write("/workspace/a", b"def", WriteMode::Append, 2).expect("writable");
        assert_eq!(tree.read_file("/workspace/a").as_deref(), Ok(b"abcdef".as_slice()));
        tree.write("/workspace/a", b"x", WriteMode::Replace, 3).expect("writable");
        let stat = tree.stat("/workspace/a", true).expect("written");
        assert_eq!((stat.size, stat.mode, stat.modified, stat.id), (1, 0o644, 3, id));
        assert_eq!(tree.write("/workspace/a", b"", WriteMode::Create, 4), Err(Errno::Exists));
        tree.write("/tmp/new", b"n", WriteMode::Append, 4).expect("appending makes it too");
        assert_eq!(tree.usage(), Usage { bytes: 2, entries: 4 });
    }

    #[test]
    fn write_through_dangling_link_creates_its_target() {
        let mut tree = tree();
        tree.create_link("b", "/workspace/l", 1).expect("writable");
        assert_eq!(tree.write("/workspace/l", b"", WriteMode::Create, 2), Err(Errno::Exists));
        tree.write("/workspace/l", b"through", WriteMode::Replace, 2).expect("writable");
        assert_eq!(tree.read_file("/workspace/b").as_deref(), Ok(b"through".as_slice()));
    }

    #[test]
    fn truncate_cuts_or_fills_with_zeros() {
        let mut tree = tree();
        tree.truncate("/workspace/a", 5, 2).expect("writable");
        assert_eq!(tree.read_file("/workspace/a").as_deref(), Ok(b"abc\0\0".as_slice()));
        tree.truncate("/workspace/a", 1, 3).expect("writable");
        assert_eq!(tree.read("/workspace/a", 0, 10).as_deref(), Ok(b"a".as_slice()));
        assert_eq!(tree.truncate("/workspace/b", 1, 3), Err(Errno::NoEntry));
        assert_eq!(tree.truncate("/workspace", 1, 3), Err(Errno::IsDirectory));
        assert_eq!(tree.truncate("/workspace/a", 61, 3), Err(Errno::TooLarge));
        assert_eq!(tree.truncate("/workspace/a", u64::MAX, 3), Err(Errno::TooLarge));
    }

    #[test]
    fn write_at_offset_overwrites_and_extends() {
        let mut tree = tree();
        tree.write_at("/workspace/a", 1, b"XYZ", 2).expect("writable");
        assert_eq!(tree.read_file("/workspace/a").as_deref(), Ok(b"aXYZ".as_slice()));
        tree.write_at("/workspace/a", 6, b"!", 3).expect("writable");
        assert_eq!(tree.read_file("/workspace/a").as_deref(), Ok(b"aXYZ\0\0!".as_slice()));
        let before = tree.clone();
        tree.write_at("/workspace/a", u64::MAX, b"", 4).expect("nothing is written");
        assert_eq!(tree.write_at("/workspace/a", u64::MAX, b"x", 4), Err(Errno::TooLarge));
        assert_eq!(tree.write_at("/workspace/a", 60, b"x", 4), Err(Errno::TooLarge));
        tree.write("/workspace/b", &[0; 50], WriteMode::Create, 4).expect("57 of 100 bytes");
        assert_eq!(tree.write_at("/workspace/a", 50, b"x", 4), Err(Errno::Quota));
        assert_eq!(tree.write_at("/workspace/none", 0, b"x", 4), Err(Errno::NoEntry));
        assert_eq!(tree.write_at("/workspace", 0, b"x", 4), Err(Errno::IsDirectory));
        assert_eq!(tree.read_file("/workspace/a"), before.read_file("/workspace/a"));
    }

    #[test]
    fn copy_has_same_content_and_mode_and_another_id() {
        let mut tree = tree();
        tree.set_mode("/workspace/a", 0o755).expect("writable");
        tree.copy("/workspace/a", "/workspace/b", 9).expect("writable");
        let (a, b) = (tree.stat("/workspace/a", true), tree.stat("/workspace/b", true));
        let (a, b) = (a.expect("there"), b.expect("copied"));
        assert_eq!((b.mode, b.modified, b.size), (0o755, 9, 3));
        assert_ne!(a.id, b.id);
        tree.write("/workspace/b", b"!", WriteMode::Append, 10).expect("writable");
        assert_eq!(tree.read_file("/workspace/a").as_deref(), Ok(b"abc".as_slice()));
        tree.copy("/workspace/a", "/workspace/b", 11).expect("replaces");
        assert_eq!(tree.stat("/workspace/b", true).expect("there").id, b.id);
        tree.copy("/workspace/a", "/workspace/../workspace/a", 12).expect("onto itself");
        assert_eq!(tree.stat("/workspace/a", true), Ok(a));
        assert_eq!(tree.copy("/workspace", "/tmp/c", 13), Err(Errno::IsDirectory));
        assert_eq!(tree.copy("/workspace/a", "/tmp", 13), Err(Errno::IsDirectory));
        assert_eq!(tree.copy("/workspace/none", "/tmp/c", 13), Err(Errno::NoEntry));
    }

    #[test]
    fn outside_the_writable_places_everything_is_denied() {
        let mut tree = tree();
        tree.place_file("/etc/a", b"a", 0o644, 1).expect("the host may");
        let before = tree.clone();
        for path in ["/etc/a", "/etc/../workspace/../etc/a"] {
            assert_eq!(tree.write(path, b"", WriteMode::Replace, 2), Err(Errno::Access));
            assert_eq!(tree.write(path, b"", WriteMode::Append, 2), Err(Errno::Access));
            assert_eq!(tree.truncate(path, 0, 2), Err(Errno::Access));
            assert_eq!(tree.write_at(path, 0, b"x", 2), Err(Errno::Access));
            assert_eq!(tree.set_own_modified(path, 0), Err(Errno::Access));
            assert_eq!(tree.copy("/workspace/a", path, 2), Err(Errno::Access));
            assert_eq!(tree.set_mode(path, 0), Err(Errno::Access));
            assert_eq!(tree.set_modified(path, 0), Err(Errno::Access));
        }
        for path in ["/new", "/etc/new"] {
            assert_eq!(tree.write(path, b"", WriteMode::Create, 2), Err(Errno::Access));
            assert_eq!(tree.copy("/workspace/a", path, 2), Err(Errno::Access));
        }
        assert_eq!(tree.set_mode("/", 0), Err(Errno::Access));
        assert_eq!(super::super::changed_paths(&before, &tree), Ok(vec![]));
        assert_eq!(tree.read_file("/etc/a").as_deref(), Ok(b"a".as_slice()), "reading is allowed");
    }

    #[test]
    fn write_through_link_into_read_only_place_is_denied() {
        let mut tree = tree();
        tree.place_file("/etc/a", b"a", 0o644, 1).expect("the host may");
        tree.create_link("/etc", "/workspace/l", 1).expect("writable");
        assert_eq!(tree.write("/workspace/l/a", b"", WriteMode::Replace, 2), Err(Errno::Access));
        assert_eq!(tree.write("/workspace/l/b", b"", WriteMode::Replace, 2), Err(Errno::Access));
        assert_eq!(tree.set_mode("/workspace/l", 0o777), Err(Errno::Access));
    }

    #[test]
    fn byte_quota_refuses_excess_and_is_freed_by_removal() {
        let mut tree = tree();
        tree.write("/workspace/b", &[0; 60], WriteMode::Create, 1).expect("63 of 100 bytes");
        assert_eq!(tree.write("/workspace/c", &[0; 38], WriteMode::Create, 1), Err(Errno::Quota));
        assert_eq!(tree.write("/workspace/a", &[0; 38], WriteMode::Append, 1), Err(Errno::Quota));
        assert_eq!(tree.truncate("/workspace/a", 41, 1), Err(Errno::Quota));
        assert_eq!(tree.copy("/workspace/b", "/workspace/c", 1), Err(Errno::Quota));
        assert_eq!(tree.create_link(&"x".repeat(38), "/workspace/c", 1), Err(Errno::Quota));
        assert_eq!(tree.usage().bytes, 63);
        tree.write("/workspace/a", &[0; 40], WriteMode::Replace, 1).expect("100 of 100 bytes");
        tree.remove("/workspace/b", false, 1).expect("writable");
        tree.write("/workspace/c", &[0; 60], WriteMode::Create, 1).expect("what was removed is free again");
    }

    #[test]
    fn entry_quota_refuses_excess_entries() {
        let mut tree = tree();
        tree.create_directory("/tmp/1/2/3", true, 1).expect("6 of 6 entries");
        assert_eq!(tree.write("/tmp/b", b"", WriteMode::Create, 1), Err(Errno::Quota));
        assert_eq!(tree.create_directory("/tmp/b", false, 1), Err(Errno::Quota));
        assert_eq!(tree.create_link("a", "/tmp/b", 1), Err(Errno::Quota));
        assert_eq!(tree.copy("/workspace/a", "/tmp/b", 1), Err(Errno::Quota));
        tree.write("/workspace/a", b"more", WriteMode::Append, 1).expect("takes no entry");
    }

    #[test]
    fn file_beyond_the_size_limit_is_refused() {
        let mut tree = tree();
        assert_eq!(tree.write("/workspace/b", &[0; 61], WriteMode::Create, 1), Err(Errno::TooLarge));
        assert_eq!(tree.write("/workspace/a", &[0; 58], WriteMode::Append, 1), Err(Errno::TooLarge));
        tree.write("/workspace/a", &[0; 57], WriteMode::Append, 1).expect("60 of 60 bytes");
    }

    #[test]
    fn modes_and_times_are_set_through_links() {
        let mut tree = tree();
        tree.create_link("a", "/workspace/l", 1).expect("writable");
        tree.set_mode("/workspace/l", 0o4751).expect("writable");
        tree.set_modified("/workspace/l", u64::MAX).expect("writable");
        let stat = tree.stat("/workspace/a", false).expect("there");
        assert_eq!((stat.mode, stat.modified), (0o4751, u64::MAX));
        assert_eq!(tree.stat("/workspace/l", false).expect("there").mode, 0o777);
        tree.set_own_modified("/workspace/l", 5).expect("writable");
        let times = [true, false].map(|follow| tree.stat("/workspace/l", follow).expect("there").modified);
        assert_eq!(times, [u64::MAX, 5]);
        assert_eq!(tree.set_mode("/workspace/a", 0o10000), Err(Errno::Invalid));
        assert_eq!(tree.set_modified("/workspace/none", 1), Err(Errno::NoEntry));
    }

    #[test]
    fn hostile_paths_are_refused() {
        let mut tree = tree();
        let mut write = |path: &str| tree.write(path, b"", WriteMode::Replace, 1);
        assert_eq!(write(""), Err(Errno::NoEntry));
        assert_eq!(write("a"), Err(Errno::Invalid));
        assert_eq!(write("/workspace/a\0b"), Err(Errno::Invalid));
        assert_eq!(write(&format!("/workspace/{}", "n".repeat(MAX_NAME_BYTES + 1))), Err(Errno::NameTooLong));
        assert_eq!(write(&format!("/tmp{}", "/".repeat(MAX_PATH_BYTES))), Err(Errno::NameTooLong));
        assert_eq!(write("/workspace/a/b"), Err(Errno::NotDirectory));
        assert_eq!(write("/workspace/a/../b"), Err(Errno::NotDirectory));
        assert_eq!(write("/workspace/none/../b"), Err(Errno::NoEntry));
        assert_eq!(write("/workspace/new/"), Err(Errno::IsDirectory));
        assert_eq!(write("/workspace/a/"), Err(Errno::NotDirectory));
        assert_eq!(write(&format!("/workspace/{}", "n".repeat(MAX_NAME_BYTES))), Ok(()));
    }

    #[test]
    fn dots_stop_at_the_root_and_links_stay_in_the_tree() {
        let mut tree = tree();
        tree.create_link("../../../../workspace/./a", "/workspace/l", 1).expect("writable");
        assert_eq!(tree.read_file("/../../workspace/l").as_deref(), Ok(b"abc".as_slice()));
        // `..` goes up from the target of a link, not from the link.
        tree.create_link("/tmp", "/workspace/t", 1).expect("writable");
        assert_eq!(tree.read_file("/workspace/t/../a"), Err(Errno::NoEntry));
    }

    #[test]
    fn links_followed_are_limited() {
        let mut tree = Tree::new(Limits::default(), 0);
        tree.write("/tmp/0", b"end", WriteMode::Create, 1).expect("writable");
        for link in 0..=MAX_LINKS {
            tree.create_link(&link.to_string(), &format!("/tmp/{}", link + 1), 1).expect("writable");
        }
        assert_eq!(tree.read_file(&format!("/tmp/{MAX_LINKS}")).as_deref(), Ok(b"end".as_slice()));
        assert_eq!(tree.read_file(&format!("/tmp/{}", MAX_LINKS + 1)), Err(Errno::TooManyLinks));
        tree.create_link("loop/x", "/tmp/loop", 1).expect("writable");
        assert_eq!(tree.stat("/tmp/loop/", false), Err(Errno::TooManyLinks));
        assert_eq!(tree.write("/tmp/loop", b"", WriteMode::Replace, 1), Err(Errno::TooManyLinks));
    }
}
