//! Approval of calls by a human, with the question and the answer on record. Independent of how the human is asked.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::audit::{Audit, AuditError, Event};
use super::call_record::BudgetKind;
use crate::capability::Amount;

/// Asks a human for approval. The run's clock is stopped meanwhile.
pub trait Approver: Send + Sync {
    /// Asks whether the call may be made. Only a recorded question can be answered: [`ApprovalRequest::put`] records
    /// the text that is shown. A refusal is final: no other grant is tried.
    ///
    /// # Errors
    /// If nobody could be asked, or the question could not be recorded: then the call is refused. After
    /// [`ApprovalError::Deferred`] a run that can be suspended waits for the decision.
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError>;

    /// Returns true if there is anybody to ask.
    fn is_present(&self) -> bool {
        true
    }
}

/// A call that needs approval.
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// The canonical method.
    pub method: &'a str,
    /// The canonical arguments, exactly as the tool would receive them.
    pub arguments: &'a Value,
    /// Name of the grant that requires approval.
    pub grant: &'a str,
    /// Reason in words: the clause, and the actual value in the call.
    pub reason: &'a str,
    /// Tools that make the call on the script's behalf, outermost first; empty if the script itself makes it.
    pub callers: &'a [Caller],
    /// Amounts that the call takes from each budget.
    pub costs: &'a [Cost],
    asking: &'a PendingApproval<'a>,
}

/// A call of a tool that itself makes calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Number of the call in its run.
    pub seq: u64,
    /// Method of the call.
    pub method: String,
}

/// The amount that a call takes from a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Name of the grant that sets the budget.
    pub grant: String,
    /// Unit that the budget counts.
    pub kind: BudgetKind,
    /// Amount that the call takes.
    pub amount: Amount,
    /// Initial amount of the budget.
    pub limit: Amount,
    /// Amount that remains after the call.
    pub remaining: Amount,
}

/// A call that waits for the decision of a human beyond the life of this process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeferredCall {
    /// Number of the call in its run.
    pub seq: u64,
    /// The canonical method.
    pub method: String,
    /// The canonical arguments, exactly as the tool would receive them.
    pub arguments: Value,
    /// Name of the grant that requires approval.
    pub grant: String,
    /// Reason in words: the clause, and the actual value in the call.
    pub reason: String,
    /// Amounts that the call would take from each budget: a list of [`Cost`].
    pub cost: Value,
    /// Time of the question, in nanoseconds since the Unix epoch.
    pub asked: u64,
    /// Time until which it can be decided about, in nanoseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// blake3 of what is decided about, in hexadecimal: run, number, method, arguments, grant and reason.
    pub digest: String,
}

/// The decision of a human about a deferred call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// True if the call may be made.
    pub allowed: bool,
    /// Person or system that decided.
    pub by: String,
    /// Reason of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time of the decision, in nanoseconds since the Unix epoch.
    pub at: u64,
    /// Digest of the call that was decided about.
    pub digest: String,
    /// Arguments with which the call is approved in place of the script's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
}

/// Question about a call that was asked before its run was resumed.
#[derive(Clone, Copy, Default)]
pub(crate) struct EarlierQuestion<'a> {
    /// The call, as it was asked about.
    pub(crate) asked: Option<&'a DeferredCall>,
    /// Decision that was made.
    pub(crate) decision: Option<&'a Decision>,
}

/// The way in which the consent to a call is obtained.
#[derive(Clone, Copy)]
pub(crate) enum Consent<'a> {
    /// A human is asked now; if there is nobody to ask, the call is refused.
    Now,
    /// If there is nobody to ask, the call is deferred, unless it was decided about.
    Deferrable(EarlierQuestion<'a>),
}

/// A recorded question.
#[derive(Debug)]
pub struct Question {
    shown: blake3::Hash,
}

/// The answer to a recorded question.
#[derive(Debug)]
pub struct Answer {
    shown: blake3::Hash,
    allowed: bool,
    by: String,
}

/// An error of asking for approval.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The question or the answer could not be logged.
    #[error("the question cannot be logged")]
    Unlogged(#[from] AuditError),
    /// Nobody could be asked.
    #[error("nobody is available to answer")]
    Unasked(#[from] io::Error),
    /// The approver leaves the decision to a later one.
    #[error("the decision is left to later, and this run cannot wait for it")]
    Deferred,
}

impl ApprovalRequest<'_> {
    /// Records that a human is asked, and the text that is shown. To be called before the text is shown.
    ///
    /// # Errors
    /// If the question cannot be recorded: then nobody may be asked.
    pub fn put(&self, text: &str) -> Result<Question, ApprovalError> {
        let shown = blake3::hash(text.as_bytes());
        self.asking.asked(text, &shown)?;
        Ok(Question { shown })
    }
}

