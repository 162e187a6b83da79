//! Names that a schema declares, and arguments with other names.
//!
//! JSON Schema takes every name that a schema does not mention, unless the schema says otherwise. A policy judges the
//! names that it knows, and a tool may read others as the same: parsers of Go match names without regard to case, and
//! the last one counts. So an argument that no schema declares is refused, unless the schema takes further names
//! explicitly, and one that another spelling of a declared name could be is always refused.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value};
use tollhouse_types::{excerpt, is_hidden};
use unicode_normalization::UnicodeNormalization as _;

use super::step_budget::StepBudget;
use crate::names::nearest;

/// Steps of a check that small arguments may take.
const MAX_STEPS: usize = 1_000_000;

/// Words whose schemas apply to the value itself: lists of schemas, and single ones.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const SINGLE: [&str; 3] = ["if", "then", "else"];

/// Words whose members are schemas that apply to the value itself.
const NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Name by which objects of JavaScript get the members of another object.
const PROTOTYPE: &str = "__proto__";

/// Returns true if the schema takes parameters that it does not declare.
#[must_use]
pub fn takes_undeclared(schema: &Value) -> bool {
    NameCheck::new(schema, StepBudget::new(MAX_STEPS)).part(&[schema]).is_ok_and(|part| part.takes_others)
}

/// Returns true if the schema declares parameters in other places than its own `properties`.
pub(super) fn has_conditional_names(schema: &Value, own: Option<&Map<String, Value>>) -> bool {
    let part = NameCheck::new(schema, StepBudget::new(MAX_STEPS)).part(&[schema]);
    part.is_ok_and(|part| part.names.iter().any(|name| !own.is_some_and(|own| own.contains_key(*name))))
}

/// Checks that each argument has a name that the schema declares, at every depth. The arguments fit the schema.
///
/// # Errors
/// A description of the first other name.
pub(super) fn check(schema: &Value, arguments: &Value) -> Result<(), String> {
    NameCheck::new(schema, StepBudget::for_value(arguments, MAX_STEPS)).value(&[schema], arguments, true)
}

/// Returns the key of a name: the same for names that a parser could take for one another.
fn key_of(name: &str) -> String {
    let folded = name.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc();
    let key: String = folded.filter(|c| !is_separator(*c)).collect();
    if key.is_empty() { name.to_owned() } else { key }
}

fn is_separator(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '\u{2010}'..='\u{2015}' | '\u{2212}') || c.is_whitespace() || is_hidden(c)
}

/// Returns a name of an object that a parser could take for this one, if there is one.
#[must_use]
pub fn respelled<'v>(object: &'v Map<String, Value>, name: &str) -> Option<&'v str> {
    let key = key_of(name);
    object.keys().map(String::as_str).find(|other| *other != name && key_of(other) == key)
}

/// Check of one call's arguments.
struct NameCheck<'c> {
    root: &'c Value,
    budget: StepBudget,
    /// What is declared, by the schemas of a place: elements of a list have the same.
    parts: RefCell<HashMap<Vec<*const Value>, Rc<DeclaredPart<'c>>>>,
}

/// What the schemas of a place declare.
struct DeclaredPart<'c> {
    /// Schemas that apply to the place, with those that they refer to.
    schemas: Vec<&'c Value>,
    /// Names that they declare.
    names: BTreeSet<&'c str>,
    /// These names by their keys, once they are needed.
    by_key: OnceCell<HashMap<String, &'c str>>,
    /// True if they take names that they do not declare.
    takes_others: bool,
}

impl<'c> DeclaredPart<'c> {
    fn properties(&self) -> impl Iterator<Item = &'c Map<String, Value>> {
        self.schemas.iter().filter_map(|schema| schema.get("properties")?.as_object())
    }

    /// Returns the declared name with a key.
    fn with_key(&self, key: &str) -> Option<&'c str> {
        let by_key = self.by_key.get_or_init(|| self.names.iter().map(|name| (key_of(name), *name)).collect());
        by_key.get(key).copied()
    }

    /// Returns the schemas of a member.
    fn below(&self, name: &str) -> Vec<&'c Value> {
        let declared: Vec<&Value> = self.properties().filter_map(|named| named.get(name)).collect();
        if !declared.is_empty() {
            return declared;
        }
        let further = |schema: &'c Value| {
            let by_pattern = schema.get("patternProperties").and_then(Value::as_object);
            let others = ["additionalProperties", "unevaluatedProperties"].iter().filter_map(|word| schema.get(*word));
            by_pattern.into_iter().flat_map(Map::values).chain(others)
        };
        self.schemas.iter().flat_map(|schema| further(schema)).collect()
    }

    /// Returns the schemas of the elements of a list.
    fn elements(&self) -> Vec<&'c Value> {
        let of_word = |schema: &&'c Value, word: &str| match schema.get(word) {
            Some(Value::Array(several)) => several.iter().collect(),
            Some(one) => vec![one],
            None => Vec::new(),
        };
        let words = ["items", "prefixItems", "additionalItems", "unevaluatedItems"];
        self.schemas.iter().flat_map(|schema| words.iter().flat_map(|word| of_word(schema, word))).collect()
    }
}

