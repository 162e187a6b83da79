//! How text is split into fields, by `FS` and by `split`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::Arc;

use super::super::regex::AwkRegex;

/// Way to split text.
#[derive(Clone)]
pub(crate) enum Splitter {
    /// `FS = " "`: runs of blanks and newlines separate, those at the edges do not.
    Space,
    Character(char),
    /// Splitting at each character (`FS = ""`).
    Characters,
    Regex(Arc<AwkRegex>),
    Csv,
    /// Splitting by the columns of `FIELDWIDTHS`.
    Widths(Vec<FieldWidth>),
    Fpat(Arc<AwkRegex>),
}

/// Columns of a field of `FIELDWIDTHS`.
#[derive(Clone)]
pub(crate) struct FieldWidth {
    /// Number of characters in front of the field that are left out.
    skipped: usize,
    /// Number of characters of the field, or none for all that are left.
    width: Option<usize>,
}

/// Parses `FIELDWIDTHS`. The error is gawk's message.
pub(super) fn parse_widths(text: &str) -> Result<Vec<FieldWidth>, String> {
    let mut widths = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let invalid = |near: &str| format!("invalid FIELDWIDTHS value, for field {}, near `{near}'", widths.len() + 1);
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (skipped, behind) = match rest[..end].split_once(':') {
            Some((skipped, width)) => (skipped.parse().map_err(|_| invalid(rest))?, end - width.len()),
            None => (0, 0),
        };
        let width = match &rest[behind..end] {
            "*" => None,
            width => Some(width.parse().map_err(|_| invalid(&rest[behind..]))?),
        };
        rest = rest[end..].trim_start();
        if width.is_none() && !rest.is_empty() {
            return Err("`*' must be the last designator in FIELDWIDTHS".to_owned());
        }
        widths.push(FieldWidth { skipped, width });
    }
    Ok(widths)
}

/// Error of a split into more parts than fit in memory.
pub(super) struct TooManyParts;

/// Parts of a text as they are found. Their number is limited while they are, so that a huge text does not build a huge
/// vector before memory is checked (TM-DOS-110).
struct Parts<'a> {
    parts: Vec<String>,
    separators: Option<&'a mut Vec<String>>,
    max_parts: usize,
    too_many: bool,
}

impl Parts<'_> {
    fn push(&mut self, part: impl Into<String>) {
        if self.parts.len() >= self.max_parts {
            self.too_many = true;
        } else {
            self.parts.push(part.into());
        }
    }

    fn push_separator(&mut self, separator: &str) {
        if let Some(separators) = self.separators.as_deref_mut() {
            separators.push(separator.to_string());
        }
    }
}

/// Splits a text; the separators are collected if a place for them is given.
pub(super) fn split_text(
    splitter: &Splitter,
    text: &str,
    separators: Option<&mut Vec<String>>,
    max_parts: usize,
) -> Result<Vec<String>, TooManyParts> {
    let mut parts = Parts { parts: Vec::new(), separators, max_parts, too_many: false };
    match splitter {
        Splitter::Space => split_at_blanks(text, &mut parts),
        _ if text.is_empty() => {}
        Splitter::Character(separator) => split_at_character(*separator, text, &mut parts),
        Splitter::Characters => split_into_characters(text, &mut parts),
        Splitter::Regex(separator) => split_at_matches(separator, text, &mut parts),
        Splitter::Csv => split_csv_record(text).into_iter().for_each(|field| parts.push(field)),
        Splitter::Widths(widths) => split_by_widths(widths, text, &mut parts),
        Splitter::Fpat(field) => split_into_matches(field, text, &mut parts),
    }
    if parts.too_many { Err(TooManyParts) } else { Ok(parts.parts) }
}

/// Splits at runs of blanks. The first separator is the run in front of all parts, which may be empty, as in gawk.
fn split_at_blanks(text: &str, parts: &mut Parts<'_>) {
    let is_blank = |character: char| matches!(character, ' ' | '\t' | '\n');
    let mut rest = text.trim_start_matches(is_blank);
    parts.push_separator(&text[..text.len() - rest.len()]);
    while !rest.is_empty() && !parts.too_many {
        let end = rest.find(is_blank).unwrap_or(rest.len());
        parts.push(&rest[..end]);
        let behind = rest[end..].trim_start_matches(is_blank);
        let separator = &rest[end..rest.len() - behind.len()];
        if !separator.is_empty() {
            parts.push_separator(separator);
        }
        rest = behind;
    }
}

fn split_at_character(separator: char, text: &str, parts: &mut Parts<'_>) {
    for part in text.split(separator) {
        parts.push(part);
        if parts.too_many {
            return;
        }
    }
    for _ in 1..parts.parts.len() {
        parts.push_separator(separator.encode_utf8(&mut [0; 4]));
    }
}

fn split_into_characters(text: &str, parts: &mut Parts<'_>) {
    for character in text.chars() {
        parts.push(character);
        if parts.too_many {
            return;
        }
    }
}

/// Splits at what a regular expression matches; an empty match separates nothing.
fn split_at_matches(separator: &AwkRegex, text: &str, parts: &mut Parts<'_>) {
    let mut part_start = 0;
    let mut position = 0;
    while position <= text.len() && !parts.too_many {
        let Some((start, end)) = separator.find_at(text, position) else {
            break;
        };
        if start == end {
            position = next_character(text, start);
            continue;
        }
        parts.push(&text[part_start..start]);
        parts.push_separator(&text[start..end]);
        part_start = end;
        position = end;
    }
    parts.push(&text[part_start..]);
}

/// Splits a CSV record as RFC 4180 says: fields may be quoted, and a quote in one is doubled.
pub(crate) fn split_csv_record(record: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut is_quoted = false;
    let mut characters = record.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                field.push('"');
                characters.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

fn split_by_widths(widths: &[FieldWidth], text: &str, parts: &mut Parts<'_>) {
    let characters: Vec<char> = text.chars().collect();
    let mut start = 0;
    for field in widths {
        start = field.skipped.saturating_add(start);
        if parts.too_many || start >= characters.len() {
            break;
        }
        let end = field.width.map_or(characters.len(), |width| width.saturating_add(start).min(characters.len()));
        parts.push(characters[start..end].iter().collect::<String>());
        start = end;
    }
}

/// Splits into what a regular expression matches. An empty match is a part unless it stands right behind another. One
/// separator stands before each part and one behind the last; each may be empty.
fn split_into_matches(part: &AwkRegex, text: &str, parts: &mut Parts<'_>) {
    let mut position = 0;
    let mut last_end: Option<usize> = None;
    let mut separator_start = 0;
    while position <= text.len() && !parts.too_many {
        let Some((start, end)) = part.find_at(text, position) else {
            break;
        };
        if start == end {
            if last_end != Some(start) {
                parts.push_separator(&text[separator_start..start]);
                parts.push("");
                last_end = Some(start);
                separator_start = start;
            }
            position = next_character(text, start);
            continue;
        }
        parts.push_separator(&text[separator_start..start]);
        parts.push(&text[start..end]);
        last_end = Some(end);
        separator_start = end;
        position = end;
    }
    parts.push_separator(&text[separator_start..]);
}

/// Returns where the character behind that at `position` begins; behind the last one: past the end.
pub(crate) fn next_character(text: &str, position: usize) -> usize {
    match text[position..].chars().next() {
        Some(character) => position + character.len_utf8(),
        None => text.len() + 1,
    }
}
