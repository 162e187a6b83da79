//! Components that are too large, or too deep, to be written down.

use std::fmt::Write as _;

use tollhouse_tests::components;

use super::case::Case;
use super::components::Attack;

/// The eight bytes that every component begins with.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// The section that holds a component.
const INNER: u8 = 4;

/// Returns the attacks that are generated.
pub(super) fn attacks(words: &[&str]) -> Vec<Attack> {
    let attack = |name: &str, head: &str, bytes: Vec<u8>| Attack {
        case: Case::new(&format!("generated/{name}.wat"), head, words),
        bytes,
    };
    let refused = ";; publish: refused";
    let one = ";; status: completed\n;; value: 1";
    vec![
        attack("nested", refused, nested(10_000)),
        attack("long-name", refused, exported(&format!("a{}", "-a".repeat(100_000)))),
        attack("functions", one, functions(20_000)),
        attack("blocks", one, run(&format!("{}{}", "block ".repeat(20_000), "end ".repeat(20_000)))),
        attack("locals", one, tool(&locals(49_000))),
        attack("table-of-jumps", one, run(&format!("block i32.const 0 br_table {} end", "0 ".repeat(60_000)))),
        attack("parameters", refused, parameters(2_000)),
    ]
}

/// Returns components nested in components.
fn nested(depth: usize) -> Vec<u8> {
    let mut bytes = COMPONENT.to_vec();
    for _ in 0..depth {
        let mut outer = COMPONENT.to_vec();
        outer.push(INNER);
        outer.extend(leb(bytes.len()));
        outer.extend(&bytes);
        bytes = outer;
    }
    bytes
}

/// A number as WebAssembly writes it.
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// A component that exports a function under a name.
fn exported(name: &str) -> Vec<u8> {
    let text = format!(
        r#"(component (core module $m (func (export "run"))) (core instance $i (instantiate $m))
            (func $f (canon lift (core func $i "run"))) (export "{name}" (func $f)))"#
    );
    wat::parse_str(text).expect("it parses")
}

/// A tool whose `run` does this, and returns one.
fn run(instructions: &str) -> Vec<u8> {
    tool(&format!(r#"(func (export "evil:made/t@0.1.0#run") (result i32) {instructions} i32.const 1)"#))
}

/// A tool of many functions that nobody calls.
fn functions(count: usize) -> Vec<u8> {
    let mut text = String::new();
    for number in 0..count {
        write!(text, "(func (param i32) (result i32) (i32.add (local.get 0) (i32.const {number})))").expect("a string");
    }
    tool(&format!(r#"{text} (func (export "evil:made/t@0.1.0#run") (result i32) i32.const 1)"#))
}

/// A function with many variables.
fn locals(count: usize) -> String {
    format!(r#"(func (export "evil:made/t@0.1.0#run") (result i32) (local {}) i32.const 1)"#, "i64 ".repeat(count))
}

/// A function with more parameters than there may be.
fn parameters(count: usize) -> Vec<u8> {
    let names: String = (0..count).map(|number| format!("(param \"p{number}\" u8)")).collect();
    wat::parse_str(format!(r#"(component (import "run" (func {names})))"#)).expect("it parses")
}

fn tool(functions: &str) -> Vec<u8> {
    let wit = "package evil:made@0.1.0; interface t { run: func() -> u32; } world tool { export t; }";
    components::encode(wit, "tool", &format!("(module {functions})"))
}
