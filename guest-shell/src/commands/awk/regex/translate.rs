//! Translation of POSIX extended regular expressions, as gawk reads them, to the syntax of the crate `regex`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::bracket::{bracket, byte_escape};
use crate::commands::byte_text::bytes_escape;

/// Expression in the syntax of the crate `regex`.
pub(super) struct Translated {
    pub(super) pattern: String,
    /// True if the first alternative that matches may not be the longest one.
    pub(super) needs_longest: bool,
}

/// Translates a regular expression of POSIX. The error is the message of the C library.
pub(super) fn translate(expression: &str) -> Result<Translated, String> {
    let mut translator = Translator::new(expression);
    while let Some(next) = translator.characters.get(translator.position).copied() {
        translator.translate_next(next)?;
    }
    if translator.depth > 0 {
        return Err("Unmatched ( or \\(".to_string());
    }
    Ok(Translated {
        pattern: translator.pattern,
        needs_longest: translator.needs_longest || translator.has_alternatives,
    })
}

/// Adds a character that stands for itself. Only metacharacters are escaped: `\<` and `\>` are assertions in the crate
/// `regex`, not literals.
pub(super) fn push_literal(pattern: &mut String, literal: char) {
    if is_metacharacter(literal) {
        pattern.push('\\');
    }
    pattern.push(literal);
}

fn is_metacharacter(character: char) -> bool {
    matches!(
        character,
        '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '#' | '&' | '-' | '~'
    )
}

/// State of a translation.
struct Translator {
    characters: Vec<char>,
    position: usize,
    pattern: String,
    /// True where a quantifier has nothing to repeat (at the start, behind `(`, `|` and `^`): POSIX and gawk take it for
    /// a literal.
    at_start: bool,
    has_alternatives: bool,
    has_quantifier: bool,
    needs_longest: bool,
    /// Number of groups that are open.
    depth: usize,
}

impl Translator {
    fn new(expression: &str) -> Self {
        Self {
            characters: expression.chars().collect(),
            position: 0,
            pattern: String::with_capacity(expression.len() + 8),
            at_start: true,
            has_alternatives: false,
            has_quantifier: false,
            needs_longest: false,
            depth: 0,
        }
    }

    fn translate_next(&mut self, next: char) -> Result<(), String> {
        // An atom behind a quantifier means that one can give to the other.
        if self.has_quantifier && !matches!(next, '*' | '+' | '?' | '{' | ')' | '|' | '$') {
            self.needs_longest = true;
        }
        match next {
            '\\' => return self.escape(),
            '[' => {
                let (class, end) = bracket(&self.characters, self.position)?;
                self.pattern.push_str(&class);
                self.move_to(end, false);
            }
            '(' => {
                self.depth += 1;
                self.operator('(', true);
            }
            ')' if self.depth > 0 => {
                self.depth -= 1;
                self.operator(')', false);
            }
            '|' => {
                self.has_alternatives = true;
                self.operator('|', true);
            }
            '^' => self.operator('^', true),
            '$' | '.' => self.operator(next, false),
            '*' | '+' | '?' if !self.at_start => {
                self.has_quantifier = true;
                self.operator(next, false);
            }
            '{' => self.brace(),
            literal => {
                push_literal(&mut self.pattern, literal);
                self.move_to(self.position + 1, false);
            }
        }
        Ok(())
    }

    /// Goes on at a position, where a quantifier has nothing to repeat if `at_start` is true.
    fn move_to(&mut self, position: usize, at_start: bool) {
        self.position = position;
        self.at_start = at_start;
    }

    fn operator(&mut self, operator: char, at_start: bool) {
        self.pattern.push(operator);
        self.move_to(self.position + 1, at_start);
    }

    /// Translates an interval, or a brace that begins none and stands for itself.
    fn brace(&mut self) {
        match interval(&self.characters, self.position) {
            Some((text, end)) if !self.at_start => {
                self.pattern.push_str(&text);
                self.has_quantifier = true;
                self.move_to(end, false);
            }
            _ => {
                self.pattern.push_str("\\{");
                self.move_to(self.position + 1, false);
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        let escaped = self.position + 1;
        let Some(&letter) = self.characters.get(escaped) else {
            return Err("Trailing backslash".to_string());
        };
        match bytes_escape(&self.characters, escaped, byte_escape) {
            Some(('\\', end)) => {
                push_literal(&mut self.pattern, '\\');
                self.move_to(end, false);
            }
            // gawk reads the character as if it were written there.
            Some((character, end)) => {
                self.characters.splice(self.position..end, [character]);
            }
            None => {
                match assertion_or_class(letter) {
                    Some(translated) => self.pattern.push_str(translated),
                    None => push_literal(&mut self.pattern, letter),
                }
                self.move_to(escaped + 1, false);
            }
        }
        Ok(())
    }
}

/// Translates an escape that does not stand for the letter itself.
fn assertion_or_class(letter: char) -> Option<&'static str> {
    Some(match letter {
        'y' => "\\b",
        'B' => "\\B",
        '<' => "\\b{start}",
        '>' => "\\b{end}",
        '`' => "\\A",
        '\'' => "\\z",
        's' => "\\s",
        'S' => "\\S",
        'w' => "\\w",
        'W' => "\\W",
        'n' => "\\n",
        't' => "\\t",
        'r' => "\\r",
        'f' => "\\x0C",
        'v' => "\\x0B",
        'a' => "\\x07",
        'b' => "\\x08",
        _ => return None,
    })
}

/// Translates an interval (`{n}`, `{n,}`, `{n,m}`, `{,m}`) at a position. Returns it and where it ends, or none if it is
/// not valid.
fn interval(characters: &[char], position: usize) -> Option<(String, usize)> {
    let digits = |from: usize| -> String {
        characters.get(from..).unwrap_or_default().iter().take_while(|next| next.is_ascii_digit()).collect()
    };
    let mut least = digits(position + 1);
    let mut end = position + 1 + least.len();
    let mut most = None;
    if characters.get(end) == Some(&',') {
        let digits = digits(end + 1);
        end += 1 + digits.len();
        most = Some(digits);
    }
    if characters.get(end) != Some(&'}') || least.is_empty() && most.as_ref().is_none_or(String::is_empty) {
        return None;
    }
    if least.is_empty() {
        least.push('0');
    }
    let text = match most {
        None => format!("{{{least}}}"),
        Some(most) => format!("{{{least},{most}}}"),
    };
    Some((text, end + 1))
}
