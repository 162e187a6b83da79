//! Files that a job's script left, in the form in which a job lists its own.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};
use tollhouse::vfs::{Errno, Kind, Tree};

use super::job::DIRECTORY;

/// Everything below `/workspace`, by path.
#[derive(Serialize)]
pub(super) struct OutputFiles {
    files: TreeFiles,
    /// Permission bits in octal, including directories, whose paths end with `/`.
    modes: BTreeMap<String, String>,
    /// Targets of symbolic links.
    links: BTreeMap<String, String>,
}

/// Files of a tree, each read when it is serialized: together they may have as many bytes as memory.
struct TreeFiles {
    tree: Tree,
    names: BTreeSet<String>,
}

impl Serialize for TreeFiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.names.len()))?;
        for name in &self.names {
            // They were listed from this tree, which nobody changes.
            let bytes = self.tree.read_file(&format!("{DIRECTORY}/{name}")).map_err(S::Error::custom)?;
            map.serialize_entry(name, &OutputContents(bytes))?;
        }
        map.end()
    }
}

/// Contents of a file: text, or base64 if they are not UTF-8.
#[derive(Debug, PartialEq, Eq)]
struct OutputContents(Vec<u8>);

impl Serialize for OutputContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => BTreeMap::from([("base64", BASE64.encode(&self.0))]).serialize(serializer),
        }
    }
}

impl OutputFiles {
    /// Lists the files in the tree that a run left. A script that removed `/workspace` left none.
    pub(super) fn list(tree: &Tree) -> Result<Self, Errno> {
        let files = TreeFiles { tree: tree.clone(), names: BTreeSet::new() };
        let mut left = Self { files, modes: BTreeMap::new(), links: BTreeMap::new() };
        match tree.stat(DIRECTORY, false) {
            Ok(stat) if stat.kind == Kind::Directory => left.add(tree, "")?,
            Ok(_) | Err(Errno::NoEntry) => {}
            Err(error) => return Err(error),
        }
        Ok(left)
    }

    fn add(&mut self, tree: &Tree, directory: &str) -> Result<(), Errno> {
        for entry in tree.read_directory(&format!("{DIRECTORY}/{directory}"))? {
            let name = format!("{directory}{}", entry.name);
            let path = format!("{DIRECTORY}/{name}");
            let mode = || tree.stat(&path, false).map(|stat| format!("{:o}", stat.mode & 0o7777));
            match entry.kind {
                Kind::Directory => {
                    self.modes.insert(format!("{name}/"), mode()?);
                    self.add(tree, &format!("{name}/"))?;
                }
                Kind::Link => drop(self.links.insert(name.clone(), tree.read_link(&path)?)),
                _ => {
                    self.modes.insert(name.clone(), mode()?);
                    self.files.names.insert(name);
                }
            }
        }
        Ok(())
    }
}
