//! Command-line options of `touch`. Errors are messages.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::ExecResult;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::time_compat::SystemTime;

use super::stamp::parse_stamp;
use crate::commands::option_parser::gnu_getopt;

/// Key of the option `--time`, which has no letter.
const TIME: char = 'T';

const LONG: [(&str, OptArg, char); 5] = [
    ("date", OptArg::Required, 'd'),
    ("no-create", OptArg::No, 'c'),
    ("no-dereference", OptArg::No, 'h'),
    ("reference", OptArg::Required, 'r'),
    ("time", OptArg::Required, TIME),
];

/// Command-line options of one call.
#[derive(Debug, Default)]
pub(super) struct TouchOptions {
    pub(super) files: Vec<String>,
    /// Time of the last `-d` or `-t`.
    pub(super) time: Option<SystemTime>,
    /// True if there is a `-d`.
    pub(super) is_dated: bool,
    /// True if there is a `-t`.
    is_stamped: bool,
    /// File whose time is used.
    pub(super) reference: Option<String>,
    /// True if missing files are skipped.
    pub(super) no_create: bool,
    /// True if the command applies to links themselves.
    pub(super) no_dereference: bool,
    /// True if `-a` selects the time of access.
    access: bool,
    /// True if `-m` selects the time of modification.
    modification: bool,
}

impl TouchOptions {
    /// Parses a command line. `read_date` parses dates. The error is the result of the command.
    pub(super) fn parse(
        words: &[String],
        read_date: &dyn Fn(&str) -> Option<SystemTime>,
    ) -> Result<Self, Box<ExecResult>> {
        let (given, files) = gnu_getopt("touch", words, "acd:fhmr:t:", &LONG, true, 1)?;
        let mut options = Self { files, ..Self::default() };
        for option in given {
            options
                .take(option.key, option.value.unwrap_or_default(), read_date)
                .map_err(|message| failure(&message))?;
        }
        if options.is_stamped && (options.is_dated || options.reference.is_some()) {
            return Err(usage("cannot specify times from more than one source").into());
        }
        Ok(options)
    }

    /// Returns true if the time of modification is set, which it is unless only `-a` is given.
    pub(super) fn sets_modification(&self) -> bool {
        self.modification || !self.access
    }

    fn take(&mut self, key: char, value: String, read_date: &dyn Fn(&str) -> Option<SystemTime>) -> Result<(), String> {
        match key {
            'a' => self.access = true,
            'm' => self.modification = true,
            'h' => self.no_dereference = true,
            'c' => self.no_create = true,
            'd' => self.take_date(&value, read_date)?,
            'r' => self.reference = Some(value),
            't' => {
                self.time = Some(parse_stamp(&value).ok_or_else(|| invalid_date(&value))?);
                self.is_stamped = true;
            }
            TIME => match value.as_str() {
                "access" | "atime" | "use" => self.access = true,
                "modify" | "mtime" => self.modification = true,
                word => {
                    return Err(format!(
                        "invalid argument '{word}' for '--time'\nValid arguments are:\n  - 'atime', 'access', 'use'\n  \
                         - 'mtime', 'modify'\nTry 'touch --help' for more information."
                    ));
                }
            },
            _ => {}
        }
        Ok(())
    }

    fn take_date(&mut self, text: &str, read_date: &dyn Fn(&str) -> Option<SystemTime>) -> Result<(), String> {
        self.time = Some(read_date(text).ok_or_else(|| invalid_date(text))?);
        self.is_dated = true;
        Ok(())
    }
}

/// Returns the result for a mistake of the command line, with the hint about `--help`.
pub(super) fn usage(message: &str) -> ExecResult {
    failure(&format!("{message}\nTry 'touch --help' for more information."))
}

/// Returns the result of a call that fails.
pub(super) fn failure(message: &str) -> ExecResult {
    ExecResult::err(format!("touch: {message}\n"), 1)
}

fn invalid_date(text: &str) -> String {
    format!("invalid date format '{text}'")
}
