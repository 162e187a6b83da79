//! What nothing names any more: found, and removed.

use std::{collections::HashSet, fs, io};

use crate::{digest::Digest, error::Error, registry::Registry};

/// What was removed, or would be.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Swept {
    /// The blobs.
    pub removed: Vec<Digest>,
    /// Their bytes.
    pub bytes: u64,
}

impl Registry {
    /// Removes blobs that the index does not name, and that are not in `kept`. With `dry`, only says which.
    ///
    /// # Errors
    /// If the index cannot be read: then nothing is removed.
    pub fn gc(&self, kept: &HashSet<Digest>, dry: bool) -> Result<Swept, Error> {
        let directory = self.store.blobs();
        if !directory.exists() {
            return Ok(Swept::default());
        }
        // Under the lock no writer has put a blob that it is about to name.
        let _lock = self.store.lock()?;
        let mut named = kept.clone();
        for release in self.settled_index()?.index.releases() {
            named.extend(release.blobs().map(|(_, blob)| blob.digest));
        }
        let mut swept = Swept::default();
        for entry in fs::read_dir(&directory).map_err(Error::io("list", &directory))? {
            let entry = entry.map_err(Error::io("list", &directory))?;
            let name = entry.file_name();
            let digest = name.to_str().and_then(|name| format!("sha256:{name}").parse::<Digest>().ok());
            let Some(digest) = digest.filter(|digest| !named.contains(digest)) else { continue };
            let path = entry.path();
            swept.bytes += entry.metadata().map_err(Error::io("look at", &path))?.len();
            swept.removed.push(digest);
            if !dry {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(Error::io("remove", &path)(error));
                    }
                    _ => {}
                }
            }
        }
        swept.removed.sort();
        Ok(swept)
    }
}
