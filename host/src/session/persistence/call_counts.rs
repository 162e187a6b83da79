//! Call counts of runs that have not recorded them: active runs, and runs whose process died.

use std::collections::HashMap;

use serde_json::Value;

use super::record::RunRecord;
use super::{SessionId, Sessions, SessionsError, record_key};
use crate::gate::{Call, CallOutcome};

/// Number of calls that the gate admitted, and that it denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) struct CallCounts {
    pub(in crate::session) admitted: u64,
    pub(in crate::session) denied: u64,
}

impl CallCounts {
    /// Counts the calls of a run that has ended.
    pub(super) fn of(calls: &[Call]) -> Self {
        let admitted = calls.iter().filter(|call| call.outcome != CallOutcome::Denied).count() as u64;
        Self { admitted, denied: calls.len() as u64 - admitted }
    }

    /// Counts a line of the log.
    pub(in crate::session) fn take(&mut self, event: &Value) {
        match event["event"].as_str() {
            Some("admitted") => self.admitted += 1,
            Some("denied") => self.denied += 1,
            Some("copied") if event["outcome"] == "denied" => self.denied += 1,
            Some("copied") => self.admitted += 1,
            // The call never started.
            Some("released") => self.admitted = self.admitted.saturating_sub(1),
            _ => {}
        }
    }
}

impl Sessions {
    /// Adds the call counts from the log to the records of such runs: a call is in the log before it starts.
    pub(super) fn add_call_counts(&self, id: &SessionId, runs: &mut [(u64, RunRecord)]) -> Result<(), SessionsError> {
        let silent = |run: &RunRecord| matches!(run.status.as_str(), "running" | "interrupted");
        let silent = runs.iter().filter(|(_, run)| silent(run));
        let mut counts: HashMap<u64, CallCounts> = silent.map(|(number, _)| (*number, CallCounts::default())).collect();
        if counts.is_empty() {
            return Ok(());
        }
        self.for_each_record(&record_key::prefix(b'A', id), |(_, value)| {
            let event: Value = self.read(id, "a line of its log", &self.value(id, &value)?)?;
            if let Some(counts) = event["run"].as_u64().and_then(|run| counts.get_mut(&run)) {
                counts.take(&event);
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
            counts.take(&serde_json::json!({ "event": event }));
        }
        assert_eq!(counts, CallCounts { admitted: 1, denied: 1 });
    }
}
