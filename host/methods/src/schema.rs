//! JSON Schema (2020-12) of a function's parameters and result, for MCP and for scripts that inspect tools before
//! calling them.
//!
//! A schema of parameters describes the canonical form, which is always accepted. The other spellings that `canonical`
//! accepts are not in it. Types are written out where they are used: readers of schemas, language models among them,
//! follow `$ref` badly.

use serde_json::{Map, Value, json};

use super::canonical::{self, MAX_SAFE};
use super::types::{Case, Field, Function, Members, Shape, Type};

/// Direction of values. A returned value may be spelled as a string where a parameter is best given as a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaDirection {
    In,
    Out,
}

/// Returns the schema of the one object that a function takes.
#[must_use]
pub fn parameters(function: &Function) -> Value {
    object(&function.params, SchemaDirection::In)
}

/// Returns the schema of a function's successful result; of null if it returns nothing.
#[must_use]
pub fn result(function: &Function) -> Value {
    function.returns().map_or_else(|| json!({"type": "null"}), |ty| schema(ty, SchemaDirection::Out))
}

/// Returns the schema of the `payload` of a function's errors. Returns `None` if it has no errors of its own.
#[must_use]
pub fn error(function: &Function) -> Option<Value> {
    let payload = function.fails_with()?;
    Some(payload.map_or_else(|| json!({"type": "null"}), |ty| schema(ty, SchemaDirection::Out)))
}

/// Describes a method for scripts: `{method, description, parameters, result, error?, granted}`.
#[must_use]
pub fn describe(method: &str, function: &Function, granted: bool) -> Value {
    let mut about = Map::new();
    about.insert("method".to_owned(), json!(method));
    about.insert("description".to_owned(), json!(function.docs.as_deref().unwrap_or_default()));
    about.insert("parameters".to_owned(), parameters(function));
    about.insert("result".to_owned(), result(function));
    if let Some(error) = error(function) {
        about.insert("error".to_owned(), error);
    }
    about.insert("granted".to_owned(), json!(granted));
    Value::Object(about)
}

fn schema(ty: &Type, way: SchemaDirection) -> Value {
    let mut schema = shape(ty, way);
    let docs = ty.definition.as_ref().and_then(|definition| definition.docs.as_deref());
    describe_as(&mut schema, docs);
    schema
}

/// Sets the description: docs of the field before docs of the type.
fn describe_as(schema: &mut Value, docs: Option<&str>) {
    if let (Some(docs), Some(object)) = (docs.map(str::trim).filter(|docs| !docs.is_empty()), schema.as_object_mut()) {
        object.insert("description".to_owned(), json!(docs));
    }
}

fn shape(ty: &Type, way: SchemaDirection) -> Value {
    match &ty.shape {
        Shape::Bool => json!({"type": "boolean"}),
        Shape::String => json!({"type": "string"}),
        Shape::Char => json!({"type": "string", "minLength": 1, "maxLength": 1}),
        Shape::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
        Shape::F32 | Shape::F64 => float(way),
        Shape::List(inner) => json!({"type": "array", "items": schema(inner, way)}),
        Shape::FixedList(inner, count) => {
            json!({"type": "array", "items": schema(inner, way), "minItems": count, "maxItems": count})
        }
        Shape::Tuple(members) => {
            let items: Vec<Value> = members.iter().map(|member| schema(member, way)).collect();
            json!({"type": "array", "prefixItems": items, "minItems": members.len(), "maxItems": members.len()})
        }
        Shape::Record(fields) => object(fields, way),
        Shape::Variant(cases) => json!({"oneOf": cases.iter().map(|case| tagged(case, way)).collect::<Vec<_>>()}),
        Shape::Enum(cases) => names(cases),
        Shape::Flags(cases) => json!({"type": "array", "items": names(cases), "uniqueItems": true}),
        Shape::Option(inner) if inner.is_nullable() => {
            json!({"anyOf": [tagged_as("some", Some(inner), None, way), {"type": "null"}]})
        }
        Shape::Option(inner) => nullable(schema(inner, way)),
        Shape::Result { ok, err } => json!({"oneOf": [
            tagged_as("ok", ok.as_deref(), None, way),
            tagged_as("err", err.as_deref(), None, way),
        ]}),
        Shape::Map(_, item) => json!({"type": "object", "additionalProperties": schema(item, way)}),
        Shape::Own(resource) | Shape::Borrow(resource) => {
            json!({"type": "string", "description": format!("handle of a `{}`, as a call returned it", resource.name)})
        }
        integer => integer_schema(integer, way),
    }
}

fn integer_schema(shape: &Shape, way: SchemaDirection) -> Value {
    let Some((least, most)) = canonical::bounds(shape) else {
        return json!({});
    };
    // Integers of 64 bits come back as strings where a double would not hold them.
    let safe = i128::from(MAX_SAFE);
    if most <= safe {
        return json!({"type": "integer", "minimum": number(least), "maximum": number(most)});
    }
    match way {
        SchemaDirection::In => json!({"type": "integer", "minimum": number(least), "maximum": number(most)}),
        SchemaDirection::Out => json!({"anyOf": [
            {"type": "integer", "minimum": number(least.max(-safe)), "maximum": number(safe)},
            {"type": "string", "pattern": "^-?[0-9]+$", "description": "decimal, beyond ±(2^53 - 1)"},
        ]}),
    }
}

