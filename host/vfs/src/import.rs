//! Imports from the host: directories and files from its disk, and bytes in memory. With `host_directory` the only part
//! of this module that accesses the disk, only to read.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::content::Content;
use super::entry::CallerKind;
use super::errno::Errno;
use super::host_directory::{self, HostDirectory, HostEntry};
use super::node::{EntryMeta, Name, TreeNode, Usage};
use super::path;
use super::tree::{MODE_BITS, Tree};

/// Size of the buffer for reading from the disk.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// Error of importing a host directory; the tree is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The host could not read its own disk.
    #[error("cannot read `{}`", path.display())]
    Host {
        /// Path on the host.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The host's path is neither a file nor a directory.
    #[error("`{}` is neither a file nor a directory", path.display())]
    Kind {
        /// Path on the host.
        path: PathBuf,
    },
    /// The session cannot hold this entry: too large, too deep, over the quota.
    #[error("cannot copy `{}` into the session", path.display())]
    Copy {
        /// Path on the host.
        path: PathBuf,
        /// Reason of the refusal.
        #[source]
        source: Errno,
    },
    /// This path of the session cannot be a mount point.
    #[error("cannot mount at `{path}`")]
    Place {
        /// Path in the session.
        path: String,
        /// Reason of the refusal.
        #[source]
        source: Errno,
    },
    /// The path of the session already exists.
    #[error("cannot mount at `{path}`: it already exists")]
    Occupied {
        /// Path in the session.
        path: String,
    },
}

/// Result of a mount.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mounted {
    /// Bytes and entries copied, not counting the mount point itself.
    pub copied: Usage,
    /// Entries that were not copied.
    pub skipped: Vec<Skipped>,
}

/// An entry that a mount did not copy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Path on the host.
    pub path: PathBuf,
    /// Reason why it was skipped.
    pub reason: SkipReason,
}

/// The reason why a mount skipped an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// A device, a socket or a pipe.
    #[error("neither a file, a directory nor a link")]
    Kind,
    /// The name, or the target of the link, is not UTF-8.
    #[error("name is not UTF-8")]
    Name,
}

impl Tree {
    /// Copies a host directory (or a single file) to `guest_path`. Missing parent directories are created, even where
    /// guests may not write. The copy is read-only for guests, or writable, according to `read_only`, wherever it is.
    ///
    /// Files keep their permission bits (without setuid, setgid and sticky) and their time; links are copied as links,
    /// so a link that led out of the directory leads elsewhere or nowhere. No link is followed, even if others change
    /// the directory meanwhile. A directory may be mounted on an existing empty one.
    ///
    /// # Errors
    /// See [`MountError`]. The tree is then unchanged.
    pub fn mount_directory(
        &mut self,
        host_path: &Path,
        guest_path: &str,
        read_only: bool,
        now: u64,
    ) -> Result<Mounted, MountError> {
        let opened = host_directory::open(host_path).map_err(|source| host_error(host_path, source))?;
        let mut import = HostImport { tree: self.clone(), now, mounted: Mounted::default() };
        let names = match opened {
            HostEntry::Directory(directory, _) => {
                let names = import.place_for_directory(guest_path)?;
                import.directory(&directory, &names)?;
                names
            }
            HostEntry::File(file, metadata) => {
                let names = import.place_for_file(guest_path)?;
                import.file(file, &metadata, host_path, &names)?;
                names
            }
            HostEntry::Link(_) | HostEntry::Other => return Err(MountError::Kind { path: host_path.to_owned() }),
        };
        import.tree.set_writable(&names, !read_only);
        *self = import.tree;
        Ok(import.mounted)
    }

    /// Copies a host directory (or a single file) again, read-only, replacing an earlier read-only mount at the path.
    /// Without an earlier mount it is [`Tree::mount_directory`].
    ///
    /// # Errors
    /// See [`MountError`]. The tree is then unchanged.
    pub fn remount_directory(&mut self, host_path: &Path, guest_path: &str, now: u64) -> Result<Mounted, MountError> {
        let mut next = self.clone();
        let place_error = |source| MountError::Place { path: guest_path.to_owned(), source };
        let found = self.find(guest_path, false).map_err(place_error)?;
        if found.existing().is_ok() {
            let names = found.named().map_err(place_error)?;
            if self.write_rules().is_read_only_at(&names) {
                next.detach(&names, now).map_err(place_error)?;
            }
        }
        let mounted = next.mount_directory(host_path, guest_path, true, now)?;
        let names = next.find(guest_path, false).and_then(|found| found.named()).map_err(place_error)?;
        // This rule identifies the path as a mount the next time.
        next.set_read_only_at(&names);
        *self = next;
        Ok(mounted)
    }

