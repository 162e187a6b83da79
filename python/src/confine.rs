//! Confinement of this process, if a program requests it.

use std::path::PathBuf;

use pyo3::prelude::*;
use tollhouse_cli::ProcessConfinement;

use crate::errors::raised;

/// Confines this process for the rest of its life.
#[pyfunction]
#[pyo3(signature = (read, write, store=None, network=false))]
pub(crate) fn confine(
    py: Python<'_>,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    store: Option<PathBuf>,
    network: bool,
) -> PyResult<()> {
    let confinement = ProcessConfinement { read, write, store, network };
    py.detach(|| confinement.apply()).map_err(|error| raised(&error))
}
