//! Translation of bracket expressions, and escapes of bytes.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::translate::push_literal;
use crate::commands::byte_text::bytes_escape;

/// Error of an expression in which a bracket is not closed.
const UNMATCHED: &str = "Unmatched [, [^, [:, [., or [=";

/// Translates the bracket expression that starts at a position. Returns it and where it ends.
pub(super) fn bracket(characters: &[char], start: usize) -> Result<(String, usize), String> {
    let mut bracket = Bracket { characters, position: start + 1, class: String::from("[") };
    if bracket.peek() == Some('^') {
        bracket.class.push('^');
        bracket.position += 1;
    }
    if bracket.peek().is_none() {
        return Err("Invalid regular expression".to_string());
    }
    let first = bracket.position;
    loop {
        match bracket.peek().ok_or(UNMATCHED)? {
            ']' if bracket.position > first => break,
            '[' => match characters.get(bracket.position + 1) {
                Some(&delimiter @ (':' | '.' | '=')) => bracket.named_element(delimiter)?,
                _ => bracket.range()?,
            },
            _ => bracket.range()?,
        }
    }
    bracket.class.push(']');
    Ok((bracket.class, bracket.position + 1))
}

/// Bracket expression of which a part is translated.
struct Bracket<'a> {
    characters: &'a [char],
    position: usize,
    class: String,
}

impl Bracket<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    /// Translates `[:class:]`, `[.c.]` or `[=c=]`.
    fn named_element(&mut self, delimiter: char) -> Result<(), String> {
        let rest = &self.characters[self.position + 2..];
        let length = rest.windows(2).position(|pair| pair == [delimiter, ']']).ok_or(UNMATCHED)?;
        let name: String = rest[..length].iter().collect();
        self.position += length + 4;
        if delimiter == ':' {
            self.class.push_str(class_of_name(&name).ok_or("Invalid character class name")?);
        } else {
            name.chars().for_each(|literal| push_literal(&mut self.class, literal));
        }
        Ok(())
    }

    /// Translates a character, or a range between two.
    fn range(&mut self) -> Result<(), String> {
        let (first, end) = class_character(self.characters, self.position);
        self.position = end;
        push_literal(&mut self.class, first);
        if self.peek() == Some('-') && self.characters.get(end + 1).is_some_and(|last| *last != ']') {
            let (last, end) = class_character(self.characters, end + 1);
            if last < first {
                return Err("Invalid range end".to_string());
            }
            self.class.push('-');
            push_literal(&mut self.class, last);
            self.position = end;
        }
        Ok(())
    }
}

/// Translates the name of a character class.
fn class_of_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => "\\p{Alphabetic}",
        "upper" => "\\p{Uppercase}",
        "lower" => "\\p{Lowercase}",
        "alnum" => "\\p{Alphabetic}0-9",
        "digit" => "0-9",
        "space" => "\\s",
        "blank" => " \\t",
        "punct" => "[:punct:]",
        "print" => "[:print:]",
        "graph" => "[:graph:]",
        "cntrl" => "[:cntrl:]",
        "xdigit" => "[:xdigit:]",
        "word" => "\\w",
        _ => return None,
    })
}

/// Reads the byte of `\ooo` or `\xhh`, whose backslash stands in front of a position. Returns it and where it ends.
pub(super) fn byte_escape(characters: &[char], position: usize) -> Option<(u8, usize)> {
    let (from, radix, most) = match characters.get(position)? {
        '0'..='7' => (position, 8, 3),
        'x' => (position + 1, 16, 2),
        _ => return None,
    };
    let digits = characters.get(from..)?.iter().map_while(|digit| digit.to_digit(radix)).take(most);
    let (count, value) = digits.fold((0, 0), |(count, value), digit| (count + 1, value * radix + digit));
    (count > 0).then_some(((value & 0xff) as u8, from + count))
}

/// Reads a character of a bracket expression, which may be escaped. Returns it and where it ends.
fn class_character(characters: &[char], position: usize) -> (char, usize) {
    let escaped = match characters[position] {
        '\\' => characters.get(position + 1),
        _ => None,
    };
    let Some(&letter) = escaped else { return (characters[position], position + 1) };
    if let Some(byte) = bytes_escape(characters, position + 1, byte_escape) {
        return byte;
    }
    let character = match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'f' => '\x0c',
        'v' => '\x0b',
        'a' => '\x07',
        'b' => '\x08',
        other => other,
    };
    (character, position + 2)
}
