//! Sessions.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use tollhouse::capability::Approve;
use tollhouse::gate::Gate;
use tollhouse::guest::{Language, OutputSink, Script};
use tollhouse::session::{self, HostError, RecordingFile, RunOptions, Stdin};

use crate::convert::{payload_to_python, to_payload, to_python};
use crate::driver::{self, Raised};
use crate::errors::{RuntimeError, raised};
use crate::files::{self, Tree};
use crate::output::{Both, Listened};
use crate::process::OfProcess;
use crate::result::RunResult;
use crate::run::Run;
use crate::store::{host_failed, or_signal};

/// Session: files, grants, and the spent part of their budgets. It has one run at a time.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct Session {
    session: OfProcess<session::Session>,
    /// True if the session was delegated from another one, in whose run it runs.
    is_delegate: bool,
    raised: Arc<Raised>,
    /// File that the calls are recorded in, which is written after each run.
    recording: Option<Arc<RecordingFile>>,
}

impl Session {
    pub(crate) fn in_memory(session: session::Session, raised: Arc<Raised>, recording: Option<RecordingFile>) -> Self {
        let remedy = "make it after the fork, e.g. in gunicorn's `post_fork` hook";
        let session = OfProcess::new(session, "sandbox", remedy);
        Self { session, is_delegate: false, raised, recording: recording.map(Arc::new) }
    }

    pub(crate) fn on_disk(session: session::Session, raised: Arc<Raised>) -> Self {
        let session = OfProcess::new(session, "session", "open it again here");
        Self { session, is_delegate: false, raised, recording: None }
    }

    fn gate(&self) -> PyResult<&Gate> {
        Ok(self.session.get()?.gate())
    }

    /// Drives a run to its end. Its output goes to the listener too, if there is one.
    fn finish(
        &self,
        py: Python<'_>,
        listener: Option<Py<PyAny>>,
        start: impl FnOnce(Option<Box<dyn OutputSink>>) -> PyResult<session::Run>,
    ) -> PyResult<RunResult> {
        let both = Both::default();
        let output = listener.map(|listener| {
            let (both, raised) = (Arc::clone(&both), Arc::clone(&self.raised));
            Box::new(Listened { both, listener, raised }) as Box<_>
        });
        let listened = output.is_some();
        let run = start(output)?;
        let finished = driver::finish(py, self.number()?, run, &self.raised);
        let saved = save_recording(py, self.recording.as_deref());
        // What a tool or a listener raised says more than a file that cannot be written.
        let mut result = finished?;
        saved?;
        if listened {
            let mut both = both.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            (result.stdout, result.stderr) = std::mem::take(&mut *both);
        }
        Ok(RunResult(result))
    }

    fn prepare(&self, py: Python<'_>, language: &str, source: String, options: RunOptions) -> PyResult<session::Run> {
        let (language, name) = spoken(language)?;
        let script = Script { source, name: name.to_owned(), ..Script::default() };
        // A session on disk may have to wait for another process.
        let session = self.session.get()?;
        let started = py.detach(|| session.start(language, script, options));
        started.map_err(|error| or_signal(py, host_failed(&error)))
    }
}

/// Writes the file that the calls of a session are recorded in, if there is one.
pub(crate) fn save_recording(py: Python<'_>, recording: Option<&RecordingFile>) -> PyResult<()> {
    match recording {
        Some(recording) => py.detach(|| recording.save()).map_err(|error| host_failed(&error)),
        None => Ok(()),
    }
}

/// Converts the error of an operation that is impossible while a run is active.
fn busy(what: &str, error: &HostError) -> PyErr {
    match error {
        HostError::Busy => RuntimeError::new_err(format!("a run goes on: {what} when it has ended")),
        error => host_failed(error),
    }
}

/// Returns the language with this name, and the name of a script in it.
pub(crate) fn spoken(language: &str) -> PyResult<(Language, &'static str)> {
    match language {
        "javascript" => Ok((Language::JavaScript, "script.js")),
        "typescript" => Ok((Language::JavaScript, "script.ts")),
        "shell" => Ok((Language::Shell, "script.sh")),
        other => {
            let message = format!("there is no language `{other}`: it is `javascript`, `typescript` or `shell`");
            Err(PyValueError::new_err(message))
        }
    }
}

