//! Step budget of validation.
//!
//! A schema that refers to itself in several branches of a choice examines a value once for each branch, its parts once
//! for each branch of each of those, and so on: the validation of a value that a script nests a hundred deep would
//! never end, and no limit on the script's time would stop it. So each access to a value is counted, and once the
//! budget is spent every value looks like null.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt::Write;
use std::slice;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp};
use serde_json::{Map, Number, Value, map};

/// Bytes of text that count as one step.
const BYTES: usize = 64;

/// Average number of steps for each part of a value: a schema may mention it in several places.
const EACH: usize = 32;

/// Remaining steps of a validation.
pub(super) struct StepBudget(Cell<usize>);

impl StepBudget {
    pub(super) fn new(count: usize) -> Self {
        Self(Cell::new(count))
    }

    /// Creates a budget for a value in proportion to its size, plus `more` steps.
    pub(super) fn for_value(value: &Value, more: usize) -> Self {
        Self::new(parts(value).saturating_mul(EACH).saturating_add(more))
    }

    /// Returns true if the budget is spent, so that the validation's result is meaningless.
    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    /// Spends steps. Returns false if there are not enough.
    pub(super) fn spend(&self, count: usize) -> bool {
        let left = self.0.get().saturating_sub(count);
        self.0.set(left);
        left > 0
    }
}

/// JSON whose accesses are counted.
pub(super) struct BudgetedJson;

/// Value of [`BudgetedJson`].
#[derive(Clone, Copy)]
pub(super) struct BudgetedValue<'a> {
    value: &'a Value,
    /// Budget. `None` for the name of a field, which is only a text.
    budget: Option<&'a StepBudget>,
}

impl<'a> BudgetedValue<'a> {
    pub(super) fn new(value: &'a Value, budget: &'a StepBudget) -> Self {
        Self { value, budget: Some(budget) }
    }

    /// Accesses the value for one step.
    fn access(self) -> &'a Value {
        self.access_for(1)
    }

    /// Accesses the whole text, if the value is one.
    fn read(self) -> &'a Value {
        self.access_for(1 + self.value.as_str().map_or(0, str::len) / BYTES)
    }

    fn access_for(self, count: usize) -> &'a Value {
        if self.budget.is_none_or(|budget| budget.spend(count)) { self.value } else { &Value::Null }
    }
}

impl Json for BudgetedJson {
    type Node<'a> = BudgetedValue<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(BudgetedValue<'_>) -> T) -> T {
        *buffer = Value::String(string.to_owned());
        f(BudgetedValue { value: buffer, budget: None })
    }
}

impl<'a> Node<'a, BudgetedJson> for BudgetedValue<'a> {
    type Object = BudgetedObject<'a>;
    type Array = BudgetedArray<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<BudgetedObject<'a>> {
        self.access().as_object().map(|fields| BudgetedObject { fields, budget: self.budget })
    }

    fn as_array(&self) -> Option<BudgetedArray<'a>> {
        self.access().as_array().map(|items| BudgetedArray { items, budget: self.budget })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.read().as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        self.access().as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.access().as_bool()
    }

    fn is_null(&self) -> bool {
        self.access().is_null()
    }

    fn json_type(&self) -> JsonType {
        match self.access() {
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

    /// Copies the part of the value that an error keeps, as often as it occurs: no more than a message shows.
    fn to_value(&self) -> Cow<'a, Value> {
        match self.value {
            Value::Array(_) => Cow::Owned(Value::Array(Vec::new())),
            Value::Object(_) => Cow::Owned(Value::Object(Map::new())),
            Value::String(text) if text.len() > super::validation::MAX_SHOWN => {
                Cow::Owned(text[..text.floor_char_boundary(super::validation::MAX_SHOWN + 4)].into())
            }
            short => Cow::Borrowed(short),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.value).addr()))
    }
}

/// Object whose accesses are counted.
pub(super) struct BudgetedObject<'a> {
    fields: &'a Map<String, Value>,
    budget: Option<&'a StepBudget>,
}

impl<'a> Object<'a, BudgetedJson> for BudgetedObject<'a> {
    type Node = BudgetedValue<'a>;
    type MemberName = &'a str;
    type MembersIter = FieldsIter<'a>;

    fn len(&self) -> usize {
        self.fields.len()
    }

    fn get(&self, key: &String) -> Option<BudgetedValue<'a>> {
        let value = self.fields.get(key)?;
        // Schemas of the field may accept or refuse it without a look at it.
        self.budget.is_none_or(|budget| budget.spend(1)).then_some(BudgetedValue { value, budget: self.budget })
    }

    fn members(&self) -> FieldsIter<'a> {
        FieldsIter(self.fields.iter(), self.budget)
    }
}

pub(super) struct FieldsIter<'a>(map::Iter<'a>, Option<&'a StepBudget>);

impl<'a> Iterator for FieldsIter<'a> {
    type Item = (&'a str, BudgetedValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        let may = self.1.is_none_or(|budget| budget.spend(1 + name.len() / BYTES));
        may.then_some((name.as_str(), BudgetedValue { value, budget: self.1 }))
    }
}

/// Array whose accesses are counted.
pub(super) struct BudgetedArray<'a> {
    items: &'a [Value],
    budget: Option<&'a StepBudget>,
}

impl<'a> Array<'a, BudgetedJson> for BudgetedArray<'a> {
    type Node = BudgetedValue<'a>;
    type ElementsIter = ItemsIter<'a>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter(self.items.iter(), self.budget)
    }

    /// Compares values by their text: the crate's own hashes are equal for all arrays of empty arrays, whatever their
    /// form.
    fn is_unique(&self) -> bool {
        let mut known = HashSet::new();
        self.items.iter().all(|item| {
            let mut text = String::new();
            spell(item, &mut text);
            self.budget.is_none_or(|budget| budget.spend(1 + text.len() / BYTES)) && known.insert(text)
        })
    }
}

/// Writes a value so that equal values have the same text, and others do not.
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
            // The number 1.0 equals 1.
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

pub(super) struct ItemsIter<'a>(slice::Iter<'a, Value>, Option<&'a StepBudget>);

impl<'a> Iterator for ItemsIter<'a> {
    type Item = BudgetedValue<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.0.next()?;
        let may = self.1.is_none_or(|budget| budget.spend(1));
        may.then_some(BudgetedValue { value, budget: self.1 })
    }
}

/// Returns the most bytes of names above any part of a value.
pub(super) fn longest_path(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(longest_path).max().unwrap_or_default(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + longest_path(value)).max().unwrap_or_default()
        }
        _ => 0,
    }
}

/// Counts the values within a value, including itself; a text or name counts as many steps as it takes.
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
