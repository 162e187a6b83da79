//! Lists in pages, newest first.

use crate::charge::{Charge, Refund, Status, charge_id, refund_id};
use crate::error::{Error, Kind};
use crate::money::Money;
use crate::processor::{Processor, number_of};
use crate::store::Store;

/// Largest number of charges on a page.
const MAX_PAGE: u32 = 100;
/// Default size of a page.
const PAGE: u32 = 10;

/// Conditions that the listed charges must meet.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Customer of the charges.
    pub customer: Option<String>,
    /// Status of the charges.
    pub status: Option<Status>,
    /// Currency of the charges.
    pub currency: Option<String>,
}

/// Selection of a page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cut<'a> {
    /// Largest size of the page.
    pub limit: Option<u32>,
    /// Cursor that the previous page returned.
    pub after: Option<&'a str>,
}

/// Page, and the cursor of the next one.
pub type Page<T> = (Vec<T>, Option<String>);

impl<S: Store> Processor<S> {
    /// Returns a page of charges.
    ///
    /// # Errors
    ///
    /// `Parameter`, `Currency`, and those of the store.
    pub fn charges(&self, wanted: &Wanted, cut: Cut<'_>) -> Result<Page<Charge>, Error> {
        let currency = wanted.currency.as_deref().map(Money::of).transpose()?.map(Money::code);
        let fits = |charge: &Charge| {
            wanted.customer.as_ref().is_none_or(|name| charge.order.customer.as_ref() == Some(name))
                && wanted.status.is_none_or(|status| charge.status == status)
                && currency.is_none_or(|code| charge.order.currency == code)
        };
        let first = self.latest("count/charges", "ch-", cut.after)?;
        page(first, cut.limit, charge_id, |number| Ok(self.find(number)?.filter(fits)))
    }

    /// Returns a page of refunds.
    ///
    /// # Errors
    ///
    /// `Parameter`, `NotFound`, and those of the store.
    pub fn refunds(&self, charge: Option<&str>, cut: Cut<'_>) -> Result<Page<Refund>, Error> {
        let first = self.latest("count/refunds", "re-", cut.after)?;
        if let Some(charge) = charge {
            let of: Vec<_> = self.charge(charge)?.refunds;
            let find = |number| Ok(of.iter().find(|refund| refund.number == number).cloned());
            return page(first, cut.limit, refund_id, find);
        }
        page(first, cut.limit, refund_id, |number| self.find_refund(number))
    }

    /// Returns the number with which a list begins.
    fn latest(&self, counter: &str, prefix: &str, after: Option<&str>) -> Result<u64, Error> {
        let count = self.0.get(counter)?.and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok()).unwrap_or(0);
        let Some(after) = after else { return Ok(count) };
        match number_of(prefix, after) {
            Some(number) => Ok(number.saturating_sub(1).min(count)),
            None => Err(Error::of("after", Kind::Parameter, format!("`after` is a name such as `{prefix}7`"))),
        }
    }
}

fn page<T>(
    first: u64,
    limit: Option<u32>,
    id: fn(u64) -> String,
    find: impl Fn(u64) -> Result<Option<T>, Error>,
) -> Result<Page<T>, Error> {
    let limit = limit.unwrap_or(PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(Error::of("limit", Kind::Parameter, format!("the limit is 1 to {MAX_PAGE}")));
    }
    let (mut found, mut last) = (Vec::new(), None);
    for number in (1..=first).rev() {
        let Some(value) = find(number)? else { continue };
        if found.len() == limit as usize {
            return Ok((found, last));
        }
        found.push(value);
        last = Some(id(number));
    }
    Ok((found, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charge::Order;
    use crate::store::memory::Memory;

    fn processor() -> Processor<Memory> {
        let processor = Processor(Memory::default());
        for number in 1..=5 {
            let currency = if number == 2 { "EUR" } else { "USD" };
            let customer = (number % 2 == 1).then(|| "Ann".to_owned());
            let order = Order { amount: number * 100, currency: currency.into(), customer, ..Order::default() };
            processor.create(order, None).expect("a charge");
        }
        processor
    }

    fn numbers(page: Result<Page<Charge>, Error>) -> (Vec<u64>, Option<String>) {
        let (charges, next) = page.expect("a page");
        (charges.iter().map(|charge| charge.number).collect(), next)
    }

    #[test]
    fn pages_lead_from_the_latest_to_the_first() {
        let (processor, all) = (processor(), Wanted::default());
        let page = |after| numbers(processor.charges(&all, Cut { limit: Some(2), after }));
        assert_eq!(page(None), (vec![5, 4], Some("ch-4".into())));
        assert_eq!(page(Some("ch-4")), (vec![3, 2], Some("ch-2".into())));
        assert_eq!(page(Some("ch-2")), (vec![1], None));
        assert_eq!(page(Some("ch-1")), (vec![], None));
        assert_eq!(numbers(processor.charges(&all, Cut { limit: Some(5), after: None })).1, None, "nothing follows");
    }

    #[test]
    fn charges_are_listed_by_filters() {
        let processor = processor();
        let list = |wanted: Wanted| numbers(processor.charges(&wanted, Cut::default())).0;
        assert_eq!(list(Wanted { customer: Some("Ann".into()), ..Wanted::default() }), [5, 3, 1]);
        assert_eq!(list(Wanted { currency: Some("eur".into()), ..Wanted::default() }), [2]);
        assert_eq!(list(Wanted { status: Some(Status::Declined), ..Wanted::default() }), [0; 0]);
        let wrong = Wanted { currency: Some("x".into()), ..Wanted::default() };
        assert_eq!(processor.charges(&wrong, Cut::default()).expect_err("no currency").kind, Kind::Currency);
        for cut in [
            Cut { limit: Some(0), after: None },
            Cut { limit: Some(101), after: None },
            Cut { limit: None, after: Some("x") },
        ] {
            assert_eq!(processor.charges(&Wanted::default(), cut).expect_err("bad").kind, Kind::Parameter);
        }
    }

    #[test]
    fn refunds_are_listed_for_all_or_one_charge() {
        let processor = processor();
        for id in ["ch-1", "ch-2", "ch-1"] {
            processor.refund(id, Some(10), None, None).expect("a refund");
        }
        let numbers = |charge| {
            let (refunds, _) = processor.refunds(charge, Cut::default()).expect("a page");
            refunds.iter().map(|refund| refund.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(None), [3, 2, 1]);
        assert_eq!(numbers(Some("ch-1")), [3, 1]);
        assert_eq!(processor.refunds(Some("ch-9"), Cut::default()).expect_err("none").kind, Kind::NotFound);
    }
}
