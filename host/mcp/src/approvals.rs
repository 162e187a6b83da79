//! Calls that wait for consent. The run that makes such a call is suspended; then the client's user is asked by an
//! elicitation of the protocol, if the client can do that, and the run goes on with the answer. Otherwise it stays
//! suspended, until somebody else decides.
//!
//! - Clients of 2026-07-28 and later get a result that requires input, and repeat the request with the answers.
//! - Earlier clients get a request while their own is being answered.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer, ServiceError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tollhouse::gate::{Answer, ApprovalError, ApprovalRequest, Approver, DeferredCall};
use tollhouse::session::{Answered, PendingCall};
use tollhouse_types::is_hidden;

use crate::server::Connection;
use crate::sessions::OpenedSession;
use crate::tool_error::ToolError;

/// Most characters of a question. A call that cannot be shown in full is decided about elsewhere.
const MAX_QUESTION: usize = 6000;

/// Property of the answer that allows the call.
const ALLOW: &str = "allow";

/// Approver that leaves each decision to later, if anybody can make it later; else the call is refused.
#[derive(Debug, Default)]
pub struct DeferringApprover(Mutex<ApproverState>);

#[derive(Debug, Default)]
struct ApproverState {
    deciders: Deciders,
    /// Calls that the client could not be asked about, with the reason.
    unasked: Vec<UnaskedCall>,
}

#[derive(Debug)]
struct UnaskedCall {
    method: String,
    arguments: Value,
    why: String,
}

/// Those who can decide about calls of a run that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Deciders {
    /// Nobody: the session ends with the client, which does not ask its user.
    #[default]
    Nobody,
    /// The client's user alone, since the session is in memory.
    Client,
    /// Whoever can open the store of the session, or has a token that decides.
    Anybody,
}

impl DeferringApprover {
    /// Says who can decide about the calls of the next run.
    pub(crate) fn set_deciders(&self, deciders: Deciders) {
        *self.state() = ApproverState { deciders, unasked: Vec::new() };
    }

    /// Remembers that the client could not be asked about a call, which is refused when its run is resumed.
    pub(crate) fn refuse_unasked(&self, call: &PendingCall, why: String) {
        let (method, arguments) = (call.call.method.clone(), call.call.arguments.clone());
        self.state().unasked.push(UnaskedCall { method, arguments, why });
    }

    /// Locks the state. No change can be seen half done, so a poisoned lock is still good.
    fn state(&self) -> MutexGuard<'_, ApproverState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Approver for DeferringApprover {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError> {
        let state = self.state();
        let is_same = |call: &&UnaskedCall| call.method == request.method && call.arguments == *request.arguments;
        let why = match state.deciders {
            Deciders::Anybody => None,
            Deciders::Nobody => Some("the client does not ask its user, and the session ends with it".to_owned()),
            Deciders::Client => match state.unasked.iter().find(is_same) {
                Some(call) => Some(call.why.clone()),
                None => too_long(&QuestionText::of(request).to_string()),
            },
        };
        Err(why.map_or(ApprovalError::Deferred, ApprovalError::Unavailable))
    }

    fn waits_for_signatures(&self) -> bool {
        self.state().deciders == Deciders::Anybody
    }
}

/// Explains why a question is not asked that is too long; `None` if it is not.
fn too_long(question: &str) -> Option<String> {
    let characters = question.chars().count();
    (characters > MAX_QUESTION).then(|| {
        format!(
            "the question would have {characters} characters, and a user is shown at most {MAX_QUESTION}: make the call \
             with shorter arguments"
        )
    })
}

/// Way in which a client can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskMode {
    /// Not at all.
    Never,
    /// By a request of the server while the client's own is answered.
    Request,
    /// By a result that requires input.
    Result,
}

