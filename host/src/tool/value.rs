//! Values across the boundary to a component: canonical JSON to `Val` (lowering) and back (lifting).
//!
//! The only file of the typed half that depends on the engine, and only on its value type. Lowered values have been
//! canonicalized (`canonical`); a value that does not fit is still an error here, never a panic. Lifted values come
//! from a tool and are not trusted to match their type. Handles of resources are issued and resolved by the keeper of
//! the instance, through [`Handles`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};
use wasmtime::component::{ResourceAny, Val};

use super::canonical::{self, MAX_SAFE};
use super::types::{Case, Field, Function, Members, Resource, Shape, Type};
use crate::error::{Payload, Special, SpecialKind};

/// Reason why a value did not cross the boundary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A value does not match its type: it was not canonicalized, or a component returned a value that it does not
    /// declare.
    #[error("a value does not fit its type, {expected}")]
    Mismatch {
        /// Description of the type.
        expected: String,
    },
    /// A handle cannot be used.
    #[error(transparent)]
    Handle(#[from] HandleError),
    /// A value takes more of the host's memory than is left for it.
    #[error("values that take more memory than is left for them")]
    TooLarge,
}

/// Reason why a handle cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// The token names no handle of this run, or one that was dropped or given away.
    #[error("`{token}` is not a handle of `{resource}`: it was never issued in this run, or was dropped or given away")]
    Unknown {
        /// Resource type that was expected.
        resource: String,
        /// The given token, shortened.
        token: String,
    },
    /// The handle names a resource of another type.
    #[error("expected a handle of `{expected}`, got one of `{got}`")]
    WrongResource {
        /// Resource type that was expected.
        expected: String,
        /// Resource type of the handle.
        got: String,
    },
    /// The instance that held the resource no longer exists.
    #[error("handle lost: the instance that held this `{resource}` has ended")]
    Lost {
        /// Type of the resource.
        resource: String,
    },
    /// No more handles can be issued in this run.
    #[error("a run can hold at most {limit} handles at a time: drop some with the resource's `drop`")]
    TooMany {
        /// Largest number of handles.
        limit: usize,
    },
}

/// Way of passing a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Transfers ownership: the handle cannot be used afterwards.
    Own,
    /// Lends the resource for the call.
    Borrow,
}

/// Context of conversions: the handles of one run, issued and resolved, and memory. Tokens must not be guessable, and
/// must be meaningless outside the run.
pub trait Handles {
    /// Keeps a resource that a tool returned, and returns its token.
    ///
    /// # Errors
    /// [`HandleError::TooMany`].
    fn issue(&mut self, resource: &Resource, value: ResourceAny) -> Result<String, HandleError>;

    /// Finds the resource of a token. With [`Passing::Own`] the token is spent; if lowering then fails at a later
    /// argument the call does not happen, so an implementation should spend tokens only when the call begins.
    ///
    /// # Errors
    /// [`HandleError`].
    fn resolve(&mut self, resource: &Resource, token: &str, passing: Passing) -> Result<ResourceAny, HandleError>;

    /// Charges the host's memory for values that are passed, in bytes. Returns false if there is not enough; the
    /// default implementation has no limit.
    fn room(&mut self, bytes: u64) -> bool {
        let _ = bytes;
        true
    }
}

/// Handles of a context without any: every token is unknown, and nothing is issued.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHandles;

impl Handles for NoHandles {
    fn issue(&mut self, _: &Resource, _: ResourceAny) -> Result<String, HandleError> {
        Err(HandleError::TooMany { limit: 0 })
    }

    fn resolve(&mut self, resource: &Resource, token: &str, _: Passing) -> Result<ResourceAny, HandleError> {
        Err(HandleError::Unknown { resource: resource.name.clone(), token: token.chars().take(40).collect() })
    }
}

/// Outcome of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// Returned value, or null if the function returns nothing.
    Value(Payload),
    /// Error case of its `result`, or null if that has no payload.
    Error(Payload),
}