    /// Writes a whole file on behalf of the host, also where guests may not write, and creates its parent directories.
    /// Replaces an existing file; a link is followed.
    ///
    /// # Errors
    /// `Invalid` for a mode beyond 0o7777, `IsDirectory`, `TooLarge`, `NameTooLong`, `Quota`. The tree is then
    /// unchanged.
    pub fn place_file(&mut self, path: &str, bytes: &[u8], mode: u32, now: u64) -> Result<(), Errno> {
        if mode > MODE_BITS {
            return Err(Errno::Invalid);
        }
        let mut next = self.clone();
        next.create_parents(path, now)?;
        let target = next.target(path)?;
        next.store(target, Content::from(bytes), Some(mode), now)?;
        *self = next;
        Ok(())
    }

    fn create_parents(&mut self, path: &str, now: u64) -> Result<(), Errno> {
        path::check(path)?;
        let Some((parent, _)) = path.trim_end_matches('/').rsplit_once('/') else { return Ok(()) };
        if parent.is_empty() {
            return Ok(());
        }
        match self.create_directories(parent, CallerKind::Host, now) {
            // The parent is a file; the error must not refer to the path that the caller passed.
            Err(Errno::Exists) => Err(Errno::NotDirectory),
            result => result.map(drop),
        }
    }
}

/// A mount in progress, on its own copy of the tree.
struct HostImport {
    tree: Tree,
    now: u64,
    mounted: Mounted,
}

impl HostImport {
    fn place_for_directory(&mut self, path: &str) -> Result<Vec<Name>, MountError> {
        let place_error = |source| MountError::Place { path: path.to_owned(), source };
        let names = self.tree.create_directories(path, CallerKind::Host, self.now).map_err(|errno| match errno {
            Errno::Exists => MountError::Occupied { path: path.to_owned() },
            source => place_error(source),
        })?;
        let stat = self.tree.stat(path, true).map_err(place_error)?;
        if stat.size == 0 { Ok(names) } else { Err(MountError::Occupied { path: path.to_owned() }) }
    }

    fn place_for_file(&mut self, path: &str) -> Result<Vec<Name>, MountError> {
        let place_error = |source| MountError::Place { path: path.to_owned(), source };
        self.tree.create_parents(path, self.now).map_err(place_error)?;
        let found = self.tree.find(path, false).map_err(place_error)?;
        match found.optional().map_err(place_error)? {
            Some(_) => Err(MountError::Occupied { path: path.to_owned() }),
            None if found.slash() => Err(place_error(Errno::IsDirectory)),
            None => Ok(found.names()),
        }
    }

