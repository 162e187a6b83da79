use wit_parser::Resolve;

use super::*;
use crate::types::*;

/// Reads a package from WIT alone: the part of `reflect` behind the decoder, for the last world in the text.
pub(crate) fn from_wit(text: &str, default: &DefaultInterface) -> Package {
    let mut resolve = Resolve { all_features: true, ..Resolve::default() };
    resolve.push_str("test.wit", text).expect("a WIT text that is right");
    let (world, _) = resolve.worlds.iter().next_back().expect("a world");
    let docs = WitDocs::parse(text).expect("it parsed before");
    reflect_world(&resolve, world, Some(&docs), default).expect("a default that exists")
}

/// Builds one function of a world, with types from an interface: `function("record r { a: u8 }", "func(x: r) -> r")`.
pub(crate) fn function(types: &str, signature: &str) -> Function {
    let text = format!("package t:t@1.0.0; interface i {{ {types} f: {signature}; }} world w {{ export i; }}");
    let mut package = from_wit(&text, &DefaultInterface::Only);
    assert!(package.unavailable.is_empty(), "{:?}", package.unavailable);
    package.functions.swap_remove(0)
}

const EVERYTHING: &str = r#"
package acme:things@1.2.3;

/// Names that others use.
interface common {
    /// An amount in cents.
    type amount = u64;

    /// What it is paid in.
    enum currency {
        /// The euro.
        eur,
        us-dollar,
    }
}

/// All there is.
interface things {
    use common.{amount, currency};

    /// A payment.
    record charge {
        /// How much.
        amount: amount,
        currency: currency,
        /// Perhaps a note.
        long-note: option<string>,
    }

    variant shape {
        /// Has a radius.
        circle(f64),
        empty,
    }

    flags rights { read, write-all }

    /// Counts.
    resource counter {
        /// Starts at `start`.
        constructor(start: u32);
        /// Adds.
        increment: func(by: u32) -> u32;
        /// Of two, the larger.
        max: static func(a: borrow<counter>, b: own<counter>) -> counter;
    }

    /// Takes all.
    all: func(
        a: bool, b: s8, c: u8, d: s16, e: u16, f: s32, g: u32, h: s64, i: u64, j: f32, k: f64, l: char, m: string,
        n: list<u8>, o: list<string>, p: list<u16, 3>, q: tuple<u8, string>, r: charge, s: shape, t: currency,
        u: rights, v: option<option<u8>>, w: result<u8, string>, x: result, y: map<string, u32>,
    ) -> result<charge, shape>;

    later: async func();
    watch: func() -> stream<u8>;
    soon: func(x: tuple<u8, future<u8>>);
}

world thing {
    import common;
    export things;
    /// Says hello.
    export hello: func(HTTP-name: string) -> string;
}
"#;

#[test]
fn reflection_reads_every_type_with_its_docs() {
    let package = from_wit(EVERYTHING, &DefaultInterface::None);
    assert_eq!(package.imports, ["acme:things/common@1.2.3"]);
    assert_eq!(package.interfaces.len(), 1);
    assert_eq!(package.interfaces[0].docs.as_deref(), Some("All there is."));
    let all = package.function(&["things", "all"]).expect("there");
    assert_eq!(all.docs.as_deref(), Some("Takes all."));
    assert_eq!(
        all.export,
        Export { instance: Some("acme:things/things@1.2.3".to_owned()), function: "all".to_owned() }
    );
    let words: Vec<&str> = all.params.iter().map(|field| field.ty.shape.word()).collect();
    assert_eq!(
        words.join(" "),
        "bool s8 u8 s16 u16 s32 u32 s64 u64 f32 f64 char string bytes (base64) list list tuple record variant enum \
         flags option result result map"
    );
    let charge = all.params.find("r").expect("there");
    let definition = charge.ty.definition.as_ref().expect("named");
    assert_eq!((definition.name.as_str(), definition.docs.as_deref()), ("charge", Some("A payment.")));
    let Shape::Record(fields) = &charge.ty.shape else { panic!("a record") };
    assert_eq!(fields[0].docs.as_deref(), Some("How much."));
    let amount = fields[0].ty.definition.as_ref().expect("an alias keeps its name");
    assert_eq!((amount.interface.as_str(), amount.name.as_str()), ("acme:things/common@1.2.3", "amount"));
    assert_eq!(fields[2].camel, "longNote");
    let Shape::Enum(cases) = &fields[1].ty.shape else { panic!("an enum") };
    assert_eq!(cases[0].docs.as_deref(), Some("The euro."));
    assert!(all.fails_with().flatten().is_some());
    let hello = package.function(&["hello"]).expect("there");
    assert_eq!(hello.docs.as_deref(), Some("Says hello."));
    assert_eq!(hello.params[0].camel, "httpName");
    assert_eq!(hello.export, Export { instance: None, function: "hello".to_owned() });
}