impl Question {
    /// Creates the answer to this question; `by` tells who gave it.
    #[must_use]
    pub fn answer(self, allowed: bool, by: impl Into<String>) -> Answer {
        Answer { shown: self.shown, allowed, by: by.into() }
    }
}

impl DeferredCall {
    /// Creates the description of a call that is deferred, in the run with this number.
    pub(super) fn new(asking: &PendingApproval<'_>, asked: u64) -> Self {
        let &PendingApproval { run, seq, method, arguments, grant, reason, costs, within, .. } = asking;
        let within = within.map(|within| u64::try_from(within.as_nanos()).unwrap_or(u64::MAX));
        let decided = serde_json::json!([run, seq, method, arguments, grant, reason]).to_string();
        Self {
            seq,
            method: method.to_owned(),
            arguments: arguments.clone(),
            grant: grant.to_owned(),
            reason: reason.to_owned(),
            cost: serde_json::to_value(costs).unwrap_or_default(),
            asked,
            expires: within.map(|within| asked.saturating_add(within)),
            digest: blake3::hash(decided.as_bytes()).to_hex().to_string(),
        }
    }

    /// Returns true if nobody can decide about the call any more.
    pub(crate) fn has_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|expires| expires < now)
    }

    /// Returns the digest of a decision that approves this call of a run with other arguments.
    pub(crate) fn edited_digest(&self, run: u64, arguments: &Value) -> String {
        edited_digest(run, self.seq, &self.method, arguments, &self.grant)
    }
}

/// Returns the digest of a call that is approved with other arguments. The reason, which names the script's, is not in it.
fn edited_digest(run: u64, seq: u64, method: &str, arguments: &Value, grant: &str) -> String {
    let decided = serde_json::json!(["edited", run, seq, method, arguments, grant]).to_string();
    blake3::hash(decided.as_bytes()).to_hex().to_string()
}

/// Maximum length of a question's text in the log; longer texts are logged as a hash.
const MAX_TEXT: usize = 16 << 10;

/// A call that needs approval, and where the question is recorded.
pub(super) struct PendingApproval<'a> {
    pub(super) audit: &'a dyn Audit,
    pub(super) run: u64,
    pub(super) seq: u64,
    pub(super) callers: &'a [Caller],
    pub(super) method: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) grant: &'a str,
    pub(super) reason: &'a str,
    pub(super) costs: &'a [Cost],
    /// Time within which a deferred question can be answered.
    pub(super) within: Option<Duration>,
}

/// Outcome of a question.
pub(super) enum Answering {
    Allowed,
    /// With a reason, if one was given.
    Refused(Option<String>),
    Deferred(Box<DeferredCall>),
    /// Nobody answered in time.
    Expired,
}

