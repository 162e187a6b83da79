//! Looking at every blob.

use super::files::{BlobFiles, Fault};
use crate::store::BlobError;

/// What was found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Verified {
    /// How many blobs are whole.
    pub blobs: u64,
    /// How many bytes those take on disk.
    pub bytes: u64,
    /// Those that are not, in the order of their names.
    pub faults: Vec<Fault>,
}

impl BlobFiles {
    /// Reads and checks every blob. Runs and sessions may go on meanwhile.
    ///
    /// # Errors
    /// If the directories cannot be read. A blob that cannot be read is among the faults.
    pub fn verify(&self) -> Result<Verified, BlobError> {
        let mut verified = Verified::default();
        for listed in self.list() {
            let (blob, bytes) = listed?;
            match self.read(&blob) {
                Ok(_) => {
                    verified.blobs += 1;
                    verified.bytes += bytes;
                }
                // Removed since it was listed.
                Err(BlobError::Missing(_)) => {}
                Err(error) => verified.faults.push(Fault { blob, error }),
            }
        }
        Ok(verified)
    }
}
