//! Formats of `seq -f`: one directive for a floating-point number, and text around it.

use bashkit::text_of;

use crate::commands::printf::render_printf_bytes;

/// Format of `printf` with one directive.
#[derive(Debug)]
pub(super) struct NumberFormat(String);

impl NumberFormat {
    /// Validates the format of `-f`. The error is GNU's message.
    pub(super) fn parse(format: String) -> Result<Self, String> {
        let Some(start) = directive_start(&format, 0) else {
            return Err(format!("format '{format}' has no % directive"));
        };
        let rest = format[start + 1..].trim_start_matches(['-', '+', '#', '0', ' ', '\'']);
        let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let rest = match rest.strip_prefix('.') {
            Some(rest) => rest.trim_start_matches(|letter: char| letter.is_ascii_digit()),
            None => rest,
        };
        let rest = rest.strip_prefix('L').unwrap_or(rest);
        let conversion = rest.chars().next();
        match conversion {
            None => Err(format!("format '{format}' ends in %")),
            Some(letter) if !"efgaEFGA".contains(letter) => {
                Err(format!("format '{format}' has unknown %{letter} directive"))
            }
            Some(_) if directive_start(&format, format.len() - rest.len() + 1).is_some() => {
                Err(format!("format '{format}' has too many % directives"))
            }
            Some(_) => Ok(Self(format)),
        }
    }

    /// Formats a number, given by all its digits. The error is a message.
    pub(super) fn render(&self, number: String) -> Result<String, String> {
        // A backslash has no meaning to `seq`, but begins an escape of `printf`.
        match render_printf_bytes(&self.0.replace('\\', "\\\\"), &[number]) {
            Ok(bytes) => Ok(text_of(&bytes).into_owned()),
            Err(message) => Err(message.trim_end().replacen("bash: printf: ", "", 1)),
        }
    }
}

/// Returns the position of the next `%` that is not doubled.
fn directive_start(format: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = format.get(at..)?.find('%') {
        at += found;
        if !format[at + 1..].starts_with('%') {
            return Some(at);
        }
        at += 2;
    }
    None
}
