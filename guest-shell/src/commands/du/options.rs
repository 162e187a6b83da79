//! Options of `du`.

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

use super::size::{SizeScale, parse_block_size};

const SHORT: &str = "0aAbcd:DHhklmst:xB:LPSX:";

const LONG: [(&str, OptArg, char); 25] = [
    ("all", OptArg::No, 'a'),
    ("apparent-size", OptArg::No, 'A'),
    ("block-size", OptArg::Required, 'B'),
    ("bytes", OptArg::No, 'b'),
    ("count-links", OptArg::No, 'l'),
    ("dereference", OptArg::No, 'L'),
    ("dereference-args", OptArg::No, 'D'),
    ("exclude", OptArg::Required, 'e'),
    ("exclude-from", OptArg::Required, 'X'),
    ("files0-from", OptArg::Required, 'F'),
    ("human-readable", OptArg::No, 'h'),
    ("inodes", OptArg::No, 'i'),
    ("max-depth", OptArg::Required, 'd'),
    ("no-dereference", OptArg::No, 'P'),
    ("null", OptArg::No, '0'),
    ("one-file-system", OptArg::No, 'x'),
    ("separate-dirs", OptArg::No, 'S'),
    ("si", OptArg::No, 'I'),
    ("summarize", OptArg::No, 's'),
    ("threshold", OptArg::Required, 't'),
    ("time", OptArg::Optional, 'T'),
    ("time-style", OptArg::Required, 'Y'),
    ("total", OptArg::No, 'c'),
    ("help", OptArg::No, '?'),
    ("version", OptArg::No, '!'),
];

/// Quantity that is counted.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Measure {
    /// Blocks that contents take.
    Blocks,
    /// Lengths of the contents of files.
    Apparent,
    /// Number of files.
    Inodes,
}

/// Selection of the symbolic links that are followed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Following {
    None,
    Operands,
    All,
}

/// Options of one call.
pub(super) struct DuOptions {
    pub(super) all: bool,
    pub(super) total: bool,
    pub(super) separate: bool,
    pub(super) max_depth: Option<usize>,
    pub(super) measure: Measure,
    pub(super) scale: SizeScale,
    pub(super) following: Following,
    /// Sizes that are too small, or too large if negative, are not shown.
    pub(super) threshold: i64,
    pub(super) exclude: Vec<String>,
    pub(super) exclude_files: Vec<String>,
    pub(super) files_from: Option<String>,
    /// Format of dates, if they are shown.
    pub(super) time_format: Option<String>,
    pub(super) end: char,
    /// Message that goes before the output.
    pub(super) warning: String,
}

/// Message of a wrong call, with the line that mentions the help.
pub(super) fn usage_error(message: &str) -> ExecResult {
    ExecResult::err(format!("du: {message}\nTry 'du --help' for more information.\n"), 1)
}

impl DuOptions {
    /// Reads a command line: options and operands. The error is the result of a wrong call.
    pub(super) fn parse(words: &[String]) -> Result<(Self, Vec<String>), ExecResult> {
        // `-H` is `-D` since long; the key of `--si` is another one.
        let (given, operands) = gnu_getopt("du", words, SHORT, &LONG, true, 1)?;
        let mut options = Self {
            all: false,
            total: false,
            separate: false,
            max_depth: None,
            measure: Measure::Blocks,
            scale: SizeScale::Unit(1024, String::new()),
            following: Following::None,
            threshold: 0,
            exclude: Vec::new(),
            exclude_files: Vec::new(),
            files_from: None,
            time_format: None,
            end: '\n',
            warning: String::new(),
        };
        let (mut summarize, mut shows_time, mut style) = (false, false, None);
        for option in given {
            match option.key {
                's' => summarize = true,
                'T' => shows_time = check_time(option.value.as_deref())?,
                'Y' => style = option.value,
                _ => options.take(option)?,
            }
        }
        if shows_time {
            options.time_format = Some(time_format(style.as_deref().unwrap_or("long-iso"))?);
        }
        options.check_depth(summarize)?;
        match (&options.files_from, operands.first()) {
            (Some(_), Some(extra)) => Err(usage_error(&format!(
                "extra operand '{extra}'\nfile operands cannot be combined with --files0-from"
            ))),
            _ => Ok((options, operands)),
        }
    }

