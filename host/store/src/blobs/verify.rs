//! Verification of all blobs.

use super::files::{BlobFiles, Fault};
use crate::BlobError;

/// Result of a verification.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Verified {
    /// Number of intact blobs.
    pub blobs: u64,
    /// Size of the intact blobs on disk, in bytes.
    pub bytes: u64,
    /// Blobs that could not be read, in order of their names; then the names of the packs whose index is damaged, so that
    /// nobody knows what blobs they contain.
    pub faults: Vec<Fault>,
}

impl BlobFiles {
    /// Reads and verifies every blob. Runs and sessions may continue meanwhile.
    ///
    /// # Errors
    /// If the directories cannot be read. Blobs that cannot be read are reported as faults.
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
        let damaged = self.find_packs()?;
        verified
            .faults
            .extend(damaged.damaged().iter().map(|pack| Fault { blob: *pack, error: BlobError::Damaged(*pack) }));
        Ok(verified)
    }
}
