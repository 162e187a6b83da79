//! Dates of the civil calendar, in UTC, and the names of its months.

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, Timelike, Utc};

/// English names of the months.
pub(super) const MONTH_NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Converts seconds since the Unix epoch to year, month and day, and hour, minute and second. A time that no calendar
/// reaches is the last one.
pub(super) fn civil(seconds: u64) -> ([u64; 3], [u64; 3]) {
    let time = i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    let time = time.unwrap_or(DateTime::<Utc>::MAX_UTC);
    let year = time.year().unsigned_abs();
    ([year, time.month(), time.day()].map(u64::from), [time.hour(), time.minute(), time.second()].map(u64::from))
}

/// Converts a date and time to seconds since the Unix epoch. A day that its month does not have is one of the next.
/// Returns `None` for an earlier or invalid date.
pub(super) fn seconds([year, month, day]: [u64; 3], [hour, minute, second]: [u64; 3]) -> Option<u64> {
    if !(1..=31).contains(&day) || hour > 24 || minute > 60 || second > 60 {
        return None;
    }
    let first = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, u32::try_from(month).ok()?, 1)?;
    let midnight = first.checked_add_days(Days::new(day - 1))?.and_time(NaiveTime::MIN).and_utc().timestamp();
    u64::try_from(midnight).ok()?.checked_add(hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_both_ways() {
        for (time, date, clock) in [
            (0, [1970, 1, 1], [0, 0, 0]),
            (1_445_412_480, [2015, 10, 21], [7, 28, 0]),
            (1_709_164_800, [2024, 2, 29], [0, 0, 0]),
            (4_107_542_399, [2100, 2, 28], [23, 59, 59]),
        ] {
            assert_eq!(civil(time), (date, clock));
            assert_eq!(seconds(date, clock), Some(time));
        }
        assert_eq!(seconds([1969, 12, 31], [0, 0, 0]), None);
        assert_eq!(seconds([2024, 13, 1], [0, 0, 0]), None);
        assert_eq!(seconds([2023, 2, 31], [24, 0, 0]), seconds([2023, 3, 4], [0, 0, 0]));
        assert_eq!(civil(u64::MAX).1, [23, 59, 59]);
    }
}