    /// Copies the contents of a directory; the recursion is limited by the tree's maximum depth.
    fn directory(&mut self, directory: &HostDirectory, names: &[Name]) -> Result<(), MountError> {
        let entries = directory.names().map_err(|source| host_error(directory.path(), source))?;
        for entry in entries {
            let path = directory.path().join(&entry);
            let Some(name) = entry.to_str().map(Name::from) else {
                self.skip(path, SkipReason::Name);
                continue;
            };
            let names: Vec<Name> = names.iter().cloned().chain([name]).collect();
            match directory.open(&entry).map_err(|source| host_error(&path, source))? {
                HostEntry::Directory(inner, metadata) => {
                    self.add(&path, &names, TreeNode::directory, mode_of(&metadata), self.now)?;
                    self.directory(&inner, &names)?;
                }
                HostEntry::File(file, metadata) => self.file(file, &metadata, &path, &names)?,
                HostEntry::Link(target) => self.link(path, &target, &names)?,
                HostEntry::Other => self.skip(path, SkipReason::Kind),
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        mut file: fs::File,
        metadata: &fs::Metadata,
        host: &Path,
        names: &[Name],
    ) -> Result<(), MountError> {
        let mut content = Content::new();
        let mut buffer = vec![0; READ_BUFFER_BYTES];
        loop {
            let count = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(host_error(host, source)),
            };
            content.append(&buffer[..count]).map_err(|source| copy_error(host, source))?;
            // Counted while reading, not by the size that the system reports: the file may grow, or have no size
            // (`/proc`).
            let taken = Usage { bytes: content.len(), entries: 1 };
            let allowed = self.tree.allow_size(content.len()).and_then(|()| self.tree.afford(Usage::default(), taken));
            allowed.map_err(|source| copy_error(host, source))?;
        }
        let modified = metadata.modified().ok().and_then(nanoseconds).unwrap_or(self.now);
        self.add(host, names, |meta| TreeNode::file(meta, content), mode_of(metadata), modified)
    }

    fn link(&mut self, host: PathBuf, target: &Path, names: &[Name]) -> Result<(), MountError> {
        let Some(target) = target.to_str() else {
            self.skip(host, SkipReason::Name);
            return Ok(());
        };
        path::check_target(target).map_err(|source| copy_error(&host, source))?;
        self.add(&host, names, |meta| TreeNode::link(meta, target), 0o777, self.now)
    }

    fn add(
        &mut self,
        host: &Path,
        names: &[Name],
        make: impl FnOnce(EntryMeta) -> TreeNode,
        mode: u32,
        modified: u64,
    ) -> Result<(), MountError> {
        let before = self.tree.usage();
        self.tree.add(names, make, mode, modified).map_err(|source| copy_error(host, source))?;
        let after = self.tree.usage();
        self.mounted.copied.bytes += after.bytes - before.bytes;
        self.mounted.copied.entries += after.entries - before.entries;
        Ok(())
    }

    fn skip(&mut self, path: PathBuf, reason: SkipReason) {
        self.mounted.skipped.push(Skipped { path, reason });
    }
}

fn host_error(path: &Path, source: io::Error) -> MountError {
    MountError::Host { path: path.to_owned(), source }
}

fn copy_error(path: &Path, source: Errno) -> MountError {
    MountError::Copy { path: path.to_owned(), source }
}

/// The host's clock, in nanoseconds since the Unix epoch: the time given to changes of files.
#[must_use]
pub fn now() -> u64 {
    nanoseconds(SystemTime::now()).unwrap_or_default()
}

/// Converts a time to nanoseconds since the Unix epoch, if it is in the representable years 1970 to 2554.
fn nanoseconds(time: SystemTime) -> Option<u64> {
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

#[cfg(unix)]
fn mode_of(metadata: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode_of(metadata: &fs::Metadata) -> u32 {
    if metadata.is_dir() { 0o755 } else { 0o644 }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::super::{Kind, Limits, WriteMode, changed_paths};
    use super::*;

    /// A host directory with a file, a directory, a link, a socket and a name that is not UTF-8.
    fn host() -> tempfile::TempDir {
        use std::os::unix::ffi::OsStrExt;
        let host = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| host.path().join(name);
        fs::write(at("run.sh"), b"#!/bin/sh\n").expect("written");
        fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o4755)).expect("set");
        fs::create_dir(at("sub")).expect("made");
        fs::write(at("sub/data"), vec![7; 100_000]).expect("written");
        symlink("/etc/passwd", at("link")).expect("made");
        UnixListener::bind(at("socket")).expect("made");
        fs::write(host.path().join(std::ffi::OsStr::from_bytes(b"\xff")), b"").expect("written");
        host
    }

    fn tree() -> Tree {
        Tree::new(Limits { bytes: 200_000, entries: 12, file_bytes: 150_000 }, 0)
    }

    #[test]
    fn directory_mounted_is_copied_and_unsupported_entries_are_skipped() {
        let (host, mut tree) = (host(), tree());
        let mounted = tree.mount_directory(host.path(), "/workspace/in/here", false, 5).expect("readable");
        assert_eq!(mounted.copied, Usage { bytes: 10 + 100_000 + 11, entries: 4 });
        let skipped = [("socket", SkipReason::Kind), ("\u{fffd}", SkipReason::Name)];
        let seen = mounted.skipped.iter().map(|skipped| (skipped.path.file_name().expect("has one"), skipped.reason));
        let seen: Vec<_> = seen.map(|(name, reason)| (name.to_string_lossy().into_owned(), reason)).collect();
        assert_eq!(seen, skipped.map(|(name, reason)| (name.to_owned(), reason)));
        let stat = tree.stat("/workspace/in/here/run.sh", false).expect("copied");
        assert_eq!((stat.kind, stat.mode), (Kind::File, 0o755));
        assert!(stat.modified > 1_600_000_000_000_000_000);
        assert_eq!(tree.read_file("/workspace/in/here/sub/data").as_deref(), Ok([7; 100_000].as_slice()));
        assert_eq!(tree.read_link("/workspace/in/here/link").as_deref(), Ok("/etc/passwd"));
        assert_eq!(tree.read_file("/workspace/in/here/link"), Err(Errno::NoEntry));
        tree.write("/workspace/in/here/sub/data", b"", WriteMode::Replace, 6).expect("writable");
        tree.remove("/workspace/in", true, 6).expect("a copy is not pinned");
    }

    #[test]
    fn mount_source_replaced_by_link_during_copy_is_not_followed() {
        let (host, secret) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("another"));
        fs::write(secret.path().join("top"), b"TOPSECRET").expect("written");
        fs::create_dir(secret.path().join("sub")).expect("made");
        let at = |name: &str| host.path().join(name);
        fs::write(at("other"), b"mine").expect("written");
        let stop = std::sync::atomic::AtomicBool::new(false);
        let load = |flag: &std::sync::atomic::AtomicBool| flag.load(std::sync::atomic::Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !load(&stop) {
                    for (name, target) in [("f", "top"), ("d", "sub")] {
                        let _ = fs::remove_file(at(name)).or_else(|_| fs::remove_dir(at(name)));
                        let _ =
                            if name == "f" { fs::hard_link(at("other"), at(name)) } else { fs::create_dir(at(name)) };
                        let _ = symlink(secret.path().join(target), at("new"));
                        let _ = fs::remove_dir(at("d"));
                        let _ = fs::rename(at("new"), at(name));
                    }
                }
            });
            let (mut copied, mut followed) = (0, None);
            let until = std::time::Instant::now() + std::time::Duration::from_secs(2);
            while std::time::Instant::now() < until && followed.is_none() {
                let mut tree = tree();
                // An entry that vanishes or becomes a link in between is an error.
                if tree.mount_directory(host.path(), "/workspace/in", false, 5).is_err() {
                    continue;
                }
                copied += 1;
                let file = tree.read_file("/workspace/in/f").ok().filter(|bytes| &**bytes != b"mine");
                let below = tree.stat("/workspace/in/d/top", false).ok().map(|_| Vec::new());
                followed = file.map(|bytes| bytes.to_vec()).or(below);
            }
            // An assertion before this would leave the other thread running.
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(followed, None);
            assert!(copied > 0, "sometimes all of it stands still");
        });
    }

    #[test]
    fn mount_skips_pipes_and_linked_directories() {
        let (host, mut tree) = (host(), tree());
        assert!(
            std::process::Command::new("mkfifo").arg(host.path().join("pipe")).status().expect("it starts").success()
        );
        symlink("/etc", host.path().join("etc")).expect("made");
        let mounted = tree.mount_directory(host.path(), "/workspace/in", false, 5).expect("readable");
        assert!(
            mounted.skipped.iter().any(|skipped| skipped.path.ends_with("pipe") && skipped.reason == SkipReason::Kind)
        );
        assert_eq!(tree.read_link("/workspace/in/etc").as_deref(), Ok("/etc"));
        assert_eq!(tree.read_file("/workspace/in/etc/passwd"), Err(Errno::NoEntry));
        let pipe = tree.mount_directory(&host.path().join("pipe"), "/workspace/pipe", false, 5);
        assert!(matches!(pipe, Err(MountError::Kind { .. })));
    }

    #[test]
    fn read_only_mount_is_denied_to_guests_and_stays_in_place() {
        let (host, mut tree) = (host(), tree());
        tree.mount_directory(host.path(), "/workspace/in/here", true, 5).expect("readable");
        let before = tree.clone();
        let place = "/workspace/in/here";
        assert_eq!(tree.write(&format!("{place}/run.sh"), b"", WriteMode::Append, 6), Err(Errno::Access));
        assert_eq!(tree.write(&format!("{place}/new"), b"", WriteMode::Create, 6), Err(Errno::Access));
        assert_eq!(tree.create_directory(&format!("{place}/new"), true, 6), Err(Errno::Access));
        assert_eq!(tree.remove(&format!("{place}/sub"), true, 6), Err(Errno::Access));
        assert_eq!(tree.rename(&format!("{place}/sub"), "/workspace/sub", 6), Err(Errno::Access));
        assert_eq!(tree.set_mode(place, 0o777), Err(Errno::Access));
        assert_eq!(tree.rename(place, "/workspace/there", 6), Err(Errno::Busy));
        assert_eq!(tree.rename("/workspace/in", "/workspace/there", 6), Err(Errno::Busy));
        assert_eq!(tree.remove(place, true, 6), Err(Errno::Busy));
        assert_eq!(tree.remove("/workspace/in", true, 6), Err(Errno::Busy));
        tree.create_directory("/workspace/empty", false, 6).expect("writable");
        assert_eq!(tree.rename("/workspace/empty", place, 6), Err(Errno::Busy));
        tree.remove("/workspace/empty", false, 6).expect("writable");
        assert_eq!(changed_paths(&before, &tree), Ok(vec![]));
        tree.write("/workspace/in/beside", b"", WriteMode::Create, 6).expect("beside the mount all is as before");
    }

    #[test]
    fn remount_replaces_the_mount_and_nothing_else() {
        let (host, mut tree) = (host(), tree());
        let place = "/workspace/in/here";
        tree.remount_directory(host.path(), place, 5).expect("readable");
        let before = tree.clone();
        // Links have the time of their mount.
        tree.remount_directory(host.path(), place, 5).expect("readable");
        assert_eq!(changed_paths(&before, &tree), Ok(vec![]));
        fs::write(host.path().join("run.sh"), "changed").expect("writable");
        fs::remove_dir_all(host.path().join("sub")).expect("there");
        tree.remount_directory(host.path(), place, 7).expect("readable");
        assert_eq!(tree.read_file(&format!("{place}/run.sh")).as_deref(), Ok(b"changed".as_slice()));
        assert_eq!(tree.read_file(&format!("{place}/sub/data")), Err(Errno::NoEntry));
        assert_eq!(tree.write(&format!("{place}/run.sh"), b"", WriteMode::Append, 8), Err(Errno::Access));
        let before = tree.clone();
        assert!(tree.remount_directory(&host.path().join("none"), place, 9).is_err());
        assert_eq!(changed_paths(&before, &tree), Ok(vec![]), "a failure leaves the earlier mount");

        tree.write("/workspace/own", b"mine", WriteMode::Create, 10).expect("writable");
        let error = tree.remount_directory(host.path(), "/workspace/own", 11);
        assert!(matches!(error, Err(MountError::Occupied { .. })), "what is no mount is not replaced");
        let error = tree.remount_directory(host.path(), "/workspace", 12);
        assert!(matches!(error, Err(MountError::Occupied { .. })));

        // Also where guests may not write at all, and for a single file.
        for (from, place) in [(host.path().to_path_buf(), "/data"), (host.path().join("run.sh"), "/opt/run")] {
            for now in [13, 14] {
                tree.remount_directory(&from, place, now).expect("readable, and a mount of before");
            }
        }
    }

    #[test]
    fn file_is_mounted_on_its_own() {
        let (host, mut tree) = (host(), tree());
        let file = host.path().join("run.sh");
        tree.mount_directory(&file, "/etc/run", true, 5).expect("readable");
        assert_eq!(tree.read_file("/etc/run").as_deref(), Ok(b"#!/bin/sh\n".as_slice()));
        assert_eq!(tree.write("/etc/run", b"", WriteMode::Replace, 6), Err(Errno::Access));
        tree.mount_directory(&file, "/opt/run", false, 5).expect("readable");
        tree.write("/opt/run", b"", WriteMode::Replace, 6).expect("writable, and nothing else there is");
        assert_eq!(tree.remove("/opt/run", false, 6), Err(Errno::Access));
    }

    #[test]
    fn workspace_is_mountable_only_while_it_is_empty() {
        let (host, mut tree) = (host(), tree());
        tree.mount_directory(host.path(), "/workspace", false, 5).expect("empty");
        tree.write("/workspace/sub/data", b"", WriteMode::Replace, 6).expect("writable");
        let error = tree.mount_directory(host.path(), "/workspace", false, 5).expect_err("not empty");
        assert_eq!(error.to_string(), "cannot mount at `/workspace`: it already exists");
        let error = tree.mount_directory(&host.path().join("run.sh"), "/workspace/sub", false, 5);
        assert!(matches!(error, Err(MountError::Occupied { .. })));
        let error = tree.mount_directory(host.path(), "relative", false, 5);
        assert!(matches!(error, Err(MountError::Place { source: Errno::Invalid, .. })));
    }

    #[test]
    fn mount_that_fails_names_its_path_and_changes_nothing() {
        let (host, mut tree) = (host(), tree());
        let before = tree.clone();
        let error = tree.mount_directory(&host.path().join("none"), "/workspace/in", false, 5).expect_err("not there");
        assert!(error.to_string().contains("none"), "{error}");
        tree.set_limits(Limits { bytes: 50_000, ..tree.limits() });
        let error = tree.mount_directory(host.path(), "/workspace/in", false, 5).expect_err("over the quota");
        assert!(error.to_string().contains("sub/data"), "{error}");
        assert!(matches!(error, MountError::Copy { source: Errno::Quota, .. }));
        tree.set_limits(Limits { entries: 4, ..before.limits() });
        let error = tree.mount_directory(host.path(), "/workspace/in", false, 5);
        assert!(matches!(error, Err(MountError::Copy { source: Errno::Quota, .. })));
        tree.set_limits(Limits { file_bytes: 99_999, ..before.limits() });
        let error = tree.mount_directory(host.path(), "/workspace/in", false, 5);
        assert!(matches!(error, Err(MountError::Copy { source: Errno::TooLarge, .. })));
        let error = tree.mount_directory(Path::new("/dev/null"), "/workspace/in", false, 5);
        assert!(matches!(error, Err(MountError::Kind { .. })));
        assert_eq!(changed_paths(&before, &tree), Ok(vec![]));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn mounted_file_without_declared_size_has_the_length_read() {
        let mut tree = tree();
        tree.mount_directory(Path::new("/proc/self/status"), "/workspace/status", false, 5).expect("has no size");
        assert!(tree.stat("/workspace/status", false).expect("copied").size > 0);
    }

    #[test]
    fn host_file_is_placed_anywhere_within_quota() {
        let mut tree = tree();
        tree.place_file("/etc/deep/er/conf", b"conf", 0o600, 3).expect("within limits");
        let stat = tree.stat("/etc/deep/er/conf", true).expect("placed");
        assert_eq!((stat.size, stat.mode, stat.modified), (4, 0o600, 3));
        tree.place_file("/etc/deep/er/conf", b"", 0o644, 4).expect("replaces");
        assert_eq!(tree.usage(), Usage { bytes: 0, entries: 6 });
        let before = tree.clone();
        assert_eq!(tree.place_file("/etc/deep", b"", 0o644, 5), Err(Errno::IsDirectory));
        assert_eq!(tree.place_file("/etc/deep/er/conf/x", b"", 0o644, 5), Err(Errno::NotDirectory));
        assert_eq!(tree.place_file("/new/big", &[0; 150_001], 0o644, 5), Err(Errno::TooLarge));
        assert_eq!(tree.place_file("/1/2/3/4/5/6/7", b"", 0o644, 5), Err(Errno::Quota));
        assert_eq!(tree.place_file("/x", b"", 0o10000, 5), Err(Errno::Invalid));
        assert_eq!(tree.place_file("x", b"", 0o644, 5), Err(Errno::Invalid));
        assert_eq!(changed_paths(&before, &tree), Ok(vec![]));
    }
}
