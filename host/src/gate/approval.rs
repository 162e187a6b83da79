//! Approval of calls by a human, with the question and the answer on record. Independent of how the human is asked.

use std::io;

use serde_json::Value;
use tollhouse_audit::{Audit, AuditError};
use tollhouse_gate::{Caller, ConsentRequest, Cost, Decision, DeferredCall, Event, RankedArgument};

use super::signed_approval::SignatureCheck;
use crate::code::Interrupt;
use crate::error::{Failure, Location};
use crate::tool::Secrets;

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

    /// Returns true if a run may wait for somebody else, who decides with a signature.
    fn waits_for_signatures(&self) -> bool {
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
    /// Place in the script that makes the call, as the script's guest tells it: a hint, which nobody vouches for.
    pub location: Option<&'a Location>,
    asking: &'a PendingApproval<'a>,
}

/// Question about a call that was asked before its run was resumed.
#[derive(Clone, Copy, Default)]
pub(crate) struct EarlierQuestion<'a> {
    /// The call, as it was asked about.
    pub(crate) asked: Option<&'a DeferredCall>,
    /// Decision that was made.
    pub(crate) decision: Option<&'a Decision>,
    /// Reason why the arguments that a human wrote in place of the script's do not count, if they do not.
    pub(crate) rejected: Option<&'a str>,
}

impl<'a> EarlierQuestion<'a> {
    /// Returns the question with the failure of its call, if a human refused the call, or nobody approved it in time. Both
    /// are final: the grant that asked may be used up since, and a later grant would allow the call without asking.
    pub(super) fn final_refusal(self, run: u64, now: u64) -> Option<(&'a DeferredCall, Failure)> {
        let asked = self.asked?;
        let DeferredCall { seq, method, arguments, grant, reason, .. } = asked;
        let failure = match self.decision {
            Some(Decision { allowed: false, reason, .. }) => refused_by_human(method, grant, reason.as_deref()),
            Some(decision) if decision.is_about((run, *seq), method, arguments, grant, reason) => return None,
            _ if asked.has_expired(now) => unapproved_in_time(method, grant),
            _ => return None,
        };
        Some((asked, failure))
    }
}

/// Returns the failure of a call that a human refused.
pub(super) fn refused_by_human(method: &str, grant: &str, why: Option<&str>) -> Failure {
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    Failure::approval(format!("`{method}`: a human refused the call (grant `{grant}`){why}"))
}

/// Returns the failure of a call that nobody approved in time.
pub(super) fn unapproved_in_time(method: &str, grant: &str) -> Failure {
    Failure::approval(format!("`{method}`: nobody approved the call in time (grant `{grant}`)"))
        .with_hint("`approve_within` of the grant says how long it waits")
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
    /// Reason of a refusal, for the script.
    reason: Option<String>,
}

impl Answer {
    /// Adds the reason of a refusal, which the script sees.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
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
    /// There is nobody who could be asked; with the reason.
    #[error("nobody can be asked: {0}")]
    Unavailable(String),
    /// The approver leaves the decision to a later one.
    #[error("the decision is left to later, and this run cannot wait for it")]
    Deferred,
}

impl ApprovalRequest<'_> {
    /// Lists the arguments in the order of their weight for the decision, which the script does not choose: those that
    /// the grant reads, then the others that the method declares, then those that it does not declare.
    #[must_use]
    pub fn ranked_arguments(&self) -> Vec<RankedArgument<'_>> {
        self.asking.request.ranked_arguments()
    }

    /// Describes the call for somebody who decides elsewhere while the run waits: with its digest, the time until which the
    /// grant lets it be decided about, and what is shown in place of values of secrets.
    #[must_use]
    pub fn deferred(&self) -> DeferredCall {
        let mut call = self.asking.request.deferred(crate::vfs::now());
        call.redact(self.asking.secrets);
        call
    }

    /// Returns true if nobody waits for the answer any more, since the run was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.asking.interrupt.stopped().is_some()
    }

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
        Answer { shown: self.shown, allowed, by: by.into(), reason: None }
    }
}

/// Maximum length of a question's text in the log; longer texts are logged as a hash.
const MAX_TEXT: usize = 16 << 10;

/// A call that needs approval, and where the question is recorded.
pub(super) struct PendingApproval<'a> {
    pub(super) audit: &'a dyn Audit,
    pub(super) request: &'a ConsentRequest,
    pub(super) signatures: SignedApprovals<'a>,
    pub(super) secrets: &'a Secrets,
    /// Switch of the run, whose clock stands.
    pub(super) interrupt: &'a Interrupt,
}

