//! Arguments, brought to their one spelling and checked against their types.
//!
//! The gate judges what comes out of here, and the tool receives exactly that. So this is the place where nothing may
//! be ambiguous: every accepted spelling has one canonical form (listed at [`super::types::Shape`]), and what has none
//! is an error that says where. No engine, no handles: a handle is any string here.
//!
//! Accepted beside the canonical form:
//! - keys of records, names of cases and flags in kebab-case, snake_case or lowerCamelCase;
//! - a missing key, or null, for an option; a missing `val` where the payload is an option;
//! - integers as JSON numbers of any notation (`5.0`, `1e4`) while they are exact (up to ±(2^53 - 1)); for 64-bit types
//!   any integer literal, and decimal strings;
//! - `list<u8>` as an array of numbers;
//! - flags in any order and more than once;
//! - a map as an array of `[key, value]` pairs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Number, Value};

use super::names;
use super::types::{Case, Field, Function, Members, Shape, Type};

/// The largest integer that a JSON number (a double) holds exactly together with all smaller ones: 2^53 - 1.
pub const MAX_SAFE: u64 = (1 << 53) - 1;

/// So much of a value is quoted in an error.
const QUOTED: usize = 60;

/// Why arguments do not fit. Paths are written as in JavaScript: `charge.items[2].price`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The arguments are not one object.
    #[error("expected one object, {form}, got {got}")]
    NotAnObject {
        /// What the object looks like: `{values, mode?}`.
        form: String,
        /// What was given.
        got: String,
    },
    /// A value of another type, or out of range.
    #[error("{path}: expected {expected}, got {got}")]
    Mismatch {
        /// Where.
        path: String,
        /// What fits there.
        expected: String,
        /// What was given.
        got: String,
    },
    /// A value that must be given is not.
    #[error("{path}: missing, expected {expected}")]
    Missing {
        /// Where.
        path: String,
        /// What fits there.
        expected: String,
    },
    /// A key that is not part of the type.
    #[error("{path}: unknown key{}{}", nearest.as_ref().map_or_else(String::new, |near| format!(", did you mean `{near}`?")), listed(known))]
    UnknownKey {
        /// Where, with the key.
        path: String,
        /// The key that it was perhaps meant to be.
        nearest: Option<String>,
        /// The keys that there are, if no one is near.
        known: Vec<String>,
    },
    /// Two keys that mean one field, or one entry of a map.
    #[error("{path}: given twice, as `{first}` and as `{second}`")]
    Twice {
        /// Where, with the canonical key.
        path: String,
        /// One spelling.
        first: String,
        /// The other.
        second: String,
    },
}

impl ArgumentError {
    /// Where the arguments do not fit; empty when it is the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::NotAnObject { .. } => "",
            Self::Mismatch { path, .. }
            | Self::Missing { path, .. }
            | Self::UnknownKey { path, .. }
            | Self::Twice { path, .. } => path,
        }
    }
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!(", expected one of `{}`", known.join("`, `")) }
}

/// Brings the arguments of a call to their canonical form: one object, keys in the order of the parameters.
///
/// It is idempotent, and what it returns lowers without a further check but that of handles.
///
/// # Errors
/// The first thing that does not fit.
pub fn canonicalize(function: &Function, mut arguments: Value) -> Result<Value, ArgumentError> {
    if !arguments.is_object() {
        return Err(ArgumentError::NotAnObject { form: form(&function.params), got: show(&arguments) });
    }
    record(&function.params, &mut arguments).map_err(|fault| fault.into_error())?;
    Ok(arguments)
}

/// Brings one value to the canonical form of its type. `root` begins the paths of errors; it may be empty.
///
/// # Errors
/// The first thing that does not fit.
pub fn canonicalize_value(ty: &Type, mut value: Value, root: &str) -> Result<Value, ArgumentError> {
    check(ty, &mut value).map_err(|fault| {
        let fault = if root.is_empty() { fault } else { fault.under_key(root) };
        fault.into_error()
    })?;
    Ok(value)
}

/// What the arguments of a function look like: `{values, mode?}`.
#[must_use]
pub fn form(params: &[Field]) -> String {
    let names: Vec<String> = params
        .iter()
        .map(|field| if field.is_optional() { format!("{}?", field.camel) } else { field.camel.clone() })
        .collect();
    format!("{{{}}}", names.join(", "))
}

/// A fault, with its path still upside down: segments are added while unwinding, so that a value that fits pays nothing.
struct Fault {
    path: Vec<Segment>,
    what: What,
}

enum Segment {
    Key(String),
    Index(usize),
}

