//! Sessions.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tollhouse::guest::{Language, Script};
use tollhouse::session::{self, RunOptions, Stdin};

use crate::convert::to_python;
use crate::driver::{self, Raised};
use crate::errors::raised;
use crate::output::{Both, Listened};
use crate::result::RunResult;
use crate::run::Run;

/// A session: files, grants, and what is spent of them. One run at a time.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct Session {
    session: session::Session,
    raised: Arc<Raised>,
}

impl Session {
    pub(crate) fn new(session: session::Session, raised: Arc<Raised>) -> Self {
        Self { session, raised }
    }

    fn prepare(&self, py: Python<'_>, language: &str, source: String, options: RunOptions) -> PyResult<session::Run> {
        let (language, name) = match language {
            "javascript" => (Language::JavaScript, "script.js"),
            "shell" => (Language::Shell, "script.sh"),
            other => {
                let message = format!("there is no language `{other}`: it is `javascript` or `shell`");
                return Err(PyValueError::new_err(message));
            }
        };
        let script = Script { source, name: name.to_owned(), ..Script::default() };
        py.detach(|| self.session.start(language, script, options)).map_err(|error| raised(&error))
    }
}

#[pymethods]
impl Session {
    /// Runs a script to its end. `listener(stream, bytes)` is called with output as it comes.
    #[pyo3(signature = (language, source, *, stdin=None, listener=None))]
    fn run(
        &self,
        py: Python<'_>,
        language: &str,
        source: String,
        stdin: Option<Vec<u8>>,
        listener: Option<Py<PyAny>>,
    ) -> PyResult<RunResult> {
        let both = Both::default();
        let output = listener.map(|listener| {
            let (both, raised) = (Arc::clone(&both), Arc::clone(&self.raised));
            Box::new(Listened { both, listener, raised }) as Box<_>
        });
        let listened = output.is_some();
        let options = RunOptions { output, stdin: stdin.map_or(Stdin::Empty, Stdin::Bytes), ..RunOptions::default() };
        let run = self.prepare(py, language, source, options)?;
        let mut result = driver::finish(py, run, &self.raised)?;
        if listened {
            let mut both = both.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            (result.stdout, result.stderr) = std::mem::take(&mut *both);
        }
        Ok(RunResult(result))
    }

    /// Begins a run in steps. Another one cannot begin before it has ended.
    #[pyo3(signature = (language, source, *, stdin=None))]
    fn start(&self, py: Python<'_>, language: &str, source: String, stdin: Option<Vec<u8>>) -> PyResult<Run> {
        let stdin = stdin.map_or(Stdin::Empty, Stdin::Bytes);
        let run = self.prepare(py, language, source, RunOptions { stdin, ..RunOptions::default() })?;
        Ok(Run::new(run, Arc::clone(&self.raised)))
    }

    /// A session with the same grants, which begins with these files: what it spends is spent here too.
    fn delegate(&self, py: Python<'_>) -> PyResult<Self> {
        let policy = self.session.gate().policy().clone();
        let session = py.detach(|| self.session.delegate(policy)).map_err(|error| raised(&error))?;
        Ok(Self::new(session, Arc::clone(&self.raised)))
    }

    /// Stops the run that goes on.
    fn cancel(&self) {
        self.raised.cancel();
    }

    /// Whether a call would be allowed now, and if not why. Nothing is spent.
    fn allows(&self, py: Python<'_>, method: &str, arguments: &str) -> PyResult<(bool, Option<String>)> {
        let gate = self.session.gate();
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

    /// Whether a grant could allow a call of a method.
    fn grants(&self, method: &str) -> bool {
        let gate = self.session.gate();
        gate.tools().find(method).is_some_and(|tool| gate.grants(tool.method()))
    }

    /// How many calls each grant allowed, by its name; those that it allowed none are left out.
    fn counts(&self) -> std::collections::HashMap<String, u64> {
        self.session.gate().counts().into_iter().filter(|(_, calls)| *calls > 0).collect()
    }

    /// What is left of every budget.
    fn budgets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let budgets = self.session.gate().budgets();
        to_python(py, &serde_json::to_value(budgets).unwrap_or_default())
    }

    /// TypeScript declarations of all that is mounted.
    fn typescript(&self) -> String {
        let gate = self.session.gate();
        gate.tools().typescript(&|method| gate.grants(method))
    }

    /// The bytes of a file.
    fn read_file<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self
            .session
            .files()
            .read_file(path)
            .map_err(|error| pyo3::exceptions::PyOSError::new_err(format!("{path}: {error}")))?;
        Ok(PyBytes::new(py, &bytes))
    }
}
