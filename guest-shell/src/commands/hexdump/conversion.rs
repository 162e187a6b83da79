//! Text of single conversions, in the forms of C's `printf`.

use super::format::{Conversion, ConversionForm};
use crate::commands::byte_text::{character_or_escape, printable_or_dot};
use crate::commands::printf::render_printf_bytes;

const CHARACTER_NAMES: [&str; 32] = [
    "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "lf", "vt", "ff", "cr", "so", "si", "dle",
    "dcs", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us",
];

impl Conversion {
    /// Returns the text for bytes at an address. Bytes behind the end of the block are missing.
    pub(super) fn text(&self, address: usize, data: &[u8]) -> Vec<u8> {
        let byte = data.first().copied().unwrap_or(0);
        match self.form {
            ConversionForm::Address(radix) | ConversionForm::LastAddress(radix) => {
                self.number(radix, &address.to_string())
            }
            ConversionForm::Character => self.padded(&[byte]),
            ConversionForm::Escaped => self.padded(character_or_escape(byte).as_bytes()),
            ConversionForm::Printable => self.padded(printable_or_dot(byte).to_string().as_bytes()),
            ConversionForm::Named => self.padded(character_name(byte).as_bytes()),
            ConversionForm::Signed => {
                let bits = u32::try_from(64 - 8 * self.bytes).unwrap_or(0);
                self.number('d', &((self.value(data) << bits).cast_signed() >> bits).to_string())
            }
            ConversionForm::Unsigned(letter) => self.number(letter, &self.value(data).to_string()),
            ConversionForm::Float(letter) => self.number(letter, &self.float(data)),
            ConversionForm::String => {
                let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
                self.padded(&data[..end])
            }
        }
    }

    /// Returns the blanks that stand for bytes which are missing.
    pub(super) fn blanks(&self) -> Vec<u8> {
        let width = self.directive.trim_start_matches([' ', '-', '0', '+', '#']);
        let width = width.split('.').next().unwrap_or_default();
        let width = width.parse().unwrap_or(0_usize).min(crate::commands::padding::MAX_FORMAT_WIDTH);
        vec![b' '; width]
    }

    /// Returns the little-endian number in the bytes.
    fn value(&self, data: &[u8]) -> u64 {
        data.iter().take(self.bytes).rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// Returns a floating-point number with all its decimal digits, so that it is read back as it is.
    fn float(&self, data: &[u8]) -> String {
        let value = self.value(data);
        let number = match self.bytes {
            4 => f64::from(f32::from_bits(u32::try_from(value).unwrap_or(0))),
            _ => f64::from_bits(value),
        };
        if number.is_finite() { format!("{number:.1074}") } else { number.to_string().to_lowercase() }
    }

    fn number(&self, letter: char, value: &str) -> Vec<u8> {
        let format = format!("%{}{letter}", self.directive);
        render_printf_bytes(&format, &[value.to_owned()]).unwrap_or_default()
    }

    /// Returns a text with the width and the precision of the directive.
    fn padded(&self, text: &[u8]) -> Vec<u8> {
        let (width, precision) = match self.directive.split_once('.') {
            Some((width, precision)) => (width, Some(precision.parse().unwrap_or(0))),
            None => (&*self.directive, None),
        };
        let is_string = !matches!(self.form, ConversionForm::Character);
        let text = &text[..text.len().min(precision.filter(|_| is_string).unwrap_or(text.len()))];
        let flags = width.len() - width.trim_start_matches([' ', '-', '0', '+', '#']).len();
        let (flags, width) = width.split_at(flags);
        let width = width.parse().unwrap_or(0_usize).min(crate::commands::padding::MAX_FORMAT_WIDTH);
        let blanks = vec![b' '; width.saturating_sub(text.len())];
        if flags.contains('-') { [text, &blanks].concat() } else { [&blanks, text].concat() }
    }
}

fn character_name(byte: u8) -> String {
    match byte {
        0..32 => CHARACTER_NAMES[usize::from(byte)].to_owned(),
        127 => "del".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("{byte:02x}"),
    }
}
