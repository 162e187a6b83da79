//! The audit log: every decision and every call, as JSON lines, each of which names the hash of the one before.
//!
//! A line once written cannot be changed, moved or left out without breaking the chain ([`AuditFile::verify`]). Cutting
//! off the end leaves a valid chain, so whoever must notice that keeps the last hash elsewhere. Guests cannot reach it: it
//! is no file of the session.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;

use crate::error::ErrorKind;

/// Something that happened.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event<'a> {
    /// A run began.
    Started {
        /// Its number in its session.
        run: u64,
        /// The script's name.
        script: &'a str,
        /// blake3 of the script, in hexadecimal.
        hash: &'a str,
    },
    /// A call was admitted. It is about to start.
    Admitted {
        /// The run.
        run: u64,
        /// The call's number in it.
        seq: u64,
        /// The call that it is part of, if a tool made it.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<u64>,
        /// The canonical method.
        method: &'a str,
        /// The canonical arguments.
        arguments: &'a Value,
        /// The grant that was debited.
        grant: &'a str,
    },
    /// A call was refused. Nothing ran and nothing was spent.
    Denied {
        /// The run.
        run: u64,
        /// The call's number in it.
        seq: u64,
        /// The call that it is part of, if a tool made it.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<u64>,
        /// The method that was asked for.
        method: &'a str,
        /// The arguments as far as they were understood.
        arguments: &'a Value,
        /// The nearest grant.
        grant: Option<&'a str>,
        /// What sort of refusal: `capability`, `argument`, `approval`, `limit`.
        kind: ErrorKind,
        /// What was missing: the clause, the budget, the consent.
        reason: &'a str,
    },
    /// What a tool wrote to its standard output or error.
    Said {
        /// The run.
        run: u64,
        /// The call.
        seq: u64,
        /// `stdout` or `stderr`.
        stream: &'a str,
        /// The text, up to a limit.
        text: &'a str,
    },
    /// A tool makes a request by `wasi:http`.
    Requested {
        /// The run.
        run: u64,
        /// The call.
        seq: u64,
        /// The method of HTTP.
        method: &'a str,
        /// Where to, without the query.
        url: &'a str,
        /// Why it was not sent. None: it was.
        refused: Option<&'a str>,
    },
    /// A call ended.
    Settled {
        /// The run.
        run: u64,
        /// The call.
        seq: u64,
        /// How.
        outcome: super::CallOutcome,
        /// How long it took, in microseconds.
        micros: u64,
        /// Why it failed.
        error: Option<&'a str>,
    },
    /// A run ended.
    Ended {
        /// The run.
        run: u64,
        /// In one word.
        status: &'a str,
        /// Why it failed; a limit is named here.
        error: Option<&'a str>,
    },
    /// The last line had been cut off in the middle, by a crash, and was removed.
    Mended {
        /// How many bytes it had.
        bytes: u64,
    },
}

/// Why the log cannot be written or trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file system refused.
    #[error("audit log `{}`", path.display())]
    Io {
        /// The log.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another process writes it.
    #[error("audit log `{}` is being written by another process", path.display())]
    Busy {
        /// The log.
        path: PathBuf,
    },
    /// It was altered.
    #[error("audit log `{}` was altered: line {line} {problem}", path.display())]
    Altered {
        /// The log.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What does not fit.
        problem: &'static str,
    },
}

/// Takes events, in order, whole or not at all.
pub trait Audit: Send + Sync {
    /// Writes one event.
    ///
    /// # Errors
    /// If it is not written. A call whose admission is not written does not start.
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError>;
}

/// No log at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nowhere;

