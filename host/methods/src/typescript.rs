//! TypeScript declarations of a session's tools, with the doc comments of their authors.
//!
//! For people and language models that write scripts: code that follows the declarations type-checks and runs. Names
//! and docs come from strangers, so every name is an identifier or quoted, and no comment can end early.
//!
//! Each alias has a namespace with its named types, and a constant of the same name with its functions: TypeScript
//! merges the two, and any name (`delete`, `new`) can be a property of a constant. An alias that has another meaning in
//! JavaScript gets a function for each method instead, under its flattened name.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

pub use super::host_method::remarks::Remark;
pub use super::host_method::typescript::HostSignature;
use super::host_method::typescript::{NamedTypes, ValueDirection, write_signature};
use super::names::{self, Face, Spelling};
use super::type_names::{self, NamedType, TypeBody, TypeKey};
use super::types::{Case, Field, Function, FunctionKind, Members, Package, Shape, Type};

/// Package under its alias.
#[derive(Clone, Copy, Debug)]
pub struct Mounted<'a> {
    /// Alias of the package.
    pub alias: &'a str,
    /// Description of the release.
    pub docs: Option<&'a str>,
    /// Exports of the package.
    pub package: &'a Package,
}

/// Declares all packages, in the order given. `granted` returns true if a grant could allow a canonical method.
#[must_use]
pub fn declarations(mounted: &[Mounted<'_>], granted: &dyn Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for (index, package) in mounted.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        declare(&mut text, package, granted);
    }
    text
}

fn declare(text: &mut String, mounted: &Mounted<'_>, granted: &dyn Fn(&str) -> bool) {
    let hosted = |function: &Function| matches!(function.kind, FunctionKind::Hosted { .. });
    let spelling = if mounted.package.functions.iter().any(hosted) { Spelling::Own } else { Spelling::Wit };
    let taken_by = names::taken_by(mounted.alias, spelling, Face::Global);
    let mut alias = identifier(&names::spelled(mounted.alias, spelling));
    if taken_by.is_some() {
        // The name may be a word that cannot be declared.
        alias.push('_');
    }
    let types = Types::gather(&alias, mounted.package);
    types.write(text);
    if let Some(taken_by) = taken_by {
        let writer =
            DeclarationWriter { types: &types, alias: mounted.alias, spelling, granted, interfaces: HashMap::new() };
        writer.flattened(text, mounted, &taken_by);
        return;
    }
    let mut tree = PathNode::default();
    for function in &mounted.package.functions {
        tree.add(&function.path, function);
    }
    if let Some(program) = tree.function {
        let writer =
            DeclarationWriter { types: &types, alias: mounted.alias, spelling, granted, interfaces: HashMap::new() };
        writer.program(text, &alias, program, mounted.docs.or(program.docs.as_deref()).unwrap_or_default());
        return;
    }
    comment(text, 0, mounted.docs.unwrap_or_default());
    let _ = writeln!(text, "declare const {alias}: {{");
    let interfaces: HashMap<&str, &str> = mounted
        .package
        .interfaces
        .iter()
        .filter_map(|interface| Some((interface.name.as_str(), interface.docs.as_deref()?)))
        .collect();
    let writer = DeclarationWriter { types: &types, alias: mounted.alias, spelling, granted, interfaces };
    writer.node(text, &tree, 1);
    text.push_str("};\n");
}

/// Functions by the segments of their paths.
#[derive(Default)]
struct PathNode<'f> {
    function: Option<&'f Function>,
    inner: BTreeMap<&'f str, PathNode<'f>>,
}

impl<'f> PathNode<'f> {
    fn add(&mut self, path: &'f [String], function: &'f Function) {
        match path.split_first() {
            Some((first, rest)) => self.inner.entry(first).or_default().add(rest, function),
            None => self.function = Some(function),
        }
    }
}

struct DeclarationWriter<'a> {
    types: &'a Types<'a>,
    alias: &'a str,
    spelling: Spelling,
    granted: &'a dyn Fn(&str) -> bool,
    interfaces: HashMap<&'a str, &'a str>,
}

