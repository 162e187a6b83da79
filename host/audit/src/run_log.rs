//! The lines that one run adds to an audit log, within its limit `log`.
//!
//! Nothing else limits them: a script without any grant can attempt calls as long as it has time, and each denial is a
//! line. So lines are measured before they are written, and the first that exceeds the limit ends the run.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Audit, AuditError, Event};
use tollhouse_types::error::{Failure, error_chain};
use tollhouse_types::json;
use tollhouse_types::remedy::Remedy;

/// Maximum size of a line besides its event: number, time, the hash of the previous line, the MAC.
const ENVELOPE_BYTES: u64 = 224;

/// Maximum size of an error that is written after the limit is reached.
const SHORT_ERROR_BYTES: usize = 200;

/// The audit log as one run writes it.
///
/// Once the limit is reached, a line says so (`full`), and after it come only the endings of calls that had begun and
/// of the run itself, each in a short line.
pub struct RunLog {
    audit: Arc<dyn Audit>,
    run: u64,
    limit: u64,
    used: AtomicU64,
    full: AtomicBool,
    /// Reason why a line about something that has already happened is missing.
    lost: OnceLock<String>,
    /// Callback that stops the run.
    stop: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl RunLog {
    /// Creates a log to which a run adds at most `limit` bytes.
    #[must_use]
    pub fn new(audit: &Arc<dyn Audit>, run: u64, limit: u64) -> Self {
        Self {
            audit: Arc::clone(audit),
            run,
            limit,
            used: AtomicU64::new(0),
            full: AtomicBool::new(false),
            lost: OnceLock::new(),
            stop: OnceLock::new(),
        }
    }

    /// Sets the callback that stops the run when the limit is reached. Called once, before the first line.
    pub fn on_full(&self, stop: impl Fn() + Send + Sync + 'static) {
        let _ = self.stop.set(Box::new(stop));
    }

    /// Returns the failure of the run if its limit is reached, or if something that has happened could not be logged.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        if self.full.load(Ordering::Acquire) {
            let message = format!("limit `log` reached: a run adds at most {} bytes to the audit log", self.limit);
            return Some(Failure::limit(message, Remedy::RaiseLimit("log")));
        }
        self.lost.get().map(|why| incomplete(why))
    }

    /// Reserves space for a line. Returns false if there is not enough left.
    fn reserve(&self, bytes: u64) -> bool {
        let taken = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.limit);
        !self.full.load(Ordering::Acquire) && self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, taken).is_ok()
    }

    /// Ends the run, with a line that gives the reason.
    fn end_run(&self) {
        if self.full.swap(true, Ordering::AcqRel) {
            return;
        }
        // The run ends whether or not the line can be written.
        let _ = self.audit.write(&Event::Full { run: self.run, limit: self.limit });
        if let Some(stop) = self.stop.get() {
            stop();
        }
    }
}

/// Failure of a run whose log lacks something that has happened.
#[must_use]
pub fn incomplete(why: &str) -> Failure {
    Failure::host(format!("the audit log is not complete: {why}"))
        .with_hint("the effects of the run remain, but its log does not list all of them")
}

impl Audit for RunLog {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let written = self.write_within_limit(event);
        if let Err(error) = &written
            && event.is_afterwards()
            && !self.full.load(Ordering::Acquire)
        {
            let _ = self.lost.set(error_chain(error));
        }
        written
    }

    fn sync(&self) -> Result<(), AuditError> {
        self.audit.sync()
    }

    fn is_kept(&self) -> bool {
        self.audit.is_kept()
    }
}

impl RunLog {
    fn write_within_limit(&self, event: &Event<'_>) -> Result<(), AuditError> {
        if !self.audit.is_kept() {
            return self.audit.write(event);
        }
        let bytes = json::serialized_len(event).saturating_add(ENVELOPE_BYTES);
        if self.reserve(bytes) {
            return self.audit.write(event).inspect_err(|_| {
                self.used.fetch_sub(bytes, Ordering::AcqRel);
            });
        }
        self.end_run();
        match event.ending(SHORT_ERROR_BYTES) {
            Some(short) => self.audit.write(&short),
            None => Err(AuditError::Full { limit: self.limit }),
        }
    }
}

