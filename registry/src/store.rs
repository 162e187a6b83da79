//! The registry's directory: where things are, and how they are written so that neither a crash nor a second process
//! leaves half of one. Must not know what an index line or a blob means. The layout is in `format.md`.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{digest::Digest, error::Error};

/// What a file of the registry is known by: hash and length of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Blob {
    /// The hash.
    pub digest: Digest,
    /// The length in bytes.
    pub size: u64,
}

impl Blob {
    /// Describes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self { digest: Digest::of(bytes), size: length(bytes) }
    }
}

/// The length of `bytes` as files count it.
pub(crate) fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).expect("no platform has a usize of more than 64 bits")
}

/// The directory. It need not exist: what is not there is empty, and the first write makes it.
#[derive(Debug)]
pub(crate) struct Store {
    root: PathBuf,
}

impl Store {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    pub(crate) fn blob(&self, digest: &Digest) -> PathBuf {
        self.blobs().join(digest.hex())
    }

    /// What is searched: see `search`.
    pub(crate) fn search(&self) -> PathBuf {
        self.root.join("search")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.root.join("blobs").join("sha256")
    }

    fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Reads a blob and checks it. `what` names it in errors.
    pub(crate) fn read(&self, blob: &Blob, what: impl Fn() -> String) -> Result<Vec<u8>, Error> {
        let Blob { digest, size } = *blob;
        let path = self.blob(&digest);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Missing { what: what(), digest, path });
            }
            Err(error) => return Err(Error::io("open", &path)(error)),
        };
        // The length is looked at first, so that a file that someone made huge is never read into memory.
        let found = file.metadata().map_err(Error::io("look at", &path))?.len();
        if found != size {
            return Err(Error::Resized { what: what(), digest, size, found, path });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.take(size).read_to_end(&mut bytes).map_err(Error::io("read", &path))?;
        match Digest::of(&bytes) {
            found if found == digest => Ok(bytes),
            found => Err(Error::Altered { what: what(), digest, found, path }),
        }
    }

    /// Waits for the one right to write, making the directory if need be.
    pub(crate) fn lock(&self) -> Result<Lock<'_>, Error> {
        for directory in [self.blobs(), self.temporary()] {
            create_directory(&directory)?;
        }
        let path = self.root.join("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(Error::io("open", &path))?;
        file.lock().map_err(Error::io("lock", &path))?;
        let lock = Lock { store: self, _file: file };
        lock.sweep()?;
        Ok(lock)
    }

    /// Waits until nobody writes. None if nobody can have written: there is no lock file.
    pub(crate) fn lock_shared(&self) -> Result<Option<File>, Error> {
        let path = self.root.join("lock");
        match File::open(&path) {
            Ok(file) => file.lock_shared().map(|()| Some(file)).map_err(Error::io("lock", &path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("open", &path)(error)),
        }
    }
}

/// The right to write. Ends with this value, or with the process, however it ends.
pub(crate) struct Lock<'a> {
    store: &'a Store,
    _file: File,
}

impl Lock<'_> {
    /// Removes what writers left that were killed. Under the lock nothing there is in use.
    fn sweep(&self) -> Result<(), Error> {
        let path = self.store.temporary();
        for entry in fs::read_dir(&path).map_err(Error::io("list", &path))? {
            let entry = entry.map_err(Error::io("list", &path))?.path();
            fs::remove_file(&entry).map_err(Error::io("remove", &entry))?;
        }
        Ok(())
    }

    /// Stores bytes under their hash, durably. Bytes that are there already are left alone; what is there under that
    /// name and is something else is replaced.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Blob, Error> {
        let blob = Blob::of(bytes);
        match self.store.read(&blob, String::new) {
            // A writer may have been killed between its rename and its sync: the name may not be durable yet.
            Ok(_) => sync_directory(&self.store.blobs())?,
            Err(Error::Missing { .. } | Error::Altered { .. } | Error::Resized { .. }) => {
                self.replace(&self.store.blob(&blob.digest), bytes)?;
            }
            Err(error) => return Err(error),
        }
        Ok(blob)
    }

    /// Replaces what is searched.
    pub(crate) fn write_search(&self, bytes: &[u8]) -> Result<(), Error> {
        self.replace(&self.store.search(), bytes)
    }

    /// Temporary file, fsync, rename, fsync of the directory.
    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let temporary = self.store.temporary();
        let mut builder = tempfile::Builder::new();
        // Readable for whom the umask lets, writable for none: a blob never changes.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444));
        let mut file = builder.tempfile_in(&temporary).map_err(Error::io("make a file in", &temporary))?;
        let write = file.write_all(bytes).and_then(|()| file.as_file().sync_all());
        write.map_err(Error::io("write", file.path()))?;
        file.persist(path).map_err(|error| Error::io("write", path)(error.error))?;
        sync_directory(&self.store.blobs())
    }

    /// Puts a line behind the first `end` bytes of the index, durably. What was behind them goes: it is what a killed
    /// writer left of its line.
    pub(crate) fn append(&self, end: u64, line: &[u8]) -> Result<(), Error> {
        let path = self.store.index();
        let fresh = !path.exists();
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let mut file = file.map_err(Error::io("open", &path))?;
        let written = append_at(&mut file, end, line);
        if written.is_err() {
            // The line may be there in part or in whole, and is not known to be durable: it must not count. If this
            // fails too, what is left is a torn line or a release that the caller was told failed.
            let _ = file.set_len(end).and_then(|()| file.sync_all());
        }
        written.map_err(Error::io("append to", &path))?;
        if fresh { sync_directory(self.store.root()) } else { Ok(()) }
    }
}