/// Lowers canonical arguments, in the order of the parameters.
///
/// # Errors
/// [`ValueError`].
pub fn lower_arguments(
    function: &Function,
    arguments: Value,
    handles: &mut dyn Handles,
) -> Result<Vec<Val>, ValueError> {
    let Value::Object(mut object) = arguments else {
        return Err(ValueError::Mismatch { expected: canonical::form(&function.params) });
    };
    let mut lowered = Vec::with_capacity(function.params.len());
    for field in function.params.iter() {
        lowered.push(lower_field(field, &mut object, handles)?);
    }
    Ok(lowered)
}

/// Bytes of the host's memory that a component's value takes, besides its text.
pub(super) const VAL_BYTES: u64 = size_of::<Val>() as u64;

/// Returns the approximate bytes of the host's memory that components' values take.
pub(crate) fn weight(values: &[Val]) -> u64 {
    values.iter().map(weight_of).fold(0, u64::saturating_add)
}

fn weight_of(value: &Val) -> u64 {
    let name = |name: &String| size_of::<String>() as u64 + name.len() as u64;
    let some = |payload: &Option<Box<Val>>| payload.as_deref().map_or(0, weight_of);
    let within = match value {
        Val::String(text) => text.len() as u64,
        Val::List(items) | Val::Tuple(items) | Val::FixedLengthList(items) => weight(items),
        Val::Map(entries) => entries.iter().map(|(key, value)| weight_of(key) + weight_of(value)).sum(),
        Val::Record(fields) => fields.iter().map(|(field, value)| name(field) + weight_of(value)).sum(),
        Val::Variant(case, payload) => name(case) + some(payload),
        Val::Enum(case) => name(case),
        Val::Flags(cases) => cases.iter().map(name).sum(),
        Val::Option(payload) | Val::Result(Ok(payload) | Err(payload)) => some(payload),
        _ => 0,
    };
    VAL_BYTES + within
}

/// Lifts the result of a function. `values` holds one value or none.
///
/// # Errors
/// [`ValueError`].
pub fn lift_result(function: &Function, values: Vec<Val>, handles: &mut dyn Handles) -> Result<Returned, ValueError> {
    let (ty, value) = match (&function.result, values.into_iter().next()) {
        (None, _) => return Ok(Returned::Value(Payload::default())),
        (Some(ty), Some(value)) => (ty, value),
        (Some(ty), None) => return Err(mismatch(ty)),
    };
    match (&ty.shape, value) {
        (Shape::Result { ok, err }, Val::Result(result)) => match result {
            Ok(value) => Ok(Returned::Value(lift_side(ok.as_deref(), value, handles)?)),
            Err(value) => Ok(Returned::Error(lift_side(err.as_deref(), value, handles)?)),
        },
        (_, value) => Ok(Returned::Value(lift(value, ty, handles)?)),
    }
}

fn lift_side(ty: Option<&Type>, value: Option<Box<Val>>, handles: &mut dyn Handles) -> Result<Payload, ValueError> {
    match (ty, value) {
        (Some(ty), Some(value)) => lift(*value, ty, handles),
        (None, None) => Ok(Payload::default()),
        (Some(ty), None) => Err(mismatch(ty)),
        (None, Some(_)) => Err(ValueError::Mismatch { expected: "nothing".to_owned() }),
    }
}

fn mismatch(ty: &Type) -> ValueError {
    ValueError::Mismatch { expected: ty.describe() }
}

/// Converts a value, in any spelling that an argument may have, to what a function of this result type returns. Omitted
/// options may take at most `memory` bytes.
///
/// # Errors
/// The reason why it does not fit, in words.
pub(super) fn as_result(ty: Option<&Type>, value: Value, memory: u64) -> Result<Payload, String> {
    let Some(ty) = ty else {
        return if value.is_null() {
            Ok(Payload::default())
        } else {
            Err("nothing is returned, which is null".to_owned())
        };
    };
    let value = canonical::canonicalize_value(ty, value, "result", memory).map_err(|error| error.to_string())?;
    let lifted = lower(value, ty, &mut NoHandles).and_then(|value| lift(value, ty, &mut NoHandles));
    lifted.map_err(|error| match error {
        ValueError::Handle(_) => "it holds a handle, which only the tool itself can make".to_owned(),
        error => error.to_string(),
    })
}

