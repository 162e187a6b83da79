//! Validation of a session's records, each by itself and together. They may come from a stranger.

use super::record::{Head, RunRecord};
use super::record_reader::damaged;
use super::{At, Point, RecordStatus, SessionId, Sessions, SessionsError, record_key, revision};
use crate::guest::Language;
use crate::session::journal::{self, JournalEntry, ReplayError};
use crate::store::Record;
use crate::tool::keyvalue_size;

/// Length of the longest text in a run's record, in bytes: twice what is ever written.
const MAX_TEXT: usize = 2048;

/// Most commits of a valid session: it can make as many again.
const MAX_COMMITS: u64 = 1 << 62;

/// Most bytes of balances, and of entries that tools have stored: whoever opens the session has them in memory.
const MAX_HELD: usize = 64 << 20;

/// Checks the records of a session one by one, in their order.
pub(super) struct RecordChecker<'s> {
    sessions: &'s Sessions,
    id: &'s SessionId,
    /// Number of runs seen, all from 0 on.
    runs: u64,
    /// Last run of which the ledger has a call.
    charged: u64,
    /// Number of log lines seen, all from 1 on.
    lines: u64,
    balances: usize,
    stored: usize,
}

impl<'s> RecordChecker<'s> {
    pub(super) fn new(sessions: &'s Sessions, id: &'s SessionId) -> Self {
        Self { sessions, id, runs: 0, charged: 0, lines: 0, balances: 0, stored: 0 }
    }

    fn bad<T>(&self, what: impl AsRef<str>) -> Result<T, SessionsError> {
        Err(damaged(self.id, what.as_ref()))
    }

    /// Checks the head by itself.
    pub(super) fn head(&self, head: &Head) -> Result<(), SessionsError> {
        let point = Point { session: self.id.clone(), at: At::Head };
        let usage = self.sessions.reader().files(&point)?.usage();
        let numbers = &head.running;
        let left = self.sessions.record_reader().run(self.id, head.left_by)?;
        match () {
            () if left.snapshot != Some(head.snapshot) => {
                self.bad(format!("its files differ from those that run {} left", head.left_by))
            }
            () if left.states != head.states => {
                self.bad(format!("its state differs from that of run {}", head.left_by))
            }
            () if (head.bytes, head.entries) != (usage.bytes, usage.entries) => {
                self.bad("the number or the size of its files is wrong")
            }
            () if head.commits > MAX_COMMITS => self.bad("the number of its commits is too large"),
            () if !numbers.is_sorted_by(|a, b| a < b) || numbers.iter().any(|run| *run == 0 || *run > head.runs) => {
                self.bad("its list of active runs names other runs")
            }
            () if head.unfinished.is_some_and(|run| run == 0 || run > head.runs) => {
                self.bad("its unfinished run is another one")
            }
            () => Ok(()),
        }
    }

