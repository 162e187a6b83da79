//! Reserved disk space for removing sessions when the disk is full: opening the store and removing a session both
//! write. A file in the store holds the space, and is removed when it is needed.
//!
//! Each step is best effort: without the reserve, a full disk is reported as usual.

#[cfg(target_os = "linux")]
pub(crate) use linux::{keep, release};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, OpenOptions};
    use std::path::Path;

    use rustix::fs::{FallocateFlags, fallocate, statvfs};

    /// Bytes that are reserved. A store of some thousand sessions wrote less when it was opened and one was removed.
    const KEPT: u64 = 2 << 20;

    /// Bytes that must be free before space is reserved: the reserve must not be what fills a disk.
    const PLENTY: u64 = 16 * KEPT;

    /// Reserves space, if there is plenty and none is reserved yet.
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
            // The file system does not guarantee space.
            let _ = fs::remove_file(&path);
        }
    }

    /// Releases the reserve before a removal, if there is little other space.
    pub(crate) fn release(store: &Path) {
        if !has(store, KEPT) {
            let _ = fs::remove_file(store.join("reserve"));
        }
    }

    fn has(store: &Path, bytes: u64) -> bool {
        statvfs(store).is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) >= bytes)
    }
}

/// Does nothing: on other systems no file reserves space.
#[cfg(not(target_os = "linux"))]
pub(crate) fn keep(_: &std::path::Path) {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn release(_: &std::path::Path) {}
