//! Type model of a package: its functions and their types, independent of any engine.
//!
//! The model is plain data, which can be cached by the digest of the component that it was read from. It defines how a
//! value of each type is written in JSON (see [`Shape`]), and where the component exports a function ([`Export`]). It
//! does not read components (`reflect`), and neither checks nor converts values (`canonical`, `value`).

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names;

/// Deepest nesting of types, which is the limit of the component model's own validator.
pub const MAX_DEPTH: usize = 100;

/// Exports of a package, as read from its component.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Package {
    /// Names of all imports, as in the component's binary: `wasi:io/streams@0.2.6`.
    pub imports: Vec<String>,
    /// Interfaces that the package exports.
    pub interfaces: Vec<Interface>,
    /// Functions that can be called: those of the world itself, of the default interface, of the others.
    pub functions: Vec<Function>,
    /// Exported functions that cannot be called, with the reason.
    pub unavailable: Vec<Unavailable>,
}

impl Package {
    /// Returns the function at a path, for example `["describe"]` or `["charges", "create"]`.
    #[must_use]
    pub fn function<S: AsRef<str>>(&self, path: &[S]) -> Option<&Function> {
        self.functions.iter().find(|f| f.path.iter().map(String::as_str).eq(path.iter().map(AsRef::as_ref)))
    }
}

/// Interface that a package exports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// Name in the component's exports: `tollhouse:stats/stats@0.1.0`, or `stats` when it was written inline.
    pub export: String,
    /// Short name: `stats`.
    pub name: String,
    /// Docs by the author.
    pub docs: Option<String>,
    /// True if its functions are named without it (`alias/function`).
    pub default: bool,
}

/// Exported function that cannot be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unavailable {
    /// Segments of its method behind the alias.
    pub path: Vec<String>,
    /// Reason in words: ``it takes a stream, which cannot cross the gate``.
    pub reason: String,
}

/// Function that can be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Segments of its method behind the alias, in kebab-case: `["charges", "create"]`.
    pub path: Vec<String>,
    /// Docs by the author.
    pub docs: Option<String>,
    /// Parameters. A method of a resource has `self` first.
    pub params: Members<Field>,
    /// Result type. A [`Shape::Result`] here is a return or an error (see `value::Returned`).
    pub result: Option<Type>,
    /// Kind of the function.
    pub kind: FunctionKind,
    /// Place of the function in the component's exports.
    pub export: Export,
    /// Schemas of a function of the embedding program, from which declarations are generated.
    #[serde(skip)]
    pub schemas: Option<Arc<HostSchemas>>,
}

/// JSON Schemas of a function of the embedding program.
#[derive(Debug, PartialEq)]
pub struct HostSchemas {
    /// Schema of the one object that it takes.
    pub parameters: Value,
    /// Schema of its result; `true` if it is unspecified.
    pub result: Value,
    /// True for an open namespace of functions instead of a function.
    pub is_namespace: bool,
}

impl Function {
    /// Returns true if a text is the function's method without the alias, in any spelling: `charges/create`,
    /// `charges.create`.
    #[must_use]
    pub fn is_spelled(&self, text: &str) -> bool {
        let spelled = text.split(['/', '.', ' ']);
        spelled.clone().count() == self.path.len()
            && spelled.zip(&self.path).all(|(spelled, segment)| names::is_spelling_of(spelled, segment))
    }

    /// Returns the canonical method under an alias: `payments/charges/create`.
    #[must_use]
    pub fn method(&self, alias: &str) -> String {
        let mut method = alias.to_owned();
        for segment in &self.path {
            method.push('/');
            method.push_str(segment);
        }
        method
    }

    /// Returns the type of a successful result: without the error case, if the function can fail. Returns `None` if it
    /// returns nothing.
    #[must_use]
    pub fn returns(&self) -> Option<&Type> {
        match self.result.as_ref().map(|ty| (&ty.shape, ty)) {
            Some((Shape::Result { ok, .. }, _)) => ok.as_deref(),
            Some((_, ty)) => Some(ty),
            None => None,
        }
    }

    /// Returns true if the function runs a program.
    #[must_use]
    pub fn is_program(&self) -> bool {
        self.kind == FunctionKind::Program
    }

    /// Returns true if the function represents an open namespace of the embedding program.
    #[must_use]
    pub fn is_namespace(&self) -> bool {
        self.schemas.as_ref().is_some_and(|schemas| schemas.is_namespace)
    }

