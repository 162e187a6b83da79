//! Heap memory that the host needs for a value which a script passes to a tool and receives back.
//!
//! Everything between the two guests is counted: the JSON text, the parsed value, the canonical arguments of the gate,
//! and the component's values.

use std::fs;
use std::path::Path;

use tollhouse::guest::Language;
use tollhouse::session::Session;
use tollhouse_tests::{Home, components};

use crate::calls::{host, run, session};
use crate::heap;
use crate::table::figure;

/// Kind of value whose memory is measured.
struct ValueKind {
    name: &'static str,
    /// WIT declarations that its type needs.
    declarations: &'static str,
    /// Type of the argument.
    ty: &'static str,
    /// JavaScript expression for an argument of `n` values.
    value: &'static str,
    /// Number of values of this kind.
    count: u64,
}

const KINDS: [ValueKind; 6] = [
    ValueKind {
        name: "integer",
        declarations: "",
        ty: "list<s32>",
        value: "Array.from({ length: n }, (_, i) => i)",
        count: 100_000,
    },
    ValueKind {
        name: "number",
        declarations: "",
        ty: "list<f64>",
        value: "Array.from({ length: n }, (_, i) => i / 3)",
        count: 100_000,
    },
    ValueKind {
        name: "string of 16 letters",
        declarations: "",
        ty: "list<string>",
        value: "Array(n).fill('abcdefghijklmnop')",
        count: 100_000,
    },
    ValueKind {
        name: "record of two numbers",
        declarations: "record pair { left: f64, right: f64 }",
        ty: "list<pair>",
        value: "Array.from({ length: n }, (_, i) => ({ left: i, right: i / 3 }))",
        count: 50_000,
    },
    ValueKind {
        name: "list of ten integers",
        declarations: "",
        ty: "list<list<s32>>",
        value: "Array(n).fill([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])",
        count: 10_000,
    },
    ValueKind { name: "byte", declarations: "", ty: "list<u8>", value: "new Uint8Array(n).fill(7)", count: 1_000_000 },
];

/// Measures the memory of values.
pub(crate) fn measure() {
    println!("host bytes per value of an argument, at most");
    for kind in &KINDS {
        let home = Home::new();
        kind.publish(&home);
        let host = host(home.path());
        let session = session(&host);
        // The first call loads and compiles things that stay in memory.
        kind.passed(&session, "give", 1);
        for (function, what) in [("take", kind.name.to_owned()), ("give", "  and back".to_owned())] {
            let few = heap::most_during(|| kind.passed(&session, function, 1));
            let many = heap::most_during(|| kind.passed(&session, function, kind.count));
            let each = many.saturating_sub(few) / kind.count;
            figure(&format!("  {what}"), &format!("{each} B"), "");
        }
    }
}

impl ValueKind {
    /// Publishes a component with a function that takes such an argument, and one that returns it.
    fn publish(&self, home: &Home) {
        let Self { declarations, ty, .. } = self;
        let wit = format!(
            "package test:values@0.1.0;\n\
             interface values {{\n{declarations}\n  take: func(x: {ty}) -> u32;\n  give: func(x: {ty}) -> {ty};\n}}\n\
             world tool {{ export values; }}\n"
        );
        let module = format!(
            r#"(module {}
                (func (export "test:values/values@0.1.0#take") (param i32 i32) (result i32) (local.get 1))
                (func (export "test:values/values@0.1.0#give") (param i32 i32) (result i32)
                    (i32.store (i32.const 1024) (local.get 0))
                    (i32.store (i32.const 1028) (local.get 1))
                    (i32.const 1024)))"#,
            components::MEMORY
        );
        let package = home.path().join("values");
        let write = |name: &str, content: &[u8]| write(&package, name, content);
        fs::create_dir(&package).expect("the home can be written");
        write("values.wasm", &components::encode(&wit, "tool", &module));
        write(
            "tool.toml",
            b"component = \"values.wasm\"\nname = \"test:values\"\nversion = \"0.1.0\"\ndescription = \"Values.\"\nlicense = \"MIT\"\n",
        );
        home.publish(&package);
    }

    /// Runs a script that passes `count` values.
    fn passed(&self, session: &Session, function: &str, count: u64) {
        let value = self.value;
        run(session, Language::JavaScript, &format!("const n = {count}; await values.{function}({{ x: {value} }})"));
    }
}

fn write(package: &Path, name: &str, content: &[u8]) {
    fs::write(package.join(name), content).expect("the home can be written");
}
