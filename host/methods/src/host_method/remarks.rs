//! Remarks: parts of a JSON Schema that types cannot express, such as descriptions, defaults, and bounds.

use serde_json::{Map, Value};

use super::recursion::resolved;
use super::typescript::ValueDirection;

/// Most remarks on one function, which limits the text that models receive.
const MAX_REMARKS: usize = 40;

/// Depth to which fields are examined.
const MAX_DEPTH: usize = 6;

/// Keywords that bound a value, each with a value of its own.
const BOUNDS: [&str; 14] = [
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// Remark on one value of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Path of the value: `order.items[].price`; in a result it begins with `result`.
    pub place: String,
    /// Description by the author, followed by default and bounds, on one line.
    pub text: String,
}

/// Returns the remarks on a value as a doc comment; empty if there are none.
pub(super) fn doc_comment(root: &Value, schema: &Value, direction: ValueDirection) -> String {
    let mut said = SchemaRemarks::of(root, schema, direction);
    if let Some(items) = only_case(root, schema).get("items").and_then(|items| only_case(root, items).as_object()) {
        add_bounds(&mut said.bounds, items, "items.");
    }
    let tags = said.bounds.iter().map(|(keyword, value)| format!("@{keyword} {value}"));
    said.docs.into_iter().map(str::to_owned).chain(tags).collect::<Vec<_>>().join("\n")
}

/// Returns the remarks on a function's parameters and result, and on the fields in them.
pub(super) fn remarks(parameters: &Value, result: &Value) -> Vec<Remark> {
    let mut arguments = RemarkCollector {
        root: parameters,
        direction: ValueDirection::Argument,
        within: Vec::new(),
        found: Vec::new(),
    };
    arguments.look_into(parameters, "");
    let mut results =
        RemarkCollector { root: result, direction: ValueDirection::Result, within: Vec::new(), found: Vec::new() };
    results.look_at(result, "result");
    let mut all = arguments.found;
    all.extend(results.found);
    all.truncate(MAX_REMARKS);
    all
}

/// Remarks of one schema on its value.
struct SchemaRemarks<'s> {
    docs: Option<&'s str>,
    bounds: Vec<(String, String)>,
}

impl<'s> SchemaRemarks<'s> {
    fn of(root: &'s Value, schema: &'s Value, direction: ValueDirection) -> Self {
        let part = resolved(root, schema).0;
        let text = |schema: &'s Value| schema.get("description").and_then(Value::as_str).map(str::trim);
        let docs = text(schema).or_else(|| text(part)).filter(|docs| !docs.is_empty());
        let mut bounds = Vec::new();
        if let Some(object) = only_case(root, part).as_object() {
            add_bounds(&mut bounds, object, "");
        }
        let default = schema.get("default").or_else(|| part.get("default"));
        // The type says that the value may be omitted or null.
        let is_told = |default: &&Value| direction == ValueDirection::Argument && !default.is_null();
        if let Some(default) = default.filter(is_told) {
            bounds.push(("default".to_owned(), default.to_string()));
        }
        Self { docs, bounds }
    }

    /// Formats the remarks on one line.
    fn line(&self) -> String {
        let docs = self.docs.map(|docs| docs.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default();
        let bounds: Vec<String> = self.bounds.iter().map(|(keyword, value)| format!("{keyword} {value}")).collect();
        match (docs.is_empty(), bounds.is_empty()) {
            (_, true) => docs,
            (true, false) => bounds.join(", "),
            (false, false) => format!("{docs} ({})", bounds.join(", ")),
        }
    }
}

fn add_bounds(bounds: &mut Vec<(String, String)>, object: &Map<String, Value>, prefix: &str) {
    for keyword in BOUNDS {
        // The lengths of a tuple are in its type.
        let is_told = keyword.ends_with("Items") && object.contains_key("prefixItems");
        let value = match object.get(keyword).filter(|_| !is_told) {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(true))) => value.to_string(),
            _ => continue,
        };
        bounds.push((format!("{prefix}{keyword}"), value));
    }
}

