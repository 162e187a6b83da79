//! Queries of sessions. They need no lock: each reads what some commit left.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::record::{Balance, Created, Head, LogPosition, RunRecord, States};
use super::shared_budgets::FamilyId;
use super::{At, Point, RecordStatus, SessionId, Sessions, SessionsError, record_key};
use crate::capability::Policy;
use crate::gate::{Chain, LoggedEvent};
use crate::ledger::Used;
use crate::store::{BlobSource, Record, StoreError};
use crate::tool::{EntryKey, Lock, nearest};
use crate::vfs::{Limits, SnapshotId, Tree};

/// Number of records that are read at once.
const PAGE: usize = 500;

/// Summary of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shown {
    /// Name of the session.
    pub session: SessionId,
    /// Properties that were fixed at its creation.
    pub created: Created,
    /// Current state.
    pub head: Head,
    /// True if a run of the session is active, in whatever process.
    pub busy: bool,
    /// Number of other sessions that share its budgets.
    pub shared_with: u64,
}

/// Line of a session's log.
pub struct LogLine {
    /// Text of the line, as it was written.
    pub text: Vec<u8>,
    /// Parsed event.
    pub event: Value,
}

impl Sessions {
    /// Lists the names of all sessions, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn list(&self) -> Result<Vec<SessionId>, SessionsError> {
        let mut found = Vec::new();
        self.for_each_record(b"S", |(name, _)| {
            let id = std::str::from_utf8(&name[1..]).ok().and_then(|name| name.parse().ok());
            found.push(id.ok_or_else(|| StoreError::Damaged("a session has no name".to_owned()))?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns true if there is a session with this name.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn contains(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.records().get(&record_key::single(b'S', id))?.is_some())
    }

    /// Returns the summary of a session.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn show(&self, id: &SessionId) -> Result<Shown, SessionsError> {
        let (created, head) = (self.created(id)?, self.head(id)?);
        let busy = !head.running.is_empty() && self.0.locks.is_taken(id)?;
        let family = FamilyId::of(id, &created)?;
        let shared_with = self.families().record(id, family)?.map_or(0, |founded| founded.others());
        Ok(Shown { session: id.clone(), created, head, busy, shared_with })
    }

    /// Returns the session's runs, and its changes without a run, by number. An active run has the number of calls that
    /// it made so far, and an interrupted one those that it had made. A run whose process died is `interrupted`, even
    /// before that is on record.
    ///
    /// # Errors
    /// If there is no such session, or they cannot be read.
    pub fn runs(&self, id: &SessionId) -> Result<Vec<(u64, RunRecord)>, SessionsError> {
        self.created(id)?;
        let mut runs = self.run_records(id)?;
        let running = |runs: &[(u64, RunRecord)]| -> HashSet<u64> {
            runs.iter().filter(|(_, run)| run.status == RecordStatus::Running).map(|(number, _)| *number).collect()
        };
        let before = running(&runs);
        if !before.is_empty() && !self.0.locks.is_taken(id)? {
            // No process had the session's lock, so these have ended. Runs that ended in time say so now.
            runs = self.run_records(id)?;
            for (number, run) in &mut runs {
                if run.status == RecordStatus::Running && before.contains(number) {
                    run.status = RecordStatus::Interrupted;
                }
            }
        }
        self.add_call_counts(id, &mut runs)?;
        Ok(runs)
    }

    fn run_records(&self, id: &SessionId) -> Result<Vec<(u64, RunRecord)>, SessionsError> {
        let mut runs = Vec::new();
        self.for_each_record(&record_key::prefix(b'R', id), |(name, value)| {
            runs.push((record_key::number(&name).unwrap_or_default(), self.read(id, "a run", &value)?));
            Ok(())
        })?;
        Ok(runs)
    }

    /// Returns the session's labels, with the runs that they refer to.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn labels(&self, id: &SessionId) -> Result<Vec<(String, u64)>, SessionsError> {
        let prefix = record_key::prefix(b'T', id);
        let mut labels = Vec::new();
        self.for_each_record(&prefix, |(name, value)| {
            let label = String::from_utf8_lossy(&name[prefix.len()..]).into_owned();
            labels.push((label, record_key::number(&value).ok_or_else(|| damaged(id, "a label"))?));
            Ok(())
        })?;
        Ok(labels)
    }