impl DeclarationWriter<'_> {
    /// Writes the properties of a namespace. Paths have at most three segments, which bounds the recursion.
    fn node(&self, text: &mut String, node: &PathNode<'_>, depth: usize) {
        for (name, inner) in &node.inner {
            match inner.function {
                Some(function) => self.function(text, name, function, depth),
                None => {
                    let docs = if depth == 1 { self.interfaces.get(name).copied() } else { None };
                    comment(text, depth, docs.unwrap_or_default());
                    let _ = writeln!(text, "{}{}: {{", indent(depth), property(&names::spelled(name, self.spelling)));
                    self.node(text, inner, depth + 1);
                    let _ = writeln!(text, "{}}};", indent(depth));
                }
            }
        }
    }

    /// Writes the functions of an alias that is not a global.
    fn flattened(&self, text: &mut String, mounted: &Mounted<'_>, taken_by: &str) {
        let stays =
            format!("`{}` is {taken_by} and keeps that meaning: its tools have flattened names.", mounted.alias);
        comment(text, 0, &format!("{}\n\n{stays}", mounted.docs.unwrap_or_default()));
        for function in &mounted.package.functions {
            self.comment(text, function, function.docs.clone().unwrap_or_default(), 0);
            let name = names::faces(&function.method(self.alias), self.spelling).path;
            self.declaration(text, &identifier(&name), function);
        }
    }

    /// Writes a program, which is a function itself.
    fn program(&self, text: &mut String, name: &str, function: &Function, docs: &str) {
        self.comment(text, function, docs.to_owned(), 0);
        self.declaration(text, name, function);
    }

    fn declaration(&self, text: &mut String, name: &str, function: &Function) {
        if function.is_namespace() {
            let _ = writeln!(text, "declare const {name}: {}.{METHODS};", self.types.alias);
        } else {
            let _ = write!(text, "declare function {name}");
            self.signature(text, function, 0);
        }
    }

    fn function(&self, text: &mut String, name: &str, function: &Function, depth: usize) {
        self.comment(text, function, function.docs.clone().unwrap_or_default(), depth);
        let name = property(&names::spelled(name, self.spelling));
        if function.is_namespace() {
            let _ = writeln!(text, "{}{name}: {}.{METHODS};", indent(depth), self.types.alias);
            return;
        }
        // Quoted, `new` is a method; bare, it would make the constant a class.
        let name = if name == "new" { "\"new\"" } else { &name };
        let _ = write!(text, "{}{name}", indent(depth));
        self.signature(text, function, depth);
    }

    fn comment(&self, text: &mut String, function: &Function, mut docs: String, depth: usize) {
        if let Some(payload) = function.fails_with() {
            let payload = payload.map_or_else(|| "null".to_owned(), |ty| self.types.name(ty, 0));
            let _ = write!(docs, "\n@throws {{ToolError}} with `payload`: {payload}");
        }
        if let Some(returned) =
            function.schemas.as_ref().and_then(|schemas| schemas.result.get("description")?.as_str())
        {
            let _ = write!(docs, "\n@returns {}", returned.trim());
        }
        if !(self.granted)(&function.method(self.alias)) {
            docs.push_str("\nNot granted: a call is a CapabilityError.");
        }
        comment(text, depth, docs.trim_start_matches('\n'));
    }

    /// Writes parameters and result.
    fn signature(&self, text: &mut String, function: &Function, depth: usize) {
        if let Some(schemas) = &function.schemas {
            return write_signature(text, &self.types.hosted, &schemas.parameters, &schemas.result, depth);
        }
        let optional = if function.params.iter().all(Field::is_optional) { "?" } else { "" };
        let returns = function.returns().map_or_else(|| "null".to_owned(), |ty| self.types.name(ty, 0));
        text.push('(');
        if !function.params.is_empty() {
            let _ = write!(text, "args{optional}: {}", self.types.object(&function.params, depth));
        }
        let _ = writeln!(text, "): Promise<{returns}>;");
    }
}

/// Named types of a package, with their names in TypeScript.
struct Types<'a> {
    alias: String,
    named: BTreeMap<TypeKey<'a>, NamedType<'a>>,
    /// Named types of host functions.
    hosted: NamedTypes<'a>,
    /// True if there is an open namespace among them.
    has_methods: bool,
}

