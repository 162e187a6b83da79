//! Numbers of `seq`'s command line, decimal and exact.

/// Largest number of digits of a number, which must fit into 128 bits with all decimal places.
const MOST_DIGITS: usize = 30;

/// Number of the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SeqOperand {
    /// Digits as a number, without the point; `None` means infinity.
    pub(super) digits: Option<i128>,
    /// Number of digits after the point.
    pub(super) places: u32,
}

impl SeqOperand {
    pub(super) const ONE: Self = Self { digits: Some(1), places: 0 };

    /// Parses a word. Returns `None` for a word that is not an exact decimal number in range.
    pub(super) fn parse(word: &str) -> Option<Self> {
        let word = word.trim_start();
        let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
        if matches!(unsigned.to_ascii_lowercase().as_str(), "inf" | "infinity") {
            return Some(Self { digits: None, places: 0 });
        }
        let signed = |value: i128| Some(if word.starts_with('-') { -value } else { value });
        if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
            let value = i128::from(u64::from_str_radix(digits, 16).ok()?);
            return Some(Self { digits: signed(value), places: 0 });
        }
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let zeros = usize::try_from(exponent.unsigned_abs()).ok()?;
        if !plain || digits.len() + zeros > MOST_DIGITS {
            return None;
        }
        let value: i128 = digits.parse().ok()?;
        let behind = i32::try_from(fraction.len()).ok()? - exponent;
        Some(match u32::try_from(behind) {
            Ok(places) => Self { digits: signed(value), places },
            Err(_) => Self { digits: signed(value * 10_i128.pow(behind.unsigned_abs())), places: 0 },
        })
    }

    /// Returns the digits scaled to this number of decimal places, which is at least the number's own. `None` means
    /// infinity.
    pub(super) fn scaled(self, places: u32) -> Option<i128> {
        self.digits.map(|digits| digits.saturating_mul(10_i128.saturating_pow(places - self.places)))
    }
}

#[cfg(test)]
mod tests {
    use super::SeqOperand;

    #[test]
    fn number_with_a_hexadecimal_prefix_is_an_integer() {
        for (word, value) in [("0x10", 16), ("-0Xa", -10), ("+0xFf", 255)] {
            assert_eq!(SeqOperand::parse(word), Some(SeqOperand { digits: Some(value), places: 0 }), "{word}");
        }
        assert_eq!(["0x", "0x1.8", "x10"].map(SeqOperand::parse), [None, None, None]);
    }
}