#[test]
fn reflection_refuses_types_that_cannot_cross_the_gate_by_name() {
    let package = from_wit(EVERYTHING, &DefaultInterface::None);
    let reasons: Vec<String> =
        package.unavailable.iter().map(|u| format!("{}: {}", u.path.join("/"), u.reason)).collect();
    assert_eq!(
        reasons,
        [
            "things/later: it is async, which calls of tools cannot be",
            "things/watch: its result: a stream cannot cross the gate",
            "things/soon: parameter `x`: a future cannot cross the gate",
        ]
    );
}

#[test]
fn resources_have_methods_of_their_own() {
    let package = from_wit(EVERYTHING, &DefaultInterface::Only);
    let names: Vec<String> = package.functions.iter().map(|f| f.method("t")).collect();
    assert_eq!(names, ["t/hello", "t/counter/new", "t/counter/increment", "t/counter/max", "t/all", "t/counter/drop"]);
    let resource = Resource { instance: "acme:things/things@1.2.3".to_owned(), name: "counter".to_owned() };
    let new = package.function(&["counter", "new"]).expect("there");
    assert_eq!(new.kind, FunctionKind::Constructor(resource.clone()));
    assert_eq!(new.result.as_ref().map(|ty| &ty.shape), Some(&Shape::Own(resource.clone())));
    assert_eq!(new.export.function, "[constructor]counter");
    let increment = package.function(&["counter", "increment"]).expect("there");
    assert_eq!(increment.kind, FunctionKind::Method(resource.clone()));
    assert_eq!(increment.params[0].name, "self");
    assert_eq!(increment.params[0].ty.shape, Shape::Borrow(resource.clone()));
    assert_eq!(increment.docs.as_deref(), Some("Adds."));
    assert_eq!(increment.export.function, "[method]counter.increment");
    let max = package.function(&["counter", "max"]).expect("there");
    assert_eq!(max.kind, FunctionKind::Static(resource.clone()));
    assert_eq!(package.function(&["counter", "drop"]).map(|f| &f.kind), Some(&FunctionKind::Drop(resource)));
}

#[test]
fn reflection_uses_the_default_interface_that_was_chosen() {
    let text = "package a:b@0.1.0; interface x { f: func(); } interface y { f: func(); g: func(); } interface types { \
                record r { a: u8 } } world w { export x; export y; export types; export g: func(); }";
    let names = |default: &DefaultInterface| -> Vec<String> {
        from_wit(text, default).functions.iter().map(|f| f.path.join("/")).collect()
    };
    assert_eq!(names(&DefaultInterface::Only), ["g", "x/f", "y/f", "y/g"]);
    for name in ["x", "a:b/x", "a:b/x@0.1.0"] {
        assert_eq!(names(&DefaultInterface::from_manifest(Some(name))), ["g", "f", "y/f", "y/g"], "{name}");
    }
    // The world's own `g` was there first.
    assert_eq!(names(&DefaultInterface::from_manifest(Some("y"))), ["g", "f", "x/f"]);
    let package = from_wit(text, &DefaultInterface::Named("y".to_owned()));
    assert_eq!(package.unavailable[0].reason, "its name is taken by `g`");
    let mut resolve = Resolve::default();
    resolve.push_str("t.wit", text).expect("right");
    let (world, _) = resolve.worlds.iter().next_back().expect("one");
    let error = reflect_world(&resolve, world, None, &DefaultInterface::Named("z".to_owned())).expect_err("no such");
    assert!(
        error.to_string().starts_with("the default interface `z` is not exported; exported: `a:b/x@0.1.0`"),
        "{error}"
    );
}

