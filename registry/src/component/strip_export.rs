//! Removal of an export from a component. The binary form numbers exports among the instances that a component defines,
//! so everything behind the export is renumbered. Nested parts have numbers of their own and stay as they are, to the
//! byte.

use std::convert::Infallible;

use wasm_encoder::reencode::{Reencode, ReencodeComponent};
use wasm_encoder::{ComponentAliasSection, ComponentExportSection, ComponentInstanceSection, ComponentSection};
use wasmparser::{
    BinaryReader, ComponentAlias, ComponentAliasSectionReader, ComponentExportSectionReader, ComponentExternalKind,
    ComponentImportSectionReader, ComponentInstanceSectionReader, ComponentTypeRef,
};

use super::{ComponentError, HEADER, check_whole, invalid, sections};

/// Removes an exported interface from a component. Returns `None` if it exports none of that name.
///
/// componentize-py needs this: its output exports its own initialiser (`exports`), which is of no use afterwards.
///
/// # Errors
/// If the bytes are not a component.
pub fn without_export(component: &[u8], name: &str) -> Result<Option<Vec<u8>>, ComponentError> {
    check_whole(component)?;
    let mut kept = component[..HEADER].to_vec();
    let mut instances = 0;
    let mut gone = None;
    for section in sections(component) {
        let section = section?;
        let reader = BinaryReader::new(section.content, section.offset);
        let rewritten = match (section.id, &mut gone) {
            (EXPORTS, None) => find(reader, name, &mut instances, &mut gone)?,
            (INSTANCES, Some(shift)) => {
                let mut made = ComponentInstanceSection::new();
                let reader = ComponentInstanceSectionReader::new(reader).map_err(invalid)?;
                shift.parse_component_instance_section(&mut made, reader).map_err(unwritten)?;
                Some(appended(&made))
            }
            (ALIASES, Some(shift)) => {
                let mut made = ComponentAliasSection::new();
                let reader = ComponentAliasSectionReader::new(reader).map_err(invalid)?;
                shift.parse_component_alias_section(&mut made, reader).map_err(unwritten)?;
                Some(appended(&made))
            }
            (EXPORTS, Some(shift)) => {
                let mut made = ComponentExportSection::new();
                let reader = ComponentExportSectionReader::new(reader).map_err(invalid)?;
                shift.parse_component_export_section(&mut made, reader).map_err(unwritten)?;
                Some(appended(&made))
            }
            (id, None) => {
                instances += defined(id, reader)?;
                None
            }
            _ => None,
        };
        kept.extend(rewritten.as_deref().unwrap_or(section.whole));
    }
    Ok(gone.map(|_| kept))
}

/// Section in which instances are defined or named.
const INSTANCES: u8 = 5;
const ALIASES: u8 = 6;
const IMPORTS: u8 = 10;
const EXPORTS: u8 = 11;

/// Returns the number of instances that a section without exports defines.
fn defined(id: u8, reader: BinaryReader<'_>) -> Result<u32, ComponentError> {
    let mut count = 0;
    match id {
        INSTANCES => count = ComponentInstanceSectionReader::new(reader).map_err(invalid)?.count(),
        ALIASES => {
            for alias in ComponentAliasSectionReader::new(reader).map_err(invalid)? {
                let alias = alias.map_err(invalid)?;
                let is_one =
                    matches!(alias, ComponentAlias::InstanceExport { kind: ComponentExternalKind::Instance, .. });
                count += u32::from(is_one);
            }
        }
        IMPORTS => {
            for import in ComponentImportSectionReader::new(reader).map_err(invalid)? {
                count += u32::from(matches!(import.map_err(invalid)?.ty, ComponentTypeRef::Instance(_)));
            }
        }
        _ => {}
    }
    Ok(count)
}

/// Looks for the export in a section. If it is there, returns the remaining section and the number of the removed
/// instance.
fn find(
    reader: BinaryReader<'_>,
    name: &str,
    instances: &mut u32,
    gone: &mut Option<IndexShift>,
) -> Result<Option<Vec<u8>>, ComponentError> {
    let mut left = ComponentExportSection::new();
    for export in ComponentExportSectionReader::new(reader).map_err(invalid)? {
        let export = export.map_err(invalid)?;
        let is_instance = export.kind == ComponentExternalKind::Instance;
        if is_instance && export.name.name == name && gone.is_none() {
            *gone = Some(IndexShift { gone: *instances });
            continue;
        }
        *instances += u32::from(is_instance);
        // Sections before the export keep their numbers.
        let mut shift = IndexShift { gone: gone.as_ref().map_or(u32::MAX, |shift| shift.gone) };
        shift.parse_component_export(&mut left, export).map_err(unwritten)?;
    }
    Ok(gone.as_ref().map(|_| if left.is_empty() { Vec::new() } else { appended(&left) }))
}

fn appended(section: &impl ComponentSection) -> Vec<u8> {
    let mut bytes = Vec::new();
    section.append_to_component(&mut bytes);
    bytes
}

fn unwritten(error: wasm_encoder::reencode::Error<Infallible>) -> ComponentError {
    ComponentError::NotAdapted { problem: error.to_string() }
}

/// Renumbering of instances after one of them was removed.
struct IndexShift {
    gone: u32,
}

impl Reencode for IndexShift {
    type Error = Infallible;
}

impl ReencodeComponent for IndexShift {
    fn component_instance_index(&mut self, index: u32) -> u32 {
        if index > self.gone { index - 1 } else { index }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::{Component, anatomy};
    use crate::testing::component;

    const WIT: &str = "
        package a:b@1.0.0;
        interface taken { record r { x: u32 } f: func(r: r) -> string; }
        interface first { use taken.{r}; f: func(r: r) -> string; }
        interface second { use taken.{r}; g: func(r: r) -> list<r>; }
        world w {
            import taken;
            export exports: interface { init: func(x: u32); }
            export first;
            export second;
        }";

    #[test]
    fn component_stripped_of_an_export_keeps_the_others() {
        let whole = component(WIT);
        let names = |bytes: &[u8]| anatomy(bytes).expect("a component").exports;
        assert_eq!(names(&whole).len(), 3);
        for name in names(&whole) {
            let left = without_export(&whole, &name).expect("a component").expect("it exports that");
            Component::read(&left).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut expected = names(&whole);
            expected.retain(|other| *other != name);
            assert_eq!(names(&left), expected);
        }
        assert_eq!(without_export(&whole, "none"), Ok(None));
        assert!(without_export(b"text", "none").is_err());
    }
}
