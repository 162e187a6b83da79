//! JSON Schema as types: for the gate, which checks policies against them, and for the shell, which reads flags.
//!
//! Parts without an equivalent become any JSON value. That loses nothing: the schema itself validates the arguments.

use serde_json::{Map, Value};

use super::declared_names::{has_conditional_names, takes_undeclared};
use crate::types::{Field, Members, Shape, Type};

/// Depth to which a schema is converted; deeper parts become any value.
const MAX_DEPTH: usize = 12;

/// Most types that are derived from one schema, shared evenly among the fields of each object: otherwise parts that
/// refer to other parts, several times each, would be written out without end.
const MAX_TYPES: usize = 10_000;

/// Returns the parameters that a schema names, and true if a policy may name others: those that the schema takes
/// without declaring them, and those that it declares under conditions.
pub(super) fn params(schema: &Value) -> Result<(Members<Field>, bool), String> {
    let mut reader = SchemaReader { root: schema, within: Vec::new() };
    let object = reader.resolved(schema).as_object().ok_or("it is not an object")?;
    if !matches!(object.get("type"), None | Some(Value::String(_))) || !is_of(object, "object") {
        return Err("a tool takes one object: its `type` must be `object`".to_owned());
    }
    let named = object.get("properties").and_then(Value::as_object);
    let open = takes_undeclared(schema) || has_conditional_names(schema, named);
    Ok((reader.fields(object, SizeBudget { depth: MAX_DEPTH, types: MAX_TYPES }), open))
}

struct SchemaReader<'s> {
    root: &'s Value,
    /// Parts that are being converted: references back to them become any value.
    within: Vec<&'s Value>,
}

/// Remaining size and depth.
#[derive(Clone, Copy)]
struct SizeBudget {
    depth: usize,
    types: usize,
}

impl SizeBudget {
    /// Returns the remaining size after one type. Returns `None` if nothing remains.
    fn less(self) -> Option<Self> {
        Some(Self { depth: self.depth.checked_sub(1)?, types: self.types.checked_sub(1)? })
    }
}

impl<'s> SchemaReader<'s> {
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

    fn fields(&mut self, object: &'s Map<String, Value>, room: SizeBudget) -> Members<Field> {
        let required = |name: &str| {
            let names = object.get("required").and_then(Value::as_array);
            names.is_some_and(|names| names.iter().any(|known| known == name))
        };
        let properties = object.get("properties").and_then(Value::as_object);
        let each = SizeBudget { types: room.types / properties.map_or(1, |named| named.len().max(1)), ..room };
        let fields = properties.into_iter().flatten().map(|(name, schema)| {
            let ty = self.ty(schema, each);
            let ty = if required(name) || ty.is_nullable() { ty } else { Shape::Option(Box::new(ty)).into() };
            let docs = schema.get("description").and_then(Value::as_str).map(str::to_owned);
            // Its spelling is its own.
            Field { name: name.clone(), camel: name.clone(), docs, default: schema.get("default").cloned(), ty }
        });
        fields.collect()
    }

    fn ty(&mut self, schema: &'s Value, room: SizeBudget) -> Type {
        let Some(deeper) = room.less() else { return Shape::Json.into() };
        let part = self.resolved(schema);
        if self.within.iter().any(|outer| std::ptr::eq(*outer, part)) {
            return Shape::Json.into();
        }
        self.within.push(part);
        let ty = part.as_object().map_or_else(|| Shape::Json.into(), |object| self.of(object, deeper));
        self.within.pop();
        ty
    }

