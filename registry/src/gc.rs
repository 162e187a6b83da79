//! What nothing names any more: found, and removed.

use std::collections::HashSet;

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
        if self.store.open_blobs()?.is_none() {
            return Ok(Swept::default());
        }
        // Under the lock no writer has put a blob that it is about to name.
        let lock = self.store.lock()?;
        let mut named = kept.clone();
        for release in self.settled_index()?.index.releases() {
            named.extend(release.blobs().map(|(_, blob)| blob.digest));
        }
        let mut swept = Swept::default();
        for name in lock.blob_names()? {
            let digest = name.to_str().and_then(|name| format!("sha256:{name}").parse::<Digest>().ok());
            let Some(digest) = digest.filter(|digest| !named.contains(digest)) else { continue };
            let Some(size) = lock.blob_size(&digest)? else { continue };
            swept.bytes += size;
            swept.removed.push(digest);
            if !dry {
                lock.remove_blob(&digest)?;
            }
        }
        swept.removed.sort();
        Ok(swept)
    }
}
