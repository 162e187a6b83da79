//! Errors as Python raises them.

use std::error::Error;

use pyo3::PyErr;
use pyo3::exceptions::PyException;

pyo3::create_exception!(_native, NativeError, PyException, "The host cannot do that.");
pyo3::create_exception!(_native, PolicyError, PyException, "The policy is at fault.");

/// An error with its causes, in one line.
pub(crate) fn told(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        told = format!("{told}: {error}");
        cause = error.source();
    }
    told
}

/// The host's error.
pub(crate) fn raised(error: &dyn Error) -> PyErr {
    NativeError::new_err(told(error))
}
