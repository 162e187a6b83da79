//! Literals of programs: numbers, strings and regular expressions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::str::Chars;

use super::escape::{push_byte, read_digits, simple_escape};
use super::{LexError, Lexer, Token, is_regex_escape};
use bashkit::stream::with_bytes_joined;

impl Lexer<'_> {
    /// Reads a number, in source also a hexadecimal or an octal one.
    pub(super) fn number(&mut self) -> Result<Token, LexError> {
        let start = self.pos;
        if let Some(digits) = self.hexadecimal_digits() {
            return Ok(Token::Num(integer(digits, 16)));
        }
        self.skip_digits();
        let integer_digits = self.pos - start;
        let mut is_integer = true;
        if self.peek_byte() == Some(b'.') {
            is_integer = false;
            self.pos += 1;
            self.skip_digits();
        }
        let text = &self.src[start..self.pos];
        if text == "." {
            return Err(LexError { msg: "syntax error".to_string(), pos: start });
        }
        if self.skip_exponent() {
            is_integer = false;
        }
        let text = &self.src[start..self.pos];
        // gawk: an integer of octal digits behind a zero is octal.
        let is_octal = is_integer && integer_digits > 1 && text.starts_with('0');
        if is_octal && text.bytes().all(|digit| (b'0'..=b'7').contains(&digit)) {
            return Ok(Token::Num(integer(text, 8)));
        }
        Ok(Token::Num(text.parse().unwrap_or(0.0)))
    }

    /// Reads a hexadecimal number, if there is one. Returns its digits.
    fn hexadecimal_digits(&mut self) -> Option<&str> {
        let rest = &self.src[self.pos..];
        let digits = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"))?;
        let count = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        if count == 0 {
            return None;
        }
        self.pos += 2 + count;
        Some(&digits[..count])
    }

    fn skip_digits(&mut self) {
        while self.peek_byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.pos += 1;
        }
    }

    /// Skips an exponent with at least one digit. Returns true if there was one.
    fn skip_exponent(&mut self) -> bool {
        let start = self.pos;
        if !matches!(self.peek_byte(), Some(b'e' | b'E')) {
            return false;
        }
        self.pos += 1;
        if matches!(self.peek_byte(), Some(b'+' | b'-')) {
            self.pos += 1;
        }
        let digits = self.pos;
        self.skip_digits();
        if self.pos == digits {
            self.pos = start;
            return false;
        }
        true
    }

    /// Reads a string, whose escapes are replaced.
    pub(super) fn string(&mut self) -> Result<Token, LexError> {
        let start = self.pos;
        let mut chars = self.src[start + 1..].chars();
        let mut out = String::new();
        loop {
            match chars.next() {
                Some('"') => break,
                None | Some('\n') => return Err(LexError { msg: "unterminated string".to_string(), pos: start }),
                Some('\\') => {
                    if let Some(letter) = chars.clone().next().filter(|letter| !is_string_escape(*letter)) {
                        self.note_unknown_escape(start, letter, false);
                    }
                    string_escape(&mut chars, &mut out);
                }
                Some(other) => out.push(other),
            }
        }
        self.pos = self.src.len() - chars.as_str().len();
        Ok(Token::Str(self.characters.of_text(with_bytes_joined(out))))
    }

    /// Reads a regular expression, whose first slash is at the offset `start`.
    pub(in crate::commands::awk) fn read_regex(&mut self, start: usize) -> Result<Token, LexError> {
        self.pos = start + 1;
        let mut out = String::new();
        let mut in_bracket = false;
        loop {
            let Some(next) = self.src[self.pos..].chars().next().filter(|next| *next != '\n') else {
                return Err(LexError { msg: "unterminated regexp".to_string(), pos: start + 1 });
            };
            self.pos += next.len_utf8();
            match next {
                '/' if !in_bracket => return Ok(Token::Regex(self.characters.of_text(out))),
                '\\' => self.regex_escape(&mut out),
                '[' if !in_bracket => {
                    in_bracket = true;
                    self.bracket_start(&mut out);
                }
                '[' => self.bracket_element(&mut out),
                ']' => {
                    in_bracket = false;
                    out.push(']');
                }
                other => out.push(other),
            }
        }
    }

    /// Reads what follows a backslash, which stays but for a slash, and for the end of a line.
    fn regex_escape(&mut self, out: &mut String) {
        let escaped = self.src[self.pos..].chars().next();
        self.pos += escaped.map_or(0, char::len_utf8);
        match escaped {
            None => out.push('\\'),
            Some('/') => out.push('/'),
            Some('\n') => {}
            Some(other) => {
                if !is_regex_escape(other) {
                    self.note_unknown_escape(self.pos, other, true);
                }
                out.extend(['\\', other]);
            }
        }
    }

    /// Reads what follows a `[`: a `]` that does not end it, behind a `^` or not.
    fn bracket_start(&mut self, out: &mut String) {
        out.push('[');
        for byte in [b'^', b']'] {
            if self.peek_byte() == Some(byte) {
                out.push(char::from(byte));
                self.pos += 1;
            }
        }
    }

    /// Reads what follows a `[` in a bracket expression: a class such as `[:alpha:]`, or text.
    fn bracket_element(&mut self, out: &mut String) {
        out.push('[');
        let Some(delimiter @ (b':' | b'.' | b'=')) = self.peek_byte() else { return };
        let close = format!("{}]", char::from(delimiter));
        if let Some(end) = self.src[self.pos..].find(&close) {
            out.push_str(&self.src[self.pos..self.pos + end + 2]);
            self.pos += end + 2;
        }
    }
}

/// Returns the number that digits denote.
fn integer(digits: &str, radix: u32) -> f64 {
    match u64::from_str_radix(digits, radix) {
        Ok(number) => number as f64,
        // Rounded once for each digit, as by gawk.
        Err(_) => digits
            .chars()
            .filter_map(|digit| digit.to_digit(radix))
            .fold(0.0, |number, digit| number * f64::from(radix) + f64::from(digit)),
    }
}

/// Returns true if a character makes an escape of a string with the backslash before it.
fn is_string_escape(letter: char) -> bool {
    letter != '/' && (simple_escape(letter).is_some() || matches!(letter, '0'..='7' | 'x' | 'u' | '\n' | '\r'))
}

/// Reads what follows a backslash in a string.
fn string_escape(chars: &mut Chars<'_>, out: &mut String) {
    let Some(letter) = chars.clone().next() else { return out.push('\\') };
    if let '0'..='7' = letter {
        return push_byte(out, read_digits(chars, 8, 3).unwrap_or(0));
    }
    chars.next();
    match letter {
        '\n' => {}
        // gawk takes `\x` without digits for a plain `x`.
        'x' => match read_digits(chars, 16, 2) {
            Some(byte) => push_byte(out, byte),
            None => out.push('x'),
        },
        // gawk 5.3: a code point of up to 8 digits; without one it stays as written.
        'u' => match read_digits(chars, 16, 8) {
            Some(code) => out.extend(char::from_u32(code)),
            None => out.push_str("\\u"),
        },
        // gawk drops the backslash of an unknown escape, of which it warned.
        other => out.push(simple_escape(other).unwrap_or(other)),
    }
}
