//! Payment processor: creates, changes and finds charges and refunds in a store.

use crate::charge::{Charge, Order, Reason, Refund, Status, charge_id};
use crate::error::{Error, Kind};
use crate::idempotency::once;
use crate::money::{self, Money};
use crate::store::{Store, read, replace};

/// Number of attempts to change a charge while concurrent calls change it too: more than calls can be in progress.
const TRIES: u32 = 1000;

/// Longest name of a customer, in bytes.
const MAX_CUSTOMER: usize = 200;
/// Longest description, in bytes.
const MAX_DESCRIPTION: usize = 1000;
/// Limits on metadata: pairs, bytes of a key, bytes of a value. Real processors have similar ones.
const MAX_METADATA: (usize, usize, usize) = (50, 40, 500);

/// Processor on top of a store.
#[derive(Debug)]
pub struct Processor<S>(pub S);

impl<S: Store> Processor<S> {
    /// Charges a card for an order.
    ///
    /// # Errors
    ///
    /// `Amount`, `Currency`, `Parameter`, `Declined`, those of [`once`], and those of the store.
    pub fn create(&self, order: Order, key: Option<&str>) -> Result<Charge, Error> {
        let order = checked(order)?;
        once(&self.0, key, &("charges/create", &order), || {
            let number = self.0.next("count/charges")?;
            let decline = order.card.decline();
            let (status, captured) = match (decline, order.reserve) {
                (Some(_), _) => (Status::Declined, 0),
                (None, true) => (Status::Authorised, 0),
                (None, false) => (Status::Captured, order.amount),
            };
            let charge = Charge { number, order: order.clone(), status, captured, refunds: Vec::new() };
            self.keep_new(&charge_key(number), &charge)?;
            decline.map_or(Ok(charge), |decline| Err(Error::declined(number, decline)))
        })
    }

    /// Captures the reserved amount of a charge.
    ///
    /// # Errors
    ///
    /// `NotFound`, `State`, `Amount`, those of [`once`], and those of the store.
    pub fn capture(&self, id: &str, amount: Option<u64>, key: Option<&str>) -> Result<Charge, Error> {
        once(&self.0, key, &("charges/capture", id, amount), || {
            self.change(id, |charge| charge.capture(amount)).map(|(charge, ())| charge)
        })
    }

    /// Releases the reserved amount of a charge.
    ///
    /// # Errors
    ///
    /// `NotFound`, `State`, those of [`once`], and those of the store.
    pub fn cancel(&self, id: &str, key: Option<&str>) -> Result<Charge, Error> {
        once(&self.0, key, &("charges/cancel", id), || self.change(id, Charge::cancel).map(|(charge, ())| charge))
    }

    /// Refunds an amount of a charge.
    ///
    /// # Errors
    ///
    /// `NotFound`, `State`, `Amount`, `ExceedsCharge`, those of [`once`], and those of the store.
    pub fn refund(
        &self,
        id: &str,
        amount: Option<u64>,
        reason: Option<Reason>,
        key: Option<&str>,
    ) -> Result<Refund, Error> {
        amount.map_or(Ok(()), money::check)?;
        once(&self.0, key, &("refunds/create", id, amount, reason), || {
            // Checked before a number is assigned, so that only races leave gaps between numbers.
            self.charge(id)?.refund(0, amount, reason)?;
            let number = self.0.next("count/refunds")?;
            // Index from the refund to its charge. Without a refund of that number in the charge it means nothing.
            self.keep_new(&refund_key(number), &charge_number(id)?)?;
            self.change(id, |charge| charge.refund(number, amount, reason)).map(|(_, refund)| refund)
        })
    }

