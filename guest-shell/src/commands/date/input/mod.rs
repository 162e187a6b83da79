//! Dates as GNU's `parse_datetime` reads them ("Date input formats" in coreutils' manual): items in any order, with
//! each kind of absolute item at most once.
//!
//! | module | contents |
//! | --- | --- |
//! | [`token`] | numbers, words and punctuation of a text |
//! | [`words`] | words that have a meaning |
//! | [`parser`] | items among the tokens |
//!
//! Where the manual is ambiguous, this follows GNU date: a signed number after a time is its zone, and a number alone
//! is a date, a time or a year.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod parser;
mod token;
mod words;

use self::parser::DateParser;
use self::token::{DateToken, tokens};
use super::timezone::LocalZone;

/// Longest text that is read.
const LONGEST: usize = 4096;

/// Items of a text, before they are related to a point in time.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DateItems {
    /// Seconds and nanoseconds since the epoch, `@…`.
    pub(super) epoch: Option<(i64, u32)>,
    pub(super) date: Option<(Option<WrittenYear>, i64, i64)>,
    pub(super) time: Option<TimeOfDay>,
    /// Ordinal of the weekday, and the weekday.
    pub(super) day: Option<(i64, i64)>,
    /// Seconds east of UTC.
    pub(super) zone: Option<i64>,
    pub(super) relative: Option<RelativeTime>,
    pub(super) counts: ItemCounts,
}

/// Number of items of each kind.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ItemCounts {
    pub(super) dates: u32,
    pub(super) times: u32,
    pub(super) days: u32,
    pub(super) zones: u32,
}

/// Year, and the number of digits that it was written with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WrittenYear {
    pub(super) value: i64,
    pub(super) digits: usize,
}

impl WrittenYear {
    /// Returns the full year; one of two digits is between 1969 and 2068.
    pub(super) fn full(self) -> i64 {
        match (self.digits, self.value) {
            (2, value @ 0..69) => value + 2000,
            (2, value @ 69..) => value + 1900,
            (_, value) => value,
        }
    }
}

/// Time of day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeOfDay {
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanos: u32,
}

/// Time that is added or subtracted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RelativeTime {
    pub(super) years: i64,
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) hours: i64,
    pub(super) minutes: i64,
    pub(super) seconds: i64,
    pub(super) nanos: i64,
}

/// Parses a text, or returns `None` if it is not a date.
pub(super) fn parse(text: &str, local_zones: &[LocalZone]) -> Option<DateItems> {
    if text.len() > LONGEST {
        return None;
    }
    let text = text.trim_start();
    if let Some(epoch) = text.strip_prefix('@') {
        return parse_epoch(epoch, local_zones);
    }
    let tokens = tokens(text, local_zones)?;
    let items = DateParser::new(&tokens).items()?;
    let counts = &items.counts;
    let once = [counts.dates, counts.times, counts.days, counts.zones].iter().all(|count| *count <= 1);
    once.then_some(items)
}

fn parse_epoch(text: &str, local_zones: &[LocalZone]) -> Option<DateItems> {
    let (value, nanos) = match tokens(text, local_zones)?.as_slice() {
        [DateToken::Number { value, .. }] => (*value, 0),
        [DateToken::Decimal { value, nanos }] => (*value, *nanos),
        _ => return None,
    };
    // Nanoseconds count forwards, also before the epoch.
    let value = value.checked_add(nanos.div_euclid(1_000_000_000))?;
    let nanos = u32::try_from(nanos.rem_euclid(1_000_000_000)).ok()?;
    Some(DateItems { epoch: Some((value, nanos)), ..DateItems::default() })
}
