//! `date`: prints the current time or another one, as GNU's does, and provides the clock of other commands.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | options of the command line |
//! | [`input`] | texts of dates, read into items |
//! | [`resolve`] | the instant that items mean |
//! | [`timezone`] | time zones |
//! | [`format`] | `strftime` |
//!
//! The sandbox's environment is the only authority for the time zone (THREAT[TM-INF-018]): a `TZ` that is unset, empty,
//! unknown or a path is UTC, and the host's zone is never read.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod format;
mod input;
mod options;
mod resolve;
#[cfg(test)]
mod tests;
mod timezone;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::time_compat;
use bashkit::{ExecResult, PlacedMessages, Result};
use chrono::{DateTime, Duration, NaiveDate, Utc};

use self::format::Dialect;
use self::options::{CANNOT_SET, DateOptions, DateSource};
use self::resolve::parse_date;
pub(crate) use self::timezone::SandboxTimezone;
use self::timezone::instant_of_nanoseconds;
use crate::commands::files::quote_if_needed;
use crate::commands::operands;

const HELP: &str = "\
Usage: date [+FORMAT] [-u] [-R] [-I[TIMESPEC]] [-d STRING] [-r FILE]
Display the current time in the given FORMAT, or set the system date.

  +FORMAT\toutput date according to FORMAT
  -d, --date=STRING\tdisplay time described by STRING
  -r, --reference=FILE\tdisplay the last modification time of FILE
  -u, --utc\tprint Coordinated Universal Time (UTC)
  -R, --rfc-email\toutput RFC 2822 formatted date
  -I[FMT], --iso-8601[=FMT]\toutput ISO 8601 date/time (FMT: date, hours, minutes, seconds)
  TZ\t\tIANA timezone for parsing and display (default: UTC)
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `date` of the shell, and its clock, which other commands share.
///
/// The clock can be fixed or shifted, so that a script does not see the host's time (THREAT[TM-INF-018]). A fixed time
/// takes precedence.
#[derive(Clone, Copy, Default)]
pub(crate) struct Date {
    /// Fixed time of the clock.
    fixed_epoch: Option<DateTime<Utc>>,
    /// Seconds by which the clock is ahead of the system's clock.
    offset_seconds: i64,
}

impl Date {
    /// Returns the command with the system's clock.
    pub(crate) fn new() -> Self {
        Self { fixed_epoch: None, offset_seconds: 0 }
    }

    /// Returns the command with a fixed clock.
    #[cfg(test)]
    pub(crate) fn with_fixed_epoch(epoch: DateTime<Utc>) -> Self {
        Self { fixed_epoch: Some(epoch), offset_seconds: 0 }
    }

    /// Returns the command with a clock that is ahead of the system's.
    #[cfg(test)]
    pub(crate) fn with_offset_seconds(offset: i64) -> Self {
        Self { fixed_epoch: None, offset_seconds: offset }
    }

    /// Formats seconds since the epoch, or now, in the time zone `tz`, for `printf '%(…)T'`.
    pub(crate) fn strftime(
        &self,
        tz: Option<&String>,
        seconds: Option<i64>,
        format: &str,
    ) -> std::result::Result<String, String> {
        let instant = match seconds {
            Some(seconds) => {
                DateTime::from_timestamp(seconds, 0).ok_or_else(|| format!("printf: time out of range: {seconds}"))?
            }
            None => self.now(),
        };
        Ok(SandboxTimezone::from_env(tz).format(&instant, format, Dialect::Library))
    }

    /// Formats nanoseconds since the epoch in a time zone, so that `%N` has them.
    pub(super) fn strftime_nanos(
        tz: Option<&String>,
        nanos: i128,
        format: &str,
    ) -> std::result::Result<String, String> {
        let instant = instant_of_nanoseconds(nanos).ok_or_else(|| format!("time out of range: {nanos}"))?;
        Ok(SandboxTimezone::from_env(tz).format(&instant, format, Dialect::Date))
    }

    /// Reads a text of `-d`, for `touch -d` and `find -newermt`, too.
    pub(super) fn parse_date(&self, tz: Option<&String>, text: &str) -> std::result::Result<DateTime<Utc>, String> {
        parse_date(text, self.now(), &SandboxTimezone::from_env(tz))
    }

