//! Origin of a file: the run that left it as it is, and the calls that its content can come from.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::history::RunHistory;
use super::record::RunRecord;
use super::{Point, ReplayedCall, SessionId, SessionsError};
use crate::session::journal::{JournalEntry, ReplayError, restore_edits};
use crate::vfs::{Action, Body, Edit, Errno, Kind, Tree};

/// Origin of a file of a session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FileOrigin {
    /// Session of the file.
    pub session: SessionId,
    /// Path of the file.
    pub path: String,
    /// Size of the file in bytes; `None` if there is none at this path.
    pub size: Option<u64>,
    /// Time of the last change, in nanoseconds since the Unix epoch.
    pub modified: Option<u64>,
    /// Number of the run, or change, that left the file as it is; 0 for a file that the session was created with, or that
    /// never was.
    pub run: u64,
    /// Name of its script, or what it changed.
    pub script: Option<String>,
    /// Who wrote it.
    pub written_by: FileWriter,
    /// Calls whose results the script had when it wrote the file, so that the content can come from them.
    pub after: Vec<OriginCall>,
}

/// Who wrote a file.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileWriter {
    /// The session was created with the file, or without one.
    Creation,
    /// The files were changed without a run.
    Change,
    /// The tool of a call.
    Call(OriginCall),
    /// The script itself.
    Script,
    /// The run, whose journal is not kept.
    Run,
}

/// Call that a file comes from, or can come from.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OriginCall {
    /// Number of the call in its run.
    pub seq: u64,
    /// The canonical method.
    pub method: String,
    /// The canonical arguments.
    pub arguments: Json,
}

/// Returns where a file comes from: the last run, or change, that left it as it is, and the calls of that run.
///
/// Which call a script took the content from cannot be seen: those are named whose results it had by the time of the
/// file's last change.
///
/// # Errors
/// If there is no such session or run, or its files, log or journal cannot be read.
pub(super) fn origin(history: RunHistory<'_>, point: &Point, path: &str) -> Result<FileOrigin, SessionsError> {
    let id = &point.session;
    let (snapshot, left_by) = history.sessions.reader().snapshot(point)?;
    let files = history.sessions.reader().tree(snapshot)?;
    let stat = found(files.stat(path, false)).map_err(|source| unread(id, path, source))?;
    let mut origin = FileOrigin {
        session: id.clone(),
        path: path.to_owned(),
        size: stat.map(|stat| stat.size),
        modified: stat.map(|stat| stat.modified),
        run: 0,
        script: None,
        written_by: FileWriter::Creation,
        after: Vec::new(),
    };
    let Some((run, record)) = last_change(history, id, left_by, path)? else { return Ok(origin) };
    (origin.run, origin.script) = (run, Some(record.script.clone()));
    if record.hash.is_empty() {
        origin.written_by = FileWriter::Change;
        return Ok(origin);
    }
    let journal = history.sessions.journals().journal(id, run)?;
    if journal.is_empty() {
        origin.written_by = FileWriter::Run;
        return Ok(origin);
    }
    let replayed = history.replay(&Point { session: id.clone(), at: super::At::Run(run) })?;
    let failed = |source| SessionsError::Replay { session: id.clone(), run, source };
    let calls = deliveries(journal, path).map_err(failed)?;
    // They are in the order of their numbers.
    let index_of = |seq: u64| replayed.calls.binary_search_by_key(&seq, |call| call.seq).ok();
    let call_of = |seq: u64| index_of(seq).map(|index| OriginCall::of(&replayed.calls[index]));
    let last_edit = calls.iter().rev().find_map(|call| Some((call.seq, call.edit.as_ref()?)));
    let writer = last_edit.filter(|(_, edit)| leaves(edit, &files, path)).and_then(|(seq, _)| call_of(seq));
    origin.written_by = writer.map_or(FileWriter::Script, FileWriter::Call);
    if let FileWriter::Script = origin.written_by {
        let until = origin.modified.unwrap_or(u64::MAX);
        origin.after = calls.iter().filter(|call| call.now <= until).filter_map(|call| call_of(call.seq)).collect();
    }
    Ok(origin)
}

