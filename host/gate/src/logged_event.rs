//! Events of an audit log as they are read.
//!
//! There is one definition for all readers, and what it does not fit is an error: a decision or an outcome that cannot be
//! read must not be taken for another one.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use tollhouse_policy::capability::Amount;

use super::CallOutcome;

/// An event of a log, as far as anything depends on it. Its counterpart for writing is [`Event`](super::Event).
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoggedEvent {
    /// A run started.
    Started {
        /// Number of the run in its session.
        run: u64,
    },
    /// A call of a forked run, which was not made again.
    Copied {
        /// The decision about the call.
        #[serde(flatten)]
        decision: LoggedDecision,
        /// Outcome of the call.
        outcome: CallOutcome,
        /// Duration in microseconds.
        #[serde(default)]
        micros: u64,
    },
    /// A human was asked about a call.
    Asked {
        /// The decision to ask.
        #[serde(flatten)]
        decision: LoggedDecision,
    },
    /// A human answered.
    Answered {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// True if the call was approved.
        allowed: bool,
        /// Person who answered.
        by: String,
        /// True if the call was approved with other arguments than the script's.
        #[serde(default)]
        edited: bool,
    },
    /// A call was admitted.
    Admitted {
        /// The decision about the call.
        #[serde(flatten)]
        decision: LoggedDecision,
        /// The package whose function it is, and its version.
        #[serde(default)]
        package: Option<String>,
        /// Amounts reserved in each account.
        debits: Vec<LoggedDebit>,
    },
    /// The reservation of an admitted call was released, because it never started.
    Released {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
    },
    /// A call was refused.
    Denied {
        /// The decision about the call.
        #[serde(flatten)]
        decision: LoggedDecision,
        /// Kind of refusal.
        kind: String,
    },
    /// A tool made a request with `wasi:http`, or was refused it.
    Requested {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// The HTTP method.
        method: String,
        /// The URL without the query.
        url: String,
        /// Reason why the request was not sent; `None` if it was.
        refused: Option<String>,
    },
    /// A call ended.
    Settled {
        /// Number of the run.
        run: u64,
        /// Number of the call.
        seq: u64,
        /// Outcome of the call.
        outcome: CallOutcome,
        /// Duration in microseconds.
        micros: u64,
        /// Error, if the call failed.
        error: Option<Value>,
    },
    /// Any other event, also one of a later version: nothing depends on it.
    #[serde(other)]
    Other,
}

/// Decision about a call, as the log has it.
#[derive(Clone, Debug, Deserialize)]
pub struct LoggedDecision {
    /// Number of the run.
    pub run: u64,
    /// Number of the call in the run.
    pub seq: u64,
    /// Enclosing call, if a tool made this one.
    #[serde(default)]
    pub caller: Option<u64>,
    /// Time of the decision.
    #[serde(default)]
    pub time: String,
    /// The canonical method.
    pub method: String,
    /// The canonical arguments, or those of a refused call as far as they could be decoded.
    pub arguments: Value,
    /// Name of the grant that was debited, requires approval, or came closest.
    pub grant: Option<String>,
    /// Reason of a refusal or of a question.
    #[serde(default)]
    pub reason: Option<String>,
}

/// One call in an account, with an amount if the account sums up an argument.
#[derive(Clone, Debug, Deserialize)]
pub struct LoggedDebit {
    /// Name of the account.
    pub account: String,
    /// Amount.
    #[serde(default, deserialize_with = "amount")]
    pub spend: Option<Amount>,
}

fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Amount>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let amount = text.map(|text| Amount::from_text(&text).ok_or_else(|| D::Error::custom("invalid amount")));
    amount.transpose()
}

impl LoggedEvent {
    /// Reads the event of a line.
    ///
    /// # Errors
    /// If a field that something depends on is missing, or not valid.
    pub fn read(line: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(line)
    }

