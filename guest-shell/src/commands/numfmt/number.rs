//! Numbers as text: units, rounding, digits.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::options::{Format, MAX_PADDING_WIDTH, Options, RoundMode, Scale};

/// Suffixes and factors of SI units.
const SI_SUFFIXES: &[(char, f64)] = &[('K', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12), ('P', 1e15), ('E', 1e18)];

/// Suffixes and factors of IEC units.
const IEC_SUFFIXES: &[(char, f64)] = &[
    ('K', 1024.0),
    ('M', 1_048_576.0),
    ('G', 1_073_741_824.0),
    ('T', 1_099_511_627_776.0),
    ('P', 1_125_899_906_842_624.0),
    ('E', 1_152_921_504_606_846_976.0),
];

pub(super) fn round_value(val: f64, mode: RoundMode) -> f64 {
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

/// Parses a number of the input, with a unit suffix if `from` has units. The error is a message.
pub(super) fn parse_number(input: &str, from: Scale) -> Result<f64, String> {
    let text = input.trim();
    let (digits, suffix) = split_suffix(text);
    let number: f64 = digits.parse().map_err(|_| format!("numfmt: invalid number: '{text}'\n"))?;
    let Some(unit) = suffix.chars().next() else {
        let ends_in_digits = !digits.ends_with('.');
        return ends_in_digits.then_some(number).ok_or_else(|| format!("numfmt: invalid number: '{text}'\n"));
    };
    let factor_in = |table: &[(char, f64)]| table.iter().find(|(letter, _)| *letter == unit).map(|(_, factor)| *factor);
    let rest = &suffix[unit.len_utf8()..];
    let (factor, rest) = match (from, rest.strip_prefix('i')) {
        (Scale::Auto, Some(rest)) => (factor_in(IEC_SUFFIXES), rest),
        (Scale::IecI, Some(rest)) => (factor_in(IEC_SUFFIXES), rest),
        (Scale::Iec | Scale::IecI, _) => (factor_in(IEC_SUFFIXES), rest),
        (Scale::None | Scale::Si | Scale::Auto, _) => (factor_in(SI_SUFFIXES), rest),
    };
    let factor = factor.ok_or_else(|| format!("numfmt: invalid suffix in input: '{text}'\n"))?;
    if from == Scale::None {
        return Err(format!("numfmt: rejecting suffix in input: '{text}' (consider using --from)\n"));
    }
    if from == Scale::IecI && !suffix[unit.len_utf8()..].starts_with('i') {
        return Err(format!("numfmt: missing 'i' suffix in input: '{text}' (e.g Ki/Mi/Gi)\n"));
    }
    match rest {
        "" => Ok(number * factor),
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

/// Returns the text of a number with `precision` digits after the point, in the format of `--to` and `--format`.
pub(super) fn format_number(mut val: f64, precision: usize, opts: &Options) -> String {
    let (table, base) = match opts.to {
        Scale::None | Scale::Auto => {
            let places = opts.format.precision.unwrap_or(precision);
            let text = crate::commands::padding::with_places(rounded(val, places, opts.round), places);
            return zero_filled(text, &opts.format);
        }
        Scale::Si => (SI_SUFFIXES, 1000.0),
        Scale::Iec | Scale::IecI => (IEC_SUFFIXES, 1024.0),
    };
    let mut power = table.iter().take_while(|(_, factor)| val.abs() >= *factor).count();
    if power > 0 {
        val /= table[power - 1].1;
    }
    // As in GNU's `double_to_human`: one digit after the point for values below 10.
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
    let mut text = crate::commands::padding::with_places(val, places);
    if power > 0 {
        text.push(table[power - 1].0);
        if opts.to == Scale::IecI {
            text.push('i');
        }
    }
    zero_filled(text, &opts.format)
}

/// Rounds a value after `places` digits.
fn rounded(val: f64, places: usize, mode: RoundMode) -> f64 {
    let factor = i32::try_from(places).map_or(f64::INFINITY, |places| 10f64.powi(places));
    let shifted = val * factor;
    // There is nothing to round beyond the digits of the number.
    if shifted.abs() < 9e15 { round_value(shifted, mode) / factor } else { val }
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
