//! The audit log: every decision and every call, as JSON lines, each of which contains the hash of the previous one.
//!
//! A written line cannot be changed, moved or omitted without breaking the chain. Guests cannot access the log: it is
//! not a file of the session. The events are those of `tollhouse_gate`. `docs/formats/audit-log.md` describes the lines, the
//! head and the key.
//!
//! | module | contents |
//! | --- | --- |
//! | `hash_chain` | the hash chain of the lines |
//! | `run_log` | the lines of one run, within its limit |
//! | `call_audit` | the events of one call |
//! | `diagnostics` | events for `tracing` |
//! | `key`, `head` | proof that nobody has rewritten or truncated the log |
//! | `verification` | reading and verifying a log |
//! | `file` | a log in a file; that of a persistent session is in its store |
//! | `suggest_policy` | the smallest policy that allows what a log contains |
#![deny(missing_docs)]

mod call_audit;
pub mod diagnostics;
mod file;
mod hash_chain;
mod head;
mod key;
mod run_log;
mod suggest_policy;
#[cfg(test)]
mod tests;
mod verification;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use call_audit::CallAudit;
pub use file::AuditFile;
pub use hash_chain::{Chain, event_time};
pub use key::{AuditKey, NoAuditKey};
pub use run_log::{RunLog, incomplete};
pub use suggest_policy::{Suggestion, suggest};
use tollhouse_gate::Event;
pub use verification::{CheckOptions, CheckedLog};

/// An error of writing or verifying an audit log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The operating system reported an error.
    #[error("audit log `{}`", path.display())]
    Io {
        /// Path of the log.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Another process is writing the log.
    #[error("audit log `{}` is being written by another process", path.display())]
    Busy {
        /// Path of the log.
        path: PathBuf,
    },
    /// A log that is not in a file could not be written.
    #[error("the session's log cannot be written")]
    Kept(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A budget shared by several sessions is exhausted: another session was faster.
    #[error("the budget `{account}` is used up by sessions that share it")]
    Spent {
        /// Account of the budget.
        account: String,
    },
    /// A run has reached its limit on log lines.
    #[error("limit `log` reached: a run adds at most {limit} bytes to the audit log")]
    Full {
        /// The limit in bytes.
        limit: u64,
    },
    /// The key could not be read.
    #[error("cannot read the key `{}` of an audit log", path.display())]
    Key {
        /// Path of the key file.
        path: PathBuf,
        /// Reason of the failure.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The log has lines with MACs, and can be continued only with the key.
    #[error("audit log `{}` is protected by a key, which was not given", path.display())]
    Keyed {
        /// Path of the log.
        path: PathBuf,
    },
    /// Lines at the end of the log were removed.
    #[error("audit log `{}` was truncated: it has {lines} lines, and its head records {known}", path.display())]
    Cut {
        /// Path of the log.
        path: PathBuf,
        /// Number of lines in the log.
        lines: u64,
        /// Number of lines according to the head.
        known: u64,
    },
    /// The head file, which records the length of the log, cannot be trusted.
    #[error("the head `{}` of the audit log {problem}", path.display())]
    Head {
        /// Path of the head file.
        path: PathBuf,
        /// Description of what is wrong with it.
        problem: &'static str,
    },
    /// No line of the log has a hash that was kept elsewhere.
    #[error("audit log `{}` has no line whose hash is {head}: it is another log, or was rewritten or truncated", path.display())]
    Unexpected {
        /// Path of the log.
        path: PathBuf,
        /// The expected hash.
        head: String,
    },
    /// A line is not altered, and is not an event either.
    #[error("line {line} of the audit log `{}` cannot be read", path.display())]
    Unreadable {
        /// Path of the log.
        path: PathBuf,
        /// Number of the line, counted from 1.
        line: u64,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The log was altered.
    #[error("audit log `{}` was altered: line {line} {problem}", path.display())]
    Altered {
        /// Path of the log.
        path: PathBuf,
        /// Number of the line, counted from 1.
        line: u64,
        /// Description of what is wrong.
        problem: &'static str,
    },
}

/// A sink of events, which are written in order, completely or not at all.
pub trait Audit: Send + Sync {
    /// Writes one event.
    ///
    /// # Errors
    /// If it was not written. A call whose admission is not written does not start.
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError>;

    /// Makes all written events durable. Threads that call it at the same time share the cost.
    ///
    /// # Errors
    /// If they are not durable. A call whose admission is not durable does not start.
    fn sync(&self) -> Result<(), AuditError>;

    /// Returns false if events are discarded, in which case they count against no limit.
    fn is_kept(&self) -> bool {
        true
    }
}

/// An audit log that discards all events.
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

/// A pair of logs that each receive every event: the log of the session, and one that the user asked for.
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
