//! A registry in a directory of its own, and things to publish in it.

use std::{fs, path::PathBuf};

use tollhouse_registry::{PublishRequest, Registry, Requirement};

use crate::testing::{CHARGES, component};

/// A directory that is removed with this value, and a registry in it.
pub(crate) struct Home {
    directory: tempfile::TempDir,
    pub(crate) registry: Registry,
}

impl Home {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let registry = Registry::open(directory.path().join("registry")).expect("it opens");
        Self { directory, registry }
    }

    /// A path in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The registry as another process would open it.
    pub(crate) fn open(&self) -> Result<Registry, tollhouse_registry::Error> {
        Registry::open(self.path("registry"))
    }

    /// Returns the files of the registry that hold its contents.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let blobs = fs::read_dir(self.path("registry/blobs/sha256")).expect("it is there");
        let mut files: Vec<PathBuf> = blobs.map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        files.push(self.path("registry/index"));
        files
    }
}

pub(crate) fn requirement(text: &str) -> Requirement {
    text.parse().expect("a requirement")
}

/// A component of that name and version. Two with different notes are different bytes.
pub(crate) fn request(name: &str, version: &str, note: &str) -> PublishRequest {
    let mut component = component(CHARGES);
    let content = [&[4], &b"note"[..], note.as_bytes()].concat();
    component.extend([0, u8::try_from(content.len()).expect("a short note")]);
    component.extend(content);
    let mut request = PublishRequest::new(component);
    request.name = Some(name.parse().expect("a name"));
    request.version = Some(version.parse().expect("a version"));
    request
}

/// Replaces a file whatever its mode.
pub(crate) fn replace(path: &std::path::Path, bytes: &[u8]) {
    fs::remove_file(path).expect("it is there");
    fs::write(path, bytes).expect("it writes");
}
