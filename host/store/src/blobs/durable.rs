//! Durability of files and directories, and directories that only their owner can access.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::BlobError;

/// Unwritten bytes of others that an upload tolerates, besides its own, when it syncs the whole file system.
#[cfg(target_os = "linux")]
const TOLERATED_UNWRITTEN_BYTES: u64 = 64 << 20;

/// Creates a directory that only this user can access, and its parents; each is durable in its parent.
pub(super) fn make_directory(path: &Path) -> Result<(), BlobError> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    make_directory(parent)?;
    make_entry(path)?;
    sync_directory(parent)
}

/// Creates one directory, without making it durable.
pub(super) fn make_entry(path: &Path) -> Result<(), BlobError> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made.map_err(BlobError::at(path)),
    }
}

/// Makes the entries of a directory durable.
pub(super) fn sync_directory(path: &Path) -> Result<(), BlobError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(BlobError::at(path))
}

/// Choice of [`write_file`] for a file that exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IfExists {
    Keep,
    Replace,
}

/// Writes a file durably: under a temporary name in another directory, which is created if it is absent, and then under
/// its own.
pub(super) fn write_file(temporary: &Path, path: &Path, bytes: &[u8], existing: IfExists) -> Result<(), BlobError> {
    make_entry(temporary)?;
    let write = || {
        let mut file = NamedTempFile::new_in(temporary)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        let persisted = match existing {
            IfExists::Keep => file.persist_noclobber(path),
            IfExists::Replace => file.persist(path),
        };
        match persisted {
            Err(error) if existing == IfExists::Keep && error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            persisted => persisted.map(drop).map_err(io::Error::from),
        }
    };
    write().map_err(BlobError::at(path))?;
    sync_directory(path.parent().unwrap_or(Path::new(".")))
}

/// Returns true if two or more files should be synced with [`sync_file_system`]. That call takes 0.3 ms where each file
/// takes 0.15 ms, but it writes everyone's unwritten data. So it is used only if that is little more than the caller's
/// `written` bytes, and only on file systems where it makes the data durable.
#[cfg(target_os = "linux")]
pub(super) fn pays_to_sync_file_system(directory: &File, written: u64) -> bool {
    /// Magic numbers of ext2 to ext4, XFS, Btrfs, F2FS, bcachefs, tmpfs and overlayfs. Others, like FUSE, pass the call
    /// on to a server, which may not have made the data durable when it returns.
    const KNOWN: [u32; 7] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0xCA45_1A4E, 0x0102_1994, 0x794C_7630];
    let known = |kind: i128| KNOWN.iter().any(|known| i128::from(*known) == kind);
    rustix::fs::fstatfs(directory).is_ok_and(|found| known(i128::from(found.f_type)))
        && unwritten().is_some_and(|bytes| bytes <= written.saturating_add(TOLERATED_UNWRITTEN_BYTES))
}

/// Number of bytes that the system has yet to write, to all its disks.
#[cfg(target_os = "linux")]
fn unwritten() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    field("Dirty:")?.checked_add(field("Writeback:")?)?.checked_mul(1024)
}

/// Makes everything durable that anyone has written to the file system of an open directory. Write errors since the
/// directory was opened are reported too (since Linux 5.8).
#[cfg(target_os = "linux")]
pub(super) fn sync_file_system(directory: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(directory)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn pays_to_sync_file_system(_: &File, _: u64) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
pub(super) fn sync_file_system(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn file_system_with_much_unwritten_data_of_others_is_not_synced() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let directory = File::open(home.path()).expect("it opens");
        assert!(unwritten().is_some());
        assert!(pays_to_sync_file_system(&directory, u64::MAX));
        sync_file_system(&directory).expect("it is synced");
        assert!(!pays_to_sync_file_system(&File::open("/proc").expect("it opens"), u64::MAX));
    }

    #[test]
    fn directories_are_private_and_may_be_there() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let path = home.path().join("a/b/c");
        for _ in 0..2 {
            make_directory(&path).expect("it is made");
            make_entry(&path).expect("it is there");
        }
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&path.metadata().expect("it is there")) & 0o777, 0o700);
        fs::write(home.path().join("file"), "").expect("it can be written");
        assert!(matches!(make_directory(&home.path().join("file/d")), Err(BlobError::Io { .. })));
    }
}
