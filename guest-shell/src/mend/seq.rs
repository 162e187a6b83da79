//! `seq [-w] [-s SEPARATOR] [-f FORMAT] [FIRST [INCREMENT]] LAST`.
//!
//! bashkit's stops after 100,000 numbers. GNU's ("coreutils", `seq`) writes them all. Numbers are decimal and exact: as
//! many places as `FIRST` and `INCREMENT` have.

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

use super::stream::{Writer, ended};

pub(super) struct Seq;

const HELP: &str = "\
Usage: seq [OPTION]... LAST
  or:  seq [OPTION]... FIRST LAST
  or:  seq [OPTION]... FIRST INCREMENT LAST
Print numbers from FIRST to LAST, in steps of INCREMENT.

  -f, --format=FORMAT      use a printf style floating-point FORMAT
  -s, --separator=STRING   use STRING to separate numbers (default: \\n)
  -w, --equal-width        equalize width by padding with leading zeroes
";

/// Request that a command line of `seq` makes.
#[derive(Debug)]
struct Request {
    first: i128,
    step: i128,
    /// The number to end with; none if the numbers never end.
    last: Option<i128>,
    /// Digits behind the point of all three, and of what is printed.
    scale: u32,
    places: u32,
    separator: String,
    format: Option<Format>,
    /// True if zeros make all numbers as wide as the widest (`-w`).
    padded: bool,
}

/// A format with one number in it.
#[derive(Debug)]
struct Format {
    before: String,
    zero: bool,
    left: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
    after: String,
}

/// Most digits that a number may have: the numbers must fit into 128 bits with all their places.
const DIGITS: usize = 30;

/// A number as its digits, without the point, and how many of them are behind it. None in it: infinity.
fn number(word: &str) -> Option<(Option<i128>, u32)> {
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    if matches!(unsigned.to_ascii_lowercase().as_str(), "inf" | "infinity") {
        return Some((None, 0));
    }
    let is_negative = word.starts_with('-');
    if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        let value = i128::from(u64::from_str_radix(digits, 16).ok()?);
        return Some((Some(if is_negative { -value } else { value }), 0));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, places) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{places}");
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let zeros = usize::try_from(exponent.unsigned_abs()).ok()?;
    if !plain || digits.len() + zeros > DIGITS {
        return None;
    }
    let mut value: i128 = digits.parse().ok()?;
    let behind = i32::try_from(places.len()).ok()? - exponent;
    let behind = u32::try_from(behind).unwrap_or_else(|_| {
        value *= 10_i128.pow(behind.unsigned_abs());
        0
    });
    Some((Some(if is_negative { -value } else { value }), behind))
}

fn format(text: &str) -> Option<Format> {
    let at = text.replace("%%", "\u{1}\u{1}").find('%')?;
    let plain = |text: &str| text.replace("%%", "%");
    let rest = &text[at + 1..];
    let (flags, rest) = rest.split_at(rest.find(|c| !"-+ 0'#".contains(c)).unwrap_or(rest.len()));
    let (width, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    let (precision, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (digits, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
            (Some(digits.parse().unwrap_or(0)), rest)
        }
        None => (None, rest),
    };
    let letter = rest.chars().next().filter(|letter| "fgFG".contains(*letter))?;
    let after = &rest[1..];
    if after.replace("%%", "").contains('%') {
        return None;
    }
    Some(Format {
        before: plain(&text[..at]),
        zero: flags.contains('0'),
        left: flags.contains('-'),
        width: width.parse().unwrap_or(0),
        precision,
        letter,
        after: plain(after),
    })
}

/// Returns whether a word that begins with a dash is a number.
fn is_number(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == 'i'))
}

fn parse(args: &[String]) -> std::result::Result<Request, String> {
    let (mut separator, mut given, mut padded) = ("\n".to_owned(), None, false);
    let mut words = Vec::new();
    let mut args = args.iter();
    while let Some(word) = args.next() {
        let mut argument =
            |short: &str, long: &str| match word.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')) {
                Some(value) => Some(value.to_owned()),
                None if word == short || word == long => args.next().cloned(),
                None => word.strip_prefix(short).filter(|_| !word.starts_with("--")).map(str::to_owned),
            };
        if !word.starts_with('-') || is_number(word) || word == "-" {
            words.push(word.as_str());
        } else if word == "--" {
            words.extend(args.by_ref().map(String::as_str));
        } else if word == "-w" || word == "--equal-width" {
            padded = true;
        } else if let Some(value) = argument("-s", "--separator") {
            separator = value;
        } else if let Some(value) = argument("-f", "--format") {
            given = Some(format(&value).ok_or_else(|| format!("format '{value}' has no %f or %g directive"))?);
        } else {
            return Err(format!("invalid option -- '{}'", word.trim_start_matches('-')));
        }
    }
    if padded && given.is_some() {
        return Err("format string may not be specified when printing equal width strings".to_owned());
    }
    let read = |word: &str| number(word).ok_or_else(|| format!("invalid floating point argument: '{word}'"));
    let one = (Some(1), 0);
    let (first, step, last) = match words[..] {
        [] => return Err("missing operand".to_owned()),
        [last] => (one, one, read(last)?),
        [first, last] => (read(first)?, one, read(last)?),
        [first, step, last] => (read(first)?, read(step)?, read(last)?),
        [_, _, _, extra, ..] => return Err(format!("extra operand '{extra}'")),
    };
    let scale = first.1.max(step.1).max(last.1);
    let scaled = |(value, behind): (Option<i128>, u32)| value.map(|value| value * 10_i128.pow(scale - behind));
    let (Some(start), Some(by)) = (scaled(first), scaled(step)) else {
        return Err("FIRST and INCREMENT must be finite".to_owned());
    };
    if by == 0 {
        return Err(format!("invalid Zero increment value: '{}'", words[1]));
    }
    let places = first.1.max(step.1);
    Ok(Request { first: start, step: by, last: scaled(last), scale, places, separator, format: given, padded })
}

