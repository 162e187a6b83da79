//! Texts with escapes: replacements of `s`, strings of `y`, text of `a`.
//!
//! The replacement is parsed here and not translated to that of the `regex` crate, so that `$` stays a `$`:
//! `sed 's/a/$x/'` writes `$x` and expands nothing.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::pattern::numeric_escape;
use super::reader::ScriptReader;
use super::{CaseChange, ReplacementPart};

/// Returns the character that a letter means behind a backslash; others mean themselves.
fn escaped_character(letter: char) -> char {
    match letter {
        'a' => '\x07',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        other => other,
    }
}

/// Takes the text of `a`, `i` or `c`, which ends with the line.
pub(super) fn text_with_escapes(reader: &mut ScriptReader) -> String {
    let mut text = String::new();
    while let Some(character) = reader.next() {
        if character == '\n' {
            break;
        }
        if character != '\\' {
            text.push(character);
        } else if let Some((escaped, used)) = numeric_escape(&reader.characters, reader.position) {
            text.push(escaped);
            reader.position += 1 + used;
        } else if let Some(letter) = reader.next() {
            text.push(escaped_character(letter));
        }
    }
    text
}

/// Returns the characters of a string of `y`.
pub(super) fn characters_with_escapes(text: &str) -> Vec<char> {
    let characters: Vec<char> = text.chars().collect();
    let mut output = Vec::new();
    let mut position = 0;
    while let Some(&character) = characters.get(position) {
        position += 1;
        let Some(&letter) = characters.get(position).filter(|_| character == '\\') else {
            output.push(character);
            continue;
        };
        position += 1;
        match numeric_escape(&characters, position - 1) {
            Some((escaped, used)) => {
                output.push(escaped);
                position += used;
            }
            None => output.push(escaped_character(letter)),
        }
    }
    output
}

/// Parses the replacement of `s`.
pub(super) fn parse_replacement(text: &str) -> Vec<ReplacementPart> {
    let characters: Vec<char> = text.chars().collect();
    let mut parts = Parts::default();
    let mut position = 0;
    while let Some(&character) = characters.get(position) {
        position += 1;
        match (character, characters.get(position)) {
            ('&', _) => parts.push(ReplacementPart::Group(0)),
            ('\\', Some(&letter)) => {
                position += 1;
                if let Some((escaped, used)) = numeric_escape(&characters, position - 1) {
                    parts.literal.push(escaped);
                    position += used;
                } else {
                    parts.push_escape(letter);
                }
            }
            (other, _) => parts.literal.push(other),
        }
    }
    parts.finish()
}

/// Parts of a replacement as far as it is parsed.
#[derive(Default)]
struct Parts {
    parts: Vec<ReplacementPart>,
    /// Characters that are no part yet.
    literal: String,
}

impl Parts {
    fn push(&mut self, part: ReplacementPart) {
        if !self.literal.is_empty() {
            self.parts.push(ReplacementPart::Literal(std::mem::take(&mut self.literal)));
        }
        self.parts.push(part);
    }

    /// Adds what a letter means behind a backslash, which GNU drops in front of an ordinary character.
    fn push_escape(&mut self, letter: char) {
        let part = match letter {
            '0'..='9' => ReplacementPart::Group(letter as usize - '0' as usize),
            'L' => ReplacementPart::Case(CaseChange::Lower),
            'U' => ReplacementPart::Case(CaseChange::Upper),
            'l' => ReplacementPart::Case(CaseChange::LowerOne),
            'u' => ReplacementPart::Case(CaseChange::UpperOne),
            'E' => ReplacementPart::Case(CaseChange::End),
            other => return self.literal.push(escaped_character(other)),
        };
        self.push(part);
    }

    fn finish(mut self) -> Vec<ReplacementPart> {
        if !self.literal.is_empty() {
            self.parts.push(ReplacementPart::Literal(self.literal));
        }
        self.parts
    }
}
