//! Instants that texts of `-d` refer to.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use chrono::{DateTime, Datelike as _, Duration, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use super::input::{self, DateItems, RelativeTime, WrittenYear};
use super::timezone::SandboxTimezone;

/// Reads a date as GNU's does ("Date input formats" in its manual): dates and times of day in many forms, zones,
/// weekdays, and what is relative to them (`2024-01-31 + 1 month`, `next friday 10:00`, `2 weeks ago`). The error is a
/// message.
pub(super) fn parse_date(text: &str, now: DateTime<Utc>, timezone: &SandboxTimezone) -> Result<DateTime<Utc>, String> {
    let instant = match zone_prefix(text.trim_start()) {
        Some((zone, date)) => parse_in_zone(date, now, &SandboxTimezone::from_env(Some(&zone))),
        None => parse_in_zone(text, now, timezone),
    };
    instant.ok_or_else(|| format!("date: invalid date '{text}'"))
}

fn parse_in_zone(text: &str, now: DateTime<Utc>, timezone: &SandboxTimezone) -> Option<DateTime<Utc>> {
    let items = input::parse(text, &timezone.abbreviations(now.timestamp()))?;
    resolve(&items, now, timezone)
}

/// Splits `TZ="…"` off the beginning of a date. Returns the zone and the rest.
fn zone_prefix(text: &str) -> Option<(String, &str)> {
    let quoted = text.strip_prefix("TZ=\"")?;
    let mut zone = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((zone, &quoted[at + 1..])),
            '\\' => zone.push(letters.next()?.1),
            letter => zone.push(letter),
        }
    }
    None
}

/// Returns the instant that items refer to.
fn resolve(items: &DateItems, now: DateTime<Utc>, timezone: &SandboxTimezone) -> Option<DateTime<Utc>> {
    if let Some((seconds, nanos)) = items.epoch {
        return DateTime::from_timestamp(seconds, nanos);
    }
    let mut wall = absolute_time(items, timezone.wall_time_at(now)?)?;
    let instant_of = |wall: NaiveDateTime| match items.zone {
        Some(offset) => wall.and_utc().checked_sub_signed(Duration::try_seconds(offset)?),
        None => timezone.instant_of(wall),
    };
    // A local time that is skipped by a change of clocks is invalid.
    let shown = timezone.wall_time_at(instant_of(wall)?)?;
    if items.zone.is_none() && shown != wall {
        return None;
    }
    if let Some((ordinal, weekday)) = items.day.filter(|_| items.date.is_none()) {
        wall = move_to_weekday(wall, ordinal, weekday)?;
    }
    let relative = items.relative.unwrap_or_default();
    let base = instant_of(shift_date(wall, &relative)?)?;
    let seconds = relative
        .hours
        .checked_mul(3600)?
        .checked_add(relative.minutes.checked_mul(60)?)?
        .checked_add(relative.seconds)?;
    base.checked_add_signed(Duration::try_seconds(seconds)?)?.checked_add_signed(Duration::nanoseconds(relative.nanos))
}

/// Returns the wall time of the absolute items, with missing ones taken from `now`.
fn absolute_time(items: &DateItems, now: NaiveDateTime) -> Option<NaiveDateTime> {
    let date = match items.date {
        None => now.date(),
        Some((year, month, day)) => {
            let year = year.map_or(i64::from(now.year()), WrittenYear::full);
            // 30 February is invalid, and not a day in March.
            NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, u32::try_from(month).ok()?, u32::try_from(day).ok()?)?
        }
    };
    let keeps_time = items.relative.is_some() && items.date.is_none() && items.day.is_none();
    let time = match items.time {
        Some(time) => NaiveTime::from_hms_nano_opt(
            u32::try_from(time.hour).ok()?,
            u32::try_from(time.minute).ok()?,
            u32::try_from(time.second).ok()?,
            time.nanos,
        )?,
        None if keeps_time => now.time(),
        None => NaiveTime::MIN,
    };
    Some(date.and_time(time))
}

/// Moves a time to a weekday, counted from Sunday. The ordinal 0 means the next one, which may be today.
fn move_to_weekday(wall: NaiveDateTime, ordinal: i64, weekday: i64) -> Option<NaiveDateTime> {
    let today = i64::from(wall.weekday().num_days_from_sunday());
    let weeks = ordinal - i64::from(ordinal > 0 && today != weekday);
    let days = weeks.checked_mul(7)?.checked_add((weekday - today + 7) % 7)?;
    wall.checked_add_signed(Duration::try_days(days)?)
}

/// Adds years, months and days. Days beyond the end of a month continue in the next one: a month after 31 January is 2
/// or 3 March.
fn shift_date(wall: NaiveDateTime, relative: &RelativeTime) -> Option<NaiveDateTime> {
    let months = relative.years.checked_mul(12)?.checked_add(relative.months)?;
    let month = i64::from(wall.year()) * 12 + i64::from(wall.month0());
    let month = month.checked_add(months)?;
    let first = NaiveDate::from_ymd_opt(
        i32::try_from(month.div_euclid(12)).ok()?,
        u32::try_from(month.rem_euclid(12)).ok()? + 1,
        1,
    )?;
    let days = i64::from(wall.day0()).checked_add(relative.days)?;
    first.checked_add_signed(Duration::try_days(days)?).map(|date| date.and_time(wall.time()))
}