/// Returns the last of these runs that left a file other than it found it.
fn last_change(
    history: RunHistory<'_>,
    id: &SessionId,
    left_by: u64,
    path: &str,
) -> Result<Option<(u64, RunRecord)>, SessionsError> {
    for (run, record) in history.sessions.reader().runs(id)?.into_iter().rev().filter(|(run, _)| *run <= left_by) {
        let Some(snapshot) = record.snapshot.filter(|snapshot| *snapshot != record.base) else { continue };
        let (before, after) = (history.sessions.reader().tree(record.base)?, history.sessions.reader().tree(snapshot)?);
        if !is_same(&before, &after, path).map_err(|source| unread(id, path, source))? {
            return Ok(Some((run, record)));
        }
    }
    Ok(None)
}

fn unread(id: &SessionId, path: &str, source: Errno) -> SessionsError {
    SessionsError::Path { session: id.clone(), path: path.to_owned(), source }
}

/// Result of a call, as the journal has it.
struct DeliveredCall {
    seq: u64,
    /// Time that the script was given with it.
    now: u64,
    /// Last change of the file in question by the call's tool.
    edit: Option<Edit>,
}

/// Returns the calls whose results the scripts of a run were given, in that order, with what they did to a file.
fn deliveries(journal: Vec<JournalEntry>, path: &str) -> Result<Vec<DeliveredCall>, ReplayError> {
    let of_path = |edits: Vec<Edit>| edits.into_iter().rfind(|edit| edit.path == path);
    let mut numbers = HashMap::new();
    let mut calls = Vec::new();
    for entry in journal {
        match entry {
            JournalEntry::Admitted { id, seq, .. } => drop(numbers.insert(id, seq)),
            JournalEntry::Delivered { id, now, answer: Some(answer) } => {
                if let Some(seq) = numbers.remove(&id) {
                    calls.push(DeliveredCall { seq, now, edit: of_path(answer.edits()?) });
                }
            }
            JournalEntry::Kept { id, edits } => {
                if let Some(seq) = numbers.get(&id) {
                    calls.push(DeliveredCall { seq: *seq, now: 0, edit: of_path(restore_edits(edits)?) });
                }
            }
            _ => {}
        }
    }
    Ok(calls)
}

/// Returns true if the file at a path is as an edit has left it.
fn leaves(edit: &Edit, files: &Tree, path: &str) -> bool {
    let stat = files.stat(path, false);
    match (&edit.action, stat) {
        (Action::Put { body: Body::File(content), modified, .. }, Ok(stat)) => {
            stat.kind == Kind::File
                && (stat.size, stat.modified) == (content.len(), *modified)
                && content.to_vec().is_ok_and(|bytes| files.read_file(path) == Ok(bytes))
        }
        (Action::Put { body: Body::Directory, .. }, Ok(stat)) => stat.kind == Kind::Directory,
        (Action::Put { body: Body::Link(target), .. }, Ok(_)) => files.read_link(path).as_ref() == Ok(target),
        (Action::Remove { .. }, stat) => stat.is_err(),
        _ => false,
    }
}

/// Returns true if two trees have the same at a path.
fn is_same(one: &Tree, other: &Tree, path: &str) -> Result<bool, Errno> {
    let (Some(before), Some(after)) = (found(one.stat(path, false))?, found(other.stat(path, false))?) else {
        return Ok(found(one.stat(path, false))?.is_none() && found(other.stat(path, false))?.is_none());
    };
    if (before.kind, before.size, before.mode, before.modified) != (after.kind, after.size, after.mode, after.modified)
    {
        return Ok(false);
    }
    match before.kind {
        Kind::File => Ok(one.read_file(path)? == other.read_file(path)?),
        Kind::Link => Ok(one.read_link(path)? == other.read_link(path)?),
        _ => Ok(true),
    }
}

/// Makes `None` of the error that there is nothing at a path.
fn found<T>(stat: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match stat {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NoEntry | Errno::NotDirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

impl OriginCall {
    fn of(call: &ReplayedCall) -> Self {
        Self { seq: call.seq, method: call.method.clone(), arguments: call.arguments.clone() }
    }
}
