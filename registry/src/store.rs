//! Storage of the registry's directory: where files are, and how they are written so that neither a crash nor a second
//! process leaves half of one. Must not know what an index line or a blob means. The layout is in `format.md`.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use crate::{
    digest::Digest,
    directory::{AllowedWriters, OpenDirectory},
    error::Error,
};

/// Longest index that is read, in bytes: enough for some 300,000 releases. A longer one was not written by Tollhouse.
const MAX_INDEX: u64 = 256 << 20;

/// Longest search file that is read, in bytes.
const MAX_SEARCH: u64 = 256 << 20;

const INDEX: &str = "index";
const SEARCH: &str = "search";
const LOCK: &str = "lock";
const BLOBS: [&str; 2] = ["blobs", "sha256"];
const TEMPORARY: &str = "tmp";

/// Reference to a file of the registry by hash and length of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Blob {
    /// SHA-256 of the content.
    pub digest: Digest,
    /// Length of the content in bytes.
    pub size: u64,
}

impl Blob {
    /// Computes the reference of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self { digest: Digest::of(bytes), size: length(bytes) }
    }
}

/// Returns the length of `bytes` as `u64`.
pub(crate) fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).expect("no platform has a usize of more than 64 bits")
}

/// Directory of a registry. It need not exist: a missing directory is empty, and the first write creates it.
#[derive(Debug)]
pub(crate) struct RegistryStore {
    root: PathBuf,
    pub(crate) writers: AllowedWriters,
}

impl RegistryStore {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, writers: AllowedWriters::default() }
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.root.join(INDEX)
    }

    /// Returns the path of a blob for messages. The blob itself is opened relative to an open directory.
    pub(crate) fn blob(&self, digest: &Digest) -> PathBuf {
        self.blobs().join(digest.hex())
    }

    fn blobs(&self) -> PathBuf {
        BLOBS.iter().fold(self.root.clone(), |path, part| path.join(part))
    }

    fn open(&self) -> Result<Option<OpenDirectory>, Error> {
        OpenDirectory::open(&self.root, self.writers)
    }

    /// Opens the directory of all blobs. Returns `None` if there is none.
    pub(crate) fn open_blobs(&self) -> Result<Option<OpenDirectory>, Error> {
        let mut directory = self.open()?;
        for part in BLOBS {
            directory = directory.map(|above| above.below(part)).transpose()?.flatten();
        }
        Ok(directory)
    }

    /// Opens the index, if it exists, and checks its length.
    pub(crate) fn open_index(&self) -> Result<Option<File>, Error> {
        let Some(file) = self.open()?.map(|root| root.read(INDEX)).transpose()?.flatten() else { return Ok(None) };
        let path = self.index();
        let length = file.metadata().map_err(Error::io("look at", &path))?.len();
        if length > MAX_INDEX {
            return Err(Error::Long { path, length, most: MAX_INDEX });
        }
        Ok(Some(file))
    }

    /// Reads the search file (see `search`), if it exists.
    pub(crate) fn search(&self) -> Result<Option<String>, Error> {
        let file = self.open()?.map(|root| root.read(SEARCH)).transpose()?.flatten();
        let read = |file: File| io::read_to_string(file.take(MAX_SEARCH));
        file.map(read).transpose().map_err(Error::io("read", &self.root.join(SEARCH)))
    }

    /// Reads and checks a blob. `what` describes it in errors.
    pub(crate) fn read(&self, blob: &Blob, what: impl Fn() -> String) -> Result<Vec<u8>, Error> {
        let Blob { digest, size } = *blob;
        let path = self.blob(&digest);
        let Some(file) = self.open_blob(&digest)? else { return Err(Error::Missing { what: what(), digest, path }) };
        // The length is checked first, so that a file that someone made huge is never read into memory.
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

    /// Reads a blob of which only the digest is known. Returns `None` if it is missing, damaged or longer than `most`
    /// bytes.
    pub(crate) fn read_any(&self, digest: &Digest, most: u64) -> Option<Vec<u8>> {
        let size = self.open_blob(digest).ok()??.metadata().ok()?.len();
        (size <= most).then(|| self.read(&Blob { digest: *digest, size }, String::new).ok())?
    }

    fn open_blob(&self, digest: &Digest) -> Result<Option<File>, Error> {
        Ok(self.open_blobs()?.map(|blobs| blobs.read(&digest.hex())).transpose()?.flatten())
    }

    /// Waits for the exclusive write lock, creating the directory if it is missing.
    pub(crate) fn lock(&self) -> Result<WriteLock<'_>, Error> {
        let root = OpenDirectory::open_or_make(&self.root, self.writers)?;
        let [outer, inner] = BLOBS;
        let blobs = root.make_below(outer)?.make_below(inner)?;
        let temporary = root.make_below(TEMPORARY)?;
        let file = root.write(LOCK)?;
        file.lock().map_err(Error::io("lock", &self.root.join(LOCK)))?;
        // Under the lock, files that writers left there are not in use.
        temporary.sweep()?;
        Ok(WriteLock { store: self, root, blobs, temporary, _file: file })
    }

    /// Waits until nobody writes. Returns `None` if there is no lock file, so that nobody can have written.
    pub(crate) fn lock_shared(&self) -> Result<Option<File>, Error> {
        let file = self.open()?.map(|root| root.read(LOCK)).transpose()?.flatten();
        let lock = |file: File| file.lock_shared().map(|()| file);
        file.map(lock).transpose().map_err(Error::io("lock", &self.root.join(LOCK)))
    }
}

