//! Approval of calls that are answered from a recording.

use super::Recording;
use crate::gate::{Answer, ApprovalError, ApprovalRequest, Approver};

/// Approver of calls that are answered from a recording. What is in it was approved when it was recorded, and what was
/// refused then is not in it. Nothing is done in either case.
pub(super) struct RecordedConsent(pub(super) Recording);

impl Approver for RecordedConsent {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError> {
        let is_recorded = self.0.has_call(request.method, request.arguments);
        Ok(request.put("answered from a recording")?.answer(is_recorded, "recording"))
    }
}
