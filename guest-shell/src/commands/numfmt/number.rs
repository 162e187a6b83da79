//! Numbers as text: units, rounding, digits.
//!
//! Numbers are exact fractions. GNU's are of type `long double`, and refused where that would show.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use num_bigint::{BigInt, Sign};

use super::options::{Format, MAX_PADDING_WIDTH, Options, RoundMode, Scale};

/// Suffixes of units, in ascending order.
const SUFFIXES: &str = "KMGTPEZY";
/// Most digits that are printed without a unit, but for one.
const MOST_UNSCALED_DIGITS: usize = 18;
/// Most digits of a number that is read.
const MOST_DIGITS: usize = 27;
/// Digits of a number that is printed in a unit, at which it is refused.
const TOO_MANY_DIGITS: usize = 27;

/// Exact number.
#[derive(Clone, Debug)]
pub(super) struct Fraction {
    numerator: BigInt,
    /// Above 0.
    denominator: BigInt,
}

impl Fraction {
    /// Parses digits with a sign and a point.
    fn parse(text: &str) -> Option<Self> {
        let (unsigned, sign) = match text.strip_prefix('-') {
            Some(unsigned) => (unsigned, Sign::Minus),
            None => (text, Sign::Plus),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let numerator = BigInt::parse_bytes(digits.as_bytes(), 10)?;
        let numerator = if sign == Sign::Minus { -numerator } else { numerator };
        Some(Self { numerator, denominator: power(10, fraction.len()) })
    }

    pub(super) fn times(self, factor: &BigInt) -> Self {
        Self { numerator: self.numerator * factor, ..self }
    }

    pub(super) fn divided_by(self, divisor: &BigInt) -> Self {
        Self { denominator: self.denominator * divisor, ..self }
    }

    /// Returns true if the number, without its sign, is this one or above it.
    fn reaches(&self, limit: &BigInt) -> bool {
        BigInt::from(self.numerator.magnitude().clone()) >= limit * &self.denominator
    }

    fn is_zero(&self) -> bool {
        self.numerator.sign() == Sign::NoSign
    }

    /// Returns the number rounded after `places` digits.
    fn rounded(&self, places: usize, mode: RoundMode) -> Self {
        let scale = power(10, places);
        let numerator = &self.numerator * &scale;
        // Division of `BigInt` is towards 0.
        let whole = &numerator / &self.denominator;
        let rest = BigInt::from((&numerator - &whole * &self.denominator).magnitude().clone());
        let is_negative = self.numerator.sign() == Sign::Minus;
        let is_away = match mode {
            _ if rest.sign() == Sign::NoSign => false,
            RoundMode::Up => !is_negative,
            RoundMode::Down => is_negative,
            RoundMode::FromZero => true,
            RoundMode::TowardsZero => false,
            RoundMode::Nearest => rest * 2 >= self.denominator,
        };
        let step = BigInt::from(i32::from(is_away) * if is_negative { -1 } else { 1 });
        Self { numerator: whole + step, denominator: scale }
    }

    /// Returns the text of the number with `places` digits behind the point.
    fn text(&self, places: usize) -> String {
        let shown = self.rounded(places, RoundMode::Nearest);
        let digits = format!("{:0>width$}", shown.numerator.magnitude().to_string(), width = places + 1);
        let sign = if self.numerator.sign() == Sign::Minus { "-" } else { "" };
        match digits.split_at(digits.len() - places) {
            (whole, "") => format!("{sign}{whole}"),
            (whole, fraction) => format!("{sign}{whole}.{fraction}"),
        }
    }

    /// Returns the number of digits in front of the point, at least 1.
    fn whole_digits(&self) -> usize {
        (&self.numerator / &self.denominator).magnitude().to_string().len()
    }

    /// Returns the number in the form of C's `%g`, for one of many digits.
    fn scientific(&self) -> String {
        let exponent = self.whole_digits() - 1;
        let unit = power(10, exponent);
        let mantissa = self.clone().divided_by(&unit).rounded(5, RoundMode::Nearest).text(5);
        format!("{}e+{exponent:02}", mantissa.trim_end_matches('0').trim_end_matches('.'))
    }
}

fn power(base: u32, exponent: usize) -> BigInt {
    BigInt::from(base).pow(u32::try_from(exponent).unwrap_or(u32::MAX))
}

/// Parses a number of the input, with a unit suffix if `from` has units. The error is a message.
pub(super) fn parse_number(input: &str, from: Scale) -> Result<Fraction, String> {
    let text = input.trim();
    let (digits, suffix) = split_suffix(text);
    let number = Fraction::parse(digits).ok_or_else(|| format!("numfmt: invalid number: '{text}'\n"))?;
    if number.whole_digits() > MOST_DIGITS {
        return Err(format!("numfmt: value too large to be converted: '{text}'\n"));
    }
    let lacks_i = || format!("numfmt: missing 'i' suffix in input: '{text}' (e.g Ki/Mi/Gi)\n");
    let Some(unit) = suffix.chars().next() else {
        if from == Scale::IecI {
            return Err(lacks_i());
        }
        let ends_in_digits = !digits.ends_with('.');
        return ends_in_digits.then_some(number).ok_or_else(|| format!("numfmt: invalid number: '{text}'\n"));
    };
    let factor_in = |base: u32| SUFFIXES.find(unit).map(|index| power(base, index + 1));
    let rest = &suffix[unit.len_utf8()..];
    let (factor, rest) = match (from, rest.strip_prefix('i')) {
        (Scale::Auto, Some(rest)) => (factor_in(1024), rest),
        (Scale::IecI, Some(rest)) => (factor_in(1024), rest),
        (Scale::Iec | Scale::IecI, _) => (factor_in(1024), rest),
        (Scale::None | Scale::Si | Scale::Auto, _) => (factor_in(1000), rest),
    };
    let factor = factor.ok_or_else(|| format!("numfmt: invalid suffix in input: '{text}'\n"))?;
    if from == Scale::None {
        return Err(format!("numfmt: rejecting suffix in input: '{text}' (consider using --from)\n"));
    }
    if from == Scale::IecI && !suffix[unit.len_utf8()..].starts_with('i') {
        return Err(lacks_i());
    }
    match rest {
        "" => Ok(number.times(&factor)),
        rest => Err(format!("numfmt: invalid suffix in input '{text}': '{rest}'\n")),
    }
}

/// Splits a text after its last digit or point.
fn split_suffix(text: &str) -> (&str, &str) {
    let sign = usize::from(text.starts_with('-'));
    let is_no_digit = |letter: char| !letter.is_ascii_digit();
    let whole = text[sign..].find(is_no_digit).map_or(text.len(), |length| sign + length);
    let end = match text[whole..].strip_prefix('.') {
        Some(fraction) => whole + 1 + fraction.find(is_no_digit).unwrap_or(fraction.len()),
        None => whole,
    };
    text.split_at(end)
}

/// Returns the text of a number with `precision` digits after the point, in the format of `--to` and `--format`. The
/// error is a message about a number that GNU's cannot print.
pub(super) fn format_number(number: &Fraction, precision: usize, opts: &Options) -> Result<String, String> {
    let digits = number.whole_digits();
    let base = match opts.to {
        Scale::None | Scale::Auto => {
            let places = opts.format.precision.unwrap_or(precision);
            // Beyond these digits, numbers of GNU's type are not exact.
            if digits - 1 + places > MOST_UNSCALED_DIGITS {
                let (what, value) = match places {
                    0 => ("value", number.scientific()),
                    _ => ("value/precision", format!("{}/{places}", general(number))),
                };
                return Err(format!("numfmt: {what} too large to be printed: '{value}' (consider using --to)\n"));
            }
            return Ok(zero_filled(number.rounded(places, opts.round).text(places), &opts.format));
        }
        Scale::Si => 1000,
        Scale::Iec | Scale::IecI => 1024,
    };
    if digits > TOO_MANY_DIGITS {
        let value = number.scientific();
        return Err(format!("numfmt: value too large to be printed: '{value}' (cannot handle values > 999Y)\n"));
    }
    let mut unit = 0;
    while unit < SUFFIXES.len() && number.reaches(&power(base, unit + 1)) {
        unit += 1;
    }
    let scaled = number.clone().divided_by(&power(base, unit));
    // As in GNU's `double_to_human`: one digit after the point for values below 10.
    let places = match opts.format.precision {
        Some(places) => places.min(unit * 3),
        None => usize::from(!scaled.reaches(&BigInt::from(10))),
    };
    let mut scaled = scaled.rounded(places, opts.round);
    if unit < SUFFIXES.len() && scaled.reaches(&BigInt::from(base)) {
        scaled = scaled.divided_by(&BigInt::from(base));
        unit += 1;
    }
    let shows_point = !scaled.is_zero() && !scaled.reaches(&BigInt::from(10)) && unit > 0;
    let mut text = scaled.text(opts.format.precision.unwrap_or(usize::from(shows_point)));
    if unit > 0 {
        text.push_str(&SUFFIXES[unit - 1..unit]);
        if opts.to == Scale::IecI {
            text.push('i');
        }
    }
    Ok(zero_filled(text, &opts.format))
}

/// Returns a number in the form of C's `%g`.
fn general(number: &Fraction) -> String {
    let digits = number.whole_digits();
    if digits > 6 {
        return number.scientific();
    }
    let text = number.text(6 - digits);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Adds zeros before digits, as in `%08f`.
fn zero_filled(text: String, format: &Format) -> String {
    match usize::try_from(format.width) {
        Ok(width) if format.is_zero_filled && text.len() < width => {
            let sign = usize::from(text.starts_with('-'));
            format!("{}{}{}", &text[..sign], "0".repeat(width - text.len()), &text[sign..])
        }
        _ => text,
    }
}

/// Adds blanks before a text, or after it if the width is below 0.
pub(super) fn apply_padding(text: &str, padding: i32) -> String {
    let width = padding.unsigned_abs() as usize;
    if width > MAX_PADDING_WIDTH || width <= text.len() {
        return text.to_string();
    }
    if padding > 0 {
        crate::commands::padding::filled(text, width, ' ')
    } else {
        crate::commands::padding::filled_behind(text, width, ' ')
    }
}
