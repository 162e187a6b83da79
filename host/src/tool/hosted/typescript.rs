//! JSON Schema as TypeScript, for the declarations of host functions.
//!
//! A declaration never says less than is true: what TypeScript has no word for is `any` in arguments and in results.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::tool::typescript::{comment, grouped, indent, property, quoted};

/// How deep types are written out; below that stands `any`.
const MAX_DEPTH: usize = 8;

/// How many types of one schema are written out: parts that refer to other parts, several times each, are endless.
const MAX_TYPES: usize = 500;

/// Whether a value goes to the function or comes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tool) enum Direction {
    /// Bytes may be given as `Uint8Array` or in base64.
    Argument,
    /// Bytes arrive as `Uint8Array`.
    Result,
}

/// Returns the type of a schema's values, written to stand at an indentation of so many levels.
pub(in crate::tool) fn type_of(schema: &Value, direction: Direction, depth: usize) -> String {
    Writer { root: schema, direction, within: Vec::new(), left: MAX_TYPES }.type_of(schema, depth)
}

struct Writer<'s> {
    root: &'s Value,
    direction: Direction,
    /// The parts that are being written: what refers back to one of them is `any` there.
    within: Vec<&'s Value>,
    left: usize,
}

impl<'s> Writer<'s> {
    fn type_of(&mut self, schema: &'s Value, depth: usize) -> String {
        let part = self.resolved(schema);
        let is_within = self.within.iter().any(|outer| std::ptr::eq(*outer, part));
        if self.left == 0 {
            return "any".to_owned();
        }
        self.left -= 1;
        if self.within.len() >= MAX_DEPTH || is_within {
            return "any".to_owned();
        }
        self.within.push(part);
        let written = match part {
            Value::Bool(false) => "never".to_owned(),
            Value::Object(object) => self.of(object, depth),
            _ => "any".to_owned(),
        };
        self.within.pop();
        written
    }

