//! The lock of a store, which one process holds at a time, until it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::Path;

use crate::record::StoreError;

/// Takes the lock, unless another process holds it, and writes the process id to a file.
pub(crate) fn lock(dir: &Path) -> Result<Option<File>, StoreError> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(dir.join("lock"))?;
    match file.try_lock() {
        Ok(()) => {
            // A separate file, because a file with a mandatory lock could not be read by others. The id is only used in
            // error messages, so a full disk must not prevent opening.
            drop(File::create(dir.join("pid")).and_then(|mut file| writeln!(file, "{}", std::process::id())));
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Process id of the lock's holder, or 0 if it is unknown.
pub(crate) fn holder(dir: &Path) -> u32 {
    let text = std::fs::read_to_string(dir.join("pid"));
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}
