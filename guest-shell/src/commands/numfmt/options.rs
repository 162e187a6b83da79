//! Options of `numfmt`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::arg_parser::OptArg;
use num_bigint::BigInt;

use crate::commands::option_parser::{OptionWords, gnu_getopt, option_word};

/// Bytes of output of a call.
pub(super) const MAX_OUTPUT_BYTES: usize = 1_048_576;

pub(super) const MAX_PADDING_WIDTH: usize = MAX_OUTPUT_BYTES;
const MAX_FORMAT_PRECISION: usize = MAX_OUTPUT_BYTES;

/// Units of scaling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    None,
    Si,
    Iec,
    IecI,
    Auto,
}

/// Method of rounding (`--round`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RoundMode {
    FromZero,
    TowardsZero,
    Up,
    Down,
    Nearest,
}

/// Treatment of an invalid number (`--invalid`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Invalid {
    Abort,
    Fail,
    Warn,
    Ignore,
}

/// Parts of a format (`--format`).
#[derive(Debug, Default, PartialEq)]
pub(super) struct Format {
    pub(super) before: String,
    pub(super) after: String,
    pub(super) is_zero_filled: bool,
    is_grouped: bool,
    /// Width; a negative one aligns the text to the left.
    pub(super) width: i32,
    pub(super) precision: Option<usize>,
}

/// Options of a call.
pub(super) struct Options {
    pub(super) from: Scale,
    pub(super) to: Scale,
    pub(super) suffix: String,
    pub(super) padding: i32,
    pub(super) round: RoundMode,
    pub(super) format: Format,
    /// Ranges of the fields that are converted.
    pub(super) fields: Vec<(usize, usize)>,
    pub(super) delimiter: Option<String>,
    pub(super) invalid: Invalid,
    /// True if lines end in NUL.
    pub(super) zero_terminated: bool,
    /// Number of lines at the beginning that are copied unchanged.
    pub(super) header: usize,
    pub(super) from_unit: BigInt,
    pub(super) to_unit: BigInt,
    /// Warns of options without an effect (`--debug`).
    debug: bool,
    grouping: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            from: Scale::None,
            to: Scale::None,
            suffix: String::new(),
            padding: 0,
            round: RoundMode::FromZero,
            format: Format::default(),
            fields: vec![(1, 1)],
            delimiter: None,
            invalid: Invalid::Abort,
            zero_terminated: false,
            header: 0,
            from_unit: BigInt::from(1),
            to_unit: BigInt::from(1),
            debug: false,
            grouping: false,
        }
    }
}

/// Long options in GNU's order.
const LONG: [(&str, OptArg, char); 15] = [
    ("from", OptArg::Required, 'F'),
    ("from-unit", OptArg::Required, 'U'),
    ("to", OptArg::Required, 'T'),
    ("to-unit", OptArg::Required, 'V'),
    ("round", OptArg::Required, 'r'),
    ("padding", OptArg::Required, 'p'),
    ("suffix", OptArg::Required, 's'),
    ("grouping", OptArg::No, 'g'),
    ("delimiter", OptArg::Required, 'd'),
    ("field", OptArg::Required, 'f'),
    ("debug", OptArg::No, 'D'),
    ("header", OptArg::Optional, 'h'),
    ("format", OptArg::Required, 'm'),
    ("invalid", OptArg::Required, 'i'),
    ("zero-terminated", OptArg::No, 'z'),
];

/// Words of `--to`.
const OUTPUT_SCALES: [(&str, Scale); 4] =
    [("none", Scale::None), ("si", Scale::Si), ("iec", Scale::Iec), ("iec-i", Scale::IecI)];
/// Words of `--from`.
const INPUT_SCALES: [(&str, Scale); 5] =
    [("none", Scale::None), ("auto", Scale::Auto), ("si", Scale::Si), ("iec", Scale::Iec), ("iec-i", Scale::IecI)];
