//! Options of `date`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

/// Format of the output if none is given.
const DEFAULT_FORMAT: &str = "%a %b %e %H:%M:%S %Z %Y";

const RFC_EMAIL_FORMAT: &str = "%a, %d %b %Y %H:%M:%S %z";

/// Precisions of `--iso-8601` and their formats.
const ISO_8601_FORMATS: [(&str, &str); 5] = [
    ("hours", "%Y-%m-%dT%H%:z"),
    ("minutes", "%Y-%m-%dT%H:%M%:z"),
    ("date", "%Y-%m-%d"),
    ("seconds", "%Y-%m-%dT%H:%M:%S%:z"),
    ("ns", "%Y-%m-%dT%H:%M:%S,%N%:z"),
];

/// Precisions of `--rfc-3339` and their formats.
const RFC_3339_FORMATS: [(&str, &str); 3] =
    [("date", "%Y-%m-%d"), ("seconds", "%Y-%m-%d %H:%M:%S%:z"), ("ns", "%Y-%m-%d %H:%M:%S.%N%:z")];

const LONG: [(&str, OptArg, char); 12] = [
    ("date", OptArg::Required, 'd'),
    ("debug", OptArg::No, 'D'),
    ("file", OptArg::Required, 'f'),
    ("iso-8601", OptArg::Optional, 'I'),
    ("reference", OptArg::Required, 'r'),
    ("rfc-2822", OptArg::No, 'R'),
    ("rfc-3339", OptArg::Required, '3'),
    ("rfc-email", OptArg::No, 'R'),
    ("set", OptArg::Required, 's'),
    ("uct", OptArg::No, 'u'),
    ("universal", OptArg::No, 'u'),
    ("utc", OptArg::No, 'u'),
];

pub(super) const CANNOT_SET: &str = "date: cannot set date: Operation not permitted\n";

/// Source of the dates to print.
#[derive(Debug)]
pub(super) enum DateSource {
    Now,
    /// Text that `-d` or `-s` gives.
    Text(String),
    /// File whose time of modification is printed.
    Reference(String),
    /// File with texts as for `-d`, one per line.
    Lines(String),
}

/// Options of one call.
#[derive(Debug)]
pub(super) struct DateOptions {
    pub(super) utc: bool,
    pub(super) format: String,
    pub(super) source: DateSource,
    /// The date is to become that of the system, which is refused once it was printed.
    pub(super) sets: bool,
}

/// Options as they are given.
#[derive(Default)]
struct GivenOptions {
    utc: bool,
    formats: Vec<String>,
    text: Option<String>,
    lines: Option<String>,
    reference: Option<String>,
    sets: bool,
}

impl DateOptions {
    /// Reads a command line. The error is the result of a wrong call.
    pub(super) fn parse(words: &[String]) -> Result<Self, ExecResult> {
        let (parsed, operands) = gnu_getopt("date", words, "d:f:r:s:uRI::", &LONG, true, 1)?;
        let mut given = GivenOptions::default();
        for option in parsed {
            given.take(option)?;
        }
        given.finish(&operands)
    }
}

impl GivenOptions {
    fn take(&mut self, option: ParsedOpt) -> Result<(), ExecResult> {
        let is_bare = option.value.is_none();
        let value = option.value.unwrap_or_default();
        match option.key {
            'd' => self.text = Some(value),
            'f' => self.lines = Some(value),
            'r' => self.reference = Some(value),
            // The clock of the sandbox cannot be set.
            's' => (self.text, self.sets) = (Some(value), true),
            'u' => self.utc = true,
            'R' => self.formats.push(RFC_EMAIL_FORMAT.to_owned()),
            '3' => self.formats.push(format_of_precision("--rfc-3339", &RFC_3339_FORMATS, &value)?),
            'I' if is_bare => self.formats.push("%Y-%m-%d".to_owned()),
            'I' => self.formats.push(format_of_precision("--iso-8601", &ISO_8601_FORMATS, &value)?),
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self, operands: &[String]) -> Result<DateOptions, ExecResult> {
        let source = match (self.text.take(), self.lines.take(), self.reference.take()) {
            (None, None, None) => DateSource::Now,
            (Some(text), None, None) => DateSource::Text(text),
            (None, Some(file), None) => DateSource::Lines(file),
            (None, None, Some(file)) => DateSource::Reference(file),
            _ => return Err(usage_error("the options to specify dates for printing are mutually exclusive")),
        };
        if let Some(extra) = operands.get(1) {
            return Err(usage_error(&format!("extra operand '{extra}'")));
        }
        if let Some(operand) = operands.first() {
            match operand.strip_prefix('+') {
                Some(format) => self.formats.push(format.to_owned()),
                None if matches!(source, DateSource::Now) && self.formats.is_empty() => {
                    return Err(ExecResult::err(refused_date(operand), 1));
                }
                None => {
                    return Err(usage_error(&format!(
                        "the argument '{operand}' lacks a leading '+';\n\
                         when using an option to specify date(s), any non-option\n\
                         argument must be a format string beginning with '+'"
                    )));
                }
            }
        }
        if self.formats.len() > 1 {
            return Err(ExecResult::err("date: multiple output formats specified\n", 1));
        }
        let format = self.formats.pop().unwrap_or_else(|| DEFAULT_FORMAT.to_owned());
        Ok(DateOptions { utc: self.utc, format, source, sets: self.sets })
    }
}

/// Returns the message about an attempt to set the date, whose operand has digits.
fn refused_date(operand: &str) -> String {
    match !operand.is_empty() && operand.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        true => CANNOT_SET.to_owned(),
        false => format!("date: invalid date '{operand}'\n"),
    }
}

/// Returns the format of a precision, which may be abbreviated.
fn format_of_precision(option: &str, formats: &[(&str, &str)], precision: &str) -> Result<String, ExecResult> {
    let mut found = formats.iter().filter(|(name, _)| name.starts_with(precision));
    let kind = match (found.next(), found.next()) {
        (Some((_, format)), None) => return Ok((*format).to_owned()),
        (Some(_), Some(_)) => "ambiguous",
        (None, _) => "invalid",
    };
    let names: Vec<String> = formats.iter().map(|(name, _)| format!("  - '{name}'")).collect();
    let names = names.join("\n");
    Err(usage_error(&format!("{kind} argument '{precision}' for '{option}'\nValid arguments are:\n{names}")))
}

fn usage_error(message: &str) -> ExecResult {
    ExecResult::err(format!("date: {message}\nTry 'date --help' for more information.\n"), 1)
}
