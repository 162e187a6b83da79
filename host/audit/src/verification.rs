//! Reads a log, and verifies what it proves.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde_json::Value;

use super::hash_chain::mac_of;
use super::head::{self, LogHead};
use super::key::{AuditKey, LineKey};
use super::{AuditError, Chain};

/// Maximum length of a line that is read. A line contains the arguments of a call, which have their own limit.
const MAX_LINE: u64 = 1 << 30;

/// Expectations that a log is verified against, besides its own chain.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Key of the log, from its first line with a MAC on.
    pub key: Option<AuditKey>,
    /// Hashes of lines that were kept elsewhere, in hexadecimal: each must occur in the chain.
    pub expect: Vec<String>,
}

/// The result of a successful verification of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedLog {
    /// Number of lines.
    pub lines: u64,
    /// Hash of the last line (blake3, in hexadecimal), which the next line would contain.
    pub head: String,
    /// Number of the first line with a MAC; `None` if there is none.
    pub keyed_from: Option<u64>,
    /// Number of the first line that the key proves, together with all later ones: the first with a MAC. The earlier
    /// lines existed unchanged when that line was written. `None` without a key.
    pub proven_from: Option<u64>,
    /// Minimum number of lines that the log has had, proved by its head and the key: none of these was removed. `None`
    /// without a key.
    pub proven_lines: Option<u64>,
    /// Numbers of the lines whose hashes were expected, in the order of [`CheckOptions::expect`].
    pub expected: Vec<u64>,
}

/// State of reading a log.
pub(super) struct LogScan {
    pub(super) chain: Chain,
    /// Bytes of complete lines, and of an incomplete one.
    pub(super) whole: u64,
    pub(super) torn: u64,
    pub(super) keyed_from: Option<u64>,
    /// Key of the next line.
    pub(super) key: Option<LineKey>,
    head: Option<LogHead>,
    expect: Vec<(String, Option<u64>)>,
}

impl LogScan {
    /// Reads a log to its end, or to an incomplete line, and verifies it.
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
            // Read before the lines: if the log grows meanwhile, the head claims no more than there is.
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
                // Only the beginning of a line of this log counts as an incomplete line; anything else is another kind
                // of file, or too long for a line.
                let begins = format!("{{\"n\":{number},\"time\":\"");
                let compared = begins.len().min(line.len());
                if line[..compared] != begins.as_bytes()[..compared] || length == MAX_LINE {
                    return Err(altered("is not a line of an audit log"));
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

    /// Processes the next line.
    fn line(&mut self, line: &[u8]) -> Result<Value, &'static str> {
        let number = self.chain.lines() + 1;
        let mac = mac_of(line);
        match (&mac, &self.key) {
            (None, _) if self.keyed_from.is_some() => return Err("has no MAC, but an earlier line has one"),
            (Some((text, mac)), Some(key)) if key.line(text) != *mac => {
                return Err(match self.keyed_from {
                    None => "has a MAC by another key, or was altered",
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

    /// Compares the lines read so far with the head and with the expected hashes.
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
            _ if head.last != *hash => wrong("records another last line: the log or the head was altered"),
            Some(key) if head.mac != key.head(head.lines, &head.last) => {
                wrong("has a MAC by another key, or was altered")
            }
            _ => Ok(()),
        }
    }

    /// Performs the checks that are only possible at the end.
    fn end(&self, path: &Path) -> Result<(), AuditError> {
        let lines = self.chain.lines();
        match &self.head {
            Some(head) if head.lines > lines => {
                return Err(AuditError::Cut { path: path.to_owned(), lines, known: head.lines });
            }
            None if self.key.is_some() && self.keyed_from.is_some() => {
                let problem = "is missing, so that it is unknown if the log was truncated";
                return Err(AuditError::Head { path: head::path_of(path), problem });
            }
            _ => {}
        }
        match self.expect.iter().find(|(_, line)| line.is_none()) {
            Some((head, _)) => Err(AuditError::Unexpected { path: path.to_owned(), head: head.clone() }),
            None => Ok(()),
        }
    }

    /// Returns the result of the verification. A log with an incomplete last line fails.
    pub(super) fn checked(self, path: &Path) -> Result<CheckedLog, AuditError> {
        let lines = self.chain.lines();
        if self.torn > 0 {
            return Err(AuditError::Altered { path: path.to_owned(), line: lines + 1, problem: "is incomplete" });
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
