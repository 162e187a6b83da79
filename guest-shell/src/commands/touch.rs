//! `touch`: creates files and sets their times.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).
//
// THREAT[TM-INF-018]: timezone-naive `touch -t` stamps are UTC; host-local
// conversion would leak process timezone through a later `date -r`.

use bashkit::builtins::{Builtin, Context, resolve_path};
use bashkit::time_compat::SystemTime;
use bashkit::{ExecResult, Result, async_trait};
use chrono::{DateTime, Datelike, NaiveDate, Utc};

/// The touch builtin - change file timestamps or create empty files.
///
/// Usage: touch FILE...
#[derive(Default)]
pub(crate) struct Touch {
    clock: crate::commands::date::Date,
}

impl Touch {
    /// Touch builtin parsing `-d` dates against `clock` (shared with `date`).
    pub(crate) fn with_clock(clock: crate::commands::date::Date) -> Self {
        Self { clock }
    }
}

fn parse_touch_timestamp(raw: &str) -> std::result::Result<SystemTime, String> {
    let (main, seconds) = match raw.split_once('.') {
        Some((main, seconds)) => {
            if seconds.len() != 2 || !seconds.chars().all(|ch| ch.is_ascii_digit()) {
                return Err(format!("touch: invalid date format '{}'\n", raw));
            }
            let seconds = seconds.parse::<u32>().map_err(|_| format!("touch: invalid date format '{}'\n", raw))?;
            (main, seconds)
        }
        None => (raw, 0),
    };

    if !main.chars().all(|ch| ch.is_ascii_digit()) {
        return Err(format!("touch: invalid date format '{}'\n", raw));
    }

    let year = match main.len() {
        8 => bashkit::time_compat::now_utc().year(),
        10 => {
            let yy = main[0..2].parse::<i32>().map_err(|_| format!("touch: invalid date format '{}'\n", raw))?;
            if yy >= 69 { 1900 + yy } else { 2000 + yy }
        }
        12 => main[0..4].parse::<i32>().map_err(|_| format!("touch: invalid date format '{}'\n", raw))?,
        _ => return Err(format!("touch: invalid date format '{}'\n", raw)),
    };

    let offset = main.len() - 8;
    let month =
        main[offset..offset + 2].parse::<u32>().map_err(|_| format!("touch: invalid date format '{}'\n", raw))?;
    let day =
        main[offset + 2..offset + 4].parse::<u32>().map_err(|_| format!("touch: invalid date format '{}'\n", raw))?;
    let hour =
        main[offset + 4..offset + 6].parse::<u32>().map_err(|_| format!("touch: invalid date format '{}'\n", raw))?;
    let minute =
        main[offset + 6..offset + 8].parse::<u32>().map_err(|_| format!("touch: invalid date format '{}'\n", raw))?;

    let naive = NaiveDate::from_ymd_opt(year, month, day)
        .and_then(|date| date.and_hms_opt(hour, minute, seconds))
        .ok_or_else(|| format!("touch: invalid date format '{}'\n", raw))?;

    let utc = DateTime::<Utc>::from_naive_utc_and_offset(naive, Utc);
    Ok(bashkit::time_compat::from_chrono(utc))
}

const TOUCH_HELP: &str = "Usage: touch [OPTION]... FILE...\nUpdate the access and modification times of each FILE to the current time.\nA FILE argument that does not exist is created empty, unless -c is supplied.\n\n  -a\t\t\tchange only the access time (same as -m: the VFS keeps one timestamp)\n  -c, --no-create\tdo not create any files\n  -d, --date=STRING\tparse STRING and use it instead of current time\n  -f\t\t\t(ignored)\n  -h, --no-dereference\taffect each symbolic link instead of any referenced file\n  -m\t\t\tchange only the modification time\n  -r, --reference=FILE\tuse this file's times instead of current time\n  -t STAMP\t\tuse [[CC]YY]MMDDhhmm[.ss] instead of current time\n      --time=WORD\tchange the specified time (accepted)\n      --help\tdisplay this help and exit\n      --version\toutput version information and exit\n";

#[async_trait]
impl Builtin for Touch {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(ctx.args, TOUCH_HELP, Some("touch (bashkit) 0.1")) {
            return Ok(r);
        }

