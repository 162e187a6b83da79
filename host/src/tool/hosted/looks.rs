//! Arguments as a schema looks at them, and how often it may.
//!
//! A schema that refers to itself in several branches of a choice looks at a value once for each branch, at what is in it
//! once for each branch of each of those, and so on: what a script nests a hundred deep would be looked at for ever, and no
//! limit on its time would end that. So each look is counted, and when there have been too many all there is to see is null.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt::Write;
use std::slice;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp};
use serde_json::{Map, Number, Value, map};

/// Text is looked at as often as it has so many bytes.
const BYTES: usize = 64;

/// How often each part of a value may be looked at, on average: what a schema says of it in several places.
const EACH: usize = 32;

/// How often a validator may still look.
pub(super) struct Looks(Cell<usize>);

impl Looks {
    pub(super) fn new(count: usize) -> Self {
        Self(Cell::new(count))
    }

    /// As many as a value takes that has so much in it, and `more`.
    pub(super) fn enough_for(value: &Value, more: usize) -> Self {
        Self::new(parts(value).saturating_mul(EACH).saturating_add(more))
    }

    /// Whether there have been too many: what was found then means nothing.
    pub(super) fn are_over(&self) -> bool {
        self.0.get() == 0
    }

    /// Takes so many, if there are more.
    fn take(&self, count: usize) -> bool {
        let left = self.0.get().saturating_sub(count);
        self.0.set(left);
        left > 0
    }
}

/// JSON whose looks are counted.
pub(super) struct Counted;

/// A value of it.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    value: &'a Value,
    /// None of the name of a field, which is only a text.
    looks: Option<&'a Looks>,
}

impl<'a> Seen<'a> {
    pub(super) fn new(value: &'a Value, looks: &'a Looks) -> Self {
        Self { value, looks: Some(looks) }
    }

    /// Looks at it.
    fn look(self) -> &'a Value {
        self.look_as_often_as(1)
    }

    /// Looks at all of it, if it is a text.
    fn read(self) -> &'a Value {
        self.look_as_often_as(1 + self.value.as_str().map_or(0, str::len) / BYTES)
    }

    fn look_as_often_as(self, count: usize) -> &'a Value {
        if self.looks.is_none_or(|looks| looks.take(count)) { self.value } else { &Value::Null }
    }
}

impl Json for Counted {
    type Node<'a> = Seen<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Seen<'_>) -> T) -> T {
        *buffer = Value::String(string.to_owned());
        f(Seen { value: buffer, looks: None })
    }
}

impl<'a> Node<'a, Counted> for Seen<'a> {
    type Object = Fields<'a>;
    type Array = Items<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Fields<'a>> {
        self.look().as_object().map(|fields| Fields { fields, looks: self.looks })
    }

    fn as_array(&self) -> Option<Items<'a>> {
        self.look().as_array().map(|items| Items { items, looks: self.looks })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.read().as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        self.look().as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.look().as_bool()
    }

    fn is_null(&self) -> bool {
        self.look().is_null()
    }

    fn json_type(&self) -> JsonType {
        match self.look() {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        cmp::equal(self.read(), expected)
    }

    /// What an error keeps of it, as often as it is found: no more than a message shows.
    fn to_value(&self) -> Cow<'a, Value> {
        match self.value {
            Value::Array(_) => Cow::Owned(Value::Array(Vec::new())),
            Value::Object(_) => Cow::Owned(Value::Object(Map::new())),
            Value::String(text) if text.len() > super::check::MAX_SHOWN => {
                Cow::Owned(text[..text.floor_char_boundary(super::check::MAX_SHOWN + 4)].into())
            }
            short => Cow::Borrowed(short),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.value).addr()))
    }
}

/// An object.
pub(super) struct Fields<'a> {
    fields: &'a Map<String, Value>,
    looks: Option<&'a Looks>,
}

impl<'a> Object<'a, Counted> for Fields<'a> {
    type Node = Seen<'a>;
    type MemberName = &'a str;
    type MembersIter = FieldsIter<'a>;

    fn len(&self) -> usize {
        self.fields.len()
    }

    fn get(&self, key: &String) -> Option<Seen<'a>> {
        self.fields.get(key).map(|value| Seen { value, looks: self.looks })
    }

    fn members(&self) -> FieldsIter<'a> {
        FieldsIter(self.fields.iter(), self.looks)
    }
}

pub(super) struct FieldsIter<'a>(map::Iter<'a>, Option<&'a Looks>);

impl<'a> Iterator for FieldsIter<'a> {
    type Item = (&'a str, Seen<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        let may = self.1.is_none_or(|looks| looks.take(1 + name.len() / BYTES));
        may.then_some((name.as_str(), Seen { value, looks: self.1 }))
    }
}

/// An array.
pub(super) struct Items<'a> {
    items: &'a [Value],
    looks: Option<&'a Looks>,
}

impl<'a> Array<'a, Counted> for Items<'a> {
    type Node = Seen<'a>;
    type ElementsIter = ItemsIter<'a>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter(self.items.iter(), self.looks)
    }

    /// By their text: the crate's own hashes are the same for all arrays of empty arrays, whatever their form.
    fn is_unique(&self) -> bool {
        let mut known = HashSet::new();
        self.items.iter().all(|item| {
            let mut text = String::new();
            spell(item, &mut text);
            self.looks.is_none_or(|looks| looks.take(1 + text.len() / BYTES)) && known.insert(text)
        })
    }
}

/// Writes a value so that equal ones are the same text, and others are not.
fn spell(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                spell(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in fields {
                let _ = write!(text, "{name:?}:");
                spell(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            // 1.0 is 1.
            #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
            Some(float) if float.fract() == 0.0 && float.abs() < 1e30 => {
                let _ = write!(text, "{}", float as i128);
            }
            _ => {
                let _ = write!(text, "{number}");
            }
        },
        plain => {
            let _ = write!(text, "{plain}");
        }
    }
}

pub(super) struct ItemsIter<'a>(slice::Iter<'a, Value>, Option<&'a Looks>);

impl<'a> Iterator for ItemsIter<'a> {
    type Item = Seen<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.0.next()?;
        let may = self.1.is_none_or(|looks| looks.take(1));
        may.then_some(Seen { value, looks: self.1 })
    }
}

/// The most bytes of names that stand above something in a value.
pub(super) fn longest_path(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(longest_path).max().unwrap_or_default(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + longest_path(value)).max().unwrap_or_default()
        }
        _ => 0,
    }
}

/// How many values there are in a value, with itself; of texts and names as many as are looked at.
fn parts(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(parts).sum::<usize>(),
        Value::Object(fields) => {
            1 + fields.iter().map(|(name, value)| name.len() / BYTES + parts(value)).sum::<usize>()
        }
        Value::String(text) => 1 + text.len() / BYTES,
        _ => 1,
    }
}
