//! Number of parts of a schema that are visited for one value.
//!
//! A schema that combines others (`allOf`, `anyOf`, `$ref`, …) visits each of them for the same value. Definitions that refer to
//! each other twice double that number with each level, whatever the value is, so that no limit on accesses to values ends the
//! validation: such a schema is refused before it is used.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// Most visits of parts of a schema for one value: choices among hundreds of definitions take fewer.
const MAX_VISITS: usize = 4096;

/// Most parts of a schema within each other that look at the same value: counting them takes the stack.
const MAX_DEPTH: usize = 500;

/// Keywords with one schema, or a list of them, for the same value.
const SAME_VALUE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Keywords with schemas by name for the same value.
const SAME_VALUE_BY_NAME: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keywords that refer to a schema for the same value.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords with one schema, a list of them, or schemas by name, for parts of the value.
const PARTS_OF_VALUE: [&str; 11] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
];

/// Keywords for which the parts are visited once more, to find what they have evaluated.
const EVALUATE_AGAIN: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Checks that no value is looked at by too many parts of a schema, of which each reference leads to one within it. The error
/// describes the problem.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    let mut visits = SchemaVisits { documents: vec![schema], named: HashMap::new(), known: HashMap::new(), depth: 0 };
    visits.collect_names(schema);
    let (mut seen, mut next) = (HashSet::new(), vec![schema]);
    while let Some(part) = next.pop() {
        if !seen.insert(std::ptr::from_ref(part)) {
            continue;
        }
        if visits.of(part) > MAX_VISITS {
            return Err(format!("its choices and references compare a value with more than {MAX_VISITS} parts of it"));
        }
        let Value::Object(fields) = part else { continue };
        for (key, value) in fields {
            match (key.as_str(), value) {
                (key, Value::String(target)) if REFERENCES.contains(&key) => next.extend(visits.targets(target)),
                (key, Value::Object(named)) if SAME_VALUE_BY_NAME.contains(&key) => next.extend(named.values()),
                (key, value) if SAME_VALUE.contains(&key) || PARTS_OF_VALUE.contains(&key) => {
                    next.push(value);
                    next.extend(value.as_array().into_iter().flatten());
                    next.extend(value.as_object().into_iter().flat_map(|named| named.values()));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Visits of the parts of a schema.
struct SchemaVisits<'s> {
    /// The schema, and the parts of it that references may count as documents of their own.
    documents: Vec<&'s Value>,
    /// Parts by what references call them.
    named: HashMap<String, Vec<&'s Value>>,
    /// Visits of the parts that are known; `None` while they are being counted.
    known: HashMap<*const Value, Option<usize>>,
    /// Parts within each other that are being counted.
    depth: usize,
}

impl<'s> SchemaVisits<'s> {
    fn collect_names(&mut self, part: &'s Value) {
        match part {
            Value::Object(fields) => {
                for (key, prefix) in [("$id", ""), ("id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")] {
                    if let Some(name) = fields.get(key).and_then(Value::as_str) {
                        self.named.entry(format!("{prefix}{name}")).or_default().push(part);
                        if prefix.is_empty() {
                            self.documents.push(part);
                        }
                    }
                }
                fields.values().for_each(|field| self.collect_names(field));
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect_names(item)),
            _ => {}
        }
    }

    /// Counts the visits for a value that a part of the schema looks at. A part that refers to itself is visited once for each
    /// value.
    fn of(&mut self, part: &'s Value) -> usize {
        let Value::Object(fields) = part else { return 1 };
        let address = std::ptr::from_ref(part);
        if let Some(known) = self.known.get(&address) {
            return known.unwrap_or(1);
        }
        if self.depth == MAX_DEPTH {
            return usize::MAX;
        }
        self.depth += 1;
        self.known.insert(address, None);
        let mut visits: usize = 1;
        for (key, value) in fields {
            let key = key.as_str();
            let more = match value {
                Value::String(target) if REFERENCES.contains(&key) => self.of_reference(target),
                Value::Array(items) if SAME_VALUE.contains(&key) => self.sum(items.iter()),
                Value::Object(named) if SAME_VALUE_BY_NAME.contains(&key) => self.sum(named.values()),
                _ if SAME_VALUE.contains(&key) => self.of(value),
                _ => 0,
            };
            visits = visits.saturating_add(more);
        }
        if EVALUATE_AGAIN.iter().any(|key| fields.contains_key(*key)) {
            visits = visits.saturating_mul(2);
        }
        self.depth -= 1;
        self.known.insert(address, Some(visits));
        visits
    }

    fn sum(&mut self, parts: impl Iterator<Item = &'s Value>) -> usize {
        parts.fold(0, |sum, part| sum.saturating_add(self.of(part)))
    }

    /// Counts the visits of the part that a reference leads to: the most that it may be, and too many if it is unknown.
    fn of_reference(&mut self, reference: &str) -> usize {
        let targets = self.targets(reference);
        targets.into_iter().map(|target| self.of(target)).max().unwrap_or(usize::MAX)
    }

    /// Returns the parts that a reference may lead to: which of them depends on the document that it is in.
    fn targets(&self, reference: &str) -> Vec<&'s Value> {
        let named = |name: &str| self.named.get(name).cloned().unwrap_or_default();
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let documents = if document.is_empty() { self.documents.clone() } else { named(document) };
        let Ok(pointer) = percent_encoding::percent_decode_str(fragment).decode_utf8() else { return Vec::new() };
        let mut targets: Vec<&Value> = documents.iter().filter_map(|part| part.pointer(&pointer)).collect();
        targets.extend(named(&format!("#{pointer}")));
        targets
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn usual_schemas_are_visited_rarely() {
        let names: Vec<Value> = (0..500).map(|number| json!({ "$ref": format!("#/$defs/{number}") })).collect();
        let shapes: serde_json::Map<String, Value> = (0..500)
            .map(|number| {
                (number.to_string(), json!({ "properties": { "kind": { "const": number }, "inner": { "$ref": "#" } } }))
            })
            .collect();
        for schema in [
            json!({ "type": "object", "oneOf": names, "$defs": shapes }),
            json!({ "$ref": "#" }),
            json!({ "$id": "https://example.com/tree", "$dynamicAnchor": "node", "items": { "$dynamicRef": "#node" } }),
            json!({ "$defs": { "a b": { "$anchor": "x" } }, "anyOf": [{ "$ref": "#/$defs/a%20b" }, { "$ref": "#x" }] }),
            json!({ "properties": { "$ref": { "type": "string", "examples": [{ "$ref": "none" }] } }, "default": { "$ref": "x" } }),
            json!(true),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }

    /// A reference is to the document that it is in, whatever the outer one has at the same place.
    #[test]
    fn parts_of_documents_within_documents_are_counted() {
        let level = |number: usize| {
            let before = json!({ "$ref": format!("#/$defs/{}", number - 1) });
            (number.to_string(), json!({ "anyOf": [before, { "not": before }] }))
        };
        let mut levels: serde_json::Map<String, Value> = (1..40).map(level).collect();
        levels.insert("0".into(), json!(false));
        let inner = json!({ "$id": "https://example.com/inner", "$defs": levels, "$ref": "#/$defs/39" });
        let outer: serde_json::Map<String, Value> = (0..40).map(|number| (number.to_string(), json!(true))).collect();
        let mut schema = json!({ "properties": { "a": { "$ref": "https://example.com/inner" } }, "$defs": outer });
        schema["$defs"]["inner"] = inner;
        assert!(check(&schema).is_err());
        assert!(
            check(&json!({ "properties": { "a": { "$ref": "elsewhere" } } })).is_err(),
            "nobody knows what it leads to"
        );
        let chain = |number: usize| (number.to_string(), json!({ "$ref": format!("#/$defs/{}", number + 1) }));
        let chain: serde_json::Map<String, Value> = (0..100_000).map(chain).collect();
        assert!(check(&json!({ "$ref": "#/$defs/0", "$defs": chain })).is_err(), "it would take the stack");
    }
}
