//! An audit log that never contains the values of secrets: neither in requests and output of tools, nor in arguments
//! and errors.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::{Audit, AuditError, Event};
use crate::tool::Secrets;

/// Forwards events, with values of secrets replaced by their names.
struct RedactedAudit {
    audit: Arc<dyn Audit>,
    secrets: Secrets,
}

/// Wraps a log so that the values of these secrets are not written to it.
pub(crate) fn redacted(audit: Arc<dyn Audit>, secrets: &Secrets) -> Arc<dyn Audit> {
    if secrets.is_silent() { audit } else { Arc::new(RedactedAudit { audit, secrets: secrets.clone() }) }
}

impl Audit for RedactedAudit {
    fn write(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let optional = |text: Option<&'_ str>| text.map(|text| self.redact(text).into_owned());
        match *event {
            Event::Started { run, script, hash } => {
                self.audit.write(&Event::Started { run, script: &self.redact(script), hash })
            }
            Event::Resolved { run, seq, word, by } => {
                let (word, by) = (&*self.redact(word), &*self.redact(by));
                self.audit.write(&Event::Resolved { run, seq, word, by })
            }
            Event::Resumed { run } => self.audit.write(&Event::Resumed { run }),
            Event::Asked { run, seq, caller, method, arguments, grant, reason, shown, text: question } => {
                // A question that contained a value is logged as its hash alone, which no redacted text would match.
                let question = question.filter(|question| self.secrets.redact_text(question).is_none());
                let (arguments, reason) = (self.json(arguments), self.redact(reason));
                let (arguments, reason) = (arguments.as_ref(), &*reason);
                self.audit.write(&Event::Asked {
                    run,
                    seq,
                    caller,
                    method,
                    arguments,
                    grant,
                    reason,
                    shown,
                    text: question,
                })
            }
            Event::Admitted { run, seq, caller, method, package, arguments, grant, debits } => {
                let arguments = self.json(arguments);
                let arguments = arguments.as_ref();
                self.audit.write(&Event::Admitted { run, seq, caller, method, package, arguments, grant, debits })
            }
            Event::Denied { run, seq, caller, method, arguments, grant, kind, reason } => {
                let (method, arguments, reason) = (self.redact(method), self.json(arguments), self.redact(reason));
                let (method, arguments, reason) = (&*method, arguments.as_ref(), &*reason);
                self.audit.write(&Event::Denied { run, seq, caller, method, arguments, grant, kind, reason })
            }
            Event::Said { run, seq, stream, text: said } => {
                self.audit.write(&Event::Said { run, seq, stream, text: &self.redact(said) })
            }
            Event::Requested { run, seq, method, url, refused } => {
                let (method, url, refused) = (self.redact(method), self.redact(url), optional(refused));
                let (method, url, refused) = (&*method, &*url, refused.as_deref());
                self.audit.write(&Event::Requested { run, seq, method, url, refused })
            }
            Event::SecretUsed { run, seq, secret, tool, to } => {
                self.audit.write(&Event::SecretUsed { run, seq, secret, tool, to: optional(to).as_deref() })
            }
            Event::Settled { run, seq, outcome, micros, error } => {
                self.audit.write(&Event::Settled { run, seq, outcome, micros, error: optional(error).as_deref() })
            }
            Event::Changed { run, what } => self.audit.write(&Event::Changed { run, what: &self.redact(what) }),
            Event::Ended { run, status, error } => {
                self.audit.write(&Event::Ended { run, status, error: optional(error).as_deref() })
            }
            Event::Answered { run, seq, allowed, by, shown, arguments: Some(arguments) } => {
                let arguments = self.json(arguments);
                let arguments = Some(arguments.as_ref());
                self.audit.write(&Event::Answered { run, seq, allowed, by, shown, arguments })
            }
            Event::Answered { .. } | Event::Released { .. } | Event::Mended { .. } | Event::Full { .. } => {
                self.audit.write(event)
            }
        }
    }

    fn sync(&self) -> Result<(), AuditError> {
        self.audit.sync()
    }

    fn is_kept(&self) -> bool {
        self.audit.is_kept()
    }
}

impl RedactedAudit {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.secrets.redact_text(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    fn json<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        self.secrets.redact_json(value).map_or(Cow::Borrowed(value), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::error::ErrorKind;
    use crate::gate::CallOutcome;

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
    fn no_event_tells_a_value() {
        const VALUE: &str = "x s3cr3t-value y";
        let lines = Arc::new(RecordedLines::default());
        let secrets = Secrets::default().with("KEY", "s3cr3t-value").expect("a secret");
        let log = redacted(Arc::clone(&lines) as Arc<dyn Audit>, &secrets);
        let (arguments, run, seq) = (json!({ "s3cr3t-value": [VALUE, "czNjcjN0LXZhbHVl"] }), 1, 2);
        let (arguments, caller, grant, text) = (&arguments, None, "g", Some(VALUE));
        let debits = super::super::Debits { accounts: &[], amounts: &[] };
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
    fn what_holds_no_value_is_told_as_it_is() {
        let lines = Arc::new(RecordedLines::default());
        let secrets = Secrets::default().with("KEY", "s3cr3t-value").expect("a secret");
        let log = redacted(Arc::clone(&lines) as Arc<dyn Audit>, &secrets);
        let event = Event::Requested { run: 1, seq: 2, method: "GET", url: "http://a/%41", refused: Some("s3cr3t") };
        log.write(&event).expect("it is written");
        let whole = serde_json::to_string(&event).expect("it is plain data");
        assert_eq!(*lines.0.lock().expect("no test panics here"), [whole]);
    }
}
