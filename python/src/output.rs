//! Output of a script: collected, and passed to a listener as it comes.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tollhouse::guest::{OutputSink, Stream};

use crate::driver::{Raised, attached};

/// Standard output and standard error so far.
pub(crate) type Both = Arc<Mutex<(Vec<u8>, Vec<u8>)>>;

/// Sink that collects the output, and calls a Python function with each piece: `listener(stream, bytes)`.
pub(crate) struct Listened {
    pub(crate) both: Both,
    pub(crate) listener: Py<PyAny>,
    pub(crate) raised: Arc<Raised>,
}

impl OutputSink for Listened {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let name = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        {
            let mut both = self.both.lock().unwrap_or_else(PoisonError::into_inner);
            if name == "stdout" { both.0.extend_from_slice(bytes) } else { both.1.extend_from_slice(bytes) }
        }
        attached(|py| {
            if let Err(error) = self.listener.bind(py).call1((name, PyBytes::new(py, bytes))) {
                self.raised.raise(error);
            }
        });
        // The listener's exception ends the run by itself.
        Ok(())
    }
}
