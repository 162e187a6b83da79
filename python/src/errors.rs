//! Errors as Python exceptions: the classes of `tollhouse.errors`.

use std::error::Error;

use pyo3::PyErr;
use tollhouse::capability;

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

/// Formats the error of a policy with its hint, and with its line if `text` is what somebody wrote.
pub(crate) fn policy_told(error: &capability::PolicyError, text: Option<&str>) -> String {
    let before = error.span.as_ref().zip(text).and_then(|(span, text)| text.get(..span.start));
    let line = before.map(|before| format!(" (line {})", before.matches('\n').count() + 1)).unwrap_or_default();
    let hint = error.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("{}{line}{hint}", told(error))
}

/// Converts an error of the host to an exception.
pub(crate) fn raised(error: &dyn Error) -> PyErr {
    NativeError::new_err(told(error))
}