/// Words of `--round`.
const ROUND_MODES: [(&str, RoundMode); 5] = [
    ("up", RoundMode::Up),
    ("down", RoundMode::Down),
    ("from-zero", RoundMode::FromZero),
    ("towards-zero", RoundMode::TowardsZero),
    ("nearest", RoundMode::Nearest),
];
/// Words of `--invalid`.
const TREATMENTS: [(&str, Invalid); 4] =
    [("abort", Invalid::Abort), ("fail", Invalid::Fail), ("warn", Invalid::Warn), ("ignore", Invalid::Ignore)];

/// Parses the arguments of a call into options and operands. The error is a message.
pub(super) fn parse_options(arguments: &[String]) -> Result<(Options, Vec<String>), String> {
    let (given, operands) = gnu_getopt("numfmt", arguments, "d:z", &LONG, true, 1)
        .map_err(|refusal| refusal.stderr.text_lossy().into_owned())?;
    let mut options = Options::default();
    let mut has_format = false;
    for option in given {
        has_format |= option.key == 'm';
        options.set(option.key, option.value.as_deref())?;
    }
    if has_format && options.grouping {
        return Err("numfmt: --grouping cannot be combined with --format\n".to_owned());
    }
    // The C locale has no grouping.
    if (options.grouping || options.format.is_grouped) && options.to != Scale::None {
        return Err("numfmt: grouping cannot be combined with --to\n".to_owned());
    }
    Ok((options, operands))
}

impl Options {
    /// Sets an option to a value.
    fn set(&mut self, key: char, value: Option<&str>) -> Result<(), String> {
        let text = value.unwrap_or_default();
        match key {
            'F' => self.from = word_of("--from", text, &INPUT_SCALES)?,
            'T' => self.to = word_of("--to", text, &OUTPUT_SCALES)?,
            'U' => self.from_unit = parse_unit(text)?,
            'V' => self.to_unit = parse_unit(text)?,
            'r' => self.round = word_of("--round", text, &ROUND_MODES)?,
            'i' => self.invalid = word_of("--invalid", text, &TREATMENTS)?,
            'p' => self.padding = parse_padding(text)?,
            's' => self.suffix = text.to_owned(),
            'g' => self.grouping = true,
            'd' if bashkit::bytes_of(text).len() > 1 => {
                return Err("numfmt: the delimiter must be a single character\n".to_owned());
            }
            'd' => self.delimiter = Some(text.to_owned()),
            'f' => self.fields = parse_fields(text)?,
            'D' => self.debug = true,
            'h' if value.is_none() => self.header = 1,
            'h' => {
                let lines = text.parse().ok().filter(|lines| *lines > 0);
                self.header = lines.ok_or_else(|| format!("numfmt: invalid header value '{text}'\n"))?;
            }
            'm' => self.format = parse_format(text)?,
            _ => self.zero_terminated = true,
        }
        Ok(())
    }

    /// Returns the warnings of `--debug`.
    pub(super) fn warnings(&self, has_operands: bool) -> String {
        let mut warnings = String::new();
        if !self.debug {
            return warnings;
        }
        let is_grouped = self.grouping || self.format.is_grouped;
        if self.from == Scale::None
            && self.to == Scale::None
            && !is_grouped
            && self.padding == 0
            && self.format == Format::default()
        {
            warnings += "numfmt: no conversion option specified\n";
        }
        if is_grouped {
            warnings += "numfmt: grouping has no effect in this locale\n";
        }
        if has_operands && self.header > 0 {
            warnings += "numfmt: --header ignored with command-line input\n";
        }
        warnings
    }
}

/// Returns the meaning of the word of an option.
fn word_of<T: Copy + PartialEq>(option: &str, word: &str, words: &OptionWords<T>) -> Result<T, String> {
    option_word(option, word, words)
        .map_err(|message| format!("numfmt: {message}\nTry 'numfmt --help' for more information.\n"))
}

