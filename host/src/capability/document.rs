//! The text of a policy as a tree in which everything knows where it stands: TOML, or JSON of the same meaning.
//!
//! Keys that stand twice are errors in both. Depth and size are bounded before anything is read.

use std::fmt;
use std::ops::Range;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::number::Number;
use super::policy::PolicyError;

/// The largest policy, in bytes. A thousand grants with ten clauses each take about one.
pub const MAX_POLICY: usize = 4 << 20;

/// How deep tables and lists may nest. A policy needs ten.
const MAX_DEPTH: usize = 48;

/// A value and where it stands, in bytes of the text; nothing is known of values in JSON.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Content,
    pub(super) span: Option<Range<usize>>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Node>),
    Table(Vec<(Key, Node)>),
    /// A date, or a number that is none: nothing in a policy takes it.
    Other(&'static str),
}

/// A key and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) span: Option<Range<usize>>,
}

impl Node {
    /// Reads TOML.
    pub(super) fn toml(text: &str) -> Result<Self, PolicyError> {
        check_size(text)?;
        let table = DeTable::parse(text).map_err(|error| PolicyError::new(error.message(), error.span()))?;
        let span = table.span();
        from_table(table.get_ref(), span, 0)
    }

    /// Reads JSON.
    pub(super) fn json(text: &str) -> Result<Self, PolicyError> {
        check_size(text)?;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = Seed(0).deserialize(&mut deserializer).and_then(|node| deserializer.end().map(|()| node));
        read.map_err(|error| PolicyError::new(error.to_string(), json_span(text, error.line(), error.column())))
    }

    /// What it is, in a word, with its article.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            Content::Null => "null",
            Content::Bool(_) => "a boolean",
            Content::Number(_) => "a number",
            Content::String(_) => "a string",
            Content::Array(_) => "a list",
            Content::Table(_) => "a table",
            Content::Other(kind) => kind,
        }
    }
}

fn check_size(text: &str) -> Result<(), PolicyError> {
    if text.len() <= MAX_POLICY {
        return Ok(());
    }
    Err(PolicyError::new(format!("the policy has {} bytes: at most {MAX_POLICY} are read", text.len()), None))
}

/// Where a line and column of serde_json lie in a text.
fn json_span(text: &str, line: usize, column: usize) -> Option<Range<usize>> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    // It counts bytes, and may stop within a character.
    let at = text.floor_char_boundary(start + column.saturating_sub(1));
    Some(at..at)
}

fn from_table(table: &DeTable<'_>, span: Range<usize>, depth: usize) -> Result<Node, PolicyError> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let key = Key { name: key.get_ref().to_string(), span: Some(key.span()) };
        entries.push((key, from_value(value, depth + 1)?));
    }
    Ok(Node { value: Content::Table(entries), span: Some(span) })
}

fn from_value(value: &Spanned<DeValue<'_>>, depth: usize) -> Result<Node, PolicyError> {
    let span = value.span();
    if depth > MAX_DEPTH {
        return Err(PolicyError::new(format!("nested more than {MAX_DEPTH} deep"), Some(span)));
    }
    let content = match value.get_ref() {
        DeValue::String(text) => Content::String(text.to_string()),
        DeValue::Boolean(truth) => Content::Bool(*truth),
        DeValue::Integer(integer) => match i128::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()) {
            Ok(integer) => Content::Number(Number::Integer(integer)),
            Err(_) => Content::Other("a number that is too large"),
        },
        DeValue::Float(float) => match float.as_str().replace('_', "").parse().ok().and_then(Number::from_f64) {
            Some(number) => Content::Number(number),
            None => Content::Other("no finite number"),
        },
        DeValue::Datetime(_) => Content::Other("a date (write it as a string)"),
        DeValue::Array(items) => {
            let items: Result<_, _> = items.iter().map(|item| from_value(item, depth + 1)).collect();
            Content::Array(items?)
        }
        DeValue::Table(table) => return from_table(table, span, depth),
    };
    Ok(Node { value: content, span: Some(span) })
}

/// Reads JSON at a depth.
struct Seed(usize);

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        if self.0 > MAX_DEPTH {
            return Err(de::Error::custom(format_args!("nested more than {MAX_DEPTH} deep")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(plain(Content::Null))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Node, E> {
        Ok(plain(Content::Bool(truth)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(plain(Content::Number(Number::Integer(number.into()))))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(plain(Content::Number(Number::Integer(number.into()))))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(plain(Number::from_f64(number).map_or(Content::Other("no finite number"), Content::Number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(plain(Content::String(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(Self(self.0 + 1))? {
            items.push(item);
        }
        Ok(plain(Content::Array(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        let mut names = std::collections::HashSet::new();
        while let Some(name) = access.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(de::Error::custom(format_args!("the key `{name}` stands twice")));
            }
            let value = access.next_value_seed(Self(self.0 + 1))?;
            entries.push((Key { name, span: None }, value));
        }
        Ok(plain(Content::Table(entries)))
    }
}

fn plain(value: Content) -> Node {
    Node { value, span: None }
}