enum What {
    Mismatch { expected: String, got: String },
    Missing { expected: String },
    Unknown { nearest: Option<String>, known: Vec<String> },
    Twice { first: String, second: String },
}

/// Boxed, because nearly every value fits.
type Checked = Result<(), Box<Fault>>;

impl Fault {
    fn new(what: What) -> Box<Self> {
        Box::new(Self { path: Vec::new(), what })
    }

    fn mismatch(ty: &Type, value: &Value) -> Box<Self> {
        Self::expected(ty.describe(), value)
    }

    fn expected(expected: impl Into<String>, value: &Value) -> Box<Self> {
        Self::new(What::Mismatch { expected: expected.into(), got: show(value) })
    }

    fn under_key(mut self: Box<Self>, key: &str) -> Box<Self> {
        self.path.push(Segment::Key(shorten(key)));
        self
    }

    fn under_index(mut self: Box<Self>, index: usize) -> Box<Self> {
        self.path.push(Segment::Index(index));
        self
    }

    fn into_error(self) -> ArgumentError {
        let mut path = String::new();
        for segment in self.path.iter().rev() {
            match segment {
                Segment::Index(index) => path.push_str(&format!("[{index}]")),
                Segment::Key(key) if is_identifier(key) || path.is_empty() => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
                Segment::Key(key) => path.push_str(&format!("[{}]", quote(key))),
            }
        }
        match self.what {
            What::Mismatch { expected, got } => ArgumentError::Mismatch { path, expected, got },
            What::Missing { expected } => ArgumentError::Missing { path, expected },
            What::Unknown { nearest, known } => ArgumentError::UnknownKey { path, nearest, known },
            What::Twice { first, second } => ArgumentError::Twice { path, first, second },
        }
    }
}

fn is_identifier(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b == b'-')
}

/// A value as an error shows it: short, on one line.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quote(text),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn quote(text: &str) -> String {
    let short = shorten(text);
    Value::String(short).to_string()
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Checks `value` and rewrites it in place.
fn check(ty: &Type, value: &mut Value) -> Checked {
    match &ty.shape {
        Shape::Bool => value.is_boolean().then_some(()).ok_or_else(|| Fault::mismatch(ty, value)),
        Shape::String | Shape::Own(_) | Shape::Borrow(_) => {
            value.is_string().then_some(()).ok_or_else(|| Fault::mismatch(ty, value))
        }
        Shape::Char => match value.as_str().map(|text| text.chars().count()) {
            Some(1) => Ok(()),
            _ => Err(Fault::mismatch(ty, value)),
        },
        Shape::S8 | Shape::U8 | Shape::S16 | Shape::U16 | Shape::S32 | Shape::U32 | Shape::S64 | Shape::U64 => {
            integer(ty, value)
        }
        Shape::F32 | Shape::F64 => float(ty, value),
        Shape::Bytes => bytes(ty, value),
        Shape::List(inner) => list(ty, inner, None, value),
        Shape::FixedList(inner, count) => list(ty, inner, Some(*count), value),
        Shape::Tuple(members) => tuple(ty, members, value),
        Shape::Record(fields) if value.is_object() => record(fields, value),
        Shape::Record(fields) => Err(Fault::expected(format!("{} {}", ty.describe(), form(fields)), value)),
        Shape::Variant(cases) => variant(ty, cases, value),
        Shape::Enum(cases) => enumeration(ty, cases, value),
        Shape::Flags(cases) => flags(ty, cases, value),
        Shape::Option(inner) => option(inner, value),
        Shape::Result { ok, err } => result(ok.as_deref(), err.as_deref(), value),
        Shape::Map(key, item) => map(ty, key, item, value),
    }
}

/// The least and the greatest value of an integer type.
pub(super) fn bounds(shape: &Shape) -> Option<(i128, i128)> {
    Some(match shape {
        Shape::S8 => (i8::MIN.into(), i8::MAX.into()),
        Shape::U8 => (0, u8::MAX.into()),
        Shape::S16 => (i16::MIN.into(), i16::MAX.into()),
        Shape::U16 => (0, u16::MAX.into()),
        Shape::S32 => (i32::MIN.into(), i32::MAX.into()),
        Shape::U32 => (0, u32::MAX.into()),
        Shape::S64 => (i64::MIN.into(), i64::MAX.into()),
        Shape::U64 => (0, u64::MAX.into()),
        _ => return None,
    })
}