impl PendingApproval<'_> {
    /// Obtains the consent to the call. A decision counts only for exactly the call that it was made about.
    pub(super) fn consent(
        &self,
        approver: Option<&dyn Approver>,
        consent: Consent<'_>,
    ) -> Result<Answering, ApprovalError> {
        let earlier = match consent {
            Consent::Deferrable(earlier) => earlier,
            Consent::Now => EarlierQuestion::default(),
        };
        if let Some(decision) = earlier.decision.filter(|decision| self.is_decided_by(decision)) {
            return Ok(match decision.allowed {
                true => Answering::Allowed,
                false => Answering::Refused(decision.reason.clone()),
            });
        }
        let call = DeferredCall::new(self, crate::vfs::now());
        let asked = earlier.asked.filter(|asked| asked.digest == call.digest);
        if asked.is_some_and(|asked| asked.has_expired(call.asked)) {
            return Ok(Answering::Expired);
        }
        match approver.map(|approver| self.ask(approver)) {
            Some(Ok(true)) => return Ok(Answering::Allowed),
            Some(Ok(false)) => return Ok(Answering::Refused(None)),
            Some(Err(ApprovalError::Deferred)) if matches!(consent, Consent::Deferrable(_)) => {}
            Some(Err(error)) => return Err(error),
            None => {}
        }
        if let Some(asked) = asked {
            // The question is on record, and is as old as it is.
            let DeferredCall { asked, expires, .. } = *asked;
            return Ok(Answering::Deferred(Box::new(DeferredCall { asked, expires, ..call })));
        }
        Ok(Answering::Deferred(Box::new(self.defer(call.asked)?)))
    }

    /// Returns true if a decision is about this call. One that changes the arguments is about the call that has them:
    /// whoever judges the call takes them from the decision.
    fn is_decided_by(&self, decision: &Decision) -> bool {
        let digest = match &decision.arguments {
            None => DeferredCall::new(self, 0).digest,
            Some(arguments) => edited_digest(self.run, self.seq, self.method, arguments, self.grant),
        };
        digest == decision.digest
    }

    /// Asks for approval. If this returns true, the consent is durably recorded.
    pub(super) fn ask(&self, approver: &dyn Approver) -> Result<bool, ApprovalError> {
        let &Self { method, arguments, grant, reason, callers, costs, .. } = self;
        let request = ApprovalRequest { method, arguments, grant, reason, callers, costs, asking: self };
        let answer = approver.approve(&request)?;
        let shown = answer.shown.to_hex();
        let (allowed, by) = (answer.allowed, answer.by.as_str());
        let event = Event::Answered { run: self.run, seq: self.seq, allowed, by, shown: &shown, arguments: None };
        let logged = self.audit.write(&event).and_then(|()| self.audit.sync());
        // A refusal is safe even if it cannot be logged.
        if allowed {
            logged?;
        }
        Ok(allowed)
    }

    /// Records a question that is answered later.
    pub(super) fn defer(&self, asked: u64) -> Result<DeferredCall, AuditError> {
        let call = DeferredCall::new(self, asked);
        let shown = blake3::Hash::from_hex(&call.digest).unwrap_or_else(|_| blake3::hash(call.digest.as_bytes()));
        self.asked("", &shown)?;
        Ok(call)
    }

    fn asked(&self, text: &str, shown: &blake3::Hash) -> Result<(), AuditError> {
        self.audit.write(&Event::Asked {
            run: self.run,
            seq: self.seq,
            caller: self.callers.last().map(|caller| caller.seq),
            method: self.method,
            arguments: self.arguments,
            grant: self.grant,
            reason: self.reason,
            shown: &shown.to_hex(),
            text: (!text.is_empty() && text.len() <= MAX_TEXT).then_some(text),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate::Nowhere;

    /// A decision that was moved to another call, run or grant, or to other arguments, decides nothing.
    #[test]
    fn decision_holds_for_exactly_the_call_that_it_was_made_about() {
        let (given, other) = (json!({ "amount": 1 }), json!({ "amount": 2 }));
        let call = |run, seq, method, arguments, grant| PendingApproval {
            audit: &Nowhere,
            run,
            seq,
            callers: &[],
            method,
            arguments,
            grant,
            reason: "always",
            costs: &[],
            within: Some(Duration::from_nanos(5)),
        };
        let asked = call(1, 1, "pay", &given, "g").defer(0).expect("it is recorded");
        let decision = |allowed| Decision {
            allowed,
            by: "me".to_owned(),
            reason: None,
            at: 1,
            digest: asked.digest.clone(),
            arguments: None,
        };
        let (yes, no) = (decision(true), decision(false));
        let answer = |call: PendingApproval<'_>, decision| {
            let earlier = EarlierQuestion { asked: None, decision: Some(decision) };
            call.consent(None, Consent::Deferrable(earlier)).expect("it is recorded")
        };
        assert!(matches!(answer(call(1, 1, "pay", &given, "g"), &yes), Answering::Allowed));
        assert!(matches!(answer(call(1, 1, "pay", &given, "g"), &no), Answering::Refused(None)));
        for moved in [
            call(2, 1, "pay", &given, "g"),
            call(1, 2, "pay", &given, "g"),
            call(1, 1, "pays", &given, "g"),
            call(1, 1, "pay", &other, "g"),
            call(1, 1, "pay", &given, "h"),
        ] {
            assert!(matches!(answer(moved, &yes), Answering::Deferred(_)));
        }
        let edited =
            Decision { digest: asked.edited_digest(1, &other), arguments: Some(other.clone()), ..decision(true) };
        assert!(matches!(answer(call(1, 1, "pay", &other, "g"), &edited), Answering::Allowed));
        for moved in [call(2, 1, "pay", &other, "g"), call(1, 2, "pay", &other, "g"), call(1, 1, "pay", &other, "h")] {
            assert!(matches!(answer(moved, &edited), Answering::Deferred(_)));
        }
        let earlier = |asked| EarlierQuestion { asked: Some(asked), decision: None };
        let judged = |asked| {
            let call = call(1, 1, "pay", &given, "g");
            call.consent(None, Consent::Deferrable(earlier(asked))).expect("it is recorded")
        };
        assert_eq!(asked.expires, Some(5));
        assert!(matches!(judged(&asked), Answering::Expired));
        let open = DeferredCall { expires: None, asked: 7, ..asked.clone() };
        assert!(matches!(judged(&open), Answering::Deferred(call) if call.asked == 7));
        let moved = DeferredCall { digest: "other".to_owned(), ..asked.clone() };
        assert!(matches!(judged(&moved), Answering::Deferred(call) if call.asked != 0), "another call was asked about");
    }
}
