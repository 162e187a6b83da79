//! numfmt builtin - convert numbers to/from human-readable format
//!
//! Supports --to=si/iec/iec-i, --from=si/iec/auto, --suffix, --padding,
//! --round, --format, --field, --delimiter, --invalid, --zero-terminated.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;
use bashkit::builtins::limits::{NUMFMT_MAX_OUTPUT_BYTES as MAX_OUTPUT_BYTES, cap_exceeded};

const MAX_PADDING_WIDTH: usize = MAX_OUTPUT_BYTES;
const MAX_FORMAT_PRECISION: usize = MAX_OUTPUT_BYTES;

pub(crate) struct Numfmt;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    None,
    Si,
    Iec,
    IecI,
    Auto,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum RoundMode {
    FromZero,
    TowardsZero,
    Up,
    Down,
    Nearest,
}

/// Treatment of a number that is none (`--invalid`).
#[derive(Debug, Clone, Copy, PartialEq)]
enum Invalid {
    Abort,
    Fail,
    Warn,
    Ignore,
}

/// The parts of `--format`.
#[derive(Debug, Default, PartialEq)]
struct Format {
    before: String,
    after: String,
    is_zero_filled: bool,
    /// Width, below 0 to the left.
    width: i32,
    precision: Option<usize>,
}

