//! JSON Schema as TypeScript, for the declarations of host functions and for descriptions to models.
//!
//! A type never excludes valid values: parts that TypeScript cannot express become `any`. Where a type is wider than
//! its schema, the schema still validates each call.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::recursion::{recursive_parts, resolved};
use super::remarks::{self, Remark};
use crate::typescript::{comment, grouped, identifier, indent, property, quoted};

/// Depth to which types are written out; deeper parts become `any`.
const MAX_DEPTH: usize = 8;

/// Most types and fields of one schema that are written out: parts that refer to other parts, several times each, would
/// be endless.
const MAX_TYPES: usize = 2_000;

/// Most named types of one alias.
const MAX_NAMED: usize = 100;

/// Direction of a value, to the function or from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueDirection {
    /// Argument: bytes may be given as `Uint8Array` or in base64.
    Argument,
    /// Result: bytes arrive as `Uint8Array`.
    Result,
}

/// One-line signature of a host function: its types, and the remarks on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSignature {
    /// Type of the one object that it takes. `None` if it takes nothing.
    pub arguments: Option<String>,
    /// Type of the result.
    pub result: String,
    /// Recursive types: names and definitions.
    pub types: Vec<(String, String)>,
    /// Descriptions by the author, defaults and bounds.
    pub remarks: Vec<Remark>,
}

impl HostSignature {
    /// Creates a signature from the JSON Schemas of arguments and result (`true` if one is unspecified).
    #[must_use]
    pub fn new(parameters: &Value, result: &Value) -> Self {
        let mut named = NamedTypes::new("", &[]);
        named.add(parameters, ValueDirection::Argument);
        named.add(result, ValueDirection::Result);
        let type_of =
            |schema, direction| TypeWriter::new(&named, schema, direction, TypeLayout::Line).type_of(schema, 0);
        Self {
            arguments: takes_arguments(parameters).then(|| type_of(parameters, ValueDirection::Argument)),
            result: type_of(result, ValueDirection::Result),
            types: named.types.iter().map(|ty| (ty.name.clone(), ty.body(&named, TypeLayout::Line))).collect(),
            remarks: remarks::remarks(parameters, result),
        }
    }
}

/// Returns true if a function takes arguments, by the schema of its one object. A schema that lists no names and leaves
/// open whether there are others counts as taking none.
fn takes_arguments(parameters: &Value) -> bool {
    let named = parameters.get("properties").and_then(Value::as_object);
    let rest = parameters.get("additionalProperties");
    named.is_some_and(|named| !named.is_empty()) || rest.map_or(named.is_none(), |rest| *rest != Value::Bool(false))
}

/// Writes parameters and result of a function, as they follow its name.
pub(crate) fn write_signature(
    text: &mut String,
    named: &NamedTypes<'_>,
    parameters: &Value,
    result: &Value,
    depth: usize,
) {
    let type_of =
        |schema, direction| TypeWriter::new(named, schema, direction, TypeLayout::Lines).type_of(schema, depth);
    text.push('(');
    if takes_arguments(parameters) {
        let is_required = parameters.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
        let optional = if is_required { "" } else { "?" };
        let _ = write!(text, "args{optional}: {}", type_of(parameters, ValueDirection::Argument));
    }
    let _ = writeln!(text, "): Promise<{}>;", type_of(result, ValueDirection::Result));
}

/// Named types of some schemas: parts that are recursive.
pub(crate) struct NamedTypes<'s> {
    /// Prefix of names where they are used, with a dot at its end.
    scope: String,
    taken: HashSet<String>,
    by_part: HashMap<(*const Value, ValueDirection), usize>,
    types: Vec<NamedType<'s>>,
}

struct NamedType<'s> {
    name: String,
    part: &'s Value,
    root: &'s Value,
    direction: ValueDirection,
}