impl<'c> NameCheck<'c> {
    fn new(root: &'c Value, budget: StepBudget) -> Self {
        Self { root, budget, parts: RefCell::default() }
    }

    fn value(&self, schemas: &[&'c Value], value: &Value, is_whole: bool) -> Result<(), String> {
        if schemas.is_empty() {
            return Ok(());
        }
        match value {
            Value::Object(fields) => {
                let part = self.part(schemas)?;
                self.object(&part, fields, is_whole)
            }
            Value::Array(items) => {
                let elements = self.part(schemas)?.elements();
                items.iter().try_for_each(|item| self.value(&elements, item, false))
            }
            _ => Ok(()),
        }
    }

    fn object(&self, part: &DeclaredPart<'c>, fields: &Map<String, Value>, is_whole: bool) -> Result<(), String> {
        // An object without declared names is data with any names, unless it is the whole of the arguments.
        if is_whole || !part.names.is_empty() {
            let mut seen = HashSet::new();
            for other in fields.keys().filter(|name| !part.names.contains(name.as_str())) {
                let key = key_of(other);
                if let Some(name) = part.with_key(&key) {
                    return Err(format!("`{}` could be taken for `{}`: write that", excerpt(other), excerpt(name)));
                }
                if !part.takes_others {
                    return Err(undeclared(other, &part.names));
                }
                if other == PROTOTYPE || !seen.insert(key) {
                    return Err(format!("`{}` could be taken for another argument", excerpt(other)));
                }
            }
        }
        fields.iter().filter(|(_, value)| value.is_object() || value.is_array()).try_for_each(|(name, value)| {
            self.spend(part.schemas.len())?;
            self.value(&part.below(name), value, false)
        })
    }

    /// Returns what schemas declare for a value that all or some of them apply to.
    fn part(&self, schemas: &[&'c Value]) -> Result<Rc<DeclaredPart<'c>>, String> {
        let place: Vec<*const Value> = schemas.iter().map(|schema| std::ptr::from_ref(*schema)).collect();
        if let Some(known) = self.parts.borrow().get(&place) {
            return Ok(Rc::clone(known));
        }
        let part = Rc::new(self.collected(schemas)?);
        self.parts.borrow_mut().insert(place, Rc::clone(&part));
        Ok(part)
    }

    /// Collects what schemas declare, with all that they refer to.
    fn collected(&self, schemas: &[&'c Value]) -> Result<DeclaredPart<'c>, String> {
        let mut waiting = schemas.to_vec();
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        let (mut is_known, mut takes_others, mut names) = (true, false, BTreeSet::new());
        while let Some(schema) = waiting.pop() {
            if !seen.insert(std::ptr::from_ref(schema)) {
                continue;
            }
            self.spend(1)?;
            found.push(schema);
            if let Some(own) = schema.get("properties").and_then(Value::as_object) {
                self.spend(own.len())?;
                names.extend(own.keys().map(String::as_str));
            }
            takes_others |= takes_others_itself(schema);
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                match reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) {
                    Some(target) => waiting.push(target),
                    // What an anchor stands for is not known here.
                    None => is_known = false,
                }
            }
            is_known &= schema.get("$dynamicRef").is_none() && schema.get("$recursiveRef").is_none();
            for word in LISTS {
                waiting.extend(schema.get(word).and_then(Value::as_array).into_iter().flatten());
            }
            waiting.extend(SINGLE.iter().filter_map(|word| schema.get(*word)));
            for word in NAMED {
                waiting.extend(schema.get(word).and_then(Value::as_object).into_iter().flat_map(Map::values));
            }
        }
        // A schema that declares nothing says nothing of names, also by an empty `properties`, as generators write it.
        let takes_others = takes_others || names.is_empty() || !is_known;
        Ok(DeclaredPart { schemas: found, names, by_key: OnceCell::new(), takes_others })
    }

    fn spend(&self, steps: usize) -> Result<(), String> {
        if self.budget.spend(steps) {
            return Ok(());
        }
        Err("checking their names against its schema takes too long: nest them less deeply".to_owned())
    }
}

/// Returns true if a schema says that it takes names that it does not declare.
fn takes_others_itself(schema: &Value) -> bool {
    let by_pattern = schema.get("patternProperties").and_then(Value::as_object);
    let said = |word: &str| schema.get(word).is_some_and(|others| *others != Value::Bool(false));
    by_pattern.is_some_and(|patterns| !patterns.is_empty())
        || ["additionalProperties", "unevaluatedProperties"].iter().any(|word| said(word))
}

/// Describes the problem with a name that no schema declares.
fn undeclared(name: &str, declared: &BTreeSet<&str>) -> String {
    let near = nearest(name, declared.iter().copied()).map(|near| format!(": did you mean `{}`?", excerpt(near)));
    format!("it has no parameter `{}`{}", excerpt(name), near.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(schema: &Value, arguments: &Value) -> String {
        check(schema, arguments).err().unwrap_or_default()
    }

    fn amount(more: Value) -> Value {
        let mut schema = json!({ "type": "object", "properties": { "amount": { "type": "integer" } } });
        schema.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        schema
    }

    #[test]
    fn undeclared_name_is_taken_only_by_a_schema_that_says_so() {
        let one = json!({ "amount": 5, "note": 1 });
        for closed in [
            amount(json!({})),
            amount(json!({ "additionalProperties": false })),
            amount(json!({ "anyOf": [{ "required": ["amount"] }, {}] })),
            json!({ "$ref": "#/$defs/a", "$defs": { "a": amount(json!({})) } }),
        ] {
            assert!(problem(&closed, &one).contains("has no parameter"), "{closed}");
            assert!(!takes_undeclared(&closed), "{closed}");
        }
        for open in [
            amount(json!({ "additionalProperties": true })),
            amount(json!({ "additionalProperties": { "type": "integer" } })),
            amount(json!({ "patternProperties": { "^n": {} } })),
            amount(json!({ "allOf": [{ "additionalProperties": {} }] })),
            json!({ "type": "object" }),
            json!({ "type": "object", "title": "any" }),
            json!({ "type": "object", "properties": {} }),
        ] {
            assert_eq!(problem(&open, &one), "", "{open}");
            assert!(takes_undeclared(&open), "{open}");
        }
        for declared in [
            amount(json!({ "allOf": [{ "properties": { "note": {} } }] })),
            amount(json!({ "if": {}, "then": { "properties": { "note": {} } } })),
            amount(json!({ "dependentSchemas": { "amount": { "properties": { "note": {} } } } })),
        ] {
            assert_eq!(problem(&declared, &one), "", "{declared}");
            assert!(!takes_undeclared(&declared), "{declared}");
        }
    }

    #[test]
    fn another_spelling_of_a_declared_name_is_refused_by_every_schema() {
        for more in [json!({}), json!({ "additionalProperties": true })] {
            let schema = amount(more);
            for name in [
                "Amount",
                "AMOUNT",
                "a_mount",
                "amount ",
                "amount\u{0}",
                "ａｍｏｕｎｔ",
                "a\u{200b}mount",
                "a-mount",
                "a.mount",
            ] {
                let told = problem(&schema, &json!({ "amount": 5, name: 99999 }));
                assert!(told.contains("could be taken for `amount`"), "{name:?}: {told}");
            }
        }
        let both = json!({ "type": "object", "properties": { "id": {}, "ID": {} } });
        assert_eq!(problem(&both, &json!({ "id": 1, "ID": 2 })), "", "both are declared");
        let open = json!({ "type": "object" });
        assert!(problem(&open, &json!({ "a": 1, "A": 2 })).contains("could be taken for"));
        assert!(problem(&open, &json!({ "__proto__": { "a": 1 } })).contains("could be taken for"));
        assert_eq!(problem(&open, &json!({ "a": 1, "b": { "x": 1, "X": 2 } })), "", "these are data");
    }

    #[test]
    fn names_are_checked_at_every_depth_that_the_schema_describes() {
        let item = amount(json!({ "additionalProperties": true }));
        let schema = json!({ "type": "object", "properties": {
            "order": { "anyOf": [{ "type": "null" }, amount(json!({}))] },
            "items": { "type": "array", "items": { "$ref": "#/$defs/item" } },
            "map": { "type": "object", "additionalProperties": amount(json!({})) },
        }, "$defs": { "item": item } });
        assert_eq!(problem(&schema, &json!({ "order": { "amount": 1 }, "items": [{ "amount": 1, "x": 1 }] })), "");
        assert_eq!(problem(&schema, &json!({ "map": { "a": { "amount": 1 }, "A": {} } })), "");
        for arguments in [
            json!({ "order": { "amount": 1, "x": 2 } }),
            json!({ "items": [{}, { "amount": 1, "AMOUNT": 1 }] }),
            json!({ "map": { "a": { "amounts": 1 } } }),
        ] {
            assert_ne!(problem(&schema, &arguments), "", "{arguments}");
        }
    }
}
