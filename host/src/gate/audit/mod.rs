//! The audit log: every decision and every call, as JSON lines, each of which names the hash of the one before.
//!
//! A line once written cannot be changed, moved or left out without breaking the chain. Guests cannot reach it: it is no
//! file of the session.
//!
//! What is inside:
//! - `event`: what there is to say;
//! - `chain`: how lines hang together;
//! - `run_log`: what one run adds to a log, within its limit;
//! - `key`, `head`: what proves that nobody wrote it anew or cut it off;
//! - `scan`: reading a log and checking it;
//! - `redacted`: a log without the values of secrets;
//! - `file`: a log in a file. The log of a session on disk is in its store: see `session`.

mod chain;
mod event;
mod file;
mod head;
mod key;
mod redacted;
mod run_log;
mod scan;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use chain::Chain;
pub use event::{Debits, Event};
pub use file::AuditFile;
pub(super) use file::events;
pub use key::{AuditKey, NoAuditKey};
pub(crate) use redacted::redacted;
pub(crate) use run_log::{RunLog, incomplete};
pub use scan::{CheckOptions, CheckedLog};

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
    /// A budget that several sessions share is used up: another one was faster.
    #[error("the budget `{account}` is used up by sessions that share it")]
    Spent {
        /// The budget's account.
        account: String,
    },
    /// A run has added as much to it as it may.
    #[error("limit `log` reached: a run adds at most {limit} bytes to the audit log")]
    Full {
        /// Bytes.
        limit: u64,
    },
    /// Its key cannot be had.
    #[error("cannot read the key `{}` of an audit log", path.display())]
    Key {
        /// The key's file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It has lines with MACs, and goes on only with the key.
    #[error("audit log `{}` is kept with a key, which was not given", path.display())]
    Keyed {
        /// The log.
        path: PathBuf,
    },
    /// Lines were removed at its end.
    #[error("audit log `{}` was cut off: it has {lines} lines, and its head says that there were {known}", path.display())]
    Cut {
        /// The log.
        path: PathBuf,
        /// How many lines it has.
        lines: u64,
        /// How many it had.
        known: u64,
    },
    /// The file beside it, which says how long it is, cannot be trusted.
    #[error("the head `{}` of the audit log {problem}", path.display())]
    Head {
        /// The head.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No line of it has a hash that was kept elsewhere.
    #[error("audit log `{}` has no line whose hash is {head}: it is another log, was written anew, or was cut off", path.display())]
    Unexpected {
        /// The log.
        path: PathBuf,
        /// The hash.
        head: String,
    },
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

    /// Returns false if nothing is kept of what is written: then it counts against no limit.
    fn is_kept(&self) -> bool {
        true
    }
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

    fn is_kept(&self) -> bool {
        false
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

    fn is_kept(&self) -> bool {
        self.0.is_kept() || self.1.is_kept()
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
    pub(crate) fn new(audit: Arc<dyn Audit>, run: u64, seq: u64) -> Self {
        Self { audit, run, seq }
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
    /// The value of a secret is used, unless that cannot be logged.
    pub(crate) fn secret_used(&self, secret: &str, tool: &str, to: Option<&str>) -> Result<(), AuditError> {
        self.audit.write(&Event::SecretUsed { run: self.run, seq: self.seq, secret, tool, to })
    }
}
