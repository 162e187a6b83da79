//! Our own model of what a package offers: its functions and their types, independent of any engine.
//!
//! The model is plain data: it can be stored by the digest of the component that it was read from. It knows how a value
//! of each type is written in JSON (see [`Shape`]), and where in the component a function is found ([`Export`]). It
//! does not read components (`reflect`), and it neither judges nor converts values (`canonical`, `value`).

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names;

/// How deep types may nest. The component model's own validator stops at the same depth.
pub const MAX_DEPTH: usize = 100;

/// What a package offers, as read from its component.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Package {
    /// Names of everything that the component imports, as in its binary: `wasi:io/streams@0.2.6`.
    pub imports: Vec<String>,
    /// The interfaces that it exports.
    pub interfaces: Vec<Interface>,
    /// The functions that can be called: those of the world itself, of the default interface, of the others.
    pub functions: Vec<Function>,
    /// The functions that are exported but cannot be called, and why.
    pub unavailable: Vec<Unavailable>,
}

impl Package {
    /// The function at a path, for example `["describe"]` or `["charges", "create"]`.
    #[must_use]
    pub fn function<S: AsRef<str>>(&self, path: &[S]) -> Option<&Function> {
        self.functions.iter().find(|f| f.path.iter().map(String::as_str).eq(path.iter().map(AsRef::as_ref)))
    }
}

/// An exported interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// Its name in the component's exports: `tollhouse:stats/stats@0.1.0`, or `stats` when it was written inline.
    pub export: String,
    /// Its own name: `stats`.
    pub name: String,
    /// What its author says about it.
    pub docs: Option<String>,
    /// Whether its functions are named without it (`alias/function`).
    pub default: bool,
}

/// A function that is exported but cannot be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unavailable {
    /// Segments of its method behind the alias.
    pub path: Vec<String>,
    /// Why, for a human: ``it takes a stream, which cannot cross the gate``.
    pub reason: String,
}

/// A function that can be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Segments of its method behind the alias, in kebab-case: `["charges", "create"]`.
    pub path: Vec<String>,
    /// What its author says about it.
    pub docs: Option<String>,
    /// Its parameters. A method of a resource has `self` first.
    pub params: Members<Field>,
    /// What it returns. A [`Shape::Result`] here is a return or an error (see `value::Returned`).
    pub result: Option<Type>,
    /// What sort of function it is.
    pub kind: FunctionKind,
    /// Where the component exports it.
    pub export: Export,
    /// Of a function of the embedding program, what declarations are written from.
    #[serde(skip)]
    pub schemas: Option<Arc<HostSchemas>>,
}

/// The JSON Schemas of a function of the embedding program.
#[derive(Debug, PartialEq)]
pub struct HostSchemas {
    /// Of the one object that it takes.
    pub parameters: Value,
    /// Of what it returns; `true` where nothing is said of that.
    pub result: Value,
    /// Whether it is no function itself, but an open namespace of functions.
    pub is_namespace: bool,
}

impl Function {
    /// The canonical method under an alias: `payments/charges/create`.
    #[must_use]
    pub fn method(&self, alias: &str) -> String {
        let mut method = alias.to_owned();
        for segment in &self.path {
            method.push('/');
            method.push_str(segment);
        }
        method
    }

    /// The type of a normal return: without the error case, if the function can fail. None if it returns nothing.
    #[must_use]
    pub fn returns(&self) -> Option<&Type> {
        match self.result.as_ref().map(|ty| (&ty.shape, ty)) {
            Some((Shape::Result { ok, .. }, _)) => ok.as_deref(),
            Some((_, ty)) => Some(ty),
            None => None,
        }
    }

    /// Whether it runs a program.
    #[must_use]
    pub fn is_program(&self) -> bool {
        self.kind == FunctionKind::Program
    }