    fn of(&mut self, object: &'s Map<String, Value>, deeper: SizeBudget) -> Type {
        if let Some(cases) = ["anyOf", "oneOf"].iter().find_map(|word| object.get(*word)?.as_array()) {
            return self.one_of(cases, deeper);
        }
        match object.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
            Some([only]) => return self.ty(only, deeper),
            Some(_) => return Shape::Json.into(),
            None => {}
        }
        match object.get("type") {
            Some(Value::Array(types)) => match types.as_slice() {
                [one, other] if other == "null" => nullable(self.plain(one, object, deeper)),
                [one, other] if one == "null" => nullable(self.plain(other, object, deeper)),
                _ => Shape::Json.into(),
            },
            Some(ty) => self.plain(ty, object, deeper),
            None => match object.get("enum").and_then(Value::as_array) {
                Some(values) if values.iter().all(Value::is_string) => Shape::String.into(),
                _ => Shape::Json.into(),
            },
        }
    }

    /// Converts a choice: possible if it is between a type and null.
    fn one_of(&mut self, cases: &'s [Value], room: SizeBudget) -> Type {
        let is_null = |case: &&Value| case.get("type").is_some_and(|ty| ty == "null");
        let (nothing, rest): (Vec<_>, Vec<_>) = cases.iter().partition(is_null);
        let ty = match rest.as_slice() {
            [only] => self.ty(only, room),
            _ => Shape::Json.into(),
        };
        if nothing.is_empty() { ty } else { nullable(ty) }
    }

    fn plain(&mut self, ty: &Value, object: &'s Map<String, Value>, room: SizeBudget) -> Type {
        let shape = match ty.as_str() {
            Some("string") => Shape::String,
            Some("boolean") => Shape::Bool,
            Some("integer") => Shape::S64,
            Some("number") => Shape::F64,
            Some("array") => match object.get("items") {
                Some(items) => Shape::List(Box::new(self.ty(items, room))),
                None => Shape::List(Box::new(Shape::Json.into())),
            },
            Some("object") if object.contains_key("properties") => Shape::Record(self.fields(object, room)),
            _ => Shape::Json,
        };
        shape.into()
    }
}

fn nullable(ty: Type) -> Type {
    if ty.is_nullable() { ty } else { Shape::Option(Box::new(ty)).into() }
}

fn is_of(object: &Map<String, Value>, name: &str) -> bool {
    object.get("type").is_none_or(|ty| ty == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_read_off_a_schema() {
        let schema = json!({
            "type": "object",
            "$defs": { "Item": { "type": "object", "properties": { "price": { "type": "number" } }, "required": ["price"] } },
            "properties": {
                "city": { "type": "string" },
                "days": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "items": { "type": "array", "items": { "$ref": "#/$defs/Item" } },
                "any": {},
            },
            "required": ["city", "items", "any"],
        });
        let (params, open) = params(&schema).expect("an object");
        assert!(!open);
        let told: Vec<String> = params.iter().map(|field| format!("{}: {}", field.name, field.ty.describe())).collect();
        assert_eq!(told, ["city: string", "days: s64 or null", "items: a list of a record", "any: json"]);
    }

    #[test]
    fn schema_recursive_in_itself_is_converted_in_part() {
        let schema = json!({
            "type": "object",
            "$defs": { "Tree": { "type": "object", "properties": { "left": { "$ref": "#/$defs/Tree" } } } },
            "properties": { "tree": { "$ref": "#/$defs/Tree" }, "loop": { "$ref": "#/properties/loop" } },
        });
        let (params, _) = params(&schema).expect("an object");
        let told: Vec<String> = params.iter().map(|field| format!("{}: {}", field.name, field.ty.describe())).collect();
        assert_eq!(told, ["tree: a record or null", "loop: json or null"]);
    }

    /// Written out, this has 20^10 types.
    #[test]
    fn schema_with_exponential_references_is_read_in_part() {
        let level = |number: usize| {
            let next = json!({ "$ref": format!("#/$defs/{}", number + 1) });
            let fields: Map<String, Value> = (0..20).map(|field| (format!("f{field}"), next.clone())).collect();
            (number.to_string(), json!({ "type": "object", "properties": fields }))
        };
        let levels: Map<String, Value> = (0..10).map(level).collect();
        let properties = json!({ "deep": { "$ref": "#/$defs/0" }, "last": { "type": "string" } });
        let schema = json!({ "type": "object", "$defs": levels, "properties": properties, "required": ["last"] });
        let (params, _) = params(&schema).expect("an object");
        let told: Vec<String> = params.iter().map(|field| field.ty.describe()).collect();
        assert_eq!(told, ["a record or null", "string"], "what is beside it is read whole");
    }

    #[test]
    fn names_that_nobody_declared_are_taken_only_if_it_says_so() {
        let named = json!({ "type": "object", "properties": { "a": {} } });
        assert!(!params(&named).expect("an object").1);
        assert!(params(&json!({ "type": "object" })).expect("an object").1);
        assert!(
            params(&json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": true }))
                .expect("an object")
                .1
        );
    }
}
