//! Errors of the tool, and their messages.

use serde::{Deserialize, Serialize};

use crate::charge::{Decline, charge_id};

/// Reason of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The policy does not grant a store.
    Denied,
    /// The store failed.
    Store,
    /// The amount is invalid.
    Amount,
    /// The text is not a currency code.
    Currency,
    /// Another parameter is invalid.
    Parameter,
    /// The charge or refund does not exist.
    NotFound,
    /// The state of the charge does not permit the operation.
    State,
    /// The amount exceeds what was captured.
    ExceedsCharge,
    /// The card was declined.
    Declined,
    /// The idempotency key was used for another call.
    Idempotency,
    /// A call with the idempotency key is in progress, or was interrupted.
    InProgress,
}

/// Failure of a payment operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Reason for the failure.
    pub kind: Kind,
    /// Message that describes the failure.
    pub message: String,
    /// Parameter that caused the failure.
    pub parameter: Option<String>,
    /// Number of the charge that the failure concerns.
    pub charge: Option<u64>,
    /// Reason why the card was declined.
    pub decline: Option<Decline>,
}

impl Error {
    /// Creates an error that concerns neither a parameter nor a charge.
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

    /// Creates an error about a declined card.
    #[must_use]
    pub fn declined(charge: u64, decline: Decline) -> Self {
        let message = format!("the card was declined: {decline}; the charge is on record as `{}`", charge_id(charge));
        Self { decline: Some(decline), ..Self::about(charge, Kind::Declined, message) }
    }
}

/// Failure of a store, as `wasi:keyvalue` reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The tool has no access to the store.
    AccessDenied,
    /// Any other failure, with the message of the store.
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
