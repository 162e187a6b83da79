//! Expressions that rename members (`--transform`), in the language of `s` in `sed`.

use regex::Regex;

use crate::commands::sed::translate_posix_regex;

/// Message about a text that is no expression.
const INVALID: &str = "Invalid transform expression";

/// Names that an expression applies to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum NameKind {
    Member,
    LinkTarget,
}

/// Part of a replacement.
enum Part {
    Text(String),
    /// Group of the match; 0 is all of it.
    Group(usize),
    /// `\U`, `\L`, `\u`, `\l` or `\E`.
    Case(char),
}

/// Replacement `s/REGEX/REPLACEMENT/FLAGS` of names.
struct Substitution {
    regex: Regex,
    parts: Vec<Part>,
    global: bool,
    /// Number of the first match that is replaced, from 1.
    occurrence: usize,
    members: bool,
    targets: bool,
}

/// Expressions of a call, in their order.
#[derive(Default)]
pub(super) struct Transform(Vec<Substitution>);

impl Transform {
    /// Adds what an option says: expressions with `;` between them. The error is a message.
    pub(super) fn add(&mut self, text: &str) -> Result<(), String> {
        let mut rest = text;
        while !rest.is_empty() {
            let (substitution, behind) = substitution(rest).ok_or_else(|| INVALID.to_owned())?;
            self.0.push(substitution);
            rest = behind;
        }
        Ok(())
    }

    /// Returns a name as the expressions make it.
    pub(super) fn apply(&self, name: &str, kind: NameKind) -> String {
        let applied = |one: &&Substitution| if kind == NameKind::Member { one.members } else { one.targets };
        self.0.iter().filter(applied).fold(name.to_owned(), |name, one| one.apply(&name))
    }
}

impl Substitution {
    fn apply(&self, name: &str) -> String {
        let most = if self.global { usize::MAX } else { self.occurrence };
        let mut result = String::new();
        let mut copied = 0;
        for captures in self.regex.captures_iter(name).take(most).skip(self.occurrence - 1) {
            let Some(whole) = captures.get(0) else { continue };
            result.push_str(&name[copied..whole.start()]);
            let mut case = CaseState::default();
            for part in &self.parts {
                match part {
                    Part::Text(text) => case.push(text, &mut result),
                    Part::Group(number) => {
                        case.push(captures.get(*number).map_or("", |group| group.as_str()), &mut result);
                    }
                    Part::Case(letter) => case.change(*letter),
                }
            }
            copied = whole.end();
        }
        result + &name[copied..]
    }
}

/// Case in which a replacement goes on.
#[derive(Default)]
struct CaseState {
    /// `U` or `L` for all characters.
    all: Option<char>,
    /// `u` or `l` for the next one.
    one: Option<char>,
}

impl CaseState {
    fn change(&mut self, letter: char) {
        match letter {
            'U' | 'L' => *self = Self { all: Some(letter), one: None },
            'E' => *self = Self::default(),
            letter => self.one = Some(letter),
        }
    }

    fn push(&mut self, text: &str, result: &mut String) {
        for character in text.chars() {
            match self.one.take().or(self.all) {
                Some('U' | 'u') => result.extend(character.to_uppercase()),
                Some(_) => result.extend(character.to_lowercase()),
                None => result.push(character),
            }
        }
    }
}

/// Reads one expression, and returns what is behind it and its `;`.
fn substitution(text: &str) -> Option<(Substitution, &str)> {
    let text = text.strip_prefix('s')?;
    let delimiter = text.chars().next()?;
    let text = &text[delimiter.len_utf8()..];
    let (pattern, text) = until(text, delimiter)?;
    let (replacement, text) = until(text, delimiter)?;
    let (flags, behind) = text.split_once(';').unwrap_or((text, ""));
    let (mut extended, mut ignore_case, mut global, mut occurrence) = (false, false, false, 1);
    let (mut members, mut targets) = (true, true);
    let mut flags = flags.chars().peekable();
    while let Some(flag) = flags.next() {
        match flag {
            'g' => global = true,
            'i' => ignore_case = true,
            'x' => extended = true,
            'r' => members = true,
            'R' => members = false,
            's' => targets = true,
            'S' => targets = false,
            // There are no hard links.
            'h' | 'H' => {}
            '1'..='9' => {
                let mut digits = flag.to_string();
                while let Some(digit) = flags.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                occurrence = digits.parse().ok()?;
            }
            _ => return None,
        }
    }
    let pattern = pattern.replace(&format!("\\{delimiter}"), &delimiter.to_string());
    let translated = translate_posix_regex(&pattern, extended);
    let regex = Regex::new(&format!("{}{translated}", if ignore_case { "(?i)" } else { "" })).ok()?;
    let parts = parts(replacement, delimiter);
    Some((Substitution { regex, parts, global, occurrence, members, targets }, behind))
}

/// Splits a text at a delimiter that has no backslash before it.
fn until(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == delimiter => return Some((&text[..at], &text[at + delimiter.len_utf8()..])),
            _ => {}
        }
    }
    None
}

fn parts(replacement: &str, delimiter: char) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut characters = replacement.chars();
    while let Some(character) = characters.next() {
        let part = match character {
            '&' => Part::Group(0),
            '\\' => match characters.next() {
                Some(digit @ '0'..='9') => Part::Group(usize::from(digit as u8 - b'0')),
                Some(letter @ ('U' | 'L' | 'E' | 'u' | 'l')) => Part::Case(letter),
                Some('n') if delimiter != 'n' => {
                    literal.push('\n');
                    continue;
                }
                Some('t') if delimiter != 't' => {
                    literal.push('\t');
                    continue;
                }
                escaped => {
                    literal.extend(escaped);
                    continue;
                }
            },
            character => {
                literal.push(character);
                continue;
            }
        };
        if !literal.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut literal)));
        }
        parts.push(part);
    }
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transform_renames_as_sed_does() {
        for (expression, name, result) in [
            ("s/^p/q/", "p/a.txt", "q/a.txt"),
            ("s,^p/,pkg-1.0/,", "p/a", "pkg-1.0/a"),
            ("s/a/A/g", "p/banana", "p/bAnAnA"),
            ("s/a/A/2", "banana", "banAna"),
            ("s/a/A/2g", "banana", "banAnA"),
            (r"s|\(.*\)/\(.*\)|\2/\1|", "d/f", "f/d"),
            (r"s|(d)|\1\1&|x", "d/f", "ddd/f"),
            (r"s/D/\U&x/i", "d/f", "DX/f"),
            (r"s/^d\///", "d/f", "f"),
            ("s/d/e/;s/f/g/", "d/f", "e/g"),
        ] {
            let mut transform = Transform::default();
            transform.add(expression).expect(expression);
            assert_eq!(transform.apply(name, NameKind::Member), result, "{expression}");
        }
    }

    #[test]
    fn transform_scope_leaves_other_names() {
        let mut transform = Transform::default();
        transform.add("s/d/e/S").expect("an expression");
        assert_eq!(transform.apply("d", NameKind::LinkTarget), "d");
        assert_eq!(transform.apply("d", NameKind::Member), "e");
    }

    #[test]
    fn transform_text_that_is_no_expression_is_refused() {
        for text in ["y/d/e/", "s/d", "s/d/e", "s/d/e/q", "s/[/e/", "x"] {
            assert!(Transform::default().add(text).is_err(), "{text}");
        }
    }
}
