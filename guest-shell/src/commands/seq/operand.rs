//! Numbers of `seq`'s command line, and the format that they ask for.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::{ExecResult, text_of};

use crate::commands::printf::render_printf_bytes;

/// Number, and how it was written.
pub(super) struct SeqOperand {
    pub(super) value: f64,
    /// Number of digits behind the point, unless the number is written as no decimal fraction is.
    precision: Option<usize>,
    /// Number of letters.
    width: usize,
}

impl SeqOperand {
    const ONE: Self = Self { value: 1.0, precision: Some(0), width: 1 };

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start();
        let lower = text.to_ascii_lowercase();
        let value: f64 = match lower.trim_start_matches(['+', '-']).strip_prefix("0x") {
            Some(digits) => {
                let value = u64::from_str_radix(digits, 16).ok()? as f64;
                if lower.starts_with('-') { -value } else { value }
            }
            None => text.parse().ok()?,
        };
        if value.is_nan() {
            return None;
        }
        // Hexadecimal numbers and infinity are no decimal fractions.
        let precision = (!lower.contains(['x', 'i', 'n'])).then(|| precision_of(&lower));
        Some(Self { value, precision, width: text.len() })
    }
}

/// Returns the number of digits behind the point of a decimal number in lower case, with its exponent applied.
fn precision_of(number: &str) -> usize {
    let (mantissa, exponent) = number.split_once('e').unwrap_or((number, ""));
    let digits = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let shift = exponent.unsigned_abs() as usize;
    if exponent < 0 { digits + shift } else { digits.saturating_sub(shift) }
}

/// Reads the operands as the first number, the step and the last number. The error is the result of a wrong call.
pub(super) fn parse_operands(operands: &[String]) -> Result<[SeqOperand; 3], ExecResult> {
    let parse = |text: &String| {
        SeqOperand::parse(text).ok_or_else(|| {
            let message = format!("seq: invalid floating point argument: '{text}'\n");
            ExecResult::err(message + "Try 'seq --help' for more information.\n", 1)
        })
    };
    match operands {
        [] => Err(ExecResult::err("seq: missing operand\n", 1)),
        [last] => Ok([SeqOperand::ONE, SeqOperand::ONE, parse(last)?]),
        [first, last] => Ok([parse(first)?, SeqOperand::ONE, parse(last)?]),
        [first, step, last] => Ok([parse(first)?, parse(step)?, parse(last)?]),
        [_, _, _, extra, ..] => Err(ExecResult::err(format!("seq: extra operand '{extra}'\n"), 1)),
    }
}

/// Format of the numbers that are printed.
pub(super) enum NumberFormat {
    /// Format of `printf`.
    Printf(String),
    /// Decimal fraction of a width, with zeros before it.
    Fixed { width: usize, precision: usize },
}

impl NumberFormat {
    /// Returns the given format, or the one that the first number, the step and the last number ask for.
    pub(super) fn new(given: Option<String>, operands: [&SeqOperand; 3], equal_width: bool) -> Self {
        match given {
            Some(format) => Self::Printf(format),
            None => Self::of_operands(operands, equal_width).unwrap_or_else(|| Self::Printf("%g".to_owned())),
        }
    }

    /// Returns the precision of the first number and the step, and with `equal_width` the width of the widest number.
    fn of_operands([first, step, last]: [&SeqOperand; 3], equal_width: bool) -> Option<Self> {
        let (first_precision, last_precision) = (first.precision?, last.precision?);
        let precision = first_precision.max(step.precision?);
        if !equal_width {
            return Some(Self::Fixed { width: 0, precision });
        }
        let gains_point = |own: usize| usize::from(own == 0 && precision > 0);
        let loses_point = usize::from(last_precision > 0 && precision == 0);
        let first_width = first.width + (precision - first_precision) + gains_point(first_precision);
        let last_width = (last.width + precision).saturating_sub(last_precision).saturating_sub(loses_point);
        Some(Self::Fixed { width: first_width.max(last_width + gains_point(last_precision)), precision })
    }

    /// Formats a number. The error is a message.
    pub(super) fn render(&self, value: f64) -> Result<String, String> {
        match self {
            Self::Fixed { width, precision } => Ok(format!("{value:0width$.precision$}")),
            Self::Printf(format) => match render_printf_bytes(format, &[value.to_string()]) {
                Ok(bytes) => Ok(text_of(&bytes).into_owned()),
                Err(message) => Err(message.replacen("printf:", "seq:", 1)),
            },
        }
    }
}
