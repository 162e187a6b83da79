//! Who has a store: one process at a time, as long as it lives.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::Path;

use crate::store::record::StoreError;

/// Takes the lock, if nobody has it, and writes down who has.
pub(in crate::store) fn lock(dir: &Path) -> Result<Option<File>, StoreError> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(dir.join("lock"))?;
    match file.try_lock() {
        Ok(()) => {
            // In a file of its own: where locks are mandatory, nobody could read a locked one. Only an error message
            // reads it: a full disk is no reason not to open.
            drop(File::create(dir.join("pid")).and_then(|mut file| writeln!(file, "{}", std::process::id())));
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Which process has the lock, as far as it has said; else 0.
pub(in crate::store) fn holder(dir: &Path) -> u32 {
    let text = std::fs::read_to_string(dir.join("pid"));
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}
