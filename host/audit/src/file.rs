//! An audit log in a file that only one process writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde_json::Value;
use tollhouse_types::untrusted_file;

use super::head::{HeadFile, LogHead};
use super::key::{AuditKey, LineKey};
use super::verification::{CheckOptions, CheckedLog, LogScan};
use super::{Audit, AuditError, Chain, Event};

/// An audit log in a file that only this process writes. Written lines survive the end of the process, however it ends;
/// synced lines survive a power failure too.
///
/// Its lines form a hash chain, which reveals changes unless the rest of the chain is rewritten too. With a key
/// ([`AuditFile::open_keyed`]) each line has a MAC, and `LOG.head` beside it records the length of the log: then nobody
/// without the key can change written lines or truncate the log, not even an attacker who takes over this process.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    tail: Mutex<LogTail>,
}

#[derive(Debug)]
struct LogTail {
    file: File,
    chain: Chain,
    /// Number of lines known to be on the disk.
    durable: u64,
    keyed: Option<KeyedLog>,
}

/// State of a log that is protected by a key.
#[derive(Debug)]
struct KeyedLog {
    key: LineKey,
    head: HeadFile,
}

impl AuditFile {
    /// Opens a log and continues at its end; creates it if it does not exist, readable by this user only.
    ///
    /// # Errors
    /// If it cannot be opened, another process writes it, it was altered, or it is protected by a key.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, AuditError> {
        Self::open_with(path.into(), None)
    }

    /// Opens a log that is protected by a key, from now on if it was not before, like [`AuditFile::open`]. The key is
    /// required whenever the log is opened. This process forgets it when this returns, and keeps only the key of the
    /// next line.
    ///
    /// # Errors
    /// Those of [`AuditFile::open`]; if the log was protected by another key, was truncated, or has lost its head.
    pub fn open_keyed(path: impl Into<PathBuf>, key: AuditKey) -> Result<Self, AuditError> {
        Self::open_with(path.into(), Some(key))
    }

    fn open_with(path: PathBuf, key: Option<AuditKey>) -> Result<Self, AuditError> {
        let failed = |source| AuditError::Io { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = untrusted_file::open_regular_with(&path, &options).map_err(|error| failed(error.into()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(AuditError::Busy { path }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let scan = LogScan::read(&path, &file, CheckOptions { key, ..CheckOptions::default() }, &mut |_| {})?;
        if scan.keyed_from.is_some() && scan.key.is_none() {
            return Err(AuditError::Keyed { path });
        }
        file.set_len(scan.whole).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut tail = LogTail { file, chain: scan.chain, durable: 0, keyed: None };
        if let Some(key) = scan.key {
            // A log has a head from its first line with a MAC on.
            tail.keyed = Some(KeyedLog { key, head: HeadFile::open(&path)? });
            tail.make_durable().map_err(failed)?;
            tail.write_head()?;
            tail.keyed.as_ref().map_or(Ok(()), |keyed| keyed.head.sync())?;
        }
        let log = Self { path, tail: Mutex::new(tail) };
        if scan.torn > 0 {
            log.write(&Event::Mended { bytes: scan.torn })?;
        }
        Ok(log)
    }

    /// Path of the head file of a log that is protected by a key.
    #[must_use]
    pub fn head_path(path: &Path) -> PathBuf {
        super::head::path_of(path)
    }

    /// Verifies the whole chain, and returns the number of lines and the hash that the next line would contain.
    ///
    /// # Errors
    /// If the log cannot be read, or where it was altered.
    pub fn verify(path: &Path) -> Result<(u64, String), AuditError> {
        events(path, &mut |_| {})
    }

    /// Verifies the whole log against its key and expectations, and returns what that proves.
    ///
    /// # Errors
    /// If it cannot be read; the first wrong line; if it was truncated, or does not contain an expected line.
    pub fn check(path: &Path, options: CheckOptions) -> Result<CheckedLog, AuditError> {
        scan(path, options, &mut |_| {})?.checked(path)
    }

    /// Passes every event, as it was written, to `take`, in order; returns the same as [`AuditFile::verify`].
    ///
    /// # Errors
    /// Those of [`AuditFile::verify`], after the events before the altered line.
    pub fn read(path: &Path, take: &mut dyn FnMut(&Value)) -> Result<(u64, String), AuditError> {
        events(path, take)
    }

    fn sync_tail(&self, tail: &mut LogTail) -> Result<(), AuditError> {
        if tail.durable < tail.chain.lines() {
            tail.make_durable().map_err(|source| AuditError::Io { path: self.path.clone(), source })?;
            tail.write_head()?;
        }
        Ok(())
    }
}

impl LogTail {
    fn make_durable(&mut self) -> std::io::Result<()> {
        self.file.sync_data()?;
        self.durable = self.chain.lines();
        Ok(())
    }

    /// Writes the length of the log to its head, if it is protected by a key. All its lines are durable: see `head`.
    fn write_head(&mut self) -> Result<(), AuditError> {
        let Some(KeyedLog { key, head }) = &mut self.keyed else { return Ok(()) };
        let (lines, last) = (self.chain.lines(), *self.chain.hash());
        head.write(&LogHead { lines, last, mac: key.head(lines, &last) })
    }
}

fn scan(path: &Path, options: CheckOptions, take: &mut dyn FnMut(&Value)) -> Result<LogScan, AuditError> {
    let file = untrusted_file::open_named(path);
    let file = file.map_err(|error| AuditError::Io { path: path.to_owned(), source: error.into() })?;
    LogScan::read(path, &file, options, take)
}

/// Passes every event of an unaltered log, as it was written, to `take`; returns the same as [`AuditFile::verify`].
pub(crate) fn events(path: &Path, take: &mut dyn FnMut(&Value)) -> Result<(u64, String), AuditError> {
    let checked = scan(path, CheckOptions::default(), take)?.checked(path)?;
    Ok((checked.lines, checked.head))
}

impl Audit for AuditFile {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SystemTime::now();
        let (mut text, next) = match &tail.keyed {
            Some(keyed) => tail.chain.follow_with(event, now, &keyed.key),
            None => tail.chain.follow(event, now),
        };
        text.push(b'\n');
        let failed = |source| AuditError::Io { path: self.path.clone(), source };
        let before = tail.file.metadata().map_err(failed)?.len();
        if let Err(source) = tail.file.write_all(&text) {
            // An incomplete line must not precede the next one. If even this fails, reopening the log removes the line.
            let _ = tail.file.set_len(before);
            return Err(failed(source));
        }
        tail.chain = next;
        if let Some(keyed) = &mut tail.keyed {
            keyed.key.advance();
            if let Event::Ended { .. } = event {
                // Nothing is synced after the end of a run, but its last lines must be provable too.
                return self.sync_tail(&mut tail);
            }
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), AuditError> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        self.sync_tail(&mut tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(path: &Path, count: u64) {
        let log = AuditFile::open(path).expect("it opens");
        for run in 0..count {
            log.write(&Event::Ended { run, status: "completed", error: None }).expect("it is written");
        }
    }

    #[test]
    fn log_reopened_is_continued_and_altered_log_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("audit.jsonl");
        events(&path, 3);
        events(&path, 2);
        assert_eq!(AuditFile::verify(&path).expect("it is whole").0, 5);
        let text = std::fs::read_to_string(&path).expect("it is there");
        let lines: Vec<&str> = text.lines().collect();
        let altered = [
            text.replacen("completed", "failed", 1),
            [lines[0], lines[2], lines[1], lines[3], lines[4], ""].join("\n"),
            [lines[0], lines[1], lines[3], lines[4], ""].join("\n"),
            [lines[1], lines[2], ""].join("\n"),
            format!("{text}{}\n", lines[4]),
            format!("{text}not json\n"),
        ];
        for altered in altered {
            std::fs::write(&path, &altered).expect("it is written");
            assert!(matches!(AuditFile::verify(&path), Err(AuditError::Altered { .. })), "{altered}");
            assert!(AuditFile::open(&path).is_err(), "{altered}");
        }
    }

    #[test]
    fn log_line_cut_off_by_crash_is_removed_and_recorded() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("audit.jsonl");
        events(&path, 2);
        let mut bytes = std::fs::read(&path).expect("it is there");
        bytes.truncate(bytes.len() - 10);
        std::fs::write(&path, &bytes).expect("it is written");
        assert!(AuditFile::verify(&path).is_err());
        events(&path, 1);
        assert_eq!(AuditFile::verify(&path).expect("it was mended").0, 3);
        assert!(std::fs::read_to_string(&path).expect("it is there").contains("\"event\":\"mended\",\"bytes\":"));
    }

    #[test]
    fn file_that_is_no_log_is_refused_and_unchanged() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("notes.txt");
        for text in ["not a log", "{\"n\":2,\"time\":\"", "{\"n\": 1}", "two lines\nof text"] {
            std::fs::write(&path, text).expect("it is written");
            assert!(AuditFile::open(&path).is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
        }
    }

    #[test]
    fn log_opened_by_another_writer_is_busy() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("audit.jsonl");
        let first = AuditFile::open(&path).expect("it opens");
        assert!(matches!(AuditFile::open(&path), Err(AuditError::Busy { .. })));
        drop(first);
        assert!(AuditFile::open(&path).is_ok());
    }
}
