//! Finishing of a build: its output becomes one self-describing file with name, version, description, licence, authors,
//! the WIT text with its doc comments, which compilers leave out, and the dependencies.

use wasm_encoder::{ComponentNameSection, ComponentSection, CustomSection};
use wasmparser::{BinaryReader, Parser, Payload};

use super::adapt::made_component;
use super::{
    ComponentError, Dependency, HEADER, OuterSection, WIT_SECTION, check_whole, dependencies, invalid, sections,
    surface,
};
use crate::manifest::Manifest;

/// Makes a component from a build's output (a component, or a core module that is a program or describes its
/// interface), and writes into it the data of manifest and WIT text, and `built_of` if it is known. The same input
/// gives the same output, to the byte.
///
/// # Errors
/// If the bytes are neither, or no component can be made from them.
pub fn finish(
    built: Vec<u8>,
    manifest: &Manifest,
    wit: Option<&str>,
    built_of: &[Dependency],
) -> Result<Vec<u8>, ComponentError> {
    let component = made_component(built)?;
    check_whole(&component)?;
    let mut name = ComponentNameSection::new();
    name.component(manifest.name.as_str());
    let version = manifest.version.to_string();
    let authors = Some(manifest.authors.join(", ")).filter(|authors| !authors.is_empty());
    let list = (!built_of.is_empty()).then(|| dependencies::packed(built_of));
    let parts = [
        ("version", Some(version.as_bytes())),
        ("description", manifest.description.as_deref().map(str::as_bytes)),
        ("licenses", manifest.license.as_deref().map(str::as_bytes)),
        ("authors", authors.as_deref().map(str::as_bytes)),
        (WIT_SECTION, wit.map(str::as_bytes)),
        (dependencies::SECTION, list.as_deref()),
    ];
    // Existing metadata is removed if there is no replacement, except for a list that another tool wrote.
    let is_replaced = |(part, data): &(&str, Option<&[u8]>)| data.is_some() || *part != dependencies::SECTION;
    let mut finished = without(&component, |name| {
        name == "component-name" || parts.iter().any(|part| part.0 == name && is_replaced(part))
    })?;
    name.append_to_component(&mut finished);
    for (name, data) in parts {
        if let Some(data) = data {
            CustomSection { name: name.into(), data: data.into() }.append_to_component(&mut finished);
        }
    }
    Ok(finished)
}

/// Removes some of the outermost custom sections of a component. Nested parts stay as they are.
fn without(component: &[u8], left_out: impl Fn(&str) -> bool) -> Result<Vec<u8>, ComponentError> {
    const CUSTOM: u8 = 0;
    let mut kept = component[..HEADER].to_vec();
    for section in sections(component) {
        let OuterSection { id, content, whole, .. } = section?;
        let named = (id == CUSTOM).then(|| BinaryReader::new(content, 0).read_string().ok()).flatten();
        if !named.is_some_and(&left_out) {
            kept.extend(whole);
        }
    }
    Ok(kept)
}

/// Sizes of a component's parts in bytes, and its imports and exports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Anatomy {
    /// Size of the whole component.
    pub size: u64,
    /// Code of its modules.
    pub code: u64,
    /// Data of its modules: the initial content of their memories.
    pub data: u64,
    /// Names, debug information and other custom sections: nothing that runs.
    pub notes: u64,
    /// Names of the imports.
    pub imports: Vec<String>,
    /// Names of the exports.
    pub exports: Vec<String>,
}

/// Measures the parts of a component.
///
/// # Errors
/// If the bytes are not a component.
pub fn anatomy(component: &[u8]) -> Result<Anatomy, ComponentError> {
    check_whole(component)?;
    let super::ComponentSurface { imports, exports, .. } = surface(component)?;
    let size = u64::try_from(component.len()).unwrap_or(u64::MAX);
    let mut anatomy = Anatomy { size, imports, exports, ..Anatomy::default() };
    let length = |range: std::ops::Range<usize>| u64::try_from(range.len()).unwrap_or(u64::MAX);
    for payload in Parser::new(0).parse_all(component) {
        match payload.map_err(invalid)? {
            Payload::CodeSectionStart { size, .. } => anatomy.code += u64::from(size),
            Payload::DataSection(section) => anatomy.data += length(section.range()),
            Payload::CustomSection(section) => anatomy.notes += length(section.range()),
            _ => {}
        }
    }
    Ok(anatomy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::Component;
    use crate::testing::{CHARGES, component, core_module};

    fn manifest(rest: &str) -> Manifest {
        Manifest::parse(&format!("name = \"acme:payments\"\nversion = \"1.2.0\"\n{rest}")).expect("a manifest")
    }

    #[test]
    fn finished_component_has_its_metadata_exactly_once() {
        let about = "description = \"d\"\nlicense = \"MIT\"\nauthors = [\"A\", \"B <b@c.example>\"]\n";
        let first = finish(component(CHARGES), &manifest("description = \"before\""), None, &[]).expect("a component");
        let made = finish(first.clone(), &manifest(about), Some(CHARGES), &[]).expect("a component");
        assert_eq!(finish(made.clone(), &manifest(about), Some(CHARGES), &[]).as_ref(), Ok(&made));
        let read = Component::read(&made).expect("it is valid").about;
        assert_eq!(read.name.as_deref(), Some("acme:payments"));
        assert_eq!(read.version.as_deref(), Some("1.2.0"));
        assert_eq!(read.description.as_deref(), Some("d"));
        assert_eq!(read.licenses.as_deref(), Some("MIT"));
        assert_eq!(read.authors.as_deref(), Some("A, B <b@c.example>"));
        assert_eq!(read.wit.as_deref(), Some(CHARGES));
        assert!(!String::from_utf8_lossy(&made).contains("before"));
    }

    #[test]
    fn core_module_with_interface_metadata_becomes_a_component() {
        let made = finish(core_module(CHARGES), &manifest(""), None, &[]).expect("a component");
        assert_eq!(anatomy(&made).expect("a component").exports, ["acme:payments/charges@1.2.0"]);
        let plain = wat::parse_str("(module (func (export \"f\")))").expect("a module");
        assert_eq!(finish(plain, &manifest(""), None, &[]), Err(ComponentError::CoreModule));
        assert!(matches!(finish(b"text".to_vec(), &manifest(""), None, &[]), Err(ComponentError::NotWasm { .. })));
    }

    #[test]
    fn anatomy_counts_the_parts_of_a_component() {
        let text = r#"(component (core module (memory 1) (data (i32.const 0) "0123456789")
            (func (export "f") nop)))"#;
        let found = anatomy(&wat::parse_str(text).expect("the text is a component")).expect("it is one");
        assert!(found.code >= 4 && found.code < 16, "{found:?}");
        assert!(found.data >= 10 && found.data < 20, "{found:?}");
        assert!(found.size > found.code + found.data, "{found:?}");
    }
}
