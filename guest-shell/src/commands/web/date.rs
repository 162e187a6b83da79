//! Dates in the formats of HTTP.

use crate::commands::calendar;

/// Parses a date into seconds since the Unix epoch: `Wed, 21 Oct 2015 07:28:00 GMT`, `Wed, 21-Oct-2015 07:28:00 GMT`.
pub(super) fn seconds(text: &str) -> Option<u64> {
    const MONTHS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";
    let words: Vec<&str> = text.split([' ', '-', ',']).filter(|word| !word.is_empty()).collect();
    let [_, day, month, year, time, ..] = &words[..] else { return None };
    let month = MONTHS.find(&month.get(..3)?.to_ascii_lowercase()).filter(|at| at % 3 == 0)? / 3 + 1;
    let year = match year.parse::<u64>().ok()? {
        year @ 0..70 => year + 2000,
        year @ 70..100 => year + 1900,
        year => year,
    };
    let clock: Vec<u64> = time.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hour, minute, second] = clock[..] else { return None };
    calendar::seconds([year, u64::try_from(month).ok()?, day.parse().ok()?], [hour, minute, second])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read() {
        assert_eq!(seconds("Wed, 21 Oct 2015 07:28:00 GMT"), Some(1_445_412_480));
        assert_eq!(seconds("Wed, 21-Oct-15 07:28:00 GMT"), Some(1_445_412_480));
        assert_eq!(seconds("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!(seconds("never"), None);
    }
}
