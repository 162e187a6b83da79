//! Sizes, times and bars, for people.

use tollhouse::capability::Amount;

/// Partial blocks, from one eighth to seven.
const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Formats a number of bytes, in the unit that fits.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

/// Formats a count: `1 file`, `2 files`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// Formats a time in nanoseconds since the Unix epoch, as RFC 3339.
pub(crate) fn time(nanoseconds: u64) -> String {
    let timestamp = jiff::Timestamp::from_nanosecond(i128::from(nanoseconds));
    timestamp.unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string()
}

/// Formats a time to the second.
pub(crate) fn short_time(nanoseconds: u64) -> String {
    let text = time(nanoseconds / 1_000_000_000 * 1_000_000_000);
    text.trim_end_matches('Z').replace('T', " ")
}

/// Formats the used share of a limit as a bar.
pub(crate) fn bar(used: u64, limit: u64, width: u32) -> String {
    blocks(u128::from(used), u128::from(limit), width)
}

/// Formats the used share of amounts as a bar, like [`bar`].
pub(crate) fn share(used: Amount, limit: Amount, width: u32) -> String {
    blocks(used.millionths(), limit.millionths(), width)
}

fn blocks(used: u128, limit: u128, width: u32) -> String {
    let whole = u128::from(width) * 8;
    // The smallest use is visible; use beyond the limit is not.
    let eighths = used.saturating_mul(whole).checked_div(limit).unwrap_or(whole);
    let eighths = eighths.max(u128::from(used > 0)).min(whole);
    let mut bar = "█".repeat(usize::try_from(eighths / 8).unwrap_or(0));
    if let Some(part) = usize::try_from(eighths % 8).ok().and_then(|part| PARTS.get(part.checked_sub(1)?)) {
        bar.push(*part);
    }
    let missing = usize::try_from(width).unwrap_or(0).saturating_sub(bar.chars().count());
    format!("▕{bar}{}▏", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_truncated_not_rounded() {
        assert_eq!(
            [0, 1023, 1024, 1_610_612_735, u64::MAX].map(size),
            ["0 B", "1023 B", "1.0 KiB", "1.4 GiB", "16777215.9 TiB"]
        );
    }

    #[test]
    fn count_of_one_is_singular() {
        assert_eq!([0, 1, 2].map(|number| count(number, "file")), ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn progress_bar_has_constant_width() {
        assert_eq!(bar(0, 100, 4), "▕    ▏");
        assert_eq!(bar(1, 1_000_000, 4), "▕▏   ▏");
        assert_eq!(bar(50, 100, 4), "▕██  ▏");
        assert_eq!(bar(200, 100, 4), "▕████▏");
        assert_eq!(bar(0, 0, 2), "▕██▏");
    }
}
