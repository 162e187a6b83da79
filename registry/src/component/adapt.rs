//! Adapters that turn core modules into components, since a registry holds nothing else: programs for WASI 0.1
//! (`wasm32-wasip1`), and modules that describe their interface, as compilers of C write them.
//!
//! The adapter that the component model's own tools use supports two exit statuses only, 0 and 1. So a program's
//! `proc_exit` is linked past it, to `exit-with-code` of WASI 0.2, which has the same signature.

use std::panic::{UnwindSafe, catch_unwind};

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME as WASI, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER as COMMAND,
    WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER as REACTOR,
};
use wasm_encoder::reencode::{Reencode as _, RoundtripReencoder};
use wasm_encoder::{ImportSection, Module, RawSection};
use wasmparser::{Parser, Payload, Validator, WasmFeatures};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::{ComponentError, MAX_COMPONENT, invalid, unfinished};

/// Interface and function that replace `proc_exit`.
const EXIT: (&str, &str) = ("wasi:cli/exit@0.2.12", "exit-with-code");

/// WIT of that interface, for the component encoder.
const EXITS: &str = "package tollhouse:programs;
    world program { import wasi:cli/exit@0.2.12; }
    package wasi:cli@0.2.12 {
        @since(version = 0.2.0)
        interface exit {
            @since(version = 0.2.0)
            exit: func(status: result);
            @since(version = 0.2.12)
            exit-with-code: func(status-code: u8);
        }
    }";

/// Prefix of the names of the sections in which a module describes its interface.
const INTERFACE: &str = "component-type";

/// Error of the component encoder.
type Problem = Box<dyn std::error::Error + Send + Sync>;

/// Converts a program for WASI 0.1 to a component, and returns other bytes unchanged.
pub(crate) fn adapted(bytes: Vec<u8>) -> Result<Vec<u8>, ComponentError> {
    if !is_module(&bytes)? {
        return Ok(bytes);
    }
    if !is_program(&bytes)? {
        return Err(ComponentError::CoreModule);
    }
    encoded(|| with_exit(&bytes), COMMAND)
}

/// Converts bytes as [`adapted`] does; also converts a module that describes its interface to a component that is not a
/// program.
pub(super) fn made_component(bytes: Vec<u8>) -> Result<Vec<u8>, ComponentError> {
    if is_module(&bytes)? && describes_itself(&bytes)? {
        return encoded(|| Ok(bytes), REACTOR);
    }
    adapted(bytes)
}

/// Returns true for a core module within the size limit. An invalid one is an error.
fn is_module(bytes: &[u8]) -> Result<bool, ComponentError> {
    if !Parser::is_core_wasm(bytes) || bytes.len() > MAX_COMPONENT {
        return Ok(false);
    }
    if let Some(start) = unfinished(bytes) {
        return Err(ComponentError::Truncated { start, size: bytes.len() });
    }
    Validator::new_with_features(WasmFeatures::default()).validate_all(bytes).map_err(invalid)?;
    Ok(true)
}

/// Encodes a module and an adapter for WASI 0.1 as a component.
fn encoded(
    module: impl FnOnce() -> Result<Vec<u8>, Problem> + UnwindSafe,
    adapter: &[u8],
) -> Result<Vec<u8>, ComponentError> {
    // The encoder asserts its assumptions on modules. None of its state is used after a panic.
    let encoded = catch_unwind(|| -> Result<Vec<u8>, Problem> {
        Ok(ComponentEncoder::default().validate(true).module(&module()?)?.adapter(WASI, adapter)?.encode()?)
    });
    match encoded {
        Ok(Ok(component)) => Ok(component),
        Ok(Err(error)) => Err(ComponentError::NotAdapted { problem: error.to_string() }),
        Err(_) => Err(ComponentError::NotAdapted { problem: "the encoder does not understand it".into() }),
    }
}

