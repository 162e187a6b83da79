//! Python declarations of the types of a session's tools: `TypedDict`s for type checkers and pydantic.
//!
//! For programs that make calls themselves, or examine results of scripts. Names and docs come from strangers, so every
//! name is an identifier, and no string can end early: the output contains declarations only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::names;
use super::type_names::{self, NamedType, TypeBody, TypeKey};
use super::types::{Case, Field, Function, Members, Shape, Type};
use super::typescript::Mounted;

/// Head of each generated module.
const HEAD: &str = r#""""Types of the tools that a session has. Made by Tollhouse: change the tools, not this."""

from typing import Any, Generic, Literal, NewType, NotRequired, TypeAlias, TypeVar

try:  # before Python 3.12 pydantic asks for this one
    from typing_extensions import TypedDict
except ImportError:
    from typing import TypedDict

T = TypeVar("T")


class Some(TypedDict, Generic[T]):
    """An option that is there, where it could itself be null."""

    tag: Literal["some"]
    val: T


class Ok(TypedDict, Generic[T]):
    """What went well; `val` is left out where there is nothing to say."""

    tag: Literal["ok"]
    val: NotRequired[T]


class Err(TypedDict, Generic[T]):
    """What did not; `val` is left out where there is nothing to say."""

    tag: Literal["err"]
    val: NotRequired[T]
"#;

/// Names that the module itself defines.
const TAKEN: &[&str] = &["Some", "Ok", "Err", "T", "Any"];

/// Keywords, which cannot name an attribute.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Generates a module that declares all packages, in the order given: their named types, and for each function the
/// types of its arguments (`…Arguments`), result (`…Result`) and error (`…Error`).
#[must_use]
pub fn module(mounted: &[Mounted<'_>]) -> String {
    let mut text = HEAD.to_owned();
    let mut used: BTreeSet<String> = TAKEN.iter().map(|name| (*name).to_owned()).collect();
    for package in mounted {
        let alias = identifier(&names::to_pascal(package.alias));
        let taken: Vec<&str> = used.iter().map(String::as_str).collect();
        let named = type_names::gather(package.package, &taken, |name| identifier(&format!("{alias}{name}")));
        used.extend(named.values().map(|named| named.name.clone()));
        let mut writer = ModuleWriter { text, named, used, written: BTreeSet::new() };
        for function in &package.package.functions {
            writer.function(&alias, package.alias, function);
        }
        ModuleWriter { text, used, .. } = writer;
    }
    text
}

struct ModuleWriter<'a> {
    text: String,
    named: BTreeMap<TypeKey<'a>, NamedType<'a>>,
    /// Names that the module has so far.
    used: BTreeSet<String>,
    /// Types that are declared already.
    written: BTreeSet<TypeKey<'a>>,
}

