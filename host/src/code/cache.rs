//! Compiled code on disk, authenticated.
//!
//! An entry is two files: the code, which is mapped as it is, and beside it its blake3 under a key that lies in the
//! same directory and that only this user can read. Anyone who can write an entry that passes could as well replace the
//! `tollhouse` binary. An entry that does not pass is treated as absent, and the code is compiled again.
//!
//! Reading 15 MB takes longer than everything else that a process does before its first script. So an entry that passed
//! once gets a third file, which identifies the checked file (device, inode, size, times of its last change) under the
//! same key: as long as that identity matches, nobody has written to the file since.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

/// A directory of compiled code.
#[derive(Debug)]
pub struct Cache {
    directory: PathBuf,
    key: [u8; 32],
}

/// Reason why a directory cannot be used as a cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The file system refused an operation.
    #[error("cannot use the cache directory `{}`", path.display())]
    Io {
        /// The file or directory concerned.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// Other users could put code there.
    #[error("the cache directory `{}` can be written by other users", path.display())]
    Shared {
        /// Directory that others can write.
        path: PathBuf,
    },
    /// The key file is not 32 bytes.
    #[error("the key of the cache, `{}`, is damaged: remove that file", path.display())]
    Key {
        /// The key file concerned.
        path: PathBuf,
    },
}

impl Cache {
    /// Opens a cache, creating the directory and its key if they are absent.
    ///
    /// # Errors
    /// If the directory cannot be used, or other users can write to it.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, CacheError> {
        let directory = directory.into();
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| CacheError::Io { path, source }
        };
        make_private(&directory).map_err(io(&directory))?;
        if !is_private(&directory).map_err(io(&directory))? {
            return Err(CacheError::Shared { path: directory });
        }
        let path = directory.join("key");
        let key = read_or_make_key(&directory, &path).map_err(io(&path))?;
        let key = key.try_into().map_err(|_| CacheError::Key { path })?;
        Ok(Self { directory, key })
    }

    /// Returns the directory of the cache.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the entry called `name`, if there is one and it authenticates.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        let content = fs::read(self.directory.join(name)).ok()?;
        self.passes(name, &content).then_some(content)
    }

    /// Stores an entry under a name. Readers in other processes see the whole entry or none.
    ///
    /// # Errors
    /// If the entry cannot be written.
    pub fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.write(&mac_name(name), self.mac(name, content).to_hex().as_bytes())?;
        self.write(name, content)
    }

    /// Maps an entry as machine code, if there is one and it authenticates.
    #[expect(unsafe_code, reason = "wasmtime cannot check machine code; the cache proves who wrote it")]
    pub(super) fn component(&self, engine: &Engine, name: &str) -> Option<Component> {
        let path = self.directory.join(name);
        let file = File::open(&path).ok()?;
        let identity = identity(&file);
        if !identity.as_ref().is_some_and(|identity| self.is_seen(name, identity)) {
            // SAFETY: the file is in a directory that only this user can write, and nothing truncates entries there.
            let content = unsafe { memmap2::Mmap::map(&file) }.ok()?;
            if !self.passes(name, &content) {
                return None;
            }
            if let Some(identity) = identity {
                self.see(name, &file, &identity);
            }
        }
        // SAFETY: the MAC proves that `put` wrote these bytes, and `put` is given only what the compiler made.
        unsafe { Component::deserialize_file(engine, &path) }.ok()
    }

    /// Returns true if a note says that this very file has passed already.
    fn is_seen(&self, name: &str, identity: &[u8]) -> bool {
        self.holds(&seen_name(name), self.mac(&seen_name(name), identity))
    }

    /// Records that this file passed. If the record cannot be written, the next process authenticates the file again.
    fn see(&self, name: &str, file: &File, identity: &[u8]) {
        // The note may only vouch for content that is on the disk: else a loss of power could leave it beside a file of
        // zeros.
        if file.sync_all().is_ok() {
            let _ = self.write(&seen_name(name), self.mac(&seen_name(name), identity).to_hex().as_bytes());
        }
    }

    fn passes(&self, name: &str, content: &[u8]) -> bool {
        self.holds(&mac_name(name), self.mac(name, content))
    }

    /// Returns true if a file holds this hash.
    fn holds(&self, name: &str, hash: blake3::Hash) -> bool {
        let held = fs::read_to_string(self.directory.join(name)).ok();
        let held = held.and_then(|hex| blake3::Hash::from_hex(hex.trim()).ok());
        // Comparing two `Hash` takes the same time wherever they differ.
        held.is_some_and(|held| held == hash)
    }

    /// Computes the MAC of an entry, over its name too, so that one entry cannot replace another.
    fn mac(&self, name: &str, content: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(content);
        hasher.finalize()
    }

    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        file.write_all(content)?;
        file.persist(self.directory.join(name))?;
        Ok(())
    }
}

fn mac_name(name: &str) -> String {
    format!("{name}.mac")
}

fn seen_name(name: &str) -> String {
    format!("{name}.seen")
}

