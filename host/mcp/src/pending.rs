//! The tool `pending`: calls that wait for approval, and calls in doubt. It decides nothing.

use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::{Value, json};
use tollhouse::session::{CallInDoubt, CallsForHumans, PendingCall, PendingState, Status};

use crate::arguments::Arguments;
use crate::definitions::names;
use crate::excerpts::shorten;
use crate::sessions::{ClientSessions, OpenedSession};
use crate::tool_error::ToolError;
use crate::unreadable_sessions::UnreadableSessions;

/// Most characters of a call's arguments in a text.
const MAX_ARGUMENTS: usize = 1000;

/// Most characters of a call's arguments in structured content, where they are the value itself if they are shorter.
const MAX_VALUE: usize = 2000;

/// Most calls that a result lists.
const MAX_CALLS: usize = 20;

/// Lists the calls of a session that wait, or of all sessions of the client.
pub(crate) fn list(
    client: &ClientSessions,
    arguments: Option<JsonObject>,
    limit: usize,
) -> Result<CallToolResult, ToolError> {
    let mut arguments = Arguments::new(arguments, &names::PENDING)?;
    let named = arguments.text("session")?;
    let (sessions, mut unreadable) = match &named {
        Some(name) => (vec![client.get(Some(name))?.name.clone()], Vec::new()),
        None => client.readable_names()?,
    };
    let (mut waiting, mut in_doubt) = (Vec::new(), Vec::new());
    if let Ok(store) = client.store() {
        for session in sessions {
            let id = client.id(&session)?;
            let calls = match store.call_decisions().calls_for_humans(Some(&id)) {
                // The calls of other sessions are shown although one is damaged.
                Err(error) if named.is_none() => {
                    unreadable.push((session, error.into()));
                    continue;
                }
                calls => calls?,
            };
            let CallsForHumans { pending, in_doubt: doubtful, .. } = calls;
            waiting.extend(pending.into_iter().map(|call| (session.clone(), call)));
            in_doubt.extend(doubtful.into_iter().map(|call| (session.clone(), call)));
        }
    }
    let mut text = String::new();
    for (session, call) in waiting.iter().take(MAX_CALLS) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "session {session}: {}", line(call));
    }
    for (session, call) in in_doubt.iter().take(MAX_CALLS) {
        let _ = writeln!(text, "session {session}: {}", line_in_doubt(call));
    }
    let more = waiting.len().saturating_sub(MAX_CALLS) + in_doubt.len().saturating_sub(MAX_CALLS);
    text.push_str(&beyond(more));
    let unreadable = unreadable.into_iter().map(|(session, error)| (session, error.with_names_of(client)));
    let unreadable = UnreadableSessions::new(unreadable.collect());
    if waiting.is_empty() && in_doubt.is_empty() {
        text.push_str(unreadable.reservation());
        text.push_str("No call waits for approval, and none is in doubt.");
    }
    text.push_str(&unreadable.warnings());
    let items: Vec<Value> = waiting.iter().take(MAX_CALLS).map(|(session, call)| item(session, call)).collect();
    let doubtful: Vec<Value> =
        in_doubt.iter().take(MAX_CALLS).map(|(session, call)| item_in_doubt(session, call)).collect();
    let mut result = CallToolResult::success(vec![ContentBlock::text(shorten(text.trim_end(), limit).text)]);
    result.structured_content =
        Some(json!({ "pending": items, "in_doubt": doubtful, "more": more, "unreadable": unreadable.to_json() }));
    Ok(result)
}

/// Describes the calls of a run that wait as structured content.
pub(crate) fn items(session: &str, waiting: &[PendingCall]) -> Vec<Value> {
    waiting.iter().take(MAX_CALLS).map(|call| item(session, call)).collect()
}

/// Says how many calls are not listed.
fn beyond(more: usize) -> String {
    match more {
        0 => String::new(),
        more => format!("\nand {more} more calls"),
    }
}

