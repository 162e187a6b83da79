//! An audit log in a file that one process writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde_json::Value;

use super::{Audit, AuditError, Chain, Event};

/// A log in a file that only this process writes. What was written survives the end of the process, however it ends; what
/// was synced, also a power cut. Cutting off the end leaves a valid chain, so whoever must notice that keeps the last hash
/// elsewhere.
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
}

/// The longest line that is read back. A line holds the arguments of a call, which have their own limit.
const MAX_LINE: u64 = 1 << 30;

impl AuditFile {
    /// Opens a log and goes on where it ends; makes it if it is not there, for this user alone.
    ///
    /// # Errors
    /// If it cannot be opened, another process writes it, or it was altered.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, AuditError> {
        let path = path.into();
        let failed = |source| AuditError::Io { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(AuditError::Busy { path }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let read = read(&path, &file, &mut |_| {})?;
        file.set_len(read.whole).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let tail = Mutex::new(Tail { file, chain: read.chain, durable: 0 });
        let log = Self { path, tail };
        if read.torn > 0 {
            log.write(&Event::Mended { bytes: read.torn })?;
        }
        Ok(log)
    }

    /// Checks the whole chain; the number of lines, and the hash that the next line would name.
    ///
    /// # Errors
    /// If it cannot be read, or where it was altered.
    pub fn verify(path: &Path) -> Result<(u64, String), AuditError> {
        events(path, &mut |_| {})
    }

    /// Hands out every event, as it was written, in order; what [`AuditFile::verify`] returns.
    ///
    /// # Errors
    /// As [`AuditFile::verify`], after the events before the place that was altered.
    pub fn read(path: &Path, take: &mut dyn FnMut(&Value)) -> Result<(u64, String), AuditError> {
        events(path, take)
    }
}

/// Hands out every event of a log that was not altered, as it was written; what [`AuditFile::verify`] returns.
pub(in crate::gate) fn events(path: &Path, take: &mut dyn FnMut(&Value)) -> Result<(u64, String), AuditError> {
    let file = File::open(path).map_err(|source| AuditError::Io { path: path.to_owned(), source })?;
    let read = read(path, &file, take)?;
    if read.torn > 0 {
        let line = read.chain.lines() + 1;
        return Err(AuditError::Altered { path: path.to_owned(), line, problem: "has no end" });
    }
    Ok((read.chain.lines(), read.chain.hash().to_string()))
}

impl Audit for AuditFile {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut text, next) = tail.chain.follow(event, SystemTime::now());
        text.push(b'\n');
        let failed = |source| AuditError::Io { path: self.path.clone(), source };
        let before = tail.file.metadata().map_err(failed)?.len();
        if let Err(source) = tail.file.write_all(&text) {
            // Half a line must not stand before the next one. If even that fails, opening the log removes it.
            let _ = tail.file.set_len(before);
            return Err(failed(source));
        }
        tail.chain = next;
        Ok(())
    }

    fn sync(&self) -> Result<(), AuditError> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = tail.chain.lines();
        if tail.durable < lines {
            tail.file.sync_data().map_err(|source| AuditError::Io { path: self.path.clone(), source })?;
            tail.durable = lines;
        }
        Ok(())
    }
}

/// What is in a log.
struct ReadLog {
    chain: Chain,
    /// Bytes of whole lines, and of a line that was not finished.
    whole: u64,
    torn: u64,
}

fn read(path: &Path, file: &File, take: &mut dyn FnMut(&Value)) -> Result<ReadLog, AuditError> {
    let failed = |source| AuditError::Io { path: path.to_owned(), source };
    let mut log = ReadLog { chain: Chain::default(), whole: 0, torn: 0 };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(failed)? as u64;
        let line_number = log.chain.lines() + 1;
        let altered = |problem| AuditError::Altered { path: path.to_owned(), line: line_number, problem };
        if line.last() != Some(&b'\n') {
            // Only what this log began to write is a torn line; anything else is somebody's file, or too long to be ours.
            let head = format!("{{\"n\":{line_number},\"time\":\"");
            let compared = head.len().min(line.len());
            if line[..compared] != head.as_bytes()[..compared] || length == MAX_LINE {
                return Err(altered("is no line of an audit log"));
            }
            log.torn = length;
            return Ok(log);
        }
        line.pop();
        take(&log.chain.check(&line).map_err(altered)?);
        log.whole += length;
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
