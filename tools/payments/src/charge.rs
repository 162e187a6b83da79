//! Charges and refunds as they are stored, and the transitions of a charge.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind};
use crate::money;

/// Test card, which determines the result of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Card {
    /// Visa card whose payments succeed.
    #[default]
    Visa,
    /// Mastercard whose payments succeed.
    Mastercard,
    /// Card that is declined.
    Declined,
    /// Card that is declined for insufficient funds.
    InsufficientFunds,
    /// Card that is declined as expired.
    Expired,
}

/// Reason why a card is declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decline {
    /// The bank gives no further reason.
    CardDeclined,
    /// The funds are insufficient.
    InsufficientFunds,
    /// The card has expired.
    ExpiredCard,
}

impl fmt::Display for Decline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::CardDeclined => "the bank does not say why",
            Self::InsufficientFunds => "there is not enough money",
            Self::ExpiredCard => "it is out of date",
        })
    }
}

impl Card {
    /// Returns the reason why the card is declined, or `None` if it pays.
    #[must_use]
    pub fn decline(self) -> Option<Decline> {
        match self {
            Self::Visa | Self::Mastercard => None,
            Self::Declined => Some(Decline::CardDeclined),
            Self::InsufficientFunds => Some(Decline::InsufficientFunds),
            Self::Expired => Some(Decline::ExpiredCard),
        }
    }
}

/// Status of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// The amount is reserved.
    Authorised,
    /// The amount was captured.
    Captured,
    /// The reservation was released.
    Cancelled,
    /// The card was declined.
    Declined,
}

/// Order for a charge.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Order {
    /// Amount in the currency's smallest unit.
    pub amount: u64,
    /// Code of the currency.
    pub currency: String,
    /// True to only reserve the amount.
    pub reserve: bool,
    /// Card that is charged.
    pub card: Card,
    /// Identifier of the customer who pays.
    pub customer: Option<String>,
    /// Purpose of the payment.
    pub description: Option<String>,
    /// Arbitrary data of the caller.
    pub metadata: Vec<(String, String)>,
}

/// Charge with its refunds, in one record, so that one compare-and-swap changes both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Number of the charge.
    pub number: u64,
    /// Order of the charge, with the currency in capitals.
    pub order: Order,
    /// Status of the charge.
    pub status: Status,
    /// Amount that was captured.
    pub captured: u64,
    /// Refunds of the charge.
    pub refunds: Vec<Refund>,
}

/// Reason for a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The customer was charged twice.
    Duplicate,
    /// The customer did not make the payment.
    Fraudulent,
    /// The customer asked for the refund.
    RequestedByCustomer,
}

/// Refund of a charge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refund {
    /// Number of the refund.
    pub number: u64,
    /// Number of the charge.
    pub charge: u64,
    /// Amount that was refunded.
    pub amount: u64,
    /// Currency code of the charge.
    pub currency: String,
    /// Reason for the refund.
    pub reason: Option<Reason>,
}

/// Returns the name of a charge.
#[must_use]
pub fn charge_id(number: u64) -> String {
    format!("ch-{number}")
}

/// Returns the name of a refund.
#[must_use]
pub fn refund_id(number: u64) -> String {
    format!("re-{number}")
}

/// Largest number of refunds of one charge, which keeps the record small.
pub const MAX_REFUNDS: usize = 1000;

impl Charge {
    /// Returns the sum of the charge's refunds.
    #[must_use]
    pub fn refunded(&self) -> u64 {
        self.refunds.iter().map(|refund| refund.amount).sum()
    }

    /// Captures the reserved amount, or a part of it.
    ///
    /// # Errors
    ///
    /// `State`, `Amount`.
    pub fn capture(&mut self, amount: Option<u64>) -> Result<(), Error> {
        self.must_be(Status::Authorised, "captured")?;
        let amount = amount.unwrap_or(self.order.amount);
        money::check(amount)?;
        if amount > self.order.amount {
            let message = format!("{amount} is more than the {} that `{}` reserved", self.order.amount, self.id());
            return Err(Error { parameter: Some("amount".into()), ..Error::about(self.number, Kind::Amount, message) });
        }
        (self.status, self.captured) = (Status::Captured, amount);
        Ok(())
    }

    /// Releases the reserved amount.
    ///
    /// # Errors
    ///
    /// `State`.
    pub fn cancel(&mut self) -> Result<(), Error> {
        self.must_be(Status::Authorised, "cancelled")?;
        self.status = Status::Cancelled;
        Ok(())
    }

    /// Refunds the remaining amount, or a part of it.
    ///
    /// # Errors
    ///
    /// `State`, `Amount`, `ExceedsCharge`.
    pub fn refund(&mut self, number: u64, amount: Option<u64>, reason: Option<Reason>) -> Result<Refund, Error> {
        self.must_be(Status::Captured, "refunded")?;
        let left = self.captured.saturating_sub(self.refunded());
        let amount = amount.unwrap_or(left.max(1));
        money::check(amount)?;
        if amount > left {
            let message = format!(
                "{amount} is more than what is left of `{}`: {left}, of {} that were captured",
                self.id(),
                self.captured
            );
            return Err(Error::about(self.number, Kind::ExceedsCharge, message));
        }
        if self.refunds.len() >= MAX_REFUNDS {
            let message = format!("`{}` has {MAX_REFUNDS} refunds already, and none may have more", self.id());
            return Err(Error::about(self.number, Kind::State, message));
        }
        let refund = Refund { number, charge: self.number, amount, currency: self.order.currency.clone(), reason };
        self.refunds.push(refund.clone());
        Ok(refund)
    }

    fn id(&self) -> String {
        charge_id(self.number)
    }

    fn must_be(&self, status: Status, done: &str) -> Result<(), Error> {
        if self.status == status {
            return Ok(());
        }
        let name = |status: Status| format!("{status:?}").to_lowercase();
        let (is, must) = (name(self.status), name(status));
        let message = format!("`{}` cannot be {done}: it is {is}, and must be {must}", self.id());
        Err(Error::about(self.number, Kind::State, message))
    }
}
