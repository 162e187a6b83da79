//! Sessions on disk.

use std::error::Error;
use std::ffi::CString;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use tollhouse::session::{
    Answered, CallsForHumans, HostError, ImportBudget, ImportOptions, PendingCall, Point, PortableError, ReplayError,
    Resolution, SessionId, Sessions, SessionsError, Waiting,
};
use tollhouse::store::Backend;
use tollhouse_registry::{PrivateKey, untrusted_file};

use crate::convert::to_payload;
use crate::errors::{
    NativeError, PolicyError, RuntimeError, SessionConflictError, SessionNotFoundError, policy_told, raised, told,
};
use crate::files::{Tree, unchanged, unfinished};
use crate::process::OfProcess;

/// Frames between a warning and the code that it is shown for: a function of the package, and its caller.
const WARNED_CALLER: i32 = 2;

/// Sessions of one directory: `Store(directory)`.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct Store(OfProcess<Sessions>);

/// Converts an error of a store: to `LookupError` if something does not exist, to `OSError` if a change of files fails.
pub(crate) fn failed(error: &SessionsError) -> PyErr {
    match error {
        SessionsError::Unknown { nearest: Some(near), .. } => {
            SessionNotFoundError::new_err(format!("{}: did you mean `{near}`?", told(error)))
        }
        SessionsError::Unknown { .. }
        | SessionsError::NoPoint { .. }
        | SessionsError::Replaced(_)
        | SessionsError::NoJournal { .. } => SessionNotFoundError::new_err(told(error)),
        SessionsError::Exists(_)
        | SessionsError::ImportedBefore(_)
        | SessionsError::Decided { .. }
        | SessionsError::Expired { .. }
        | SessionsError::Replay { source: ReplayError::Changed(_), .. } => SessionConflictError::new_err(told(error)),
        SessionsError::Differs { .. } => SessionConflictError::new_err(format!(
            "{}: open it without `capabilities` and `policy`, or with `on_change=\"migrate\"`, which adds what is new",
            told(error)
        )),
        SessionsError::Unsigned { approvers, .. } => PyValueError::new_err(format!(
            "{}: give the private key of {}, `key=`",
            told(error),
            approvers.join(" or ")
        )),
        SessionsError::Label(_) | SessionsError::NotForkable { .. } => PyValueError::new_err(told(error)),
        SessionsError::Busy(_) | SessionsError::NotEnded { .. } => RuntimeError::new_err(until_it_has_ended(error)),
        SessionsError::Several(_) => PyValueError::new_err(format!("{}: say which by its `seq`", told(error))),
        SessionsError::Suspended { .. } => {
            let remedy = "`pending` says what it waits for; `resume` continues it, and `abandon` ends it";
            RuntimeError::new_err(format!("{}: {remedy}", told(error)))
        }
        SessionsError::HandedOver(_) => {
            RuntimeError::new_err(format!("{}: it goes on where its export was imported", told(error)))
        }
        error => unchanged(error).unwrap_or_else(|| raised(error)),
    }
}

/// Converts an error of a host: that of its store, or of a policy.
pub(crate) fn host_failed(error: &HostError) -> PyErr {
    match error {
        HostError::Policy(error) => PolicyError::new_err(policy_told(error, None)),
        HostError::Mount(_) => PolicyError::new_err(told(error)),
        HostError::Sessions(error) => failed(error),
        HostError::Busy => RuntimeError::new_err(until_it_has_ended(error)),
        HostError::NotResumable | HostError::Unrecordable => RuntimeError::new_err(told(error)),
        HostError::UncheckedApprovals => {
            RuntimeError::new_err(format!("{}: give `approver_keys` to `Session.open`", told(error)))
        }
        HostError::ServerNotStarted { server, .. } => RuntimeError::new_err(format!(
            "{}: give it to `Session.open`, `mcp={{\"{server}\": …}}`, and resume the run there",
            told(error)
        )),
        HostError::Portable(PortableError::OnDisk) => {
            RuntimeError::new_err("a session on disk is not saved to bytes: `export` writes it to a file")
        }
        error => raised(error),
    }
}

