//! Tools of a client that decides about calls which wait, and does nothing else: it runs no scripts, and reaches no files.
//!
//! Such a client has a token of its own (`http::approvers`). A client that runs scripts never has these tools.

use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tollhouse::session::{Answered, PendingCall, SessionId, Waiting};

use crate::approvals::{question_text, visible};
use crate::arguments::{Arguments, excerpt};
use crate::definitions::object;
use crate::http::ApproverIdentity;
use crate::server::Server;
use crate::sessions::{ClientSessions, StoredRoot, UnreadableSession};
use crate::tool_error::ToolError;
use crate::unreadable_sessions::UnreadableSessions;
use crate::waiting_calls::{CallDecision, TokenClient, Undecided, WaitingCall};

const PENDING: &str = "pending";
const DECIDE: &str = "decide";

/// Most calls that a result lists.
const MAX_CALLS: usize = 20;

/// Most characters of a reason.
const MAX_REASON: usize = 1000;

/// Arguments of `decide`.
const ARGUMENTS: [&str; 4] = ["session", "call", "decision", "reason"];

/// Returns the tools of a client that decides.
pub(crate) fn tools() -> Vec<Tool> {
    let listing = ToolAnnotations::with_title("Calls that wait").read_only(true).open_world(false);
    let deciding =
        ToolAnnotations::with_title("Decide about a call").destructive(true).idempotent(false).open_world(true);
    let text = |description: &str| json!({ "type": "string", "description": description });
    vec![
        Tool::new(
            PENDING,
            "List the calls that wait for approval, each as the user is to see it.",
            Arc::new(object(json!({}), &[])),
        )
        .with_annotations(listing),
        Tool::new(
            DECIDE,
            "Allow or deny a call that waits. That of a suspended run is made when its client resumes the run.",
            Arc::new(object(
                json!({
                    "session": text("Session of the call, as `pending` has it"),
                    "call": text("`digest` of the call"),
                    "decision": { "enum": ["allow", "deny"] },
                    "reason": text("Reason of a refusal, which the script sees"),
                }),
                &["session", "call", "decision"],
            )),
        )
        .with_annotations(deciding),
    ]
}

/// Answers a call of one of these tools.
pub(crate) async fn answer(
    server: Server,
    approver: ApproverIdentity,
    client: String,
    request: CallToolRequestParams,
) -> CallToolResult {
    let answered = tokio::task::spawn_blocking(move || match &*request.name {
        PENDING => pending(&server, &approver, request.arguments),
        DECIDE => decide(&server, &approver, &client, request.arguments),
        other => Err(ToolError::new(format!("there is no tool `{}`", excerpt(other)))
            .hint("this token decides about calls: its tools are `pending` and `decide`")),
    });
    let answered = answered.await.unwrap_or_else(|error| Err(ToolError::because("the tool failed", &error)));
    answered.unwrap_or_else(ToolError::into_result)
}

/// Lists the sessions whose calls are decided about: all of the clients of this server, and no other one of its store. Those
/// that cannot be read are apart.
fn sessions(
    clients: &ClientSessions,
    stored: &StoredRoot,
) -> Result<(Vec<SessionId>, Vec<UnreadableSession>), ToolError> {
    if !stored.on_disk {
        return Ok((stored.sessions.list()?, Vec::new()));
    }
    let (names, unreadable) = clients.readable_names()?;
    let ids: Result<_, _> = names.iter().map(|name| clients.id(name)).collect();
    let unreadable = unreadable.into_iter().map(|(name, error)| Ok((clients.id(&name)?.to_string(), error)));
    Ok((ids?, unreadable.collect::<Result<_, ToolError>>()?))
}

/// Lists the calls of suspended runs that wait, and the sessions that cannot be read.
fn suspended(server: &Server) -> Result<(Vec<PendingCall>, Vec<UnreadableSession>), ToolError> {
    let Some(stored) = &server.0.root.stored else { return Ok((Vec::new(), Vec::new())) };
    let clients = ClientSessions::of_root(&server.0.root);
    let (sessions, mut unreadable) = sessions(&clients, stored)?;
    let mut waiting: Vec<PendingCall> = Vec::new();
    for session in sessions {
        match stored.sessions.call_decisions().pending_calls(&session) {
            Ok(calls) => waiting.extend(calls.into_iter().filter(|call| call.decision.is_none())),
            // The calls of other sessions are shown although one is damaged.
            Err(error) => unreadable.push((session.to_string(), error.into())),
        }
    }
    Ok((waiting, unreadable))
}

fn pending(
    server: &Server,
    approver: &ApproverIdentity,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, ToolError> {
    Arguments::new(arguments, &[])?;
    let (suspended, unreadable) = suspended(server)?;
    let unreadable = UnreadableSessions::new(unreadable);
    let waiting: Vec<ListedCall> = suspended
        .iter()
        .map(ListedCall::of_suspended)
        .chain(server.0.waiting.list().iter().map(|call| ListedCall::of_waiting(call, approver)))
        .collect();
    let shown = waiting.iter().take(MAX_CALLS);
    let items: Vec<&Value> = shown.clone().map(|call| &call.item).collect();
    let text: Vec<&str> = shown.map(|call| call.text.as_str()).collect();
    let text = match text.is_empty() {
        true => format!("{}No call waits for approval.", unreadable.reservation()),
        false => text.join("\n\n"),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text + &unreadable.warnings())]);
    result.structured_content = Some(json!({
        "pending": items, "more": waiting.len().saturating_sub(MAX_CALLS), "unreadable": unreadable.to_json(),
    }));
    Ok(result)
}

/// Call that waits, as whoever decides is shown it.
struct ListedCall {
    item: Value,
    text: String,
}

