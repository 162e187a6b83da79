//! Call counts of runs that have not recorded them: active runs, and runs whose process died.

use std::collections::HashMap;

use serde_json::Value;

use super::query::logged_event;
use super::record::RunRecord;
use super::{RecordStatus, SessionId, Sessions, SessionsError, record_key};
use crate::gate::{Call, CallOutcome, LoggedEvent};

/// Number of calls that the gate admitted, and that it denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CallCounts {
    pub(super) admitted: u64,
    pub(super) denied: u64,
}

impl CallCounts {
    /// Counts the calls of a run that has ended.
    pub(super) fn of(calls: &[Call]) -> Self {
        let admitted = calls.iter().filter(|call| call.outcome != CallOutcome::Denied).count() as u64;
        Self { admitted, denied: calls.len() as u64 - admitted }
    }

    /// Counts a line of the log.
    fn take(&mut self, event: &LoggedEvent) {
        match event {
            LoggedEvent::Denied { .. } | LoggedEvent::Copied { outcome: CallOutcome::Denied, .. } => self.denied += 1,
            LoggedEvent::Admitted { .. } | LoggedEvent::Copied { .. } => self.admitted += 1,
            // The call never started.
            LoggedEvent::Released { .. } => self.admitted = self.admitted.saturating_sub(1),
            _ => {}
        }
    }
}

impl Sessions {
    /// Adds the call counts from the log to the records of such runs: a call is in the log before it starts.
    pub(super) fn add_call_counts(&self, id: &SessionId, runs: &mut [(u64, RunRecord)]) -> Result<(), SessionsError> {
        let silent = |run: &RunRecord| matches!(run.status, RecordStatus::Running | RecordStatus::Interrupted);
        let silent = runs.iter().filter(|(_, run)| silent(run));
        let mut counts: HashMap<u64, CallCounts> = silent.map(|(number, _)| (*number, CallCounts::default())).collect();
        if counts.is_empty() {
            return Ok(());
        }
        self.for_each_record(&record_key::prefix(b'A', id), |(_, value)| {
            let event: Value = self.read(id, "a line of its log", &self.value(id, &value)?)?;
            if let Some(counts) = event["run"].as_u64().and_then(|run| counts.get_mut(&run)) {
                counts.take(&logged_event(id, &event)?);
            }
            Ok(())
        })?;
        for (number, run) in runs {
            if let Some(CallCounts { admitted, denied }) = counts.get(number) {
                (run.calls, run.denied) = (*admitted, *denied);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_never_started_is_none() {
        let mut counts = CallCounts::default();
        for event in ["started", "admitted", "admitted", "released", "denied", "settled"] {
            let line = serde_json::json!({
                "event": event, "run": 1, "seq": 1, "method": "m", "arguments": {}, "grant": "g", "debits": [],
                "kind": "capability", "reason": "r", "outcome": "ok", "micros": 1, "error": null,
            });
            counts.take(&LoggedEvent::read(&line).expect("it is complete"));
        }
        assert_eq!(counts, CallCounts { admitted: 1, denied: 1 });
    }
}