    /// Returns the policy that the session was created with.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn policy(&self, id: &SessionId) -> Result<Policy, SessionsError> {
        let text = self.long(id, &record_key::single(b'P', id))?;
        let text = std::str::from_utf8(&text).map_err(|_| damaged(id, "the policy"))?;
        Policy::parse_json(text).map_err(|error| damaged(id, &format!("the policy: {error}")))
    }

    /// Returns the lock that pins the session's tools.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn lock(&self, id: &SessionId) -> Result<Lock, SessionsError> {
        let text = self.long(id, &record_key::single(b'M', id))?;
        self.read(id, "the lock", &text)
    }

    /// Returns the amounts that the session itself has spent on each account, including those spent before it was
    /// forked, by the account's name; the account of a grant has the grant's name. [`Sessions::spent`] includes other
    /// sessions that share the budgets.
    ///
    /// # Errors
    /// If the session cannot be read.
    pub fn balances(&self, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        self.sums(b'L', id)
    }

    /// Returns the part of the balances that was spent before the session was forked.
    pub(super) fn carried(&self, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        self.sums(b'C', id)
    }

    fn sums(&self, kind: u8, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        let mut balances = HashMap::new();
        self.for_each_record(&record_key::prefix(kind, id), |(name, value)| {
            let balance: Balance = self.read(id, "a balance", &self.value(id, &value)?)?;
            if !name.ends_with(&record_key::account(id, &balance.account)[1..]) {
                return Err(damaged(id, "a balance"));
            }
            let used = balance.used().ok_or_else(|| damaged(id, "a balance"))?;
            balances.insert(balance.account, used);
            Ok(())
        })?;
        Ok(balances)
    }

    /// Returns the files of a point. Contents are read on demand.
    ///
    /// # Errors
    /// If there is no such session, run or label, or they cannot be read.
    pub fn files(&self, point: &Point) -> Result<Tree, SessionsError> {
        self.tree(self.snapshot(point)?.0)
    }

    /// Returns the files that the run of a point started with.
    ///
    /// # Errors
    /// Those of [`Sessions::files`].
    pub fn base(&self, point: &Point) -> Result<Tree, SessionsError> {
        let (_, run) = self.snapshot(point)?;
        self.tree(self.run(&point.session, run)?.base)
    }

    pub(super) fn tree(&self, snapshot: SnapshotId) -> Result<Tree, SessionsError> {
        Ok(Tree::open(snapshot, self.source(), Limits { bytes: u64::MAX, ..Limits::default() })?)
    }

    /// Returns the snapshot of a point, and the run that left it.
    ///
    /// # Errors
    /// If there is no such session, run or label.
    pub fn snapshot(&self, point: &Point) -> Result<(SnapshotId, u64), SessionsError> {
        let id = &point.session;
        let head = self.head(id)?;
        let none = |what: String| SessionsError::NoPoint { session: id.clone(), what };
        let run = match &point.at {
            At::Head => return Ok((head.snapshot, head.left_by)),
            At::Run(run) => *run,
            At::Label(label) => {
                let value = self.records().get(&record_key::named(b'T', id, label))?;
                let value = value.ok_or_else(|| none(format!("label `{label}`")))?;
                record_key::number(&value).ok_or_else(|| damaged(id, "a label"))?
            }
        };
        let value =
            self.records().get(&record_key::numbered(b'R', id, run))?.ok_or_else(|| none(format!("run {run}")))?;
        let record: RunRecord = self.read(id, "a run", &value)?;
        let snapshot = record.snapshot.ok_or_else(|| none(format!("files of run {run}: it is {}", record.status)))?;
        Ok((snapshot, run))
    }

    /// Returns the state that scripts had left besides files at a point.
    pub(super) fn states(&self, point: &Point) -> Result<States, SessionsError> {
        let (_, run) = self.snapshot(point)?;
        Ok(self.run(&point.session, run)?.states)
    }

    /// Passes the log to `take`, line by line, after checking that each line follows the one before and that the last
    /// is the one that the session's head names.
    ///
    /// If the log cannot be read, or where it was altered.
    pub fn log(&self, id: &SessionId, take: &mut dyn FnMut(LogLine)) -> Result<(), SessionsError> {
        self.log_after(id, None, take)
    }

    /// Passes the lines of the log behind a position to `take`, with the same checks; without a position, all.
    pub(super) fn log_after(
        &self,
        id: &SessionId,
        after: Option<&LogPosition>,
        take: &mut dyn FnMut(LogLine),
    ) -> Result<(), SessionsError> {
        let head = self.head(id)?;
        let known = Chain::resume(head.lines, self.hash(id, &head)?);
        let mut chain = match after {
            None => Chain::default(),
            Some(after) => {
                let hash = blake3::Hash::from_hex(&after.hash).map_err(|_| damaged(id, "a position in its log"))?;
                Chain::resume(after.lines, *hash.as_bytes())
            }
        };
        let first = after.map(|after| record_key::numbered(b'A', id, after.lines));
        self.for_each_record_after(&record_key::prefix(b'A', id), first, |(_, value)| {
            let text = self.value(id, &value)?;
            let event = chain.check(&text).map_err(|problem| {
                damaged(id, &format!("its log was altered: line {} {problem}", chain.lines() + 1))
            })?;
            if chain.lines() == known.lines() && chain != known {
                return Err(damaged(id, &format!("its log was altered before line {}", chain.lines())));
            }
            take(LogLine { text, event });
            Ok(())
        })?;
        // Lines after the head's are those that a run has written since the head was read.
        if chain.lines() < known.lines() {
            return Err(damaged(id, &format!("its log ends at line {} of {}", chain.lines(), known.lines())));
        }
        Ok(())
    }

    /// Passes the events of the log behind a position to `take`, with the same checks; with a run, only its events.
    ///
    /// # Errors
    /// Those of [`Sessions::log`]; if an event cannot be read.
    pub(super) fn logged_events(
        &self,
        id: &SessionId,
        after: Option<&LogPosition>,
        run: Option<u64>,
        take: &mut dyn FnMut(LoggedEvent),
    ) -> Result<(), SessionsError> {
        let mut read = Ok(());
        self.log_after(id, after, &mut |LogLine { event, .. }| {
            if read.is_ok() && run.is_none_or(|run| event["run"].as_u64() == Some(run)) {
                read = logged_event(id, &event).map(&mut *take);
            }
        })?;
        read
    }

    /// Returns the first record of a session, or an error that names a similar session, for which all are listed.
    pub(super) fn created(&self, id: &SessionId) -> Result<Created, SessionsError> {
        if let Some(created) = self.find_created(id)? {
            return Ok(created);
        }
        let all = self.list()?;
        let near = nearest(id.as_str(), all.iter().map(SessionId::as_str)).map(str::to_owned);
        Err(SessionsError::Unknown { session: id.clone(), nearest: near })
    }

    /// Returns the first record of a session, or `None` if there is no such session.
    pub(super) fn find_created(&self, id: &SessionId) -> Result<Option<Created>, SessionsError> {
        let value = self.records().get(&record_key::single(b'S', id))?;
        value.map(|value| self.read(id, "its first record", &value)).transpose()
    }

    pub(super) fn head(&self, id: &SessionId) -> Result<Head, SessionsError> {
        match self.records().get(&record_key::single(b'H', id))? {
            Some(value) => self.read(id, "its head", &value),
            None => self.created(id).and_then(|_| Err(damaged(id, "it has no head"))),
        }
    }

    pub(super) fn hash(&self, id: &SessionId, head: &Head) -> Result<[u8; 32], SessionsError> {
        let hash = blake3::Hash::from_hex(&head.hash).map_err(|_| damaged(id, "its head"))?;
        Ok(*hash.as_bytes())
    }

    pub(super) fn epoch(&self, id: &SessionId) -> Result<u64, SessionsError> {
        let value = self.records().get(&record_key::single(b'O', id))?;
        match value {
            Some(value) => record_key::number(&value).ok_or_else(|| damaged(id, "its epoch")),
            None => self.created(id).and_then(|_| Err(damaged(id, "it has no epoch"))),
        }
    }

    pub(super) fn run(&self, id: &SessionId, run: u64) -> Result<RunRecord, SessionsError> {
        let value = self.records().get(&record_key::numbered(b'R', id, run))?;
        self.read(id, "a run", &value.ok_or_else(|| damaged(id, &format!("run {run} has no record")))?)
    }

    pub(super) fn keyvalue(&self, id: &SessionId) -> Result<Vec<(EntryKey, bytes::Bytes)>, SessionsError> {
        let mut entries = Vec::new();
        self.for_each_record(&record_key::prefix(b'K', id), |(name, value)| {
            let name = record_key::read_keyvalue(id, &name).ok_or_else(|| damaged(id, "a key of `wasi:keyvalue`"))?;
            entries.push((name, self.value(id, &value)?.into()));
            Ok(())
        })?;
        Ok(entries)
    }

    pub(in crate::session) fn source(&self) -> Arc<dyn BlobSource> {
        Arc::clone(&self.0.blobs) as Arc<dyn BlobSource>
    }

    /// Returns a value that may be in a blob.
    pub(super) fn value(&self, id: &SessionId, value: &[u8]) -> Result<Vec<u8>, SessionsError> {
        match record_key::decode_value(value).ok_or_else(|| damaged(id, "a record"))? {
            record_key::StoredValue::Inline(value) => Ok(value.to_vec()),
            record_key::StoredValue::Blob(blob) => Ok(self.blobs().get(&blob)?.to_vec()),
        }
    }

    fn long(&self, id: &SessionId, name: &[u8]) -> Result<Vec<u8>, SessionsError> {
        match self.records().get(name)? {
            Some(value) => self.value(id, &value),
            None => self.created(id).and_then(|_| Err(damaged(id, "a record is missing"))),
        }
    }

    pub(super) fn read<T: DeserializeOwned>(
        &self,
        id: &SessionId,
        what: &str,
        value: &[u8],
    ) -> Result<T, SessionsError> {
        serde_json::from_slice(value).map_err(|error| damaged(id, &format!("{what}: {error}")))
    }

    /// Calls `take` for every record under a prefix, in order.
    pub(super) fn for_each_record(
        &self,
        prefix: &[u8],
        take: impl FnMut(Record) -> Result<(), SessionsError>,
    ) -> Result<(), SessionsError> {
        self.for_each_record_after(prefix, None, take)
    }

    /// Does the same for the records behind a key.
    fn for_each_record_after(
        &self,
        prefix: &[u8],
        mut after: Option<Vec<u8>>,
        mut take: impl FnMut(Record) -> Result<(), SessionsError>,
    ) -> Result<(), SessionsError> {
        loop {
            let page = self.records().scan(prefix, after.as_deref(), PAGE)?;
            let whole = page.len() == PAGE;
            after = page.last().map(|(name, _)| name.clone());
            page.into_iter().try_for_each(&mut take)?;
            if !whole {
                return Ok(());
            }
        }
    }
}

/// Reads the event of a line of a session's log.
pub(super) fn logged_event(id: &SessionId, line: &Value) -> Result<LoggedEvent, SessionsError> {
    LoggedEvent::read(line).map_err(|error| damaged(id, &format!("line {} of its log: {error}", line["n"])))
}

pub(super) fn damaged(id: &SessionId, what: &str) -> SessionsError {
    SessionsError::Damaged { session: id.clone(), what: what.to_owned() }
}
