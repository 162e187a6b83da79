//! Reading a log, and checking what it proves.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde_json::Value;

use super::chain::mac_of;
use super::head::{self, Head};
use super::key::{AuditKey, LineKey};
use super::{AuditError, Chain};

/// The longest line that is read back. A line holds the arguments of a call, which have their own limit.
const MAX_LINE: u64 = 1 << 30;

/// What a log is checked against, besides its own chain.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The key that it was kept with from its first line with a MAC on.
    pub key: Option<AuditKey>,
    /// Hashes of lines that were kept elsewhere, in hexadecimal: each must be in the chain.
    pub expect: Vec<String>,
}

/// What is known of a log that was checked and in which nothing is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedLog {
    /// How many lines it has.
    pub lines: u64,
    /// The hash of the last one (blake3, in hexadecimal), which the next line would name.
    pub head: String,
    /// The first line that has a MAC; none if none has.
    pub keyed_from: Option<u64>,
    /// The first line that the key proves, and with it all behind: the first with a MAC. The lines before were there, as they
    /// are, when that line was written. None without a key.
    pub proven_from: Option<u64>,
    /// How many lines the log had at least, by its head and the key: none of so many was cut off. None without a key.
    pub proven_lines: Option<u64>,
    /// The lines whose hashes were expected, in the order of [`CheckOptions::expect`].
    pub expected: Vec<u64>,
}

/// A log as far as it was read.
pub(super) struct Scan {
    pub(super) chain: Chain,
    /// Bytes of whole lines, and of a line that was not finished.
    pub(super) whole: u64,
    pub(super) torn: u64,
    pub(super) keyed_from: Option<u64>,
    /// That of the next line.
    pub(super) key: Option<LineKey>,
    head: Option<Head>,
    expect: Vec<(String, Option<u64>)>,
}

impl Scan {
    /// Reads a log to its end, or to a line that was not finished, and checks it.
    pub(super) fn read(
        path: &Path,
        file: &File,
        options: CheckOptions,
        take: &mut dyn FnMut(&Value),
    ) -> Result<Self, AuditError> {
        let CheckOptions { key, expect } = options;
        let mut scan = Self {
            chain: Chain::default(),
            whole: 0,
            torn: 0,
            keyed_from: None,
            key: key.map(LineKey::first),
            // Before the lines: of a log that grows meanwhile, it says no more than there is.
            head: head::read(path)?,
            expect: expect.into_iter().map(|hash| (hash, None)).collect(),
        };
        scan.compare(path)?;
        scan.lines(path, file, take)?;
        scan.end(path)?;
        Ok(scan)
    }

    fn lines(&mut self, path: &Path, file: &File, take: &mut dyn FnMut(&Value)) -> Result<(), AuditError> {
        let failed = |source| AuditError::Io { path: path.to_owned(), source };
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(failed)? as u64;
            let number = self.chain.lines() + 1;
            let altered = |problem| AuditError::Altered { path: path.to_owned(), line: number, problem };
            if line.last() != Some(&b'\n') {
                // Only what this log began to write is a torn line; anything else is somebody's file, or too long to be ours.
                let begins = format!("{{\"n\":{number},\"time\":\"");
                let compared = begins.len().min(line.len());
                if line[..compared] != begins.as_bytes()[..compared] || length == MAX_LINE {
                    return Err(altered("is no line of an audit log"));
                }
                self.torn = length;
                return Ok(());
            }
            line.pop();
            take(&self.line(&line).map_err(altered)?);
            self.whole += length;
            self.compare(path)?;
        }
    }

    /// Takes the next line.
    fn line(&mut self, line: &[u8]) -> Result<Value, &'static str> {
        let number = self.chain.lines() + 1;
        let mac = mac_of(line);
        match (&mac, &self.key) {
            (None, _) if self.keyed_from.is_some() => return Err("has no MAC, and lines before it have one"),
            (Some((text, mac)), Some(key)) if key.line(text) != *mac => {
                return Err(match self.keyed_from {
                    None => "has a MAC of another key, or was altered",
                    Some(_) => "has a wrong MAC",
                });
            }
            _ => {}
        }
        let value = self.chain.check(line)?;
        if mac.is_some() {
            self.keyed_from.get_or_insert(number);
            if let Some(key) = &mut self.key {
                key.advance();
            }
        }
        Ok(value)
    }

    /// Compares what is read so far with the head and with what is expected.
    fn compare(&mut self, path: &Path) -> Result<(), AuditError> {
        let hash = self.chain.hash();
        if !self.expect.is_empty() && self.chain.lines() > 0 {
            let digits = hash.to_hex();
            let here = self.expect.iter_mut().filter(|(expected, _)| expected.as_str() == digits.as_str());
            here.for_each(|(_, line)| *line = Some(self.chain.lines()));
        }
        let Some(head) = self.head.as_ref().filter(|head| head.lines == self.chain.lines()) else { return Ok(()) };
        let wrong = |problem| Err(AuditError::Head { path: head::path_of(path), problem });
        match &self.key {
            _ if head.last != *hash => wrong("names another last line: the log was altered, or the head"),
            Some(key) if head.mac != key.head(head.lines, &head.last) => {
                wrong("has a MAC of another key, or was altered")
            }
            _ => Ok(()),
        }
    }

    /// Checks what can only be told at the end.
    fn end(&self, path: &Path) -> Result<(), AuditError> {
        let lines = self.chain.lines();
        match &self.head {
            Some(head) if head.lines > lines => {
                return Err(AuditError::Cut { path: path.to_owned(), lines, known: head.lines });
            }
            None if self.key.is_some() && self.keyed_from.is_some() => {
                let problem = "is missing: whether the log was cut off cannot be told";
                return Err(AuditError::Head { path: head::path_of(path), problem });
            }
            _ => {}
        }
        match self.expect.iter().find(|(_, line)| line.is_none()) {
            Some((head, _)) => Err(AuditError::Unexpected { path: path.to_owned(), head: head.clone() }),
            None => Ok(()),
        }
    }

    /// What is known of the log. One whose last line was not finished is not whole.
    pub(super) fn checked(self, path: &Path) -> Result<CheckedLog, AuditError> {
        let lines = self.chain.lines();
        if self.torn > 0 {
            return Err(AuditError::Altered { path: path.to_owned(), line: lines + 1, problem: "has no end" });
        }
        let proven = self.key.is_some() && self.keyed_from.is_some();
        Ok(CheckedLog {
            lines,
            head: self.chain.hash().to_string(),
            keyed_from: self.keyed_from,
            proven_from: self.keyed_from.filter(|_| proven),
            proven_lines: self.head.filter(|_| proven).map(|head| head.lines),
            expected: self.expect.into_iter().filter_map(|(_, line)| line).collect(),
        })
    }
}