/// Returns the only choice besides null.
fn only_case<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let part = resolved(root, schema).0;
    let cases = ["anyOf", "oneOf"].iter().find_map(|word| part.get(*word)?.as_array());
    let is_something = |case: &&Value| case.get("type").is_none_or(|ty| ty != "null");
    let mut something = cases.into_iter().flatten().filter(is_something);
    match (something.next(), something.next()) {
        (Some(only), None) => resolved(root, only).0,
        _ => part,
    }
}

/// Collector of remarks on the fields of a schema.
struct RemarkCollector<'s> {
    root: &'s Value,
    direction: ValueDirection,
    /// Parts that are being examined: references back to them are skipped.
    within: Vec<&'s Value>,
    found: Vec<Remark>,
}

impl<'s> RemarkCollector<'s> {
    fn look_at(&mut self, schema: &'s Value, place: &str) {
        let text = SchemaRemarks::of(self.root, schema, self.direction).line();
        if !text.is_empty() {
            self.found.push(Remark { place: place.to_owned(), text });
        }
        self.look_into(schema, place);
    }

    fn look_into(&mut self, schema: &'s Value, place: &str) {
        let part = only_case(self.root, schema);
        let is_within = self.within.iter().any(|outer| std::ptr::eq(*outer, part));
        if is_within || self.within.len() >= MAX_DEPTH || self.found.len() >= MAX_REMARKS {
            return;
        }
        self.within.push(part);
        for (name, field) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let inner = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
            self.look_at(field, &inner);
        }
        if let Some(items) = part.get("items") {
            self.look_at(items, &format!("{place}[]"));
        }
        self.within.pop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(parameters: &Value, result: &Value) -> Vec<String> {
        remarks(parameters, result).into_iter().map(|remark| format!("{}: {}", remark.place, remark.text)).collect()
    }

    #[test]
    fn remarks_tell_docs_bounds_and_defaults_of_all_fields() {
        let parameters = json!({
            "$defs": { "Item": { "type": "object", "description": "One line.", "properties": {
                "price": { "type": "number", "minimum": 0, "description": "In\neuros." },
            } } },
            "properties": {
                "items": { "type": "array", "items": { "$ref": "#/$defs/Item" }, "minItems": 1 },
                "at": { "anyOf": [{ "type": "string", "format": "date" }, { "type": "null" }], "default": null },
                "days": { "type": "array", "items": { "type": "string", "format": "date" } },
                "pair": { "type": "array", "prefixItems": [{}, {}], "minItems": 2, "maxItems": 2 },
                "plain": { "type": "string" },
            },
        });
        let result =
            json!({ "description": "All.", "properties": { "n": { "type": "integer", "default": 1, "maximum": 9 } } });
        assert_eq!(
            told(&parameters, &result),
            [
                "items: minItems 1",
                "items[]: One line.",
                "items[].price: In euros. (minimum 0)",
                "at: format date",
                "days[]: format date",
                "result: All.",
                "result.n: maximum 9",
            ]
        );
    }

    #[test]
    fn doc_comment_has_the_bounds_of_items_too() {
        let days = json!({ "type": "array", "description": "Days.", "minItems": 1, "items": { "type": "string", "format": "date" } });
        assert_eq!(doc_comment(&days, &days, ValueDirection::Argument), "Days.\n@minItems 1\n@items.format date");
    }

    #[test]
    fn remarks_on_recursive_schema_are_bounded() {
        let tree = json!({ "$defs": { "Tree": { "properties": {
            "left": { "$ref": "#/$defs/Tree", "description": "Less." }, "right": { "$ref": "#/$defs/Tree" },
        } } }, "$ref": "#/$defs/Tree" });
        assert_eq!(told(&tree, &json!(true)), ["left: Less."]);
        let fields: Map<String, Value> =
            (0..100).map(|n| (format!("f{n}"), json!({ "description": "Said." }))).collect();
        assert_eq!(told(&json!({ "properties": fields }), &json!(true)).len(), MAX_REMARKS);
    }
}
