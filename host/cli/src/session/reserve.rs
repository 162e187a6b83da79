//! Room on the disk that is kept for removing sessions when there is none: to open the store and to take a session out of it both
//! write. A file in the store holds the room, and goes when it is needed.
//!
//! Each step is best effort: without the room, a full disk is said as ever.

#[cfg(target_os = "linux")]
pub(crate) use linux::{keep, release};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, OpenOptions};
    use std::path::Path;

    use rustix::fs::{FallocateFlags, fallocate, statvfs};

    /// The bytes that are kept. A store of some thousand sessions wrote less when it was opened and one was removed.
    const KEPT: u64 = 2 << 20;

    /// The bytes that are free where room is kept: nobody is to run out of it because of that.
    const PLENTY: u64 = 16 * KEPT;

    /// Keeps room, if there is plenty and none is kept yet.
    pub(crate) fn keep(store: &Path) {
        let path = store.join("reserve");
        if path.symlink_metadata().is_ok() || !has(store, PLENTY) {
            return;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let Ok(file) = options.open(&path) else { return };
        if fallocate(&file, FallocateFlags::empty(), 0, KEPT).is_err() {
            // A file system that promises no room.
            let _ = fs::remove_file(&path);
        }
    }

    /// Gives the room that is kept to whoever removes something, if there is little else.
    pub(crate) fn release(store: &Path) {
        if !has(store, KEPT) {
            let _ = fs::remove_file(store.join("reserve"));
        }
    }

    fn has(store: &Path, bytes: u64) -> bool {
        statvfs(store).is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) >= bytes)
    }
}

/// Elsewhere no file holds room.
#[cfg(not(target_os = "linux"))]
pub(crate) fn keep(_: &std::path::Path) {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn release(_: &std::path::Path) {}