/// Lowers one canonical value.
///
/// # Errors
/// [`ValueError`].
pub fn lower(value: Value, ty: &Type, handles: &mut dyn Handles) -> Result<Val, ValueError> {
    let fail = || mismatch(ty);
    Ok(match (&ty.shape, value) {
        (Shape::Bool, Value::Bool(b)) => Val::Bool(b),
        (Shape::String, Value::String(text)) => Val::String(text),
        (Shape::Char, Value::String(text)) => Val::Char(only_char(&text).ok_or_else(fail)?),
        (Shape::F64, value) => Val::Float64(canonical::float_value(&value).ok_or_else(fail)?),
        (Shape::F32, value) => {
            Val::Float32(canonical::float_value(&value).and_then(canonical::to_f32).ok_or_else(fail)?)
        }
        (Shape::Bytes, Value::String(text)) => {
            // Each byte becomes a value of the component, which is many times larger.
            let bytes = text.len() as u64 / 4 * 3;
            if !handles.room(bytes.saturating_mul(VAL_BYTES)) {
                return Err(ValueError::TooLarge);
            }
            let raw = BASE64.decode(text).map_err(|_| fail())?;
            Val::List(raw.into_iter().map(Val::U8).collect())
        }
        (Shape::List(inner), Value::Array(items)) => Val::List(lower_all(items, inner, handles)?),
        (Shape::FixedList(inner, _), Value::Array(items)) => Val::FixedLengthList(lower_all(items, inner, handles)?),
        (Shape::Tuple(members), Value::Array(items)) if items.len() == members.len() => {
            let lowered = items.into_iter().zip(members).map(|(item, member)| lower(item, member, handles));
            Val::Tuple(lowered.collect::<Result<_, _>>()?)
        }
        (Shape::Record(fields), Value::Object(mut object)) => {
            let mut lowered = Vec::with_capacity(fields.len());
            for field in fields.iter() {
                lowered.push((field.name.clone(), lower_field(field, &mut object, handles)?));
            }
            Val::Record(lowered)
        }
        (Shape::Variant(cases), Value::Object(object)) => lower_variant(ty, cases, object, handles)?,
        (Shape::Enum(cases), Value::String(text)) => Val::Enum(cases.find(&text).ok_or_else(fail)?.name.clone()),
        (Shape::Flags(cases), Value::Array(items)) => {
            let name = |item: Value| item.as_str().and_then(|text| cases.find(text)).map(|case| case.name.clone());
            Val::Flags(items.into_iter().map(name).collect::<Option<_>>().ok_or_else(fail)?)
        }
        (Shape::Option(_), Value::Null) => Val::Option(None),
        (Shape::Option(inner), Value::Object(mut object)) if inner.is_nullable() => {
            let value = object.get_mut("val").map(Value::take).ok_or_else(fail)?;
            Val::Option(Some(Box::new(lower(value, inner, handles)?)))
        }
        (Shape::Option(inner), value) => Val::Option(Some(Box::new(lower(value, inner, handles)?))),
        (Shape::Result { ok, err }, Value::Object(object)) => {
            lower_result(ty, ok.as_deref(), err.as_deref(), object, handles)?
        }
        (Shape::Map(key, item), Value::Object(object)) => lower_map(key, item, object, handles)?,
        (Shape::Own(resource), Value::String(token)) => {
            Val::Resource(handles.resolve(resource, &token, Passing::Own)?)
        }
        (Shape::Borrow(resource), Value::String(token)) => {
            Val::Resource(handles.resolve(resource, &token, Passing::Borrow)?)
        }
        (_, value) => lower_integer(ty, &value)?,
    })
}

fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

