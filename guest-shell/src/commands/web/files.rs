//! Files that are sent, and files that are written.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bashkit::{CommandContext, Result, vfs_join};

/// Files and streams that a command reads from and writes to.
pub(super) struct Files<'a, 'c> {
    context: &'a CommandContext<'c>,
    kept: Mutex<Kept>,
}

/// Inputs that were read from standard input for one address, which the next ones get too.
#[derive(Default)]
struct Kept {
    inputs: Vec<Vec<u8>>,
    /// Number of the inputs that the present address has had.
    taken: usize,
}

impl<'a, 'c> Files<'a, 'c> {
    pub(super) fn new(context: &'a CommandContext<'c>) -> Self {
        Self { context, kept: Mutex::default() }
    }

    /// Says that the next address begins, which gets from standard input what the first one got.
    pub(super) fn begin_address(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).taken = 0;
    }

    /// Reads a file that is sent to each address, or standard input for `-`. The inner error is the reason in words.
    pub(super) async fn read_for_all(&self, name: &str) -> Result<std::result::Result<Vec<u8>, String>> {
        if !is_input(name) {
            return self.read(name).await;
        }
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.taken += 1;
            if let Some(input) = kept.inputs.get(kept.taken - 1) {
                return Ok(Ok(input.clone()));
            }
        }
        let read = self.read(name).await?;
        if let Ok(bytes) = &read {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).inputs.push(bytes.clone());
        }
        Ok(read)
    }

    /// Reads a file, or standard input for `-`. The inner error is the reason in words.
    pub(super) async fn read(&self, name: &str) -> Result<std::result::Result<Vec<u8>, String>> {
        if !is_input(name) {
            let read = self.context.fs.read_file(&vfs_join(self.context.cwd, Path::new(name))).await;
            return Ok(read.map_err(|error| reason(&error)));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = self.context.stdin.read_chunk().await? {
            bytes.extend(chunk);
        }
        Ok(Ok(bytes))
    }

    /// Writes a file, or to a stream for `-` and the streams' names. The inner error is the reason in words.
    pub(super) async fn write(&self, name: &str, bytes: &[u8]) -> Result<std::result::Result<(), String>> {
        match name {
            "-" | "/dev/stdout" => self.context.stdout.write_all(bytes).await.map(Ok),
            "/dev/stderr" => self.context.stderr.write_all(bytes).await.map(Ok),
            _ => {
                let path = vfs_join(self.context.cwd, Path::new(name));
                Ok(self.context.fs.write_file(&path, bytes).await.map_err(|error| reason(&error)))
            }
        }
    }

    /// Writes behind what is in a file.
    pub(super) async fn append(&self, name: &str, bytes: &[u8]) -> Result<std::result::Result<(), String>> {
        if matches!(name, "-" | "/dev/stdout" | "/dev/stderr") {
            return self.write(name, bytes).await;
        }
        let path = vfs_join(self.context.cwd, Path::new(name));
        Ok(self.context.fs.append_file(&path, bytes).await.map_err(|error| reason(&error)))
    }

    /// Makes a directory and those above it.
    pub(super) async fn make_directory(&self, name: &str) -> std::result::Result<(), String> {
        let path = vfs_join(self.context.cwd, Path::new(name));
        self.context.fs.mkdir(&path, true).await.map_err(|error| reason(&error))
    }

    /// Returns true if something of that name is there.
    pub(super) async fn exists(&self, name: &str) -> bool {
        let path = vfs_join(self.context.cwd, Path::new(name));
        self.context.fs.exists(&path).await.unwrap_or_default()
    }
}

/// Returns true if a name means standard input.
fn is_input(name: &str) -> bool {
    matches!(name, "-" | "/dev/stdin")
}

/// Reason of an error, in the C library's words.
fn reason(error: &bashkit::Error) -> String {
    crate::commands::files::reason(error)
}

/// The name of a file in a `content-disposition`, without directories.
pub(super) fn name_of(disposition: &str) -> Option<String> {
    let (_, rest) = disposition.split_once("filename=")?;
    let name = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split([';', ' ']).next()?,
    };
    let name = name.rsplit(['/', '\\']).next()?;
    (!name.is_empty() && name != "." && name != "..").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_headers_lose_directories() {
        let name = |text: &str| name_of(text).unwrap_or_default();
        assert_eq!(name("attachment; filename=\"a b.txt\"; x"), "a b.txt");
        assert_eq!(name("attachment; filename=../../etc/x;y"), "x");
        assert_eq!(name("attachment; filename=\"..\""), "");
    }
}