        let fail = |msg: String| Ok(ExecResult::err(msg, 1));
        let mut files = Vec::new();
        let mut target_time = SystemTime::now();
        let mut no_create = false;
        let mut reference: Option<String> = None;
        // The VFS keeps the time of modification alone: `-a` leaves it as it is.
        let (mut access, mut modification, mut no_deref) = (false, false, false);
        let (mut dated, mut stamped) = (false, false);
        let mut args = ctx.args.iter();
        while let Some(arg) = args.next() {
            let a = arg.as_str();
            if a == "--" {
                files.extend(args.by_ref());
                break;
            }
            if !a.starts_with('-') || a == "-" {
                files.push(arg);
                continue;
            }
            if let Some(long) = a.strip_prefix("--") {
                let (key, inline) = match long.split_once('=') {
                    Some((k, v)) => (k, Some(v.to_string())),
                    None => (long, None),
                };
                let mut value = || inline.clone().or_else(|| args.next().cloned());
                match key {
                    "no-create" => no_create = true,
                    "no-dereference" => no_deref = true,
                    "time" => match value().unwrap_or_default().as_str() {
                        "access" | "atime" | "use" => access = true,
                        "modify" | "mtime" => modification = true,
                        word => return fail(format!("touch: invalid argument '{word}' for '--time'\n")),
                    },
                    "date" => {
                        let Some(v) = value() else {
                            return fail("touch: option '--date' requires an argument\n".into());
                        };
                        dated = true;
                        match self.clock.parse_date(ctx.env.get("TZ"), &v) {
                            Ok(dt) => target_time = bashkit::time_compat::from_chrono(dt),
                            Err(_) => return fail(format!("touch: invalid date format '{v}'\n")),
                        }
                    }
                    "reference" => reference = value(),
                    _ => return fail(format!("touch: unrecognized option '{a}'\n")),
                }
                continue;
            }
            let chars: Vec<char> = a[1..].chars().collect();
            for (idx, c) in chars.iter().enumerate() {
                let rest: String = chars[idx + 1..].iter().collect();
                let mut value = || {
                    if rest.is_empty() { args.next().cloned() } else { Some(rest.clone()) }
                };
                match c {
                    'f' => continue,
                    'a' => {
                        access = true;
                        continue;
                    }
                    'm' => {
                        modification = true;
                        continue;
                    }
                    'h' => {
                        no_deref = true;
                        continue;
                    }
                    'c' => {
                        no_create = true;
                        continue;
                    }
                    'd' => {
                        let Some(v) = value() else {
                            return fail("touch: option requires an argument -- 'd'\n".into());
                        };
                        dated = true;
                        match self.clock.parse_date(ctx.env.get("TZ"), &v) {
                            Ok(dt) => target_time = bashkit::time_compat::from_chrono(dt),
                            Err(_) => return fail(format!("touch: invalid date format '{v}'\n")),
                        }
                    }
                    't' => {
                        let Some(v) = value() else {
                            return fail("touch: option requires an argument -- 't'\n".into());
                        };
                        stamped = true;
                        match parse_touch_timestamp(&v) {
                            Ok(parsed) => target_time = parsed,
                            Err(err) => return fail(err),
                        }
                    }
                    'r' => {
                        let Some(v) = value() else {
                            return fail("touch: option requires an argument -- 'r'\n".into());
                        };
                        reference = Some(v);
                    }
                    other => return fail(format!("touch: invalid option -- '{other}'\n")),
                }
                break;
            }
        }

        if stamped && (dated || reference.is_some()) {
            return fail(
                "touch: cannot specify times from more than one source\n\
                 Try 'touch --help' for more information.\n"
                    .to_string(),
            );
        }
        if let Some(r) = reference {
            match ctx.fs.stat(&resolve_path(ctx.cwd, &r)).await {
                // With a date, too, that is counted from the reference's time: one that
                // names its day, as nearly all do, is the same.
                Ok(_) if dated => {}
                Ok(meta) => target_time = meta.modified,
                Err(_) => {
                    return fail(format!("touch: failed to get attributes of '{r}': No such file or directory\n"));
                }
            }
        }

        if files.is_empty() {
            return fail("touch: missing file operand\n".to_string());
        }

        let mut stderr = String::new();
        for file in files {
            let path = resolve_path(ctx.cwd, file);
            let found = ctx.fs.stat(&path).await;
            let is_link =
                no_deref && !file.ends_with('/') && ctx.fs.lstat(&path).await.is_ok_and(|m| m.file_type.is_symlink());
            let mut setting = |reason: &str| {
                stderr.push_str(&format!("touch: setting times of '{file}': {reason}\n"));
            };
            match found {
                _ if is_link && access && !modification => continue,
                _ if is_link => {
                    // The VFS sets the time of what a link leads to, which is not meant.
                    setting("Operation not supported");
                    continue;
                }
                Ok(meta) if file.ends_with('/') && !meta.file_type.is_dir() => {
                    setting("Not a directory");
                    continue;
                }
                Ok(_) => {}
                Err(_) if no_create => continue,
                Err(_) if no_deref || file.ends_with('/') => {
                    setting("No such file or directory");
                    continue;
                }
                Err(_) => {
                    if let Err(e) = ctx.fs.write_file(&path, &[]).await {
                        let reason = bashkit::error::io_error_reason(&e);
                        stderr.push_str(&format!("touch: cannot touch '{file}': {reason}\n"));
                        continue;
                    }
                }
            }
            if access && !modification {
                continue;
            }
            if let Err(e) = ctx.fs.set_modified_time(&path, target_time).await {
                setting(&bashkit::error::io_error_reason(&e));
            }
        }

        Ok(ExecResult { exit_code: i32::from(!stderr.is_empty()), stderr: stderr.into(), ..Default::default() })
    }
}
