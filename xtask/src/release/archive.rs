//! Archives whose bytes depend on their files alone: sorted, with neutral owners and one time stamp.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use anyhow::{Context as _, Result, ensure};
use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

/// Longest name that every reader of tar archives accepts, in bytes.
const MAX_NAME: usize = 100;

/// Files and directories by path. Paths are relative and separated by `/`.
#[derive(Clone, Default)]
pub(super) struct FileTree(BTreeMap<String, TreeEntry>);

#[derive(Clone)]
struct TreeEntry {
    mode: u32,
    /// User and group of all entries.
    owner: u64,
    /// Contents of a file; `None` for a directory.
    content: Option<Vec<u8>>,
}

impl FileTree {
    /// Adds a file that user 0 owns. Directories above it are added by themselves.
    pub(super) fn file(&mut self, path: impl Into<String>, mode: u32, content: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), TreeEntry { mode, owner: 0, content: Some(content.into()) });
    }

    /// Adds a directory with a special mode or owner.
    pub(super) fn directory(&mut self, path: impl Into<String>, mode: u32, owner: u64) {
        self.0.insert(path.into(), TreeEntry { mode, owner, content: None });
    }

    /// Adds the files of another tree below a directory.
    pub(super) fn graft(&mut self, directory: &str, tree: &Self) {
        let nodes = tree.0.iter().map(|(path, node)| (format!("{directory}/{path}"), node.clone()));
        self.0.extend(nodes);
    }

    /// Iterates over the files.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().filter_map(|(path, node)| Some((path.as_str(), node.content.as_deref()?)))
    }

    /// Makes a tar archive, with `prefix` before each path and `epoch` as the time of all files, in seconds.
    pub(super) fn tar(&self, prefix: &str, epoch: u64) -> Result<Vec<u8>> {
        let mut nodes: BTreeMap<&str, &TreeEntry> = self.0.iter().map(|(path, node)| (path.as_str(), node)).collect();
        let ordinary = TreeEntry { mode: 0o755, owner: 0, content: None };
        for above in self.directories() {
            nodes.entry(above).or_insert(&ordinary);
        }
        let mut archive = tar::Builder::new(Vec::new());
        for (path, node) in nodes {
            let slash = if node.content.is_none() { "/" } else { "" };
            let content = node.content.as_deref().unwrap_or_default();
            archive.append(&header(&format!("{prefix}{path}{slash}"), node, epoch)?, content)?;
        }
        Ok(archive.into_inner()?)
    }

    /// Returns the directories above all paths.
    fn directories(&self) -> BTreeSet<&str> {
        let above = |path: &'_ str| path.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
        self.0.keys().flat_map(|path| above(path).into_iter().map(|at| &path[..at])).collect()
    }
}

fn header(name: &str, node: &TreeEntry, epoch: u64) -> Result<Header> {
    ensure!(name.len() <= MAX_NAME, "`{name}` is longer than {MAX_NAME} bytes");
    let mut header = Header::new_ustar();
    // `set_path` would drop the leading `./` of names in Debian's archives.
    header.as_ustar_mut().context("it is one")?.name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(if node.content.is_some() { EntryType::Regular } else { EntryType::Directory });
    header.set_mode(node.mode);
    header.set_uid(node.owner);
    header.set_gid(node.owner);
    header.set_mtime(epoch);
    header.set_size(node.content.as_ref().map_or(0, |content| content.len() as u64));
    header.set_cksum();
    Ok(header)
}

/// Compresses bytes, without a name and a time in the header.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Computes the sha256 of bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tar_of_a_tree_is_sorted_and_has_the_directories_above() {
        let mut tree = FileTree::default();
        tree.file("b/c.txt", 0o644, "c");
        tree.file("a", 0o755, "a");
        tree.directory("home", 0o700, 65532);
        let bytes = tree.tar("./", 7).expect("it is made");
        let mut archive = tar::Archive::new(bytes.as_slice());
        let entries = archive.entries().expect("it is read").map(|entry| {
            let entry = entry.expect("it is whole");
            let header = entry.header();
            let (mode, owner) = (header.mode().expect("octal"), header.uid().expect("octal"));
            assert_eq!(header.mtime().expect("octal"), 7);
            (String::from_utf8(entry.path_bytes().into_owned()).expect("text"), mode, owner)
        });
        let expected = [("./a", 0o755, 0), ("./b/", 0o755, 0), ("./b/c.txt", 0o644, 0), ("./home/", 0o700, 65532)];
        assert_eq!(entries.collect::<Vec<_>>(), expected.map(|(name, mode, owner)| (name.to_owned(), mode, owner)));
        assert_eq!(gzip(&bytes).expect("made"), gzip(&tree.tar("./", 7).expect("made")).expect("made"));
    }

    #[test]
    fn tar_with_a_name_that_is_too_long_is_refused() {
        let mut tree = FileTree::default();
        tree.file("a".repeat(101), 0o644, "");
        assert!(tree.tar("", 0).is_err());
    }
}