fn append_at(file: &mut File, end: u64, line: &[u8]) -> io::Result<()> {
    if file.metadata()?.len() > end {
        file.set_len(end)?;
        // The end must be durable before the new line is: else a crash could show the new line's end behind the old
        // line's beginning.
        file.sync_all()?;
    }
    file.seek(SeekFrom::Start(end))?;
    file.write_all(line)?;
    file.sync_all()
}

/// Makes a directory and those above it, each durable in the one above.
fn create_directory(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    create_directory(parent)?;
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !path.is_dir() => {
            Err(Error::io("make the directory", path)(error))
        }
        _ => sync_directory(parent),
    }
}

/// Makes durable which names a directory holds. Elsewhere than on Unix a directory cannot be opened as a file, and the
/// file system has to see to it.
fn sync_directory(path: &Path) -> Result<(), Error> {
    if cfg!(unix) {
        File::open(path).and_then(|directory| directory.sync_all()).map_err(Error::io("sync", path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::new(directory.path().join("deep/registry"));
        (directory, store)
    }

    #[test]
    fn blobs_are_read_as_written() {
        let (_directory, store) = store();
        let lock = store.lock().expect("the lock");
        let blob = lock.write(b"bytes").expect("written");
        assert_eq!(lock.write(b"bytes").expect("again"), blob);
        assert_eq!(store.read(&blob, String::new).expect("read"), b"bytes");
    }

    #[test]
    fn altered_blobs_are_refused_and_healed() {
        let (_directory, store) = store();
        let blob = store.lock().expect("the lock").write(b"bytes").expect("written");
        let path = store.blob(&blob.digest);
        let put = |bytes: &[u8]| {
            fs::remove_file(&path).expect("removed");
            fs::write(&path, bytes).expect("written");
            store.read(&blob, || "component of `a:b@1.0.0`".into()).expect_err("altered")
        };
        let error = put(b"bytez");
        assert!(matches!(error, Error::Altered { .. }));
        let message = error.to_string();
        assert!(message.contains("component of `a:b@1.0.0`") && message.contains(&blob.digest.hex()), "{message}");
        assert!(error.hint().expect("a hint").contains("publish the same bytes again"));
        assert!(matches!(put(b"bytes and more"), Error::Resized { found: 14, size: 5, .. }));
        store.lock().expect("the lock").write(b"bytes").expect("healed");
        assert_eq!(store.read(&blob, String::new).expect("read"), b"bytes");
        fs::remove_file(&path).expect("removed");
        assert!(matches!(store.read(&blob, String::new), Err(Error::Missing { .. })));
    }

    #[test]
    fn what_killed_writers_left_is_removed() {
        let (_directory, store) = store();
        drop(store.lock().expect("the lock"));
        let left = store.temporary().join("left");
        fs::write(&left, b"half").expect("written");
        drop(store.lock().expect("the lock"));
        assert!(!left.exists());
    }

    #[test]
    fn appending_drops_a_torn_tail() {
        let (_directory, store) = store();
        let lock = store.lock().expect("the lock");
        lock.append(0, b"one\n").expect("appended");
        fs::write(store.index(), b"one\ntw").expect("written");
        lock.append(4, b"2\n").expect("appended");
        assert_eq!(fs::read(store.index()).expect("read"), b"one\n2\n");
    }
}
