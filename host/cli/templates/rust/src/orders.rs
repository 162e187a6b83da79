//! Bills.

/// An item of an order; the price of one, in cents.
pub struct Item {
    pub name: String,
    pub quantity: u32,
    pub price: u32,
}

/// What an order comes to, in cents.
#[derive(Debug, PartialEq)]
pub struct Bill {
    pub quantity: u64,
    pub net: u64,
    pub discount: u64,
    pub total: u64,
}

/// Why there is no bill.
#[derive(Debug, PartialEq)]
pub enum Error {
    Empty,
    NoQuantity(String),
    Discount(u32),
    TooLarge,
}

/// Adds up the items of an order, less a discount in percent.
pub fn add_up(items: &[Item], percent_off: Option<u32>) -> Result<Bill, Error> {
    let percent = percent_off.unwrap_or(0);
    if items.is_empty() {
        return Err(Error::Empty);
    }
    if percent > 100 {
        return Err(Error::Discount(percent));
    }
    let (mut quantity, mut net) = (0, 0u64);
    for item in items {
        if item.quantity == 0 {
            return Err(Error::NoQuantity(item.name.clone()));
        }
        quantity += u64::from(item.quantity);
        let price = u64::from(item.quantity) * u64::from(item.price);
        net = net.checked_add(price).ok_or(Error::TooLarge)?;
    }
    // Whole hundreds first: the product of the sum itself could be too large.
    let percent = u64::from(percent);
    let discount = net / 100 * percent + net % 100 * percent / 100;
    Ok(Bill { quantity, net, discount, total: net - discount })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(quantity: u32, price: u32) -> Item {
        Item { name: "tea".to_owned(), quantity, price }
    }

    #[test]
    fn fractions_of_a_cent_are_not_taken_off() {
        let bill = add_up(&[item(2, 450), item(1, 1205)], Some(10));
        assert_eq!(bill, Ok(Bill { quantity: 3, net: 2105, discount: 210, total: 1895 }));
    }

    #[test]
    fn bill_that_cannot_be_added_up_returns_the_reason() {
        assert_eq!(add_up(&[], None), Err(Error::Empty));
        assert_eq!(add_up(&[item(0, 1)], None), Err(Error::NoQuantity("tea".to_owned())));
        assert_eq!(add_up(&[item(1, 1)], Some(101)), Err(Error::Discount(101)));
        let most = || item(u32::MAX, u32::MAX);
        assert_eq!(add_up(&[most(), most()], None), Err(Error::TooLarge));
    }
}