    /// Converts a local time `[year, month, day, hour, minute, second]` in the time zone `tz` to seconds since the
    /// epoch, as C's `mktime`. Fields out of range carry over: month 13 is January of the next year. `daylight` tells
    /// whether clocks are set to daylight saving time; `None` leaves that to the zone.
    pub(super) fn mktime(&self, tz: Option<&String>, fields: [i64; 6], daylight: Option<bool>) -> Option<i64> {
        let [year, month, day, hour, minute, second] = fields;
        let months = year.checked_mul(12)?.checked_add(month - 1)?;
        let year = i32::try_from(months.div_euclid(12)).ok()?;
        let month = u32::try_from(months.rem_euclid(12) + 1).ok()?;
        let month_start = NaiveDate::from_ymd_opt(year, month, 1)?.and_hms_opt(0, 0, 0)?;
        let seconds = (day - 1)
            .checked_mul(86_400)?
            .checked_add(hour.checked_mul(3_600)?)?
            .checked_add(minute.checked_mul(60)?)?
            .checked_add(second)?;
        let wall = month_start.checked_add_signed(Duration::try_seconds(seconds)?)?;
        let zone = SandboxTimezone::from_env(tz);
        let instant = match daylight {
            None => zone.instant_of(wall),
            Some(daylight) => zone.instant_of_clock(wall, daylight),
        };
        instant.map(|instant| instant.timestamp())
    }

    /// Returns the time of the clock as seconds since the epoch and nanoseconds.
    pub(super) fn now_epoch(&self) -> (i64, u32) {
        let now = self.now();
        (now.timestamp(), now.timestamp_subsec_nanos())
    }

    fn now(&self) -> DateTime<Utc> {
        if let Some(instant) = self.fixed_epoch {
            return instant;
        }
        let now = time_compat::now_utc();
        now.checked_add_signed(Duration::seconds(self.offset_seconds)).unwrap_or(now)
    }
}

#[async_trait]
impl Builtin for Date {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("date (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let options = match DateOptions::parse(ctx.args) {
            Ok(options) => options,
            Err(result) => return Ok(result),
        };
        // With `-u`, dates of `-d` are in UTC, too.
        let timezone = SandboxTimezone::from_env(ctx.env.get("TZ").filter(|_| !options.utc));
        let now = self.now();
        let instant = match &options.source {
            DateSource::Now => Ok(now),
            DateSource::Text(text) => parse_date(text, now, &timezone),
            DateSource::Reference(file) if file.is_empty() => Err("date: '': No such file or directory".to_owned()),
            DateSource::Reference(file) => match ctx.fs.stat(&resolve_path(ctx.cwd, file)).await {
                Ok(found) => Ok(time_compat::to_chrono_utc(found.modified)),
                Err(error) => Err(format!("date: {}: {}", quote_if_needed(file), io_error_reason(&error))),
            },
            DateSource::Lines(file) => match operands::read(&ctx, file).await? {
                Ok(lines) => return Ok(show_lines(&bashkit::text_of(&lines), now, &timezone, &options.format)),
                Err(reason) => Err(format!("date: {}: {reason}", quote_if_needed(file))),
            },
        };
        Ok(match instant {
            Ok(instant) => {
                let stdout = show(&instant, &timezone, &options.format);
                match options.sets {
                    true => ExecResult { stdout: stdout.into(), ..ExecResult::err(CANNOT_SET, 1) },
                    false => ExecResult::ok(stdout),
                }
            }
            Err(message) => ExecResult::err(format!("{message}\n"), 1),
        })
    }
}

/// Prints the date of each line, with messages about lines that are not dates.
fn show_lines(lines: &str, now: DateTime<Utc>, timezone: &SandboxTimezone, format: &str) -> ExecResult {
    let (mut output, mut errors) = (String::new(), PlacedMessages::new());
    for line in lines.lines() {
        match parse_date(line, now, timezone) {
            Ok(instant) => output += &show(&instant, timezone, format),
            Err(message) => errors.push(&format!("{message}\n"), output.len()),
        }
    }
    let status = i32::from(!errors.is_empty());
    ExecResult { stderr: errors.beside_text(&output), ..ExecResult::with_code(output, status) }
}

fn show(instant: &DateTime<Utc>, timezone: &SandboxTimezone, format: &str) -> String {
    timezone.format(instant, format, Dialect::Date) + "\n"
}
