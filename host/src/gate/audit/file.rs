//! An audit log in a file that one process writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde_json::Value;
use tollhouse_registry::untrusted_file;

use super::head::{Head, HeadFile};
use super::key::{AuditKey, LineKey};
use super::scan::{CheckOptions, CheckedLog, Scan};
use super::{Audit, AuditError, Chain, Event};

/// A log in a file that only this process writes. What was written survives the end of the process, however it ends; what
/// was synced, also a power cut.
///
/// Its lines are a chain, which shows what was changed by somebody who did not make the chain anew. With a key
/// ([`AuditFile::open_keyed`]) each line has a MAC, and `LOG.head` beside it says how long the log is: then nobody without
/// the key can change what is written or cut it off, also not who takes over this process.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    tail: Mutex<Tail>,
}

#[derive(Debug)]
struct Tail {
    file: File,
    chain: Chain,
    /// How many lines are known to be on the disk, whatever happens.
    durable: u64,
    keyed: Option<Keyed>,
}

/// Of a log that is kept with a key.
#[derive(Debug)]
struct Keyed {
    key: LineKey,
    head: HeadFile,
}

impl AuditFile {
    /// Opens a log and goes on where it ends; makes it if it is not there, for this user alone.
    ///
    /// # Errors
    /// If it cannot be opened, another process writes it, it was altered, or it is kept with a key.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, AuditError> {
        Self::open_with(path.into(), None)
    }

    /// As [`AuditFile::open`], of a log that is kept with a key, from now on if it was not before. The key is given whenever
    /// the log is opened. In this process it is forgotten when this returns: what stays is the key of the next line.
    ///
    /// # Errors
    /// As [`AuditFile::open`]; if the log was kept with another key, was cut off, or has lost its head.
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
        let scan = Scan::read(&path, &file, CheckOptions { key, ..CheckOptions::default() }, &mut |_| {})?;
        if scan.keyed_from.is_some() && scan.key.is_none() {
            return Err(AuditError::Keyed { path });
        }
        file.set_len(scan.whole).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut tail = Tail { file, chain: scan.chain, durable: 0, keyed: None };
        if let Some(key) = scan.key {
            // From its first line with a MAC on, a log has a head.
            tail.keyed = Some(Keyed { key, head: HeadFile::open(&path)? });
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

    /// Where the head of a log is that is kept with a key.
    #[must_use]
    pub fn head_path(path: &Path) -> PathBuf {
        super::head::path_of(path)
    }

    /// Checks the whole chain; the number of lines, and the hash that the next line would name.
    ///
    /// # Errors
    /// If it cannot be read, or where it was altered.
    pub fn verify(path: &Path) -> Result<(u64, String), AuditError> {
        events(path, &mut |_| {})
    }

    /// Checks the whole log against its key and what is expected of it: what that proves.
    ///
    /// # Errors
    /// If it cannot be read; the first line that is wrong; if it was cut off, or has no line that is expected.
    pub fn check(path: &Path, options: CheckOptions) -> Result<CheckedLog, AuditError> {
        scan(path, options, &mut |_| {})?.checked(path)
    }

    /// Hands out every event, as it was written, in order; what [`AuditFile::verify`] returns.
    ///
    /// # Errors
    /// As [`AuditFile::verify`], after the events before the place that was altered.
    pub fn read(path: &Path, take: &mut dyn FnMut(&Value)) -> Result<(u64, String), AuditError> {
        events(path, take)
    }

    fn sync_tail(&self, tail: &mut Tail) -> Result<(), AuditError> {
        if tail.durable < tail.chain.lines() {
            tail.make_durable().map_err(|source| AuditError::Io { path: self.path.clone(), source })?;
            tail.write_head()?;
        }
        Ok(())
    }
}

impl Tail {
    fn make_durable(&mut self) -> std::io::Result<()> {
        self.file.sync_data()?;
        self.durable = self.chain.lines();
        Ok(())
    }

    /// Says how long the log is, if it is kept with a key. All of it is durable: see `head`.
    fn write_head(&mut self) -> Result<(), AuditError> {
        let Some(Keyed { key, head }) = &mut self.keyed else { return Ok(()) };
        let (lines, last) = (self.chain.lines(), *self.chain.hash());
        head.write(&Head { lines, last, mac: key.head(lines, &last) })
    }
}

fn scan(path: &Path, options: CheckOptions, take: &mut dyn FnMut(&Value)) -> Result<Scan, AuditError> {
    let file = untrusted_file::open_named(path);
    let file = file.map_err(|error| AuditError::Io { path: path.to_owned(), source: error.into() })?;
    Scan::read(path, &file, options, take)
}

/// Hands out every event of a log that was not altered, as it was written; what [`AuditFile::verify`] returns.
pub(in crate::gate) fn events(path: &Path, take: &mut dyn FnMut(&Value)) -> Result<(u64, String), AuditError> {
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
            // Half a line must not stand before the next one. If even that fails, opening the log removes it.
            let _ = tail.file.set_len(before);
            return Err(failed(source));
        }
        tail.chain = next;
        if let Some(keyed) = &mut tail.keyed {
            keyed.key.advance();
            if let Event::Ended { .. } = event {
                // Behind a run nothing is synced any more, and its last lines are to be proven too.
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
    fn a_log_goes_on_and_every_change_shows() {
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
    fn a_line_cut_off_by_a_crash_is_removed_and_that_is_said() {
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
    fn a_file_that_is_no_log_is_left_as_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("notes.txt");
        for text in ["not a log", "{\"n\":2,\"time\":\"", "{\"n\": 1}", "two lines\nof text"] {
            std::fs::write(&path, text).expect("it is written");
            assert!(AuditFile::open(&path).is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
        }
    }

    #[test]
    fn one_process_writes() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("audit.jsonl");
        let first = AuditFile::open(&path).expect("it opens");
        assert!(matches!(AuditFile::open(&path), Err(AuditError::Busy { .. })));
        drop(first);
        assert!(AuditFile::open(&path).is_ok());
    }
}