impl<'s> NamedTypes<'s> {
    pub(crate) fn new(scope: &str, taken: &[&str]) -> Self {
        let taken = taken.iter().map(|name| (*name).to_owned()).collect();
        Self { scope: scope.to_owned(), taken, by_part: HashMap::new(), types: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Names the recursive parts of a schema.
    pub(crate) fn add(&mut self, root: &'s Value, direction: ValueDirection) {
        for (part, pointer) in recursive_parts(root) {
            let alike = |ty: &NamedType<'_>| {
                ty.direction == direction && ty.part == part && ty.root.get("$defs") == root.get("$defs")
            };
            let at = match self.types.iter().position(alike).filter(|_| pointer.starts_with("/$defs/")) {
                Some(at) => at,
                None if self.types.len() < MAX_NAMED => {
                    let name = self.free_name(pointer, direction);
                    self.types.push(NamedType { name, part, root, direction });
                    self.types.len() - 1
                }
                None => continue,
            };
            self.by_part.insert((std::ptr::from_ref(part), direction), at);
        }
    }

    fn free_name(&mut self, pointer: &str, direction: ValueDirection) -> String {
        let last = pointer.rsplit('/').next().filter(|last| !last.is_empty());
        let mut name = identifier(last.unwrap_or("Arguments"));
        if direction == ValueDirection::Result && (last.is_none() || self.taken.contains(&name)) {
            name = if last.is_none() { "Result".to_owned() } else { format!("{name}Result") };
        }
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    fn name_of(&self, part: &Value, direction: ValueDirection) -> Option<String> {
        let at = self.by_part.get(&(std::ptr::from_ref(part), direction))?;
        Some(format!("{}{}", self.scope, self.types[*at].name))
    }

    /// Writes the declarations of these types.
    pub(crate) fn write(&self, text: &mut String) {
        for ty in &self.types {
            comment(text, 1, &remarks::doc_comment(ty.root, ty.part, ty.direction));
            let _ = writeln!(text, "  type {} = {};", ty.name, ty.body(self, TypeLayout::Lines));
        }
    }
}

impl NamedType<'_> {
    fn body(&self, named: &NamedTypes<'_>, layout: TypeLayout) -> String {
        TypeWriter::new(named, self.root, self.direction, layout).written(self.part, 1)
    }
}

/// Layout in which types are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeLayout {
    /// With comments, and a line for each field where there is much to say.
    Lines,
    /// Everything on one line.
    Line,
}

struct TypeWriter<'w, 's> {
    named: &'w NamedTypes<'w>,
    root: &'s Value,
    direction: ValueDirection,
    layout: TypeLayout,
    /// Parts that are being written: references back to them become `any`.
    within: Vec<&'s Value>,
    left: usize,
}

impl<'w, 's> TypeWriter<'w, 's> {
    fn new(named: &'w NamedTypes<'w>, root: &'s Value, direction: ValueDirection, layout: TypeLayout) -> Self {
        Self { named, root, direction, layout, within: Vec::new(), left: MAX_TYPES }
    }

    /// Returns the type of a schema's values, indented by `depth` levels.
    fn type_of(&mut self, schema: &'s Value, depth: usize) -> String {
        let part = resolved(self.root, schema).0;
        self.named.name_of(part, self.direction).unwrap_or_else(|| self.written(part, depth))
    }

    fn written(&mut self, part: &'s Value, depth: usize) -> String {
        let is_within = self.within.iter().any(|outer| std::ptr::eq(*outer, part));
        if self.left == 0 || self.within.len() >= MAX_DEPTH || is_within {
            return "any".to_owned();
        }
        self.left -= 1;
        self.within.push(part);
        let written = match part {
            Value::Bool(false) => "never".to_owned(),
            Value::Object(object) => self.of(object, depth),
            _ => "any".to_owned(),
        };
        self.within.pop();
        written
    }

