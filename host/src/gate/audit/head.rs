//! The head of a log that is kept with a key: how many lines the log has, in a file beside it.
//!
//! A chain shows what was changed in it and not what was cut off behind. So a second file says how long the log is, with a
//! MAC by the key of the line that comes next, which is forgotten when that line is written: of a log that was cut off,
//! nobody can make the head any more. The head is written behind lines that are durable, so that no crash makes it say more
//! than there is.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tollhouse_registry::untrusted_file::{self, ReadError};

use super::AuditError;

/// Bytes of the file: every head takes as many, so that a shorter one leaves nothing of a longer one.
const LENGTH: usize = 256;

/// How long a log is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) lines: u64,
    /// The hash of the last line.
    pub(super) last: blake3::Hash,
    pub(super) mac: blake3::Hash,
}

/// As it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    lines: u64,
    last: String,
    mac: String,
}

/// The file of a head.
#[derive(Debug)]
pub(super) struct HeadFile {
    path: PathBuf,
    file: File,
}

/// Where the head of a log is: beside it, as `LOG.head`.
pub(super) fn path_of(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(".head");
    name.into()
}

/// Reads the head of a log; none if it has none.
///
/// # Errors
/// If it cannot be read, or is none.
pub(super) fn read(log: &Path) -> Result<Option<Head>, AuditError> {
    let path = path_of(log);
    let text = match untrusted_file::read_regular(&path, LENGTH as u64) {
        Ok(text) if text.is_empty() => return Ok(None),
        Ok(text) => text,
        Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(AuditError::Io { path, source: error.into() }),
    };
    match parse(&text) {
        Some(head) => Ok(Some(head)),
        None => Err(AuditError::Head { path, problem: "is damaged: whether the log was cut off cannot be told" }),
    }
}

fn parse(text: &[u8]) -> Option<Head> {
    let written: Written = serde_json::from_slice(text).ok()?;
    let hash = |digits: &str| blake3::Hash::from_hex(digits).ok();
    Some(Head { lines: written.lines, last: hash(&written.last)?, mac: hash(&written.mac)? })
}

fn text(head: &Head) -> Vec<u8> {
    let written = Written { lines: head.lines, last: head.last.to_string(), mac: head.mac.to_string() };
    let mut text = serde_json::to_vec(&written).expect("it is plain data");
    text.resize(LENGTH - 1, b' ');
    text.push(b'\n');
    text
}

impl HeadFile {
    /// Opens the head of a log; makes it if it is not there, for this user alone.
    pub(super) fn open(log: &Path) -> Result<Self, AuditError> {
        let path = path_of(log);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match untrusted_file::open_regular_with(&path, &options) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(AuditError::Io { path, source: error.into() }),
        }
    }

    /// Says how long the log is now, in place: the directory is not this process's to write.
    pub(super) fn write(&mut self, head: &Head) -> Result<(), AuditError> {
        let written = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(&text(head)));
        written.map_err(|source| AuditError::Io { path: self.path.clone(), source })
    }

    /// Makes durable what was written.
    pub(super) fn sync(&self) -> Result<(), AuditError> {
        self.file.sync_all().map_err(|source| AuditError::Io { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn heads_are_read_as_they_are_written(lines: u64, last: [u8; 32], mac: [u8; 32]) {
            let head = Head { lines, last: last.into(), mac: mac.into() };
            let written = text(&head);
            prop_assert_eq!(written.len(), LENGTH);
            prop_assert_eq!(parse(&written), Some(head));
            prop_assert_eq!(parse(&written[..100]), None);
        }
    }
}
