//! Sources of a package, with the times of their changes. They are polled: a package has few files, and every system
//! has times.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

/// Directories of build output and installed dependencies, besides all whose names begin with a dot.
const BUILT: [&str; 5] = ["build", "dist", "node_modules", "target", "__pycache__"];

/// Files that toolchains write beside the sources.
const LOCKS: [&str; 2] = ["Cargo.lock", "package-lock.json"];

/// Extensions of files that no toolchain reads: documents at the top of the package, and logs.
const DOCUMENT: &str = ".md";
const LOG: &str = ".log";

/// Most files that are checked, so that a directory that is not a package costs no more.
const MAX_FILES: usize = 10_000;

/// Files, with size and time of the last change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SourceTimes(BTreeMap<PathBuf, (u64, SystemTime)>);

impl SourceTimes {
    /// Collects the sources below a package's directory, and further files.
    pub(super) fn of(directory: &Path, more: &[PathBuf]) -> Self {
        let mut sources = Self::default();
        sources.collect(directory, 0);
        more.iter().for_each(|file| sources.add(file));
        sources
    }

    fn collect(&mut self, directory: &Path, depth: usize) {
        // A file that disappears while it is listed has changed.
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_text = name.ends_with(LOG) || (depth == 0 && name.ends_with(DOCUMENT));
            let is_left_out = name.starts_with('.') || BUILT.contains(&&*name) || LOCKS.contains(&&*name) || is_text;
            if is_left_out || self.0.len() >= MAX_FILES {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.collect(&entry.path(), depth + 1),
                Ok(_) if is_own_output(&entry) => {}
                Ok(_) => self.add(&entry.path()),
                Err(_) => {}
            }
        }
    }

    fn add(&mut self, path: &Path) {
        if let Ok(metadata) = fs::metadata(path) {
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            self.0.insert(path.to_owned(), (metadata.len(), modified));
        }
    }

    /// Returns true if a file was created after the last change of all of them.
    pub(super) fn are_older_than(&self, built: &Path) -> bool {
        let made = fs::metadata(built).and_then(|metadata| metadata.modified());
        made.is_ok_and(|made| self.0.values().all(|(_, changed)| *changed < made))
    }
}

/// Returns true if this process writes its own output into a file: each build would cause the next.
fn is_own_output(entry: &fs::DirEntry) -> bool {
    let Ok(metadata) = entry.metadata() else { return false };
    let is_it = |stat: rustix::io::Result<rustix::fs::Stat>| {
        stat.is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (metadata.dev(), metadata.ino()))
    };
    is_it(rustix::fs::fstat(io::stdout())) || is_it(rustix::fs::fstat(io::stderr()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_output_is_not_watched_as_source() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
            fs::write(path, text).expect("it writes");
        };
        write("src/lib.rs", "one");
        let source = fs::File::options().append(true).open(directory.path().join("src/lib.rs")).expect("it is there");
        source.set_modified(SystemTime::UNIX_EPOCH).expect("it is ours");
        let before = SourceTimes::of(directory.path(), &[]);
        for built in [
            "README.md",
            "dev.log",
            "build/a.wasm",
            "target/debug/x",
            "node_modules/a/b.js",
            ".venv/bin/x",
            "Cargo.lock",
        ] {
            write(built, "made");
        }
        assert_eq!(SourceTimes::of(directory.path(), &[]), before);
        assert!(before.are_older_than(&directory.path().join("build/a.wasm")));
        write("src/lib.rs", "three");
        assert_ne!(SourceTimes::of(directory.path(), &[]), before);
        assert!(!before.are_older_than(&directory.path().join("build/none.wasm")));
    }
}