    /// Returns true if the function accepts parameters that it does not name.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.kind, FunctionKind::Hosted { open: true })
    }

    /// Returns true if the function takes, returns or belongs to a resource.
    #[must_use]
    pub fn uses_resources(&self) -> bool {
        let is_free = matches!(self.kind, FunctionKind::Free | FunctionKind::Program | FunctionKind::Hosted { .. });
        let types = self.params.iter().map(|param| &param.ty).chain(&self.result);
        !is_free || types.into_iter().any(Type::has_resource)
    }

    /// Returns the type of the error's payload if the function can fail: `Some(None)` for an error without payload.
    #[must_use]
    pub fn fails_with(&self) -> Option<Option<&Type>> {
        match self.result.as_ref().map(|ty| &ty.shape) {
            Some(Shape::Result { err, .. }) => Some(err.as_deref()),
            _ => None,
        }
    }
}

/// Kind of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionKind {
    /// Function of an interface or of the world.
    Free,
    /// Constructor of a resource: `…/resource/new`.
    Constructor(Resource),
    /// Method of a resource, whose first parameter is `self`.
    Method(Resource),
    /// Function of a resource without `self`.
    Static(Resource),
    /// Program: its method is the alias alone.
    Program,
    /// Function of the embedding program (`host_method`).
    Hosted {
        /// True if it accepts parameters that it does not name.
        open: bool,
    },
    /// Destructor of a resource: `…/resource/drop`. Not an export: the host drops the handle given as `self`.
    Drop(Resource),
}

/// Place of a function in a component's exports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// Name of the exported instance that holds it. `None` means the component itself.
    pub instance: Option<String>,
    /// Name of the function there: `describe`, `[method]counter.increment`. Empty for [`FunctionKind::Drop`].
    pub function: String,
}

/// Resource type that the package defines.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// Exported instance that defines it.
    pub instance: String,
    /// Name in that instance: `counter`.
    pub name: String,
}

/// Type, with the name that its author gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Type {
    /// Definition of a type that has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Box<Definition>>,
    /// Form of its values.
    pub shape: Shape,
}

impl From<Shape> for Type {
    fn from(shape: Shape) -> Self {
        Self { definition: None, shape }
    }
}

/// Definition of a named type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Interface: `tollhouse:stats/stats@0.1.0`; empty for a type of the world.
    pub interface: String,
    /// Name of the type there.
    pub name: String,
    /// Docs by the author.
    pub docs: Option<String>,
}

/// Form of a type's values. The comments give their canonical JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// JSON boolean: `true` or `false`.
    Bool,
    /// Signed integer of 8 bits, as a JSON integer.
    S8,
    /// Unsigned integer of 8 bits, as a JSON integer.
    U8,
    /// Signed integer of 16 bits, as a JSON integer.
    S16,
    /// Unsigned integer of 16 bits, as a JSON integer.
    U16,
    /// Signed integer of 32 bits, as a JSON integer.
    S32,
    /// Unsigned integer of 32 bits, as a JSON integer.
    U32,
    /// Signed integer of 64 bits: a JSON integer up to ±(2^53 - 1), beyond that a decimal string.
    S64,
    /// Unsigned integer of 64 bits, as [`Shape::S64`].
    U64,
    /// Float of 32 bits: a JSON number of exactly that value; or `"NaN"`, `"Infinity"`, `"-Infinity"`. A whole number
    /// up to ±(2^53 - 1) is written without a point.
    F32,
    /// Float of 64 bits, as [`Shape::F32`].
    F64,
    /// String of one Unicode scalar value.
    Char,
    /// JSON string of any length.
    String,
    /// `list<u8>`: a string of base64 (RFC 4648 §4, padded).
    Bytes,
    /// List, as a JSON array.
    List(Box<Type>),
    /// List of a fixed length, as a JSON array.
    FixedList(Box<Type>, u32),
    /// Tuple, as an array with one element for each member.
    Tuple(Vec<Type>),
    /// Record, as an object with keys in lowerCamelCase, in the order of the fields.
    Record(Members<Field>),
    /// Variant: `{"tag": kebab-name}`, with `"val"` exactly if the case has a payload.
    Variant(Members<Case>),
    /// Enum: the kebab-case name as a string.
    Enum(Members<Case>),
    /// Flags: an array of kebab-case names, in the order of the definition, each at most once.
    Flags(Members<Case>),
    /// Option: `null`, or the value itself; inside another option `{"tag": "some", "val": value}` (see
    /// [`Type::is_nullable`]).
    Option(Box<Type>),
    /// Result: `{"tag": "ok"}` or `{"tag": "err"}`, with `"val"` exactly if that side has a payload.
    Result {
        /// Payload of `ok`.
        ok: Option<Box<Type>>,
        /// Payload of `err`.
        err: Option<Box<Type>>,
    },
    /// Map, as an object; keys other than strings are spelled as strings (`"7"`, `"true"`).
    Map(Box<Type>, Box<Type>),
    /// Any JSON value: the type of a host function's parameter that WIT cannot express.
    Json,
    /// Handle, as an opaque string. Passing it transfers ownership of the resource.
    Own(Resource),
    /// Handle, as an opaque string. Passing it lends the resource for the call.
    Borrow(Resource),
}

