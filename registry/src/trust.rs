//! Trusted keys of this machine's user, by names that the user gave them: a small file. The caller says where it is; it
//! must not be in a registry, whose writers are the ones to be checked.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use tollhouse_types::key::{MAX_KEY_NAME, PublicKey, is_key_name};

use crate::{
    error::excerpt,
    untrusted_file::{self, ReadError},
};

/// Largest file in bytes: room for ten thousand keys.
const MAX_BYTES: u64 = 1 << 20;

/// Comment at the head of the file.
const HEAD: &str = "# Keys that releases may be signed with, by name. `tollhouse registry trust` writes this file.\n";

/// File of trusted keys, a line each: `NAME KEY`.
#[derive(Debug, Clone)]
pub struct TrustedKeys {
    path: PathBuf,
}

/// Reason why the file cannot be used, or a key is not added to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file system refused an operation.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// Operation that failed: a verb.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A line is not valid.
    #[error("`{}`, line {line}: {problem}", path.display())]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Line number, counted from 1.
        line: usize,
        /// Description of the error.
        problem: String,
    },
    /// The text is not a valid name.
    #[error("`{0}` is not a name of a key: 1 to {MAX_KEY_NAME} letters, digits, `-`, `_` and `.`")]
    Name(String),
    /// The name belongs to another key.
    #[error("`{name}` is the name of another key, `{key}`")]
    Taken {
        /// Name that was requested.
        name: String,
        /// Key that has the name.
        key: PublicKey,
    },
}

impl TrustError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Taken { .. } => Some("choose another name, or remove that key first"),
            Self::Line { .. } => Some("fix or remove the line; until then no key is trusted by its name"),
            Self::Io { .. } | Self::Name(_) => None,
        }
    }
}

impl TrustedKeys {
    /// Creates a handle of the file. A file that does not exist holds no keys.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Lists all keys by name.
    ///
    /// # Errors
    /// If the file cannot be read or has an invalid line: then none of its keys is trusted.
    pub fn list(&self) -> Result<BTreeMap<String, PublicKey>, TrustError> {
        let text = match untrusted_file::read_regular_text(&self.path, MAX_BYTES) {
            Ok(text) => text,
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(self.io("read")(error.into())),
        };
        let mut keys = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |problem: String| TrustError::Line { path: self.path.clone(), line: at + 1, problem };
            let (name, key) = line.split_once(' ').ok_or_else(|| wrong("it is not a name and a key".into()))?;
            if !is_key_name(name) {
                return Err(wrong(TrustError::Name(excerpt(name)).to_string()));
            }
            let key = key.trim().parse().map_err(|error: crate::KeyError| wrong(error.to_string()))?;
            if keys.insert(name.to_owned(), key).is_some() {
                return Err(wrong(format!("the name `{name}` occurs twice")));
            }
        }
        Ok(keys)
    }

    /// Adds a key. Returns false if it was there already.
    ///
    /// # Errors
    /// If the name is not valid, or belongs to another key.
    pub fn add(&self, name: &str, key: PublicKey) -> Result<bool, TrustError> {
        if !is_key_name(name) {
            return Err(TrustError::Name(excerpt(name)));
        }
        let _lock = self.lock()?;
        let mut keys = self.list()?;
        match keys.get(name) {
            Some(own) if *own == key => return Ok(false),
            Some(own) => return Err(TrustError::Taken { name: name.to_owned(), key: *own }),
            None => keys.insert(name.to_owned(), key),
        };
        self.write(&keys).map(|()| true)
    }

    /// Removes a key, given by name or by itself, and returns the names that it had.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn remove(&self, which: &str) -> Result<Vec<String>, TrustError> {
        let _lock = self.lock()?;
        let keys = self.list()?;
        let meant = |name: &String, key: &PublicKey| name == which || key.to_string() == which;
        let (gone, kept): (BTreeMap<_, _>, _) = keys.into_iter().partition(|(name, key)| meant(name, key));
        if !gone.is_empty() {
            self.write(&kept)?;
        }
        Ok(gone.into_keys().collect())
    }

    /// Takes the write lock: a file of its own, since the file of keys is replaced when it is written.
    fn lock(&self) -> Result<File, TrustError> {
        let parent = self.parent();
        fs::create_dir_all(parent).map_err(self.io("create the directory of"))?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(self.path.with_extension("lock"));
        let file = file.map_err(self.io("lock"))?;
        file.lock().map_err(self.io("lock"))?;
        Ok(file)
    }

    fn write(&self, keys: &BTreeMap<String, PublicKey>) -> Result<(), TrustError> {
        let lines: String = keys.iter().map(|(name, key)| format!("{name} {key}\n")).collect();
        let mut file = tempfile::NamedTempFile::new_in(self.parent()).map_err(self.io("write"))?;
        let written = file.write_all((HEAD.to_owned() + &lines).as_bytes()).and_then(|()| file.as_file().sync_all());
        written.map_err(self.io("write"))?;
        file.persist(&self.path).map_err(|error| self.io("write")(error.error))?;
        // A removed key must not reappear after a power cut. Only Unix opens directories.
        if cfg!(unix) {
            File::open(self.parent()).and_then(|directory| directory.sync_all()).map_err(self.io("write"))?;
        }
        Ok(())
    }

    fn parent(&self) -> &Path {
        self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn io(&self, action: &'static str) -> impl FnOnce(io::Error) -> TrustError {
        let path = self.path.clone();
        move |source| TrustError::Io { action, path, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
    const TWO: &str = "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";

    fn key(text: &str) -> PublicKey {
        text.parse().expect("a key")
    }

    #[test]
    fn trusted_key_is_added_found_and_removed_by_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let keys = TrustedKeys::new(directory.path().join("deep/trusted-keys"));
        assert!(keys.list().expect("none").is_empty());
        assert!(keys.add("acme", key(ONE)).expect("added") && !keys.add("acme", key(ONE)).expect("it is there"));
        assert!(matches!(keys.add("acme", key(TWO)), Err(TrustError::Taken { .. })));
        assert!(matches!(keys.add("a b", key(TWO)), Err(TrustError::Name(_))));
        keys.add("two", key(TWO)).expect("added");
        keys.add("zwei", key(TWO)).expect("a second name");
        assert_eq!(keys.remove(TWO).expect("removed"), ["two", "zwei"]);
        assert_eq!(keys.remove("two").expect("nothing"), [""; 0]);
        assert_eq!(keys.list().expect("one"), BTreeMap::from([("acme".into(), key(ONE))]));
    }

    #[test]
    fn trust_file_with_invalid_line_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("keys");
        for text in ["acme", "acme ed25519:x", "a/b KEY", "acme KEY\nacme KEY"] {
            fs::write(&path, text.replace("KEY", ONE)).expect("written");
            assert!(matches!(TrustedKeys::new(&path).list(), Err(TrustError::Line { .. })), "{text}");
        }
    }
}
