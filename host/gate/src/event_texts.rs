//! Texts of events that come from outside, for logs that must not contain some of them.

use std::borrow::Cow;

use serde_json::Value;

use super::event::Event;

/// Replacement of texts, such as values of secrets, before they are logged.
pub trait TextFilter {
    /// Returns a text as it may be logged: borrowed if it stays as it is.
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str>;

    /// Returns a value as it may be logged: borrowed if it stays as it is.
    fn json<'a>(&self, value: &'a Value) -> Cow<'a, Value>;
}

impl Event<'_> {
    /// Passes the event to `then`, with each text that a script, a tool or a human chose as the filter returns it.
    pub fn filtered<R>(&self, filter: &dyn TextFilter, then: impl FnOnce(&Event<'_>) -> R) -> R {
        let optional = |text: Option<&'_ str>| text.map(|text| filter.text(text).into_owned());
        match *self {
            Event::Started { run, script, hash } => then(&Event::Started { run, script: &filter.text(script), hash }),
            Event::Resolved { run, seq, word, by } => then(&Event::Resolved { run, seq, word, by: &filter.text(by) }),
            Event::Resumed { run } => then(&Event::Resumed { run }),
            Event::Notified { run, to, error } => {
                then(&Event::Notified { run, to: &filter.text(to), error: optional(error).as_deref() })
            }
            Event::Asked { run, seq, caller, method, arguments, grant, reason, shown, text: question } => {
                // A question that contained a value is logged as its hash alone, which no filtered text would match.
                let text = question.filter(|question| matches!(filter.text(question), Cow::Borrowed(_)));
                let (arguments, reason) = (filter.json(arguments), filter.text(reason));
                let (arguments, reason) = (arguments.as_ref(), &*reason);
                then(&Event::Asked { run, seq, caller, method, arguments, grant, reason, shown, text })
            }
            Event::Admitted { run, seq, caller, method, package, arguments, grant, debits } => {
                let arguments = filter.json(arguments);
                let arguments = arguments.as_ref();
                then(&Event::Admitted { run, seq, caller, method, package, arguments, grant, debits })
            }
            Event::Denied { run, seq, caller, method, arguments, grant, kind, reason } => {
                let (method, arguments, reason) = (filter.text(method), filter.json(arguments), filter.text(reason));
                let (method, arguments, reason) = (&*method, arguments.as_ref(), &*reason);
                then(&Event::Denied { run, seq, caller, method, arguments, grant, kind, reason })
            }
            Event::Said { run, seq, stream, text: said } => {
                then(&Event::Said { run, seq, stream, text: &filter.text(said) })
            }
            Event::Requested { run, seq, method, url, refused } => {
                let (method, url, refused) = (filter.text(method), filter.text(url), optional(refused));
                let (method, url, refused) = (&*method, &*url, refused.as_deref());
                then(&Event::Requested { run, seq, method, url, refused })
            }
            Event::SecretUsed { run, seq, secret, tool, to } => {
                then(&Event::SecretUsed { run, seq, secret, tool, to: optional(to).as_deref() })
            }
            Event::Copied { run, seq, caller, method, arguments, grant, outcome, micros } => {
                let (method, arguments) = (filter.text(method), filter.json(arguments));
                let (method, arguments) = (&*method, arguments.as_ref());
                then(&Event::Copied { run, seq, caller, method, arguments, grant, outcome, micros })
            }
            Event::Settled { run, seq, outcome, micros, error } => {
                then(&Event::Settled { run, seq, outcome, micros, error: optional(error).as_deref() })
            }
            Event::Changed { run, what } => then(&Event::Changed { run, what: &filter.text(what) }),
            Event::Ended { run, status, error } => {
                then(&Event::Ended { run, status, error: optional(error).as_deref() })
            }
            Event::Answered { run, seq, allowed, by, shown, edited, signature } => {
                then(&Event::Answered { run, seq, allowed, by: &filter.text(by), shown, edited, signature })
            }
            Event::Released { .. } | Event::Forked { .. } | Event::Mended { .. } | Event::Full { .. } => then(self),
        }
    }
}