/// Converts a bound of an integer type to JSON: all of them fit `i64` or `u64`.
fn number(n: i128) -> Value {
    i64::try_from(n).map(Value::from).or_else(|_| u64::try_from(n).map(Value::from)).unwrap_or_default()
}

fn float(way: SchemaDirection) -> Value {
    match way {
        SchemaDirection::In => json!({"type": "number"}),
        SchemaDirection::Out => json!({"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}),
    }
}

fn object(fields: &Members<Field>, way: SchemaDirection) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields.iter() {
        let mut property = schema(&field.ty, way);
        describe_as(&mut property, field.docs.as_deref());
        properties.insert(field.camel.clone(), property);
        if way == SchemaDirection::Out || !field.is_optional() {
            required.push(json!(field.camel));
        }
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn tagged(case: &Case, way: SchemaDirection) -> Value {
    tagged_as(&case.name, case.ty.as_ref(), case.docs.as_deref(), way)
}

fn tagged_as(tag: &str, payload: Option<&Type>, docs: Option<&str>, way: SchemaDirection) -> Value {
    let mut properties = Map::new();
    properties.insert("tag".to_owned(), json!({"const": tag}));
    let mut required = vec![json!("tag")];
    if let Some(payload) = payload {
        properties.insert("val".to_owned(), schema(payload, way));
        if way == SchemaDirection::Out || !payload.is_nullable() {
            required.push(json!("val"));
        }
    }
    let mut schema =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    describe_as(&mut schema, docs);
    schema
}

/// Returns the schema of named cases, with their docs in the description, since `enum` has no place for them.
fn names(cases: &Members<Case>) -> Value {
    let list: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let mut schema = json!({"type": "string", "enum": list});
    let docs: Vec<String> = cases
        .iter()
        .filter_map(|case| case.docs.as_ref().map(|docs| format!("`{}`: {}", case.name, docs.trim())))
        .collect();
    describe_as(&mut schema, Some(&docs.join("\n")));
    schema
}

/// Returns a schema that also admits null.
fn nullable(mut schema: Value) -> Value {
    let Some(object) = schema.as_object_mut() else {
        return schema;
    };
    if let (Some(Value::String(kind)), false) = (object.get("type").cloned(), object.contains_key("enum")) {
        object.insert("type".to_owned(), json!([kind, "null"]));
        return schema;
    }
    let description = object.shift_remove("description");
    let mut either = json!({"anyOf": [schema, {"type": "null"}]});
    if let (Some(description), Some(object)) = (description, either.as_object_mut()) {
        object.insert("description".to_owned(), description);
    }
    either
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Definition, Export, FunctionKind};

    fn function(params: Vec<Field>, result: Option<Type>) -> Function {
        Function {
            path: vec!["f".to_owned()],
            docs: Some("Does it.".to_owned()),
            params: params.into(),
            result,
            kind: FunctionKind::Free,
            export: Export { instance: None, function: "f".to_owned() },
            schemas: None,
        }
    }

    #[test]
    fn parameters_are_one_closed_object() {
        let optional = Type::from(Shape::Option(Box::new(Shape::String.into())));
        let mut amount = Field::new("max-amount", Shape::U32);
        amount.docs = Some("In cents.".to_owned());
        let f = function(vec![amount, Field::new("note", optional)], None);
        assert_eq!(
            parameters(&f),
            json!({
                "type": "object",
                "properties": {
                    "maxAmount": {"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32, "description": "In cents."},
                    "note": {"type": ["string", "null"]},
                },
                "required": ["maxAmount"],
                "additionalProperties": false,
            })
        );
        assert_eq!(result(&f), json!({"type": "null"}));
        assert_eq!(error(&f), None);
    }

    #[test]
    fn results_admit_what_lifting_writes() {
        let color = Members::from(vec![Case::new("red", None), Case::new("dark-blue", None)]);
        let named = Type {
            definition: Some(Box::new(Definition {
                interface: String::new(),
                name: "color".to_owned(),
                docs: Some("A colour.".to_owned()),
            })),
            shape: Shape::Enum(color),
        };
        let ok =
            Type::from(Shape::Tuple(vec![Shape::U64.into(), Shape::F64.into(), Shape::Option(Box::new(named)).into()]));
        let f = function(Vec::new(), Some(Shape::Result { ok: Some(Box::new(ok)), err: None }.into()));
        let schema = result(&f);
        assert_eq!(schema["prefixItems"][0]["anyOf"][1]["type"], "string");
        assert_eq!(schema["prefixItems"][1]["anyOf"][1]["enum"][0], "NaN");
        assert_eq!(schema["prefixItems"][2]["description"], "A colour.");
        assert_eq!(schema["prefixItems"][2]["anyOf"][0]["enum"], json!(["red", "dark-blue"]));
        assert_eq!(error(&f), Some(json!({"type": "null"})));
        assert_eq!(describe("a/f", &f, true)["granted"], true);
    }
}