    /// Whether it stands for an open namespace of the embedding program.
    pub(crate) fn is_namespace(&self) -> bool {
        self.schemas.as_ref().is_some_and(|schemas| schemas.is_namespace)
    }

    /// Whether it takes parameters that it does not name.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.kind, FunctionKind::Hosted { open: true })
    }

    /// Whether it can return an error, and if so the type of the payload.
    #[must_use]
    pub fn fails_with(&self) -> Option<Option<&Type>> {
        match self.result.as_ref().map(|ty| &ty.shape) {
            Some(Shape::Result { err, .. }) => Some(err.as_deref()),
            _ => None,
        }
    }
}

/// What sort of function it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionKind {
    /// A function of an interface or of the world.
    Free,
    /// Makes a resource: `…/resource/new`.
    Constructor(Resource),
    /// A method of a resource; its first parameter is `self`.
    Method(Resource),
    /// A function of a resource without `self`.
    Static(Resource),
    /// Runs a program: its method is the alias alone.
    Program,
    /// A function of the embedding program (`hosted`).
    Hosted {
        /// Whether it takes parameters that it does not name.
        open: bool,
    },
    /// Lets go of a resource: `…/resource/drop`. No export: the host drops the handle that `self` names.
    Drop(Resource),
}

/// Where a component exports a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// The instance that holds it, by its name in the component's exports. None: the component itself.
    pub instance: Option<String>,
    /// The function's name there: `describe`, `[method]counter.increment`. Empty for [`FunctionKind::Drop`].
    pub function: String,
}

/// A resource that the package defines.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// The exported instance that defines it.
    pub instance: String,
    /// Its name there: `counter`.
    pub name: String,
}

/// A type, with the name that its author gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Type {
    /// The name, for a type that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Box<Definition>>,
    /// What its values look like.
    pub shape: Shape,
}

impl From<Shape> for Type {
    fn from(shape: Shape) -> Self {
        Self { definition: None, shape }
    }
}

/// Where a type was defined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The interface: `tollhouse:stats/stats@0.1.0`; empty for a type of the world.
    pub interface: String,
    /// Its name there.
    pub name: String,
    /// What its author says about it.
    pub docs: Option<String>,
}

/// What the values of a type look like. The comments say how they are written in canonical JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `true` or `false`.
    Bool,
    /// An integer, as a JSON integer.
    S8,
    /// As [`Shape::S8`].
    U8,
    /// As [`Shape::S8`].
    S16,
    /// As [`Shape::S8`].
    U16,
    /// As [`Shape::S8`].
    S32,
    /// As [`Shape::S8`].
    U32,
    /// A JSON integer up to ±(2^53 - 1), beyond that a decimal string.
    S64,
    /// As [`Shape::S64`].
    U64,
    /// A JSON number, exactly the value of the 32-bit float; or `"NaN"`, `"Infinity"`, `"-Infinity"`. A whole number
    /// up to ±(2^53 - 1) is written without a point.
    F32,
    /// As [`Shape::F32`], with 64 bits.
    F64,
    /// A string of one Unicode scalar value.
    Char,
    /// A string.
    String,
    /// `list<u8>`: a string of base64 (RFC 4648 §4, padded).
    Bytes,
    /// An array.
    List(Box<Type>),
    /// An array of exactly so many elements.
    FixedList(Box<Type>, u32),
    /// An array with one element for each member.
    Tuple(Vec<Type>),
    /// An object, its keys in lowerCamelCase, in the order of the fields.
    Record(Members<Field>),
    /// `{"tag": kebab-name}`, with `"val"` exactly if the case has a payload.
    Variant(Members<Case>),
    /// The kebab-case name as a string.
    Enum(Members<Case>),
    /// An array of kebab-case names, in the order of the definition, each at most once.
    Flags(Members<Case>),
    /// `null`, or the value itself; inside another option `{"tag": "some", "val": value}` (see [`Type::is_nullable`]).
    Option(Box<Type>),
    /// `{"tag": "ok"}` or `{"tag": "err"}`, with `"val"` exactly if that side has a payload.
    Result {
        /// Payload of `ok`.
        ok: Option<Box<Type>>,
        /// Payload of `err`.
        err: Option<Box<Type>>,
    },
    /// An object; keys that are no strings are spelled as strings (`"7"`, `"true"`).
    Map(Box<Type>, Box<Type>),
    /// Any JSON value: what a parameter of the embedding program takes, where WIT has no word for it.
    Json,
    /// A handle: an opaque string. Passing it gives the resource away.
    Own(Resource),
    /// A handle: an opaque string. Passing it lends the resource for the call.
    Borrow(Resource),
}

