//! Call counts of runs that have not recorded them: active runs, and runs whose process died.

use crate::gate::{CallOutcome, Calls, LoggedEvent};

/// Number of calls that the gate admitted, and that it denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) struct CallCounts {
    pub(in crate::session) admitted: u64,
    pub(in crate::session) denied: u64,
}

impl CallCounts {
    /// Counts the calls of a run that has ended.
    pub(super) fn of(calls: &Calls) -> Self {
        let (listed, earlier) = (calls.as_slice(), calls.earlier());
        let admitted = listed.iter().filter(|call| call.outcome != CallOutcome::Denied).count() as u64;
        let denied = listed.len() as u64 - admitted;
        Self { admitted: earlier.admitted + admitted, denied: earlier.denied + denied }
    }

    /// Counts a line of the log.
    pub(in crate::session) fn take(&mut self, event: &LoggedEvent) {
        match event {
            LoggedEvent::Denied { .. } | LoggedEvent::Copied { outcome: CallOutcome::Denied, .. } => self.denied += 1,
            LoggedEvent::Admitted { .. } | LoggedEvent::Copied { .. } => self.admitted += 1,
            // The call never started.
            LoggedEvent::Released { .. } => self.admitted = self.admitted.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_counts_ignore_calls_that_never_started() {
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