/// Type name of an open namespace.
const METHODS: &str = "Methods";

/// Declaration of an open namespace, which admits any name. TypeScript cannot express that the methods within are no
/// namespaces themselves.
const OPEN: &str = "  interface Methods { readonly [name: string]: Method }
  type Method = ((args?: { [key: string]: any }) => Promise<any>) & Methods;
";

/// Names that the declarations themselves use.
const TAKEN: &[&str] = &["Promise", "Uint8Array", METHODS, "Method"];

impl<'a> Types<'a> {
    fn gather(alias: &str, package: &'a Package) -> Self {
        let mut hosted = NamedTypes::new(&format!("{alias}."), TAKEN);
        for schemas in package.functions.iter().filter_map(|function| function.schemas.as_deref()) {
            hosted.add(&schemas.parameters, ValueDirection::Argument);
            hosted.add(&schemas.result, ValueDirection::Result);
        }
        let has_methods = package.functions.iter().any(Function::is_namespace);
        Self { alias: alias.to_owned(), named: type_names::gather(package, TAKEN, identifier), hosted, has_methods }
    }

    fn write(&self, text: &mut String) {
        if self.named.is_empty() && self.hosted.is_empty() && !self.has_methods {
            return;
        }
        let _ = writeln!(text, "declare namespace {} {{", self.alias);
        for named in self.named.values() {
            match &named.body {
                TypeBody::Resource(resource) => {
                    comment(text, 1, &format!("A handle of a `{}`. Release it with `drop`.", resource.name));
                    let _ = writeln!(
                        text,
                        "  type {} = string & {{ readonly resource: {} }};",
                        named.name,
                        quoted(&resource.name)
                    );
                }
                TypeBody::Type(ty, definition) => {
                    comment(text, 1, definition.docs.as_deref().unwrap_or_default());
                    if let Shape::Record(fields) = &ty.shape {
                        let _ = writeln!(text, "  interface {} {}", named.name, self.object(fields, 1));
                    } else {
                        let _ = writeln!(text, "  type {} = {};", named.name, self.shape(&ty.shape, 1));
                    }
                }
            }
        }
        self.hosted.write(text);
        if self.has_methods {
            text.push_str(OPEN);
        }
        text.push_str("}\n");
    }

    /// Returns the expression of a type where it is used.
    fn name(&self, ty: &Type, depth: usize) -> String {
        let known = ty.definition.as_ref().and_then(|d| self.named.get(&(d.interface.as_str(), d.name.as_str())));
        match known {
            Some(named) => format!("{}.{}", self.alias, named.name),
            None => self.shape(&ty.shape, depth),
        }
    }

    fn shape(&self, shape: &Shape, depth: usize) -> String {
        match shape {
            Shape::Bool => "boolean".to_owned(),
            Shape::Char | Shape::String => "string".to_owned(),
            Shape::Bytes => "Uint8Array".to_owned(),
            Shape::S64 | Shape::U64 => "number | bigint".to_owned(),
            Shape::List(inner) | Shape::FixedList(inner, _) => format!("{}[]", grouped(&self.name(inner, depth))),
            Shape::Tuple(members) => {
                let members: Vec<String> = members.iter().map(|member| self.name(member, depth)).collect();
                format!("[{}]", members.join(", "))
            }
            Shape::Record(fields) => self.object(fields, depth),
            Shape::Variant(cases) => self.variant(cases, depth),
            Shape::Enum(cases) => union_of(cases),
            Shape::Flags(cases) => format!("({})[]", union_of(cases)),
            Shape::Option(inner) if inner.is_nullable() => {
                format!("{{ tag: \"some\"; val: {} }} | null", self.name(inner, depth))
            }
            Shape::Option(inner) => format!("{} | null", self.name(inner, depth)),
            Shape::Result { ok, err } => {
                format!("{} | {}", self.tagged("ok", ok.as_deref(), depth), self.tagged("err", err.as_deref(), depth))
            }
            Shape::Map(_, item) => format!("{{ [key: string]: {} }}", self.name(item, depth)),
            Shape::Own(resource) | Shape::Borrow(resource) => {
                match self.named.get(&(resource.instance.as_str(), resource.name.as_str())) {
                    Some(named) => format!("{}.{}", self.alias, named.name),
                    None => "string".to_owned(),
                }
            }
            Shape::Json => "any".to_owned(),
            Shape::S8 | Shape::U8 | Shape::S16 | Shape::U16 | Shape::S32 | Shape::U32 | Shape::F32 | Shape::F64 => {
                "number".to_owned()
            }
        }
    }

