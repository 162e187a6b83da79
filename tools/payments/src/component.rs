//! Binding of the logic to WIT, in both directions: exports the tool's functions, and calls `wasi:keyvalue`. This
//! module holds no rules.

use bindings::exports::tollhouse::payments::{charges as wit, currencies, refunds};
use bindings::wasi::keyvalue::{atomics, store as kv};

use crate::charge::{Card, Charge, Decline, Order, Reason, Refund, Status, charge_id, refund_id};
use crate::error::{Error, Failure, Kind};
use crate::list::{Cut, Wanted};
use crate::money::Money;
use crate::processor::Processor;
use crate::store::Store;

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit", generate_all });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn create(
        amount: u64,
        currency: String,
        capture: Option<bool>,
        card: Option<wit::TestCard>,
        customer: Option<String>,
        description: Option<String>,
        metadata: Option<Vec<(String, String)>>,
        key: Option<String>,
    ) -> Result<wit::Charge, wit::Error> {
        let card = card.map_or_else(Card::default, Into::into);
        let (reserve, metadata) = (capture == Some(false), metadata.unwrap_or_default());
        let order = Order { amount, currency, reserve, card, customer, description, metadata };
        shown(processor()?.create(order, key.as_deref())?)
    }

    fn capture(id: String, amount: Option<u64>, key: Option<String>) -> Result<wit::Charge, wit::Error> {
        shown(processor()?.capture(&id, amount, key.as_deref())?)
    }

    fn cancel(id: String, key: Option<String>) -> Result<wit::Charge, wit::Error> {
        shown(processor()?.cancel(&id, key.as_deref())?)
    }

    fn retrieve(id: String) -> Result<wit::Charge, wit::Error> {
        shown(processor()?.charge(&id)?)
    }

    fn list(
        customer: Option<String>,
        status: Option<wit::Status>,
        currency: Option<String>,
        limit: Option<u32>,
        after: Option<String>,
    ) -> Result<wit::ChargePage, wit::Error> {
        let wanted = Wanted { customer, status: status.map(Into::into), currency };
        let (charges, next) = processor()?.charges(&wanted, Cut { limit, after: after.as_deref() })?;
        Ok(wit::ChargePage { charges: charges.into_iter().map(shown).collect::<Result<_, _>>()?, next })
    }
}

impl refunds::Guest for Tool {
    fn create(
        charge: String,
        amount: Option<u64>,
        reason: Option<refunds::Reason>,
        key: Option<String>,
    ) -> Result<refunds::Refund, wit::Error> {
        shown_refund(processor()?.refund(&charge, amount, reason.map(Into::into), key.as_deref())?)
    }

    fn retrieve(id: String) -> Result<refunds::Refund, wit::Error> {
        shown_refund(processor()?.get_refund(&id)?)
    }

    fn list(
        charge: Option<String>,
        limit: Option<u32>,
        after: Option<String>,
    ) -> Result<refunds::RefundPage, wit::Error> {
        let (found, next) = processor()?.refunds(charge.as_deref(), Cut { limit, after: after.as_deref() })?;
        Ok(refunds::RefundPage { refunds: found.into_iter().map(shown_refund).collect::<Result<_, _>>()?, next })
    }
}

impl currencies::Guest for Tool {
    fn retrieve(code: String) -> Result<currencies::Currency, wit::Error> {
        let money = Money::of(&code)?;
        Ok(currencies::Currency { code: money.code().to_owned(), name: money.name(), exponent: money.exponent() })
    }

    fn to_minor(amount: String, currency: String) -> Result<u64, wit::Error> {
        Ok(Money::of(&currency)?.minor(&amount)?)
    }
}

/// Name of the store. A session has a single one.
const STORE: &str = "default";

fn processor() -> Result<Processor<Bucket>, Error> {
    let bucket = kv::open(STORE).map_err(Failure::from)?;
    Ok(Processor(Bucket(bucket)))
}

/// Store that the host provides.
struct Bucket(kv::Bucket);

impl Store for Bucket {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.0.get(key)?)
    }

    fn swap(&self, key: &str, old: Option<&[u8]>, new: &[u8]) -> Result<bool, Failure> {
        let cas = atomics::Cas::new(&self.0, key)?;
        if cas.current()?.as_deref() != old {
            return Ok(false);
        }
        match atomics::swap(cas, new) {
            Ok(()) => Ok(true),
            Err(atomics::CasError::CasFailed(_)) => Ok(false),
            Err(atomics::CasError::StoreError(error)) => Err(error.into()),
        }
    }

    fn delete(&self, key: &str) -> Result<(), Failure> {
        Ok(self.0.delete(key)?)
    }

    fn next(&self, key: &str) -> Result<u64, Failure> {
        let number = atomics::increment(&self.0, key, 1)?;
        u64::try_from(number).map_err(|_| Failure::Other(format!("the store's count `{key}` is below zero")))
    }
}

impl From<kv::Error> for Failure {
    fn from(error: kv::Error) -> Self {
        match error {
            kv::Error::NoSuchStore => Self::Other("there is no store `default` here".to_owned()),
            kv::Error::AccessDenied => Self::AccessDenied,
            kv::Error::Other(message) => Self::Other(message),
        }
    }
}

fn shown(charge: Charge) -> Result<wit::Charge, wit::Error> {
    let money = Money::of(&charge.order.currency)?;
    Ok(wit::Charge {
        id: charge_id(charge.number),
        amount: charge.order.amount,
        amount_captured: charge.captured,
        amount_refunded: charge.refunded(),
        display: money.display(charge.order.amount),
        currency: charge.order.currency,
        status: charge.status.into(),
        card: charge.order.card.into(),
        customer_id: charge.order.customer,
        description: charge.order.description,
        metadata: charge.order.metadata,
    })
}

fn shown_refund(refund: Refund) -> Result<refunds::Refund, wit::Error> {
    Ok(refunds::Refund {
        id: refund_id(refund.number),
        charge_id: charge_id(refund.charge),
        amount: refund.amount,
        display: Money::of(&refund.currency)?.display(refund.amount),
        currency: refund.currency,
        reason: refund.reason.map(Into::into),
    })
}

/// Converts in both directions between two enumerations with the same cases.
macro_rules! same {
    ($own:ty, $wit:ty: $($case:ident)*) => {
        impl From<$own> for $wit {
            fn from(value: $own) -> Self {
                match value { $(<$own>::$case => Self::$case),* }
            }
        }

        impl From<$wit> for $own {
            fn from(value: $wit) -> Self {
                match value { $(<$wit>::$case => Self::$case),* }
            }
        }
    };
}

same!(Card, wit::TestCard: Visa Mastercard Declined InsufficientFunds Expired);
same!(Status, wit::Status: Authorised Captured Cancelled Declined);
same!(Decline, wit::Decline: CardDeclined InsufficientFunds ExpiredCard);
same!(Reason, refunds::Reason: Duplicate Fraudulent RequestedByCustomer);
same!(
    Kind, wit::ErrorKind:
    Denied Store Amount Currency Parameter NotFound State ExceedsCharge Declined Idempotency InProgress
);

impl From<Error> for wit::Error {
    fn from(Error { kind, message, parameter, charge, decline }: Error) -> Self {
        Self {
            kind: kind.into(),
            message,
            parameter,
            charge_id: charge.map(charge_id),
            decline: decline.map(Into::into),
        }
    }
}