impl Type {
    /// Returns true if a value of this type can contain a resource.
    #[must_use]
    pub fn has_resource(&self) -> bool {
        let payload = |ty: &Option<Box<Self>>| ty.as_deref().is_some_and(Self::has_resource);
        match &self.shape {
            Shape::Own(_) | Shape::Borrow(_) => true,
            Shape::List(inner) | Shape::FixedList(inner, _) | Shape::Option(inner) => inner.has_resource(),
            Shape::Tuple(members) => members.iter().any(Self::has_resource),
            Shape::Record(fields) => fields.iter().any(|field| field.ty.has_resource()),
            Shape::Variant(cases) => cases.iter().filter_map(|case| case.ty.as_ref()).any(Self::has_resource),
            Shape::Result { ok, err } => payload(ok) || payload(err),
            Shape::Map(key, value) => key.has_resource() || value.has_resource(),
            _ => false,
        }
    }

    /// Returns true if `null` is a value of this type. An option around such a type is written with `some`, since
    /// `none` and `some(none)` would otherwise look alike.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        matches!(self.shape, Shape::Option(_))
    }

    /// Describes a value of this type for messages: `u32`, `string`, `a list of f64`, `a record `charge``.
    #[must_use]
    pub fn describe(&self) -> String {
        let of_name = |what: &str| match &self.definition {
            Some(definition) => format!("{what} `{}`", definition.name),
            None => what.to_owned(),
        };
        match &self.shape {
            Shape::List(inner) => format!("a list of {}", inner.describe()),
            Shape::FixedList(inner, count) => format!("a list of {count} {}", inner.describe()),
            Shape::Option(inner) => format!("{} or null", inner.describe()),
            Shape::Tuple(members) => format!("a list of {} values", members.len()),
            Shape::Record(_) => of_name("a record"),
            Shape::Variant(_) => of_name("a variant"),
            Shape::Enum(cases) => format!("one of {}", list_names(cases)),
            Shape::Flags(cases) => format!("a list of some of {}", list_names(cases)),
            Shape::Result { .. } => "a result".to_owned(),
            Shape::Map(..) => "a map".to_owned(),
            Shape::Own(resource) | Shape::Borrow(resource) => format!("a handle of `{}`", resource.name),
            _ => self.shape.word().to_owned(),
        }
    }
}

/// Most names that a message lists; further ones are counted.
const LISTED: usize = 12;

fn list_names(cases: &Members<Case>) -> String {
    let mut names: Vec<String> = cases.iter().take(LISTED).map(|case| format!("`{}`", case.name)).collect();
    if cases.len() > LISTED {
        names.push(format!("{} more", cases.len() - LISTED));
    }
    names.join(", ")
}

impl Shape {
    /// Returns WIT's keyword for this kind of type: `u32`, `list`, `record`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::S8 => "s8",
            Self::U8 => "u8",
            Self::S16 => "s16",
            Self::U16 => "u16",
            Self::S32 => "s32",
            Self::U32 => "u32",
            Self::S64 => "s64",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Char => "char",
            Self::String => "string",
            Self::Bytes => "bytes (base64)",
            Self::List(_) | Self::FixedList(..) => "list",
            Self::Tuple(_) => "tuple",
            Self::Record(_) => "record",
            Self::Variant(_) => "variant",
            Self::Enum(_) => "enum",
            Self::Flags(_) => "flags",
            Self::Option(_) => "option",
            Self::Result { .. } => "result",
            Self::Map(..) => "map",
            Self::Json => "json",
            Self::Own(_) => "own",
            Self::Borrow(_) => "borrow",
        }
    }
}

/// Parameter of a function, or field of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// WIT name of the field.
    pub name: String,
    /// Key in canonical JSON: the name in lowerCamelCase.
    pub camel: String,
    /// Docs by the author. WIT has no docs of parameters.
    pub docs: Option<String>,
    /// Default value, if a schema has one. WIT has no defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<serde_json::Value>,
    /// Type of the field.
    pub ty: Type,
}

impl Field {
    /// Creates a field with this WIT name, without docs.
    #[must_use]
    pub fn new(name: impl Into<String>, ty: impl Into<Type>) -> Self {
        let name = name.into();
        Self { camel: names::to_camel(&name), name, docs: None, default: None, ty: ty.into() }
    }

    /// Returns true if the field may be omitted: its type is an option.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.ty.is_nullable()
    }
}