    /// Follows references within the schema, as far as they go.
    fn resolved(&self, mut schema: &'s Value) -> &'s Value {
        for _ in 0..MAX_DEPTH {
            let pointer = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
            match pointer.and_then(|pointer| self.root.pointer(pointer)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    fn of(&mut self, object: &'s Map<String, Value>, depth: usize) -> String {
        if let Some(value) = object.get("const") {
            return literal(value);
        }
        if let Some(values) = object.get("enum").and_then(Value::as_array) {
            return union(values.iter().map(literal));
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(cases) = object.get(word).and_then(Value::as_array) {
                let cases: Vec<String> = cases.iter().map(|case| self.type_of(case, depth)).collect();
                return union(cases);
            }
        }
        if let Some(Value::Array(parts)) = object.get("allOf")
            && !object.contains_key("properties")
        {
            let parts: Vec<String> = parts.iter().map(|part| grouped(&self.type_of(part, depth))).collect();
            return if parts.is_empty() { "any".to_owned() } else { parts.join(" & ") };
        }
        match object.get("type") {
            Some(Value::Array(types)) => {
                let types: Vec<String> = types.iter().map(|ty| self.plain(ty.as_str(), object, depth)).collect();
                union(types)
            }
            Some(ty) => self.plain(ty.as_str(), object, depth),
            None if object.contains_key("properties") => self.object(object, depth),
            None => "any".to_owned(),
        }
    }

    fn plain(&mut self, ty: Option<&str>, object: &'s Map<String, Value>, depth: usize) -> String {
        match ty {
            Some("string") => self.text(object).to_owned(),
            Some("integer" | "number") => "number".to_owned(),
            Some("boolean") => "boolean".to_owned(),
            Some("null") => "null".to_owned(),
            Some("array") => self.array(object, depth),
            Some("object") => self.object(object, depth),
            _ => "any".to_owned(),
        }
    }

    fn text(&self, object: &Map<String, Value>) -> &'static str {
        let is_bytes = object.get("contentEncoding").is_some_and(|encoding| encoding == "base64");
        match (is_bytes, self.direction) {
            (false, _) => "string",
            (true, Direction::Argument) => "string | Uint8Array",
            (true, Direction::Result) => "Uint8Array",
        }
    }

    fn array(&mut self, object: &'s Map<String, Value>, depth: usize) -> String {
        let items = object.get("items");
        let Some(members) = object.get("prefixItems").and_then(Value::as_array) else {
            let item = items.map_or_else(|| "any".to_owned(), |items| self.type_of(items, depth));
            return format!("{}[]", grouped(&item));
        };
        let fewest =
            object.get("minItems").and_then(Value::as_u64).map_or(0, |least| usize::try_from(least).unwrap_or(0));
        let mut written = Vec::new();
        for (index, member) in members.iter().enumerate() {
            let member = grouped(&self.type_of(member, depth));
            written.push(if index < fewest { member } else { format!("{member}?") });
        }
        let has_most = object.get("maxItems").and_then(Value::as_u64) == Some(members.len() as u64);
        if !has_most && items != Some(&Value::Bool(false)) {
            let item = items.map_or_else(|| "any".to_owned(), |items| self.type_of(items, depth));
            written.push(format!("...{}[]", grouped(&item)));
        }
        format!("[{}]", written.join(", "))
    }

    fn object(&mut self, object: &'s Map<String, Value>, depth: usize) -> String {
        let properties = object.get("properties").and_then(Value::as_object).filter(|named| !named.is_empty());
        let rest = object.get("additionalProperties");
        let Some(properties) = properties else {
            let item = match rest {
                Some(Value::Bool(false)) => return "{}".to_owned(),
                Some(rest) => self.type_of(rest, depth),
                None => "any".to_owned(),
            };
            return match object.get("propertyNames").and_then(|names| names.get("enum")).and_then(Value::as_array) {
                Some(keys) => format!("{{ [key in {}]?: {item} }}", union(keys.iter().map(literal))),
                None => format!("{{ [key: string]: {item} }}"),
            };
        };
        let required = object.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
        let has_more = rest.is_some_and(|rest| *rest != Value::Bool(false));
        let is_short = properties.len() <= 3 && !properties.values().any(|schema| remarks(schema).is_some());
        let mut fields = Vec::new();
        for (name, schema) in properties {
            let mark = if is_required(name) { "" } else { "?" };
            let deeper = if is_short { depth } else { depth + 1 };
            let ty = self.type_of(schema, deeper);
            fields.push((remarks(schema), format!("{}{mark}: {ty}", property(name))));
        }
        if has_more {
            // The type of the others would have to fit the named ones too.
            fields.push((None, "[key: string]: any".to_owned()));
        }
        if is_short {
            let fields: Vec<String> = fields.into_iter().map(|(_, field)| field).collect();
            return format!("{{ {} }}", fields.join("; "));
        }
        let mut text = "{\n".to_owned();
        for (remarks, field) in fields {
            comment(&mut text, depth + 1, remarks.as_deref().unwrap_or_default());
            let _ = writeln!(text, "{}{field};", indent(depth + 1));
        }
        let _ = write!(text, "{}}}", indent(depth));
        text
    }
}

/// What stands above a field: what its author says, and its default.
fn remarks(schema: &Value) -> Option<String> {
    let docs = schema.get("description").and_then(Value::as_str).map(str::trim).filter(|docs| !docs.is_empty());
    let default = schema.get("default").map(|value| format!("@default {value}"));
    match (docs, default) {
        (None, None) => None,
        (docs, default) => Some(docs.into_iter().chain(default.as_deref()).collect::<Vec<_>>().join("\n")),
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => "any".to_owned(),
    }
}

/// The choices, each once; `any` if that is one of them.
fn union(choices: impl IntoIterator<Item = String>) -> String {
    let mut known: Vec<String> = Vec::new();
    for choice in choices {
        if choice == "any" {
            return choice;
        }
        if !known.contains(&choice) {
            known.push(choice);
        }
    }
    if known.is_empty() { "never".to_owned() } else { known.join(" | ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn argument(schema: Value) -> String {
        type_of(&schema, Direction::Argument, 0)
    }

    #[test]
    fn types_say_what_the_schema_says() {
        for (schema, ty) in [
            (json!({}), "any"),
            (json!(true), "any"),
            (json!(false), "never"),
            (json!({ "const": "a\"b" }), "\"a\\\"b\""),
            (json!({ "type": "string", "enum": ["a", "b"] }), "\"a\" | \"b\""),
            (json!({ "enum": [1, null, true] }), "1 | null | true"),
            (
                json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }, { "type": "null" }] }),
                "number | string | null",
            ),
            (json!({ "anyOf": [{ "type": "integer" }, { "type": "number" }] }), "number"),
            (json!({ "anyOf": [{ "type": "integer" }, {}] }), "any"),
            (json!({ "type": ["string", "null"] }), "string | null"),
            (json!({ "type": "array", "items": { "enum": ["a", "b"] } }), "(\"a\" | \"b\")[]"),
            (json!({ "type": "array" }), "any[]"),
            (
                json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "minItems": 1, "items": false }),
                "[string, number?]",
            ),
            (
                json!({ "type": "array", "prefixItems": [{}], "minItems": 1, "items": { "type": "null" } }),
                "[any, ...null[]]",
            ),
            (json!({ "type": "object" }), "{ [key: string]: any }"),
            (json!({ "type": "object", "additionalProperties": { "type": "number" } }), "{ [key: string]: number }"),
            (
                json!({ "type": "object", "additionalProperties": {}, "propertyNames": { "enum": ["x", "y"] } }),
                "{ [key in \"x\" | \"y\"]?: any }",
            ),
            (
                json!({ "type": "object", "properties": { "a-b": { "type": "null" }, "c": {} }, "required": ["c"] }),
                "{ \"a-b\"?: null; c: any }",
            ),
            (
                json!({ "properties": { "a": { "type": "null" } }, "additionalProperties": { "type": "string" } }),
                "{ a?: null; [key: string]: any }",
            ),
            (json!({ "allOf": [{ "type": "string" }, { "enum": ["a", "b"] }] }), "string & (\"a\" | \"b\")"),
        ] {
            assert_eq!(argument(schema.clone()), ty, "{schema}");
        }
        let bytes = json!({ "type": "string", "contentEncoding": "base64" });
        assert_eq!(argument(bytes.clone()), "string | Uint8Array");
        assert_eq!(type_of(&bytes, Direction::Result, 0), "Uint8Array");
    }

    #[test]
    fn fields_have_docs_and_defaults() {
        let schema = json!({
            "type": "object",
            "properties": { "city": { "type": "string", "description": "Where */ to." }, "days": { "type": "integer", "default": 1 } },
            "required": ["city"],
        });
        let expected = "{\n  /** Where *\\/ to. */\n  city: string;\n  /** @default 1 */\n  days?: number;\n}";
        assert_eq!(argument(schema), expected);
    }

    #[test]
    fn schema_within_itself_or_without_end_is_written_in_part() {
        let tree = json!({
            "$defs": { "Tree": { "type": "object", "properties": { "left": { "$ref": "#/$defs/Tree" } } } },
            "$ref": "#/$defs/Tree",
        });
        assert_eq!(argument(tree), "{ left?: any }");
        let level = |number: usize| {
            let next = json!({ "$ref": format!("#/$defs/{}", number + 1) });
            let fields: Map<String, Value> = (0..20).map(|field| (format!("f{field}"), next.clone())).collect();
            (number.to_string(), json!({ "type": "object", "properties": fields }))
        };
        let levels: Map<String, Value> = (0..10).map(level).collect();
        let written = argument(json!({ "$defs": levels, "$ref": "#/$defs/0" }));
        assert!(written.len() < 100_000, "{}", written.len());
    }
}