    fn take(&mut self, option: ParsedOpt) -> Result<(), ExecResult> {
        let value = option.value.unwrap_or_default();
        match option.key {
            '0' => self.end = '\0',
            'a' => self.all = true,
            'A' => self.measure = Measure::Apparent,
            'b' => (self.measure, self.scale) = (Measure::Apparent, SizeScale::Unit(1, String::new())),
            'B' => {
                let scale = SizeScale::parse(&value);
                self.scale = scale.ok_or_else(|| failure(&format!("invalid -B argument '{value}'")))?;
            }
            'c' => self.total = true,
            'd' => {
                let depth = value.parse().ok();
                let invalid = || usage_error(&format!("invalid maximum depth '{value}'"));
                self.max_depth = Some(depth.ok_or_else(invalid)?);
            }
            'D' | 'H' => self.following = Following::Operands,
            'e' => self.exclude.push(value),
            'F' => self.files_from = Some(value),
            'h' => self.scale = SizeScale::Human(1024),
            'i' => self.measure = Measure::Inodes,
            'I' => self.scale = SizeScale::Human(1000),
            'k' => self.scale = SizeScale::Unit(1024, String::new()),
            'L' => self.following = Following::All,
            'm' => self.scale = SizeScale::Unit(1 << 20, String::new()),
            'P' => self.following = Following::None,
            'S' => self.separate = true,
            't' => self.threshold = threshold(&value)?,
            'X' => self.exclude_files.push(value),
            // There is one file system, and no hard links to count once.
            _ => {}
        }
        Ok(())
    }

    fn check_depth(&mut self, summarize: bool) -> Result<(), ExecResult> {
        if !summarize {
            return Ok(());
        }
        if self.all {
            return Err(usage_error("cannot both summarize and show all entries"));
        }
        match self.max_depth {
            Some(0) => "du: warning: summarizing is the same as using --max-depth=0\n".clone_into(&mut self.warning),
            Some(depth) => {
                return Err(usage_error(&format!("warning: summarizing conflicts with --max-depth={depth}")));
            }
            None => {}
        }
        self.max_depth = Some(0);
        Ok(())
    }
}

fn failure(message: &str) -> ExecResult {
    ExecResult::err(format!("du: {message}\n"), 1)
}

/// Reads the least size, or with a sign the largest.
fn threshold(text: &str) -> Result<i64, ExecResult> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let size = if digits == "0" { Some(0) } else { parse_block_size(digits) };
    match size.and_then(|size| i64::try_from(size).ok()) {
        Some(0) if sign < 0 => Err(failure("invalid --threshold argument '-0'")),
        Some(size) => Ok(sign * size),
        None => Err(failure(&format!("invalid --threshold argument '{text}'"))),
    }
}

/// Checks which of a file's times is asked for: there is one.
fn check_time(word: Option<&str>) -> Result<bool, ExecResult> {
    match word {
        None | Some("atime" | "access" | "use" | "ctime" | "status") => Ok(true),
        Some(word) => Err(usage_error(&format!(
            "invalid argument '{word}' for '--time'\nValid arguments are:\n  - 'atime', 'access', 'use'\n  - 'ctime', 'status'"
        ))),
    }
}

fn time_format(style: &str) -> Result<String, ExecResult> {
    Ok(match style {
        "full-iso" => "%Y-%m-%d %H:%M:%S.%N %z".to_owned(),
        "long-iso" => "%Y-%m-%d %H:%M".to_owned(),
        "iso" => "%Y-%m-%d".to_owned(),
        style => match style.strip_prefix('+') {
            Some(format) => format.to_owned(),
            None => {
                return Err(usage_error(&format!(
                    "invalid argument '{style}' for 'time style'\nValid arguments are:\n  - 'full-iso'\n  - 'long-iso'\n  - 'iso'"
                )));
            }
        },
    })
}
