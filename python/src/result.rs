//! Results of runs.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use tollhouse::session;

use crate::convert::to_python;

/// Result of a run.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct RunResult(pub(crate) session::RunResult);

#[pymethods]
impl RunResult {
    /// `completed`, `failed`, `denied`, `limited`, `cancelled`, `suspended` or `in_doubt`.
    #[getter]
    fn status(&self) -> &'static str {
        self.0.status.word()
    }

    /// Returns the script's return value.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.value.as_ref().unwrap_or(&Value::Null))
    }

    /// Returns true if the script returned a value.
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

    /// Returns the units of fuel that the guests used.
    #[getter]
    fn fuel(&self) -> u64 {
        self.0.usage.fuel
    }

    /// Returns `{kind, name, message, hint, stack, location}`, or None; the last only if the position is known.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &serde_json::to_value(&self.0.error).unwrap_or_default())
    }
}
