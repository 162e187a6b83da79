//! Directives of formats: flags, width, precision and conversion, with the values that they take.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::FormatError;
use crate::commands::awk::value::Value;

/// Widest field: a million, which awk's own test suite asks for.
const MAX_FORMAT_WIDTH: usize = 1 << 20;

/// Flags, width and precision of a directive.
#[derive(Default, Clone, Copy)]
pub(super) struct Layout {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    /// Flag `#`.
    pub(super) alternative: bool,
    pub(super) zero: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

impl Layout {
    /// Returns what stands before a number.
    pub(super) fn sign(&self, negative: bool) -> &'static str {
        match self {
            _ if negative => "-",
            Self { plus: true, .. } => "+",
            Self { space: true, .. } => " ",
            _ => "",
        }
    }
}

/// Directive of a format.
pub(super) enum Directive<'a> {
    /// Directive that is printed as it is, or `%` for `%%`.
    Text(&'a str),
    Conversion {
        layout: Layout,
        conversion: char,
        argument: &'a Value,
    },
}

/// Reader of a format, and of the values that its directives take.
pub(super) struct DirectiveReader<'a> {
    format: &'a str,
    position: usize,
    arguments: &'a [Value],
    next_argument: usize,
}

impl<'a> DirectiveReader<'a> {
    pub(super) fn new(format: &'a str, arguments: &'a [Value]) -> Self {
        Self { format, position: 0, arguments, next_argument: 0 }
    }

    /// Returns what is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        &self.format[self.position..]
    }

    /// Returns the text before the next `%`, which is read next, or none if there is no other.
    pub(super) fn skip_text(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let length = rest.find('%')?;
        self.position += length;
        Some(&rest[..length])
    }

    /// Reads the directive whose `%` comes next.
    pub(super) fn directive(&mut self) -> Result<Directive<'a>, FormatError> {
        let start = self.position;
        self.position += 1;
        let place = self.place()?;
        let mut layout = self.flags();
        self.width(&mut layout, start)?;
        self.precision(&mut layout, start)?;
        self.modifiers();
        let Some(conversion) = self.rest().chars().next() else {
            return Ok(Directive::Text(&self.format[start..]));
        };
        self.position += conversion.len_utf8();
        match conversion {
            '%' => Ok(Directive::Text("%")),
            'd' | 'i' | 'o' | 'x' | 'X' | 'u' | 'c' | 's' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' => {
                let argument = match place {
                    Some(place) => self.arguments.get(place).ok_or_else(|| self.ran_out(start))?,
                    None => self.argument(start)?,
                };
                Ok(Directive::Conversion { layout, conversion, argument })
            }
            // gawk copies an unknown directive.
            _ => Ok(Directive::Text(&self.format[start..self.position])),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.format.as_bytes().get(self.position).copied()
    }

    /// Reads digits, of which there may be none.
    fn digits(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.position += length;
        &rest[..length]
    }

    /// Reads the place of an argument (`2$`), counted from zero.
    fn place(&mut self) -> Result<Option<usize>, FormatError> {
        let start = self.position;
        let digits = self.digits();
        if digits.is_empty() || self.peek() != Some(b'$') {
            self.position = start;
            return Ok(None);
        }
        self.position += 1;
        match digits.parse().unwrap_or(0) {
            0_usize => {
                let msg = "positional argument zero is not allowed".to_string();
                Err(FormatError { msg, located: true })
            }
            place => Ok(Some(place - 1)),
        }
    }

    fn flags(&mut self) -> Layout {
        let mut layout = Layout::default();
        while let Some(flag) = self.peek() {
            match flag {
                b'-' => layout.left = true,
                b'+' => layout.plus = true,
                b' ' => layout.space = true,
                b'#' => layout.alternative = true,
                b'0' => layout.zero = true,
                b'\'' => {}
                _ => break,
            }
            self.position += 1;
        }
        layout
    }

    fn width(&mut self, layout: &mut Layout, start: usize) -> Result<(), FormatError> {
        if self.peek() == Some(b'*') {
            self.position += 1;
            let width = self.argument(start)?.to_num();
            layout.left |= width < 0.0;
            layout.width = clamp(width.abs());
        } else {
            let digits = self.digits();
            if !digits.is_empty() {
                layout.width = digits.parse().unwrap_or(usize::MAX);
            }
        }
        check_maximum("width", layout.width)
    }

    fn precision(&mut self, layout: &mut Layout, start: usize) -> Result<(), FormatError> {
        if self.peek() != Some(b'.') {
            return Ok(());
        }
        self.position += 1;
        if self.peek() == Some(b'*') {
            self.position += 1;
            let precision = self.argument(start)?.to_num();
            layout.precision = if precision < 0.0 { None } else { Some(clamp(precision)) };
        } else {
            // A point without digits stands for no decimals.
            layout.precision = Some(match self.digits() {
                "" => 0,
                digits => digits.parse().unwrap_or(usize::MAX),
            });
        }
        check_maximum("precision", layout.precision.unwrap_or(0))
    }

    /// Skips length modifiers, which have no meaning in awk. Each is taken once: `%lld` is text.
    fn modifiers(&mut self) {
        let start = self.position;
        while let Some(modifier @ (b'h' | b'l' | b'L' | b'j' | b'z' | b't')) = self.peek() {
            if self.format.as_bytes()[start..self.position].contains(&modifier) {
                break;
            }
            self.position += 1;
        }
    }

    /// Takes the next argument for the directive that starts at `start`.
    fn argument(&mut self, start: usize) -> Result<&'a Value, FormatError> {
        let argument = self.arguments.get(self.next_argument);
        self.next_argument += 1;
        argument.ok_or_else(|| self.ran_out(start))
    }

    fn ran_out(&self, start: usize) -> FormatError {
        let caret = " ".repeat(start + 1);
        let msg = format!(
            "not enough arguments to satisfy format string\n\t`{}'\n\t{caret}^ ran out for this one",
            self.format
        );
        FormatError { msg, located: true }
    }
}

fn clamp(number: f64) -> usize {
    if number.is_finite() && number < usize::MAX as f64 { number as usize } else { usize::MAX }
}

/// Refuses widths and precisions above `MAX_FORMAT_WIDTH` (THREAT[TM-DOS-110]).
fn check_maximum(what: &str, number: usize) -> Result<(), FormatError> {
    if number <= MAX_FORMAT_WIDTH {
        return Ok(());
    }
    let shown = if number == usize::MAX { "too large".to_string() } else { number.to_string() };
    let msg = format!("format {what} {shown} exceeds maximum ({MAX_FORMAT_WIDTH})");
    Err(FormatError { msg, located: false })
}
