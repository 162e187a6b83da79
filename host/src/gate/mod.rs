//! The gate as a session drives it: what `tollhouse-gate` decides is logged, asked about, and called here.
//!
//! | module | contents |
//! | --- | --- |
//! | `session_gate` | the gate of a session with its tools, its log and its approver |
//! | `approval` | questions to humans, with question and answer on record |
//! | `admitted_call` | an admitted call with what answers it |
//! | `effects` | effects that calls of a method may have |
//! | `run_record` | the calls of a run, and its part of the audit log |
//! | `signed_approval` | approvals that certain people have to sign |
//! | `recorded_decisions` | decisions of a log, judged again |
//! | `redaction` | an audit log without the values of secrets |
//!
//! **Invariant:** a tool is called only with an [`Admission`], which only the crate `tollhouse-gate` makes.
//!
//! **Invariant:** every decision is in the run's record and in the audit log before it takes effect.

mod admitted_call;
mod approval;
mod effects;
mod recorded_decisions;
mod redaction;
mod run_record;
mod session_gate;
mod signed_approval;

pub(crate) use admitted_call::AdmittedCall;
pub use approval::{Answer, ApprovalError, ApprovalRequest, Approver, Question};
pub(crate) use approval::{Consent, EarlierQuestion};
pub use effects::MethodEffects;
pub(crate) use recorded_decisions::{JudgedCall, NeededConsent, RecordedDecisions, RecordedRefusal};
pub(crate) use redaction::redacted;
pub(crate) use run_record::RunRecord;
/// The gate of a session, by the name under which embedding programs know it.
pub use session_gate::SessionGate as Gate;
pub use session_gate::{GateOptions, SessionGate};
pub(crate) use session_gate::{NotAdmitted, RequestedCall};
pub use signed_approval::{ApprovalStatement, ApproverKeys};
pub(crate) use signed_approval::{SignatureCheck, SignedSession};
pub use tollhouse_audit::{
    Audit, AuditError, AuditFile, AuditKey, Both, Chain, CheckOptions, CheckedLog, NoAuditKey, Nowhere, Suggestion,
    suggest,
};
pub(crate) use tollhouse_audit::{CallAudit, RunLog, event_time, incomplete};
pub use tollhouse_gate::{
    Admission, Budget, BudgetKind, Call, CallOutcome, Caller, Calls, Cost, Coverage, Covered, Debits, Decision,
    DeferredCall, EarlierCalls, Event, NarrowError, Opinion, Optional, RankedArgument, Reach, RedactedCall,
};
pub(crate) use tollhouse_gate::{CallList, LoggedDebit, LoggedDecision, LoggedEvent, limited_accounts};
