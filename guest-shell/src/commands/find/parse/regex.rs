//! Patterns of `-regex`, in the syntax of the crate `regex`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use regex::{Regex, RegexBuilder};

/// Largest compiled pattern, in bytes: patterns come from the script.
const SIZE_LIMIT: usize = 1 << 20;

/// Syntax that `-regextype` names.
#[derive(Clone, Copy)]
pub(in crate::commands::find) enum RegexSyntax {
    Emacs,
    Basic,
    Extended,
}

impl RegexSyntax {
    /// Returns the syntax with a name. The error is a message.
    pub(super) fn of_name(name: &str) -> Result<Self, String> {
        match name {
            "emacs" | "findutils-default" => Ok(Self::Emacs),
            "ed" | "grep" | "posix-basic" | "posix-minimal-basic" | "sed" => Ok(Self::Basic),
            "gnu-awk" | "posix-awk" | "awk" | "posix-egrep" | "egrep" | "posix-extended" => Ok(Self::Extended),
            _ => Err(format!(
                "find: Unknown regular expression type '{name}'; valid types are 'findutils-default', 'ed', 'emacs', \
                 'gnu-awk', 'grep', 'posix-awk', 'awk', 'posix-basic', 'posix-egrep', 'egrep', 'posix-extended', \
                 'posix-minimal-basic', 'sed'.\n"
            )),
        }
    }

    /// Compiles a pattern that a whole path must match. The error is a message.
    pub(super) fn compile(self, pattern: &str, ignore_case: bool) -> Result<Regex, String> {
        let compiled = RegexBuilder::new(&format!("^(?:{})$", translate(pattern, self)))
            .case_insensitive(ignore_case)
            .dot_matches_new_line(true)
            .size_limit(SIZE_LIMIT)
            .build();
        compiled.map_err(|_| {
            format!("find: failed to compile regular expression '{pattern}': Invalid regular expression\n")
        })
    }
}

/// Translates a pattern.
pub(in crate::commands::find) fn translate(pattern: &str, syntax: RegexSyntax) -> String {
    let letters: Vec<char> = pattern.chars().collect();
    let mut translated = String::with_capacity(pattern.len() + 8);
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        match (letter, letters.get(at + 1)) {
            ('\\', Some(&escaped)) => {
                push_escaped(&mut translated, escaped, syntax);
                at += 2;
                continue;
            }
            ('[', _) => {
                at = push_bracket_expression(&mut translated, &letters, at + 1);
                continue;
            }
            ('(' | ')' | '|' | '{' | '}', _) if !matches!(syntax, RegexSyntax::Extended) => {
                push_literal(&mut translated, letter);
            }
            ('+' | '?', _) if matches!(syntax, RegexSyntax::Basic) => push_literal(&mut translated, letter),
            _ => translated.push(letter),
        }
        at += 1;
    }
    translated
}

fn push_literal(translated: &mut String, letter: char) {
    translated.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
}

/// Translates a character after a backslash.
fn push_escaped(translated: &mut String, letter: char, syntax: RegexSyntax) {
    match (syntax, letter) {
        (_, '<' | '>') => translated.push_str("\\b"),
        (_, '`') => translated.push_str("\\A"),
        (_, '\'') => translated.push_str("\\z"),
        (_, 'w' | 'W' | 'b' | 'B' | 's' | 'S') => translated.extend(['\\', letter]),
        (RegexSyntax::Extended, _) => push_literal(translated, letter),
        (_, '(' | ')' | '|' | '{' | '}') | (RegexSyntax::Basic, '+' | '?') => translated.push(letter),
        // The engine has no back-references, and refuses the pattern.
        (_, digit) if digit.is_ascii_digit() => translated.extend(['\\', digit]),
        _ => push_literal(translated, letter),
    }
}

/// Translates a bracket expression after its bracket, and returns the position after it.
fn push_bracket_expression(translated: &mut String, letters: &[char], start: usize) -> usize {
    let mut at = start;
    translated.push('[');
    if letters.get(at) == Some(&'^') {
        translated.push('^');
        at += 1;
    }
    if letters.get(at) == Some(&']') {
        translated.push_str("\\]");
        at += 1;
    }
    while let Some(&letter) = letters.get(at) {
        at += 1;
        match letter {
            ']' => {
                translated.push(']');
                return at;
            }
            '[' => match push_named_class(translated, &letters[at..]) {
                Some(length) => at += length,
                None => translated.push_str("\\["),
            },
            '\\' | '&' | '~' => translated.extend(['\\', letter]),
            _ => translated.push(letter),
        }
    }
    at
}

/// Translates `:class:]`, `.letter.]` or `=letter=]`, and returns its length.
fn push_named_class(translated: &mut String, letters: &[char]) -> Option<usize> {
    let (delimiter, rest) = letters.split_first().filter(|(first, _)| matches!(first, ':' | '.' | '='))?;
    let length = rest.windows(2).position(|pair| pair == [*delimiter, ']'])?;
    if *delimiter == ':' {
        let name: String = rest[..length].iter().collect();
        translated.push_str(&format!("[:{name}:]"));
    } else {
        rest[..length].iter().for_each(|letter| push_literal(translated, *letter));
    }
    Some(length + 3)
}
