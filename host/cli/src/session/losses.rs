//! Files of sessions that cannot be read any more, after damage or a repair.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;
use tollhouse::session::{At, Point, SessionId, Sessions, SessionsError};
use tollhouse::vfs::{Kind, SnapshotId, Tree};

use super::super::error::chain;

/// Most files of a session that are named.
const MAX_FILES: usize = 100;

/// Bytes of a file that are read at once.
const PIECE: u64 = 1 << 20;

/// Session of which something cannot be read.
#[derive(Serialize)]
pub(crate) struct Loss {
    /// Name of the session.
    pub(crate) session: SessionId,
    /// First problem that its verification found.
    problem: String,
    /// Files and directories that cannot be read, at most 100.
    files: Vec<LostFile>,
}

/// File that cannot be read.
#[derive(Serialize)]
struct LostFile {
    path: String,
    /// Runs that left it so.
    runs: Vec<u64>,
}

/// Verifies all sessions, and returns those of which something cannot be read. A session that is removed meanwhile is
/// left out.
pub(crate) fn find(sessions: &Sessions) -> Vec<Loss> {
    let mut losses = Vec::new();
    for session in sessions.list().unwrap_or_default() {
        match sessions.verifier().verify_session(&session) {
            Ok(_) | Err(SessionsError::Unknown { .. }) => {}
            Err(error) => {
                let files = lost_files(sessions, &session);
                losses.push(Loss { session, problem: chain(&error), files });
            }
        }
    }
    losses
}

impl Loss {
    /// Prints the loss on standard error.
    pub(crate) fn note(&self) {
        note!("{}: {}", self.session, self.problem);
        for LostFile { path, runs } in &self.files {
            let points: Vec<String> = runs.iter().map(|run| format!("{}@{run}", self.session)).collect();
            note!("  lost: {path} of {}", points.join(", "));
        }
    }
}

fn lost_files(sessions: &Sessions, id: &SessionId) -> Vec<LostFile> {
    let mut lost: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let mut walked: HashSet<SnapshotId> = HashSet::new();
    // A session whose runs cannot be read is reported by its problem alone.
    for (run, record) in sessions.reader().runs(id).unwrap_or_default() {
        // A change of labels or grants leaves the same files: the first run that left them is named.
        if !record.snapshot.is_some_and(|snapshot| walked.insert(snapshot)) {
            continue;
        }
        let point = Point { session: id.clone(), at: At::Run(run) };
        match sessions.reader().files(&point) {
            Ok(tree) => unreadable(&tree, |path| {
                if lost.len() < MAX_FILES || lost.contains_key(path) {
                    lost.entry(path.to_owned()).or_default().insert(run);
                }
            }),
            Err(_) => drop(lost.entry("/".to_owned()).or_default().insert(run)),
        }
    }
    lost.into_iter().map(|(path, runs)| LostFile { path, runs: runs.into_iter().collect() }).collect()
}

/// Calls `lost` with the path of each file and directory of a tree that cannot be read.
fn unreadable(tree: &Tree, mut lost: impl FnMut(&str)) {
    let mut next = vec!["/".to_owned()];
    while let Some(path) = next.pop() {
        match tree.stat(&path, false).map(|stat| stat.kind) {
            Ok(Kind::Directory) => match tree.read_directory(&path) {
                Ok(entries) => {
                    let above = path.trim_end_matches('/');
                    next.extend(entries.iter().map(|entry| format!("{above}/{}", entry.name)));
                }
                Err(_) => lost(&path),
            },
            Ok(Kind::File) if !is_readable(tree, &path) => lost(&path),
            Ok(_) => {}
            Err(_) => lost(&path),
        }
    }
}

fn is_readable(tree: &Tree, path: &str) -> bool {
    let Ok(content) = tree.content(path) else { return false };
    let mut at = 0;
    while at < content.len() {
        match content.read(at, PIECE) {
            Ok(piece) if !piece.is_empty() => at += piece.len() as u64,
            _ => return false,
        }
    }
    true
}