    fn tagged(&self, tag: &str, payload: Option<&Type>, depth: usize) -> String {
        match payload {
            Some(payload) => format!("{{ tag: {}; val: {} }}", quoted(tag), self.name(payload, depth)),
            None => format!("{{ tag: {} }}", quoted(tag)),
        }
    }

    /// Writes a variant, with one case a line if a case has docs.
    fn variant(&self, cases: &Members<Case>, depth: usize) -> String {
        if cases.iter().all(|case| case.docs.is_none()) {
            let cases: Vec<String> =
                cases.iter().map(|case| self.tagged(&case.name, case.ty.as_ref(), depth)).collect();
            return cases.join(" | ");
        }
        let mut text = String::new();
        for case in cases.iter() {
            text.push('\n');
            comment(&mut text, depth + 1, case.docs.as_deref().unwrap_or_default());
            let _ = write!(text, "{}| {}", indent(depth + 1), self.tagged(&case.name, case.ty.as_ref(), depth + 1));
        }
        text
    }

    /// Writes an object on one line, or with one line for each field if a field has docs or there are many.
    fn object(&self, fields: &Members<Field>, depth: usize) -> String {
        let field = |field: &Field, depth: usize| {
            let optional = if field.is_optional() { "?" } else { "" };
            format!("{}{optional}: {}", property(&field.camel), self.name(&field.ty, depth))
        };
        let short = fields.len() <= 3 && fields.iter().all(|field| field.docs.is_none());
        if short {
            let fields: Vec<String> = fields.iter().map(|f| field(f, depth)).collect();
            return format!("{{ {} }}", fields.join("; "));
        }
        let mut text = "{\n".to_owned();
        for f in fields.iter() {
            comment(&mut text, depth + 1, f.docs.as_deref().unwrap_or_default());
            let _ = writeln!(text, "{}{};", indent(depth + 1), field(f, depth + 1));
        }
        let _ = write!(text, "{}}}", indent(depth));
        text
    }
}

fn union_of(cases: &Members<Case>) -> String {
    if cases.is_empty() {
        return "never".to_owned();
    }
    cases.iter().map(|case| quoted(&case.name)).collect::<Vec<_>>().join(" | ")
}

/// Adds parentheses, if a `[]` behind the type would bind to its last part only.
pub(crate) fn grouped(ty: &str) -> String {
    if ty.contains('|') || ty.contains('&') { format!("({ty})") } else { ty.to_owned() }
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

fn is_identifier(name: &str) -> bool {
    name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'$')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
}

/// Returns a property's name: reserved words are allowed, other names than identifiers are quoted.
pub(crate) fn property(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

/// Turns a name into one that can be declared: other characters become `_`.
pub(crate) fn identifier(name: &str) -> String {
    let mut safe: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '$' { c } else { '_' }).collect();
    if !is_identifier(&safe) {
        safe.insert(0, '_');
    }
    safe
}

pub(crate) fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// Writes a doc comment, or nothing.
pub(crate) fn comment(text: &mut String, depth: usize, docs: &str) {
    let docs = docs.trim().replace("*/", "*\\/");
    if docs.is_empty() {
        return;
    }
    let lines: Vec<&str> = docs.lines().map(str::trim_end).collect();
    if let [line] = lines.as_slice() {
        let _ = writeln!(text, "{}/** {line} */", indent(depth));
        return;
    }
    let _ = writeln!(text, "{}/**", indent(depth));
    for line in lines {
        let _ = writeln!(text, "{}", format!("{} * {line}", indent(depth)).trim_end());
    }
    let _ = writeln!(text, "{} */", indent(depth));
}

