//! Keys that this machine's user trusts, by the names that the user gave them: a small file. Where it lies the caller says;
//! not in a registry, whose writers are who is to be checked.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    error::excerpt,
    signature::PublicKey,
    untrusted_file::{self, ReadError},
};

/// Longest name of a key, in bytes.
const MAX_NAME: usize = 64;

/// Largest file: ten thousand keys.
const MAX_BYTES: u64 = 1 << 20;

/// What the file says of itself.
const HEAD: &str = "# Keys that releases may be signed with, by name. `tollhouse registry trust` writes this file.\n";

/// A file of trusted keys: a line each, `NAME KEY`.
#[derive(Debug, Clone)]
pub struct TrustedKeys {
    path: PathBuf,
}

/// Why the file cannot be used, or a key is not put into it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file system refused.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried: a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A line means nothing.
    #[error("`{}`, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The text can be no name.
    #[error("`{0}` is no name of a key: 1 to {MAX_NAME} letters, digits, `-`, `_` and `.`")]
    Name(String),
    /// The name has another key.
    #[error("`{name}` is the name of another key, `{key}`")]
    Taken {
        /// The name.
        name: String,
        /// Its key.
        key: PublicKey,
    },
}

impl TrustError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Taken { .. } => Some("choose another name, or remove that key first"),
            Self::Line { .. } => Some("fix or remove the line; until then no key is trusted by its name"),
            Self::Io { .. } | Self::Name(_) => None,
        }
    }
}

/// Whether a text can be the name of a key.
#[must_use]
pub fn is_key_name(text: &str) -> bool {
    let character = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_NAME).contains(&text.len()) && text.chars().all(character)
}

impl TrustedKeys {
    /// Those of a file. One that does not exist has none.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// All of them, by name.
    ///
    /// # Errors
    /// If the file cannot be read, or a line of it means nothing: then none of them counts.
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
            let (name, key) = line.split_once(' ').ok_or_else(|| wrong("it is no name and key".into()))?;
            if !is_key_name(name) {
                return Err(wrong(TrustError::Name(excerpt(name)).to_string()));
            }
            let key = key.trim().parse().map_err(|error: crate::KeyError| wrong(error.to_string()))?;
            if keys.insert(name.to_owned(), key).is_some() {
                return Err(wrong(format!("the name `{name}` stands twice")));
            }
        }
        Ok(keys)
    }

    /// Adds a key. False if it was there.
    ///
    /// # Errors
    /// If the name is none, or another key's.
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

    /// Removes a key, by its name or by itself. The names that it had.
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

    /// The right to write. The file itself is replaced, so it is beside it.
    fn lock(&self) -> Result<File, TrustError> {
        let parent = self.parent();
        fs::create_dir_all(parent).map_err(self.io("make the directory of"))?;
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
        // A key that was removed must not be back after a power cut. Only Unix opens directories.
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
    fn keys_have_names() {
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
    fn a_wrong_line_is_no_trust() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("keys");
        for text in ["acme", "acme ed25519:x", "a/b KEY", "acme KEY\nacme KEY"] {
            fs::write(&path, text.replace("KEY", ONE)).expect("written");
            assert!(matches!(TrustedKeys::new(&path).list(), Err(TrustError::Line { .. })), "{text}");
        }
    }
}
