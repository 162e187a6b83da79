//! What a session may do: grants, and the policy files that they are read from.
//!
//! Pure data and judgement. Nothing here calls a tool, spends a budget or knows wasmtime: the gate asks, the ledger
//! counts.
//!
//! ```
//! use tollhouse::capability::{Grant, Policy, param};
//!
//! let small = param("amount")?.at_least(1).at_most(10_000);
//! let policy = Policy::default().with(Grant::allow("payments/charges/*")?.when(small.into()).calls(100));
//! assert_eq!(policy.grants[0].name, "payments/charges/*#0");
//!
//! // The same as a file.
//! let text = "[[grant]]\nmethod = 'payments/charges/*'\nwhere = [{ param = 'amount', ge = 1, le = 10000 }]\ncalls = 100";
//! assert_eq!(Policy::parse(text)?, policy);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attenuate;
mod clause;
mod document;
mod grant;
mod imply;
mod limits;
mod number;
mod path;
mod pattern;
mod permission;
mod policy;
mod read;
mod signed;
mod span;
mod text;
mod truth;
mod written;

pub use clause::{Clause, Param, Scalar, Test};
pub use document::MAX_POLICY;
pub use grant::{Approve, AttenuateError, Grant, Spend, param};
pub use imply::implies;
pub use limits::{Limits, Setting};
pub use number::{Amount, Number};
pub use path::{ParamPath, PathError, Step};
pub use pattern::{Pattern, PatternError};
pub use permission::{Permissions, SecretGrant};
pub use policy::{Policy, PolicyError};
pub use signed::{Signed, Signer};
pub use span::Span;
pub use tollhouse_registry::{FileRule, HttpRequest, HttpRule, QuantityError, parse_bytes, parse_duration};
pub use truth::Truth;

#[cfg(test)]
mod tests;
