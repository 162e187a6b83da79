//! Garbage collection of blobs.

use std::collections::HashSet;

use crate::{digest::Digest, error::Error, registry::Registry};

/// Result of a garbage collection.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Swept {
    /// Blobs that were removed, or would be in a dry run.
    pub removed: Vec<Digest>,
    /// Total size of these blobs in bytes.
    pub bytes: u64,
}

impl Registry {
    /// Removes blobs that neither the index nor `kept` names. With `dry`, only reports them.
    ///
    /// # Errors
    /// If the index cannot be read: then nothing is removed.
    pub fn gc(&self, kept: &HashSet<Digest>, dry: bool) -> Result<Swept, Error> {
        if self.store.open_blobs()?.is_none() {
            return Ok(Swept::default());
        }
        // While this holds the lock, no writer can have written a blob that it is yet to name.
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
