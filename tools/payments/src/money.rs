//! Currencies of ISO 4217, and amounts in their smallest unit.

use iso_currency::Currency;

use crate::error::{Error, Kind};

/// Largest amount: eight digits, as in card networks.
pub const MAX_AMOUNT: u64 = 99_999_999;

/// Currency in which payments are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Money {
    currency: Currency,
    exponent: u8,
}

impl Money {
    /// Finds the currency of a code.
    ///
    /// # Errors
    ///
    /// `Currency`.
    pub fn of(code: &str) -> Result<Self, Error> {
        let shown: String = code.chars().take(12).collect();
        let refused = |why: &str| Error::of("currency", Kind::Currency, format!("`{shown}` {why}"));
        let currency = Currency::from_code(&code.to_ascii_uppercase())
            .ok_or_else(|| refused("is no currency of ISO 4217: three letters such as `USD`, `EUR`, `JPY`"))?;
        if let Some(newer) = currency.is_superseded() {
            return Err(refused(&format!("is no longer in use: `{}` took its place", newer.code())));
        }
        let payable = !currency.is_fund() && !currency.is_special();
        let exponent = currency.exponent().filter(|_| payable).and_then(|exponent| u8::try_from(exponent).ok());
        // Codes for gold, funds and tests have no decimals.
        let exponent = exponent.ok_or_else(|| refused("is a code that nothing is paid in"))?;
        Ok(Self { currency, exponent })
    }

    /// Returns the code, in capitals.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.currency.code()
    }

    /// Returns the name of the currency in English.
    #[must_use]
    pub fn name(self) -> String {
        self.currency.name().to_owned()
    }

    /// Returns the number of decimals of the currency.
    #[must_use]
    pub fn exponent(self) -> u8 {
        self.exponent
    }

    /// Formats an amount for humans.
    #[must_use]
    pub fn display(self, amount: u64) -> String {
        let decimals = usize::from(self.exponent);
        let digits = format!("{amount:0>width$}", width = decimals + 1);
        let (whole, part) = digits.split_at(digits.len() - decimals);
        let point = if decimals == 0 { "" } else { "." };
        format!("{whole}{point}{part} {}", self.code())
    }

    /// Parses a decimal amount, and returns it in the smallest unit.
    ///
    /// # Errors
    ///
    /// `Amount`.
    pub fn minor(self, text: &str) -> Result<u64, Error> {
        let refused = |why: String| Error::of("amount", Kind::Amount, why);
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        if text.len() > 40 || !digits(whole) || !digits(part) {
            return Err(refused("it is no amount: digits, and a point before decimals, for example `12.50`".into()));
        }
        let (code, exponent) = (self.code(), usize::from(self.exponent));
        let part = part.trim_end_matches('0');
        if part.len() > exponent {
            return Err(refused(format!("`{text}` has more decimals than {code}, which has {exponent}")));
        }
        let number = format!("{whole}{part:0<exponent$}").parse();
        number.map_err(|_| refused(format!("`{text}` is more than a 64-bit number of the smallest unit")))
    }
}

/// Checks the amount of a payment.
///
/// # Errors
///
/// `Amount`.
pub fn check(amount: u64) -> Result<(), Error> {
    if (1..=MAX_AMOUNT).contains(&amount) {
        return Ok(());
    }
    let message = format!("the amount is {amount}: it must be 1 to {MAX_AMOUNT}, in the currency's smallest unit");
    Err(Error::of("amount", Kind::Amount, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(code: &str) -> Money {
        Money::of(code).expect(code)
    }

    #[test]
    fn currency_has_its_decimals() {
        assert_eq!(money("usd").display(500), "5.00 USD");
        assert_eq!(money("EUR").display(5), "0.05 EUR");
        assert_eq!(money("JPY").display(500), "500 JPY");
        assert_eq!(money("KWD").display(12), "0.012 KWD");
        assert_eq!((money("JPY").exponent(), money("KWD").name()), (0, "Kuwaiti dinar".to_owned()));
    }

    #[test]
    fn currency_that_is_unknown_is_refused() {
        for code in ["", "US", "USDX", "XYZ", "€", "XAU", "XXX", "USN", "HRK"] {
            assert_eq!(Money::of(code).expect_err(code).kind, Kind::Currency);
        }
        assert!(Money::of(&"x".repeat(10_000)).expect_err("long").message.len() < 200);
    }

    #[test]
    fn texts_become_amounts_exactly() {
        for (text, code, amount) in
            [("12.5", "EUR", 1250), ("0.10", "USD", 10), ("7", "JPY", 7), ("7.00", "JPY", 7), ("1.234", "KWD", 1234)]
        {
            assert_eq!(money(code).minor(text), Ok(amount), "{text} {code}");
        }
        for (text, code) in [
            ("1.5", "JPY"),
            ("0.001", "USD"),
            ("", "USD"),
            (".5", "USD"),
            ("1.", "USD"),
            ("-1", "USD"),
            ("1e3", "USD"),
            ("1,000", "USD"),
            ("99999999999999999999", "USD"),
        ] {
            assert_eq!(money(code).minor(text).expect_err(text).kind, Kind::Amount, "{text} {code}");
        }
    }

    #[test]
    fn amount_out_of_bounds_is_refused() {
        assert!(check(1).is_ok() && check(MAX_AMOUNT).is_ok());
        assert!(check(0).is_err() && check(MAX_AMOUNT + 1).is_err());
    }
}