    fn of(&mut self, object: &'s Map<String, Value>, depth: usize) -> String {
        if let Some(value) = object.get("const") {
            return literal(value);
        }
        if let Some(values) = object.get("enum").and_then(Value::as_array) {
            return union(values.iter().map(literal));
        }
        let mut parts = Vec::new();
        for word in ["anyOf", "oneOf"] {
            if let Some(cases) = object.get(word).and_then(Value::as_array) {
                parts.push(union(cases.iter().map(|case| self.type_of(case, depth)).collect::<Vec<_>>()));
            }
        }
        for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            parts.push(self.type_of(part, depth));
        }
        parts.retain(|part| part != "any");
        // A choice that is only an object or a list adds nothing beside more precise ones.
        let has_form =
            ["properties", "additionalProperties", "items", "prefixItems"].iter().any(|w| object.contains_key(*w));
        if parts.is_empty() || has_form {
            parts.insert(0, self.own(object, depth));
        }
        intersection(parts)
    }

    /// Returns the type of a schema itself, without its choices.
    fn own(&mut self, object: &'s Map<String, Value>, depth: usize) -> String {
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
            (true, ValueDirection::Argument) => "string | Uint8Array",
            (true, ValueDirection::Result) => "Uint8Array",
        }
    }

    fn array(&mut self, object: &'s Map<String, Value>, depth: usize) -> String {
        let items = object.get("items");
        let Some(members) = object.get("prefixItems").and_then(Value::as_array) else {
            if items == Some(&Value::Bool(false)) {
                return "[]".to_owned();
            }
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
        // TypeScript cannot express the types of values whose names match a pattern.
        let has_patterns = object.contains_key("patternProperties");
        let rest = if has_patterns { Some(&Value::Bool(true)) } else { object.get("additionalProperties") };
        let Some(properties) = properties else { return self.map(object, rest, depth) };
        let Some(left) = self.left.checked_sub(properties.len()) else { return "any".to_owned() };
        self.left = left;
        let required = object.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
        let said: Vec<String> =
            properties.values().map(|schema| remarks::doc_comment(self.root, schema, self.direction)).collect();
        let is_short = self.layout == TypeLayout::Line || properties.len() <= 3 && said.iter().all(String::is_empty);
        let deeper = if is_short { depth } else { depth + 1 };
        let (mut fields, mut types) = (Vec::new(), Vec::new());
        for ((name, schema), said) in properties.iter().zip(said) {
            let mark = if is_required(name) { "" } else { "?" };
            let ty = self.type_of(schema, deeper);
            fields.push((said, format!("{}{mark}: {ty}", property(name))));
            types.push(ty);
        }
        if let Some(rest) = rest.filter(|rest| **rest != Value::Bool(false)) {
            types.push(self.type_of(rest, deeper));
            if !properties.keys().all(|name| is_required(name)) {
                types.push("undefined".to_owned());
            }
            fields.push((String::new(), format!("[key: string]: {}", type_of_others(&types))));
        }
        self.laid_out(&fields, is_short, depth)
    }

    /// Returns the type of an object with arbitrary names.
    fn map(&mut self, object: &'s Map<String, Value>, rest: Option<&'s Value>, depth: usize) -> String {
        let item = rest.map_or_else(|| "any".to_owned(), |rest| self.type_of(rest, depth));
        let names = object.get("propertyNames").and_then(|names| names.get("enum")).and_then(Value::as_array);
        let field = match names {
            Some(keys) => format!("[key in {}]?: {item}", union(keys.iter().map(literal))),
            None => format!("[key: string]: {item}"),
        };
        self.laid_out(&[(String::new(), field)], true, depth)
    }

    fn laid_out(&self, fields: &[(String, String)], is_short: bool, depth: usize) -> String {
        let line = |between: &str| fields.iter().map(|(_, field)| field.as_str()).collect::<Vec<_>>().join(between);
        if self.layout == TypeLayout::Line {
            return format!("{{{}}}", line(", "));
        }
        if is_short {
            return format!("{{ {} }}", line("; "));
        }
        let mut text = "{\n".to_owned();
        for (said, field) in fields {
            comment(&mut text, depth + 1, said);
            let _ = writeln!(text, "{}{field};", indent(depth + 1));
        }
        let _ = write!(text, "{}}}", indent(depth));
        text
    }
}