/// Formats the error of what is impossible during a run.
fn until_it_has_ended(error: &dyn Error) -> String {
    format!("{}: wait until it has ended, or `cancel` it", told(error))
}

pub(crate) fn session_id(text: &str) -> PyResult<SessionId> {
    text.parse().map_err(|error| PyValueError::new_err(told(&error)))
}

fn point(text: &str) -> PyResult<Point> {
    text.parse().map_err(|error| PyValueError::new_err(told(&error)))
}

/// Returns a callback that waits without end, on the main thread until a signal raises.
pub(crate) fn waiting() -> Waiting {
    Arc::new(|| Python::attach(|py| py.check_signals().map_err(|error| error.restore(py)).is_ok()))
}

/// Returns an error, or the exception of a signal that was raised during the wait.
pub(crate) fn or_signal(py: Python<'_>, error: PyErr) -> PyErr {
    PyErr::take(py).unwrap_or(error)
}

impl Store {
    /// Returns the sessions, in the process that opened the store.
    pub(crate) fn sessions(&self) -> PyResult<&Sessions> {
        self.0.get()
    }

    /// Runs something with the interpreter released.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Sessions) -> Result<T, SessionsError> + Send,
    ) -> PyResult<T> {
        let sessions = self.sessions()?;
        py.detach(|| work(sessions)).map_err(|error| or_signal(py, failed(&error)))
    }

    /// Lists the calls of a session, or of all sessions, for which a human is needed. The caller of the package's function gets
    /// a `RuntimeWarning` for each session that cannot be read.
    fn calls_for_humans(&self, py: Python<'_>, id: Option<&SessionId>) -> PyResult<CallsForHumans> {
        let calls = self.with(py, |sessions| sessions.call_decisions().calls_for_humans(id))?;
        for unreadable in &calls.unreadable {
            let problem = format!(
                "the session `{}` cannot be read, and calls of it may wait: {}",
                unreadable.session,
                told(&unreadable.error)
            );
            // A NUL has no place in a warning.
            let problem = CString::new(problem.replace('\0', "\u{fffd}")).expect("it has no NUL");
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &problem, WARNED_CALLER)?;
        }
        Ok(calls)
    }
}

#[pymethods]
impl Store {
    #[new]
    #[pyo3(signature = (directory, trust_writers=false))]
    fn new(py: Python<'_>, directory: PathBuf, trust_writers: bool) -> PyResult<Self> {
        let opened = py.detach(|| Sessions::open_shared(&directory, Backend::Sled, trust_writers));
        let cannot = |error| format!("cannot open the store `{}`: {}", directory.display(), told(&error));
        let opened = opened.map_err(|error| NativeError::new_err(cannot(error)))?;
        Ok(Self(OfProcess::new(opened, "store", "open it again here")))
    }

