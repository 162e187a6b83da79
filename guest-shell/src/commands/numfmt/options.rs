//! Options of `numfmt`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::slice::Iter;

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
    pub(super) from_unit: f64,
    pub(super) to_unit: f64,
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
            from_unit: 1.0,
            to_unit: 1.0,
        }
    }
}

/// Parses the arguments of a call into options and operands. The error is a message.
pub(super) fn parse_options(arguments: &[String]) -> Result<(Options, Vec<String>), String> {
    let mut options = Options::default();
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            operands.extend(rest.cloned());
            break;
        }
        if let Some(long) = argument.strip_prefix("--") {
            options.long_option(long, &mut rest)?;
        } else if let Some(short) = argument.strip_prefix('-').filter(|short| !short.is_empty()) {
            options.short_option(short, &mut rest)?;
        } else {
            operands.push(argument.clone());
        }
    }
    Ok((options, operands))
}

impl Options {
    fn long_option(&mut self, long: &str, rest: &mut Iter<'_, String>) -> Result<(), String> {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        match (name, value) {
            // The C locale has no grouping.
            ("grouping", None) => {}
            ("zero-terminated", None) => self.zero_terminated = true,
            ("header", None) => self.header = 1,
            ("header" | "invalid" | "to-unit" | "from-unit", Some(value)) => self.set(name, value)?,
            ("to" | "from" | "suffix" | "padding" | "round" | "format" | "field" | "delimiter", _) => {
                let value = value.or_else(|| rest.next().map(String::as_str));
                self.set(name, value.ok_or_else(|| missing_argument(name))?)?;
            }
            _ => return Err(format!("numfmt: unrecognized option '--{long}'\n")),
        }
        Ok(())
    }

    fn short_option(&mut self, short: &str, rest: &mut Iter<'_, String>) -> Result<(), String> {
        match short.strip_prefix('d') {
            Some("") => {
                let delimiter = rest.next().ok_or_else(|| missing_argument("delimiter"))?;
                self.delimiter = Some(delimiter.clone());
            }
            Some(delimiter) => self.delimiter = Some(delimiter.to_string()),
            None if short == "z" => self.zero_terminated = true,
            None => return Err(format!("numfmt: invalid option -- '{short}'\n")),
        }
        Ok(())
    }

    /// Sets an option to a value, by name.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "to" => self.to = parse_scale(value)?,
            "from" => self.from = parse_scale(value)?,
            "suffix" => self.suffix = value.to_string(),
            "padding" => self.padding = parse_padding(value)?,
            "round" => self.round = parse_round(value)?,
            "format" => self.format = parse_format(value)?,
            "field" => self.fields = parse_fields(value)?,
            "invalid" => self.invalid = parse_invalid(value)?,
            "header" => {
                let lines = value.parse().ok().filter(|lines| *lines > 0);
                self.header = lines.ok_or_else(|| format!("numfmt: invalid header value '{value}'\n"))?;
            }
            "to-unit" => self.to_unit = parse_unit(value)?,
            "from-unit" => self.from_unit = parse_unit(value)?,
            _ => self.delimiter = Some(value.to_string()),
        }
        Ok(())
    }
}

fn missing_argument(name: &str) -> String {
    format!("numfmt: missing argument for --{name}\n")
}

fn parse_scale(scale: &str) -> Result<Scale, String> {
    match scale {
        "none" => Ok(Scale::None),
        "si" => Ok(Scale::Si),
        "iec" => Ok(Scale::Iec),
        "iec-i" => Ok(Scale::IecI),
        "auto" => Ok(Scale::Auto),
        _ => Err(format!("numfmt: invalid unit size: '{scale}'\n")),
    }
}

fn parse_round(mode: &str) -> Result<RoundMode, String> {
    match mode {
        "up" => Ok(RoundMode::Up),
        "down" => Ok(RoundMode::Down),
        "from-zero" => Ok(RoundMode::FromZero),
        "towards-zero" => Ok(RoundMode::TowardsZero),
        "nearest" => Ok(RoundMode::Nearest),
        _ => Err(format!("numfmt: invalid rounding mode: '{mode}'\n")),
    }
}

fn parse_invalid(treatment: &str) -> Result<Invalid, String> {
    match treatment {
        "abort" => Ok(Invalid::Abort),
        "fail" => Ok(Invalid::Fail),
        "warn" => Ok(Invalid::Warn),
        "ignore" => Ok(Invalid::Ignore),
        _ => Err(format!("numfmt: invalid argument '{treatment}' for '--invalid'\n")),
    }
}

fn parse_padding(val: &str) -> Result<i32, String> {
    let padding: i32 = val.parse().map_err(|_| format!("numfmt: invalid padding value: '{val}'\n"))?;
    if padding.unsigned_abs() as usize > MAX_PADDING_WIDTH {
        return Err(format!("numfmt: padding too large: '{val}'\n"));
    }
    Ok(padding)
}

/// Parses a unit such as `1000`, `1K` or `Ki`.
fn parse_unit(val: &str) -> Result<f64, String> {
    let digits = val.bytes().take_while(u8::is_ascii_digit).count();
    let number = if digits == 0 { Ok(1) } else { val[..digits].parse::<u64>() };
    let multiplier = match &val[digits..] {
        "" if digits > 0 => Some(1.0),
        suffix => {
            let power = "KMGTPEZY".find(suffix.chars().next().unwrap_or(' ')).map(|at| at as i32 + 1);
            match (power, suffix.get(1..)) {
                (Some(power), Some("")) => Some(1000f64.powi(power)),
                (Some(power), Some("i")) => Some(1024f64.powi(power)),
                _ => None,
            }
        }
    };
    match (number, multiplier) {
        (Ok(number), Some(multiplier)) if number > 0 => Ok(number as f64 * multiplier),
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
        width: if flags.contains('-') { -width } else { width },
        precision,
    })
}
