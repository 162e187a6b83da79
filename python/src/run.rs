//! Runs in steps: whoever drives one answers the calls of host functions, even of those that have a handler.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use serde_json::Value;
use tollhouse::error::Failure;
use tollhouse::guest::{Completion, OperationId, Value as Answer};
use tollhouse::session::{self, CancelHandle, Operation, RecordingFile, Step};

use crate::convert::{to_payload, to_python};
use crate::driver::{Raised, detached};
use crate::errors::RuntimeError;
use crate::process::OfProcess;
use crate::result::RunResult;
use crate::session::save_recording;

/// Call that a run waits for.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct Call {
    id: OperationId,
    /// Number of the call in its run.
    #[pyo3(get)]
    seq: u64,
    /// Canonical name of the method.
    #[pyo3(get)]
    method: String,
    /// Idempotency key of the call.
    #[pyo3(get)]
    idempotency_key: String,
    arguments: Value,
}

#[pymethods]
impl Call {
    /// Returns the arguments of the call: exactly those that the gate checked.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.arguments)
    }

    fn __repr__(&self) -> String {
        format!("Call(seq={}, method={:?}, arguments={})", self.seq, self.method, self.arguments)
    }
}

/// Run in steps.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct Run {
    run: OfProcess<Mutex<State>>,
    cancel: CancelHandle,
    raised: Arc<Raised>,
    /// Number under which `raised` has the run.
    number: u64,
    /// File that the calls are recorded in.
    recording: Option<Arc<RecordingFile>>,
}

enum State {
    Going(Box<session::Run>),
    /// Another thread drives the run.
    Away,
    Ended(Box<session::RunResult>),
}

impl Drop for Run {
    /// Cancels a run that was given up.
    fn drop(&mut self) {
        if self.run.is_here() {
            self.raised.forget(self.number);
        }
    }
}

/// Result of a step.
enum Stepped {
    Calls(Vec<Call>),
    Ended(Box<session::RunResult>),
}

impl Run {
    pub(crate) fn new(
        run: session::Run,
        session: &OfProcess<session::Session>,
        raised: Arc<Raised>,
        recording: Option<Arc<RecordingFile>>,
    ) -> PyResult<Self> {
        let cancel = run.cancel_handle();
        let stop = cancel.clone();
        let number = raised.watch(session.get()?.number(), move || stop.cancel());
        Ok(Self { run: session.with(Mutex::new(State::Going(Box::new(run)))), cancel, raised, number, recording })
    }

    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        Ok(self.run.get()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs something on the run, with the interpreter released.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut session::Run) -> T + Send) -> PyResult<T> {
        let taken = std::mem::replace(&mut *self.state()?, State::Away);
        let mut run = match taken {
            State::Going(run) => run,
            State::Away => return Err(RuntimeError::new_err("another thread drives this run")),
            State::Ended(result) => {
                *self.state()? = State::Ended(result);
                return Err(RuntimeError::new_err("the run has ended"));
            }
        };
        let cancel = self.cancel.clone();
        let done = detached(py, move || cancel.cancel(), || work(&mut run));
        *self.state()? = State::Going(run);
        let (done, signal) = done?;
        // The signal cancelled the run: the next step ends it.
        signal.map_or(Ok(done), Err)
    }
}

#[pymethods]
impl Run {
    /// Continues until the run waits for something new, or has ended. Returns the calls to answer. Timers and
    /// components are handled here. Call `wait` before the next step.
    fn step(&self, py: Python<'_>) -> PyResult<Vec<Call>> {
        if self.is_over()? {
            return Ok(Vec::new());
        }
        match self.with(py, step)? {
            Stepped::Calls(calls) => Ok(calls),
            Stepped::Ended(result) => {
                *self.state()? = State::Ended(result);
                let saved = save_recording(py, self.recording.as_deref());
                self.raised.take(self.number).map_or_else(|| saved.map(|()| Vec::new()), Err)
            }
        }
    }

    /// Waits until an operation of the run has ended.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, session::Run::wait)
    }

    /// Answers a call.
    fn resume(&self, py: Python<'_>, call: &Call, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let payload = to_payload(value)?;
        let completion = Completion { id: call.id, result: Ok(Answer::Json(payload)) };
        self.with(py, move |run| run.resume(completion))
    }

    /// Answers a call with an exception.
    fn fail(&self, py: Python<'_>, call: &Call, error: &Bound<'_, PyAny>) -> PyResult<()> {
        let failure: Failure = crate::tool::failure(py, &PyErr::from_value(error.clone()), &|_| Ok(()));
        let completion = Completion { id: call.id, result: Err(failure) };
        self.with(py, move |run| run.resume(completion))
    }

    /// Cancels the run.
    fn cancel(&self) -> PyResult<()> {
        self.run.get()?;
        self.cancel.cancel();
        Ok(())
    }

    /// Returns true if the run has ended.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        Ok(matches!(*self.state()?, State::Ended(_)))
    }

    /// Returns the result; None while the run is active.
    #[getter]
    fn result(&self) -> PyResult<Option<RunResult>> {
        Ok(match &*self.state()? {
            State::Ended(result) => Some(RunResult((**result).clone())),
            _ => None,
        })
    }
}

fn step(run: &mut session::Run) -> Stepped {
    match run.step() {
        Step::Finished(result) => Stepped::Ended(result),
        Step::Blocked(started) => {
            let mut calls = Vec::new();
            for pending in started {
                match &pending.operation {
                    Operation::Call(call) if call.is_host_function() => calls.push(Call {
                        id: pending.id,
                        seq: call.seq(),
                        method: call.method().to_owned(),
                        idempotency_key: run.idempotency_key(call.seq()),
                        arguments: call.arguments().clone(),
                    }),
                    _ => run.perform(pending),
                }
            }
            Stepped::Calls(calls)
        }
    }
}
