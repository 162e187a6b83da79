//! The record of a run: its calls, and its part of the audit log.

use std::ops::Deref;
use std::sync::Arc;

use tollhouse_audit::RunLog;
use tollhouse_gate::CallRecord;

use crate::error::Failure;

/// The calls of a run in progress, and its part of the audit log. Clones share both.
#[derive(Clone, Debug)]
pub(crate) struct RunRecord {
    calls: CallRecord,
    log: Arc<RunLog>,
}

impl Deref for RunRecord {
    type Target = CallRecord;

    fn deref(&self) -> &CallRecord {
        &self.calls
    }
}

impl RunRecord {
    /// Creates the record of a run.
    pub(crate) fn new(run: u64, log: RunLog) -> Self {
        Self { calls: CallRecord::of_run(run), log: Arc::new(log) }
    }

    /// The run's part of the audit log.
    pub(crate) fn log(&self) -> &Arc<RunLog> {
        &self.log
    }

    /// Returns the failure that ends the run once it has reached its limit on log lines.
    pub(crate) fn log_failure(&self) -> Option<Failure> {
        self.log.failure()
    }

    /// Returns the same record for the calls that a tool makes during its own call.
    pub(crate) fn within(&self, alias: &Arc<str>, seq: u64) -> Self {
        Self { calls: self.calls.within(alias, seq), log: Arc::clone(&self.log) }
    }
}
