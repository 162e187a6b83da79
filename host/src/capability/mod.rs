//! What a session may do: grants, and the policy files that they are read from.
//!
//! Pure data and judgement. Nothing here calls a tool, spends a budget or knows wasmtime: the gate asks, the ledger
//! counts.

mod pattern;
mod policy;

pub use pattern::{Pattern, PatternError};
pub use policy::{Limits, Policy, PolicyError};
pub use tollhouse_registry::{QuantityError, parse_bytes, parse_duration};

/// One entry of a policy: what may be called, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What errors, budgets and the audit call it: its `name`, or `METHOD#INDEX`.
    pub name: String,
    /// Which methods it covers.
    pub method: Pattern,
    /// How many calls it is good for; none if it does not say.
    pub calls: Option<u64>,
}

impl Grant {
    /// A grant without a budget for every method that `pattern` covers, as `--allow` makes it.
    ///
    /// # Errors
    /// If the pattern is none.
    pub fn allow(pattern: &str, index: usize) -> Result<Self, PatternError> {
        Ok(Self { name: default_name(pattern, index), method: pattern.parse()?, calls: None })
    }
}

/// The name of a grant that gives itself none.
fn default_name(pattern: &str, index: usize) -> String {
    format!("{pattern}#{index}")
}