struct Options {
    from: Scale,
    to: Scale,
    suffix: String,
    padding: i32,
    round: RoundMode,
    format: Format,
    /// Ranges of the fields that are converted.
    fields: Vec<(usize, usize)>,
    delimiter: Option<String>,
    invalid: Invalid,
    /// Lines end in NUL.
    zero_terminated: bool,
    /// Lines at the beginning that are printed as they are.
    header: usize,
    from_unit: f64,
    to_unit: f64,
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

fn parse_scale(s: &str) -> std::result::Result<Scale, String> {
    match s {
        "none" => Ok(Scale::None),
        "si" => Ok(Scale::Si),
        "iec" => Ok(Scale::Iec),
        "iec-i" => Ok(Scale::IecI),
        "auto" => Ok(Scale::Auto),
        _ => Err(format!("numfmt: invalid unit size: '{}'\n", s)),
    }
}

fn parse_round(s: &str) -> std::result::Result<RoundMode, String> {
    match s {
        "up" => Ok(RoundMode::Up),
        "down" => Ok(RoundMode::Down),
        "from-zero" => Ok(RoundMode::FromZero),
        "towards-zero" => Ok(RoundMode::TowardsZero),
        "nearest" => Ok(RoundMode::Nearest),
        _ => Err(format!("numfmt: invalid rounding mode: '{}'\n", s)),
    }
}

/// Suffixes of SI units: K=1000, M=1e6, G=1e9, T=1e12, P=1e15, E=1e18
const SI_SUFFIXES: &[(char, f64)] = &[('K', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12), ('P', 1e15), ('E', 1e18)];

/// Suffixes of IEC units: K=1024, M=1024^2, G=1024^3, ...
const IEC_SUFFIXES: &[(char, f64)] = &[
    ('K', 1024.0),
    ('M', 1_048_576.0),
    ('G', 1_073_741_824.0),
    ('T', 1_099_511_627_776.0),
    ('P', 1_125_899_906_842_624.0),
    ('E', 1_152_921_504_606_846_976.0),
];

fn round_value(val: f64, mode: RoundMode) -> f64 {
    match mode {
        RoundMode::Up => val.ceil(),
        RoundMode::Down => val.floor(),
        RoundMode::FromZero => {
            if val >= 0.0 {
                val.ceil()
            } else {
                val.floor()
            }
        }
        RoundMode::TowardsZero => {
            if val >= 0.0 {
                val.floor()
            } else {
                val.ceil()
            }
        }
        RoundMode::Nearest => val.round(),
    }
}

/// Parse an input number, possibly with a suffix (from --from mode).
fn parse_number(input: &str, from: Scale) -> std::result::Result<f64, String> {
    let s = input.trim();
    if s.is_empty() {
        return Err(format!("numfmt: invalid number: '{}'\n", input.trim_end()));
    }

    match from {
        Scale::None => s.parse::<f64>().map_err(|_| format!("numfmt: invalid number: '{}'\n", s)),
        Scale::Si | Scale::Iec | Scale::IecI | Scale::Auto => {
            // Try to split trailing suffix
            let (num_part, suffix) = split_suffix(s);
            let base: f64 = num_part.parse().map_err(|_| format!("numfmt: invalid number: '{}'\n", s))?;

            if suffix.is_empty() {
                return Ok(base);
            }

            let suffix_upper = suffix.to_ascii_uppercase();
            let Some(first_char) = suffix_upper.chars().next() else {
                return Err(format!("numfmt: invalid suffix in input: '{}'\n", s));
            };

            // Auto: if suffix ends with 'i' (like Ki, Mi), use IEC; otherwise SI
            let use_iec = match from {
                Scale::Iec | Scale::IecI => true,
                Scale::Auto => suffix_upper.ends_with('I') && suffix_upper.len() >= 2,
                _ => false,
            };

            let table = if use_iec { IEC_SUFFIXES } else { SI_SUFFIXES };

            for &(c, factor) in table {
                if first_char == c {
                    return Ok(base * factor);
                }
            }

            Err(format!("numfmt: invalid suffix in input: '{}'\n", s))
        }
    }
}

fn split_suffix(s: &str) -> (&str, &str) {
    // Find where the numeric part ends
    let end = s.rfind(|c: char| c.is_ascii_digit() || c == '.').map(|i| i + 1).unwrap_or(0);
    (&s[..end], &s[end..])
}

/// Formats a number with `precision` digits as `--to` and `--format` say.
fn format_number(mut val: f64, precision: usize, opts: &Options) -> String {
    let (table, base) = match opts.to {
        Scale::None | Scale::Auto => {
            let places = opts.format.precision.unwrap_or(precision);
            let text = bashkit::builtins::helpers::with_places(rounded(val, places, opts.round), places);
            return zero_filled(text, &opts.format);
        }
        Scale::Si => (SI_SUFFIXES, 1000.0),
        Scale::Iec | Scale::IecI => (IEC_SUFFIXES, 1024.0),
    };
    let mut power = table.iter().take_while(|(_, factor)| val.abs() >= *factor).count();
    if power > 0 {
        val /= table[power - 1].1;
    }
    // As GNU's `double_to_human`: one digit behind the point below 10.
    let places = match opts.format.precision {
        Some(places) => places.min(power * 3),
        None => usize::from(val.abs() < 10.0),
    };
    val = rounded(val, places, opts.round);
    if val.abs() >= base && power < table.len() {
        val /= base;
        power += 1;
    }
    let shows_point = val != 0.0 && val.abs() < 10.0 && power > 0;
    let places = opts.format.precision.unwrap_or(usize::from(shows_point));
    let mut text = bashkit::builtins::helpers::with_places(val, places);
    if power > 0 {
        text.push(table[power - 1].0);
        if opts.to == Scale::IecI {
            text.push('i');
        }
    }
    zero_filled(text, &opts.format)
}

/// A value rounded behind `places` digits.
fn rounded(val: f64, places: usize, mode: RoundMode) -> f64 {
    let factor = i32::try_from(places).map_or(f64::INFINITY, |places| 10f64.powi(places));
    let shifted = val * factor;
    // Nothing is left to round behind the digits that the number has.
    if shifted.abs() < 9e15 { round_value(shifted, mode) / factor } else { val }
}

/// The digits with the zeros of `%08f` before them.
fn zero_filled(text: String, format: &Format) -> String {
    match usize::try_from(format.width) {
        Ok(width) if format.is_zero_filled && text.len() < width => {
            let sign = usize::from(text.starts_with('-'));
            format!("{}{}{}", &text[..sign], "0".repeat(width - text.len()), &text[sign..])
        }
        _ => text,
    }
}

fn apply_padding(s: &str, padding: i32) -> String {
    let width = padding.unsigned_abs() as usize;
    if width > MAX_PADDING_WIDTH {
        return s.to_string();
    }
    if width <= s.len() {
        return s.to_string();
    }
    if padding > 0 {
        // Right-align (pad with spaces on left)
        bashkit::builtins::helpers::filled(s, width, ' ')
    } else {
        // Left-align (pad with spaces on right)
        bashkit::builtins::helpers::filled_behind(s, width, ' ')
    }
}

fn parse_padding(val: &str) -> std::result::Result<i32, String> {
    let padding: i32 = val.parse().map_err(|_| format!("numfmt: invalid padding value: '{}'\n", val))?;
    if padding.unsigned_abs() as usize > MAX_PADDING_WIDTH {
        return Err(format!("numfmt: padding too large: '{}'\n", val));
    }
    Ok(padding)
}

fn parse_options(args: &[String]) -> std::result::Result<(Options, Vec<String>), String> {
    let mut opts = Options::default();
    let mut operands = Vec::new();
    let mut i = 0;

    while i < args.len() {
        let arg = &args[i];
        if arg == "--" {
            operands.extend(args[i + 1..].iter().cloned());
            break;
        } else if let Some(val) = arg.strip_prefix("--to=") {
            opts.to = parse_scale(val)?;
        } else if arg == "--to" {
            i += 1;
            if i >= args.len() {
                return Err("numfmt: missing argument for --to\n".to_string());
            }
            opts.to = parse_scale(&args[i])?;
        } else if let Some(val) = arg.strip_prefix("--from=") {
            opts.from = parse_scale(val)?;
        } else if arg == "--from" {
            i += 1;
            if i >= args.len() {
                return Err("numfmt: missing argument for --from\n".to_string());
            }
            opts.from = parse_scale(&args[i])?;
        } else if let Some(val) = arg.strip_prefix("--suffix=") {
            opts.suffix = val.to_string();
        } else if arg == "--suffix" {
            i += 1;
            if i >= args.len() {
                return Err("numfmt: missing argument for --suffix\n".to_string());
            }
            opts.suffix = args[i].clone();
        } else if arg == "--grouping" {
            // The locale is C's, which groups nothing.
        } else if let Some(val) = arg.strip_prefix("--padding=") {
            opts.padding = parse_padding(val)?;
        } else if arg == "--padding" {
            i += 1;
            if i >= args.len() {
                return Err("numfmt: missing argument for --padding\n".to_string());
            }
            opts.padding = parse_padding(&args[i])?;
        } else if let Some(val) = arg.strip_prefix("--round=") {
            opts.round = parse_round(val)?;
        } else if arg == "--round" {
            i += 1;
            if i >= args.len() {
                return Err("numfmt: missing argument for --round\n".to_string());
            }
            opts.round = parse_round(&args[i])?;
        } else if let Some(val) = arg.strip_prefix("--format=") {
            opts.format = parse_format(val)?;
        } else if arg == "--format" {
            i += 1;
            if i >= args.len() {
                return Err("numfmt: missing argument for --format\n".to_string());
            }
            opts.format = parse_format(&args[i])?;
        } else if let Some(val) = arg.strip_prefix("--field=") {
            opts.fields = parse_fields(val)?;
        } else if arg == "--field" {
            i += 1;
            if i >= args.len() {
                return Err("numfmt: missing argument for --field\n".to_string());
            }
            opts.fields = parse_fields(&args[i])?;
        } else if arg == "-z" || arg == "--zero-terminated" {
            opts.zero_terminated = true;
        } else if let Some(val) = arg.strip_prefix("--invalid=") {
            opts.invalid = match val {
                "abort" => Invalid::Abort,
                "fail" => Invalid::Fail,
                "warn" => Invalid::Warn,
                "ignore" => Invalid::Ignore,
                _ => return Err(format!("numfmt: invalid argument '{val}' for '--invalid'\n")),
            };
        } else if arg == "--header" {
            opts.header = 1;
        } else if let Some(val) = arg.strip_prefix("--header=") {
            opts.header = val
                .parse()
                .ok()
                .filter(|lines| *lines > 0)
                .ok_or_else(|| format!("numfmt: invalid header value '{val}'\n"))?;
        } else if let Some(val) = arg.strip_prefix("--to-unit=") {
            opts.to_unit = parse_unit(val)?;
        } else if let Some(val) = arg.strip_prefix("--from-unit=") {
            opts.from_unit = parse_unit(val)?;
        } else if let Some(val) = arg.strip_prefix("--delimiter=") {
            opts.delimiter = Some(val.to_string());
        } else if arg == "--delimiter" || arg == "-d" {
            i += 1;
            if i >= args.len() {
                return Err("numfmt: missing argument for --delimiter\n".to_string());
            }
            opts.delimiter = Some(args[i].clone());
        } else if let Some(val) = arg.strip_prefix("-d") {
            opts.delimiter = Some(val.to_string());
        } else if arg.starts_with('-') && arg.len() > 1 && !arg.starts_with("--") {
            // Unknown short option
            return Err(format!("numfmt: invalid option -- '{}'\n", &arg[1..]));
        } else if arg.starts_with("--") {
            return Err(format!("numfmt: unrecognized option '{}'\n", arg));
        } else {
            operands.push(arg.clone());
        }
        i += 1;
    }

    Ok((opts, operands))
}

/// A unit such as `1000`, `1K` or `Ki`.
fn parse_unit(val: &str) -> std::result::Result<f64, String> {
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

/// The ranges of `--field`: `2`, `1,3`, `2-`, `-3` or `-`.
fn parse_fields(val: &str) -> std::result::Result<Vec<(usize, usize)>, String> {
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

/// Takes `--format` apart, which has one `%f`.
fn parse_format(val: &str) -> std::result::Result<Format, String> {
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

/// Converts one field of a line. Without a delimiter the field keeps its width.
fn convert_field(text: &str, field: usize, opts: &Options) -> std::result::Result<String, String> {
    let number = text.trim_start_matches([' ', '\t']);
    let bare = number.strip_suffix(&opts.suffix).filter(|bare| !bare.is_empty()).unwrap_or(number);
    let mut val = parse_number(bare, opts.from)?;
    let mut precision = match bare.split_once('.') {
        Some((_, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.len(),
        _ => 0,
    };
    if opts.from_unit != 1.0 || opts.to_unit != 1.0 {
        val = val * opts.from_unit / opts.to_unit;
        precision = 0;
    }
    let converted = format_number(val, precision, opts) + &opts.suffix;
    let keeps_width = opts.delimiter.is_none() && (number.len() < text.len() || field > 1);
    let padding = match opts.format.width {
        0 if opts.padding == 0 && keeps_width => i32::try_from(text.len()).unwrap_or(0),
        0 => opts.padding,
        _ if opts.format.is_zero_filled => 0,
        width => width,
    };
    Ok(format!("{}{}{}", opts.format.before, apply_padding(&converted, padding), opts.format.after))
}

/// Converts the fields of a line, and adds the message about each that is no number. `None`: the run ends here.
fn convert_line(line: &str, opts: &Options, errors: &mut String) -> Option<String> {
    let delimiter = opts.delimiter.as_deref().unwrap_or(" ");
    let mut out = String::with_capacity(line.len());
    let mut rest = Some(line);
    let mut field = 0;
    while let Some(text) = rest {
        field += 1;
        // A field without a delimiter begins with the blanks before it.
        let end = match opts.delimiter.as_deref() {
            Some("") => text.len(),
            Some(delimiter) => text.find(delimiter).unwrap_or(text.len()),
            None => {
                let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
                text[blanks..].find([' ', '\t']).map_or(text.len(), |at| blanks + at)
            }
        };
        rest = (end < text.len()).then(|| &text[end + delimiter.len()..]);
        let text = &text[..end];
        if field > 1 {
            out.push_str(delimiter);
        }
        if !opts.fields.iter().any(|(from, to)| (*from..=*to).contains(&field)) {
            out.push_str(text);
            continue;
        }
        match convert_field(text, field, opts) {
            Ok(converted) => out.push_str(&converted),
            Err(message) => {
                if opts.invalid != Invalid::Ignore {
                    errors.push_str(&message);
                }
                if opts.invalid == Invalid::Abort {
                    return None;
                }
                out.push_str(text);
            }
        }
    }
    Some(out)
}

#[async_trait]
impl Builtin for Numfmt {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: numfmt [OPTION]... [NUMBER]...\nReformat NUMBER(s), or the numbers from standard input.\n\n  --from=UNIT\tauto-scale input numbers to UNITs (none, si, iec, iec-i, auto)\n  --to=UNIT\tauto-scale output numbers to UNITs (none, si, iec, iec-i)\n  --suffix=SUFFIX\tadd SUFFIX to output numbers\n  --padding=N\tpad the output to N characters\n  --round=METHOD\tuse METHOD for rounding (up, down, from-zero, towards-zero, nearest)\n  --format=FORMAT\tuse printf-style FORMAT\n  --field=FIELDS\treplace the numbers in these input fields (default 1)\n  -d, --delimiter=X\tuse X instead of whitespace for field delimiter\n  --invalid=MODE\tabort, fail, warn or ignore at what is no number\n  -z, --zero-terminated\tlines end in NUL\n  --help\t\t\tdisplay this help and exit\n  --version\t\toutput version information and exit\n",
            Some("numfmt (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        let (opts, operands) = match parse_options(ctx.args) {
            Ok(v) => v,
            Err(e) => return Ok(ExecResult::err(e, 1)),
        };

        let end = if opts.zero_terminated { '\0' } else { '\n' };
        let input = match operands.is_empty() {
            true => ctx.read_stdin().await?,
            false => None,
        };
        let input: &str = match &input {
            Some(input) => input,
            None => "",
        };
        let lines = input.strip_suffix(end).unwrap_or(input).split(end).filter(|_| !input.is_empty());
        let lines = lines.enumerate().chain(operands.iter().map(|operand| (usize::MAX, operand.as_str())));
        let mut output = String::new();
        let mut errors = String::new();
        let mut status = 0;
        for (number, line) in lines {
            if output.len() > MAX_OUTPUT_BYTES {
                return Ok(cap_exceeded("numfmt", output, "output byte", MAX_OUTPUT_BYTES));
            }
            let known = errors.len();
            let converted = match number < opts.header {
                true => Some(line.to_string()),
                false => convert_line(line, &opts, &mut errors),
            };
            if errors.len() > known && opts.invalid != Invalid::Warn {
                status = 2;
            }
            let Some(converted) = converted else { break };
            output.push_str(&converted);
            output.push(end);
        }
        Ok(ExecResult { stdout: output.into(), stderr: errors.into(), exit_code: status, ..Default::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_parse_number_plain() {
        assert_eq!(parse_number("1024", Scale::None).unwrap(), 1024.0);
        assert_eq!(parse_number("1048576", Scale::None).unwrap(), 1048576.0);
    }

    #[test]
    fn test_parse_number_iec() {
        assert_eq!(parse_number("1K", Scale::Iec).unwrap(), 1024.0);
        assert_eq!(parse_number("1M", Scale::Iec).unwrap(), 1_048_576.0);
    }

    #[test]
    fn test_parse_number_si() {
        assert_eq!(parse_number("1K", Scale::Si).unwrap(), 1000.0);
        assert_eq!(parse_number("1M", Scale::Si).unwrap(), 1_000_000.0);
    }

    /// Returns what numfmt prints of `a:2000:3`-like lines with some options.
    fn convert(line: &str, options: &[&str]) -> Option<String> {
        let options: Vec<String> = options.iter().map(|option| (*option).to_string()).collect();
        let (options, _) = parse_options(&options).unwrap();
        convert_line(line, &options, &mut String::new())
    }

    #[test]
    fn number_with_options_is_formatted_as_gnu_does() {
        for (options, number, wanted) in [
            (&["--to=iec"][..], "1048576", "1.0M"),
            (&["--to=si"], "1048576", "1.1M"),
            (&["--to=iec-i"], "1048576", "1.0Mi"),
            (&["--to=iec", "--suffix=B"], "1048576", "1.0MB"),
            (&["--to=iec", "--padding=10"], "1024", "      1.0K"),
            (&["--to=si", "--format=%10.2f"], "12345", "    12.35K"),
            (&["--to=iec", "--format=%.1f"], "1536", "1.5K"),
            (&["--format=%.2f", "--to=iec"], "999", "999.00"),
            (&["--format=%08.2f"], "3.14159", "00003.15"),
            (&["--format=x%-4fy"], "5", "x5   y"),
            (&["--from=si"], "1.234K", "1234"),
            (&["--to=si"], "999999", "1.0M"),
            (&["--to=si"], "9999", "10K"),
            (&[], "1.50", "1.50"),
        ] {
            assert_eq!(convert(number, options).as_deref(), Some(wanted), "{options:?} {number}");
        }
    }

    #[test]
    fn line_with_ranges_of_fields_converts_those() {
        for (options, line, wanted) in [
            (&["-d,", "--field=1,3", "--to=si"][..], "1000,2000,3000", "1.0K,2000,3.0K"),
            (&["-d", ":", "--field", "2", "--to=si"], "a:2000:3", "a:2.0K:3"),
            (&["--field=-", "--to=si"], "1000 2000", "1.0K 2.0K"),
            (&["--field=2-", "--to=iec"], "1024 2048 4096", "1024 2.0K 4.0K"),
            (&["--to=iec"], "  1024 x", "  1.0K x"),
            (&["--field=2", "--to=iec"], "a    2048 b", "a    2.0K b"),
        ] {
            assert_eq!(convert(line, options).as_deref(), Some(wanted), "{options:?} {line}");
        }
    }

    #[tokio::test]
    async fn invalid_number_follows_the_option() {
        for (option, output, status) in
            [("abort", "", 2), ("fail", "x\n3\n", 2), ("warn", "x\n3\n", 0), ("ignore", "x\n3\n", 0)]
        {
            let result = crate::commands::testing::run(&format!("numfmt --invalid={option} x 3")).await;
            assert_eq!((result.stdout.to_string().as_str(), result.exit_code), (output, status), "{option}");
        }
    }

    #[test]
    fn test_round_modes() {
        assert_eq!(round_value(1.1, RoundMode::Up), 2.0);
        assert_eq!(round_value(1.9, RoundMode::Down), 1.0);
        assert_eq!(round_value(1.5, RoundMode::Nearest), 2.0);
        assert_eq!(round_value(-1.5, RoundMode::FromZero), -2.0);
        assert_eq!(round_value(-1.5, RoundMode::TowardsZero), -1.0);
    }

    #[test]
    fn test_invalid_number() {
        assert!(parse_number("abc", Scale::None).is_err());
        assert!(parse_number("", Scale::None).is_err());
    }

    #[test]
    fn test_parse_options_rejects_oversized_padding() {
        let args = vec!["--padding=2000000".to_string(), "1".to_string()];
        match parse_options(&args) {
            Ok(_) => panic!("expected parse_options to fail for oversized padding"),
            Err(err) => assert!(err.contains("padding too large")),
        }
    }

    #[test]
    fn format_with_oversized_precision_is_refused() {
        let err = parse_format("%.2000000f").unwrap_err();
        assert!(err.contains("format precision too large"));
    }

    // TM-INF-022: garbage-input stderr must not leak parser Debug shapes.
    #[tokio::test]
    async fn no_leak_garbage_input() {
        let r = crate::commands::testing::run(r#"echo 'not a number' | numfmt --from=iec"#).await;
        crate::commands::testing::assert_no_leak(&r, "numfmt_garbage", &["ParseFloatError", "ParseIntError"]);
    }
}
