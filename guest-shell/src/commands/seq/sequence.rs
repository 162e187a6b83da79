//! Output of the numbers.

use bashkit::{Error, Result, bytes_of};

use super::format::NumberFormat;
use super::operand::SeqOperand;
use super::options::SeqOptions;
use super::usage_error;
use crate::commands::long_double::LongDouble;
use crate::mend::stream::Writer;

/// Numbers from the first to the last, and their style. A number is stored as its digits, without the point.
#[derive(Debug)]
pub(super) struct NumberSequence {
    first: i128,
    /// Difference between successive numbers, which is not 0.
    step: i128,
    /// Last number; `None` for an endless sequence.
    last: Option<i128>,
    /// Number of digits after the point of all three numbers.
    scale: u32,
    /// Number of digits after the point in the output: the larger one of `FIRST` and `INCREMENT`.
    places: u32,
    separator: String,
    style: NumberStyle,
}

/// Style of a number in the output.
#[derive(Debug)]
enum NumberStyle {
    Plain,
    /// With leading zeros, up to the width of the widest number.
    EqualWidth(usize),
    /// With a format, which receives numbers as C computes them.
    Formatted {
        format: NumberFormat,
        first: LongDouble,
        step: LongDouble,
    },
}

impl NumberSequence {
    /// Returns the sequence for a command line. The error is a message.
    pub(super) fn new(options: SeqOptions) -> std::result::Result<Self, String> {
        let words = &options.operands;
        let read = |word: &String| {
            let message = || usage_error(&format!("invalid floating point argument: '{word}'"));
            SeqOperand::parse(word).ok_or_else(message)
        };
        let (first, step, last) = match words.as_slice() {
            [] => return Err(usage_error("missing operand")),
            [last] => (SeqOperand::ONE, SeqOperand::ONE, read(last)?),
            [first, last] => (read(first)?, SeqOperand::ONE, read(last)?),
            [first, step, last] => (read(first)?, read(step)?, read(last)?),
            [_, _, _, extra, ..] => return Err(usage_error(&format!("extra operand '{extra}'"))),
        };
        let scale = first.places.max(step.places).max(last.places);
        let (Some(start), Some(by)) = (first.scaled(scale), step.scaled(scale)) else {
            return Err("FIRST and INCREMENT must be finite".to_owned());
        };
        if by == 0 {
            return Err(usage_error(&format!("invalid Zero increment value: '{}'", words[1])));
        }
        let places = first.places.max(step.places);
        let mut sequence = Self {
            first: start,
            step: by,
            last: last.scaled(scale),
            scale,
            places,
            separator: options.separator,
            style: NumberStyle::Plain,
        };
        if options.equal_width {
            sequence.style = NumberStyle::EqualWidth(sequence.width());
        }
        if let Some(format) = options.format {
            let number = |value| LongDouble::parse(&sequence.plain(value)).ok_or("number out of range");
            let (first, step) = (number(start)?, number(by)?);
            sequence.style = NumberStyle::Formatted { format, first, step };
        }
        Ok(sequence)
    }

    /// Writes the numbers incrementally, so that `seq 1000000 | head -1` ends early.
    pub(super) async fn write(&self, output: &mut Writer<'_>) -> Result<()> {
        let mut value = self.first;
        if self.is_past(value) {
            return Ok(());
        }
        for place in 0.. {
            output.write(&bytes_of(&self.text(value, place)?)).await?;
            value = match value.checked_add(self.step) {
                Some(next) if !self.is_past(next) => next,
                _ => break,
            };
            output.write(&bytes_of(&self.separator)).await?;
        }
        output.write(b"\n").await?;
        output.flush().await
    }

    fn text(&self, value: i128, place: u64) -> Result<String> {
        match &self.style {
            NumberStyle::Plain => Ok(self.plain(value)),
            NumberStyle::EqualWidth(width) => Ok(pad(&self.plain(value), *width)),
            NumberStyle::Formatted { format, first, step } => {
                let number = first.plus_steps(step, place);
                let digits = number.map_or_else(|| "inf".to_owned(), |number| number.decimal_text());
                format.render(digits).map_err(Error::Execution)
            }
        }
    }

    /// Returns a number with its decimal point.
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

    /// Returns the larger width of the first and the last printed number.
    fn width(&self) -> usize {
        let last = self.last.unwrap_or(self.first);
        let end = self.first + (last - self.first) / self.step * self.step;
        self.plain(self.first).len().max(self.plain(end).len())
    }

    fn is_past(&self, value: i128) -> bool {
        self.last.is_some_and(|last| if self.step > 0 { value > last } else { value < last })
    }
}

/// Inserts zeros after the sign of a number, up to this width.
fn pad(text: &str, width: usize) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    format!("{sign}{}{digits}", "0".repeat(width.saturating_sub(text.len())))
}
