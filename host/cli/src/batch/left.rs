//! Files that a job's script left, in the form in which a job names its own.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Serialize, Serializer};
use tollhouse::vfs::{Errno, Kind, Tree};

use super::job::DIRECTORY;

/// Everything below `/workspace`, by path.
#[derive(Debug, Serialize)]
pub(super) struct LeftFiles {
    files: BTreeMap<String, Contents>,
    /// Permission bits in octal, of directories too, whose paths end with `/`.
    modes: BTreeMap<String, String>,
    /// Targets of symbolic links.
    links: BTreeMap<String, String>,
}

/// Bytes of a file: a text, or base64 where they are not UTF-8.
#[derive(Debug, PartialEq, Eq)]
struct Contents(Vec<u8>);

impl Serialize for Contents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => BTreeMap::from([("base64", BASE64.encode(&self.0))]).serialize(serializer),
        }
    }
}

impl LeftFiles {
    /// Reads them from the tree that a run left. A script that removed `/workspace` left nothing.
    pub(super) fn list(tree: &Tree) -> Result<Self, Errno> {
        let mut left = Self { files: BTreeMap::new(), modes: BTreeMap::new(), links: BTreeMap::new() };
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
                    self.files.insert(name.clone(), Contents(tree.read_file(&path)?));
                }
            }
        }
        Ok(())
    }
}