fn parse_padding(val: &str) -> Result<i32, String> {
    let padding: i32 = val
        .parse()
        .ok()
        .filter(|padding| *padding != 0)
        .ok_or_else(|| format!("numfmt: invalid padding value '{val}'\n"))?;
    if padding.unsigned_abs() as usize > MAX_PADDING_WIDTH {
        return Err(format!("numfmt: padding too large: '{val}'\n"));
    }
    Ok(padding)
}

/// Parses a unit such as `1000`, `1K` or `Ki`.
fn parse_unit(val: &str) -> Result<BigInt, String> {
    let digits = val.bytes().take_while(u8::is_ascii_digit).count();
    let number = if digits == 0 { Ok(1) } else { val[..digits].parse::<u64>() };
    let base = |base: u32, power: usize| BigInt::from(base).pow(u32::try_from(power).unwrap_or(u32::MAX));
    let multiplier = match &val[digits..] {
        "" if digits > 0 => Some(BigInt::from(1)),
        suffix => {
            let power = "KMGTPEZY".find(suffix.chars().next().unwrap_or(' ')).map(|at| at + 1);
            match (power, suffix.get(1..)) {
                (Some(power), Some("")) => Some(base(1000, power)),
                (Some(power), Some("i")) => Some(base(1024, power)),
                _ => None,
            }
        }
    };
    match (number, multiplier) {
        (Ok(number), Some(multiplier)) if number > 0 => Ok(multiplier * number),
        _ => Err(format!("numfmt: invalid unit size: '{val}'\n")),
    }
}

/// Parses the ranges of `--field`: `2`, `1,3`, `2-`, `-3` or `-`.
fn parse_fields(val: &str) -> Result<Vec<(usize, usize)>, String> {
    let bad = || format!("numfmt: invalid field value '{val}'\n");
    let number = |text: &str, open: usize| match text {
        "" => Ok(open),
        digits => digits.parse().ok().filter(|field| *field > 0).ok_or_else(bad),
    };
    let range = |part: &str| match part.split_once('-') {
        Some((from, to)) => Ok((number(from, 1)?, number(to, usize::MAX)?)),
        None if part.is_empty() => Err(bad()),
        None => number(part, 1).map(|field| (field, field)),
    };
    val.split(',').map(range).collect()
}

/// Parses a format, which must contain one `%f`.
pub(super) fn parse_format(val: &str) -> Result<Format, String> {
    let bad = || format!("numfmt: invalid format '{val}', directive must be %[0]['][-][N][.][N]f\n");
    let (before, rest) = val.split_once('%').ok_or_else(|| format!("numfmt: format '{val}' has no % directive\n"))?;
    let digits = rest.trim_start_matches(['0', '\'', ' ', '-']);
    let flags = &rest[..rest.len() - digits.len()];
    let (spec, after) = digits.split_once('f').ok_or_else(bad)?;
    let (width, precision) = spec.split_once('.').map_or((spec, None), |(width, precision)| (width, Some(precision)));
    let number = |text: &str| match text {
        "" => Ok(0),
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse::<usize>().map_err(|_| bad()),
        _ => Err(bad()),
    };
    let precision = precision.map(number).transpose()?;
    if precision.is_some_and(|digits| digits > MAX_FORMAT_PRECISION) {
        return Err(format!("numfmt: format precision too large: '{val}'\n"));
    }
    let width = number(width)?;
    let width = match i32::try_from(width) {
        Ok(width) if usize::try_from(width).is_ok_and(|width| width <= MAX_PADDING_WIDTH) => width,
        _ => return Err(format!("numfmt: padding too large: '{val}'\n")),
    };
    Ok(Format {
        before: before.to_string(),
        after: after.to_string(),
        is_zero_filled: flags.contains('0'),
        is_grouped: flags.contains('\''),
        width: if flags.contains('-') { -width } else { width },
        precision,
    })
}
