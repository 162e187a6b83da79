//! Diagnostics on standard error, as the variable `TOLLHOUSE_LOG` asks for them.

use std::env;
use std::io::{self, Write};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::time;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::terminal_escape::escape_hidden;
use crate::{CliError, Result, stdio};

const VARIABLE: &str = "TOLLHOUSE_LOG";

/// Prefix of the targets of Tollhouse's own diagnostics.
const OWN_TARGETS: &str = "tollhouse";

/// Starts to write diagnostics, if the variable is set: to a level (`debug`), which is that of Tollhouse itself, or to
/// levels of targets (`tollhouse::call=debug,tollhouse::store=trace`).
///
/// # Errors
///
/// If the value is neither.
pub(crate) fn start() -> Result<()> {
    let Some(value) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) else { return Ok(()) };
    let value = value.to_string_lossy();
    let targets = match value.parse::<LevelFilter>() {
        Ok(level) => Targets::new().with_target(OWN_TARGETS, level),
        Err(_) => value.parse::<Targets>().map_err(|error| {
            CliError::usage(format!("`{VARIABLE}={value}`: {error}")).hint(format!(
                "such as `{VARIABLE}=debug`, or `{VARIABLE}=tollhouse::call=debug,tollhouse::store=trace`"
            ))
        })?,
    };
    let lines =
        tracing_subscriber::fmt::layer().with_ansi(false).with_timer(time::uptime()).with_writer(|| EscapedStderr);
    // A program that embeds the command line, such as Python's, may have a subscriber already; it stays.
    let _ = tracing_subscriber::registry().with(lines).with(targets).try_init();
    Ok(())
}

/// Standard error for lines that may quote untrusted names.
struct EscapedStderr;

impl Write for EscapedStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        stdio::write_err(escape_hidden(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
