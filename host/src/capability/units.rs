//! Quantities as people write them: `60s`, `256MiB`.

use std::time::Duration;

/// Reads a duration: a number and `ms`, `s`, `m`, `h` or `d`, for example `500ms` or `1.5h`.
///
/// # Errors
/// One line that says what is wrong and what would be right.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(format!("`{text}` is no duration: write a number and ms, s, m, h or d, for example `60s`")),
    };
    let number: f64 = number.parse().map_err(|_| format!("`{text}` is no duration: `{number}` is no number"))?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| format!("duration `{text}` is out of range"))
}

/// Reads a number of bytes: a whole number and nothing, `B`, `KiB`, `MiB`, `GiB`, `KB`, `MB` or `GB`.
///
/// # Errors
/// One line that says what is wrong and what would be right.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let scale: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => {
            return Err(format!("`{text}` is no size: write a whole number and KiB, MiB or GiB, for example `256MiB`"));
        }
    };
    let number: u64 = number.parse().map_err(|_| format!("`{text}` is no size: `{number}` is no whole number"))?;
    number.checked_mul(scale).ok_or_else(|| format!("size `{text}` is out of range"))
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(parse_duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_duration("1.5h"), Ok(Duration::from_secs(5_400)));
        assert_eq!(parse_duration("250 ms"), Ok(Duration::from_millis(250)));
        for text in ["", "60", "s", "-1s", "1e3s", "1w", "99999999999999999999d"] {
            assert!(parse_duration(text).is_err(), "{text:?} passed");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("256MiB"), Ok(256 << 20));
        assert_eq!(parse_bytes("10"), Ok(10));
        assert_eq!(parse_bytes("2 GB"), Ok(2_000_000_000));
        for text in ["", "MiB", "1.5MiB", "-1", "1TiB", "99999999999999999999", "99999999999GiB"] {
            assert!(parse_bytes(text).is_err(), "{text:?} passed");
        }
    }
}