#[test]
fn reflection_leaves_out_the_exports_of_componentize_py() {
    let names = |exports: &str| -> Vec<String> {
        let text = format!("package a:b@0.1.0; interface x {{ f: func(); }} world w {{ export x; export {exports} }}");
        from_wit(&text, &DefaultInterface::Only).functions.iter().map(|f| f.path.join("/")).collect()
    };
    assert_eq!(names("exports: interface { init: func(name: string) -> result<_, string>; }"), ["f"]);
    assert_eq!(names("exports: interface { init: func(); more: func(); }"), ["x/f", "exports/init", "exports/more"]);
    assert_eq!(names("others: interface { init: func(); }"), ["x/f", "others/init"]);
}

#[test]
fn names_inside_one_package_do_not_hide_each_other() {
    let text = "package a:b@0.1.0; interface x { y: func(); } interface y { f: func(); } \
                interface z { a-1: func(p-1: u8, p1: u8); } world w { export x; export y; export z; }";
    let package = from_wit(text, &DefaultInterface::Named("x".to_owned()));
    assert!(package.function(&["y"]).is_some());
    let reasons: Vec<&str> = package.unavailable.iter().map(|u| u.reason.as_str()).collect();
    assert_eq!(reasons, ["its name is taken by `a:b/x@0.1.0#y`", "`p-1` and `p1` are both `p1` in JSON"]);
}

#[test]
fn foreign_resources_cannot_be_given() {
    let text = "package a:b@0.1.0; interface host { resource file { } } \
                interface x { use host.{file}; f: func(it: borrow<file>); } world w { import host; export x; }";
    let package = from_wit(text, &DefaultInterface::Only);
    assert!(package.functions.is_empty());
    assert_eq!(
        package.unavailable[0].reason,
        "parameter `it`: a handle of `file`, which is a resource of `a:b/host@0.1.0` and not of this package"
    );
}

#[test]
fn types_that_grow_without_end_are_refused() {
    use std::fmt::Write as _;
    // Each record has two of the one before: 2^40 parts when written out.
    let mut types = "record r0 { a: u8 }".to_owned();
    for i in 1..40 {
        let _ = write!(types, " record r{i} {{ a: r{}, b: r{} }}", i - 1, i - 1);
    }
    let text = format!("package a:b; interface x {{ {types} f: func(r: r39); g: func(); }} world w {{ export x; }}");
    let package = from_wit(&text, &DefaultInterface::Only);
    assert_eq!(package.functions.len(), 1);
    assert_eq!(package.unavailable[0].reason, "parameter `r`: its types have more than 20000 parts");
    let deep = (0..150).fold(String::new(), |mut text, i| {
        let before = if i == 0 { "u8".to_owned() } else { format!("option<t{}>", i - 1) };
        let _ = write!(text, " type t{i} = {before};");
        text
    });
    let text = format!("package a:b; interface x {{ {deep} f: func(r: t149); }} world w {{ export x; }}");
    let package = from_wit(&text, &DefaultInterface::Only);
    assert_eq!(package.unavailable[0].reason, "parameter `r`: types are nested more than 100 deep");
}

#[test]
fn package_model_serialized_is_read_back_equal() {
    let package = from_wit(EVERYTHING, &DefaultInterface::Only);
    let text = serde_json::to_string(&package).expect("plain data");
    assert_eq!(serde_json::from_str::<Package>(&text).expect("what was written"), package);
}
