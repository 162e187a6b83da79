//! Receipts of runs: signed files from which anyone can run a script again.

use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use tollhouse::session::{Host, Point, ReceiptError, Sessions, Verification, VerifyOptions};
use tollhouse_registry::{PrivateKey, untrusted_file};

use crate::errors::{raised, told};
use crate::files::unfinished;
use crate::store::{failed, host_failed};

/// Writes the receipt of a run to a new file: under its name there is only ever a complete one. Returns the verification
/// that was made before.
pub(crate) fn write(
    py: Python<'_>,
    host: &Host,
    sessions: &Sessions,
    point: &str,
    file: &Path,
    key: &str,
    options: &VerifyOptions,
) -> PyResult<String> {
    let point: Point = point.parse().map_err(|error| PyValueError::new_err(told(&error)))?;
    let key = key.parse::<PrivateKey>().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let out = BufWriter::new(unfinished(file)?);
    let written = py.detach(|| host.receipt(sessions, &point, &key, options, out));
    let (mut out, verification) = written.map_err(|error| refused(&error))?;
    out.flush()?;
    out.get_ref().as_file().sync_all()?;
    let written = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    written.persist_noclobber(file).map_err(|error| error.error)?;
    Ok(described(&verification))
}

/// Verifies a receipt. Whose key it is that has signed it is for the caller to decide.
pub(crate) fn verify(py: Python<'_>, host: &Host, file: &Path, options: &VerifyOptions) -> PyResult<String> {
    let read = BufReader::new(untrusted_file::open_named(file).map_err(io::Error::from)?);
    let verified = py.detach(|| host.verify(read, options));
    Ok(described(&verified.map_err(|error| refused(&error))?))
}

fn described(verification: &Verification) -> String {
    json!(verification).to_string()
}

fn refused(error: &ReceiptError) -> PyErr {
    match error {
        ReceiptError::Sessions(error) => failed(error),
        ReceiptError::Host(error) => host_failed(error),
        error => raised(error),
    }
}
