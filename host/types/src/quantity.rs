//! Quantities as people write them: `60s`, `256MiB`. Must not know what they limit.

use std::time::Duration;

use crate::excerpt;

/// Error of a text that is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` {problem}; try {examples}")]
pub struct QuantityError {
    given: String,
    problem: &'static str,
    examples: String,
}

/// Parses a duration: a whole number and `ms`, `s`, `m`, `h` or `d`.
///
/// # Errors
/// If the text has another form, or the value does not fit 64 bits of milliseconds.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    scaled(text, &units).map(Duration::from_millis).ok_or_else(|| QuantityError {
        given: excerpt(text),
        problem: "is not a duration",
        examples: "`500ms`, `60s` or `5m`".to_owned(),
    })
}

/// Smallest size that may be written without a unit: a smaller number probably lacks its unit.
pub const LEAST_WITHOUT_UNIT: u64 = 1 << 10;

/// Parses a size in bytes: a whole number and `B`, `KiB`, `MiB` or `GiB`. The unit may be left out from
/// [`LEAST_WITHOUT_UNIT`] on.
///
/// # Errors
/// If the text has another form (`MB` too, which is ambiguous), or the value does not fit 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    let units = [("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    let size = scaled(text, &units);
    let has_unit = !text.ends_with(|c: char| c.is_ascii_digit());
    match size {
        Some(size) if has_unit || size >= LEAST_WITHOUT_UNIT || size == 0 => Ok(size),
        Some(size) => Err(QuantityError::without_unit(size)),
        None => Err(QuantityError {
            given: excerpt(text),
            problem: "is not a size",
            examples: "`64KiB`, `256MiB` or `100B`".to_owned(),
        }),
    }
}

impl QuantityError {
    /// Creates the error of a size below [`LEAST_WITHOUT_UNIT`] without a unit.
    #[must_use]
    pub fn without_unit(size: u64) -> Self {
        let examples = format!("`{size}MiB`, or `{size}B` for {size} bytes");
        Self { given: size.to_string(), problem: "has no unit", examples }
    }
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
    fn quantity_with_units_is_parsed() {
        assert_eq!(parse_duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_bytes("256MiB"), Ok(256 << 20));
        assert_eq!(parse_bytes("10B"), Ok(10));
        assert_eq!((parse_bytes("1024"), parse_bytes("0")), (Ok(1024), Ok(0)));
    }

    #[test]
    fn quantity_that_is_malformed_is_refused() {
        for text in ["", "s", "-1s", "1.5s", "60", "1 s", "99999999999999999999s", "18446744073709551615h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in ["", "1MB", "MiB", "-1", "18446744073709551615GiB", "1e3", "256"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