/// Case of a variant or enum, or a flag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// WIT name, which is also the canonical spelling in JSON.
    pub name: String,
    /// Name in lowerCamelCase.
    pub camel: String,
    /// Docs by the author.
    pub docs: Option<String>,
    /// Payload type of a variant's case.
    pub ty: Option<Type>,
}

impl Case {
    /// Creates a case with this WIT name, without docs.
    #[must_use]
    pub fn new(name: impl Into<String>, ty: Option<Type>) -> Self {
        let name = name.into();
        Self { camel: names::to_camel(&name), name, docs: None, ty }
    }
}

/// Item with a WIT name and its lowerCamelCase spelling.
pub trait Named {
    /// Returns the WIT name.
    fn name(&self) -> &str;
    /// Returns the name in lowerCamelCase.
    fn camel(&self) -> &str;
}

impl Named for Field {
    fn name(&self) -> &str {
        &self.name
    }
    fn camel(&self) -> &str {
        &self.camel
    }
}

impl Named for Case {
    fn name(&self) -> &str {
        &self.name
    }
    fn camel(&self) -> &str {
        &self.camel
    }
}

/// Fields or cases in the order of their definition, found by name in any spelling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<T>", into = "Vec<T>")]
#[serde(bound(serialize = "T: Clone + Serialize", deserialize = "T: Deserialize<'de> + Named"))]
pub struct Members<T> {
    items: Vec<T>,
    /// Indices of `items`, sorted by lowerCamelCase name: an object with many keys costs no more than a sort.
    order: Vec<usize>,
}

impl<T: Named> Members<T> {
    /// Returns the index of the member with this name in kebab-case, snake_case or lowerCamelCase.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let exact = |camel: &str| {
            let at = self.order.binary_search_by(|&i| self.items.get(i).map_or("", Named::camel).cmp(camel)).ok()?;
            self.order.get(at).copied()
        };
        if let Some(at) = exact(name) {
            return Some(at);
        }
        let at = exact(&names::to_camel(&name.replace('_', "-")))?;
        self.items.get(at).filter(|member| names::is_spelling_of(name, member.name())).map(|_| at)
    }

    /// Returns the member with this name, in any spelling.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&T> {
        self.position(name).and_then(|at| self.items.get(at))
    }

    /// Returns two members whose names are equal in lowerCamelCase (`a-1` and `a1`). Such a type cannot be written in
    /// JSON.
    #[must_use]
    pub fn ambiguous(&self) -> Option<(&T, &T)> {
        self.order.windows(2).find_map(|pair| match pair {
            [a, b] => match (self.items.get(*a), self.items.get(*b)) {
                (Some(a), Some(b)) if a.camel() == b.camel() => Some((a, b)),
                _ => None,
            },
            _ => None,
        })
    }
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self { items: Vec::new(), order: Vec::new() }
    }
}

impl<T: Named> From<Vec<T>> for Members<T> {
    fn from(items: Vec<T>) -> Self {
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by(|&a, &b| items.get(a).map(Named::camel).cmp(&items.get(b).map(Named::camel)));
        Self { items, order }
    }
}

impl<T> From<Members<T>> for Vec<T> {
    fn from(members: Members<T>) -> Self {
        members.items
    }
}

impl<T: Named> FromIterator<T> for Members<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T> Deref for Members<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn member_is_found_in_every_spelling() {
        let members: Members<Field> =
            ["std-dev", "mean", "HTTP-get", "b-1"].into_iter().map(|name| Field::new(name, Shape::F64)).collect();
        for (name, at) in
            [("stdDev", 0), ("std-dev", 0), ("std_dev", 0), ("mean", 1), ("httpGet", 2), ("http_get", 2), ("b1", 3)]
        {
            assert_eq!(members.position(name), Some(at), "{name}");
        }
        for name in ["stddev", "STD_DEV", "", "Mean"] {
            assert_eq!(members.position(name), None, "{name}");
        }
        assert!(members.ambiguous().is_none());
        let two: Members<Field> = ["b-1", "c", "b1"].into_iter().map(|name| Field::new(name, Shape::F64)).collect();
        assert_eq!(two.ambiguous().map(|(a, b)| (a.name.as_str(), b.name.as_str())), Some(("b-1", "b1")));
    }

    #[test]
    fn type_model_serialized_is_read_back_equal() {
        let ty = Type::from(Shape::Record(
            [Field::new("a-b", Shape::Option(Box::new(Shape::U64.into()))), Field::new("c", Shape::Bytes)]
                .into_iter()
                .collect(),
        ));
        let text = serde_json::to_string(&ty).expect("plain data");
        assert_eq!(serde_json::from_str::<Type>(&text).expect("what was written"), ty);
    }
}
