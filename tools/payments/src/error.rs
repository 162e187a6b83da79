//! What can go wrong, and in which words it is told.

use serde::{Deserialize, Serialize};

use crate::charge::{Decline, charge_id};

/// The reason of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The policy gives no store.
    Denied,
    /// The store cannot do it.
    Store,
    /// An amount that cannot be.
    Amount,
    /// Text that is no currency.
    Currency,
    /// Another parameter that cannot be so.
    Parameter,
    /// There is no such charge or refund.
    NotFound,
    /// The charge is not in the state for it.
    State,
    /// More than was captured.
    ExceedsCharge,
    /// The card was declined.
    Declined,
    /// The idempotency key was used for another call.
    Idempotency,
    /// A call with the idempotency key is under way, or was broken off.
    InProgress,
}

/// Failure of a payment operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Reason for the failure.
    pub kind: Kind,
    /// The reason in words.
    pub message: String,
    /// The parameter at fault.
    pub parameter: Option<String>,
    /// The number of the charge that it is about.
    pub charge: Option<u64>,
    /// Reason why the card was declined.
    pub decline: Option<Decline>,
}

impl Error {
    /// Creates an error about no parameter and no charge.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), parameter: None, charge: None, decline: None }
    }

    /// Creates an error about a parameter.
    pub fn of(parameter: &str, kind: Kind, message: impl Into<String>) -> Self {
        Self { parameter: Some(parameter.to_owned()), ..Self::new(kind, message) }
    }

    /// Creates an error about a charge.
    pub fn about(charge: u64, kind: Kind, message: impl Into<String>) -> Self {
        Self { charge: Some(charge), ..Self::new(kind, message) }
    }

    /// A card that does not pay.
    #[must_use]
    pub fn declined(charge: u64, decline: Decline) -> Self {
        let message = format!("the card was declined: {decline}; the charge is on record as `{}`", charge_id(charge));
        Self { decline: Some(decline), ..Self::about(charge, Kind::Declined, message) }
    }
}

/// Failure of a store, as `wasi:keyvalue` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The store is not for this tool.
    AccessDenied,
    /// Anything else, in the store's words.
    Other(String),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::AccessDenied => Self::new(
                Kind::Denied,
                "the policy does not give this tool a store: it takes `keyvalue = [\"default\"]` under `[tool.payments]`, \
                 or the name that the tool is mounted under",
            ),
            Failure::Other(message) => Self::new(Kind::Store, message),
        }
    }
}
