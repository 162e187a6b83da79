//! The audit log of a session. It never contains the values of secrets: neither in requests and output of tools, nor in
//! arguments and errors. Diagnostics are emitted from what it contains.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use tollhouse_audit::{Audit, AuditError, diagnostics};
use tollhouse_gate::{Event, TextFilter};

use crate::tool::Secrets;

/// Forwards events, with values of secrets replaced by their names.
struct RedactedAudit {
    audit: Arc<dyn Audit>,
    secrets: Secrets,
}

/// Wraps a log so that the values of these secrets are not written to it.
pub(crate) fn redacted(audit: Arc<dyn Audit>, secrets: &Secrets) -> Arc<dyn Audit> {
    Arc::new(RedactedAudit { audit, secrets: secrets.clone() })
}

impl Audit for RedactedAudit {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let forward = |event: &Event<'_>| {
            diagnostics::emit(event);
            self.audit.write(event)
        };
        let is_read = self.audit.is_kept() || diagnostics::is_enabled();
        if self.secrets.is_silent() || !is_read { forward(event) } else { event.filtered(&self.secrets, forward) }
    }

    fn sync(&self) -> Result<(), AuditError> {
        self.audit.sync()
    }

    fn is_kept(&self) -> bool {
        self.audit.is_kept()
    }
}

impl TextFilter for Secrets {
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact_text(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    fn json<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        self.redact_json(value).map_or(Cow::Borrowed(value), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::error::ErrorKind;
    use crate::gate::{CallOutcome, Debits};

    /// Collects the lines written to it.
    #[derive(Default)]
    struct RecordedLines(Mutex<Vec<String>>);

    impl Audit for RecordedLines {
        fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
            self.0.lock().expect("no test panics here").push(serde_json::to_string(event).expect("it is plain data"));
            Ok(())
        }

        fn sync(&self) -> Result<(), AuditError> {
            Ok(())
        }
    }

    #[test]
    fn audit_event_contains_no_secret_value() {
        const VALUE: &str = "x s3cr3t-value y";
        let lines = Arc::new(RecordedLines::default());
        let secrets = Secrets::default().with("KEY", "s3cr3t-value").expect("a secret");
        let log = redacted(Arc::clone(&lines) as Arc<dyn Audit>, &secrets);
        let (arguments, run, seq) = (json!({ "s3cr3t-value": [VALUE, "czNjcjN0LXZhbHVl"] }), 1, 2);
        let (arguments, caller, grant, text) = (&arguments, None, "g", Some(VALUE));
        let debits = Debits::default();
        let (method, url, reason) = ("m", "http://127.0.0.1:1/bots3cr3t-value/x", VALUE);
        let events = [
            Event::Started { run, script: VALUE, hash: "h" },
            Event::Asked { run, seq, caller, method, arguments, grant, reason, shown: "h", text },
            Event::Admitted { run, seq, caller, method, package: None, arguments, grant, debits },
            Event::Denied {
                run,
                seq,
                caller,
                method: VALUE,
                arguments,
                grant: None,
                kind: ErrorKind::Capability,
                reason,
            },
            Event::Answered { run, seq, allowed: true, by: VALUE, shown: "h", edited: false, signature: None },
            Event::Resolved { run, seq, word: "fail", by: VALUE },
            Event::Notified { run, to: VALUE, error: text },
            Event::Said { run, seq, stream: "stdout", text: VALUE },
            Event::Requested { run, seq, method: VALUE, url, refused: text },
            Event::SecretUsed { run, seq, secret: "KEY", tool: "t", to: text },
            Event::Settled { run, seq, outcome: CallOutcome::Failed, micros: 1, error: text },
            Event::Changed { run, what: VALUE },
            Event::Ended { run, status: "failed", error: text },
        ];
        for event in &events {
            log.write(event).expect("it is written");
        }
        let lines = lines.0.lock().expect("no test panics here");
        assert_eq!(lines.len(), events.len());
        for line in &*lines {
            assert!(line.contains("{{secret:KEY}}"), "{line}");
            assert!(!line.contains("s3cr3t-value") && !line.contains("czNjcjN0"), "{line}");
        }
        assert!(lines[1].contains("\"shown\":\"h\"") && !lines[1].contains("\"text\""), "{}", lines[1]);
    }

    #[test]
    fn audit_event_without_secret_value_is_unchanged() {
        let lines = Arc::new(RecordedLines::default());
        let secrets = Secrets::default().with("KEY", "s3cr3t-value").expect("a secret");
        let log = redacted(Arc::clone(&lines) as Arc<dyn Audit>, &secrets);
        let event = Event::Requested { run: 1, seq: 2, method: "GET", url: "http://a/%41", refused: Some("s3cr3t") };
        log.write(&event).expect("it is written");
        let whole = serde_json::to_string(&event).expect("it is plain data");
        assert_eq!(*lines.0.lock().expect("no test panics here"), [whole]);
    }
}
