//! Attributes of new members: owners, modes and times that options set instead of the files'.

use std::time::Duration;

use bashkit::builtins::system::{SANDBOX_GID, SANDBOX_UID};
use bashkit::builtins::{Context, resolve_path};
use bashkit::fs::Metadata;
use bashkit::time_compat::{SystemTime, UNIX_EPOCH};

use crate::commands::date::Date;
use crate::commands::file_status::nanos_of;
use crate::commands::files::mode::Change;

/// Owner or group in a header.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Principal {
    pub(super) name: String,
    pub(super) number: u32,
}

impl Principal {
    /// Reads `NAME`, `NUMBER` or `NAME:NUMBER`; an unknown name has the number of the files' owner, and an unknown
    /// number no name.
    fn parse(text: &str, own_name: &str, own_number: u32) -> Self {
        if let Ok(number) = text.trim_start_matches('+').parse() {
            let name = match number {
                0 => "root",
                number if number == own_number => own_name,
                _ => "",
            };
            return Self { name: name.to_owned(), number };
        }
        match text.split_once(':') {
            Some((name, number)) => Self { name: name.to_owned(), number: number.parse().unwrap_or(own_number) },
            None => Self { name: text.to_owned(), number: if text == "root" { 0 } else { own_number } },
        }
    }
}

/// Attributes of all new members.
pub(super) struct MemberAttributes {
    pub(super) user: Principal,
    pub(super) group: Principal,
    mode: Option<Change>,
    time: Option<SystemTime>,
}

/// Attributes as the options give them.
#[derive(Default)]
pub(super) struct GivenAttributes<'a> {
    pub(super) owner: Option<&'a str>,
    pub(super) group: Option<&'a str>,
    pub(super) mode: Option<&'a str>,
    pub(super) time: Option<&'a str>,
    /// Names of owners are left out (`--numeric-owner`).
    pub(super) numeric: bool,
}

impl GivenAttributes<'_> {
    /// Returns the attributes, and a note about the date for a verbose call. The error is a message.
    pub(super) async fn resolve(&self, ctx: &Context<'_>, clock: &Date) -> Result<(MemberAttributes, String), String> {
        let own_name = ctx.env.get("USER").map_or("", String::as_str);
        let principal = |given: Option<&str>, number: u32| {
            let mut principal = match given {
                Some(text) => Principal::parse(text, own_name, number),
                None => Principal { name: own_name.to_owned(), number },
            };
            if self.numeric {
                principal.name.clear();
            }
            principal
        };
        let mode = match self.mode {
            Some(text) => Some(Change::parse(text).ok_or_else(|| "Invalid mode given on option".to_owned())?),
            None => None,
        };
        let (time, note) = match self.time {
            Some(text) => self.time(text, ctx, clock).await?,
            None => (None, String::new()),
        };
        let (user, group) = (principal(self.owner, SANDBOX_UID), principal(self.group, SANDBOX_GID));
        Ok((MemberAttributes { user, group, mode, time }, note))
    }

    /// Reads a date, or the name of a file that begins with `/` or `.`.
    async fn time(&self, text: &str, ctx: &Context<'_>, clock: &Date) -> Result<(Option<SystemTime>, String), String> {
        if text.starts_with(['/', '.']) {
            let status = ctx.fs.stat(&resolve_path(ctx.cwd, text)).await;
            let status = status.map_err(|_| format!("{text}: Cannot stat: No such file or directory"))?;
            return Ok((Some(status.modified), String::new()));
        }
        let zone = ctx.env.get("TZ");
        let seconds = seconds_of_date(text, ctx, clock)?;
        let shown = Date::strftime_nanos(zone, i128::from(seconds) * 1_000_000_000, "%Y-%m-%d %H:%M:%S");
        let shown = shown.unwrap_or_default();
        let note = match shown == text {
            true => String::new(),
            false => format!("tar: Option --mtime: Treating date '{text}' as {shown}\n"),
        };
        Ok((Some(UNIX_EPOCH + Duration::from_secs(seconds)), note))
    }
}

/// Reads a date as seconds since the epoch. The error is a message.
pub(super) fn seconds_of_date(text: &str, ctx: &Context<'_>, clock: &Date) -> Result<u64, String> {
    let invalid = |_| format!("Invalid date: '{text}'");
    let time = clock.parse_date(ctx.env.get("TZ"), text).map_err(invalid)?;
    Ok(u64::try_from(time.timestamp()).unwrap_or(0))
}

/// Returns the seconds of a time since the epoch.
pub(super) fn seconds(time: SystemTime) -> u64 {
    u64::try_from(nanos_of(time) / 1_000_000_000).unwrap_or(0)
}

impl MemberAttributes {
    /// Returns the mode of a member.
    pub(super) fn mode(&self, metadata: &Metadata) -> u32 {
        let mode = metadata.mode & 0o7777;
        self.mode.as_ref().map_or(mode, |change| change.apply(mode, metadata.file_type.is_dir(), 0))
    }

    /// Returns the time of a member in seconds since the epoch.
    pub(super) fn time(&self, metadata: &Metadata) -> u64 {
        seconds(self.time.unwrap_or(metadata.modified))
    }
}
