//! The text of a policy as a tree of values with their positions: TOML, or JSON with the same meaning.
//!
//! Duplicate keys are errors in both. Depth and size are limited before anything is interpreted.

use std::fmt;
use std::ops::Range;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::number::Number;
use super::policy::PolicyError;

/// Maximum size of a policy in bytes. A thousand grants with ten clauses each take about one MiB.
pub const MAX_POLICY: usize = 4 << 20;

/// Maximum nesting of tables and lists. A policy needs ten levels.
const MAX_DEPTH: usize = 48;

/// A value and its position, in bytes of the text; positions in JSON are unknown.
#[derive(Clone, Debug)]
pub(super) struct SpannedValue {
    pub(super) value: DocumentValue,
    pub(super) span: Option<Range<usize>>,
}

/// A value of a document.
#[derive(Clone, Debug)]
pub(super) enum DocumentValue {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<SpannedValue>),
    Table(Vec<(SpannedKey, SpannedValue)>),
    /// A date, or a value that is not a finite number: no key of a policy accepts it.
    Other(&'static str),
}

/// A key and its position.
#[derive(Clone, Debug)]
pub(super) struct SpannedKey {
    pub(super) name: String,
    pub(super) span: Option<Range<usize>>,
}

impl SpannedValue {
    /// Parses TOML.
    pub(super) fn toml(text: &str) -> Result<Self, PolicyError> {
        check_size(text)?;
        let table = DeTable::parse(text).map_err(|error| PolicyError::new(error.message(), error.span()))?;
        let span = table.span();
        from_table(table.get_ref(), span, 0)
    }

    /// Parses JSON.
    pub(super) fn json(text: &str) -> Result<Self, PolicyError> {
        check_size(text)?;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = JsonSeed(0).deserialize(&mut deserializer).and_then(|node| deserializer.end().map(|()| node));
        read.map_err(|error| PolicyError::new(error.to_string(), json_span(text, error.line(), error.column())))
    }

    /// Name of the kind of value, with its article.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            DocumentValue::Null => "null",
            DocumentValue::Bool(_) => "a boolean",
            DocumentValue::Number(_) => "a number",
            DocumentValue::String(_) => "a string",
            DocumentValue::Array(_) => "a list",
            DocumentValue::Table(_) => "a table",
            DocumentValue::Other(kind) => kind,
        }
    }
}

fn check_size(text: &str) -> Result<(), PolicyError> {
    if text.len() <= MAX_POLICY {
        return Ok(());
    }
    Err(PolicyError::new(format!("the policy has {} bytes: at most {MAX_POLICY} are read", text.len()), None))
}

/// Converts a line and column of serde_json to a position in the text.
fn json_span(text: &str, line: usize, column: usize) -> Option<Range<usize>> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    // serde_json counts bytes, and may stop within a character.
    let at = text.floor_char_boundary(start + column.saturating_sub(1));
    Some(at..at)
}

fn from_table(table: &DeTable<'_>, span: Range<usize>, depth: usize) -> Result<SpannedValue, PolicyError> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let key = SpannedKey { name: key.get_ref().to_string(), span: Some(key.span()) };
        entries.push((key, from_value(value, depth + 1)?));
    }
    Ok(SpannedValue { value: DocumentValue::Table(entries), span: Some(span) })
}

fn from_value(value: &Spanned<DeValue<'_>>, depth: usize) -> Result<SpannedValue, PolicyError> {
    let span = value.span();
    if depth > MAX_DEPTH {
        return Err(PolicyError::new(format!("nested more than {MAX_DEPTH} deep"), Some(span)));
    }
    let content = match value.get_ref() {
        DeValue::String(text) => DocumentValue::String(text.to_string()),
        DeValue::Boolean(truth) => DocumentValue::Bool(*truth),
        DeValue::Integer(integer) => match i128::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()) {
            Ok(integer) => DocumentValue::Number(Number::Integer(integer)),
            Err(_) => DocumentValue::Other("a number that is too large"),
        },
        DeValue::Float(float) => match float.as_str().replace('_', "").parse().ok().and_then(Number::from_f64) {
            Some(number) => DocumentValue::Number(number),
            None => DocumentValue::Other("a number that is not finite"),
        },
        DeValue::Datetime(_) => DocumentValue::Other("a date (write it as a string)"),
        DeValue::Array(items) => {
            let items: Result<_, _> = items.iter().map(|item| from_value(item, depth + 1)).collect();
            DocumentValue::Array(items?)
        }
        DeValue::Table(table) => return from_table(table, span, depth),
    };
    Ok(SpannedValue { value: content, span: Some(span) })
}

/// Deserializer of JSON at this depth.
struct JsonSeed(usize);

impl<'de> DeserializeSeed<'de> for JsonSeed {
    type Value = SpannedValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<SpannedValue, D::Error> {
        if self.0 > MAX_DEPTH {
            return Err(de::Error::custom(format_args!("nested more than {MAX_DEPTH} deep")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonSeed {
    type Value = SpannedValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<SpannedValue, E> {
        Ok(plain(DocumentValue::Null))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<SpannedValue, E> {
        Ok(plain(DocumentValue::Bool(truth)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<SpannedValue, E> {
        Ok(plain(DocumentValue::Number(Number::Integer(number.into()))))
    }

    fn visit_i64<E>(self, number: i64) -> Result<SpannedValue, E> {
        Ok(plain(DocumentValue::Number(Number::Integer(number.into()))))
    }

    fn visit_f64<E>(self, number: f64) -> Result<SpannedValue, E> {
        Ok(plain(
            Number::from_f64(number).map_or(DocumentValue::Other("a number that is not finite"), DocumentValue::Number),
        ))
    }

    fn visit_str<E>(self, text: &str) -> Result<SpannedValue, E> {
        Ok(plain(DocumentValue::String(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<SpannedValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(Self(self.0 + 1))? {
            items.push(item);
        }
        Ok(plain(DocumentValue::Array(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<SpannedValue, A::Error> {
        let mut entries: Vec<(SpannedKey, SpannedValue)> = Vec::new();
        let mut names = std::collections::HashSet::new();
        while let Some(name) = access.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(de::Error::custom(format_args!("duplicate key `{name}`")));
            }
            let value = access.next_value_seed(Self(self.0 + 1))?;
            entries.push((SpannedKey { name, span: None }, value));
        }
        Ok(plain(DocumentValue::Table(entries)))
    }
}

fn plain(value: DocumentValue) -> SpannedValue {
    SpannedValue { value, span: None }
}