    /// Checks the next record.
    pub(super) fn record(&mut self, (name, value): &Record) -> Result<(), SessionsError> {
        let (kind, rest) = (name[0], &name[1 + self.id.as_str().len()..]);
        // Suffix that distinguishes several records of a kind, behind the zero.
        let rest = rest.get(1..).unwrap_or_default();
        let number = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).map(u64::from_be_bytes).ok();
        match kind {
            b'O' if value.len() != 8 => self.bad("its epoch"),
            b'R' if number(rest) != Some(self.runs) => self.bad(format!("run {} has no record", self.runs)),
            b'R' => {
                self.run(value)?;
                self.runs += 1;
                Ok(())
            }
            b'A' if number(rest) != Some(self.lines + 1) => self.bad(format!("line {} of its log", self.lines + 1)),
            b'A' => {
                self.lines += 1;
                Ok(())
            }
            b'T' => self.label(rest, number(value)),
            b'L' | b'C' if rest.len() != 32 => self.bad("the key of a balance"),
            b'L' | b'C' => {
                self.balances += name.len() + self.sessions.record_reader().value(self.id, value)?.len();
                if self.balances > MAX_HELD { self.bad("it has too many balances") } else { Ok(()) }
            }
            b'E' if rest.len() != 16 => self.bad("the key of an entry of its ledger"),
            b'E' => {
                self.charged = number(&rest[..8]).unwrap_or(u64::MAX).max(self.charged);
                Ok(())
            }
            b'J' if rest.len() != 16 => self.bad("the key of a journal"),
            b'J' => match read_journal(self.sessions.record_reader().value(self.id, value)?) {
                Ok(()) => Ok(()),
                Err(error) => self.bad(format!("a journal: {error}")),
            },
            b'I' if rest.len() != 8 => self.bad("the key of a heap"),
            b'I' if record_key::decode_heap(value).is_none() => self.bad("the heap of a run"),
            b'K' => self.stored(name, value),
            _ => Ok(()),
        }
    }

    fn run(&self, value: &[u8]) -> Result<(), SessionsError> {
        let read = serde_json::from_slice::<RunRecord>(value);
        let run = read.or_else(|error| self.bad(format!("run {}: {error}", self.runs)))?;
        let plain = |text: &str| text.len() <= MAX_TEXT && !text.contains(char::is_control);
        match () {
            () if (run.status == RecordStatus::Created) != (self.runs == 0) => {
                self.bad(format!("run {} has an invalid status", self.runs))
            }
            () if !plain(&run.script) || !run.error.as_deref().is_none_or(plain) => {
                self.bad(format!("run {} has an invalid text", self.runs))
            }
            () if !run.states.keys().all(|word| Language::ALL.iter().any(|language| language.word() == word)) => {
                self.bad(format!("run {} has a state of an unknown language", self.runs))
            }
            () if !run.hash.is_empty() && blake3::Hash::from_hex(&run.hash).is_err() => {
                self.bad(format!("run {} has an invalid hash", self.runs))
            }
            () => Ok(()),
        }
    }

    fn label(&self, name: &[u8], run: Option<u64>) -> Result<(), SessionsError> {
        let Some(label) = std::str::from_utf8(name).ok().filter(|name| revision::is_label(name)) else {
            return self.bad(format!("`{}` is not a label", name.escape_ascii()));
        };
        let left =
            run.map(|run| self.sessions.record_reader().run(self.id, run)).transpose()?.and_then(|run| run.snapshot);
        if left.is_some() { Ok(()) } else { self.bad(format!("the label `{label}` names no files")) }
    }

    fn stored(&mut self, name: &[u8], value: &[u8]) -> Result<(), SessionsError> {
        let value = self.sessions.record_reader().value(self.id, value)?;
        match record_key::read_keyvalue(self.id, name).and_then(|key| keyvalue_size(&key, value.len())) {
            Some(size) => self.stored += size,
            None => return self.bad("an entry of `wasi:keyvalue`"),
        }
        if self.stored > MAX_HELD { self.bad("it has too many entries of `wasi:keyvalue`") } else { Ok(()) }
    }

    /// Checks the totals: `before` is the head that was read first, and `after` one that was read now.
    pub(super) fn all(&self, before: &Head, after: &Head) -> Result<(), SessionsError> {
        let within = |least: u64, number: u64, most: u64| least <= number && number <= most;
        match () {
            () if !within(before.runs, self.runs.saturating_sub(1), after.runs) => {
                self.bad("the number of its runs is wrong")
            }
            () if self.charged > after.runs => self.bad("its ledger names a run that does not exist"),
            () if !within(before.lines, self.lines, after.lines) => self.bad("the number of lines in its log is wrong"),
            () => Ok(()),
        }
    }
}

/// Checks that a part of a journal can be read, with its answers.
fn read_journal(part: Vec<u8>) -> Result<(), ReplayError> {
    for entry in journal::decode(&part.into())? {
        if let JournalEntry::Delivered { answer: Some(answer), .. } = entry {
            answer.edits()?;
        }
    }
    Ok(())
}
