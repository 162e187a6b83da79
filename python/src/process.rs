//! Objects that belong to the process that created them: those with threads, locks and sockets are of no use to a
//! forked process, and must not be dropped there.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

use crate::errors::RuntimeError;

/// Number of forks between the first process and this one. A process id may be reused.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Counts a fork: called in the child by `os.register_at_fork`.
#[pyfunction]
pub(crate) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Identity of a process. Its id reveals forks that Python was not told of.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Process {
    id: u32,
    forks: u64,
}

impl Process {
    fn current() -> Self {
        Self { id: std::process::id(), forks: FORKS.load(Ordering::Relaxed) }
    }
}

/// Value that only the process that created it can use.
pub(crate) struct OfProcess<T> {
    /// `None` only during the drop.
    value: Option<T>,
    made_in: Process,
    /// Name for error messages, and the remedy.
    told: (&'static str, &'static str),
}

impl<T> OfProcess<T> {
    /// Wraps a value. `name` is its name for users; `remedy` is what they do in the other process.
    pub(crate) fn new(value: T, name: &'static str, remedy: &'static str) -> Self {
        Self { value: Some(value), made_in: Process::current(), told: (name, remedy) }
    }

    /// Wraps another value that the same process derived from it, under the same name.
    pub(crate) fn with<U>(&self, value: U) -> OfProcess<U> {
        OfProcess { value: Some(value), made_in: self.made_in, told: self.told }
    }

    /// Returns true in the process that created the value.
    pub(crate) fn is_here(&self) -> bool {
        self.made_in == Process::current()
    }

    /// Returns the value, in the process that created it.
    ///
    /// # Errors
    /// `RuntimeError` in every other process.
    pub(crate) fn get(&self) -> PyResult<&T> {
        if !self.is_here() {
            let (name, remedy) = self.told;
            let message = format!("this {name} was made in another process, from which this one was forked: {remedy}");
            return Err(RuntimeError::new_err(message));
        }
        Ok(self.value.as_ref().expect("it is taken only when this is dropped"))
    }
}

impl<T> Drop for OfProcess<T> {
    /// Leaks the value in another process: threads that would be waited for do not exist there, locks may be held by
    /// one of them, and files and sockets belong to the process that created it.
    fn drop(&mut self) {
        if !self.is_here() {
            std::mem::forget(self.value.take());
        }
    }
}
