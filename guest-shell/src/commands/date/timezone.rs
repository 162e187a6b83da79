//! Time zones of `date`, `jq` and other commands.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use chrono::{DateTime, Duration, NaiveDateTime, Utc};
use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};

use super::format::{Dialect, ShownTime};

/// Seconds after which the calendar repeats itself, weekdays included.
const FOUR_CENTURIES: i64 = 146_097 * 86_400;

/// Abbreviation of a zone, and its seconds east of UTC.
pub(super) type LocalZone = (String, i64);

/// Time zone from a closed set that prevents host-local fallback (THREAT[TM-INF-018]): UTC, the zones of the database
/// that is compiled in, and POSIX rules such as `EST5EDT,M3.2.0,M11.1.0`.
#[derive(Clone)]
pub(crate) struct SandboxTimezone(TimeZone);

impl SandboxTimezone {
    /// Resolves the sandbox's `TZ`. As in GNU's, an unknown name means UTC.
    pub(crate) fn from_env(value: Option<&String>) -> Self {
        let value = value.map_or("", String::as_str);
        // A name after a colon is that of a file, which with glibc may be one of the database, too. The session has no
        // trusted zoneinfo, so other files mean UTC.
        let value = value.strip_prefix(':').unwrap_or(value);
        if matches!(value, "" | "UTC") || value.contains("..") {
            return Self(TimeZone::UTC);
        }
        let zone = TimeZoneDatabase::bundled().get(value).or_else(|_| TimeZone::posix(value));
        Self(zone.unwrap_or(TimeZone::UTC))
    }

    /// Returns the instant of a wall time. An ambiguous wall time resolves as in glibc's `mktime`, which begins its
    /// search at the wall time in UTC: to the later instant in the east, and to the earlier one in the west. A skipped
    /// wall time is moved forward by the length of the gap.
    pub(super) fn instant_of(&self, wall: NaiveDateTime) -> Option<DateTime<Utc>> {
        // In UTC a year may have more than four digits.
        let as_utc = wall.and_utc();
        if self.0 == TimeZone::UTC {
            return Some(as_utc);
        }
        let Some(at) = timestamp(as_utc) else {
            let (offset, _) = self.offset_at(as_utc.timestamp());
            return as_utc.checked_sub_signed(Duration::try_seconds(offset)?);
        };
        let wall = TimeZone::UTC.to_datetime(at);
        let candidates = self.0.to_ambiguous_timestamp(wall);
        let (offset_as_utc, _) = self.offset_at(as_utc.timestamp());
        let instant = match candidates.offset() {
            AmbiguousOffset::Fold { after, .. } if i64::from(after.seconds()) == offset_as_utc => candidates.later(),
            _ => candidates.compatible(),
        };
        instant_of_nanoseconds(instant.ok()?.as_nanosecond())
    }

    /// Returns the seconds since 1970 at which clocks of the zone show a time, given as the seconds since 1970 at which
    /// clocks of UTC show it.
    pub(crate) fn seconds_of_wall(&self, wall: i64) -> i64 {
        let known = DateTime::from_timestamp(wall, 0).and_then(|as_utc| self.instant_of(as_utc.naive_utc()));
        known.map_or_else(|| wall.saturating_sub(self.offset_at(wall).0), |instant| instant.timestamp())
    }

    /// Returns the wall time at an instant.
    pub(super) fn wall_time_at(&self, instant: DateTime<Utc>) -> Option<NaiveDateTime> {
        let (offset, _) = self.offset_at(instant.timestamp());
        Some(instant.checked_add_signed(Duration::try_seconds(offset)?)?.naive_utc())
    }

    /// Returns the seconds east of UTC at an instant, and the abbreviation of the zone at that time.
    pub(crate) fn offset_at(&self, seconds: i64) -> (i64, String) {
        if self.0 == TimeZone::UTC {
            return (0, "UTC".to_string());
        }
        // Years out of the database's range use the rules of those 400 years before or after.
        let known = -300_000_000_000..250_000_000_000;
        let at = match seconds {
            seconds if known.contains(&seconds) => seconds,
            seconds => seconds.rem_euclid(FOUR_CENTURIES),
        };
        let Ok(at) = Timestamp::from_second(at) else {
            return (0, "UTC".to_string());
        };
        let info = self.0.to_offset_info(at);
        (i64::from(info.offset().seconds()), info.abbreviation().to_string())
    }

    /// Returns the instant of a wall time that is told to be in daylight saving time or not. If the zone's clocks are
    /// not set that way then, the offset is that of the nearest week within two years in which they are, or else differs
    /// by an hour, as in glibc's `mktime`.
    pub(super) fn instant_of_clock(&self, wall: NaiveDateTime, daylight: bool) -> Option<DateTime<Utc>> {
        const WEEK: i64 = 601_200;
        let seconds = self.instant_of(wall)?.timestamp();
        let mut near = (0..=104).flat_map(|weeks| [seconds - weeks * WEEK, seconds + weeks * WEEK]);
        let offset = match near.find(|at| self.is_daylight_at(*at) == daylight) {
            Some(at) => self.offset_at(at).0,
            None => self.offset_at(seconds).0 + if daylight { 3_600 } else { -3_600 },
        };
        wall.and_utc().checked_sub_signed(Duration::try_seconds(offset)?)
    }

    fn is_daylight_at(&self, seconds: i64) -> bool {
        Timestamp::from_second(seconds).is_ok_and(|at| self.0.to_offset_info(at).dst().is_dst())
    }

    /// Returns the zone's abbreviations in the year around an instant.
    pub(super) fn abbreviations(&self, seconds: i64) -> Vec<LocalZone> {
        let quarters = (0..4).map(|quarter| seconds.saturating_add(quarter * 7_884_000));
        quarters.map(|at| self.offset_at(at)).map(|(offset, name)| (name.to_uppercase(), offset)).collect()
    }

    /// Formats an instant in this zone.
    pub(super) fn format(&self, instant: &DateTime<Utc>, format: &str, dialect: Dialect) -> String {
        let (offset, zone) = self.offset_at(instant.timestamp());
        ShownTime::new(*instant, offset, zone, dialect).format(format)
    }
}

/// Converts an instant of the years -9999 to 9999.
fn timestamp(instant: DateTime<Utc>) -> Option<Timestamp> {
    Timestamp::new(instant.timestamp(), instant.timestamp_subsec_nanos().cast_signed()).ok()
}

/// Returns the instant of a number of nanoseconds since the epoch.
pub(super) fn instant_of_nanoseconds(nanos: i128) -> Option<DateTime<Utc>> {
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
    let nanos = u32::try_from(nanos.rem_euclid(1_000_000_000)).ok()?;
    DateTime::from_timestamp(seconds, nanos)
}
