//! Policies and approvals: what is allowed, who is asked, what is on record of it.

mod approval;
mod decisions;
mod log_evidence;
mod log_limit;
mod policies;
mod secrets;
mod signed_approvals;