fn lower_integer(ty: &Type, value: &Value) -> Result<Val, ValueError> {
    let number = match value {
        Value::Number(number) => canonical::exact_integer(number),
        Value::String(text) if matches!(ty.shape, Shape::S64 | Shape::U64) => text.parse().ok(),
        _ => None,
    };
    let n = number.ok_or_else(|| mismatch(ty))?;
    let val = match ty.shape {
        Shape::S8 => n.try_into().map(Val::S8),
        Shape::U8 => n.try_into().map(Val::U8),
        Shape::S16 => n.try_into().map(Val::S16),
        Shape::U16 => n.try_into().map(Val::U16),
        Shape::S32 => n.try_into().map(Val::S32),
        Shape::U32 => n.try_into().map(Val::U32),
        Shape::S64 => n.try_into().map(Val::S64),
        Shape::U64 => n.try_into().map(Val::U64),
        _ => return Err(mismatch(ty)),
    };
    val.map_err(|_| mismatch(ty))
}

fn lower_all(items: Vec<Value>, inner: &Type, handles: &mut dyn Handles) -> Result<Vec<Val>, ValueError> {
    let mut lowered = Vec::with_capacity(items.len());
    for item in items {
        lowered.push(lower(item, inner, handles)?);
    }
    Ok(lowered)
}

fn lower_field(field: &Field, object: &mut Map<String, Value>, handles: &mut dyn Handles) -> Result<Val, ValueError> {
    let value = object.get_mut(&field.camel).map(Value::take).ok_or_else(|| mismatch(&field.ty))?;
    lower(value, &field.ty, handles)
}

fn lower_payload(
    ty: Option<&Type>,
    object: &mut Map<String, Value>,
    handles: &mut dyn Handles,
) -> Result<Option<Box<Val>>, ValueError> {
    match (ty, object.get_mut("val").map(Value::take)) {
        (None, _) => Ok(None),
        (Some(ty), Some(value)) => Ok(Some(Box::new(lower(value, ty, handles)?))),
        (Some(ty), None) => Err(mismatch(ty)),
    }
}

fn lower_variant(
    ty: &Type,
    cases: &Members<Case>,
    mut object: Map<String, Value>,
    handles: &mut dyn Handles,
) -> Result<Val, ValueError> {
    let tag = object.get("tag").and_then(Value::as_str).and_then(|tag| cases.find(tag));
    let case = tag.ok_or_else(|| mismatch(ty))?;
    Ok(Val::Variant(case.name.clone(), lower_payload(case.ty.as_ref(), &mut object, handles)?))
}

fn lower_result(
    ty: &Type,
    ok: Option<&Type>,
    err: Option<&Type>,
    mut object: Map<String, Value>,
    handles: &mut dyn Handles,
) -> Result<Val, ValueError> {
    Ok(Val::Result(match object.get("tag").and_then(Value::as_str) {
        Some("ok") => Ok(lower_payload(ok, &mut object, handles)?),
        Some("err") => Err(lower_payload(err, &mut object, handles)?),
        _ => return Err(mismatch(ty)),
    }))
}

fn lower_map(
    key: &Type,
    item: &Type,
    object: Map<String, Value>,
    handles: &mut dyn Handles,
) -> Result<Val, ValueError> {
    let mut entries = Vec::with_capacity(object.len());
    for (name, value) in object {
        let name = lower(canonical::key_value(key, name), key, handles)?;
        entries.push((name, lower(value, item, handles)?));
    }
    Ok(Val::Map(entries))
}

/// Lifts one value to canonical JSON, and lists the places whose values JSON cannot express.
///
/// # Errors
/// [`ValueError`].
pub fn lift(value: Val, ty: &Type, handles: &mut dyn Handles) -> Result<Payload, ValueError> {
    let mut lift = ValueLifter { handles, path: Vec::new(), specials: Vec::new(), owed: 0 };
    let value = lift.value(value, ty)?;
    lift.pay()?;
    Ok(Payload { value, specials: lift.specials })
}

/// Step of the path to the value that is being lifted. Pointers are written only for special values.
enum PathStep<'t> {
    Key(&'t str),
    Entry(String),
    Index(usize),
}