/// Exclusive write lock. Released when this is dropped, or when the process ends in any way.
pub(crate) struct WriteLock<'a> {
    store: &'a RegistryStore,
    root: OpenDirectory,
    blobs: OpenDirectory,
    temporary: OpenDirectory,
    _file: File,
}

impl WriteLock<'_> {
    /// Stores bytes under their hash, durably. An intact blob is left alone; other content under that name is replaced.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Blob, Error> {
        let blob = Blob::of(bytes);
        match self.store.read(&blob, String::new) {
            // A writer may have been killed between its rename and its sync: the name may not be durable yet.
            Ok(_) => self.blobs.sync()?,
            Err(Error::Missing { .. } | Error::Altered { .. } | Error::Resized { .. } | Error::Kind { .. }) => {
                self.replace(&self.blobs, &blob.digest.hex(), bytes)?;
            }
            Err(error) => return Err(error),
        }
        Ok(blob)
    }

    /// Replaces the search file.
    pub(crate) fn write_search(&self, bytes: &[u8]) -> Result<(), Error> {
        self.replace(&self.root, SEARCH, bytes)
    }

    /// Replaces a file: temporary file, fsync, rename, fsync of the directory.
    fn replace(&self, directory: &OpenDirectory, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let (temporary, mut file) = self.temporary.temporary()?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        let path = self.store.root.join(TEMPORARY).join(&temporary);
        let renamed = written
            .map_err(Error::io("write", &path))
            .and_then(|()| self.temporary.rename(&temporary, directory, name));
        if renamed.is_err() {
            // If this fails too, the next writer removes it.
            let _ = self.temporary.remove(&temporary);
        }
        renamed.and_then(|()| directory.sync())
    }

    /// Appends a line behind the first `end` bytes of the index, durably. Bytes behind them are cut off: they are an
    /// incomplete line of a killed writer.
    pub(crate) fn append(&self, end: u64, line: &[u8]) -> Result<(), Error> {
        let path = self.store.index();
        let length = end.saturating_add(length(line));
        if length > MAX_INDEX {
            return Err(Error::Long { path, length, most: MAX_INDEX });
        }
        let mut file = self.root.write(INDEX)?;
        let written = append_at(&mut file, end, line);
        if written.is_err() {
            // The line may be there in part or in whole, and is not known to be durable: it must not count. If this
            // fails too, a torn line remains, or a release whose publisher got an error.
            let _ = file.set_len(end).and_then(|()| file.sync_all());
        }
        written.map_err(Error::io("append to", &path))?;
        // With the first line the file itself is new.
        if end == 0 { self.root.sync() } else { Ok(()) }
    }

    /// Lists the names of all entries in the directory of blobs.
    pub(crate) fn blob_names(&self) -> Result<Vec<std::ffi::OsString>, Error> {
        self.blobs.names()
    }

    /// Returns the length of a blob in bytes. Returns `None` if it is not a regular file.
    pub(crate) fn blob_size(&self, digest: &Digest) -> Result<Option<u64>, Error> {
        match self.blobs.read(&digest.hex()) {
            Ok(None) | Err(Error::Kind { .. }) => Ok(None),
            Ok(Some(file)) => {
                file.metadata().map(|found| Some(found.len())).map_err(Error::io("look at", &self.store.blob(digest)))
            }
            Err(error) => Err(error),
        }
    }

    /// Removes a blob from the directory.
    pub(crate) fn remove_blob(&self, digest: &Digest) -> Result<(), Error> {
        self.blobs.remove(&digest.hex())
    }
}

fn append_at(file: &mut File, end: u64, line: &[u8]) -> io::Result<()> {
    if file.metadata()?.len() > end {
        file.set_len(end)?;
        // The truncation must be durable before the new line is: else a crash could leave the new line's end behind the
        // old line's beginning.
        file.sync_all()?;
    }
    file.seek(SeekFrom::Start(end))?;
    file.write_all(line)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn store() -> (tempfile::TempDir, RegistryStore) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = RegistryStore::new(directory.path().join("deep/registry"));
        (directory, store)
    }

    #[test]
    fn blob_written_is_read_back() {
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
    fn files_of_killed_writers_are_removed_and_others_are_left() {
        let (_directory, store) = store();
        drop(store.lock().expect("the lock"));
        let at = |name: &str| store.root.join(TEMPORARY).join(name);
        for name in [".tmp-0123", ".tmpAbCdEf", "letter", ".tm"] {
            fs::write(at(name), b"half").expect("written");
        }
        fs::create_dir(at(".tmp-directory")).expect("made");
        drop(store.lock().expect("the lock"));
        assert!(!at(".tmp-0123").exists() && !at(".tmpAbCdEf").exists());
        assert!(at("letter").exists() && at(".tm").exists() && at(".tmp-directory").exists());
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