#[pymethods]
impl Session {
    /// Runs a script to its end, or until it is suspended. `listener(stream, bytes)` is called with output as it comes.
    #[pyo3(signature = (language, source, *, stdin=None, listener=None, keep_state=false))]
    fn run(
        &self,
        py: Python<'_>,
        language: &str,
        source: String,
        stdin: Option<Vec<u8>>,
        listener: Option<Py<PyAny>>,
        keep_state: bool,
    ) -> PyResult<RunResult> {
        let stdin = stdin.map_or(Stdin::Empty, Stdin::Bytes);
        self.finish(py, listener, |output| {
            self.prepare(py, language, source, RunOptions { output, stdin, keep_state, ..RunOptions::default() })
        })
    }

    /// Continues the run that is suspended or was interrupted, as `run`. `stdin` is what it has not read yet; with
    /// `replay_output`, what it had written before is written again.
    #[pyo3(signature = (*, stdin=None, listener=None, replay_output=false))]
    fn resume(
        &self,
        py: Python<'_>,
        stdin: Option<Vec<u8>>,
        listener: Option<Py<PyAny>>,
        replay_output: bool,
    ) -> PyResult<RunResult> {
        let stdin = stdin.map_or(Stdin::Empty, Stdin::Bytes);
        let session = self.session.get()?;
        self.finish(py, listener, |output| {
            let options = RunOptions { output, stdin, replay_output, ..RunOptions::default() };
            let resumed = py.detach(|| session.resume(options));
            resumed.map_err(|error| or_signal(py, host_failed(&error)))
        })
    }

    /// Starts a run in steps. Another one cannot start before it has ended.
    #[pyo3(signature = (language, source, *, stdin=None, keep_state=false))]
    fn start(
        &self,
        py: Python<'_>,
        language: &str,
        source: String,
        stdin: Option<Vec<u8>>,
        keep_state: bool,
    ) -> PyResult<Run> {
        let stdin = stdin.map_or(Stdin::Empty, Stdin::Bytes);
        let run = self.prepare(py, language, source, RunOptions { stdin, keep_state, ..RunOptions::default() })?;
        Run::new(run, &self.session, Arc::clone(&self.raised), self.recording.clone())
    }

    /// Creates a session with the same grants, which starts with these files: its spending counts here too.
    fn delegate(&self, py: Python<'_>) -> PyResult<Self> {
        let session = self.session.get()?;
        let policy = session.gate().policy().clone();
        let delegate = py.detach(|| session.delegate(policy)).map_err(|error| raised(&error))?;
        // The run around it writes the recording.
        let session = self.session.with(delegate);
        Ok(Self { session, is_delegate: true, raised: Arc::clone(&self.raised), recording: None })
    }

    /// Returns the number of the session, which its calls tell their handlers.
    #[getter]
    fn number(&self) -> PyResult<u64> {
        Ok(self.session.get()?.number())
    }

    /// Cancels the active run, with the runs that its tools make in delegated sessions.
    fn cancel(&self) -> PyResult<()> {
        let number = self.number()?;
        if self.is_delegate {
            self.raised.cancel_session(number);
        } else {
            self.raised.cancel();
        }
        Ok(())
    }

    /// Raises `RuntimeError` in a process that was forked from the session's own.
    fn check_process(&self) -> PyResult<()> {
        self.session.get().map(drop)
    }

    /// Returns true in the process that created the session.
    fn is_here(&self) -> bool {
        self.session.is_here()
    }

    /// Returns whether a call would be allowed now, and if not why. Nothing is spent.
    fn allows(&self, py: Python<'_>, method: &str, arguments: &str) -> PyResult<(bool, Option<String>)> {
        let gate = self.gate()?;
        let method = gate.tools().find(method).map_or_else(|| method.to_owned(), |tool| tool.method().to_owned());
        let opinions = py.detach(|| gate.explain(&method, arguments));
        Ok(match opinions {
            Err(failure) => (false, Some(failure.message)),
            Ok(opinions) if opinions.iter().any(|opinion| opinion.allows) => (true, None),
            Ok(opinions) => {
                let why = opinions.into_iter().flat_map(|opinion| opinion.why).next();
                (false, Some(why.unwrap_or_else(|| format!("no grant allows `{method}`"))))
            }
        })
    }

    /// Returns true if a grant could allow a call of a method.
    fn grants(&self, method: &str) -> PyResult<bool> {
        let gate = self.gate()?;
        Ok(gate.tools().find(method).is_some_and(|tool| gate.grants(tool.method())))
    }

