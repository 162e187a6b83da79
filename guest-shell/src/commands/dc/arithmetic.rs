//! Arithmetic commands of dc.

use std::sync::Arc;

use num_bigint::BigUint;

use super::super::decimal::{Decimal, Fault};
use super::super::effort::Refusal;
use super::machine::{Machine, Stop};
use super::registers::Value;

impl Machine {
    /// Returns the topmost numbers, the last one being the topmost, without removing them. Reports an error and returns
    /// `None` if there are too few or some are strings.
    fn operands<const COUNT: usize>(&mut self) -> Option<[Arc<Decimal>; COUNT]> {
        if self.stack.len() < COUNT {
            self.report("stack empty");
            return None;
        }
        let top = &self.stack[self.stack.len() - COUNT..];
        let numbers: Vec<Arc<Decimal>> = top
            .iter()
            .filter_map(|value| match value {
                Value::Number(number) => Some(Arc::clone(number)),
                Value::Text(_) => None,
            })
            .collect();
        let numbers = <[Arc<Decimal>; COUNT]>::try_from(numbers).ok();
        if numbers.is_none() {
            self.report("non-numeric value");
        }
        numbers
    }

    /// Replaces operands by results; after an error the operands remain.
    fn replace(&mut self, count: usize, results: Result<Vec<Decimal>, Fault>, zero: &str) -> Result<(), Stop> {
        match results {
            Ok(results) => {
                self.stack.truncate(self.stack.len() - count);
                self.stack.extend(results.into_iter().map(Value::from));
                Ok(())
            }
            Err(Fault::Refused(refusal)) => Err(Stop::Refused(refusal)),
            Err(_) => {
                self.report(zero);
                Ok(())
            }
        }
    }

    /// Executes a command with two operands.
    pub(super) fn binary(&mut self, command: u8) -> Result<(), Stop> {
        let Some([left, right]) = self.operands() else { return Ok(()) };
        let (scale, effort) = (self.scale, &mut self.effort);
        let single = |result: Result<Decimal, Fault>| result.map(|number| vec![number]);
        let (results, zero) = match command {
            b'+' => (single(left.add(&right, effort).map_err(Fault::from)), ""),
            b'-' => (single(left.subtract(&right, effort).map_err(Fault::from)), ""),
            b'*' => (single(left.multiply(&right, scale, effort).map_err(Fault::from)), ""),
            b'/' => (single(left.divide(&right, scale, effort)), "divide by zero"),
            b'%' => (left.divide_remainder(&right, scale, effort).map(|(_, rest)| vec![rest]), "remainder by zero"),
            b'~' => (
                left.divide_remainder(&right, scale, effort).map(|(quotient, rest)| vec![quotient, rest]),
                "divide by zero",
            ),
            _ => (self.power(&left, &right).map(|number| vec![number]), ""),
        };
        self.replace(2, results, zero)
    }

    fn power(&mut self, base: &Decimal, exponent: &Decimal) -> Result<Decimal, Fault> {
        if exponent.scale() != 0 {
            self.warn("non-zero scale in exponent");
        }
        match base.raise(exponent, self.scale, &mut self.effort) {
            Err(Fault::HugeExponent) => {
                self.errors.extend_from_slice(b"Runtime error: exponent too large in raise\n");
                Ok(Decimal::from(1_u64))
            }
            Err(Fault::ZeroDivisor) => Ok(Decimal::zero()),
            other => other,
        }
    }

    /// Computes a power modulo a number (the command `|`).
    pub(super) fn modular_power(&mut self) -> Result<(), Stop> {
        let Some([base, exponent, modulus]) = self.operands() else { return Ok(()) };
        if modulus.is_zero() {
            self.report("remainder by zero");
            return Ok(());
        }
        // GNU's gives no message.
        if exponent.is_negative() {
            return Ok(());
        }
        for (number, name) in [(&base, "base"), (&exponent, "exponent"), (&modulus, "modulus")] {
            if number.scale() != 0 {
                self.warn(&format!("non-zero scale in {name}"));
            }
        }
        let result = self.repeated_squares(&base, exponent.whole(), &modulus);
        self.replace(3, result.map(|number| vec![number]), "remainder by zero")
    }

    /// Computes the power by repeated squaring; each product is reduced with the decimals that the scale requires.
    fn repeated_squares(&mut self, base: &Decimal, exponent: BigUint, modulus: &Decimal) -> Result<Decimal, Fault> {
        let scale = self.scale.max(base.scale());
        let effort = &mut self.effort;
        let (mut result, mut square) = (Decimal::from(1_u64), base.clone());
        for bit in 0..exponent.bits() {
            if exponent.bit(bit) {
                let product = result.multiply(&square, scale, effort)?;
                (_, result) = product.divide_remainder(modulus, self.scale, effort)?;
            }
            let product = square.multiply(&square, scale, effort)?;
            (_, square) = product.divide_remainder(modulus, self.scale, effort)?;
        }
        Ok(result)
    }

    /// Computes a square root (the command `v`).
    pub(super) fn square_root(&mut self) -> Result<(), Stop> {
        let Some(value) = self.pop() else { return Ok(()) };
        let Value::Number(number) = value else {
            self.report("square root of nonnumeric attempted");
            return Ok(());
        };
        match number.square_root(self.scale, &mut self.effort) {
            Ok(root) => self.stack.push(root.into()),
            Err(Fault::Refused(refusal)) => return Err(Stop::Refused(refusal)),
            Err(_) => self.report("square root of negative number"),
        }
        Ok(())
    }

    /// Executes `Z` and `X`: the number of digits, and of decimals; for a string its length, and 0.
    pub(super) fn measure(&mut self, scale: bool) -> Result<(), Refusal> {
        let Some(value) = self.pop() else { return Ok(()) };
        let size = match value {
            Value::Number(number) if scale => number.scale(),
            Value::Number(number) => {
                self.effort.spend_product(number.bits(), number.bits())?;
                number.digits()
            }
            Value::Text(_) if scale => 0,
            Value::Text(text) => text.len(),
        };
        self.stack.push(Decimal::from(u64::try_from(size).unwrap_or(u64::MAX)).into());
        Ok(())
    }
}
