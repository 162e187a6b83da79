//! Canonicalization of arguments: each value gets its one spelling, and is checked against its type.
//!
//! The gate judges the output, and the tool receives exactly the same. So nothing may be ambiguous here: every accepted
//! spelling has one canonical form (listed at [`super::types::Shape`]), and a value without one is an error that names
//! its place. No engine, no handles: a handle is any string here.
//!
//! Accepted beside the canonical form:
//! - keys of records, names of cases and flags in kebab-case, snake_case or lowerCamelCase;
//! - a missing key, or null, for an option; a missing `val` where the payload is an option;
//! - integers as JSON numbers of any notation (`5.0`, `1e4`) while they are exact (up to ±(2^53 - 1)); for 64-bit types
//!   any integer literal, and decimal strings;
//! - `list<u8>` as an array of numbers;
//! - flags in any order and more than once;
//! - a map as an array of `[key, value]` pairs.

mod error;
mod number;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

use self::error::{CheckResult, FaultKind, QUOTED, ValueFault};
use self::number::is_non_finite;
pub(crate) use self::number::{decimal, integer_number};
use super::names;
use super::types::{Case, Field, Function, Members, Shape, Type};

pub use self::error::ArgumentError;
pub(crate) use self::error::{on_one_line, shorten, show};
pub use self::number::{MAX_SAFE, bounds, exact_integer, float_json, float_value, integer_json, to_f32};

/// Canonicalizes the arguments of a call: one object, with keys in the order of the parameters.
///
/// Idempotent; the result can be lowered without further checks except those of handles. Omitted options are filled in
/// as null, which may take at most `memory` bytes.
///
/// # Errors
/// The first value that does not fit.
pub fn canonicalize(function: &Function, mut arguments: Value, memory: u64) -> Result<Value, ArgumentError> {
    if !arguments.is_object() {
        return Err(ArgumentError::NotAnObject { form: form(&function.params), got: show(&arguments) });
    }
    let room = &mut MemoryBudget(memory);
    record(&function.params, &mut arguments, room).map_err(|fault| fault.into_error())?;
    Ok(arguments)
}

/// Canonicalizes one value of a type. Paths in errors begin with `root`, which may be empty. Omitted options may take at
/// most `memory` bytes.
///
/// # Errors
/// The first part that does not fit.
pub fn canonicalize_value(ty: &Type, mut value: Value, root: &str, memory: u64) -> Result<Value, ArgumentError> {
    check(ty, &mut value, &mut MemoryBudget(memory)).map_err(|fault| {
        let fault = if root.is_empty() { fault } else { fault.under_key(root) };
        fault.into_error()
    })?;
    Ok(value)
}

/// Describes the arguments of a function: `{values, mode?}`.
#[must_use]
pub fn form(params: &[Field]) -> String {
    let names: Vec<String> = params
        .iter()
        .map(|field| if field.is_optional() { format!("{}?", field.camel) } else { field.camel.clone() })
        .collect();
    format!("{{{}}}", names.join(", "))
}

/// Bytes of memory that omitted values may still take: a record of options may have hundreds of fields, and a list of
/// such records may be short as it is given.
struct MemoryBudget(u64);

impl MemoryBudget {
    /// Takes the memory of all fields of a record without values.
    fn take_members(&mut self, fields: &Members<Field>) -> CheckResult {
        let bytes: u64 = fields.iter().map(|field| EMPTY_MEMBER + field.camel.len() as u64).sum();
        self.0 = self.0.checked_sub(bytes).ok_or_else(|| ValueFault::new(FaultKind::TooLarge))?;
        Ok(())
    }
}

/// Approximate bytes of memory of a member without a value, besides its key.
const EMPTY_MEMBER: u64 = 128;

