//! Python functions as host functions.

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::exceptions::{PyException, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use tollhouse::code::Interrupt;
use tollhouse::error::{Failure, Payload};
use tollhouse::tool::typescript::HostSignature;
use tollhouse::tool::{self, HostCall, HostFunction, names};

use crate::convert::{to_counted_payload, to_python};
use crate::driver::{Raised, attached};
use crate::errors::told;

/// Python function as a tool: `HostTool(name, description, schema, handler, result)`, with the JSON Schema of its
/// parameters, and of its result if that is known; `idempotent` if a call can be repeated. The handler is called with the
/// canonical method, a dict and the [`CallEnding`]; without a handler, only a driver of runs in steps answers.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct HostTool {
    tool: tool::HostTool,
    handler: Option<Py<PyAny>>,
    /// Notes on the faces that the tool lacks.
    lost_faces: Arc<[String]>,
}

#[pymethods]
impl HostTool {
    #[new]
    #[pyo3(signature = (name, description, schema, handler=None, result=None, *, idempotent=false))]
    fn new(
        name: &str,
        description: &str,
        schema: &str,
        handler: Option<Py<PyAny>>,
        result: Option<&str>,
        idempotent: bool,
    ) -> PyResult<Self> {
        let read = |text: &str| serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()));
        let refused = |error: tool::HostToolError| PyValueError::new_err(told(&error));
        let mut tool = tool::HostTool::new(name, description, read(schema)?).map_err(refused)?;
        if let Some(result) = result {
            tool = tool.returning(read(result)?).map_err(refused)?;
        }
        if idempotent {
            tool = tool.idempotent();
        }
        Ok(Self::of(tool, handler))
    }

    /// Makes the same tool with another handler.
    fn answered_by(&self, handler: Py<PyAny>) -> Self {
        Self { tool: self.tool.clone(), handler: Some(handler), lost_faces: Arc::clone(&self.lost_faces) }
    }

    /// Creates a namespace whose members need not be declared.
    #[staticmethod]
    #[pyo3(signature = (name, description, handler=None))]
    fn namespace(name: &str, description: &str, handler: Option<Py<PyAny>>) -> PyResult<Self> {
        let tool = tool::HostTool::namespace(name, description);
        Ok(Self::of(tool.map_err(|error| PyValueError::new_err(told(&error)))?, handler))
    }

    /// Creates the placeholder of a removed tool: each call of it is denied, for this reason.
    #[staticmethod]
    #[pyo3(signature = (name, reason, *, namespace=false))]
    fn withdrawn(name: &str, reason: &str, namespace: bool) -> PyResult<Self> {
        let tool = if namespace {
            tool::HostTool::namespace(name, reason)
        } else {
            tool::HostTool::new(name, reason, json!({ "type": "object" }))
        };
        let tool = tool.map_err(|error| PyValueError::new_err(told(&error)))?;
        Ok(Self::of(tool.withdrawn(reason), None))
    }

    /// Notes on the faces that the tool lacks, because its name means something else in a script language.
    #[getter]
    fn lost_faces(&self) -> &[String] {
        &self.lost_faces
    }

    /// Canonical method of the tool.
    #[getter]
    fn method(&self) -> &str {
        self.tool.method()
    }
}

impl HostTool {
    fn of(tool: tool::HostTool, handler: Option<Py<PyAny>>) -> Self {
        let lost_faces = tool.lost_faces().iter().map(ToString::to_string).collect();
        Self { tool, handler, lost_faces }
    }

    /// Returns the tool as a session takes it.
    pub(crate) fn mounted(&self, py: Python<'_>, raised: &Arc<Raised>) -> tool::HostTool {
        match &self.handler {
            Some(handler) => {
                let answer = Answer { handler: handler.clone_ref(py), raised: Arc::clone(raised) };
                self.tool.clone().answered_by(answer)
            }
            None => self.tool.clone(),
        }
    }
}

/// Returns the name of a host function in JavaScript, by its canonical method.
#[pyfunction]
pub(crate) fn javascript_name(method: &str) -> String {
    names::faces(method, names::Spelling::Own).path
}