/// The check of signed approvals, if there is one, and the digest of the policy that they have to be for.
pub(super) struct SignedApprovals<'a> {
    pub(super) check: Option<&'a SignatureCheck>,
    pub(super) rules: &'a str,
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
        let mut call = self.request.deferred(crate::vfs::now());
        call.rejected = earlier.rejected.map(str::to_owned);
        call.redact(self.secrets);
        if let Some(decision) = earlier.decision.filter(|decision| self.request.is_decided_by(decision)) {
            if !decision.allowed {
                return Ok(Answering::Refused(decision.reason.clone()));
            }
            match self.verified(decision, earlier.asked, &call) {
                Ok(()) => return Ok(Answering::Allowed),
                Err(why) => call.rejected = Some(format!("the approval by {} does not count: {why}", decision.by)),
            }
        }
        let asked = earlier.asked.filter(|asked| asked.digest == call.digest);
        if asked.is_some_and(|asked| asked.has_expired(call.asked)) {
            return Ok(Answering::Expired);
        }
        match approver.map(|approver| self.ask(approver)) {
            Some(Ok(Answer { allowed: true, .. })) => return Ok(Answering::Allowed),
            Some(Ok(Answer { reason, .. })) => return Ok(Answering::Refused(reason)),
            Some(Err(ApprovalError::Deferred)) if matches!(consent, Consent::Deferrable(_)) => {}
            Some(Err(error)) => return Err(error),
            None => {}
        }
        if let Some(asked) = asked.filter(|_| call.rejected.is_none()) {
            // The question is on record, and is as old as it is.
            (call.asked, call.expires, call.rejected) = (asked.asked, asked.expires, asked.rejected.clone());
            (call.file, call.line) = (asked.file.clone(), asked.line);
        } else {
            // An approval that does not count gives no more time for another one.
            call.expires = asked.map_or(call.expires, |asked| asked.expires);
            self.audit.write(&self.request.event(&call.digest, None))?;
        }
        Ok(Answering::Deferred(Box::new(call)))
    }

    /// Checks that an approval is for the call as its question showed it, and its signature if one is required. The digest does
    /// not cover what is shown in place of values of secrets, which whoever handed the run over may have written. Questions that
    /// want a signature show the call itself, and whoever gave other arguments has written all of them.
    fn verified(&self, decision: &Decision, asked: Option<&DeferredCall>, call: &DeferredCall) -> Result<(), String> {
        let is_otherwise = |asked: &DeferredCall| asked.approved_by.is_none() && asked.redacted != call.redacted;
        if decision.arguments.is_none() && asked.is_some_and(is_otherwise) {
            return Err("the question did not show the call as it is, or its secrets have other values now".to_owned());
        }
        let expires = asked.and_then(|asked| asked.expires);
        let Some(approvers) = self.request.approved_by() else { return Ok(()) };
        let check = self.signatures.check.ok_or("signatures cannot be checked here")?;
        check.verify(approvers, self.signatures.rules, decision, expires)
    }

    /// Asks for approval. If the answer allows the call, the consent is durably recorded.
    fn ask(&self, approver: &dyn Approver) -> Result<Answer, ApprovalError> {
        let asked = self.request;
        let answer = approver.approve(&ApprovalRequest {
            method: asked.method(),
            arguments: asked.arguments(),
            grant: asked.grant(),
            reason: asked.reason(),
            callers: asked.callers(),
            costs: asked.costs(),
            location: asked.location(),
            asking: self,
        })?;
        let shown = answer.shown.to_hex();
        let (allowed, by) = (answer.allowed, answer.by.as_str());
        let event = Event::Answered {
            run: asked.run(),
            seq: asked.seq(),
            allowed,
            by,
            shown: &shown,
            edited: false,
            signature: None,
        };
        let logged = self.audit.write(&event).and_then(|()| self.audit.sync());
        // A refusal is safe even if it cannot be logged.
        if allowed {
            logged?;
        }
        Ok(answer)
    }

    fn asked(&self, text: &str, shown: &blake3::Hash) -> Result<(), AuditError> {
        let kept = (!text.is_empty() && text.len() <= MAX_TEXT).then_some(text);
        self.audit.write(&self.request.event(&shown.to_hex(), kept))
    }
}
