use chrono::{DateTime, Datelike as _, Duration, Utc};

use crate::commands::date::Date;
use crate::commands::date::resolve::parse_date;
use crate::commands::date::timezone::SandboxTimezone;

const FIXED: DateTime<Utc> = DateTime::from_timestamp(1_700_000_000, 0).expect("a second of our time");

// TM-INF-018: a fixed time takes precedence over the system's clock, shifted or not.
#[test]
fn clock_that_is_stopped_stands() {
    assert_eq!(Date::with_fixed_epoch(FIXED).now(), FIXED);
    assert_eq!(Date { fixed_epoch: Some(FIXED), offset_seconds: 99_999 }.now(), FIXED);
}

// TM-INF-018: a shifted clock advances.
#[test]
fn clock_that_is_moved_is_ahead_of_the_system() {
    for offset in [0, 365 * 24 * 60 * 60] {
        let clock = Date::with_offset_seconds(offset);
        let before = Utc::now(); // std-time-ok: test-only, runs natively
        let observed = clock.now();
        let after = Utc::now(); // std-time-ok: test-only, runs natively
        let moved = |instant: DateTime<Utc>| instant + Duration::seconds(offset);
        assert!(moved(before) <= observed && observed <= moved(after), "{offset}: {observed}");
    }
}

#[test]
fn weekday_at_the_ends_of_the_calendar_is_refused() {
    for (now, zone) in [(DateTime::<Utc>::MAX_UTC, "Etc/GMT-14"), (DateTime::<Utc>::MIN_UTC, "Etc/GMT+12")] {
        assert!(parse_date("monday", now, &SandboxTimezone::from_env(Some(&zone.to_owned()))).is_err());
    }
    for (ordinal, now) in [("next", DateTime::<Utc>::MAX_UTC), ("last", DateTime::<Utc>::MIN_UTC)] {
        let text = format!("{ordinal} {}", now.weekday());
        assert!(parse_date(&text, now, &SandboxTimezone::from_env(None)).is_err());
    }
}
