//! Reserved disk space for removing sessions when the disk is full: opening the store and removing a session both
//! write. A file in the store holds the space, and is removed when it is needed.
//!
//! Each step is best effort: without the reserve, a full disk is reported as usual.

#[cfg(target_os = "linux")]
pub(crate) use linux::{keep, release, restore};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, OpenOptions};
    use std::path::Path;

    use rustix::fs::{FallocateFlags, fallocate, statvfs};

    /// Bytes that are reserved. An opening writes the rest of the database's current segment, at most 8 MiB: all of it when
    /// a new store is opened for the second time. The removal of a session from a store of some thousand wrote less than
    /// 2 MiB; replacing a pack of small blobs takes up to 1.7 MiB.
    const KEPT: u64 = 12 << 20;

    /// Bytes that must be free before space is reserved: the reserve must not be what fills a disk.
    const PLENTY: u64 = 3 * KEPT;

    /// Smallest reserve that is taken back after a removal.
    const LEAST: u64 = 1 << 20;

    /// Reserves space, if there is plenty and less is reserved.
    pub(crate) fn keep(store: &Path) {
        if reserved(store) < KEPT && has(store, PLENTY) {
            reserve(store, KEPT);
        }
    }

    /// Releases the reserve before a removal, if there is little other space. Returns true if there is little space.
    pub(crate) fn release(store: &Path) -> bool {
        let is_full = !has(store, KEPT);
        if is_full {
            let _ = fs::remove_file(store.join("reserve"));
        }
        is_full
    }

    /// Reserves space again after a removal: as much as there is, before others fill it.
    pub(crate) fn restore(store: &Path) {
        let mut bytes = KEPT;
        while bytes >= LEAST && reserved(store) < bytes {
            reserve(store, bytes);
            bytes /= 2;
        }
    }

    fn reserve(store: &Path, bytes: u64) {
        let path = store.join("reserve");
        let _ = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let Ok(file) = options.open(&path) else { return };
        if fallocate(&file, FallocateFlags::empty(), 0, bytes).is_err() {
            // There is less space, or the file system does not guarantee any.
            let _ = fs::remove_file(&path);
        }
    }

    fn reserved(store: &Path) -> u64 {
        store.join("reserve").symlink_metadata().map_or(0, |file| file.len())
    }

    fn has(store: &Path, bytes: u64) -> bool {
        statvfs(store).is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) >= bytes)
    }
}

/// Does nothing: on other systems no file reserves space.
#[cfg(not(target_os = "linux"))]
pub(crate) fn keep(_: &std::path::Path) {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn release(_: &std::path::Path) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn restore(_: &std::path::Path) {}
