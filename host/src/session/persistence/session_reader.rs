//! Queries of sessions. They need no lock: each reads what some commit left.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::call_counts::CallCounts;
use super::record::{LogPosition, RunRecord, States};
use super::record_reader::{damaged, log_hash, logged_event, parse_record};
use super::{At, Point, RecordStatus, SessionId, Sessions, SessionsError, record_key};
use crate::capability::Policy;
use crate::gate::{Chain, LoggedEvent};
use crate::ledger::Used;
use crate::tool::Lock;
use crate::vfs::{Limits, SnapshotId, Tree};

/// Line of a session's log.
pub struct LogLine {
    /// Text of the line, as it was written.
    pub text: Vec<u8>,
    /// Parsed event.
    pub event: Value,
}

/// Reader of sessions: their runs, files, policies and logs. It needs no lock, and reads what some commit left.
#[derive(Clone, Copy)]
pub struct SessionReader<'s> {
    pub(super) sessions: &'s Sessions,
}

impl SessionReader<'_> {
    /// Returns the session's runs, and its changes without a run, by number. An active run has the number of calls that
    /// it made so far, and an interrupted one those that it had made. A run whose process died is `interrupted`, even
    /// before that is on record.
    ///
    /// # Errors
    /// If there is no such session, or they cannot be read.
    pub fn runs(&self, id: &SessionId) -> Result<Vec<(u64, RunRecord)>, SessionsError> {
        self.sessions.record_reader().created(id)?;
        let mut runs = self.sessions.record_reader().run_records(id)?;
        let running = |runs: &[(u64, RunRecord)]| -> HashSet<u64> {
            runs.iter().filter(|(_, run)| run.status == RecordStatus::Running).map(|(number, _)| *number).collect()
        };
        let before = running(&runs);
        if !before.is_empty() && !self.sessions.locks().is_taken(id)? {
            // No process had the session's lock, so these have ended. Runs that ended in time say so now.
            runs = self.sessions.record_reader().run_records(id)?;
            for (number, run) in &mut runs {
                if run.status == RecordStatus::Running && before.contains(number) {
                    run.status = RecordStatus::Interrupted;
                }
            }
        }
        self.add_call_counts(id, &mut runs)?;
        Ok(runs)
    }

    /// Returns the session's labels, with the runs that they refer to.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn labels(&self, id: &SessionId) -> Result<Vec<(String, u64)>, SessionsError> {
        let prefix = record_key::prefix(b'T', id);
        let mut labels = Vec::new();
        self.sessions.record_reader().for_each_record(&prefix, |(name, value)| {
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
        let text = self.sessions.record_reader().long(id, &record_key::single(b'P', id))?;
        let text = std::str::from_utf8(&text).map_err(|_| damaged(id, "the policy"))?;
        Policy::parse_json(text).map_err(|error| damaged(id, &format!("the policy: {error}")))
    }

    /// Returns the lock that pins the session's tools.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn lock(&self, id: &SessionId) -> Result<Lock, SessionsError> {
        let text = self.sessions.record_reader().long(id, &record_key::single(b'M', id))?;
        parse_record(id, "the lock", &text)
    }

    /// Returns the amounts that the session itself has spent on each account, including those spent before it was
    /// forked, by the account's name; the account of a grant has the grant's name. [`SessionReader::spent`] includes
    /// other sessions that share the budgets.
    ///
    /// # Errors
    /// If the session cannot be read.
    pub fn balances(&self, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        self.sessions.record_reader().balances(id)
    }

    /// Returns the spent amount of each account, by its name: by the session, and by all that share it.
    ///
    /// # Errors
    /// If there is no such session, or it cannot be read.
    pub fn spent(&self, id: &SessionId) -> Result<HashMap<String, Used>, SessionsError> {
        self.sessions.families().spent(id)
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
    /// Those of [`SessionReader::files`].
    pub fn base(&self, point: &Point) -> Result<Tree, SessionsError> {
        let (_, run) = self.snapshot(point)?;
        self.tree(self.sessions.record_reader().run(&point.session, run)?.base)
    }

    pub(super) fn tree(&self, snapshot: SnapshotId) -> Result<Tree, SessionsError> {
        Ok(Tree::open(
            snapshot,
            self.sessions.record_reader().source(),
            Limits { bytes: u64::MAX, ..Limits::default() },
        )?)
    }

    /// Returns the snapshot of a point, and the run that left it.
    ///
    /// # Errors
    /// If there is no such session, run or label.
    pub fn snapshot(&self, point: &Point) -> Result<(SnapshotId, u64), SessionsError> {
        let id = &point.session;
        let head = self.sessions.record_reader().head(id)?;
        let none = |what: String| SessionsError::NoPoint { session: id.clone(), what };
        let run = match &point.at {
            At::Head => return Ok((head.snapshot, head.left_by)),
            At::Run(run) => *run,
            At::Label(label) => {
                let value = self.sessions.records().get(&record_key::named(b'T', id, label))?;
                let value = value.ok_or_else(|| none(format!("label `{label}`")))?;
                record_key::number(&value).ok_or_else(|| damaged(id, "a label"))?
            }
        };
        let value = self
            .sessions
            .records()
            .get(&record_key::numbered(b'R', id, run))?
            .ok_or_else(|| none(format!("run {run}")))?;
        let record: RunRecord = parse_record(id, "a run", &value)?;
        let snapshot = record.snapshot.ok_or_else(|| none(format!("files of run {run}: it is {}", record.status)))?;
        Ok((snapshot, run))
    }

    /// Returns the state that scripts had left besides files at a point.
    pub(super) fn states(&self, point: &Point) -> Result<States, SessionsError> {
        let (_, run) = self.snapshot(point)?;
        Ok(self.sessions.record_reader().run(&point.session, run)?.states)
    }

    /// Passes the log to `take`, line by line, after checking that each line follows the one before and that the last
    /// is the one that the session's head names.
    ///
    /// # Errors
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
        let head = self.sessions.record_reader().head(id)?;
        let known = Chain::resume(head.lines, log_hash(id, &head)?);
        let mut chain = match after {
            None => Chain::default(),
            Some(after) => {
                let hash = blake3::Hash::from_hex(&after.hash).map_err(|_| damaged(id, "a position in its log"))?;
                Chain::resume(after.lines, *hash.as_bytes())
            }
        };
        let first = after.map(|after| record_key::numbered(b'A', id, after.lines));
        self.sessions.record_reader().for_each_record_after(&record_key::prefix(b'A', id), first, |(_, value)| {
            let text = self.sessions.record_reader().value(id, &value)?;
            let event = chain.check(&text).map_err(|problem| {
                damaged(id, &format!("its log was altered: line {} {problem}", chain.lines() + 1))
            })?;
            if chain.lines() == known.lines() && chain != known {
                return Err(damaged(id, &format!("its log was altered before line {}", chain.lines())));
            }
            take(LogLine { text, event });
            Ok(())
        })?;
        if chain.lines() == known.lines() && chain != known {
            return Err(damaged(id, &format!("its log was altered before line {}", chain.lines())));
        }
        // Lines after the head's are those that a run has written since the head was read.
        if chain.lines() < known.lines() {
            return Err(damaged(id, &format!("its log ends at line {} of {}", chain.lines(), known.lines())));
        }
        Ok(())
    }

    /// Passes the events of the log behind a position to `take`, with the same checks; with a run, only its events.
    ///
    /// # Errors
    /// Those of [`SessionReader::log`]; if an event cannot be read.
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

    /// Adds the call counts from the log to the records of runs that have not recorded them: active runs, and runs whose
    /// process died. A call is in the log before it starts.
    fn add_call_counts(&self, id: &SessionId, runs: &mut [(u64, RunRecord)]) -> Result<(), SessionsError> {
        let silent = |run: &RunRecord| matches!(run.status, RecordStatus::Running | RecordStatus::Interrupted);
        let silent = runs.iter().filter(|(_, run)| silent(run));
        let mut counts: HashMap<u64, CallCounts> = silent.map(|(number, _)| (*number, CallCounts::default())).collect();
        if counts.is_empty() {
            return Ok(());
        }
        self.sessions.record_reader().for_each_record(&record_key::prefix(b'A', id), |(_, value)| {
            let event: Value =
                parse_record(id, "a line of its log", &self.sessions.record_reader().value(id, &value)?)?;
            if let Some(counts) = event["run"].as_u64().and_then(|run| counts.get_mut(&run)) {
                counts.take(&logged_event(id, &event)?);
            }
            Ok(())
        })?;
        for (number, run) in runs {
            if let Some(CallCounts { admitted, denied }) = counts.get(number) {
                (run.calls, run.denied) = (*admitted, *denied);
            }
        }
        Ok(())
    }
}