/// Checks `value` and rewrites it in place.
fn check(ty: &Type, value: &mut Value, room: &mut MemoryBudget) -> CheckResult {
    match &ty.shape {
        Shape::Bool => value.is_boolean().then_some(()).ok_or_else(|| ValueFault::mismatch(ty, value)),
        Shape::String | Shape::Own(_) | Shape::Borrow(_) => {
            value.is_string().then_some(()).ok_or_else(|| ValueFault::mismatch(ty, value))
        }
        Shape::Char => match value.as_str().map(|text| text.chars().count()) {
            Some(1) => Ok(()),
            _ => Err(ValueFault::mismatch(ty, value)),
        },
        Shape::S8 | Shape::U8 | Shape::S16 | Shape::U16 | Shape::S32 | Shape::U32 | Shape::S64 | Shape::U64 => {
            integer(ty, value)
        }
        Shape::F32 | Shape::F64 => float(ty, value),
        Shape::Bytes => bytes(ty, value),
        Shape::List(inner) => list(ty, inner, None, value, room),
        Shape::FixedList(inner, count) => list(ty, inner, Some(*count), value, room),
        Shape::Tuple(members) => tuple(ty, members, value, room),
        Shape::Record(fields) if value.is_object() => record(fields, value, room),
        Shape::Record(fields) => Err(ValueFault::expected(format!("{} {}", ty.describe(), form(fields)), value)),
        Shape::Variant(cases) => variant(ty, cases, value, room),
        Shape::Enum(cases) => enumeration(ty, cases, value),
        Shape::Flags(cases) => flags(ty, cases, value),
        Shape::Option(inner) => option(inner, value, room),
        Shape::Result { ok, err } => result(ok.as_deref(), err.as_deref(), value, room),
        Shape::Map(key, item) => map(ty, key, item, value, room),
        Shape::Json => Ok(()),
    }
}

fn integer(ty: &Type, value: &mut Value) -> CheckResult {
    let wide = matches!(ty.shape, Shape::S64 | Shape::U64);
    let number = match &*value {
        Value::Number(number) => exact_integer(number),
        Value::String(text) if wide => decimal(text),
        _ => None,
    };
    let in_range = number.zip(bounds(&ty.shape)).filter(|(n, (least, most))| least <= n && n <= most);
    let Some((number, _)) = in_range else {
        return Err(ValueFault::mismatch(ty, value));
    };
    *value = integer_json(number);
    Ok(())
}

fn float(ty: &Type, value: &mut Value) -> CheckResult {
    let number = match &*value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => return if is_non_finite(text) { Ok(()) } else { Err(ValueFault::mismatch(ty, value)) },
        _ => None,
    };
    let narrow = matches!(ty.shape, Shape::F32);
    let Some(number) = number.and_then(|n| if narrow { to_f32(n).map(f64::from) } else { Some(n) }) else {
        return Err(ValueFault::mismatch(ty, value));
    };
    *value = float_json(number);
    Ok(())
}

fn bytes(ty: &Type, value: &mut Value) -> CheckResult {
    match value {
        // The engine accepts only the canonical text (padded, no stray bits), so valid text stays unchanged.
        Value::String(text) => match BASE64.decode(text.as_bytes()) {
            Ok(_) => Ok(()),
            Err(_) => Err(ValueFault::mismatch(ty, value)),
        },
        Value::Array(items) => {
            let mut raw = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                let byte = item.as_number().and_then(exact_integer).and_then(|n| u8::try_from(n).ok());
                raw.push(byte.ok_or_else(|| ValueFault::expected("u8", item).under_index(index))?);
            }
            *value = Value::String(BASE64.encode(raw));
            Ok(())
        }
        _ => Err(ValueFault::mismatch(ty, value)),
    }
}

fn list(ty: &Type, inner: &Type, count: Option<u32>, value: &mut Value, room: &mut MemoryBudget) -> CheckResult {
    let Value::Array(items) = value else {
        return Err(ValueFault::mismatch(ty, value));
    };
    if count.is_some_and(|count| usize::try_from(count) != Ok(items.len())) {
        return Err(ValueFault::mismatch(ty, value));
    }
    for (index, item) in items.iter_mut().enumerate() {
        check(inner, item, room).map_err(|fault| fault.under_index(index))?;
    }
    Ok(())
}

fn tuple(ty: &Type, members: &[Type], value: &mut Value, room: &mut MemoryBudget) -> CheckResult {
    match value {
        Value::Array(items) if items.len() == members.len() => {
            for (index, (item, member)) in items.iter_mut().zip(members).enumerate() {
                check(member, item, room).map_err(|fault| fault.under_index(index))?;
            }
            Ok(())
        }
        _ => Err(ValueFault::mismatch(ty, value)),
    }
}

fn record(fields: &Members<Field>, value: &mut Value, room: &mut MemoryBudget) -> CheckResult {
    let Value::Object(object) = value else {
        return Err(ValueFault::expected(form(fields), value));
    };
    let canonical =
        object.len() == fields.len() && object.keys().zip(fields.iter()).all(|(key, field)| *key == field.camel);
    if !canonical {
        *object = arrange(fields, std::mem::take(object), room)?;
    }
    for (field, value) in fields.iter().zip(object.values_mut()) {
        check(&field.ty, value, room).map_err(|fault| fault.under_key(&field.camel))?;
    }
    Ok(())
}