impl AskMode {
    /// Determines how the client of a request can be asked.
    pub(crate) fn of(connection: &Connection, context: &RequestContext<RoleServer>) -> Self {
        let elicits = context.client_capabilities().is_some_and(|declared| {
            // A client that declares neither form nor URL means forms, as the first revisions of the protocol did.
            declared.elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
        });
        let version = context.protocol_version();
        match version {
            _ if !elicits || !connection.asks_client() => Self::Never,
            Some(version) if version.as_str() >= ProtocolVersion::V_2026_07_28.as_str() => Self::Result,
            _ => Self::Request,
        }
    }
}

/// State that a client of 2026-07-28 returns with its answers. It names one of the client's own sessions, as the client
/// could otherwise: what was asked is remembered here.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestState {
    pub(crate) session: String,
}

/// Digests of the calls that the client was asked about last, in a session.
pub(crate) type AskedCalls = Mutex<BTreeSet<String>>;

/// Returns the result that asks the client about these calls; `None` if one of them cannot be shown in full.
pub(crate) fn input_required(opened: &OpenedSession, calls: &[PendingCall]) -> Option<InputRequiredResult> {
    let requests = calls.iter().filter(|call| call.decision.is_none()).map(|call| {
        let request = InputRequest::Elicitation(ElicitRequest::new(question(call)?));
        Some((call.call.digest.clone(), request))
    });
    let requests: InputRequests = requests.collect::<Option<_>>()?;
    *opened.asked.lock().unwrap_or_else(PoisonError::into_inner) = requests.keys().cloned().collect();
    let state = RequestState { session: opened.name.clone() };
    let state = serde_json::to_string(&state).ok()?;
    Some(InputRequiredResult::new(Some(requests), Some(state)))
}

/// Returns the answers to the calls that wait, out of those that a client sent. Answers about calls that it was not
/// asked about are ignored, and so are all after this: the next question is asked anew. A dismissed question is asked again
/// if the run can wait, else it is a refusal.
pub(crate) fn answers(
    calls: &[PendingCall],
    asked: &AskedCalls,
    responses: &InputResponses,
    by: &str,
    can_wait: bool,
) -> Vec<(u64, Answered)> {
    let asked = std::mem::take(&mut *asked.lock().unwrap_or_else(PoisonError::into_inner));
    let waiting = calls.iter().filter(|call| call.decision.is_none() && asked.contains(&call.call.digest));
    let answered = waiting.filter_map(|call| {
        let response = responses.get(&call.call.digest)?;
        let result: ElicitResult = serde_json::from_value(response.clone()).ok()?;
        let answer = answer(call, &result, by).or_else(|| (!can_wait).then(|| dismissed(call, by)))?;
        Some((call.call.seq, answer))
    });
    answered.collect()
}

/// Asks the client about a call. Returns `None` if it was not decided.
///
/// # Errors
/// If the client cannot be asked.
pub(crate) async fn ask(
    peer: &Peer<RoleServer>,
    call: &PendingCall,
    by: &str,
) -> Result<Option<Answered>, ServiceError> {
    let Some(question) = question(call) else { return Ok(None) };
    let result = peer.create_elicitation(question).await?;
    Ok(answer(call, &result, by))
}

/// Answer of a user who dismissed the question, where that cannot wait.
pub(crate) fn dismissed(call: &PendingCall, by: &str) -> Answered {
    refusal(call, by, "the user dismissed the question")
}

fn refusal(call: &PendingCall, by: &str, reason: &str) -> Answered {
    Answered {
        allowed: false,
        by: by.to_owned(),
        reason: Some(reason.to_owned()),
        digest: Some(call.call.digest.clone()),
        arguments: None,
        signature: None,
    }
}

/// Interprets an answer: only the acceptance of a form that says so allows the call, and only a dismissed form decides
/// nothing.
fn answer(call: &PendingCall, result: &ElicitResult, by: &str) -> Option<Answered> {
    let allowed = match result.action {
        ElicitationAction::Accept => {
            result.content.as_ref().and_then(|content| content.get(ALLOW)) == Some(&Value::Bool(true))
        }
        ElicitationAction::Decline => false,
        _ => return None,
    };
    let refusal = refusal(call, by, "the user refused the call");
    Some(if allowed { Answered { allowed, reason: None, ..refusal } } else { refusal })
}