    /// Returns the run and the number of the call that the event is about; `None` if it is about no call.
    #[must_use]
    pub fn call(&self) -> Option<(u64, u64)> {
        match self {
            Self::Copied { decision, .. }
            | Self::Asked { decision }
            | Self::Admitted { decision, .. }
            | Self::Denied { decision, .. } => Some((decision.run, decision.seq)),
            Self::Answered { run, seq, .. }
            | Self::Released { run, seq }
            | Self::Requested { run, seq, .. }
            | Self::Settled { run, seq, .. } => Some((*run, *seq)),
            Self::Started { .. } | Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Debits, Event};
    use super::*;
    use tollhouse_types::error::ErrorKind;

    fn read(event: &Event<'_>) -> LoggedEvent {
        LoggedEvent::read(&serde_json::to_value(event).expect("an event is plain data")).expect("it is complete")
    }

    #[test]
    fn events_that_are_written_can_be_read() {
        let (run, seq, caller, method, arguments) = (1, 2, Some(1), "pay/create", &json!({ "amount": 1.5 }));
        let copied = Event::Copied {
            run,
            seq,
            caller,
            method,
            arguments,
            grant: None,
            outcome: CallOutcome::Cancelled,
            micros: 7,
        };
        let LoggedEvent::Copied { decision, outcome, micros } = read(&copied) else { panic!("another event") };
        assert_eq!((decision.arguments, decision.caller, decision.grant), (arguments.clone(), caller, None));
        assert_eq!((outcome, micros), (CallOutcome::Cancelled, 7));
        let (grant, shown, by) = ("g", "s", "b");
        let about_a_call = [
            Event::Asked { run, seq, caller, method, arguments, grant, reason: "r", shown, text: None },
            Event::Answered { run, seq, allowed: true, by, shown, edited: false, signature: None },
            Event::Admitted {
                run,
                seq,
                caller: None,
                method,
                package: None,
                arguments,
                grant,
                debits: Debits::default(),
            },
            Event::Released { run, seq },
            Event::Denied { run, seq, caller, method, arguments, grant: None, kind: ErrorKind::Limit, reason: "r" },
            Event::Requested { run, seq, method, url: "u", refused: None },
            Event::Settled { run, seq, outcome: CallOutcome::Failed, micros: 1, error: Some("e") },
        ];
        for event in about_a_call {
            assert_eq!(read(&event).call(), Some((run, seq)), "{event:?}");
        }
        for event in [Event::Resumed { run }, Event::Mended { bytes: 1 }, Event::Full { run, limit: 1 }] {
            assert!(matches!(read(&event), LoggedEvent::Other), "{event:?}");
        }
        assert!(matches!(read(&Event::Started { run, script: "s", hash: "h" }), LoggedEvent::Started { run: 1 }));
    }

    #[test]
    fn event_with_an_unreadable_part_is_an_error_and_no_other_event() {
        let settled = json!({ "event": "settled", "run": 1, "seq": 1, "outcome": "ok", "micros": 1, "error": null });
        let admitted = json!({
            "event": "admitted", "run": 1, "seq": 1, "method": "m", "arguments": {}, "grant": "g",
            "debits": [{ "account": "g", "spend": "1.5" }],
        });
        assert!(LoggedEvent::read(&settled).is_ok() && LoggedEvent::read(&admitted).is_ok());
        let with = |event: &Value, key: &str, value: Value| {
            let mut event = event.clone();
            event[key] = value;
            LoggedEvent::read(&event).is_ok()
        };
        assert!(!with(&settled, "outcome", json!("fine")));
        assert!(!with(&settled, "outcome", json!(null)));
        assert!(!with(&settled, "seq", json!(-1)));
        assert!(!with(&settled, "micros", json!("1")));
        assert!(!with(&admitted, "debits", json!([{ "account": "g", "spend": "much" }])));
        assert!(!with(&admitted, "debits", json!(null)));
        assert!(!with(&admitted, "method", json!(7)));
        assert!(with(&admitted, "event", json!("of a later version")));
    }
}