/// Returns the type of unlisted names, which must admit the values of the listed ones. If that is long, it is left out.
fn type_of_others(types: &[String]) -> String {
    if types.iter().any(|ty| ty.contains(['{', '"', '('])) {
        return "any".to_owned();
    }
    union(types.iter().flat_map(|ty| ty.split(" | ")).map(str::to_owned))
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => "any".to_owned(),
    }
}

/// Returns the union of the choices, each once; `any` if that is one of them.
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
    // A type without values adds nothing.
    if known.len() > 1 {
        known.retain(|choice| choice != "never");
    }
    if known.is_empty() { "never".to_owned() } else { known.join(" | ") }
}

/// Returns the intersection of types, without `any`.
fn intersection(parts: Vec<String>) -> String {
    let mut known: Vec<String> = Vec::new();
    for part in parts {
        if part != "any" && !known.contains(&part) {
            known.push(part);
        }
    }
    match known.as_slice() {
        [] => "any".to_owned(),
        [only] => only.clone(),
        several => several.iter().map(|part| grouped(part)).collect::<Vec<_>>().join(" & "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(schema: &Value, direction: ValueDirection) -> String {
        TypeWriter::new(&NamedTypes::new("", &[]), schema, direction, TypeLayout::Lines).type_of(schema, 0)
    }

    fn argument(schema: Value) -> String {
        written(&schema, ValueDirection::Argument)
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
        ] {
            assert_eq!(argument(schema.clone()), ty, "{schema}");
        }
        let bytes = json!({ "type": "string", "contentEncoding": "base64" });
        assert_eq!(argument(bytes.clone()), "string | Uint8Array");
        assert_eq!(written(&bytes, ValueDirection::Result), "Uint8Array");
    }

    #[test]
    fn types_of_objects_say_which_fields_there_are() {
        for (schema, ty) in [
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
                "{ a?: null; [key: string]: null | string | undefined }",
            ),
            (
                json!({ "properties": { "a": {} }, "required": ["a"], "additionalProperties": { "type": "string" } }),
                "{ a: any; [key: string]: any }",
            ),
            (
                json!({ "properties": { "a": { "type": "null" } }, "additionalProperties": false, "patternProperties": {} }),
                "{ a?: null; [key: string]: any }",
            ),
            (
                json!({ "properties": { "a": { "type": ["null", "string"] }, "b": { "type": "string" } }, "required": ["a", "b"], "additionalProperties": { "type": "number" } }),
                "{ a: null | string; b: string; [key: string]: null | string | number }",
            ),
            (
                json!({ "properties": { "a": { "enum": ["x | y"] } }, "additionalProperties": { "type": "string" } }),
                "{ a?: \"x | y\"; [key: string]: any }",
            ),
            (json!({ "type": "object", "additionalProperties": false }), "{ [key: string]: never }"),
            (json!({ "type": "array", "items": false }), "[]"),
            (json!({ "anyOf": [false, { "type": "string" }] }), "string"),
            (
                json!({ "type": "object", "anyOf": [{ "required": ["a"] }, { "required": ["b"] }], "properties": { "a": {}, "b": {} } }),
                "{ a?: any; b?: any }",
            ),
            (
                json!({ "properties": { "a": {} }, "allOf": [{ "properties": { "b": {} } }, { "minProperties": 1 }] }),
                "{ a?: any } & { b?: any }",
            ),
            (
                json!({ "type": "object", "oneOf": [{ "properties": { "a": { "const": 1 } } }, { "properties": { "b": {} } }] }),
                "{ a?: 1 } | { b?: any }",
            ),
            (json!({ "allOf": [{ "type": "string" }, { "enum": ["a", "b"] }] }), "string & (\"a\" | \"b\")"),
        ] {
            assert_eq!(argument(schema.clone()), ty, "{schema}");
        }
    }

    #[test]
    fn fields_have_docs_and_defaults() {
        let schema = json!({
            "type": "object",
            "properties": { "city": { "type": "string", "description": "Where */ to." }, "days": { "type": "integer", "default": 1 } },
            "required": ["city"],
        });
        assert_eq!(written(&schema, ValueDirection::Result).matches("@default").count(), 0);
        let expected = "{\n  /** Where *\\/ to. */\n  city: string;\n  /** @default 1 */\n  days?: number;\n}";
        assert_eq!(argument(schema), expected);
        let bounds = json!({ "properties": { "at": { "anyOf": [{ "type": "string", "format": "date" }, { "type": "null" }] } } });
        assert_eq!(argument(bounds), "{\n  /** @format date */\n  at?: string | null;\n}");
    }

    #[test]
    fn types_that_contain_themselves_have_names() {
        let tree = |kind: &str| {
            json!({
                "$defs": { "my.Tree": { "type": "object", "description": "A tree.", "properties": {
                    "value": { "type": kind, "default": 1 },
                    "children": { "type": "array", "items": { "$ref": "#/$defs/my.Tree" } },
                } } },
                "type": "object", "properties": { "tree": { "$ref": "#/$defs/my.Tree" } },
            })
        };
        let (same, again, other) = (tree("number"), tree("number"), tree("string"));
        let mut named = NamedTypes::new("look.", &["Promise"]);
        named.add(&same, ValueDirection::Argument);
        named.add(&again, ValueDirection::Argument);
        named.add(&again, ValueDirection::Result);
        named.add(&other, ValueDirection::Argument);
        let mut text = String::new();
        named.write(&mut text);
        write_signature(&mut text, &named, &again, &again, 0);
        assert_eq!(named.types.len(), 3, "{text}");
        let expected = "  /** A tree. */
  type my_Tree = {
    /** @default 1 */
    value?: number;
    children?: look.my_Tree[];
  };
";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("type my_TreeResult = { value?: number; children?: look.my_TreeResult[] };"), "{text}");
        assert!(text.contains("type my_Tree_ = "), "{text}");
        assert!(
            text.contains("  tree?: look.my_Tree;")
                && text.contains("{\n  /** A tree. */\n  tree?: look.my_TreeResult;"),
            "{text}"
        );
        let root = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
        let signature = HostSignature::new(&root, &again);
        assert_eq!(signature.arguments.as_deref(), Some("Arguments"));
        assert_eq!(signature.types[0], ("Arguments".to_owned(), "{next?: Arguments}".to_owned()));
        assert_eq!(signature.result, "{tree?: my_Tree}");
    }

    #[test]
    fn signature_is_told_on_one_line() {
        let parameters = json!({ "type": "object", "properties": { "a": { "type": "string", "description": "A." } }, "required": ["a"] });
        let signature = HostSignature::new(&parameters, &json!({ "type": "array", "items": { "type": "object" } }));
        assert_eq!(signature.arguments.as_deref(), Some("{a: string}"));
        assert_eq!(signature.result, "{[key: string]: any}[]");
        assert_eq!(signature.remarks[0].text, "A.");
        let closed = json!({ "type": "object", "properties": {}, "additionalProperties": false });
        assert_eq!(HostSignature::new(&closed, &Value::Bool(true)).arguments, None);
        let arguments = |schema: Value| HostSignature::new(&schema, &Value::Bool(true)).arguments;
        assert_eq!(arguments(json!({ "type": "object", "properties": {} })), None);
        assert_eq!(arguments(json!({ "type": "object" })).as_deref(), Some("{[key: string]: any}"));
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