/// Canonicalizes the keys of an object and their order, and fills in null for omitted options.
fn arrange(
    fields: &Members<Field>,
    object: Map<String, Value>,
    room: &mut MemoryBudget,
) -> Result<Map<String, Value>, Box<ValueFault>> {
    if object.len() < fields.len() {
        room.take_members(fields)?;
    }
    let mut slots: Vec<Option<(String, Value)>> = Vec::new();
    slots.resize_with(fields.len(), || None);
    for (key, value) in object {
        let Some((field, slot)) = fields.position(&key).and_then(|at| Some((fields.get(at)?, slots.get_mut(at)?)))
        else {
            return Err(unknown(fields, &key));
        };
        if let Some((first, _)) = slot {
            let what = FaultKind::Twice { first: std::mem::take(first), second: key };
            return Err(ValueFault::new(what).under_key(&field.camel));
        }
        *slot = Some((key, value));
    }
    let mut arranged = Map::with_capacity(fields.len());
    for (field, slot) in fields.iter().zip(slots) {
        let value = match slot {
            Some((_, value)) => value,
            None if field.is_optional() => Value::Null,
            None => return Err(missing(&field.ty).under_key(&field.camel)),
        };
        arranged.insert(field.camel.clone(), value);
    }
    Ok(arranged)
}

fn missing(ty: &Type) -> Box<ValueFault> {
    ValueFault::new(FaultKind::Missing { expected: ty.describe() })
}

fn unknown(fields: &Members<Field>, key: &str) -> Box<ValueFault> {
    let nearest = names::nearest(key, fields.iter().map(|field| field.camel.as_str())).map(str::to_owned);
    let known = if nearest.is_none() {
        fields.iter().take(QUOTED).map(|field| field.camel.clone()).collect()
    } else {
        Vec::new()
    };
    ValueFault::new(FaultKind::Unknown { nearest, known }).under_key(key)
}

/// Returns the case that `text` names.
fn case<'a>(cases: &'a Members<Case>, text: &Value) -> Option<&'a Case> {
    cases.find(text.as_str()?)
}

/// Creates the error of an unknown case: with the one that was perhaps meant, or a list of all.
fn no_case(ty: &Type, cases: &Members<Case>, value: &Value) -> Box<ValueFault> {
    let near = value.as_str().and_then(|text| names::nearest(text, cases.iter().map(|case| case.name.as_str())));
    let expected = match near {
        Some(near) if cases.len() > LISTED_CASES => format!("`{near}` or another name of {}", ty.describe()),
        _ => names_of(cases),
    };
    ValueFault::expected(expected, value)
}

/// Most cases that an error lists.
const LISTED_CASES: usize = 12;

fn names_of(cases: &Members<Case>) -> String {
    let names: Vec<&str> = cases.iter().take(LISTED_CASES).map(|case| case.name.as_str()).collect();
    let more = if names.len() < cases.len() { ", …" } else { "" };
    format!("one of `{}`{more}", names.join("`, `"))
}

fn enumeration(ty: &Type, cases: &Members<Case>, value: &mut Value) -> CheckResult {
    let Some(found) = case(cases, value) else {
        return Err(if value.is_string() { no_case(ty, cases, value) } else { ValueFault::mismatch(ty, value) });
    };
    if value.as_str() != Some(&found.name) {
        *value = Value::String(found.name.clone());
    }
    Ok(())
}

fn flags(ty: &Type, cases: &Members<Case>, value: &mut Value) -> CheckResult {
    let Value::Array(items) = value else {
        return Err(ValueFault::mismatch(ty, value));
    };
    let mut set = vec![false; cases.len()];
    for (index, item) in items.iter().enumerate() {
        let at = item.as_str().and_then(|text| cases.position(text));
        let flag = at.and_then(|at| set.get_mut(at)).ok_or_else(|| no_case(ty, cases, item).under_index(index))?;
        *flag = true;
    }
    let named = cases.iter().zip(set).filter(|(_, set)| *set).map(|(case, _)| Value::String(case.name.clone()));
    *items = named.collect();
    Ok(())
}

/// Takes `tag` and `val` out of an object that has no other keys.
fn tagged(value: &mut Value, expected: impl Fn() -> String) -> Result<(Value, Option<Value>), Box<ValueFault>> {
    let Value::Object(object) = value else {
        return Err(ValueFault::expected(format!("{{tag, val}}, {}", expected()), value));
    };
    let tag = object
        .get_mut("tag")
        .map(Value::take)
        .ok_or_else(|| ValueFault::new(FaultKind::Missing { expected: expected() }).under_key("tag"))?;
    if let Some(key) = object.keys().find(|key| *key != "tag" && *key != "val") {
        return Err(ValueFault::new(FaultKind::Unknown {
            nearest: None,
            known: vec!["tag".to_owned(), "val".to_owned()],
        })
        .under_key(key));
    }
    Ok((tag, object.get_mut("val").map(Value::take)))
}