    /// Returns true if some grant may ask a human.
    fn asks(&self) -> PyResult<bool> {
        Ok(self.gate()?.policy().grants.iter().any(|grant| grant.approve != Approve::Never))
    }

    /// Returns how many calls each grant allowed, by its name; grants that allowed none are left out.
    fn counts(&self) -> PyResult<std::collections::HashMap<String, u64>> {
        Ok(self.gate()?.counts().into_iter().filter(|(_, calls)| *calls > 0).collect())
    }

    /// Returns what is left of every budget.
    fn budgets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let budgets = self.gate()?.budgets();
        to_python(py, &serde_json::to_value(budgets).expect("budgets are plain data"))
    }

    /// Returns the problems of a script, as a list of `{kind, name, message, hint, stack, location}`. Nothing of it is
    /// run.
    fn check<'py>(&self, py: Python<'py>, language: &str, source: &str) -> PyResult<Bound<'py, PyAny>> {
        let session = self.session.get()?;
        let (language, name) = spoken(language)?;
        let problems = py.detach(|| session.check(language, source, name)).map_err(|error| raised(&error))?;
        to_python(py, &serde_json::to_value(problems).expect("problems are plain data"))
    }

    /// Returns TypeScript declarations of all mounted tools.
    fn typescript(&self) -> PyResult<String> {
        let gate = self.gate()?;
        Ok(gate.tools().typescript(&|method| gate.grants(method)))
    }

    /// Returns a Python module that declares the parameters, results and errors of the packages.
    fn python(&self) -> PyResult<String> {
        Ok(self.gate()?.tools().python())
    }

    /// Calls one tool, without a script. Returns its result, or JSON that describes its failure.
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        arguments: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<String>)> {
        let session = self.session.get()?;
        let tool = session.gate().tools().find(method).map(|tool| tool.method().to_owned());
        let (method, arguments) = (tool.as_deref().unwrap_or(method), to_payload(arguments)?.value.to_string());
        let call = py.detach(|| session.start_call(method, &arguments));
        let call = call.map_err(|error| or_signal(py, host_failed(&error)))?;
        match driver::finish_call(py, session.number(), call, &self.raised)? {
            Ok(payload) => Ok((payload_to_python(py, &payload)?, None)),
            Err(failure) => Ok((py.None().into_bound(py), Some(json!(failure).to_string()))),
        }
    }

    /// Saves the session to bytes: its files, the spent part of its budgets, and the state of its last scripts.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let session = self.session.get()?;
        let saved = py.detach(|| session.save()).map_err(|error| busy("take its snapshot", &error))?;
        Ok(PyBytes::new(py, &saved))
    }

    /// Loads bytes that `save` returned. The session's own grants stay as they are.
    fn load(&self, py: Python<'_>, saved: Vec<u8>) -> PyResult<()> {
        let session = self.session.get()?;
        py.detach(|| session.load(&saved)).map_err(|error| busy("restore it", &error))
    }

    /// Returns the files as the last run left them.
    fn files(&self) -> PyResult<Tree> {
        Ok(Tree::new(self.session.get()?.files()))
    }

    /// Reloads the files from disk, where another process may have run the session.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        let session = self.session.get()?;
        py.detach(|| session.refresh()).map_err(|error| host_failed(&error))
    }

    /// Writes (bytes) and removes (None) files, in order, between two runs: all of them or none.
    fn change_files(&self, py: Python<'_>, what: &str, edits: Vec<(String, Option<Vec<u8>>)>) -> PyResult<()> {
        let session = self.session.get()?;
        let changed = py.detach(|| session.change(what, |tree| files::change(tree, &edits)));
        changed.map_err(|error| or_signal(py, busy("change files", &error)))
    }

    /// Copies directories and files of this machine in, read-only, between two runs: all of them or none. Earlier
    /// mounts at the same paths are replaced. Returns what was left out, and why.
    fn mount(&self, py: Python<'_>, mounts: Vec<(PathBuf, String)>) -> PyResult<Vec<String>> {
        let session = self.session.get()?;
        let mut skipped = Vec::new();
        let changed =
            py.detach(|| session.change("mounted directories", |tree| files::mount(tree, &mounts, &mut skipped)));
        changed.map_err(|error| or_signal(py, busy("mount directories", &error)))?;
        Ok(skipped)
    }
}