#[cfg(test)]
mod tests {
    use super::super::reflect::DefaultInterface;
    use super::super::reflect::tests::from_wit;
    use super::*;

    /// Package with a type of every kind.
    const INTERFACE: &str = "package acme:pay@1.0.0;
            /// Money.
            interface charges {
                /// What it is paid in.
                enum currency { eur, us-dollar }
                /// A payment.
                record charge {
                    /// In cents.
                    amount: u64,
                    currency: currency,
                    note: option<string>,
                    raw: list<u8>,
                }
                variant problem { refused(string), closed }
                resource ledger { constructor(name: string); delete: func(); }
                /// Makes a charge.
                /// Ends early: */ no.
                create: func(charge: charge, retries: option<list<option<u32>>>) -> result<charge, problem>;
                list-all: func() -> list<tuple<u32, currency>>;
            }
            interface other { record charge { a: u8 } f: func(x: charge); }
            world w { export charges; export other; }";

    /// Declarations of the package, mounted as `my-pay`.
    const DECLARATIONS: &str = r#"declare namespace myPay {
  /** A payment. */
  interface ChargesCharge {
    /** In cents. */
    amount: number | bigint;
    currency: myPay.Currency;
    note?: string | null;
    raw: Uint8Array;
  }
  /** What it is paid in. */
  type Currency = "eur" | "us-dollar";
  /** A handle of a `ledger`. Release it with `drop`. */
  type Ledger = string & { readonly resource: "ledger" };
  type Problem = { tag: "refused"; val: string } | { tag: "closed" };
  interface OtherCharge { a: number }
}
/** Payments. */
declare const myPay: {
  /**
   * Makes a charge.
   * Ends early: *\/ no.
   * @throws {ToolError} with `payload`: myPay.Problem
   */
  create(args: { charge: myPay.ChargesCharge; retries?: (number | null)[] | null }): Promise<myPay.ChargesCharge>;
  ledger: {
    delete(args: { self: myPay.Ledger }): Promise<null>;
    /** Drops a `ledger`. Its handle cannot be used afterwards. */
    drop(args: { self: myPay.Ledger }): Promise<null>;
    "new"(args: { name: string }): Promise<myPay.Ledger>;
  };
  /** Not granted: a call is a CapabilityError. */
  listAll(): Promise<[number, myPay.Currency][]>;
  other: {
    f(args: { x: myPay.OtherCharge }): Promise<null>;
  };
};
"#;

    #[test]
    fn declarations_read_like_the_interface() {
        let package = from_wit(INTERFACE, &DefaultInterface::Named("charges".to_owned()));
        let mounted = [Mounted { alias: "my-pay", docs: Some("Payments."), package: &package }];
        let text = declarations(&mounted, &|method| method != "my-pay/list-all");
        assert_eq!(text, DECLARATIONS);
    }

    #[test]
    fn names_are_identifiers_whatever_the_alias() {
        assert_eq!(identifier("a.b"), "a_b");
        assert_eq!(identifier("1a"), "_1a");
        assert_eq!(identifier(""), "_");
        assert_eq!(property("a-b"), "\"a-b\"");
        assert_eq!(grouped("a | b"), "(a | b)");
    }

    #[test]
    fn alias_of_global_is_declared_by_flattened_names() {
        let package = from_wit(
            "package my:crypto@1.0.0;
            interface api {
                record key { id: u32 }
                /// Signs.
                sign-it: func(key: key) -> string;
            }
            world w { export api; }",
            &DefaultInterface::Only,
        );
        let declared = |alias| declarations(&[Mounted { alias, docs: None, package: &package }], &|_| true);
        let expected = "declare namespace crypto_ {
  interface Key { id: number }
}
/** `crypto` is a global of JavaScript (`crypto`) and keeps that meaning: its tools have flattened names. */
/** Signs. */
declare function crypto_signIt(args: { key: crypto_.Key }): Promise<string>;
";
        assert_eq!(declared("crypto"), expected);
        let word = declared("class");
        assert!(
            word.contains("declare namespace class_ {") && word.contains("declare function class_signIt("),
            "{word}"
        );
    }
}
