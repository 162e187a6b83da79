//! Amounts as people write them: `60s`, `256MiB`. Must not know what they limit.

use std::time::Duration;

use crate::error::excerpt;

/// A text that is no amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no {what}: expected for example {examples}")]
pub struct QuantityError {
    given: String,
    what: &'static str,
    examples: &'static str,
}

/// Reads a span of time: a whole number and `ms`, `s`, `m`, `h` or `d`.
///
/// # Errors
/// Everything else, and what does not fit 64 bits of milliseconds.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    scaled(text, &units).map(Duration::from_millis).ok_or_else(|| QuantityError {
        given: excerpt(text),
        what: "span of time",
        examples: "`500ms`, `60s` or `5m`",
    })
}

/// Reads a number of bytes: a whole number and nothing, `B`, `KiB`, `MiB` or `GiB`.
///
/// # Errors
/// Everything else (`MB` too: it is not said often enough which of the two it means), and what does not fit 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    let units = [("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    scaled(text, &units).ok_or_else(|| QuantityError {
        given: excerpt(text),
        what: "number of bytes",
        examples: "`65536`, `64KiB` or `256MiB`",
    })
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        assert_eq!(parse_duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_bytes("256MiB"), Ok(256 << 20));
        assert_eq!(parse_bytes("10"), Ok(10));
    }

    #[test]
    fn refusals() {
        for text in ["", "s", "-1s", "1.5s", "60", "1 s", "99999999999999999999s", "18446744073709551615h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in ["", "1MB", "MiB", "-1", "18446744073709551615GiB", "1e3"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
