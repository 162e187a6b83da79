//! The current record and its fields. The record is split when a field is first asked for, and joined again when its
//! text is asked for after a field has changed.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::special;
use super::super::io::RecordSeparator;
use super::super::value::Value;
use super::splitter::{Splitter, TooManyParts, split_text};
use super::{Evaluation, Interpreter, Place, RecordKind};
use crate::commands::awk::bounds::MAX_FIELD_INDEX;

impl Interpreter {
    /// Makes a text of the input the current record.
    pub(crate) fn set_record(&mut self, text: String) {
        self.replace_record(text, RecordKind::Input);
    }

    fn replace_record(&mut self, text: String, kind: RecordKind) {
        self.replace_record_text(text, kind);
        self.record.is_split = false;
        self.record.is_stale = false;
    }

    fn replace_record_text(&mut self, text: String, kind: RecordKind) {
        self.live_bytes = self.live_bytes.saturating_sub(self.record.text.len()) + text.len();
        self.record.text = text;
        self.record.kind = kind;
    }

    /// Splits the record into fields, if that is not done yet.
    pub(super) fn ensure_split(&mut self) -> Evaluation<()> {
        if self.record.is_split {
            return Ok(());
        }
        let parts = self.split_record()?;
        let old_bytes: usize = self.record.fields.iter().map(Value::heap_bytes).sum();
        let new_bytes: usize = parts.iter().map(String::len).sum();
        self.live_bytes = self.live_bytes.saturating_sub(old_bytes) + new_bytes;
        self.record.fields = parts.into_iter().map(Value::from_input).collect();
        self.put_field_count();
        self.record.is_split = true;
        Ok(())
    }

    fn split_record(&mut self) -> Evaluation<Vec<String>> {
        let max_parts = self.split_budget();
        let splitter = &self.settings.splitter;
        let by_lines = matches!(self.settings.record_separator, RecordSeparator::Paragraph)
            && self.settings.single_separator
            && matches!(splitter, Splitter::Character(_) | Splitter::Regex(_));
        let text = &self.record.text;
        let parts = match by_lines {
            true => split_lines(splitter, text, max_parts),
            false => split_text(splitter, text, None, max_parts),
        };
        parts.map_err(|TooManyParts| self.memory_exceeded())
    }

    fn put_field_count(&mut self) {
        self.put_special(special::NF, Value::Num(self.record.fields.len() as f64));
    }

    /// Joins the fields to the text of the record, if one has changed.
    pub(super) fn rebuild_record(&mut self) -> Evaluation<()> {
        if !self.record.is_stale {
            return Ok(());
        }
        let texts: Vec<String> = self.record.fields.iter().map(|field| self.text_of(field)).collect();
        let separator_bytes = self.settings.ofs.len();
        self.string_fits(texts.iter().map(|text| text.len() + separator_bytes).sum())?;
        let text = texts.join(&self.settings.ofs);
        self.replace_record_text(text, RecordKind::Text);
        self.record.is_stale = false;
        Ok(())
    }

    /// Returns a field; field 0 is the record.
    pub(super) fn field(&mut self, index: usize) -> Evaluation<Value> {
        if index == 0 {
            self.rebuild_record()?;
            return Ok(match self.record.kind {
                RecordKind::Input => Value::from_input(self.record.text.clone()),
                RecordKind::Text => Value::Str(self.record.text.clone()),
                RecordKind::Number(number) => Value::Num(number),
            });
        }
        self.ensure_split()?;
        // A field that is not there is an empty string, and no number: `$9 == 0` is false.
        let field = self.record.fields.get(index - 1).cloned();
        Ok(field.unwrap_or_else(|| Value::Str(String::new())))
    }

    /// Assigns to a field; field 0 is the record.
    pub(super) fn set_field(&mut self, index: usize, value: Value) -> Evaluation<()> {
        if index == 0 {
            let kind = match value {
                Value::Num(number) => RecordKind::Number(number),
                Value::Str(_) => RecordKind::Text,
                Value::StrNum(..) | Value::Uninit => RecordKind::Input,
            };
            let text = self.text_of(&value);
            self.replace_record(text, kind);
            return Ok(());
        }
        self.check_field_index(index)?;
        self.ensure_split()?;
        // The rebuilt record must fit before any field is created.
        let missing = index.saturating_sub(self.record.fields.len());
        self.string_fits(self.record.text.len() + value.heap_bytes() + missing * self.settings.ofs.len())?;
        self.reach_field(index);
        let old_bytes = self.record.fields[index - 1].heap_bytes();
        self.live_bytes = self.live_bytes + value.heap_bytes() - old_bytes.min(self.live_bytes);
        self.record.fields[index - 1] = value;
        self.record.is_stale = true;
        Ok(())
    }

    fn check_field_index(&mut self, index: usize) -> Evaluation<()> {
        if index > MAX_FIELD_INDEX {
            return Err(self.limit_reached(&format!("field index limit ({MAX_FIELD_INDEX}) exceeded")));
        }
        Ok(())
    }

    /// Makes the fields up to one that something is to be stored in. The record's text stays as it is until then.
    fn reach_field(&mut self, index: usize) {
        if index > self.record.fields.len() {
            self.resize_fields(index);
        }
    }

    /// Cuts fields off, or adds empty ones.
    fn resize_fields(&mut self, count: usize) {
        let cut_bytes: usize = self.record.fields.iter().skip(count).map(Value::heap_bytes).sum();
        self.live_bytes = self.live_bytes.saturating_sub(cut_bytes);
        self.record.fields.resize(count, Value::Str(String::new()));
        self.put_field_count();
    }

    /// Makes the fields up to one that `sub` or `getline` may store in: gawk does so even if they then do not.
    pub(super) fn reach(&mut self, place: &Place) -> Evaluation<()> {
        self.ensure_split()?;
        if let Place::Field(index) = *place
            && index <= MAX_FIELD_INDEX
        {
            self.reach_field(index);
        }
        Ok(())
    }

    /// Changes the number of fields, as an assignment to `NF` does.
    pub(super) fn set_field_count(&mut self, number: f64) -> Evaluation<()> {
        if number < 0.0 {
            return Err(self.fatal_error("NF set to negative value"));
        }
        let count = number as usize;
        self.check_field_index(count)?;
        self.ensure_split()?;
        let missing = count.saturating_sub(self.record.fields.len());
        self.string_fits(self.record.text.len() + missing * self.settings.ofs.len())?;
        self.resize_fields(count);
        self.record.is_stale = true;
        Ok(())
    }
}

/// Splits a paragraph of which newline separates fields, too. As gawk does it, not POSIX: with a regular expression as
/// `FS`, with `FIELDWIDTHS`, `FPAT` or an empty `FS` newline separates nothing.
fn split_lines(splitter: &Splitter, text: &str, max_parts: usize) -> Result<Vec<String>, TooManyParts> {
    let mut parts = Vec::new();
    for line in text.split('\n') {
        parts.extend(split_text(splitter, line, None, max_parts.saturating_sub(parts.len()))?);
    }
    Ok(parts)
}