struct ValueLifter<'t, 'h> {
    handles: &'h mut dyn Handles,
    path: Vec<PathStep<'t>>,
    specials: Vec<Special>,
    /// Bytes that are not charged yet.
    owed: u64,
}

/// Bytes that are charged at once: an account is shared, and values are small.
const OWED: u64 = 64 << 10;

impl<'t> ValueLifter<'t, '_> {
    /// Charges the bytes that are due.
    fn pay(&mut self) -> Result<(), ValueError> {
        if self.handles.room(std::mem::take(&mut self.owed)) { Ok(()) } else { Err(ValueError::TooLarge) }
    }

    fn owe(&mut self, bytes: u64) -> Result<(), ValueError> {
        self.owed = self.owed.saturating_add(bytes);
        if self.owed < OWED { Ok(()) } else { self.pay() }
    }

    fn value(&mut self, value: Val, ty: &'t Type) -> Result<Value, ValueError> {
        self.owe(size_of::<Value>() as u64)?;
        Ok(match (&ty.shape, value) {
            (Shape::Bool, Val::Bool(b)) => Value::Bool(b),
            (Shape::S8, Val::S8(n)) => Value::from(n),
            (Shape::U8, Val::U8(n)) => Value::from(n),
            (Shape::S16, Val::S16(n)) => Value::from(n),
            (Shape::U16, Val::U16(n)) => Value::from(n),
            (Shape::S32, Val::S32(n)) => Value::from(n),
            (Shape::U32, Val::U32(n)) => Value::from(n),
            (Shape::S64, Val::S64(n)) => self.integer(n.into(), n.unsigned_abs()),
            (Shape::U64, Val::U64(n)) => self.integer(n.into(), n),
            (Shape::F32, Val::Float32(n)) => self.float(n.into()),
            (Shape::F64, Val::Float64(n)) => self.float(n),
            (Shape::Char, Val::Char(c)) => Value::String(c.to_string()),
            (Shape::String, Val::String(text)) => Value::String(text),
            (Shape::Bytes, Val::List(items)) => self.bytes(ty, items)?,
            (Shape::List(inner), Val::List(items)) => self.list(items, |_| Some(&**inner), ty)?,
            (Shape::FixedList(inner, _), Val::FixedLengthList(items)) => self.list(items, |_| Some(&**inner), ty)?,
            (Shape::Tuple(members), Val::Tuple(items)) if items.len() == members.len() => {
                self.list(items, |at| members.get(at), ty)?
            }
            (Shape::Record(fields), Val::Record(values)) => self.record(fields, values, ty)?,
            (Shape::Variant(cases), Val::Variant(name, payload)) => {
                let case = cases.iter().find(|case| case.name == name).ok_or_else(|| mismatch(ty))?;
                self.tagged(&case.name, case.ty.as_ref(), payload, ty)?
            }
            (Shape::Enum(_), Val::Enum(name)) => Value::String(name),
            (Shape::Flags(_), Val::Flags(names)) => names.into_iter().map(Value::String).collect(),
            (Shape::Option(_), Val::Option(None)) => Value::Null,
            (Shape::Option(inner), Val::Option(some)) if inner.is_nullable() => {
                self.tagged("some", Some(inner), some, ty)?
            }
            (Shape::Option(inner), Val::Option(Some(value))) => self.value(*value, inner)?,
            (Shape::Result { ok, .. }, Val::Result(Ok(value))) => self.tagged("ok", ok.as_deref(), value, ty)?,
            (Shape::Result { err, .. }, Val::Result(Err(value))) => self.tagged("err", err.as_deref(), value, ty)?,
            (Shape::Map(key, item), Val::Map(entries)) => self.map(key, item, entries)?,
            (Shape::Own(resource) | Shape::Borrow(resource), Val::Resource(value)) => {
                Value::String(self.handles.issue(resource, value)?)
            }
            _ => return Err(mismatch(ty)),
        })
    }

    fn integer(&mut self, number: i128, magnitude: u64) -> Value {
        if magnitude > MAX_SAFE {
            self.special(SpecialKind::Integer);
        }
        canonical::integer_json(number)
    }

    fn float(&mut self, number: f64) -> Value {
        if !number.is_finite() {
            self.special(SpecialKind::Float);
        }
        canonical::float_json(number)
    }

    fn bytes(&mut self, ty: &Type, items: Vec<Val>) -> Result<Value, ValueError> {
        let mut raw = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Val::U8(byte) => raw.push(byte),
                _ => return Err(mismatch(ty)),
            }
        }
        self.special(SpecialKind::Bytes);
        self.owe(raw.len() as u64 * 2)?;
        Ok(Value::String(BASE64.encode(raw)))
    }

    fn list(
        &mut self,
        items: Vec<Val>,
        member: impl Fn(usize) -> Option<&'t Type>,
        ty: &Type,
    ) -> Result<Value, ValueError> {
        let mut lifted = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            self.path.push(PathStep::Index(index));
            lifted.push(self.value(item, member(index).ok_or_else(|| mismatch(ty))?)?);
            self.path.pop();
        }
        Ok(Value::Array(lifted))
    }

    fn record(
        &mut self,
        fields: &'t Members<Field>,
        values: Vec<(String, Val)>,
        ty: &Type,
    ) -> Result<Value, ValueError> {
        if fields.len() != values.len() || fields.iter().zip(&values).any(|(field, (name, _))| field.name != *name) {
            return Err(mismatch(ty));
        }
        let mut object = Map::with_capacity(fields.len());
        for (field, (_, value)) in fields.iter().zip(values) {
            self.path.push(PathStep::Key(&field.camel));
            object.insert(field.camel.clone(), self.value(value, &field.ty)?);
            self.path.pop();
        }
        Ok(Value::Object(object))
    }

    fn tagged(
        &mut self,
        tag: &str,
        payload: Option<&'t Type>,
        value: Option<Box<Val>>,
        ty: &Type,
    ) -> Result<Value, ValueError> {
        let mut object = Map::with_capacity(2);
        object.insert("tag".to_owned(), Value::String(tag.to_owned()));
        match (payload, value) {
            (Some(payload), Some(value)) => {
                self.path.push(PathStep::Key("val"));
                object.insert("val".to_owned(), self.value(*value, payload)?);
                self.path.pop();
            }
            (None, None) => {}
            _ => return Err(mismatch(ty)),
        }
        Ok(Value::Object(object))
    }

    /// Lifts a map. Of two entries with one key the last counts, as the component model demands.
    fn map(&mut self, key: &'t Type, item: &'t Type, entries: Vec<(Val, Val)>) -> Result<Value, ValueError> {
        let mut last = std::collections::HashMap::new();
        let mut named = Vec::with_capacity(entries.len());
        for (index, (name, value)) in entries.into_iter().enumerate() {
            let name = canonical::key_text(&self.key(name, key)?);
            last.insert(name.clone(), index);
            named.push((name, value));
        }
        let mut object = Map::with_capacity(last.len());
        for (index, (name, value)) in named.into_iter().enumerate() {
            if last.get(&name) != Some(&index) {
                continue;
            }
            self.path.push(PathStep::Entry(name.clone()));
            object.insert(name, self.value(value, item)?);
            self.path.pop();
        }
        Ok(Value::Object(object))
    }

    /// Lifts a key, which is text in the object whatever it represents: it cannot be a special value.
    fn key(&mut self, name: Val, key: &'t Type) -> Result<Value, ValueError> {
        let before = self.specials.len();
        let name = self.value(name, key)?;
        self.specials.truncate(before);
        Ok(name)
    }

    fn special(&mut self, kind: SpecialKind) {
        let mut pointer = String::new();
        for step in &self.path {
            pointer.push('/');
            match step {
                PathStep::Key(key) => pointer.push_str(key),
                PathStep::Entry(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                PathStep::Index(index) => pointer.push_str(&index.to_string()),
            }
        }
        self.owed += (size_of::<Special>() + pointer.len()) as u64;
        self.specials.push(Special { pointer, kind });
    }
}

#[cfg(test)]
mod tests;
