//! Errors as Python exceptions: the classes of `tollhouse.errors`.

use std::error::Error;

use pyo3::PyErr;

/// Classes of the package. Each is imported when it is first raised, since a plain run raises none.
mod classes {
    pyo3::import_exception!(tollhouse.errors, NativeError);
    pyo3::import_exception!(tollhouse.errors, PolicyError);
    pyo3::import_exception!(tollhouse.errors, RuntimeError);
    pyo3::import_exception!(tollhouse.errors, SessionConflictError);
    pyo3::import_exception!(tollhouse.errors, SessionNotFoundError);
}

pub(crate) use classes::{NativeError, PolicyError, RuntimeError, SessionConflictError, SessionNotFoundError};

/// Formats an error with its causes, in one line.
pub(crate) fn told(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        told = format!("{told}: {error}");
        cause = error.source();
    }
    told
}

/// Converts an error of the host to an exception.
pub(crate) fn raised(error: &dyn Error) -> PyErr {
    NativeError::new_err(told(error))
}