/// Result of `tool_signature`: the arguments, the result, and pairs of names and texts: the recursive types, and the
/// remarks.
type ToldSignature = (Option<String>, String, Vec<(String, String)>, Vec<(String, String)>);

/// Returns the one-line signature of a function, from the JSON Schemas of its parameters and its result.
#[pyfunction]
#[pyo3(signature = (parameters, result=None))]
pub(crate) fn tool_signature(parameters: &str, result: Option<&str>) -> PyResult<ToldSignature> {
    let read = |text: &str| serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()));
    let result = result.map_or(Ok(Value::Bool(true)), read)?;
    let HostSignature { arguments, result, types, remarks } = HostSignature::new(&read(parameters)?, &result);
    Ok((arguments, result, types, remarks.into_iter().map(|remark| (remark.place, remark.text)).collect()))
}

/// Handle by which the handler of a call learns of the call, and whether its run still waits.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct CallEnding {
    interrupt: Interrupt,
    /// Number of the call in its run, from 1.
    #[pyo3(get)]
    seq: u64,
    /// Number of the session that makes the call.
    #[pyo3(get)]
    session: u64,
    /// Idempotency key of the call.
    #[pyo3(get)]
    idempotency_key: String,
}

#[pymethods]
impl CallEnding {
    /// Returns true if nobody waits for the answer any more: the run ended, was cancelled, or its time is over.
    fn is_over(&self) -> bool {
        self.interrupt.stopped().is_some()
    }
}

/// Handler that answers calls by a Python function.
struct Answer {
    handler: Py<PyAny>,
    raised: Arc<Raised>,
}

impl HostFunction for Answer {
    fn call(&self, call: &HostCall<'_>) -> Result<Payload, Failure> {
        let refused = RefCell::new(None);
        let count = |bytes: usize| {
            call.keep(bytes as u64).map_err(|failure| {
                refused.replace(Some(failure));
                PyMemoryError::new_err("the result is too large")
            })
        };
        attached(|py| {
            let called = to_python(py, call.arguments)
                .and_then(|arguments| {
                    let idempotency_key = call.idempotency_key();
                    let (interrupt, seq, session) = (call.interrupt(), call.seq, call.session());
                    let ending = CallEnding { interrupt, seq, session, idempotency_key };
                    self.handler.bind(py).call1((call.method, arguments, ending))
                })
                .and_then(|value| to_counted_payload(&value, &count));
            called.map_err(|error| {
                if let Some(failure) = refused.take() {
                    return failure;
                }
                if error.is_instance_of::<PyException>(py) {
                    let failure = failure(py, &error, &count);
                    return refused.take().unwrap_or(failure);
                }
                // KeyboardInterrupt and its like go to whoever runs the script, not to the script.
                self.raised.raise(error);
                Failure::cancelled()
            })
        })
    }
}

/// Attribute of an exception that replaces what a script sees of it: a dict of `name`, `message`, `payload`.
const TOLD: &str = "_tollhouse_told";

/// Converts an exception for a script: what the exception provides for it, otherwise its type and its message. `count`
/// is called with the bytes of its payload, as in [`to_counted_payload`].
pub(crate) fn failure(py: Python<'_>, error: &PyErr, count: &dyn Fn(usize) -> PyResult<()>) -> Failure {
    if let Ok(told) = error.value(py).getattr(TOLD) {
        return stated(&told, count).unwrap_or_else(|error| failure(py, &error, count));
    }
    let name = error.get_type(py).name().map_or_else(|_| "Exception".to_owned(), |name| name.to_string());
    let message = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string());
    let payload = json!({ "type": name, "message": message });
    let told = if message.is_empty() { name } else { format!("{name}: {message}") };
    Failure::tool(told).with_payload(Value::into(payload))
}

/// Converts a dict to a failure. A payload without a JSON form is an error.
fn stated(told: &Bound<'_, PyAny>, count: &dyn Fn(usize) -> PyResult<()>) -> PyResult<Failure> {
    let (name, message): (String, String) = (told.get_item("name")?.extract()?, told.get_item("message")?.extract()?);
    let mut failure = Failure::tool(message);
    failure.name = name;
    let payload = told.get_item("payload")?;
    Ok(if payload.is_none() { failure } else { failure.with_payload(to_counted_payload(&payload, count)?) })
}