impl ListedCall {
    fn of_suspended(pending: &PendingCall) -> Self {
        Self { item: item(pending), text: told(pending) }
    }

    /// Describes a call of a client with a token. One that is the decider's own has no digest.
    fn of_waiting(waiting: &WaitingCall, approver: &ApproverIdentity) -> Self {
        let WaitingCall { client, call, question, .. } = waiting;
        let is_own = approver.subject().is_some_and(|subject| *client == TokenClient::Subject(subject.to_owned()));
        let (name, digest) = (client.name(), (!is_own).then_some(&call.digest));
        let (arguments, _) = call.shown();
        let item = json!({
            "session": name, "run": null, "seq": call.seq, "method": call.method, "grant": call.grant,
            "question": question, "digest": digest, "arguments": arguments, "cost": call.cost,
        });
        let name = visible(&name);
        let text = match digest {
            Some(digest) => format!("session {name}, call {digest}:\n{question}"),
            None => format!("session {name}: a call of your own, about which somebody else decides:\n{question}"),
        };
        Self { item, text }
    }
}

/// Describes a call. One that cannot be decided about here has no digest.
fn item(pending: &PendingCall) -> Value {
    let call = &pending.call;
    let question = question_text(pending);
    let is_shown = question.is_some();
    json!({
        "session": pending.session.as_str(), "run": pending.run, "seq": call.seq, "method": call.method,
        "grant": call.grant, "question": question, "digest": is_shown.then_some(&call.digest),
        "arguments": is_shown.then_some(&call.arguments), "cost": call.cost,
    })
}

fn told(pending: &PendingCall) -> String {
    let session = pending.session.as_str();
    match question_text(pending) {
        Some(question) => format!("session {session}, call {}:\n{question}", pending.call.digest),
        None => format!(
            "session {session}, call {} of run {}: too long to be shown, or its approval has to be signed: `tollhouse \
             session approve {session}` decides",
            pending.call.seq, pending.run
        ),
    }
}

fn decide(
    server: &Server,
    approver: &ApproverIdentity,
    client: &str,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, ToolError> {
    let mut arguments = Arguments::new(arguments, &ARGUMENTS)?;
    let (session, digest) = (arguments.required("session")?, arguments.required("call")?);
    let missing = || ToolError::new("the argument `decision` is missing: it is `allow` or `deny`");
    let allowed = arguments.word("decision", &["allow", "deny"])?.ok_or_else(missing)? == "allow";
    let reason: Option<String> = arguments.text("reason")?.map(|reason| reason.chars().take(MAX_REASON).collect());
    let refused = reason.or_else(|| Some("whoever decides refused the call".to_owned()));
    let by = format!("{approver} of the MCP client {client}");
    let decision = CallDecision { allowed, by, reason: refused.filter(|_| !allowed) };
    let waits = server.0.waiting.list().iter().any(|waiting| waiting.client.name() == session);
    match waits {
        true => decide_waiting(server, approver, &session, &digest, decision),
        false => decide_suspended(server, &session, digest, decision),
    }
}

/// Says that there is no call to decide about.
fn unknown() -> ToolError {
    ToolError::new("no such call waits there").hint("`pending` lists the calls that wait, with their digests")
}

/// Decides about a call of a client with a token, whose run goes on at once.
fn decide_waiting(
    server: &Server,
    approver: &ApproverIdentity,
    session: &str,
    digest: &str,
    decision: CallDecision,
) -> Result<CallToolResult, ToolError> {
    let (allowed, by) = (decision.allowed, decision.by.clone());
    let decided = server.0.waiting.decide(session, digest, approver.subject(), decision);
    let WaitingCall { call, .. } = decided.map_err(|why| match why {
        Undecided::Unknown => unknown(),
        Undecided::Own => ToolError::new("the call is of the same subject, which decides about no call of its own"),
    })?;
    let told = if allowed { "allowed" } else { "refused" };
    let text = format!("call {} of `{}` is {told}, and its run goes on", call.seq, call.method);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({
        "session": session, "run": null, "seq": call.seq, "method": call.method, "allowed": allowed, "by": by,
    }));
    Ok(result)
}

/// Decides about a call of a suspended run.
fn decide_suspended(
    server: &Server,
    session: &str,
    digest: String,
    decision: CallDecision,
) -> Result<CallToolResult, ToolError> {
    let stored = server.0.root.stored.as_ref().ok_or_else(unknown)?;
    let (ids, _) = sessions(&ClientSessions::of_root(&server.0.root), stored)?;
    let id = ids.into_iter().find(|id| id.as_str() == session).ok_or_else(unknown)?;
    let waiting = stored.sessions.call_decisions().pending_calls(&id)?;
    let is_meant = |call: &&PendingCall| call.decision.is_none() && call.call.digest == digest;
    let call = waiting.iter().find(is_meant).ok_or_else(unknown)?;
    if question_text(call).is_none() {
        return Err(ToolError::new(
            "a call that cannot be shown in full, or that has to be signed, is not decided about here",
        )
        .hint(format!("`tollhouse session approve {session}` decides")));
    }
    let CallDecision { allowed, by, reason } = decision;
    let answered = Answered { allowed, by: by.clone(), reason, digest: Some(digest), arguments: None, signature: None };
    let wait: Waiting = Arc::new(|| true);
    let decided = stored.sessions.call_decisions().decide(&id, Some(call.run), Some(call.call.seq), &answered, wait)?;
    let told = if allowed { "allowed" } else { "refused" };
    let text =
        format!("call {} of `{}` is {told}: it is so when its run is resumed", decided.call.seq, decided.call.method);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({
        "session": session, "run": decided.run, "seq": decided.call.seq, "method": decided.call.method,
        "allowed": allowed, "by": by,
    }));
    Ok(result)
}
