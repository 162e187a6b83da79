//! Compiled code on disk, authenticated.
//!
//! An entry is two files: the code, which is mapped as it is, and beside it its blake3 under a key that lies in the
//! same directory and that only this user can read. Who can write an entry that passes could as well replace the
//! `tollhouse` binary. An entry that does not pass is treated as absent: the code is compiled again.

use std::fs::{self, File, OpenOptions};
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

/// Why a directory cannot be a cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The file system said no.
    #[error("cannot use the cache directory `{}`", path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Other users could put code there.
    #[error("the cache directory `{}` can be written by other users", path.display())]
    Shared {
        /// The directory.
        path: PathBuf,
    },
    /// The key file is not 32 bytes.
    #[error("the key of the cache, `{}`, is damaged: remove that file", path.display())]
    Key {
        /// The file.
        path: PathBuf,
    },
}

impl Cache {
    /// Opens a cache, making the directory and its key if they are absent.
    ///
    /// # Errors
    /// If it cannot be used, or other users can write to it.
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

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The entry of a name, if there is one that passes.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        let content = fs::read(self.directory.join(name)).ok()?;
        self.passes(name, &content).then_some(content)
    }

    /// Keeps an entry under a name. Readers in other processes see the whole entry or none.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.write(&mac_name(name), self.mac(name, content).to_hex().as_bytes())?;
        self.write(name, content)
    }

    /// Maps an entry as machine code, if there is one that passes.
    #[expect(unsafe_code, reason = "wasmtime cannot check machine code; the cache proves who wrote it")]
    pub(super) fn component(&self, engine: &Engine, name: &str) -> Option<Component> {
        let path = self.directory.join(name);
        let file = File::open(&path).ok()?;
        // SAFETY: the file is in a directory that only this user can write, and nothing truncates entries there.
        let content = unsafe { memmap2::Mmap::map(&file) }.ok()?;
        if !self.passes(name, &content) {
            return None;
        }
        // SAFETY: the MAC proves that `put` wrote these bytes, and `put` is given only what the compiler made.
        unsafe { Component::deserialize_file(engine, &path) }.ok()
    }

    fn passes(&self, name: &str, content: &[u8]) -> bool {
        let expected = fs::read_to_string(self.directory.join(mac_name(name))).ok();
        let expected = expected.and_then(|hex| blake3::Hash::from_hex(hex.trim()).ok());
        // Comparing two `Hash` takes the same time wherever they differ.
        expected.is_some_and(|expected| expected == self.mac(name, content))
    }

    /// The name is hashed too, so that one entry cannot stand in for another.
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

/// The first process makes the key; one that comes at the same moment takes the first one's.
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

#[cfg(unix)]
fn is_private(directory: &Path) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let made = OpenOptions::new().read(true).open(directory)?.metadata()?;
    let probe = tempfile::NamedTempFile::new_in(directory)?;
    Ok(made.permissions().mode() & 0o022 == 0 && made.uid() == probe.as_file().metadata()?.uid())
}

#[cfg(not(unix))]
fn make_private(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> io::Result<bool> {
    // Elsewhere a user's cache directory is private by its place.
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
    fn an_entry_comes_back() {
        let (home, cache) = cache();
        cache.put("a", b"content").expect("it writes");
        assert_eq!(cache.get("a").as_deref(), Some(&b"content"[..]));
        let again = Cache::open(home.path().join("code")).expect("it opens twice");
        assert_eq!(again.get("a").as_deref(), Some(&b"content"[..]));
        assert_eq!(cache.get("b"), None);
    }

    #[test]
    fn what_was_altered_or_moved_does_not_pass() {
        let (_home, cache) = cache();
        cache.put("a", b"content").expect("it writes");
        fs::copy(cache.directory().join("a"), cache.directory().join("b")).expect("it copies");
        fs::copy(cache.directory().join("a.mac"), cache.directory().join("b.mac")).expect("it copies");
        assert_eq!(cache.get("b"), None);
        fs::write(cache.directory().join("a"), b"Content").expect("it writes");
        assert_eq!(cache.get("a"), None);
    }

    #[test]
    fn another_key_does_not_pass() {
        let (home, cache) = cache();
        cache.put("a", b"content").expect("it writes");
        fs::write(cache.directory().join("key"), [7; 32]).expect("it writes");
        let other = Cache::open(home.path().join("code")).expect("it opens");
        assert_eq!(other.get("a"), None);
    }

    #[test]
    fn code_of_another_engine_is_no_code() {
        let (_home, cache) = cache();
        let other = Engine::new(wasmtime::Config::new().consume_fuel(true)).expect("an engine");
        let code = other.precompile_component(b"\0asm\x0d\0\x01\0").expect("it compiles");
        cache.put("a", &code).expect("it writes");
        assert!(cache.component(&other, "a").is_some());
        assert!(cache.component(&Engine::default(), "a").is_none(), "sealed, and for another");
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let (home, cache) = cache();
        fs::set_permissions(cache.directory(), fs::Permissions::from_mode(0o777)).expect("it changes");
        let error = Cache::open(home.path().join("code")).expect_err("others can write there");
        assert!(matches!(error, CacheError::Shared { .. }));
    }
}