fn integer(ty: &Type, value: &mut Value) -> Checked {
    let wide = matches!(ty.shape, Shape::S64 | Shape::U64);
    let number = match &*value {
        Value::Number(number) => exact_integer(number),
        Value::String(text) if wide => decimal(text),
        _ => None,
    };
    let in_range = number.zip(bounds(&ty.shape)).filter(|(n, (least, most))| least <= n && n <= most);
    let Some((number, _)) = in_range else {
        return Err(Fault::mismatch(ty, value));
    };
    *value = integer_json(number);
    Ok(())
}

/// An integer as canonical JSON: a number up to ±(2^53 - 1), beyond that a decimal string.
pub(super) fn integer_json(number: i128) -> Value {
    match i64::try_from(number) {
        Ok(small) if small.unsigned_abs() <= MAX_SAFE => Value::Number(small.into()),
        _ => Value::String(number.to_string()),
    }
}

/// The integer that a JSON number stands for, unless it has a fraction or is a double that other integers round to.
pub(super) fn exact_integer(number: &Number) -> Option<i128> {
    if let Some(n) = number.as_u64() {
        return Some(n.into());
    }
    if let Some(n) = number.as_i64() {
        return Some(n.into());
    }
    let n = number.as_f64()?;
    whole(n).map(i128::from)
}

/// [`MAX_SAFE`] as a float.
const SAFE_FLOAT: f64 = 9_007_199_254_740_991.0;

/// A whole float up to ±(2^53 - 1) as an integer.
#[expect(clippy::cast_possible_truncation, reason = "whole and far below 2^63, as just checked")]
fn whole(n: f64) -> Option<i64> {
    (n.fract() == 0.0 && n.abs() <= SAFE_FLOAT).then_some(n as i64)
}

/// The integer that a decimal string stands for: digits, perhaps with `-`, without leading zeros.
fn decimal(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty()
        && digits.len() <= 20
        && digits.bytes().all(|b| b.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
        && text != "-0";
    plain.then(|| text.parse().ok()).flatten()
}

fn float(ty: &Type, value: &mut Value) -> Checked {
    let number = match &*value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => return if is_non_finite(text) { Ok(()) } else { Err(Fault::mismatch(ty, value)) },
        _ => None,
    };
    let narrow = matches!(ty.shape, Shape::F32);
    let Some(number) = number.and_then(|n| if narrow { to_f32(n).map(f64::from) } else { Some(n) }) else {
        return Err(Fault::mismatch(ty, value));
    };
    *value = float_json(number);
    Ok(())
}

