//! The component: turns WIT values into calls of the logic, and its results back.

use bindings::exports::{{rust}}::orders as wit;

use crate::orders::{self, Error};

mod bindings {
    //! Generated from `wit/`.
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    use super::Tool;
    export!(Tool with_types_in self);
}

struct Tool;

impl wit::Guest for Tool {
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