/// Identifies a file and its last change (of content or name) by values that the system keeps and no program can set.
#[cfg(unix)]
fn identity(file: &File) -> Option<Vec<u8>> {
    use std::os::unix::fs::MetadataExt;
    let made = file.metadata().ok()?;
    let times = [made.mtime(), made.mtime_nsec(), made.ctime(), made.ctime_nsec()];
    let all = [made.dev(), made.ino(), made.size()].into_iter().map(u64::to_le_bytes);
    Some(all.chain(times.into_iter().map(i64::to_le_bytes)).flatten().collect())
}

/// Returns nothing: on other systems an entry is authenticated each time.
#[cfg(not(unix))]
fn identity(_: &File) -> Option<Vec<u8>> {
    None
}

/// Reads the key, or creates it. Of processes that do this at the same moment, all use the key of the first.
fn read_or_make_key(directory: &Path, path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    // A temporary file has mode 0600, and appears under its name whole or not at all.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(&key)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(key.to_vec()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => fs::read(path),
        Err(error) => Err(error.error),
    }
}

#[cfg(unix)]
fn make_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Returns true if nobody else can write to the directory. Nothing is written for that: a process that only reads the
/// cache may not.
#[cfg(unix)]
fn is_private(directory: &Path) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let made = File::open(directory)?.metadata()?;
    Ok(made.permissions().mode() & 0o022 == 0 && made.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn make_private(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> io::Result<bool> {
    // On other systems a user's cache directory is private by its location.
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let home = tempfile::tempdir().expect("a temporary directory");
        let cache = Cache::open(home.path().join("code")).expect("it opens");
        (home, cache)
    }

    #[test]
    fn code_cache_entry_is_read_back() {
        let (home, cache) = cache();
        cache.put("a", b"content").expect("it writes");
        assert_eq!(cache.get("a").as_deref(), Some(&b"content"[..]));
        let again = Cache::open(home.path().join("code")).expect("it opens twice");
        assert_eq!(again.get("a").as_deref(), Some(&b"content"[..]));
        assert_eq!(cache.get("b"), None);
    }

    #[test]
    fn code_cache_entry_altered_or_moved_is_not_used() {
        let (_home, cache) = cache();
        cache.put("a", b"content").expect("it writes");
        fs::copy(cache.directory().join("a"), cache.directory().join("b")).expect("it copies");
        fs::copy(cache.directory().join("a.mac"), cache.directory().join("b.mac")).expect("it copies");
        assert_eq!(cache.get("b"), None);
        fs::write(cache.directory().join("a"), b"Content").expect("it writes");
        assert_eq!(cache.get("a"), None);
    }

    #[test]
    fn code_cache_entry_under_another_key_is_not_used() {
        let (home, cache) = cache();
        cache.put("a", b"content").expect("it writes");
        fs::write(cache.directory().join("key"), [7; 32]).expect("it writes");
        let other = Cache::open(home.path().join("code")).expect("it opens");
        assert_eq!(other.get("a"), None);
    }

    #[test]
    fn code_cache_entry_for_another_engine_is_not_used() {
        let (_home, cache) = cache();
        let other = Engine::new(wasmtime::Config::new().consume_fuel(true)).expect("an engine");
        let code = other.precompile_component(b"\0asm\x0d\0\x01\0").expect("it compiles");
        cache.put("a", &code).expect("it writes");
        assert!(cache.component(&other, "a").is_some());
        assert!(cache.component(&Engine::default(), "a").is_none(), "sealed, and for another");
    }

    #[cfg(unix)]
    #[test]
    fn code_cache_component_is_remembered_until_its_file_changes() {
        let (_home, cache) = cache();
        let engine = Engine::default();
        let code = engine.precompile_component(b"\0asm\x0d\0\x01\0").expect("it compiles");
        cache.put("a", &code).expect("it writes");
        let at = |name: &str| cache.directory().join(name);
        assert!(cache.component(&engine, "a").is_some());
        let seen = fs::read(at("a.seen")).expect("it passed");
        // A file that passed before is not compared with its MAC again.
        fs::remove_file(at("a.mac")).expect("it is there");
        assert!(cache.component(&engine, "a").is_some());
        // The note of one entry does not vouch for another one, and a new file is not the file that passed.
        fs::copy(at("a"), at("b")).expect("it copies");
        fs::write(at("b.seen"), &seen).expect("it writes");
        assert!(cache.component(&engine, "b").is_none());
        let time = fs::metadata(at("a")).and_then(|made| made.modified()).expect("it is there");
        let mut changed = code.clone();
        *changed.last_mut().expect("it is not empty") ^= 1;
        // Long enough for the system's clock to advance.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(at("a"), &changed).expect("it writes");
        File::options().append(true).open(at("a")).and_then(|file| file.set_modified(time)).expect("it is set");
        assert!(cache.component(&engine, "a").is_none(), "changed, with its old time");
    }

    #[cfg(unix)]
    #[test]
    fn code_cache_directory_writable_by_others_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let (home, cache) = cache();
        fs::set_permissions(cache.directory(), fs::Permissions::from_mode(0o777)).expect("it changes");
        let error = Cache::open(home.path().join("code")).expect_err("others can write there");
        assert!(matches!(error, CacheError::Shared { .. }));
    }
}
