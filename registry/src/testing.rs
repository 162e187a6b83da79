//! Test components, generated from WIT text. Compiled into the unit tests here and, by path, into the integration
//! tests. Must not use the rest of the crate.

use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

/// Package with one interface.
pub(crate) const CHARGES: &str = "\
package acme:payments@1.2.0;

/// Charges.
interface charges {
    /// Creates a charge.
    create: func(amount: u32, currency: string) -> result<string, string>;
}

/// The tool.
world tool {
    export charges;
}
";

/// Makes a core module that does nothing, with the exports and imports of the one world of `wit`.
pub(crate) fn core_module(wit: &str) -> Vec<u8> {
    module(wit, None)
}

/// Makes a component that does nothing, with the exports and imports of the one world of `wit`.
pub(crate) fn component(wit: &str) -> Vec<u8> {
    encode(&module(wit, None))
}

/// Makes a component that does nothing, with the exports and imports of a world of `wit`.
pub(crate) fn component_of(wit: &str, world: &str) -> Vec<u8> {
    encode(&module(wit, Some(world)))
}

fn module(wit: &str, world: Option<&str>) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_source("test.wit", wit).expect("WIT");
    let world = resolve.select_world(&[package], world).expect("a world");
    let mut module = dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("embedded");
    module
}

fn encode(module: &[u8]) -> Vec<u8> {
    let encoder = ComponentEncoder::default().validate(true).module(module);
    encoder.expect("a module").encode().expect("a component")
}

/// Encodes `wit` in binary form.
pub(crate) fn wit_package(wit: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_source("test.wit", wit).expect("WIT");
    wit_component::encode(&resolve, package).expect("a package")
}

/// Makes a component that imports a function whose parameter is a list, nested `depth` levels deep.
pub(crate) fn nested_lists(depth: usize) -> Vec<u8> {
    let mut types = leb(depth + 1);
    types.extend([0x70, 0x7d]);
    for at in 1..depth {
        types.push(0x70);
        types.extend(signed_leb(at - 1));
    }
    types.extend([0x40, 1, 1, b'x']);
    types.extend(signed_leb(depth - 1));
    types.extend([1, 0]);
    let mut imports = vec![1, 0, 1, b'f', 1];
    imports.extend(leb(depth));
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    for (id, section) in [(7, types), (10, imports)] {
        bytes.push(id);
        bytes.extend(leb(section.len()));
        bytes.extend(section);
    }
    bytes
}

/// Encodes the index of a value type: a signed number, since negative numbers are primitive types.
fn signed_leb(number: usize) -> Vec<u8> {
    let mut bytes = leb(number);
    if let Some(last) = bytes.last_mut()
        && *last & 0x40 != 0
    {
        *last |= 0x80;
        bytes.push(0);
    }
    bytes
}

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
