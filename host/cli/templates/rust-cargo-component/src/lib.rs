//! The component: turns WIT values into calls of `orders`, which holds the logic, and its results back.

// Generated from `wit/` when it is built.
#[allow(warnings)]
mod bindings;
mod orders;

use bindings::exports::{{rust}}::orders as wit;
use orders::Error;

struct Component;

impl wit::Guest for Component {
    fn add_up(items: Vec<wit::Item>, percent_off: Option<u32>) -> Result<wit::Bill, wit::Error> {
        let items = items.into_iter().map(|wit::Item { name, quantity, price }| orders::Item { name, quantity, price });
        let items: Vec<_> = items.collect();
        let orders::Bill { quantity, net, discount, total } = orders::add_up(&items, percent_off)?;
        Ok(wit::Bill { quantity, net, discount, total })
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Empty => Self::Empty,
            Error::NoQuantity(name) => Self::NoQuantity(name),
            Error::Discount(percent) => Self::Discount(percent),
            Error::TooLarge => Self::TooLarge,
        }
    }
}

bindings::export!(Component with_types_in bindings);