impl<'a> ModuleWriter<'a> {
    /// Returns a name that the module does not have yet.
    fn fresh(&mut self, name: &str) -> String {
        let mut name = identifier(name);
        while !self.used.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    fn function(&mut self, alias: &str, package: &str, function: &'a Function) {
        let types = function.params.iter().map(|field| &field.ty).chain(function.result.as_ref());
        types.for_each(|ty| self.declare(ty));
        let path: Vec<String> = function.path.iter().map(|segment| names::to_pascal(segment)).collect();
        let name = format!("{alias}{}", path.concat());
        let method = function.method(package);
        let docs = function.docs.as_deref().map(|docs| format!("{}\n\n", docs.trim())).unwrap_or_default();
        let arguments = self.fresh(&format!("{name}Arguments"));
        self.dict(&arguments, &format!("{docs}Arguments of `{method}`."), &function.params);
        let returns = function.returns().map_or_else(|| "None".to_owned(), |ty| self.name(ty));
        let result = self.fresh(&format!("{name}Result"));
        self.alias(&result, &returns, &format!("Result of `{method}`."));
        if let Some(payload) = function.fails_with() {
            let payload = payload.map_or_else(|| "None".to_owned(), |ty| self.name(ty));
            let error = self.fresh(&format!("{name}Error"));
            self.alias(&error, &payload, &format!("Payload of the errors of `{method}`."));
        }
    }

    /// Declares the named types in a type, dependencies first. Types nest to [`super::types::MAX_DEPTH`].
    fn declare(&mut self, ty: &'a Type) {
        type_names::inner(&ty.shape).into_iter().for_each(|inner| self.declare(inner));
        let key = match (&ty.definition, &ty.shape) {
            (Some(definition), _) => (definition.interface.as_str(), definition.name.as_str()),
            (None, Shape::Own(resource) | Shape::Borrow(resource)) => {
                (resource.instance.as_str(), resource.name.as_str())
            }
            (None, _) => return,
        };
        let Some(NamedType { name, body }) = self.named.get(&key) else { return };
        if !self.written.insert(key) {
            return;
        }
        let name = name.clone();
        match *body {
            TypeBody::Resource(resource) => {
                let docs = format!("A handle of a `{}`, as a call returned it.", resource.name);
                let _ = write!(self.text, "\n{name} = NewType(\"{name}\", str)\n{}\n", string(&docs, 0));
            }
            TypeBody::Type(ty, definition) => {
                let docs = definition.docs.as_deref().unwrap_or_default();
                match &ty.shape {
                    Shape::Record(fields) => self.dict(&name, docs, fields),
                    Shape::Variant(cases) => self.variant(&name, docs, cases),
                    shape => {
                        let shape = self.shape(shape);
                        self.alias(&name, &shape, docs);
                    }
                }
            }
        }
    }

    fn alias(&mut self, name: &str, ty: &str, docs: &str) {
        let _ = write!(self.text, "\n{name}: TypeAlias = {ty}\n");
        if !docs.trim().is_empty() {
            let _ = writeln!(self.text, "{}", string(docs, 0));
        }
    }

    /// Writes a dict with these keys. If a key cannot be an attribute's name, the functional syntax is used.
    fn dict(&mut self, name: &str, docs: &str, fields: &Members<Field>) {
        let ty = |field: &Field| {
            let ty = self.name(&field.ty);
            if field.is_optional() { format!("NotRequired[{ty}]") } else { ty }
        };
        let mut text = String::new();
        if fields.iter().all(|field| is_attribute(&field.camel)) {
            let _ = write!(text, "\n\nclass {name}(TypedDict):\n{}\n", string(docs_or(docs, name), 4));
            for field in fields.iter() {
                let _ = write!(text, "\n    {}: {}\n", field.camel, ty(field));
                if let Some(docs) = field.docs.as_deref().filter(|docs| !docs.trim().is_empty()) {
                    let _ = writeln!(text, "{}", string(docs, 4));
                }
            }
        } else {
            let keys: Vec<String> =
                fields.iter().map(|field| format!("{}: {}", quoted(&field.camel), ty(field))).collect();
            let _ = write!(text, "\n{name} = TypedDict(\"{name}\", {{{}}})\n", keys.join(", "));
            if !docs.trim().is_empty() {
                let _ = writeln!(text, "{}", string(docs, 0));
            }
        }
        self.text.push_str(&text);
    }

    /// Writes a variant: a dict for each case, and their union.
    fn variant(&mut self, name: &str, docs: &str, cases: &Members<Case>) {
        let mut union = Vec::new();
        for case in cases.iter() {
            let own = self.fresh(&format!("{name}{}", names::to_pascal(&case.name)));
            let docs = case.docs.as_deref().unwrap_or_default();
            let _ = write!(self.text, "\n\nclass {own}(TypedDict):\n{}\n", string(docs_or(docs, &case.name), 4));
            let _ = write!(self.text, "\n    tag: Literal[{}]\n", quoted(&case.name));
            if let Some(ty) = &case.ty {
                let ty = self.name(ty);
                let _ = writeln!(self.text, "    val: {ty}");
            }
            union.push(own);
        }
        self.alias(name, &union.join(" | "), docs);
    }

    /// Returns the expression of a type where it is used.
    fn name(&self, ty: &Type) -> String {
        let known = ty.definition.as_ref().and_then(|d| self.named.get(&(d.interface.as_str(), d.name.as_str())));
        known.map_or_else(|| self.shape(&ty.shape), |named| named.name.clone())
    }

    fn shape(&self, shape: &Shape) -> String {
        match shape {
            Shape::Bool => "bool".to_owned(),
            Shape::Char | Shape::String => "str".to_owned(),
            Shape::Bytes => "bytes".to_owned(),
            Shape::F32 | Shape::F64 => "float".to_owned(),
            Shape::List(inner) | Shape::FixedList(inner, _) => format!("list[{}]", self.name(inner)),
            Shape::Tuple(members) if members.is_empty() => "tuple[()]".to_owned(),
            Shape::Tuple(members) => {
                let members: Vec<String> = members.iter().map(|member| self.name(member)).collect();
                format!("tuple[{}]", members.join(", "))
            }
            Shape::Enum(cases) => literal(cases),
            Shape::Flags(cases) => format!("list[{}]", literal(cases)),
            Shape::Option(inner) if inner.is_nullable() => format!("Some[{}] | None", self.name(inner)),
            Shape::Option(inner) => format!("{} | None", self.name(inner)),
            Shape::Result { ok, err } => {
                let side = |ty: &Option<Box<Type>>| ty.as_ref().map_or_else(|| "None".to_owned(), |ty| self.name(ty));
                format!("Ok[{}] | Err[{}]", side(ok), side(err))
            }
            Shape::Map(_, item) => format!("dict[str, {}]", self.name(item)),
            Shape::Own(resource) | Shape::Borrow(resource) => {
                let named = self.named.get(&(resource.instance.as_str(), resource.name.as_str()));
                named.map_or_else(|| "str".to_owned(), |named| named.name.clone())
            }
            // WIT names every record and variant; JSON may be any value.
            Shape::Record(_) | Shape::Variant(_) | Shape::Json => "Any".to_owned(),
            Shape::S8 | Shape::U8 | Shape::S16 | Shape::U16 | Shape::S32 | Shape::U32 | Shape::S64 | Shape::U64 => {
                "int".to_owned()
            }
        }
    }
}

/// Returns the docs, or the name: a class must have a body.
fn docs_or<'t>(docs: &'t str, name: &'t str) -> &'t str {
    if docs.trim().is_empty() { name } else { docs }
}

fn literal(cases: &Members<Case>) -> String {
    if cases.is_empty() {
        return "Any".to_owned();
    }
    format!("Literal[{}]", cases.iter().map(|case| quoted(&case.name)).collect::<Vec<_>>().join(", "))
}

/// Quotes a string. JSON's spelling is valid in Python if it has no surrogates, which a `char` cannot be.
fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// Writes a string over several lines, and escapes everything that would end it early or be read as an escape.
fn string(text: &str, indent: usize) -> String {
    let space = " ".repeat(indent);
    let safe: String = text.trim().chars().filter(|char| *char == '\n' || !char.is_control()).collect();
    let safe = safe.replace('\\', "\\\\").replace('"', "\\\"");
    let mut lines = safe.lines().map(str::trim_end);
    let mut written = format!("{space}\"\"\"{}", lines.next().unwrap_or_default());
    let mut many = false;
    for line in lines {
        many = true;
        written.push('\n');
        if !line.is_empty() {
            let _ = write!(written, "{space}{line}");
        }
    }
    let end = if many { format!("\n{space}\"\"\"") } else { "\"\"\"".to_owned() };
    written + &end
}

/// Returns true if an attribute of a class can have the name. Python would mangle one that begins with two underscores.
fn is_attribute(name: &str) -> bool {
    identifier(name) == name && !name.starts_with("__")
}

/// Turns a name into one that can be declared: other characters become `_`, and a keyword gets one appended.
fn identifier(name: &str) -> String {
    let mut safe: String = name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
    if safe.starts_with(|first: char| first.is_ascii_digit()) || safe.is_empty() {
        safe.insert(0, '_');
    }
    if KEYWORDS.contains(&safe.as_str()) {
        safe.push('_');
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::reflect::DefaultInterface;
    use super::super::reflect::tests::from_wit;
    use super::*;

    /// Interface with a type of every kind.
    const INTERFACE: &str = r#"package acme:pay@1.0.0;
            interface charges {
                /// What it is paid in.
                enum currency { eur, us-dollar }
                /// A payment.
                record charge {
                    /// In cents. Ends early: """ no \
                    amount: u64,
                    currency: currency,
                    note: option<string>,
                    raw: list<u8>,
                }
                record odd { class: u8, %from: option<u8> }
                variant problem { refused(string), closed }
                resource ledger { constructor(name: string); delete: func(); }
                /// Makes a charge.
                create: func(charge: charge, retries: option<list<option<u32>>>) -> result<charge, problem>;
                look: func(odd: odd) -> list<tuple<u32, result<_, string>>>;
            }
            world w { export charges; }"#;

    /// Module of the interface, mounted as `my-pay`.
    const MODULE: &str = r#"
MyPayLedger = NewType("MyPayLedger", str)
"""A handle of a `ledger`, as a call returned it."""


class MyPayLedgerNewArguments(TypedDict):
    """Arguments of `my-pay/ledger/new`."""

    name: str

MyPayLedgerNewResult: TypeAlias = MyPayLedger
"""Result of `my-pay/ledger/new`."""


class MyPayLedgerDeleteArguments(TypedDict):
    """Arguments of `my-pay/ledger/delete`."""

    self: MyPayLedger

MyPayLedgerDeleteResult: TypeAlias = None
"""Result of `my-pay/ledger/delete`."""

MyPayCurrency: TypeAlias = Literal["eur", "us-dollar"]
"""What it is paid in."""


class MyPayCharge(TypedDict):
    """A payment."""

    amount: int
    """In cents. Ends early: \"\"\" no \\"""

    currency: MyPayCurrency

    note: NotRequired[str | None]

    raw: bytes


class MyPayProblemRefused(TypedDict):
    """refused"""

    tag: Literal["refused"]
    val: str


class MyPayProblemClosed(TypedDict):
    """closed"""

    tag: Literal["closed"]

MyPayProblem: TypeAlias = MyPayProblemRefused | MyPayProblemClosed


class MyPayCreateArguments(TypedDict):
    """Makes a charge.

    Arguments of `my-pay/create`.
    """

    charge: MyPayCharge

    retries: NotRequired[list[int | None] | None]

MyPayCreateResult: TypeAlias = MyPayCharge
"""Result of `my-pay/create`."""

MyPayCreateError: TypeAlias = MyPayProblem
"""Payload of the errors of `my-pay/create`."""

MyPayOdd = TypedDict("MyPayOdd", {"class": int, "from": NotRequired[int | None]})


class MyPayLookArguments(TypedDict):
    """Arguments of `my-pay/look`."""

    odd: MyPayOdd

MyPayLookResult: TypeAlias = list[tuple[int, Ok[None] | Err[str]]]
"""Result of `my-pay/look`."""


class MyPayLedgerDropArguments(TypedDict):
    """Drops a `ledger`. Its handle cannot be used afterwards.

    Arguments of `my-pay/ledger/drop`.
    """

    self: MyPayLedger

MyPayLedgerDropResult: TypeAlias = None
"""Result of `my-pay/ledger/drop`."""
"#;

    #[test]
    fn python_module_matches_its_interface() {
        let package = from_wit(INTERFACE, &DefaultInterface::Named("charges".to_owned()));
        let text = module(&[Mounted { alias: "my-pay", docs: None, package: &package }]);
        let own = text.strip_prefix(HEAD).expect("it begins so");
        assert_eq!(own, MODULE);
    }

    #[test]
    fn python_string_of_foreign_text_cannot_be_ended_early() {
        assert_eq!(string("a\"\"\"\nimport os\\\n\n", 4), "    \"\"\"a\\\"\\\"\\\"\n    import os\\\\\n    \"\"\"");
        assert_eq!(string("\\", 0), "\"\"\"\\\\\"\"\"");
        assert_eq!(identifier("class"), "class_");
        assert_eq!(identifier("a.b\nc"), "a_b_c");
        assert!(!is_attribute("__x") && !is_attribute("1x") && is_attribute("fromDate"));
    }
}
