//! Approval of calls by a human, with the question and the answer on record. Independent of how the human is asked.

use std::io;

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
    /// If nobody could be asked, or the question could not be recorded: then the call is refused.
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

impl PendingApproval<'_> {
    /// Asks for approval. If this returns true, the consent is durably recorded.
    pub(super) fn ask(&self, approver: &dyn Approver) -> Result<bool, ApprovalError> {
        let &Self { method, arguments, grant, reason, callers, costs, .. } = self;
        let request = ApprovalRequest { method, arguments, grant, reason, callers, costs, asking: self };
        let answer = approver.approve(&request)?;
        let shown = answer.shown.to_hex();
        let (allowed, by) = (answer.allowed, answer.by.as_str());
        let event = Event::Answered { run: self.run, seq: self.seq, allowed, by, shown: &shown };
        let logged = self.audit.write(&event).and_then(|()| self.audit.sync());
        // A refusal is safe even if it cannot be logged.
        if allowed {
            logged?;
        }
        Ok(allowed)
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
            text: (text.len() <= MAX_TEXT).then_some(text),
        })
    }
}
