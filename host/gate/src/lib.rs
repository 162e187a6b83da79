//! The gate: decides whether a call of a script becomes a call of a tool.
//!
//! A judgement is a function of the policy, the ledger of its budgets, the record of the run and the request. It
//! changes the last three (a debit, a number), returns what is to be logged, and calls nothing: who drives the gate logs
//! the events, asks the human, and calls the tool.
//!
//! | module | contents |
//! | --- | --- |
//! | [`Gate`] | grants and budgets of a session; queries |
//! | `judgement` | the order of checks: arguments, grant, budget, consent ([`Gate::judge`]) |
//! | `admission` | a call that may be made ([`Admission`]), and its reservation |
//! | `refusal` | a call that may not ([`Refusal`]), and what the script is told |
//! | `consent` | a call that a human decides about, now or later |
//! | `call_record` | the calls of a run in progress: decisions and outcomes |
//! | `call_list` | calls by their numbers, of which those that ended long ago may be a summary |
//! | `event`, `event_texts` | events of the audit log, and the texts in them that come from outside |
//! | `logged_event` | the same events, as a log is read |
//! | `grant_index`, `grant_binding` | the grants that cover a method, bound to its types |
//! | `spelling`, `optional_parameters` | checks of policies against the methods |
//! | `session_gates` | the gates of a session's tools, and the balances of accounts |
//!
//! **Invariant:** only the gate makes an [`Admission`]. It contains exactly what was judged: the canonical arguments, not
//! the text that the guest sent.
//!
//! **Invariant:** every decision is in the run's record before it is returned.
#![deny(missing_docs)]

mod admission;
mod budget_accounts;
mod call_list;
mod call_record;
mod consent;
mod event;
mod event_texts;
mod gate;
mod grant_binding;
mod grant_index;
mod judgement;
mod logged_event;
mod optional_parameters;
mod reach;
mod refusal;
mod session_gates;
mod spelling;
#[cfg(test)]
mod tests;

pub use admission::Admission;
pub use budget_accounts::limited_accounts;
pub use call_list::{CallList, Calls, EarlierCalls};
pub use call_record::{Budget, BudgetKind, Call, CallOutcome, CallRecord, Settlement};
pub use consent::{Caller, ConsentRequest, Cost, Decision, DeferredCall, RankedArgument, RedactedCall, UnapprovedCall};
pub use event::{Debits, Event};
pub use event_texts::TextFilter;
pub use gate::{Gate, NarrowError};
pub use grant_index::{Coverage, Covered, Opinion};
pub use judgement::{CallRequest, Judgement};
pub use logged_event::{LoggedDebit, LoggedDecision, LoggedEvent};
pub use optional_parameters::Optional;
pub use reach::Reach;
pub use refusal::Refusal;
pub use session_gates::SessionGates;