    /// Returns the names of all sessions.
    fn list(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.with(py, Sessions::list)?.into_iter().map(|id| id.to_string()).collect())
    }

    /// Returns true if there is a session with this name.
    fn contains(&self, py: Python<'_>, session_id: &str) -> PyResult<bool> {
        let id = self::session_id(session_id)?;
        self.with(py, |sessions| sessions.contains(&id))
    }

    /// Returns the summary of a session, as JSON.
    fn show(&self, py: Python<'_>, session_id: &str) -> PyResult<String> {
        let id = self::session_id(session_id)?;
        self.with(py, |sessions| {
            let (shown, policy) = (sessions.show(&id)?, sessions.reader().policy(&id)?);
            Ok(json!({
                "session": id,
                "created": shown.created.created,
                "from": shown.created.from,
                "busy": shown.busy,
                "shared_with": shown.shared_with,
                "runs": shown.head.runs,
                "left_by": shown.head.left_by,
                "snapshot": shown.head.snapshot.to_string(),
                "changed": shown.head.changed,
                "bytes": shown.head.bytes,
                "entries": shown.head.entries,
                "labels": sessions.reader().labels(&id)?.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
                "policy": policy.to_json(),
                "lock": sessions.reader().lock(&id)?,
            })
            .to_string())
        })
    }

    /// Returns the session's runs, and its changes without one: an array of JSON.
    fn runs(&self, py: Python<'_>, session_id: &str) -> PyResult<String> {
        let id = self::session_id(session_id)?;
        let runs = self.with(py, |sessions| sessions.reader().runs(&id))?;
        let told = runs.into_iter().map(|(number, run)| {
            json!({
                "run": number,
                "status": run.status,
                "script": run.script,
                "started": run.started,
                "ended": run.ended,
                "snapshot": run.snapshot.map(|snapshot| snapshot.to_string()),
                "error": run.error,
                "calls": run.calls,
                "denied": run.denied,
            })
        });
        Ok(Value::from_iter(told).to_string())
    }

    /// Returns the calls of a session that wait for a decision, or whose decision has had no effect yet: an array of JSON.
    #[pyo3(signature = (session_id=None))]
    fn pending(&self, py: Python<'_>, session_id: Option<&str>) -> PyResult<String> {
        let id = session_id.map(self::session_id).transpose()?;
        Ok(json!(self.calls_for_humans(py, id.as_ref())?.pending).to_string())
    }

    /// Returns the calls of a session, or of all sessions, that are in doubt: an array of JSON.
    #[pyo3(signature = (session_id=None))]
    fn in_doubt(&self, py: Python<'_>, session_id: Option<&str>) -> PyResult<String> {
        let id = session_id.map(self::session_id).transpose()?;
        Ok(json!(self.calls_for_humans(py, id.as_ref())?.in_doubt).to_string())
    }

    /// Decides about a call that waits; without `seq`, about the only one; with `arguments` (JSON), approves it with them in
    /// place of the script's; with `key`, signs the approval by this private key. Returns the call, as JSON.
    #[pyo3(signature = (session_id, allowed, by, *, seq=None, reason=None, digest=None, arguments=None, key=None))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them names")]
    fn decide(
        &self,
        py: Python<'_>,
        session_id: &str,
        allowed: bool,
        by: String,
        seq: Option<u64>,
        reason: Option<String>,
        digest: Option<String>,
        arguments: Option<String>,
        key: Option<&str>,
    ) -> PyResult<String> {
        let id = self::session_id(session_id)?;
        let arguments = arguments.map(|text| serde_json::from_str(&text)).transpose();
        let arguments =
            arguments.map_err(|error| PyValueError::new_err(format!("the arguments are not JSON: {error}")))?;
        let mut answered = Answered { allowed, by, reason, digest, arguments, signature: None };
        if let Some(key) = key {
            let key = key.parse::<PrivateKey>().map_err(|error| PyValueError::new_err(error.to_string()))?;
            let calls = self.with(py, |sessions| sessions.call_decisions().pending_calls(&id))?;
            sign(&mut answered, &calls, seq, &key)?;
        }
        let call = self.with(py, |sessions| sessions.call_decisions().decide(&id, None, seq, &answered, waiting()))?;
        Ok(json!(call).to_string())
    }

    /// Says what became of a call that had started when its process ended: `retry`, `fail` with a message, or `done` with
    /// a result. Returns the number of the run.
    fn resolve(
        &self,
        py: Python<'_>,
        session_id: &str,
        seq: u64,
        what: &str,
        value: &Bound<'_, PyAny>,
        by: &str,
    ) -> PyResult<u64> {
        let id = self::session_id(session_id)?;
        let resolution = match what {
            "retry" if value.is_none() => Resolution::Retry,
            "retry" => return Err(PyValueError::new_err("`retry` takes no value")),
            "fail" => Resolution::Fail(
                value
                    .extract()
                    .map_err(|_| PyValueError::new_err("`fail` takes the message that the script sees, a text"))?,
            ),
            "done" => Resolution::Done(to_payload(value)?.value),
            other => {
                let message = format!("`{other}` is nothing that becomes of a call: `retry`, `fail` or `done`");
                return Err(PyValueError::new_err(message));
            }
        };
        self.with(py, |sessions| sessions.unfinished_runs().resolve(&id, None, seq, &resolution, by, waiting()))
    }

    /// Ends the run of a session that waits to be resumed. Returns its number.
    fn abandon(&self, py: Python<'_>, session_id: &str) -> PyResult<u64> {
        let id = self::session_id(session_id)?;
        self.with(py, |sessions| sessions.unfinished_runs().abandon(&id, waiting()))
    }

    /// Returns the number of the run of a session that can be resumed, if there is one.
    fn unfinished(&self, py: Python<'_>, session_id: &str) -> PyResult<Option<u64>> {
        let id = self::session_id(session_id)?;
        self.with(py, |sessions| sessions.unfinished_runs().run_of(&id))
    }

    /// Returns the session's log: the lines, each JSON, after checking that none was altered.
    fn log(&self, py: Python<'_>, session_id: &str) -> PyResult<Vec<String>> {
        let id = self::session_id(session_id)?;
        self.with(py, |sessions| {
            let mut lines = Vec::new();
            sessions.reader().log(&id, &mut |line| lines.push(String::from_utf8_lossy(&line.text).into_owned()))?;
            Ok(lines)
        })
    }

    /// Returns the files of a point: `ID`, `ID@RUN` or `ID@LABEL`.
    fn files(&self, py: Python<'_>, point: &str) -> PyResult<Tree> {
        let point = self::point(point)?;
        self.with(py, |sessions| sessions.reader().files(&point)).map(Tree::new)
    }

    /// Returns the files that the run of a point started with.
    fn base(&self, py: Python<'_>, point: &str) -> PyResult<Tree> {
        let point = self::point(point)?;
        self.with(py, |sessions| sessions.reader().base(&point)).map(Tree::new)
    }

    /// Returns a run call by call, as JSON.
    fn replay(&self, py: Python<'_>, point: &str) -> PyResult<String> {
        let point = self::point(point)?;
        Ok(json!(self.with(py, |sessions| sessions.history().replay(&point))?).to_string())
    }

    /// Returns where a file of a point comes from, as JSON.
    fn why(&self, py: Python<'_>, point: &str, path: &str) -> PyResult<String> {
        let point = self::point(point)?;
        Ok(json!(self.with(py, |sessions| sessions.history().why(&point, path))?).to_string())
    }

    /// Creates a session that starts with the files and the policy of a point, and shares its budgets; with the number of a
    /// call, in the middle of the point's run, before that call.
    #[pyo3(signature = (source, to, before=None))]
    fn fork(&self, py: Python<'_>, source: &str, to: &str, before: Option<u64>) -> PyResult<()> {
        let (from, to) = (point(source)?, self::session_id(to)?);
        self.with(py, |sessions| match before {
            Some(seq) => sessions.fork_before(&from, seq, &to).map(drop),
            None => sessions.fork(&from, &to),
        })
    }

    /// Restores the files of a session at one of its points.
    fn rollback(&self, py: Python<'_>, to: &str) -> PyResult<()> {
        let to = point(to)?;
        self.with(py, |sessions| sessions.rollback(&to, waiting()).map(drop))
    }

    /// Labels the files that a run left; without a run, removes the label.
    #[pyo3(signature = (session_id, label, run=None))]
    fn label(&self, py: Python<'_>, session_id: &str, label: &str, run: Option<u64>) -> PyResult<()> {
        let id = self::session_id(session_id)?;
        self.with(py, |sessions| sessions.label(&id, label, run))
    }

    /// Removes a session. An active run is cancelled.
    fn remove(&self, py: Python<'_>, session_id: &str) -> PyResult<()> {
        let id = self::session_id(session_id)?;
        self.with(py, |sessions| sessions.remove(&id, &waiting()).map(drop))
    }

    /// Exports a session to a new file: under its name there is only ever a complete one.
    /// With `hand_over` the session moves, and has no further run here.
    #[pyo3(signature = (session_id, file, hand_over=false))]
    fn export(&self, py: Python<'_>, session_id: &str, file: PathBuf, hand_over: bool) -> PyResult<()> {
        let id = self::session_id(session_id)?;
        let written = unfinished(&file)?;
        let (waiting, out) = (self::waiting(), BufWriter::new(written));
        let (mut out, _) = self.with(py, |sessions| match hand_over {
            true => sessions.transfer().hand_over(&id, out, waiting),
            false => sessions.transfer().export(&id, out),
        })?;
        out.flush()?;
        out.get_ref().as_file().sync_all()?;
        let written = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        written.persist_noclobber(&file).map_err(|error| error.error)?;
        Ok(())
    }

    /// Imports a session from such a file, of at most `most` bytes unpacked, and returns its name. `budget` is `keep`,
    /// `fresh`, or nothing.
    #[pyo3(signature = (file, name=None, most=16 << 30, budget=None))]
    fn import_(
        &self,
        py: Python<'_>,
        file: PathBuf,
        name: Option<&str>,
        most: u64,
        budget: Option<&str>,
    ) -> PyResult<String> {
        let name = name.map(session_id).transpose()?;
        let budget = match budget {
            None => None,
            Some("keep") => Some(ImportBudget::Keep),
            Some("fresh") => Some(ImportBudget::Fresh),
            Some(other) => {
                return Err(PyValueError::new_err(format!("`{other}` is no budget of an import: `keep` or `fresh`")));
            }
        };
        let read = BufReader::new(untrusted_file::open_named(&file).map_err(io::Error::from)?);
        let options = ImportOptions { name, most, budget };
        self.with(py, |sessions| sessions.transfer().import(read, &options))
            .map(|imported| imported.session.to_string())
    }

    /// Frees the blobs that no session names. Returns the number of bytes freed.
    fn gc(&self, py: Python<'_>) -> PyResult<u64> {
        let swept = self.with(py, |sessions| sessions.garbage_collector().collect(false))?;
        Ok(swept.removed.bytes + swept.leftovers.bytes)
    }

    /// Verifies a session. Raises for the first problem.
    fn verify(&self, py: Python<'_>, session_id: &str) -> PyResult<()> {
        let id = self::session_id(session_id)?;
        self.with(py, |sessions| sessions.verifier().verify_session(&id).map(drop))
    }
}

/// Signs an approval of the call that is meant: the one with this number or digest, or the only one.
fn sign(answered: &mut Answered, calls: &[PendingCall], seq: Option<u64>, key: &PrivateKey) -> PyResult<()> {
    let is_meant = |pending: &&PendingCall| {
        seq.map_or(pending.decision.is_none(), |seq| pending.call.seq == seq)
            && answered.digest.as_ref().is_none_or(|digest| pending.call.digest == *digest)
    };
    let mut meant = calls.iter().filter(is_meant);
    // Whether there is none, or several, is told by the store.
    let (Some(pending), None) = (meant.next(), meant.next()) else { return Ok(()) };
    let statement = pending.approval_statement(answered.arguments.as_ref()).ok_or_else(|| {
        PyValueError::new_err("the call needs no signature: its grant has no `approved_by`, so leave `key` out")
    })?;
    answered.signature = Some(statement.sign(key));
    answered.digest = Some(pending.call.digest.clone());
    Ok(())
}
