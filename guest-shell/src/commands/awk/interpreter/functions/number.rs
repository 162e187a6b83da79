//! Functions of numbers.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::super::ast::BuiltinFunction;
use super::super::super::format::format_number;
use super::super::super::value::str_to_num;
use super::super::expression::nan_as_on_x86;

/// Most bits of which gawk's `compl` makes the complement: those that a double holds exactly.
const EXACT_BITS: u32 = 53;

/// Returns the number that a text means to `strtonum`: `0x` is hexadecimal, a leading zero octal.
pub(super) fn strtonum(text: &str) -> f64 {
    let trimmed = text.trim_start();
    let (is_negative, digits) = match trimmed.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let number = if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        integer(hexadecimal, 16)
    } else if digits.starts_with('0') && digits[1..].starts_with(|digit: char| digit.is_ascii_digit()) {
        match digits.bytes().take_while(u8::is_ascii_digit).all(|digit| digit < b'8') {
            true => integer(digits, 8),
            false => str_to_num(digits),
        }
    } else {
        return str_to_num(text);
    };
    if is_negative { -number } else { number }
}

/// Returns the integer at the start of a text; 0 if there is none, or one that is too large.
fn integer(text: &str, radix: u32) -> f64 {
    let end = text.find(|digit: char| !digit.is_digit(radix)).unwrap_or(text.len());
    u64::from_str_radix(&text[..end], radix).map_or(0.0, |number| number as f64)
}

/// Computes a function of numbers; those that are none of its functions yield 0.
pub(super) fn compute(function: BuiltinFunction, numbers: &[f64]) -> f64 {
    use BuiltinFunction as F;
    let first = numbers[0];
    let all_bits = numbers.iter().map(|&number| bits(number));
    let shift = || bits(numbers[1]).min(63) as u32;
    match function {
        F::Sin => nan_as_on_x86(first.sin(), &[first]),
        F::Cos => nan_as_on_x86(first.cos(), &[first]),
        F::Atan2 => first.atan2(numbers[1]),
        F::Exp => first.exp(),
        F::Log => nan_as_on_x86(first.ln(), &[first]),
        F::Sqrt => nan_as_on_x86(first.sqrt(), &[first]),
        F::Int => first.trunc(),
        F::And => all_bits.reduce(|left, right| left & right).unwrap_or(0) as f64,
        F::Or => all_bits.reduce(|left, right| left | right).unwrap_or(0) as f64,
        F::Xor => all_bits.reduce(|left, right| left ^ right).unwrap_or(0) as f64,
        F::Lshift => bits(first).wrapping_shl(shift()) as f64,
        F::Rshift => (bits(first) >> shift()) as f64,
        F::Compl => (!bits(first) & ((1u64 << EXACT_BITS) - 1)) as f64,
        _ => 0.0,
    }
}

/// Exponents below yield less than any number but 0.
const LEAST_EXPONENT: f64 = -745.2;

/// Returns what gawk warns of when a function gets a number that it is not defined for.
pub(super) fn warning(function: BuiltinFunction, number: f64) -> Option<String> {
    let shown = || format_number(number, "%.6g");
    match function {
        BuiltinFunction::Log if number < 0.0 => Some(format!("log: received negative argument {}", shown())),
        BuiltinFunction::Sqrt if number < 0.0 => Some(format!("sqrt: received negative argument {}", shown())),
        BuiltinFunction::Exp if number.is_finite() && (number.exp().is_infinite() || number < LEAST_EXPONENT) => {
            Some(format!("exp: argument {} is out of range", shown()))
        }
        _ => None,
    }
}

fn bits(number: f64) -> u64 {
    if number < 0.0 { (number as i64) as u64 } else { number as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strtonum_knows_hexadecimal_and_octal_numbers() {
        assert_eq!(strtonum("0x1A"), 26.0);
        assert_eq!(strtonum("017"), 15.0);
        assert_eq!(strtonum("12abc"), 12.0);
        assert_eq!(strtonum("-0x10"), -16.0);
    }
}