    /// Returns the current state of a charge.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub fn charge(&self, id: &str) -> Result<Charge, Error> {
        self.find(charge_number(id)?)?.ok_or_else(|| unknown("charge-id", id))
    }

    /// Returns a refund by its name.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of the store.
    pub fn get_refund(&self, id: &str) -> Result<Refund, Error> {
        let number = number_of("re-", id).ok_or_else(|| unknown("refund-id", id))?;
        self.find_refund(number)?.ok_or_else(|| unknown("refund-id", id))
    }

    /// Returns the charge with a number, if it exists.
    pub(crate) fn find(&self, number: u64) -> Result<Option<Charge>, Error> {
        Ok(read(&self.0, &charge_key(number))?.map(|record| record.value))
    }

    /// Returns the refund with a number, if it was made.
    pub(crate) fn find_refund(&self, number: u64) -> Result<Option<Refund>, Error> {
        let Some(charge) = read::<u64>(&self.0, &refund_key(number))? else { return Ok(None) };
        let charge = self.find(charge.value)?;
        Ok(charge.and_then(|charge| charge.refunds.into_iter().find(|refund| refund.number == number)))
    }

    fn keep_new<T: serde::Serialize>(&self, key: &str, value: &T) -> Result<(), Error> {
        if replace(&self.0, key, None, value)? {
            return Ok(());
        }
        Err(Error::new(Kind::Store, format!("the store holds something under `{key}` already")))
    }

    /// Changes a charge atomically. If a concurrent call changes it first, the change is checked again.
    fn change<T>(
        &self,
        id: &str,
        mut change: impl FnMut(&mut Charge) -> Result<T, Error>,
    ) -> Result<(Charge, T), Error> {
        let number = charge_number(id)?;
        let key = charge_key(number);
        for _ in 0..TRIES {
            let record = read::<Charge>(&self.0, &key)?.ok_or_else(|| unknown("charge-id", id))?;
            let mut charge = record.value.clone();
            let result = change(&mut charge)?;
            if replace(&self.0, &key, Some(&record), &charge)? {
                return Ok((charge, result));
            }
        }
        Err(Error::about(number, Kind::Store, format!("`{id}` is changed without end by other calls: try again")))
    }
}

fn charge_key(number: u64) -> String {
    format!("charge/{number}")
}

fn refund_key(number: u64) -> String {
    format!("refund/{number}")
}

/// Returns the number in a name, if the name has the form of those that are assigned.
pub(crate) fn number_of(prefix: &str, id: &str) -> Option<u64> {
    let number = id.strip_prefix(prefix)?.parse().ok()?;
    (format!("{prefix}{number}") == id).then_some(number)
}

fn charge_number(id: &str) -> Result<u64, Error> {
    number_of("ch-", id).ok_or_else(|| unknown("charge-id", id))
}

fn unknown(parameter: &str, id: &str) -> Error {
    let shown: String = id.chars().take(40).collect();
    let (thing, like) = if parameter == "charge-id" { ("charge", charge_id(1)) } else { ("refund", "re-1".to_owned()) };
    Error::of(parameter, Kind::NotFound, format!("there is no {thing} `{shown}`; names are like `{like}`, see `list`"))
}

/// Checks an order, and converts its currency to upper case.
fn checked(order: Order) -> Result<Order, Error> {
    let refused = |parameter: &str, why: String| Err(Error::of(parameter, Kind::Parameter, why));
    let currency = Money::of(&order.currency)?;
    money::check(order.amount)?;
    if order.customer.as_ref().is_some_and(|name| name.is_empty() || name.len() > MAX_CUSTOMER) {
        return refused("customer-id", format!("a customer's name has 1 to {MAX_CUSTOMER} bytes"));
    }
    if order.description.as_ref().is_some_and(|text| text.len() > MAX_DESCRIPTION) {
        return refused("description", format!("a description has at most {MAX_DESCRIPTION} bytes"));
    }
    let (pairs, key_bytes, value_bytes) = MAX_METADATA;
    let fits = |(key, value): &(String, String)| (1..=key_bytes).contains(&key.len()) && value.len() <= value_bytes;
    if order.metadata.len() > pairs || !order.metadata.iter().all(fits) {
        let why =
            format!("metadata has at most {pairs} pairs: keys of 1 to {key_bytes} bytes, values of {value_bytes}");
        return refused("metadata", why);
    }
    let keys: std::collections::BTreeSet<_> = order.metadata.iter().map(|(key, _)| key).collect();
    if keys.len() < order.metadata.len() {
        return refused("metadata", "metadata has a key twice".to_owned());
    }
    Ok(Order { currency: currency.code().to_owned(), ..order })
}

#[cfg(test)]
mod tests;