impl Type {
    /// Whether `null` is a value of this type. An option around such a type must say `some`, or `none` and
    /// `some(none)` would look alike.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        matches!(self.shape, Shape::Option(_))
    }

    /// What a value of this type is called in messages: `u32`, `string`, `a list of f64`, `a record `charge``.
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

/// So many names are listed in a message; more are counted.
const LISTED: usize = 12;

fn list_names(cases: &Members<Case>) -> String {
    let mut names: Vec<String> = cases.iter().take(LISTED).map(|case| format!("`{}`", case.name)).collect();
    if cases.len() > LISTED {
        names.push(format!("{} more", cases.len() - LISTED));
    }
    names.join(", ")
}

impl Shape {
    /// WIT's word for this sort of type: `u32`, `list`, `record`.
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

/// A parameter of a function, or a field of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its WIT name.
    pub name: String,
    /// Its key in canonical JSON: the name in lowerCamelCase.
    pub camel: String,
    /// What its author says about it. WIT has no place for docs of a parameter.
    pub docs: Option<String>,
    /// What is taken in its place where it is left out, if a schema says so. WIT has no word for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<serde_json::Value>,
    /// Its type.
    pub ty: Type,
}

impl Field {
    /// A field of this WIT name, without docs.
    #[must_use]
    pub fn new(name: impl Into<String>, ty: impl Into<Type>) -> Self {
        let name = name.into();
        Self { camel: names::to_camel(&name), name, docs: None, default: None, ty: ty.into() }
    }

    /// Whether it may be left out: its type is an option.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.ty.is_nullable()
    }
}

/// A case of a variant or enum, or a flag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its WIT name, which is also its canonical spelling in JSON.
    pub name: String,
    /// The name in lowerCamelCase.
    pub camel: String,
    /// What its author says about it.
    pub docs: Option<String>,
    /// The payload of a variant's case.
    pub ty: Option<Type>,
}

impl Case {
    /// A case of this WIT name, without docs.
    #[must_use]
    pub fn new(name: impl Into<String>, ty: Option<Type>) -> Self {
        let name = name.into();
        Self { camel: names::to_camel(&name), name, docs: None, ty }
    }
}

/// Something with a WIT name and its lowerCamelCase spelling.
pub trait Named {
    /// The WIT name.
    fn name(&self) -> &str;
    /// The name in lowerCamelCase.
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
    /// Where the member of this name stands; kebab-case, snake_case and lowerCamelCase are understood.
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

    /// The member of this name, in any spelling.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&T> {
        self.position(name).and_then(|at| self.items.get(at))
    }

    /// Two members whose names are one in lowerCamelCase (`a-1` and `a1`). Such a type cannot be written in JSON.
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
    fn members_are_found_in_every_spelling() {
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
    fn the_model_survives_storage() {
        let ty = Type::from(Shape::Record(
            [Field::new("a-b", Shape::Option(Box::new(Shape::U64.into()))), Field::new("c", Shape::Bytes)]
                .into_iter()
                .collect(),
        ));
        let text = serde_json::to_string(&ty).expect("plain data");
        assert_eq!(serde_json::from_str::<Type>(&text).expect("what was written"), ty);
    }
}
