//! What a run came to.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use tollhouse::session;

use crate::convert::to_python;

/// What a run came to.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct RunResult(pub(crate) session::RunResult);

#[pymethods]
impl RunResult {
    /// `completed`, `failed`, `denied`, `limited` or `cancelled`.
    #[getter]
    fn status(&self) -> &'static str {
        self.0.status.word()
    }

    /// What the script returned.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.value.as_ref().unwrap_or(&Value::Null))
    }

    /// Whether the script returned anything.
    #[getter]
    fn has_value(&self) -> bool {
        self.0.value.is_some()
    }

    #[getter]
    fn stdout<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.stdout)
    }

    #[getter]
    fn stderr<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.stderr)
    }

    #[getter]
    fn exit_code(&self) -> u8 {
        self.0.exit_code
    }

    /// Steps that its guests used, in their own count.
    #[getter]
    fn fuel(&self) -> u64 {
        self.0.usage.fuel
    }

    /// `{kind, name, message, hint, stack, location}`, or None; the last only where the place is known.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &serde_json::to_value(&self.0.error).unwrap_or_default())
    }
}