/// Makes `{tag, val}` after checking the payload.
fn with_payload(
    tag: &str,
    ty: Option<&Type>,
    val: Option<Value>,
    room: &mut MemoryBudget,
) -> Result<Value, Box<ValueFault>> {
    let mut object = Map::with_capacity(2);
    object.insert("tag".to_owned(), Value::String(tag.to_owned()));
    match (ty, val) {
        (Some(ty), val) => {
            let mut val = match val {
                Some(val) => val,
                None if ty.is_nullable() => Value::Null,
                None => return Err(missing(ty).under_key("val")),
            };
            check(ty, &mut val, room).map_err(|fault| fault.under_key("val"))?;
            object.insert("val".to_owned(), val);
        }
        (None, None | Some(Value::Null)) => {}
        (None, Some(val)) => {
            return Err(ValueFault::expected(format!("nothing with tag `{tag}`"), &val).under_key("val"));
        }
    }
    Ok(Value::Object(object))
}

fn variant(ty: &Type, cases: &Members<Case>, value: &mut Value, room: &mut MemoryBudget) -> CheckResult {
    let (tag, val) = tagged(value, || ty.describe())?;
    let found = case(cases, &tag).ok_or_else(|| no_case(ty, cases, &tag).under_key("tag"))?;
    *value = with_payload(&found.name, found.ty.as_ref(), val, room)?;
    Ok(())
}

fn result(ok: Option<&Type>, err: Option<&Type>, value: &mut Value, room: &mut MemoryBudget) -> CheckResult {
    let (tag, val) = tagged(value, || "a result".to_owned())?;
    *value = match tag.as_str() {
        Some("ok") => with_payload("ok", ok, val, room)?,
        Some("err") => with_payload("err", err, val, room)?,
        _ => return Err(ValueFault::expected("`ok` or `err`", &tag).under_key("tag")),
    };
    Ok(())
}

fn option(inner: &Type, value: &mut Value, room: &mut MemoryBudget) -> CheckResult {
    if value.is_null() {
        return Ok(());
    }
    if !inner.is_nullable() {
        return check(inner, value, room);
    }
    let (tag, val) = tagged(value, || "`some`, or null".to_owned())?;
    *value = match (tag.as_str(), val) {
        (Some("some"), val) => with_payload("some", Some(inner), val, room)?,
        (Some("none"), None | Some(Value::Null)) => Value::Null,
        _ => return Err(ValueFault::expected("`some`, or null instead of the object", &tag).under_key("tag")),
    };
    Ok(())
}

fn map(ty: &Type, key: &Type, item: &Type, value: &mut Value, room: &mut MemoryBudget) -> CheckResult {
    let entries: Vec<(Value, Value)> = match value {
        Value::Object(object) => {
            std::mem::take(object).into_iter().map(|(name, value)| (key_value(key, name), value)).collect()
        }
        Value::Array(pairs) => {
            let mut entries = Vec::with_capacity(pairs.len());
            for (index, pair) in pairs.iter_mut().enumerate() {
                match pair.as_array_mut().map(Vec::as_mut_slice) {
                    Some([name, value]) => entries.push((name.take(), value.take())),
                    _ => return Err(ValueFault::expected("a pair [key, value]", pair).under_index(index)),
                }
            }
            entries
        }
        _ => return Err(ValueFault::mismatch(ty, value)),
    };
    let mut object = Map::with_capacity(entries.len());
    for (mut name, mut value) in entries {
        let spelled = shorten(&key_text(&name));
        check(key, &mut name, room).map_err(|fault| fault.under_key(&spelled))?;
        let name = key_text(&name);
        check(item, &mut value, room).map_err(|fault| fault.under_key(&name))?;
        if object.contains_key(&name) {
            let what = FaultKind::Twice { first: shorten(&name), second: spelled };
            return Err(ValueFault::new(what).under_key(&name));
        }
        object.insert(name, value);
    }
    *value = Value::Object(object);
    Ok(())
}

/// Returns the value of a map's key from its spelling in an object.
#[must_use]
pub fn key_value(key: &Type, name: String) -> Value {
    match &key.shape {
        Shape::Bool if name == "true" => Value::Bool(true),
        Shape::Bool if name == "false" => Value::Bool(false),
        shape if bounds(shape).is_some() => decimal(&name).map_or(Value::String(name), integer_number),
        _ => Value::String(name),
    }
}

/// Returns the spelling of a map's key in an object.
#[must_use]
pub fn key_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