impl Request {
    /// A value with the point in its place.
    fn plain(&self, value: i128) -> String {
        let unit = 10_u128.pow(self.scale);
        let (whole, rest) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
        let sign = if value < 0 { "-" } else { "" };
        if self.places == 0 {
            return format!("{sign}{whole}");
        }
        let rest = rest / 10_u128.pow(self.scale - self.places);
        format!("{sign}{whole}.{rest:0width$}", width = usize::try_from(self.places).unwrap_or(0))
    }

    /// The widest of what is printed.
    fn width(&self) -> usize {
        let last = self.last.unwrap_or(self.first);
        // The last that is printed: `LAST`, or the one before it.
        let end = self.first + (last - self.first) / self.step * self.step;
        self.plain(self.first).len().max(self.plain(end).len())
    }

    fn text(&self, value: i128, width: usize) -> String {
        let plain = self.plain(value);
        match &self.format {
            Some(format) => format.apply(plain.parse().unwrap_or(0.0)),
            None if self.padded => pad(&plain, width),
            None => plain,
        }
    }

    fn is_past(&self, value: i128) -> bool {
        self.last.is_some_and(|last| if self.step > 0 { value > last } else { value < last })
    }
}

/// Puts zeros behind the sign of a number until it has this width.
fn pad(text: &str, width: usize) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    format!("{sign}{}{digits}", "0".repeat(missing(text, width)))
}

/// Returns how many characters a text lacks to have this width, for which `format!` takes no more than 65535.
fn missing(text: &str, width: usize) -> usize {
    width.saturating_sub(text.chars().count())
}

/// The most decimals that `format!` is asked for, which takes no more than 65535: an `f64` has at most 1074, and zeros behind them.
const PLACES: usize = 1100;

impl Format {
    fn apply(&self, value: f64) -> String {
        let text = if matches!(self.letter, 'f' | 'F') {
            let places = self.precision.unwrap_or(6);
            let most = places.min(PLACES);
            format!("{value:.most$}") + &"0".repeat(places - most)
        } else {
            general(value, self.precision.unwrap_or(6).clamp(1, PLACES))
        };
        let text = match (self.left, self.zero) {
            (true, _) => format!("{text}{}", " ".repeat(missing(&text, self.width))),
            (false, true) => pad(&text, self.width),
            (false, false) => format!("{}{text}", " ".repeat(missing(&text, self.width))),
        };
        format!("{}{text}{}", self.before, self.after)
    }
}

/// Writes a number as `%g`: so many digits that count, without zeros at the end.
fn general(value: f64, digits: usize) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let limit = i32::try_from(digits).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= limit {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs());
    }
    let places = usize::try_from(limit - 1 - exponent).unwrap_or(0);
    trimmed(&format!("{value:.places$}"))
}

#[async_trait]
impl Command for Seq {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        if context.args.iter().any(|word| word == "--help") {
            context.stdout.write_text(HELP).await?;
            return Ok(CommandStatus::success());
        }
        let request = match parse(context.args) {
            Ok(request) => request,
            Err(message) => {
                context.stderr.write_text(&format!("seq: {message}\n")).await?;
                return Ok(CommandStatus::with_code(1));
            }
        };
        let mut output = Writer::new(&context.stdout);
        match write(&request, &mut output).await {
            Ok(()) => Ok(CommandStatus::success()),
            Err(error) => ended(error),
        }
    }
}

async fn write(request: &Request, output: &mut Writer<'_>) -> Result<()> {
    let width = request.width();
    let mut value = request.first;
    if request.is_past(value) {
        return Ok(());
    }
    loop {
        output.write(&bashkit::bytes_of(&request.text(value, width))).await?;
        value = match value.checked_add(request.step) {
            Some(next) if !request.is_past(next) => next,
            _ => break,
        };
        output.write(&bashkit::bytes_of(&request.separator)).await?;
    }
    output.write(b"\n").await?;
    output.flush().await
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn number_with_a_hexadecimal_prefix_is_an_integer() {
        for (word, value) in [("0x10", 16), ("-0Xa", -10), ("+0xFf", 255)] {
            assert_eq!(number(word), Some((Some(value), 0)), "{word}");
        }
        assert_eq!([number("0x"), number("0x1.8"), number("x10")], [None, None, None]);
    }
}
