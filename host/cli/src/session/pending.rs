//! `tollhouse session pending`, and how calls are shown that wait for a human.

use clap::Args;
use serde_json::Value;
use tollhouse::gate::CallOutcome;
use tollhouse::session::{CallInDoubt, CallsForHumans, PendingCall, PendingState, SessionId, UnreadableSession};

use super::super::error::chain;
use super::super::locations::Locations;
use super::super::show::plain;
use super::super::{Result, format, show};
use crate::Exit;

/// List the calls for which a human is needed: those that wait for approval, and those in doubt
///
/// A question whose time is over (`approve_within`) is `expired`: nobody can answer it, and the call is denied when the run is
/// resumed. A call is in doubt if it had started when its process ended, and may have taken effect: `tollhouse session resolve`
/// says what became of it. A session that is damaged hides no others: there is a warning for each, and the exit status is 1.
#[derive(Args)]
pub(crate) struct PendingCallsCommand {
    /// The session [default: all sessions]
    #[arg(value_name = "ID")]
    id: Option<SessionId>,
    /// Print an array of {kind, session, run, seq, method, arguments, …}: of `kind` `approval` with grant, reason, cost, asked,
    /// asked_at, expires, expires_at, digest, state, decision; of `kind` `in_doubt` with reason, outcome, hint
    #[arg(long)]
    json: bool,
}

impl PendingCallsCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let sessions = locations.sessions()?;
        let calls = sessions.call_decisions().calls_for_humans(self.id.as_ref());
        let CallsForHumans { pending, in_doubt, unreadable, .. } =
            calls.map_err(|error| super::failed("cannot list the calls that wait", &error))?;
        unreadable.iter().for_each(warn_of_unreadable);
        let exit = if unreadable.is_empty() { Exit::SUCCESS } else { Exit::FAILURE };
        if self.json {
            let calls = pending.iter().map(pending_json).chain(in_doubt.iter().map(in_doubt_json));
            show::json_pretty(&calls.collect::<Vec<Value>>());
            return Ok(exit);
        }
        if pending.is_empty() && in_doubt.is_empty() && unreadable.is_empty() {
            note!("no call waits for approval, and none is in doubt");
        }
        pending.iter().for_each(show_pending);
        in_doubt.iter().for_each(show_in_doubt);
        Ok(exit)
    }
}

/// Warns of a session whose calls are not listed.
fn warn_of_unreadable(unreadable: &UnreadableSession) {
    let UnreadableSession { session, error, .. } = unreadable;
    note!(
        "warning: the calls of `{session}` are not listed: {}; `tollhouse session pending {session}` says what to do",
        plain(&chain(error))
    );
}

/// Returns a call that waits as JSON: what the store has of it, its kind, and its times as RFC 3339 too.
pub(super) fn pending_json(call: &PendingCall) -> Value {
    let mut shown = serde_json::to_value(call).expect("it is plain data");
    shown["kind"] = "approval".into();
    shown["asked_at"] = format::time(call.call.asked).into();
    shown["expires_at"] = call.call.expires.map(format::time).into();
    shown
}

fn in_doubt_json(call: &CallInDoubt) -> Value {
    let mut shown = serde_json::to_value(call).expect("it is plain data");
    // Names that each entry has, for whoever does not look at its kind.
    for name in ["grant", "line"] {
        shown[name] = Value::Null;
    }
    shown["cost"] = Value::Array(Vec::new());
    shown["reason"] = "it had started when its process ended, and may have taken effect".into();
    shown["kind"] = "in_doubt".into();
    shown["hint"] = resolve_hint(call).into();
    shown
}

fn resolve_hint(call: &CallInDoubt) -> String {
    let CallInDoubt { session, run, seq, .. } = call;
    format!("tollhouse session resolve {session}@{run} {seq} retry|fail MESSAGE|done JSON")
}

/// Prints a call in doubt.
fn show_in_doubt(call: &CallInDoubt) {
    let CallInDoubt { session, run, seq, method, arguments, outcome, .. } = call;
    let known = match outcome {
        CallOutcome::Ok => "it had returned, and its result is lost",
        CallOutcome::Failed => "it had failed, and its error is lost",
        _ => "it had started when the process ended",
    };
    show::line(format_args!("{session}@{run} call {seq}  {}  in doubt  ({known})", plain(method)));
    show_arguments("  ", arguments);
    show::line(format_args!("  find out what became of it: {}", resolve_hint(call)));
}

/// Prints a call that waits, or was decided about.
pub(super) fn show_pending(pending: &PendingCall) {
    let PendingCall { session, run, call, decision, .. } = pending;
    let state = match decision {
        None if pending.state == PendingState::Expired => "expired".to_owned(),
        None => "waits".to_owned(),
        Some(decision) if decision.arguments.is_some() => {
            format!("approved by {} with other arguments", plain(&decision.by))
        }
        Some(decision) if decision.allowed => format!("approved by {}", plain(&decision.by)),
        Some(decision) => format!("refused by {}", plain(&decision.by)),
    };
    let has_expired = pending.state == PendingState::Expired;
    let limit = if has_expired { "could be approved until" } else { "to be approved until" };
    let until = call.expires.map(|at| format!(", {limit} {}", format::short_time(at)));
    let (asked, until) = (format::short_time(call.asked), until.unwrap_or_default());
    show::line(format_args!(
        "{session}@{run} call {}  {}  {state}  (asked {asked}{until})",
        call.seq,
        plain(&call.method)
    ));
    if let (Some(file), Some(line)) = (&call.file, call.line) {
        show::line(format_args!("  at {}:{line}", plain(file)));
    }
    show_arguments("  ", &call.arguments);
    if let Some(arguments) = decision.as_ref().and_then(|decision| decision.arguments.as_ref()) {
        show_arguments("  instead: ", arguments);
    }
    show::line(format_args!("  grant `{}`: {}", plain(&call.grant), plain(&call.reason)));
    if let Some(approvers) = &call.approved_by {
        let approvers: Vec<&str> = approvers.iter().map(String::as_str).collect();
        show::line(format_args!("  has to be signed by {}", plain(&approvers.join(" or "))));
    }
    if let Some(rejected) = &call.rejected {
        show::line(format_args!("  {}", plain(rejected)));
    }
    call.cost.as_array().into_iter().flatten().for_each(show_cost);
    if has_expired {
        show::line(format_args!(
            "  nobody can decide any more: it is denied when `session resume {session}` continues the run"
        ));
    }
}

/// Prints what a call takes from a budget.
fn show_cost(cost: &Value) {
    let text = |key: &str| cost[key].as_str().map_or_else(|| cost[key].to_string(), plain);
    let kind = if cost["kind"] == "spend" { "spending" } else { "calls" };
    let (amount, grant, remaining) = (text("amount"), text("grant"), text("remaining"));
    if cost["amount"].is_null() {
        show::line(format_args!("  what it takes of the {kind} of `{grant}` is known when the run continues"));
    } else if cost["exceeds"] == true {
        show::line(format_args!(
            "  takes {amount} of the {kind} of `{grant}`, which is more than is left: it will be refused"
        ));
    } else {
        show::line(format_args!("  takes {amount} of the {kind} of `{grant}`, and leaves {remaining}"));
    }
}

/// Prints the arguments of a call, one a line.
fn show_arguments(indent: &str, arguments: &Value) {
    match arguments.as_object() {
        Some(arguments) => {
            for (name, value) in arguments {
                show::line(format_args!("{indent}{} = {value}", show::name(name)));
            }
        }
        None => show::line(format_args!("{indent}{arguments}")),
    }
}
