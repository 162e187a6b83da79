//! Warnings about sessions and their runs, on standard error.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, PoisonError};

use tollhouse::gate::Gate;
use tollhouse::session::{RunResult, SessionId, Sessions, Status};
use tollhouse::tool::LostFace;

/// Warns on a terminal if a new session is created whose name looks like a typing error.
pub(super) fn warn_of_typo(sessions: &Sessions, id: &SessionId) {
    if !io::stderr().is_terminal() {
        return;
    }
    // A problem with the store is reported when the session is opened.
    let known = sessions.list().unwrap_or_default();
    if let Some(near) = known.iter().find(|known| is_slip(id.as_str(), known.as_str())) {
        note!("note: there is no session `{id}`: a new one is created. Did you mean `{near}`?");
    }
}

/// Returns true if a name may be another one, misspelt. Names that differ in digits are numbered on purpose.
fn is_slip(name: &str, other: &str) -> bool {
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let most = if other.len() < 6 { 1 } else { 2 };
    other.len() > 3 && digits(name) == digits(other) && strsim::damerau_levenshtein(name, other) <= most
}

/// Warns of deprecated tools that were called, once for each.
pub(crate) fn warn_of_deprecated<'m>(gate: &Gate, called: impl IntoIterator<Item = &'m str>) {
    static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let called: BTreeSet<&str> = called.into_iter().filter_map(|method| method.split('/').next()).collect();
    for (alias, package) in gate.tools().packages() {
        let release = package.release();
        let Some(deprecated) = release.deprecated.as_ref().filter(|_| called.contains(alias.as_str())) else {
            continue;
        };
        if WARNED.lock().unwrap_or_else(PoisonError::into_inner).insert(alias.clone()) {
            note!("warning: `{alias}` is {}, which is deprecated: {deprecated}", release.full_name());
        }
    }
}

/// Notes missing faces of mounted tools, and what scripts write instead, for the faces that are `meant`: each note
/// once.
pub(crate) fn note_lost_faces(gate: &Gate, meant: impl Fn(&LostFace) -> bool) {
    static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    for lost in gate.tools().lost_faces().iter().filter(|lost| meant(lost)).map(LostFace::to_string) {
        if NOTED.lock().unwrap_or_else(PoisonError::into_inner).insert(lost.clone()) {
            note!("note: {lost}");
        }
    }
}

/// Notes programs that a run called and that see no files, although they ask for some.
fn note_blind_programs(gate: &Gate, result: &RunResult) {
    let called = result.calls.methods();
    for reach in gate.reach() {
        let is_program = gate.tools().get(&reach.tool).is_some_and(|tool| tool.function().is_program());
        if is_program && called.contains(&*reach.tool) && !reach.asks.files.is_empty() && reach.granted.is_null() {
            let alias = &reach.tool;
            note!(
                "note: `{alias}` sees no files: `--allow {alias}/run` gives it the session's, `files` under \
                 `[tool.{alias}]` of a policy some of them"
            );
        }
    }
}

/// Warns of deprecated tools that a run called, and, after a failed run, of packages, faces and files that it may have
/// missed.
pub(crate) fn warn_of_run(gate: &Gate, result: &RunResult) {
    warn_of_deprecated(gate, result.calls.methods());
    if result.status != Status::Completed {
        note_blind_programs(gate, result);
        gate.tools()
            .clashes()
            .iter()
            .filter(|clash| clash.unusable.is_some())
            .for_each(|clash| note!("note: {}", clash.hint()));
        let is_granted =
            |alias: &str| gate.tools().iter().any(|tool| **tool.alias() == *alias && gate.grants(tool.method()));
        note_lost_faces(gate, |lost| is_granted(&lost.alias));
    }
}

#[cfg(test)]
mod tests {
    use super::is_slip;

    #[test]
    fn misspelt_session_is_told_from_numbered_one() {
        for (name, other) in [("reprot", "report"), ("reports", "report"), ("tirp", "trip"), ("report-a", "report-b")] {
            assert!(is_slip(name, other), "{name} {other}");
        }
        for (name, other) in
            [("report-2", "report-1"), ("run12", "run3"), ("a", "b"), ("train", "report"), ("trip2", "trip")]
        {
            assert!(!is_slip(name, other), "{name} {other}");
        }
    }
}