/// Builds the question about a call; `None` if the call cannot be shown in full, or the answer would have to be signed.
fn question(pending: &PendingCall) -> Option<ElicitRequestParams> {
    let message = question_text(pending)?;
    let schema = ElicitationSchema::builder().required_bool(ALLOW).build().ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// Returns the text of the question about a call; `None` if the call cannot be shown in full, or the answer would have to be
/// signed.
pub(crate) fn question_text(pending: &PendingCall) -> Option<String> {
    let call = &pending.call;
    if call.approved_by.is_some() {
        return None;
    }
    let (method, arguments, reason, grant) = (&call.method, &call.arguments, &call.reason, &call.grant);
    let message = QuestionText { method, arguments, reason, grant, cost: call.cost.clone() }.to_string();
    too_long(&message).is_none().then_some(message)
}

/// Returns the text of the question about a call, without values of secrets. The error says why nobody is asked.
pub(crate) fn question_about(call: &DeferredCall) -> Result<String, String> {
    let ((arguments, reason), cost) = (call.shown(), call.cost.clone());
    let text = QuestionText { method: &call.method, arguments, reason, grant: &call.grant, cost }.to_string();
    too_long(&text).map_or(Ok(text), Err)
}

/// Text of the question about a call.
struct QuestionText<'a> {
    method: &'a str,
    arguments: &'a Value,
    reason: &'a str,
    grant: &'a str,
    cost: Value,
}

impl<'a> QuestionText<'a> {
    fn of(request: &ApprovalRequest<'a>) -> Self {
        let cost = serde_json::to_value(request.costs).unwrap_or_default();
        Self {
            method: request.method,
            arguments: request.arguments,
            reason: request.reason,
            grant: request.grant,
            cost,
        }
    }
}

impl fmt::Display for QuestionText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "An agent asks to call `{}` with these arguments:\n{}\n\nIt needs your consent: {} (grant `{}`).{}",
            visible(self.method),
            visible(&format!("{:#}", self.arguments)),
            visible(self.reason),
            visible(self.grant),
            costs(&self.cost),
        )
    }
}

/// Describes what the call takes from budgets.
fn costs(cost: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let listed = cost.as_array().into_iter().flatten().map(|cost| {
        let unit = if cost["kind"] == "calls" { " calls" } else { "" };
        let (amount, limit, grant) = (text(&cost["amount"]), text(&cost["limit"]), text(&cost["grant"]));
        format!(" It takes {amount} of {limit}{unit} of the grant `{grant}`.")
    });
    visible(&listed.collect::<String>())
}

/// Replaces characters that are not seen, or that change how others are seen, by their codes. Line breaks and tabs stay.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

/// Parses the state that a client returned.
///
/// # Errors
/// If it is not one that this server gave out.
pub(crate) fn parse_state(text: &str) -> Result<RequestState, ToolError> {
    serde_json::from_str(text).map_err(|_| {
        ToolError::new("`requestState` is not one that this server gave out")
            .hint("return it exactly as it came, or call the tool again without it")
    })
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn text_with_hidden_or_reordering_characters_is_shown_as_codes() {
        assert_eq!(visible("a\n\tb ü"), "a\n\tb ü");
        assert_eq!(visible("x\u{202e}y\u{1b}[2J\u{200b}"), "x\\u{202e}y\\u{1b}[2J\\u{200b}");
        // By Unicode's properties: Hangul fillers, invisible marks and blank Braille too.
        assert_eq!(visible("\u{115f}\u{3164}\u{180b}\u{2800}"), "\\u{115f}\\u{3164}\\u{180b}\\u{2800}");
    }
}
