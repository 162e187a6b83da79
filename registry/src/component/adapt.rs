//! Programs for WASI 0.1 (`wasm32-wasip1`), which are core modules, made components: a registry holds nothing else.

use std::panic::catch_unwind;

use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME as WASI, WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER as ADAPTER,
};
use wasmparser::{Parser, Payload, Validator, WasmFeatures};
use wit_component::ComponentEncoder;

use super::{ComponentError, MAX_COMPONENT, invalid, unfinished};

/// The bytes as a component, if they are a program for WASI 0.1; else the bytes, whatever they are.
pub(crate) fn adapted(bytes: Vec<u8>) -> Result<Vec<u8>, ComponentError> {
    if !Parser::is_core_wasm(&bytes) || bytes.len() > MAX_COMPONENT {
        return Ok(bytes);
    }
    if let Some(start) = unfinished(&bytes) {
        return Err(ComponentError::Truncated { start, size: bytes.len() });
    }
    Validator::new_with_features(WasmFeatures::default()).validate_all(&bytes).map_err(invalid)?;
    if !is_program(&bytes)? {
        return Err(ComponentError::CoreModule);
    }
    // The encoder asserts what it takes for granted of modules. Nothing of it is used after a panic.
    let encoded =
        catch_unwind(|| ComponentEncoder::default().validate(true).module(&bytes)?.adapter(WASI, ADAPTER)?.encode());
    match encoded {
        Ok(Ok(component)) => Ok(component),
        Ok(Err(error)) => Err(ComponentError::NotAdapted { problem: format!("{error:#}") }),
        Err(_) => Err(ComponentError::NotAdapted { problem: "the encoder does not understand it".into() }),
    }
}

/// Whether a module is a program that imports WASI 0.1 and nothing else. One that brings along a description of its
/// interface was to be a component of another kind.
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
            Payload::CustomSection(section) if section.name().starts_with("component-type") => return Ok(false),
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

    /// A program that ends with a status.
    const EXITS: &str = r#"(module
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (call $exit (i32.const 3))))"#;

    fn adapt(text: &str) -> Result<Vec<u8>, ComponentError> {
        adapted(wat::parse_str(text).expect("the text is a module"))
    }

    #[test]
    fn a_program_is_made_a_component_and_always_the_same() {
        let made = adapt(EXITS).expect("it is a program");
        assert_eq!(adapt(EXITS).expect("it still is"), made);
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
    }

    #[test]
    fn what_is_no_program_stays_what_it_is() {
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
    fn a_program_that_cannot_be_adapted_says_why() {
        let text = r#"(module (import "wasi_snapshot_preview1" "no_such" (func)) (memory (export "memory") 1)
            (func (export "_start")))"#;
        assert!(matches!(adapt(text), Err(ComponentError::NotAdapted { .. })));
        let whole = wat::parse_str(EXITS).expect("a module");
        let cut = adapted(whole[..whole.len() - 1].to_vec());
        assert!(matches!(cut, Err(ComponentError::Truncated { .. })), "{cut:?}");
    }
}
