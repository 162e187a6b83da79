//! Lines with their fields.

use std::cmp::Ordering;

use super::options::{FieldSeparator, JoinOptions};
use crate::commands::records::records;

/// Line of a file.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) text: &'a [u8],
    pub(super) fields: Vec<&'a [u8]>,
}

impl<'a> Line<'a> {
    fn new(text: &'a [u8], separator: &FieldSeparator) -> Self {
        let fields = match separator {
            _ if text.is_empty() => Vec::new(),
            FieldSeparator::Blanks => blank_separated(text),
            FieldSeparator::WholeLine => vec![text],
            FieldSeparator::Text(separator) => separated(text, separator),
        };
        Self { text, fields }
    }

    /// Returns a field, which is empty if the line has no such field.
    pub(super) fn field(&self, index: usize) -> &'a [u8] {
        self.fields.get(index).copied().unwrap_or_default()
    }
}

/// Returns the lines of a text.
pub(super) fn lines<'a>(text: &'a [u8], options: &JoinOptions) -> Vec<Line<'a>> {
    records(text, options.line_end).map(|line| Line::new(line, &options.separator)).collect()
}

/// Returns fields that runs of blanks separate. Blanks at the end separate a last field, which is empty.
fn blank_separated(text: &[u8]) -> Vec<&[u8]> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
    let mut fields = Vec::new();
    let Some(start) = text.iter().position(|byte| !is_blank(byte)) else { return fields };
    let mut rest = &text[start..];
    loop {
        let Some(end) = rest.iter().position(is_blank) else {
            fields.push(rest);
            return fields;
        };
        fields.push(&rest[..end]);
        let next = rest[end..].iter().position(|byte| !is_blank(byte));
        rest = next.map_or(&[][..], |next| &rest[end + next..]);
        if rest.is_empty() {
            fields.push(rest);
            return fields;
        }
    }
}

/// Returns fields that a text separates.
fn separated<'a>(text: &'a [u8], separator: &[u8]) -> Vec<&'a [u8]> {
    let mut fields = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(separator.len()).position(|window| window == separator) {
        fields.push(&rest[..at]);
        rest = &rest[at + separator.len()..];
    }
    fields.push(rest);
    fields
}

/// Compares two keys by their bytes.
pub(super) fn compare_keys(one: &[u8], other: &[u8], ignores_case: bool) -> Ordering {
    if !ignores_case {
        return one.cmp(other);
    }
    let upper = |key: &[u8]| key.to_ascii_uppercase();
    upper(one).cmp(&upper(other))
}