fn is_non_finite(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

/// The nearest 32-bit float, unless a finite number would become infinite.
#[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest 32-bit float is what is meant")]
pub(super) fn to_f32(number: f64) -> Option<f32> {
    let narrow = number as f32;
    (narrow.is_finite() || !number.is_finite()).then_some(narrow)
}

/// A float as canonical JSON. Whole numbers up to ±(2^53 - 1) have no point, so that `2.0` reads `2` everywhere, as in
/// JavaScript; but minus zero stays `-0.0`.
pub(super) fn float_json(number: f64) -> Value {
    let minus_zero = number == 0.0 && number.is_sign_negative();
    if let Some(whole) = whole(number).filter(|_| !minus_zero) {
        return Value::Number(whole.into());
    }
    Number::from_f64(number).map_or_else(|| Value::String(non_finite_text(number).to_owned()), Value::Number)
}

fn non_finite_text(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// The float that canonical JSON stands for.
pub(super) fn float_value(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn bytes(ty: &Type, value: &mut Value) -> Checked {
    match value {
        // The engine accepts only the canonical text (padded, no stray bits), so what decodes stays as it is.
        Value::String(text) => match BASE64.decode(text.as_bytes()) {
            Ok(_) => Ok(()),
            Err(_) => Err(Fault::mismatch(ty, value)),
        },
        Value::Array(items) => {
            let mut raw = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                let byte = item.as_number().and_then(exact_integer).and_then(|n| u8::try_from(n).ok());
                raw.push(byte.ok_or_else(|| Fault::expected("u8", item).under_index(index))?);
            }
            *value = Value::String(BASE64.encode(raw));
            Ok(())
        }
        _ => Err(Fault::mismatch(ty, value)),
    }
}

fn list(ty: &Type, inner: &Type, count: Option<u32>, value: &mut Value) -> Checked {
    let Value::Array(items) = value else {
        return Err(Fault::mismatch(ty, value));
    };
    if count.is_some_and(|count| usize::try_from(count) != Ok(items.len())) {
        return Err(Fault::mismatch(ty, value));
    }
    for (index, item) in items.iter_mut().enumerate() {
        check(inner, item).map_err(|fault| fault.under_index(index))?;
    }
    Ok(())
}

fn tuple(ty: &Type, members: &[Type], value: &mut Value) -> Checked {
    match value {
        Value::Array(items) if items.len() == members.len() => {
            for (index, (item, member)) in items.iter_mut().zip(members).enumerate() {
                check(member, item).map_err(|fault| fault.under_index(index))?;
            }
            Ok(())
        }
        _ => Err(Fault::mismatch(ty, value)),
    }
}

fn record(fields: &Members<Field>, value: &mut Value) -> Checked {
    let Value::Object(object) = value else {
        return Err(Fault::expected(form(fields), value));
    };
    let canonical =
        object.len() == fields.len() && object.keys().zip(fields.iter()).all(|(key, field)| *key == field.camel);
    if !canonical {
        *object = arrange(fields, std::mem::take(object))?;
    }
    for (field, value) in fields.iter().zip(object.values_mut()) {
        check(&field.ty, value).map_err(|fault| fault.under_key(&field.camel))?;
    }
    Ok(())
}

/// Brings the keys of an object to their canonical spelling and order, and fills in null for options left out.
fn arrange(fields: &Members<Field>, object: Map<String, Value>) -> Result<Map<String, Value>, Box<Fault>> {
    let mut slots: Vec<Option<(String, Value)>> = Vec::new();
    slots.resize_with(fields.len(), || None);
    for (key, value) in object {
        let Some((field, slot)) = fields.position(&key).and_then(|at| Some((fields.get(at)?, slots.get_mut(at)?)))
        else {
            return Err(unknown(fields, &key));
        };
        if let Some((first, _)) = slot {
            let what = What::Twice { first: std::mem::take(first), second: key };
            return Err(Fault::new(what).under_key(&field.camel));
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

fn missing(ty: &Type) -> Box<Fault> {
    Fault::new(What::Missing { expected: ty.describe() })
}

fn unknown(fields: &Members<Field>, key: &str) -> Box<Fault> {
    let nearest = names::nearest(key, fields.iter().map(|field| field.camel.as_str())).map(str::to_owned);
    let known = if nearest.is_none() {
        fields.iter().take(QUOTED).map(|field| field.camel.clone()).collect()
    } else {
        Vec::new()
    };
    Fault::new(What::Unknown { nearest, known }).under_key(key)
}

/// The case that `text` names.
fn case<'a>(cases: &'a Members<Case>, text: &Value) -> Option<&'a Case> {
    cases.find(text.as_str()?)
}

/// Names the case that was perhaps meant, or those that there are.
fn no_case(ty: &Type, cases: &Members<Case>, value: &Value) -> Box<Fault> {
    let near = value.as_str().and_then(|text| names::nearest(text, cases.iter().map(|case| case.name.as_str())));
    let expected = match near {
        Some(near) if cases.len() > LISTED_CASES => format!("`{near}` or another name of {}", ty.describe()),
        _ => names_of(cases),
    };
    Fault::expected(expected, value)
}

/// So many cases are listed in an error.
const LISTED_CASES: usize = 12;

fn names_of(cases: &Members<Case>) -> String {
    let names: Vec<&str> = cases.iter().take(LISTED_CASES).map(|case| case.name.as_str()).collect();
    let more = if names.len() < cases.len() { ", …" } else { "" };
    format!("one of `{}`{more}", names.join("`, `"))
}

fn enumeration(ty: &Type, cases: &Members<Case>, value: &mut Value) -> Checked {
    let Some(found) = case(cases, value) else {
        return Err(if value.is_string() { no_case(ty, cases, value) } else { Fault::mismatch(ty, value) });
    };
    if value.as_str() != Some(&found.name) {
        *value = Value::String(found.name.clone());
    }
    Ok(())
}

fn flags(ty: &Type, cases: &Members<Case>, value: &mut Value) -> Checked {
    let Value::Array(items) = value else {
        return Err(Fault::mismatch(ty, value));
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

/// Takes `tag` and `val` out of an object that has nothing else.
fn tagged(value: &mut Value, expected: impl Fn() -> String) -> Result<(Value, Option<Value>), Box<Fault>> {
    let Value::Object(object) = value else {
        return Err(Fault::expected(format!("{{tag, val}}, {}", expected()), value));
    };
    let tag = object
        .get_mut("tag")
        .map(Value::take)
        .ok_or_else(|| Fault::new(What::Missing { expected: expected() }).under_key("tag"))?;
    if let Some(key) = object.keys().find(|key| *key != "tag" && *key != "val") {
        return Err(
            Fault::new(What::Unknown { nearest: None, known: vec!["tag".to_owned(), "val".to_owned()] }).under_key(key)
        );
    }
    Ok((tag, object.get_mut("val").map(Value::take)))
}

/// `{tag, val}` with the payload checked.
fn with_payload(tag: &str, ty: Option<&Type>, val: Option<Value>) -> Result<Value, Box<Fault>> {
    let mut object = Map::with_capacity(2);
    object.insert("tag".to_owned(), Value::String(tag.to_owned()));
    match (ty, val) {
        (Some(ty), val) => {
            let mut val = match val {
                Some(val) => val,
                None if ty.is_nullable() => Value::Null,
                None => return Err(missing(ty).under_key("val")),
            };
            check(ty, &mut val).map_err(|fault| fault.under_key("val"))?;
            object.insert("val".to_owned(), val);
        }
        (None, None | Some(Value::Null)) => {}
        (None, Some(val)) => return Err(Fault::expected(format!("nothing with tag `{tag}`"), &val).under_key("val")),
    }
    Ok(Value::Object(object))
}

fn variant(ty: &Type, cases: &Members<Case>, value: &mut Value) -> Checked {
    let (tag, val) = tagged(value, || ty.describe())?;
    let found = case(cases, &tag).ok_or_else(|| no_case(ty, cases, &tag).under_key("tag"))?;
    *value = with_payload(&found.name, found.ty.as_ref(), val)?;
    Ok(())
}

fn result(ok: Option<&Type>, err: Option<&Type>, value: &mut Value) -> Checked {
    let (tag, val) = tagged(value, || "a result".to_owned())?;
    *value = match tag.as_str() {
        Some("ok") => with_payload("ok", ok, val)?,
        Some("err") => with_payload("err", err, val)?,
        _ => return Err(Fault::expected("`ok` or `err`", &tag).under_key("tag")),
    };
    Ok(())
}

fn option(inner: &Type, value: &mut Value) -> Checked {
    if value.is_null() {
        return Ok(());
    }
    if !inner.is_nullable() {
        return check(inner, value);
    }
    let (tag, val) = tagged(value, || "`some`, or null".to_owned())?;
    *value = match (tag.as_str(), val) {
        (Some("some"), val) => with_payload("some", Some(inner), val)?,
        (Some("none"), None | Some(Value::Null)) => Value::Null,
        _ => return Err(Fault::expected("`some`, or null instead of the object", &tag).under_key("tag")),
    };
    Ok(())
}

fn map(ty: &Type, key: &Type, item: &Type, value: &mut Value) -> Checked {
    let entries: Vec<(Value, Value)> = match value {
        Value::Object(object) => {
            std::mem::take(object).into_iter().map(|(name, value)| (key_value(key, name), value)).collect()
        }
        Value::Array(pairs) => {
            let mut entries = Vec::with_capacity(pairs.len());
            for (index, pair) in pairs.iter_mut().enumerate() {
                match pair.as_array_mut().map(Vec::as_mut_slice) {
                    Some([name, value]) => entries.push((name.take(), value.take())),
                    _ => return Err(Fault::expected("a pair [key, value]", pair).under_index(index)),
                }
            }
            entries
        }
        _ => return Err(Fault::mismatch(ty, value)),
    };
    let mut object = Map::with_capacity(entries.len());
    for (mut name, mut value) in entries {
        let spelled = show(&name);
        check(key, &mut name).map_err(|fault| fault.under_key(&spelled))?;
        let name = key_text(&name);
        check(item, &mut value).map_err(|fault| fault.under_key(&name))?;
        if object.contains_key(&name) {
            let what = What::Twice { first: shorten(&name), second: spelled };
            return Err(Fault::new(what).under_key(&name));
        }
        object.insert(name, value);
    }
    *value = Value::Object(object);
    Ok(())
}

/// The value that an object's key spells.
pub(super) fn key_value(key: &Type, name: String) -> Value {
    match &key.shape {
        Shape::Bool if name == "true" => Value::Bool(true),
        Shape::Bool if name == "false" => Value::Bool(false),
        shape if bounds(shape).is_some() => decimal(&name).map_or(Value::String(name), integer_number),
        _ => Value::String(name),
    }
}

/// An integer as a JSON number where it fits one, whatever its size.
fn integer_number(number: i128) -> Value {
    i64::try_from(number)
        .map(Value::from)
        .or_else(|_| u64::try_from(number).map(Value::from))
        .unwrap_or_else(|_| Value::String(number.to_string()))
}

/// The key that spells a value.
pub(super) fn key_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
