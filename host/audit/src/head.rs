//! The head of a log that is protected by a key: the number of its lines, in a file beside it.
//!
//! A hash chain reveals changed lines but not removed ones at its end. So a second file records the length of the log,
//! with a MAC by the key of the next line. That key is forgotten when the next line is written: nobody can compute the
//! head of a truncated log any more. The head is only written after its lines are durable, so that a crash never makes
//! it claim more lines than exist.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tollhouse_types::untrusted_file::{self, ReadError};

use super::AuditError;

/// Size of the file in bytes, the same for every head, so that a shorter head leaves no rest of a longer one.
const LENGTH: usize = 256;

/// The recorded length of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogHead {
    pub(super) lines: u64,
    /// Hash of the last line.
    pub(super) last: blake3::Hash,
    pub(super) mac: blake3::Hash,
}

/// The head in the form in which it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenHead {
    lines: u64,
    last: String,
    mac: String,
}

/// The head file of a log that is being written.
#[derive(Debug)]
pub(super) struct HeadFile {
    path: PathBuf,
    file: File,
}

/// Path of a log's head: beside the log, as `LOG.head`.
pub(super) fn path_of(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(".head");
    name.into()
}

/// Reads the head of a log; returns `None` if there is none.
///
/// # Errors
/// If it cannot be read, or is invalid.
pub(super) fn read(log: &Path) -> Result<Option<LogHead>, AuditError> {
    let path = path_of(log);
    let text = match untrusted_file::read_regular(&path, LENGTH as u64) {
        Ok(text) if text.is_empty() => return Ok(None),
        Ok(text) => text,
        Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(AuditError::Io { path, source: error.into() }),
    };
    match parse(&text) {
        Some(head) => Ok(Some(head)),
        None => Err(AuditError::Head { path, problem: "is damaged, so that it is unknown if the log was truncated" }),
    }
}

fn parse(text: &[u8]) -> Option<LogHead> {
    let written: WrittenHead = serde_json::from_slice(text).ok()?;
    let hash = |digits: &str| blake3::Hash::from_hex(digits).ok();
    Some(LogHead { lines: written.lines, last: hash(&written.last)?, mac: hash(&written.mac)? })
}

fn text(head: &LogHead) -> Vec<u8> {
    let written = WrittenHead { lines: head.lines, last: head.last.to_string(), mac: head.mac.to_string() };
    let mut text = serde_json::to_vec(&written).expect("it is plain data");
    text.resize(LENGTH - 1, b' ');
    text.push(b'\n');
    text
}

impl HeadFile {
    /// Opens the head of a log; creates it if it does not exist, readable by this user only.
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

    /// Writes the current length of the log, in place, since this process may not be allowed to write to the directory.
    pub(super) fn write(&mut self, head: &LogHead) -> Result<(), AuditError> {
        let written = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(&text(head)));
        written.map_err(|source| AuditError::Io { path: self.path.clone(), source })
    }

    /// Makes the written head durable.
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
            let head = LogHead { lines, last: last.into(), mac: mac.into() };
            let written = text(&head);
            prop_assert_eq!(written.len(), LENGTH);
            prop_assert_eq!(parse(&written), Some(head));
            prop_assert_eq!(parse(&written[..100]), None);
        }
    }
}