impl fmt::Debug for RunLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunLog").field("run", &self.run).field("limit", &self.limit).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::{Mutex, PoisonError};
    use std::time::SystemTime;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use tollhouse_gate::CallOutcome;

    use crate::{Chain, Nowhere};

    /// A log in memory: its lines.
    #[derive(Default)]
    struct MemoryLog(Mutex<(Chain, Vec<Vec<u8>>)>);

    impl MemoryLog {
        fn events(&self) -> Vec<String> {
            let lines = &self.0.lock().unwrap_or_else(PoisonError::into_inner).1;
            let event = |line: &Vec<u8>| serde_json::from_slice::<Value>(line).expect("JSON")["event"].to_string();
            lines.iter().map(event).collect()
        }

        fn bytes(&self) -> u64 {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).1.iter().map(|line| line.len() as u64 + 1).sum()
        }
    }

    impl Audit for MemoryLog {
        fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (line, chain) = lines.0.follow(event, SystemTime::now());
            lines.0 = chain;
            lines.1.push(line);
            Ok(())
        }

        fn sync(&self) -> Result<(), AuditError> {
            Ok(())
        }
    }

    fn denied(reason: &str) -> Event<'_> {
        let (kind, arguments) = (tollhouse_types::error::ErrorKind::Capability, &Value::Null);
        Event::Denied { run: 1, seq: 1, caller: None, method: "a/b", arguments, grant: None, kind, reason }
    }

    #[test]
    fn log_limit_reached_is_reported_once_and_stops_the_run_once() {
        let (lines, stopped) = (Arc::new(MemoryLog::default()), Arc::new(AtomicUsize::new(0)));
        let log = RunLog::new(&(Arc::clone(&lines) as Arc<dyn Audit>), 1, 1000);
        let count = Arc::clone(&stopped);
        log.on_full(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        log.write(&denied("no")).expect("it fits");
        assert!(log.failure().is_none());
        for _ in 0..3 {
            assert!(matches!(log.write(&denied(&"x".repeat(900))), Err(AuditError::Full { limit: 1000 })));
        }
        // A line that would fit is not written after a gap.
        assert!(log.write(&denied("no")).is_err());
        let long = "x".repeat(5000);
        let settled = Event::Settled { run: 1, seq: 1, outcome: CallOutcome::Failed, micros: 1, error: Some(&long) };
        log.write(&settled).expect("how a call ends is written");
        assert_eq!(lines.events(), ["\"denied\"", "\"full\"", "\"settled\""]);
        assert!(lines.bytes() < 1500, "its error is cut");
        assert_eq!(stopped.load(Ordering::Relaxed), 1);
        assert!(log.failure().expect("it is full").message.contains("`log`"));
    }

    #[test]
    fn run_log_without_destination_never_fills() {
        let log = RunLog::new(&(Arc::new(Nowhere) as Arc<dyn Audit>), 1, 1);
        log.write(&denied("no")).expect("nothing is written");
        assert!(log.failure().is_none());
    }

    proptest! {
        #[test]
        fn run_log_with_size_limit_writes_no_more_than_limit(
            limit in 0_u64..20_000,
            reasons in proptest::collection::vec(".{0,400}", 0..60),
        ) {
            let lines = Arc::new(MemoryLog::default());
            let log = RunLog::new(&(Arc::clone(&lines) as Arc<dyn Audit>), u64::MAX, limit);
            let written = reasons.iter().take_while(|reason| log.write(&denied(reason)).is_ok()).count();
            let full = u64::from(written < reasons.len());
            prop_assert!(lines.bytes() <= limit + full * ENVELOPE_BYTES + full * 100);
            prop_assert_eq!(log.failure().is_some(), full == 1);
        }
    }
}
