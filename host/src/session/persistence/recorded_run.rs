//! Run of a session with all that is needed to run it again.

use std::collections::HashMap;

use super::history::RunHistory;
use super::record::{LogPosition, RunRecord};
use super::record_reader::{damaged, logged_event};
use super::run_replay::CallReader;
use super::{Point, SessionId, SessionsError};
use crate::capability::Policy;
use crate::gate::{SignedSession, limited_accounts};
use crate::ledger::Used;
use crate::session::journal::JournalEntry;
use crate::session::session_storage::derive_seed;
use crate::tool::Lock;
use crate::vfs::Tree;

/// Run that has ended, with its journal, its part of the log, and what it began with.
pub(in crate::session) struct RecordedRun {
    /// Session of the run, as signatures name it.
    pub(in crate::session) session: SignedSession,
    /// Number of the run.
    pub(in crate::session) number: u64,
    pub(in crate::session) record: RunRecord,
    pub(in crate::session) policy: Policy,
    pub(in crate::session) lock: Lock,
    pub(in crate::session) journal: Vec<JournalEntry>,
    /// End of the log when the run started.
    pub(in crate::session) before: LogPosition,
    /// Lines of the log from there to the end of the run.
    pub(in crate::session) log: Vec<Vec<u8>>,
    /// Amounts that had been spent on each account.
    pub(in crate::session) spent: HashMap<String, Used>,
    /// Files with which the run started.
    pub(in crate::session) files: Tree,
    /// State that the last script of the language had left; empty for none.
    pub(in crate::session) state: Vec<u8>,
    /// Seed of the random numbers of each call that may be repeated, by its number.
    pub(in crate::session) seeds: HashMap<u64, [u8; 32]>,
}

/// Amounts that had been spent when a run started, by account, and the lines of the log from there to its end.
type LogOfRun = (HashMap<String, Used>, Vec<Vec<u8>>);

/// Returns a run that has ended: without a number, the last one of the session.
///
/// # Errors
/// If there is no such run, it has not ended, its journal is not kept, or a part of it cannot be read.
pub(super) fn read(history: RunHistory<'_>, point: &Point) -> Result<RecordedRun, SessionsError> {
    let (number, record) = history.script_run(point)?;
    let session = point.session.clone();
    let journal = history.sessions.journals().journal(&session, number)?;
    if journal.is_empty() {
        return Err(SessionsError::NoJournal { session, run: number });
    }
    if record.ended.is_none() {
        return Err(SessionsError::NotEnded { session, run: number });
    }
    let before = record.log.clone();
    let before = before.ok_or_else(|| damaged(&session, "a run does not say where its log is"))?;
    let (spent, log) = log_of(history, &session, number, &before)?;
    let language = journal.first().and_then(JournalEntry::language).unwrap_or_default();
    let (_, states) = history.before(&session, number, record.base)?;
    let state = states.get(language).map(|blob| history.sessions.blobs().get(blob)).transpose()?.unwrap_or_default();
    let secret = history.sessions.record_reader().seed(&session)?;
    let seeds = journal.iter().filter_map(|entry| match entry {
        JournalEntry::Admitted { seq, .. } => Some((*seq, derive_seed(&secret, "tool", &[number, *seq]))),
        _ => None,
    });
    Ok(RecordedRun {
        session: history.sessions.record_reader().signed_session(&session)?,
        number,
        policy: history.sessions.reader().policy(&session)?,
        lock: history.sessions.reader().lock(&session)?,
        before,
        log,
        spent,
        files: history.sessions.reader().tree(record.base)?,
        state: state.to_vec(),
        seeds: seeds.collect(),
        journal,
        record,
    })
}

/// Returns what had been spent when a run started, and the lines of the log from there to its end.
fn log_of(history: RunHistory<'_>, id: &SessionId, run: u64, before: &LogPosition) -> Result<LogOfRun, SessionsError> {
    let mut calls = CallReader::new(
        run,
        limited_accounts(&history.sessions.reader().policy(id)?),
        history.sessions.record_reader().carried(id)?,
    );
    let (mut read, mut spent) = (0, None);
    let (mut lines, mut end) = (Vec::new(), 0);
    let mut unreadable = Ok(());
    history.sessions.reader().log(id, &mut |line| {
        if read == before.lines {
            spent = Some(calls.used());
        }
        match logged_event(id, &line.event) {
            Ok(event) => calls.take(event),
            Err(error) => unreadable = Err(error),
        }
        if read >= before.lines {
            lines.push(line.text);
            if line.event["run"].as_u64() == Some(run) {
                end = lines.len();
            }
        }
        read += 1;
    })?;
    unreadable?;
    lines.truncate(end);
    Ok((spent.unwrap_or_else(|| calls.used()), lines))
}