impl Audit for Nowhere {
    fn write(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

/// Writes down what happens in one call.
#[derive(Clone)]
pub(crate) struct Witness {
    audit: Arc<dyn Audit>,
    run: u64,
    seq: u64,
}

impl Witness {
    pub(crate) fn new(audit: &Arc<dyn Audit>, run: u64, seq: u64) -> Self {
        Self { audit: Arc::clone(audit), run, seq }
    }

    /// The tool wrote this. That it cannot be logged is no reason to fail the call.
    pub(crate) fn said(&self, stream: &str, text: &str) {
        let _ = self.audit.write(&Event::Said { run: self.run, seq: self.seq, stream, text });
    }

    /// The tool makes a request. False if that cannot be logged: then it must not be sent.
    pub(crate) fn requested(&self, method: &str, url: &str, refused: Option<&str>) -> bool {
        self.audit.write(&Event::Requested { run: self.run, seq: self.seq, method, url, refused }).is_ok()
    }
}

/// A log in a file that only this process writes. What was written survives the end of the process, however it ends.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    tail: Mutex<Tail>,
}

#[derive(Debug)]
struct Tail {
    file: File,
    lines: u64,
    hash: blake3::Hash,
}

/// What the first line names as the one before.
const NOTHING: [u8; 32] = [0; 32];

/// The longest line that is read back. A line holds the arguments of a call, which have their own limit.
const MAX_LINE: u64 = 1 << 30;

/// A line as it is written.
#[derive(Serialize)]
struct Line<'a> {
    n: u64,
    time: String,
    #[serde(flatten)]
    event: &'a Event<'a>,
    prev: String,
}

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
        let tail = Mutex::new(Tail { file, lines: read.lines, hash: read.hash });
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
pub(super) fn events(path: &Path, take: &mut dyn FnMut(&Value)) -> Result<(u64, String), AuditError> {
    let file = File::open(path).map_err(|source| AuditError::Io { path: path.to_owned(), source })?;
    let read = read(path, &file, take)?;
    if read.torn > 0 {
        let line = read.lines + 1;
        return Err(AuditError::Altered { path: path.to_owned(), line, problem: "has no end" });
    }
    Ok((read.lines, read.hash.to_hex().to_string()))
}

impl Audit for AuditFile {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let time = jiff::Timestamp::try_from(SystemTime::now()).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string();
        let line = Line { n: tail.lines + 1, time, event, prev: tail.hash.to_hex().to_string() };
        let mut text = serde_json::to_vec(&line).expect("an event is plain data");
        let hash = blake3::hash(&text);
        text.push(b'\n');
        let failed = |source| AuditError::Io { path: self.path.clone(), source };
        let before = tail.file.metadata().map_err(failed)?.len();
        if let Err(source) = tail.file.write_all(&text) {
            // Half a line must not stand before the next one. If even that fails, opening the log removes it.
            let _ = tail.file.set_len(before);
            return Err(failed(source));
        }
        tail.lines += 1;
        tail.hash = hash;
        Ok(())
    }
}

/// What is in a log.
struct ReadLog {
    lines: u64,
    hash: blake3::Hash,
    /// Bytes of whole lines, and of a line that was not finished.
    whole: u64,
    torn: u64,
}

fn read(path: &Path, file: &File, take: &mut dyn FnMut(&Value)) -> Result<ReadLog, AuditError> {
    let failed = |source| AuditError::Io { path: path.to_owned(), source };
    let mut log = ReadLog { lines: 0, hash: NOTHING.into(), whole: 0, torn: 0 };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(failed)? as u64;
        let altered = |problem| AuditError::Altered { path: path.to_owned(), line: log.lines + 1, problem };
        if line.last() != Some(&b'\n') {
            // Only what this log began to write is a torn line; anything else is somebody's file, or too long to be ours.
            let head = format!("{{\"n\":{},\"time\":\"", log.lines + 1);
            let compared = head.len().min(line.len());
            if line[..compared] != head.as_bytes()[..compared] || length == MAX_LINE {
                return Err(altered("is no line of an audit log"));
            }
            log.torn = length;
            return Ok(log);
        }
        line.pop();
        let value: Value = serde_json::from_slice(&line).map_err(|_| altered("is no JSON"))?;
        if value["prev"].as_str() != Some(log.hash.to_hex().as_str()) {
            return Err(altered("does not name the line before it"));
        }
        if value["n"].as_u64() != Some(log.lines + 1) {
            return Err(altered("has another number"));
        }
        take(&value);
        log.hash = blake3::hash(&line);
        log.lines += 1;
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
