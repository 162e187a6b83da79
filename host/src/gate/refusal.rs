//! Refusals: what the script is told, and what is recorded of a refused call.

use serde_json::{Value, json};

use super::grant_index::{DenialReason, GrantDenial};
use super::{DeferredCall, Event, Gate, Record};
use crate::error::{Failure, how_to_grant};
use crate::json;

impl Gate {
    /// Records a refusal, under the existing number of the call if it has one.
    pub(super) fn refuse(
        &self,
        record: &Record,
        seq: Option<u64>,
        method: &str,
        arguments: Value,
        grant: Option<&str>,
        failure: Failure,
    ) -> Failure {
        let arguments = recorded_arguments(arguments);
        let seq = match seq {
            Some(seq) if record.deny(seq, grant) => seq,
            // The run ended while the call was judged.
            Some(_) => return Failure::cancelled(),
            None => record.refuse(method, &arguments, grant),
        };
        self.log_refusal(record, seq, method, &arguments, grant, &failure);
        failure
    }

    pub(super) fn log_refusal(
        &self,
        record: &Record,
        seq: u64,
        method: &str,
        arguments: &Value,
        grant: Option<&str>,
        failure: &Failure,
    ) {
        let (run, caller, kind, reason) = (record.run(), record.caller(), failure.kind, failure.message.as_str());
        let event = Event::Denied { run, seq, caller, method, arguments, grant, kind, reason };
        // A refusal is safe without a log, so a failure to write it changes nothing.
        let _ = self.log(record).write(&event);
    }

    /// Refuses a call that waited for consent, because its run can no longer wait.
    pub(crate) fn refuse_deferred(&self, record: &Record, call: DeferredCall, why: &str) -> Failure {
        let DeferredCall { seq, method, arguments, grant, .. } = call;
        let message = format!("`{method}`: grant `{grant}` needs approval, and a run that {why} cannot wait for it");
        let failure = Failure::approval(message).with_hint("run it on a terminal, or make the call before that");
        self.refuse(record, Some(seq), &method, arguments, Some(&grant), failure)
    }

    /// Returns the error for the script of a denied call: the grant that came closest, and the unmet condition.
    pub(super) fn denied(&self, method: &str, denial: &GrantDenial<'_>) -> Failure {
        let Some(grant) = denial.grant else { return self.not_granted(method) };
        let failure = Failure::capability(match &denial.reason {
            DenialReason::Budget(..) | DenialReason::Ended(..) => format!("`{method}`: {}", denial.reason),
            reason => format!("`{method}`: grant `{}`: {reason}", grant.name),
        });
        failure.with_hint(match &denial.reason {
            DenialReason::Budget(name, _) => {
                format!("raise the budget of grant `{name}`: in the policy, or `max_calls` in Python")
            }
            DenialReason::Ended(name, _) => format!("issue grant `{name}` again before making such calls"),
            _ => format!("call it with arguments that grant `{}` allows, or widen the grant in the policy", grant.name),
        })
    }

    fn not_granted(&self, method: &str) -> Failure {
        let given = match self.policy.grants.as_slice() {
            [] => "nothing is granted".to_owned(),
            grants => {
                let patterns: Vec<String> = grants.iter().take(5).map(|grant| format!("`{}`", grant.method)).collect();
                let more = if grants.len() > 5 { ", …" } else { "" };
                format!("granted are {}{more}", patterns.join(", "))
            }
        };
        if let Some(alias) = self.tool_gates.owner() {
            return Failure::capability(format!("the tool `{alias}` may not call `{method}`: {given}"))
                .with_hint(format!("add it to `tools` under `[tool.{alias}]` in the policy"));
        }
        let is_program = self.tools.get(method).is_some_and(|tool| tool.function().is_program());
        Failure::capability(format!("no grant allows `{method}`: {given}")).with_hint(how_to_grant(method, is_program))
    }

    pub(super) fn unknown(&self, method: &str) -> Failure {
        let failure = Failure::argument(format!("there is no tool `{method}`"));
        if let Some(clash) = self.tools.clash_of(method) {
            return failure.with_hint(clash.hint());
        }
        match self.tools.nearest(method) {
            Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
            None if self.tools.is_empty() => failure.with_hint(
                "no tool is mounted: publish one, or mount it with `--tool`; from Python, give it in `tools`",
            ),
            None => failure.with_hint("`listTools()` and `tool --list` name what is mounted"),
        }
    }
}

/// Maximum size of refused arguments that are recorded completely. Nothing else limits what a script without grants may
/// attempt.
const MAX_REFUSED_BYTES: usize = 16 << 10;

/// Returns the recorded form of the text of refused arguments: the JSON, or the text if it is not valid JSON; for a
/// long text its beginning, length and hash.
pub(super) fn recorded_text(text: &str) -> Value {
    if text.len() > MAX_REFUSED_BYTES {
        let beginning = &text[..text.floor_char_boundary(MAX_REFUSED_BYTES / 16)];
        let hash = blake3::hash(text.as_bytes()).to_hex();
        return json!({ "beginning": beginning, "bytes": text.len(), "blake3": hash.as_str() });
    }
    json::parse(text, u64::MAX).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Returns the recorded form of canonical arguments that were refused.
pub(super) fn recorded_arguments(arguments: Value) -> Value {
    if json::weight(&arguments) > MAX_REFUSED_BYTES as u64 { recorded_text(&arguments.to_string()) } else { arguments }
}
