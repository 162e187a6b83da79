//! Dates of the civil calendar, in UTC.

/// Days from 1 March of the year 0 to the Unix epoch.
const EPOCH: u64 = 719_468;

/// Converts seconds since the Unix epoch to year, month and day, and hour, minute and second.
pub(super) fn civil(seconds: u64) -> ([u64; 3], [u64; 3]) {
    let (days, rest) = (seconds / 86_400 + EPOCH, seconds % 86_400);
    // Eras have 400 years; a year begins in March.
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    ([year, month, day], [rest / 3_600, rest % 3_600 / 60, rest % 60])
}

/// Converts a date and time to seconds since the Unix epoch. Returns `None` for an earlier or invalid date.
pub(super) fn seconds([year, month, day]: [u64; 3], [hour, minute, second]: [u64; 3]) -> Option<u64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 || minute > 60 || second > 60 {
        return None;
    }
    let (year, from_march) = if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    let days = (year.checked_mul(365)? + year / 4 - year / 100 + year / 400 + day_of_year).checked_sub(EPOCH)?;
    days.checked_mul(86_400)?.checked_add(hour * 3_600 + minute * 60 + second)
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
    }
}
