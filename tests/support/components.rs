//! Encodes components for tests from WIT text and the text of a core module, without a compiler.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Encodes a component from `module`, which implements the world `world` of the package in `wit`.
#[must_use]
pub fn encode(wit: &str, world: &str, module: &str) -> Vec<u8> {
    let mut resolve = Resolve { all_features: true, ..Resolve::default() };
    let package = resolve.push_str("test.wit", wit).expect("the test's WIT parses");
    let world = resolve.select_world(&[package], Some(world)).expect("the test's world exists");
    let mut core = wat::parse_str(module).expect("the test's module parses");
    embed_component_metadata(&mut core, &resolve, world, StringEncoding::UTF8).expect("the world can be embedded");
    let mut encoder = ComponentEncoder::default().validate(true).module(&core).expect("the module has its world");
    encoder.encode().expect("the module implements its world")
}

/// Part of a module for functions that take lists and strings: a memory, and an allocator that never frees.
pub const MEMORY: &str = r#"
    (memory (export "memory") 16)
    (global $next (mut i32) (i32.const 65536))
    (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and
            (i32.add (global.get $next) (i32.sub (local.get $align) (i32.const 1)))
            (i32.xor (i32.sub (local.get $align) (i32.const 1)) (i32.const -1))))
        (global.set $next (i32.add (local.get $at) (local.get $size)))
        (block $grown
            (br_if $grown (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
            (drop (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get $size) (i32.const 65536))))))
        (memory.copy (local.get $at) (local.get $old) (local.get $old_size))
        (local.get $at))
"#;

/// Returns a component whose `echo` takes any value of a type and returns it: `echo: func(x: TYPE, …) -> tuple<TYPE,
/// u64>`.
///
/// The sixteen parameters after `x` force the canonical ABI to pass all of them in memory, one after another, and the
/// beginning of that memory has exactly the layout of the returned tuple. So one function that returns its argument, a
/// pointer, echoes every type. `types` holds declarations that `ty` may name.
#[must_use]
pub fn echo(types: &str, ty: &str) -> Vec<u8> {
    let padding: String = (1..=16).map(|number| format!(", p{number}: u8")).collect();
    let wit = format!(
        "package test:echo@0.1.0;\n\
         interface echo {{\n{types}\n  echo: func(x: {ty}, a: u64{padding}) -> tuple<{ty}, u64>;\n}}\n\
         world tool {{ export echo; }}\n"
    );
    let module = format!(
        r#"(module {MEMORY}
            (func (export "test:echo/echo@0.1.0#echo") (param i32) (result i32) (local.get 0)))"#
    );
    encode(&wit, "tool", &module)
}
