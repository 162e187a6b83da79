//! The audit log: every decision and every call, as JSON lines, each of which names the hash of the one before.
//!
//! A line once written cannot be changed, moved or left out without breaking the chain. Guests cannot reach it: it is no
//! file of the session.
//!
//! What is inside:
//! - `event`: what there is to say;
//! - `chain`: how lines hang together;
//! - `file`: a log in a file. The log of a session on disk is in its store: see `session`.

mod chain;
mod event;
mod file;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use chain::Chain;
pub use event::{Debits, Event};
pub use file::AuditFile;
pub(super) use file::events;

/// Why the log cannot be written or trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file system refused.
    #[error("audit log `{}`", path.display())]
    Io {
        /// The log.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another process writes it.
    #[error("audit log `{}` is being written by another process", path.display())]
    Busy {
        /// The log.
        path: PathBuf,
    },
    /// A log that is no file cannot be kept.
    #[error("the session's log cannot be kept")]
    Kept(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It was altered.
    #[error("audit log `{}` was altered: line {line} {problem}", path.display())]
    Altered {
        /// The log.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What does not fit.
        problem: &'static str,
    },
}

/// Takes events, in order, whole or not at all.
pub trait Audit: Send + Sync {
    /// Writes one event.
    ///
    /// # Errors
    /// If it is not written. A call whose admission is not written does not start.
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError>;

    /// Makes durable what was written. Threads that ask at the same time share the cost.
    ///
    /// # Errors
    /// If it is not durable. A call whose admission is not durable does not start.
    fn sync(&self) -> Result<(), AuditError>;
}

/// No log at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nowhere;

impl Audit for Nowhere {
    fn write(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }

    fn sync(&self) -> Result<(), AuditError> {
        Ok(())
    }
}

/// Both, each with every event: the log that a session keeps, and one that somebody asked for.
pub struct Both(pub Arc<dyn Audit>, pub Arc<dyn Audit>);

impl Audit for Both {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        self.0.write(event)?;
        self.1.write(event)
    }

    fn sync(&self) -> Result<(), AuditError> {
        self.0.sync()?;
        self.1.sync()
    }
}

/// Writes down what happens in one call.
#[derive(Clone)]
pub(crate) struct Witness {
    audit: Arc<dyn Audit>,
    run: u64,
    seq: u64,
}

impl Witness {
    pub(crate) fn new(audit: &Arc<dyn Audit>, run: u64, seq: u64) -> Self {
        Self { audit: Arc::clone(audit), run, seq }
    }

    /// What is written so far is durable, when this returns.
    pub(crate) fn sync(&self) -> Result<(), AuditError> {
        self.audit.sync()
    }

    /// The call never started, and what it had reserved is given back.
    pub(crate) fn released(&self) {
        let _ = self.audit.write(&Event::Released { run: self.run, seq: self.seq });
    }

    /// The tool wrote this. That it cannot be logged is no reason to fail the call.
    pub(crate) fn said(&self, stream: &str, text: &str) {
        let _ = self.audit.write(&Event::Said { run: self.run, seq: self.seq, stream, text });
    }

    /// The tool makes a request. False if that cannot be logged: then it must not be sent.
    pub(crate) fn requested(&self, method: &str, url: &str, refused: Option<&str>) -> bool {
        self.audit.write(&Event::Requested { run: self.run, seq: self.seq, method, url, refused }).is_ok()
    }
}
