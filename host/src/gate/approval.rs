//! Asking a human before a call.

use serde_json::Value;

/// Asks a human. The run's clock stands still meanwhile.
pub trait Approver: Send + Sync {
    /// Whether the call may happen. A refusal is final: no other grant is tried.
    fn approve(&self, request: &ApprovalRequest<'_>) -> bool;

    /// Whether there is anybody to ask.
    fn is_present(&self) -> bool {
        true
    }
}

/// What a human is shown: the call in full.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalRequest<'a> {
    /// The canonical method.
    pub method: &'a str,
    /// The canonical arguments, exactly as the tool would receive them.
    pub arguments: &'a Value,
    /// The grant that asks.
    pub grant: &'a str,
}
