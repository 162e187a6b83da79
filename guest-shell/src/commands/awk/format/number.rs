//! Digits of finite numbers that are not negative, in the notations of C's `printf`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Most digits that a number can have behind its point (2^-1074); those behind are zeros.
const MOST_DECIMALS: usize = 1074;

/// Returns the digits of `%f`.
pub(super) fn fixed(number: f64, precision: usize, alternative: bool) -> String {
    let mut text = format!("{:.*}", precision.min(MOST_DECIMALS), number);
    push_zeros(&mut text, precision.saturating_sub(MOST_DECIMALS));
    if alternative && precision == 0 {
        text.push('.');
    }
    text
}

/// Returns the digits of `%e`.
pub(super) fn exponential(number: f64, precision: usize, alternative: bool, upper: bool) -> String {
    let text = format!("{:.*e}", precision.min(MOST_DECIMALS), number);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits = digits.to_string();
    push_zeros(&mut digits, precision.saturating_sub(MOST_DECIMALS));
    if alternative && precision == 0 {
        digits.push('.');
    }
    let letter = if upper { 'E' } else { 'e' };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}{letter}{sign}{:02}", exponent.abs())
}

/// Returns the digits of `%a`: as many as the number needs if there is no precision.
pub(super) fn hexadecimal(number: f64, precision: Option<usize>, upper: bool) -> String {
    const DIGITS: usize = 13;
    let bits = number.to_bits();
    let biased = (bits >> 52) as i64;
    let mut significand = bits & ((1 << 52) - 1) | u64::from(biased > 0) << 52;
    let exponent = match (biased, significand) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    let digits = precision.unwrap_or(DIGITS).min(DIGITS);
    let dropped = 4 * (DIGITS - digits) as u32;
    if dropped > 0 {
        let half = 1 << (dropped - 1);
        let odd = significand >> dropped & 1;
        significand += half - 1 + odd;
    }
    let mut fraction = format!("{:013x}", significand & ((1 << 52) - 1));
    fraction.truncate(digits);
    match precision {
        None => fraction.truncate(fraction.trim_end_matches('0').len()),
        Some(precision) => push_zeros(&mut fraction, precision.saturating_sub(DIGITS)),
    }
    let point = if fraction.is_empty() { "" } else { "." };
    let text = format!("0x{}{point}{fraction}p{exponent:+}", significand >> 52);
    if upper { text.to_uppercase() } else { text }
}

/// Returns the digits of `%g`.
pub(super) fn general(number: f64, precision: usize, alternative: bool, upper: bool) -> String {
    let precision = precision.clamp(1, MOST_DECIMALS);
    if number == 0.0 {
        return if alternative { format!("0.{}", "0".repeat(precision - 1)) } else { "0".to_string() };
    }
    let rounded = format!("{:.*e}", precision - 1, number);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let mut text = if exponent < -4 || exponent >= precision as i32 {
        exponential(number, precision - 1, alternative, upper)
    } else {
        let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
        fixed(number, decimals, alternative)
    };
    if !alternative {
        remove_trailing_zeros(&mut text);
    }
    text
}

/// Removes zeros at the end of the fraction, which an exponent may follow.
fn remove_trailing_zeros(text: &mut String) {
    let exponent = text.find(['e', 'E']).unwrap_or(text.len());
    let digits = &text[..exponent];
    if digits.contains('.') {
        let kept = digits.trim_end_matches('0').trim_end_matches('.').len();
        text.replace_range(kept..exponent, "");
    }
}

fn push_zeros(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n('0', count));
}
