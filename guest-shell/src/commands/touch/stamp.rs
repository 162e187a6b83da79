//! Times of `touch -t`: `[[CC]YY]MMDDhhmm[.ss]`.
//!
//! They are in UTC: in the time zone of the host, `date -r` would reveal that zone (THREAT[TM-INF-018]).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::time_compat::{self, SystemTime};
use chrono::{Datelike, NaiveDate};

/// Parses a time.
pub(super) fn parse_stamp(text: &str) -> Option<SystemTime> {
    let (digits, second) = match text.split_once('.') {
        Some((digits, second)) if second.len() == 2 => (digits, number(second)?),
        Some(_) => return None,
        None => (text, 0),
    };
    if !is_digits(digits) {
        return None;
    }
    let (year, rest) = digits.split_at(digits.len().checked_sub(8)?);
    let year = match (year.len(), number(year)) {
        (0, _) => time_compat::now_utc().year(),
        (2, Some(year)) => i32::try_from(year).ok()? + if year >= 69 { 1900 } else { 2000 },
        (4, Some(year)) => i32::try_from(year).ok()?,
        _ => return None,
    };
    let field = |at: usize| number(&rest[at..at + 2]);
    let date = NaiveDate::from_ymd_opt(year, field(0)?, field(2)?)?;
    let time = date.and_hms_opt(field(4)?, field(6)?, second)?;
    Some(time_compat::from_chrono(time.and_utc()))
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| is_digits(text))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
