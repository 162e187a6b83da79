//! Which process made something: what has threads, locks and sockets is of no use to a process that was forked, and must not
//! be taken down there.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

use crate::errors::RuntimeError;

/// How many forks lie between the first process and this one. A process id may come again.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// This process was forked: called in it by `os.register_at_fork`.
#[pyfunction]
pub(crate) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A process. Its id tells of forks that Python was not told of.
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

/// Something that only the process that made it can use.
pub(crate) struct OfProcess<T> {
    /// None only while this is dropped.
    value: Option<T>,
    made_in: Process,
    /// Its name in error messages, and what to do instead.
    told: (&'static str, &'static str),
}

impl<T> OfProcess<T> {
    /// `name` is what users call it; `remedy` what they do in the other process.
    pub(crate) fn new(value: T, name: &'static str, remedy: &'static str) -> Self {
        Self { value: Some(value), made_in: Process::current(), told: (name, remedy) }
    }

    /// Something else that the same process made of it, and that is known by the same name.
    pub(crate) fn with<U>(&self, value: U) -> OfProcess<U> {
        OfProcess { value: Some(value), made_in: self.made_in, told: self.told }
    }

    /// Returns true in the process that made it.
    pub(crate) fn is_here(&self) -> bool {
        self.made_in == Process::current()
    }

    /// Gives it to the process that made it.
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
    /// In another process nothing is taken down: threads that would be waited for are not there, locks may be held by one of
    /// them, and files and sockets are those of the process that made it.
    fn drop(&mut self) {
        if !self.is_here() {
            std::mem::forget(self.value.take());
        }
    }
}