/// Returns true if a module contains a description of its interface.
fn describes_itself(bytes: &[u8]) -> Result<bool, ComponentError> {
    for payload in Parser::new(0).parse_all(bytes) {
        if let Payload::CustomSection(section) = payload.map_err(invalid)?
            && section.name().starts_with(INTERFACE)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Redirects a module's `proc_exit` to WASI 0.2. Everything else stays the same, to the byte.
fn with_exit(bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut module = Module::new();
    let mut exits = false;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        if let Payload::ImportSection(section) = payload {
            let mut imports = ImportSection::new();
            for import in section.into_imports() {
                let mut import = import?;
                if (import.module, import.name) == (WASI, "proc_exit") {
                    (import.module, import.name) = EXIT;
                    exits = true;
                }
                RoundtripReencoder.parse_import(&mut imports, import)?;
            }
            module.section(&imports);
        } else if let Some((id, range)) = payload.as_section() {
            module.section(&RawSection { id, data: &bytes[range] });
        }
    }
    let mut bytes = module.finish();
    if exits {
        let mut resolve = Resolve::default();
        let package = resolve.push_str("exit.wit", EXITS)?;
        let world = resolve.select_world(&[package], None)?;
        embed_component_metadata(&mut bytes, &resolve, world, StringEncoding::UTF8)?;
    }
    Ok(bytes)
}

/// Returns true if a module is a program that imports WASI 0.1 and nothing else. A module that describes its interface
/// was meant to be another kind of component.
fn is_program(bytes: &[u8]) -> Result<bool, ComponentError> {
    let mut starts = false;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(invalid)? {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    if import.map_err(invalid)?.module != WASI {
                        return Ok(false);
                    }
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    starts |= export.map_err(invalid)?.name == "_start";
                }
            }
            Payload::CustomSection(section) if section.name().starts_with(INTERFACE) => return Ok(false),
            _ => {}
        }
    }
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::Component;
    use crate::testing::{CHARGES, component, core_module};
    use crate::wit::print_component;

    /// Program that ends with a status.
    const PROGRAM: &str = r#"(module
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (call $exit (i32.const 3))))"#;

    fn adapt(text: &str) -> Result<Vec<u8>, ComponentError> {
        adapted(wat::parse_str(text).expect("the text is a module"))
    }

    #[test]
    fn program_adapted_is_a_deterministic_component() {
        let made = adapt(PROGRAM).expect("it is a program");
        assert_eq!(adapt(PROGRAM).expect("it still is"), made);
        let read = Component::read(&made).expect("a component");
        let exports: Vec<&str> = read.resolve.worlds[read.world]
            .exports
            .keys()
            .map(|key| match key {
                wit_parser::WorldKey::Interface(id) => read.resolve.interfaces[*id].name.as_deref().unwrap_or_default(),
                wit_parser::WorldKey::Name(name) => name,
            })
            .collect();
        assert_eq!(exports, ["run"]);
        let text = print_component(&read).expect("printed");
        assert!(text.contains("exit-with-code"), "{text}");
    }

    #[test]
    fn bytes_that_are_no_program_are_not_adapted() {
        let tool = component(CHARGES);
        assert_eq!(adapted(tool.clone()), Ok(tool), "a component");
        assert_eq!(adapted(b"text".to_vec()), Ok(b"text".to_vec()));
        for text in [
            "(module (memory (export \"memory\") 1))",
            r#"(module (import "env" "f" (func)) (memory (export "memory") 1) (func (export "_start")))"#,
        ] {
            assert_eq!(adapt(text), Err(ComponentError::CoreModule), "{text}");
        }
        assert_eq!(adapted(core_module(CHARGES)), Err(ComponentError::CoreModule), "it says what it is");
    }

    #[test]
    fn program_that_cannot_be_adapted_returns_the_reason() {
        let text = r#"(module (import "wasi_snapshot_preview1" "no_such" (func)) (memory (export "memory") 1)
            (func (export "_start")))"#;
        assert!(matches!(adapt(text), Err(ComponentError::NotAdapted { .. })));
        let whole = wat::parse_str(PROGRAM).expect("a module");
        let cut = adapted(whole[..whole.len() - 1].to_vec());
        assert!(matches!(cut, Err(ComponentError::Truncated { .. })), "{cut:?}");
    }
}
