//! Input and output files.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bashkit::{CommandContext, Result, vfs_join};

/// Files and streams that a command reads from and writes to.
pub(super) struct Files<'a, 'c> {
    context: &'a CommandContext<'c>,
    kept: Mutex<Kept>,
}

/// Standard input that was read for one address, and is reused for the next ones.
#[derive(Default)]
struct Kept {
    inputs: Vec<Vec<u8>>,
    /// Number of inputs that the current address has used.
    taken: usize,
}

impl<'a, 'c> Files<'a, 'c> {
    pub(super) fn new(context: &'a CommandContext<'c>) -> Self {
        Self { context, kept: Mutex::default() }
    }

    /// Begins the next address, which gets the same standard input as the first one.
    pub(super) fn begin_address(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).taken = 0;
    }

    /// Reads a file, or standard input for `-`, to be sent to each address. The inner error is a message.
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

    /// Reads a file, or standard input for `-`. The inner error is a message.
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

    /// Writes a file, or a stream for `-` and the names of streams. The inner error is a message.
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

    /// Appends to a file.
    pub(super) async fn append(&self, name: &str, bytes: &[u8]) -> Result<std::result::Result<(), String>> {
        if matches!(name, "-" | "/dev/stdout" | "/dev/stderr") {
            return self.write(name, bytes).await;
        }
        let path = vfs_join(self.context.cwd, Path::new(name));
        Ok(self.context.fs.append_file(&path, bytes).await.map_err(|error| reason(&error)))
    }

    /// Creates a directory and its parents.
    pub(super) async fn make_directory(&self, name: &str) -> std::result::Result<(), String> {
        let path = vfs_join(self.context.cwd, Path::new(name));
        self.context.fs.mkdir(&path, true).await.map_err(|error| reason(&error))
    }

    /// Returns true if a file of this name exists.
    pub(super) async fn exists(&self, name: &str) -> bool {
        let path = vfs_join(self.context.cwd, Path::new(name));
        self.context.fs.exists(&path).await.unwrap_or_default()
    }
}

/// Returns true if a name denotes standard input.
fn is_input(name: &str) -> bool {
    matches!(name, "-" | "/dev/stdin")
}

/// Returns the message of the C library for an error.
fn reason(error: &bashkit::Error) -> String {
    crate::commands::files::reason(error)
}

/// Returns the file name in a `content-disposition`, without directories.
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
