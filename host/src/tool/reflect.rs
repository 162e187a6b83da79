//! Reflection of components: their bytes are decoded here, and `tollhouse_methods::reflect` reads the model of a package
//! from the world that is found.

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use tollhouse_methods::reflect::{DefaultInterface, ReflectError, check_wit};
use tollhouse_methods::types::Package;
use wit_parser::decoding::DecodedWasm;
use wit_parser::{Resolve, WorldId};

/// Reflects a component. `wit` is the release's WIT text, for its doc comments.
///
/// # Errors
/// [`ReflectError`].
pub fn reflect(component: &[u8], wit: Option<&str>, default: &DefaultInterface) -> Result<Package, ReflectError> {
    wit.map(check_wit).transpose()?;
    let (resolve, world) = decode(component)?;
    tollhouse_methods::reflect::reflect(&resolve, world, wit, default)
}

fn decode(component: &[u8]) -> Result<(Resolve, WorldId), ReflectError> {
    // Bytes 4 to 8 of a binary give its kind: version 1 and layer 0 is a core module.
    if component.starts_with(b"\0asm\x01\0\0\0") {
        return Err(ReflectError::CoreModule);
    }
    tollhouse_registry::check_whole(component).map_err(|error| ReflectError::Invalid { message: error.to_string() })?;
    // The decoder validates first, but asserts its assumptions on well-formed names: a hostile component can make it
    // panic. None of its state is used afterwards.
    match catch_unwind(AssertUnwindSafe(|| wit_component::decode(component))) {
        Ok(Ok(DecodedWasm::Component(resolve, world))) => Ok((resolve, world)),
        Ok(Ok(DecodedWasm::WitPackage(..))) => Err(ReflectError::WitPackage),
        Ok(Err(error)) => Err(ReflectError::Invalid { message: format!("{error:#}") }),
        Err(_) => Err(ReflectError::Invalid { message: "its exports have names that WIT cannot express".to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: &str = "package a:b; interface x { f: func(); } world w { export x; }";

    #[test]
    fn bytes_that_are_no_component_are_named() {
        let reflect = |bytes: &[u8]| reflect(bytes, None, &DefaultInterface::Only).map_err(|error| error.to_string());
        assert!(reflect(b"").expect_err("nothing").starts_with("not a component: "));
        assert!(reflect(b"#!/bin/sh\n").expect_err("text").starts_with("not a component: "));
        assert!(reflect(b"\0asm\x01\0\0\0").expect_err("a module").starts_with("a core module, not a component"));
        assert!(reflect(b"\0asm\x0d\0\x01\0\x07").expect_err("cut off").starts_with("not a component: "));
        assert_eq!(reflect(b"\0asm\x0d\0\x01\0"), Ok(Package::default()));
        let mut resolve = Resolve::default();
        let id = resolve.push_str("t.wit", PACKAGE).expect("right");
        let package = wit_component::encode(&resolve, id).expect("encodable");
        assert!(reflect(&package).expect_err("WIT").starts_with("a WIT package in binary form"));
        let error = super::reflect(b"\0asm\x0d\0\x01\0", Some("package a:b; interfac"), &DefaultInterface::Only);
        assert!(error.expect_err("no WIT").to_string().starts_with("the WIT text of the package does not parse: "));
        check_wit(PACKAGE).expect("right");
    }

    #[test]
    fn component_with_function_named_like_an_interface_is_refused() {
        // A component that exports a function that it imports under the name `a:b/c`: the decoder has an assertion there.
        let bytes = [
            0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0, // component
            7, 5, 1, 0x40, 0, 1, 0, // types: func(), no results (0x01 0x00)
            10, 6, 1, 0, 1, b'f', 1, 0, // import "f" (func 0)
            11, 11, 1, 0, 5, b'a', b':', b'b', b'/', b'c', 1, 0, 0, // export "a:b/c" (func 0)
        ];
        let error = reflect(&bytes, None, &DefaultInterface::Only).expect_err("no WIT has this").to_string();
        assert_eq!(error, "not a component: its exports have names that WIT cannot express");
    }

    #[test]
    fn component_section_cut_off_is_refused_without_allocating_its_size() {
        // A section of 4 GiB without content.
        for section in [0, 2, 7] {
            let bytes = [&b"\0asm\x0d\0\x01\0"[..], &[section, 0xff, 0xff, 0xff, 0xff, 0x0f]].concat();
            let error = reflect(&bytes, None, &DefaultInterface::Only).expect_err("it is cut off").to_string();
            assert!(error.contains("the component is cut off: it ends at byte 14"), "{error}");
        }
        // A function of 2 GiB in a module in a component.
        let function = [10, 7, 1, 0xff, 0xff, 0xff, 0xff, 0x07, 0];
        let module = [&b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0"[..], &function].concat();
        let bytes = [&b"\0asm\x0d\0\x01\0\x01"[..], &[u8::try_from(module.len()).expect("short")], &module].concat();
        let error = reflect(&bytes, None, &DefaultInterface::Only).expect_err("it is cut off").to_string();
        assert_eq!(error, "not a component: the component is not valid: unexpected end-of-file (at byte 36)");
    }
}
