//! Asking a human before a call, with the question and the answer on record. Knows nothing of where a human is asked.

use std::io;

use serde_json::Value;

use super::audit::{Audit, AuditError, Event};
use super::calls::BudgetKind;
use crate::capability::Amount;

/// Asks a human. The run's clock stands still meanwhile.
pub trait Approver: Send + Sync {
    /// Asks whether the call may happen. Only a question that is on record can be answered: [`ApprovalRequest::put`] makes
    /// one of what is shown. A refusal is final: no other grant is tried.
    ///
    /// # Errors
    /// If nobody could be asked, or that cannot be kept on record: then the call is refused.
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError>;

    /// Returns true if there is anybody to ask.
    fn is_present(&self) -> bool {
        true
    }
}

/// The call that a human is asked about.
#[non_exhaustive]
pub struct ApprovalRequest<'a> {
    /// The canonical method.
    pub method: &'a str,
    /// The canonical arguments, exactly as the tool would receive them.
    pub arguments: &'a Value,
    /// The grant that asks.
    pub grant: &'a str,
    /// Why it asks, in words: which clause, and what the call has there.
    pub reason: &'a str,
    /// The tools that make the call on the script's behalf, outermost first; none if the script itself does.
    pub callers: &'a [Caller],
    /// What the call takes from which budget.
    pub costs: &'a [Cost],
    asking: &'a Asking<'a>,
}

/// A call of a tool that makes calls itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Its number in its run.
    pub seq: u64,
    /// Its method.
    pub method: String,
}

/// What a call takes from a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The grant that sets the budget.
    pub grant: String,
    /// What the budget counts.
    pub kind: BudgetKind,
    /// How much the call takes.
    pub amount: Amount,
    /// How much there was in the beginning.
    pub limit: Amount,
    /// How much is left after it.
    pub remaining: Amount,
}

/// A question that is on record.
#[derive(Debug)]
pub struct Question {
    shown: blake3::Hash,
}

/// The answer to a question.
#[derive(Debug)]
pub struct Answer {
    shown: blake3::Hash,
    allowed: bool,
    by: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The question or the answer cannot be written down.
    #[error("the question cannot be logged")]
    Unlogged(#[from] AuditError),
    /// Nobody could be asked.
    #[error("nobody can be asked")]
    Unasked(#[from] io::Error),
}

impl ApprovalRequest<'_> {
    /// Puts on record that a human is asked, and the text that is shown. To be called before it is shown.
    ///
    /// # Errors
    /// If it cannot be written down: then nobody may be asked.
    pub fn put(&self, text: &str) -> Result<Question, ApprovalError> {
        let shown = blake3::hash(text.as_bytes());
        self.asking.asked(text, &shown)?;
        Ok(Question { shown })
    }
}

impl Question {
    /// The answer to it, and who gave it.
    #[must_use]
    pub fn answer(self, allowed: bool, by: impl Into<String>) -> Answer {
        Answer { shown: self.shown, allowed, by: by.into() }
    }
}

/// The longest text of a question that the log has whole; of a longer one it has the hash.
const MAX_TEXT: usize = 16 << 10;

/// A call that is about to be asked about, and where that is written down.
pub(super) struct Asking<'a> {
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

impl Asking<'_> {
    /// Asks. What comes of it is durably on record when this returns true.
    pub(super) fn ask(&self, approver: &dyn Approver) -> Result<bool, ApprovalError> {
        let &Self { method, arguments, grant, reason, callers, costs, .. } = self;
        let request = ApprovalRequest { method, arguments, grant, reason, callers, costs, asking: self };
        let answer = approver.approve(&request)?;
        let shown = answer.shown.to_hex();
        let (allowed, by) = (answer.allowed, answer.by.as_str());
        let event = Event::Answered { run: self.run, seq: self.seq, allowed, by, shown: &shown };
        let logged = self.audit.write(&event).and_then(|()| self.audit.sync());
        // A refusal needs no log to be safe.
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