/// Describes a waiting call as structured content. Long arguments are a text of their beginning and their end.
fn item(session: &str, pending: &PendingCall) -> Value {
    let call = &pending.call;
    let (arguments, characters) = shortened(pending.effective_arguments());
    json!({
        "session": session,
        "run": pending.run,
        "seq": call.seq,
        "method": call.method,
        "arguments": arguments,
        "arguments_characters": characters,
        "grant": call.grant,
        "reason": shorten(&call.reason, MAX_VALUE).text,
        "cost": call.cost,
        "state": pending.state,
        "decided": pending.decision.as_ref().map(|decision| decision.allowed),
    })
}

/// Describes a call in doubt as structured content.
fn item_in_doubt(session: &str, call: &CallInDoubt) -> Value {
    let (arguments, characters) = shortened(&call.arguments);
    json!({
        "session": session,
        "run": call.run,
        "seq": call.seq,
        "method": call.method,
        "arguments": arguments,
        "arguments_characters": characters,
        "outcome": call.outcome,
    })
}

/// Returns arguments, and the number of their characters if they are a text of their beginning and their end.
fn shortened(arguments: &Value) -> (Value, Option<usize>) {
    let short = shorten(&arguments.to_string(), MAX_VALUE);
    let value = if short.of.is_some() { Value::String(short.text) } else { arguments.clone() };
    (value, short.of)
}

/// Explains to a model why a run has not ended, and what makes it go on.
pub(crate) fn explain(
    client: &ClientSessions,
    opened: &OpenedSession,
    status: Status,
    waiting: &[PendingCall],
) -> String {
    let session = opened.session.id().map(ToString::to_string).unwrap_or_default();
    if status == Status::InDoubt {
        return format!(
            "in_doubt: the process ended during a call that may have taken effect; `pending` lists it. A human must find out \
             and say so (`tollhouse session resolve {session}`); then `resume` continues the run."
        );
    }
    let mut text = "suspended: the run waits for the approval of".to_owned();
    for call in waiting.iter().take(MAX_CALLS) {
        // Writing to a string does not fail.
        let _ = write!(text, "\n- {}", line(call));
    }
    text.push_str(&beyond(waiting.len().saturating_sub(MAX_CALLS)));
    if waiting.iter().any(|call| call.call.arguments.to_string().chars().count() > MAX_ARGUMENTS) {
        text.push_str(&match client.on_disk() {
            true => format!("\n[arguments are shortened: `tollhouse session pending {session}` shows a human all]"),
            false => "\n[arguments are shortened: they are what the script wrote]".to_owned(),
        });
    }
    let how = match (client.on_disk(), client.has_approvers()) {
        (true, _) => format!("A human decides with `tollhouse session approve {session}` or `deny`"),
        (false, true) => "A human decides, who has a token for that".to_owned(),
        (false, false) => "The client's user decides when `resume` asks again".to_owned(),
    };
    let _ = write!(text, "\n{how}; then `resume` continues the run. Until then the session takes no other run.");
    text
}

fn line(pending: &PendingCall) -> String {
    let call = &pending.call;
    let arguments = shorten(&pending.effective_arguments().to_string(), MAX_ARGUMENTS).text;
    let decided = match pending.state {
        PendingState::Approved => ", approved: `resume` makes it",
        PendingState::Edited => ", approved with these arguments in place of the script's: `resume` makes it",
        PendingState::Refused => ", refused",
        PendingState::Expired => ", expired: nobody can approve it any more, and `resume` denies it",
        _ => "",
    };
    let reason = shorten(&call.reason, MAX_ARGUMENTS).text;
    format!("call {} of `{}` {arguments} ({reason}{decided})", call.seq, call.method)
}

fn line_in_doubt(call: &CallInDoubt) -> String {
    let CallInDoubt { session, run, seq, method, arguments, .. } = call;
    let arguments = shorten(&arguments.to_string(), MAX_ARGUMENTS).text;
    format!(
        "call {seq} of `{method}` {arguments} (in doubt: its process ended, and it may have taken effect; a human finds out and \
         says so with `tollhouse session resolve {session}@{run} {seq}`)"
    )
}
