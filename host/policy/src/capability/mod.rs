//! Capabilities of a session: grants, and the policies that contain them.
//!
//! Only data and decisions. Nothing here calls a tool, spends a budget or knows wasmtime: the gate asks, and the ledger
//! counts.
//!
//! ```
//! use tollhouse_policy::capability::{Grant, Policy, param};
//!
//! let small = param("amount")?.at_least(1).at_most(10_000);
//! let policy = Policy::default().with(Grant::allow("payments/charges/*")?.when(small.into()).calls(100));
//! assert_eq!(policy.grants[0].name, "payments/charges/*#0");
//!
//! // The same policy as a file.
//! let text = "[[grant]]\nmethod = 'payments/charges/*'\nwhere = [{ param = 'amount', ge = 1, le = 10000 }]\ncalls = 100";
//! assert_eq!(Policy::parse(text)?, policy);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attenuate;
mod clause;
mod document_format;
mod entailment;
mod grant;
mod grant_format;
mod journal_retention;
mod limits;
mod mcp_server;
mod number;
mod path;
mod pattern;
mod permission;
mod policy;
mod policy_parser;
mod required_signers;
mod server_url;
mod span;
mod spanned_value;
mod three_valued_logic;
mod unicode_equivalence;

pub use clause::{Clause, Param, Scalar, Test};
pub use entailment::implies;
pub use grant::{Approve, AttenuateError, Grant, Spend, param};
pub use journal_retention::JournalRetention;
pub use limits::{Limits, Setting, SettingError};
pub use mcp_server::{EnvironmentValue, McpServer};
pub use number::{Amount, Number};
pub use path::{ParamPath, PathError, Step};
pub use pattern::{Pattern, PatternError};
pub use permission::{Permissions, SecretGrant};
pub use policy::{Policy, PolicyError};
pub use required_signers::{Signed, Signer, SignerError};
pub use server_url::{HeaderText, ServerUrl, ServerUrlError};
pub use span::Span;
pub use spanned_value::MAX_POLICY;
pub use three_valued_logic::Truth;
pub use tollhouse_types::http_rule::{HttpRequest, HttpRule};
pub use tollhouse_types::permission::FileRule;
pub use tollhouse_types::quantity::{QuantityError, parse_bytes, parse_duration};

#[cfg(test)]
mod tests;
