//! Validation of components: errors of bytes that claim to be one, and their self-description. Must not look at a
//! registry, and must not run anything.

mod adapt;
mod build_paths;
mod dependencies;
mod finish;
mod instance_count;
mod strip_export;
mod type_depth;

use std::panic::catch_unwind;

use wasmparser::{
    BinaryReader, ComponentExternalKind, ComponentName, KnownCustom, Parser, Payload, Validator, WasmFeatures,
};
use wit_component::DecodedWasm;
use wit_parser::{Resolve, WorldId};

pub(crate) use self::adapt::adapted;
pub(crate) use self::build_paths::path_of_builder;
pub use self::dependencies::{DependenciesError, Dependency, DependencyKind, dependencies};
pub use self::finish::{Anatomy, anatomy, finish};
pub use self::instance_count::check_instances;
pub use self::strip_export::without_export;
use crate::error::excerpt;

/// Largest component in bytes. Compiling one takes about a hundred times its size in memory; Python's interpreter with
/// its library is a tenth of this.
pub const MAX_COMPONENT: usize = 256 << 20;

/// Custom section that holds the WIT text with its doc comments.
const WIT_SECTION: &str = "tollhouse-wit";

/// Valid component, with its self-description.
pub(crate) struct Component {
    /// Types of the component.
    pub(crate) resolve: Resolve,
    /// World of its imports and exports, in `resolve`.
    pub(crate) world: WorldId,
    /// Metadata of its custom sections.
    pub(crate) about: ComponentMetadata,
}

/// Metadata of a component's custom sections: arbitrary text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ComponentMetadata {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) licenses: Option<String>,
    pub(crate) authors: Option<String>,
    /// WIT text, which may or may not describe the component.
    pub(crate) wit: Option<String>,
}

/// Reason why bytes are not a component that can be published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// The file is empty.
    #[error("the component is empty")]
    Empty,
    /// The file is larger than [`MAX_COMPONENT`].
    #[error("the component has {size} bytes: at most {MAX_COMPONENT} are allowed")]
    TooLarge {
        /// Size of the component in bytes.
        size: usize,
    },
    /// The file is not WebAssembly.
    #[error("not a WebAssembly file: {looks_like}")]
    NotWasm {
        /// Apparent kind of the file, in words.
        looks_like: &'static str,
    },
    /// The file is a core module, not a component.
    #[error("this is a core WebAssembly module, not a component")]
    CoreModule,
    /// The module is a program or describes its interface, but cannot be made a component.
    #[error("this core module cannot be converted to a component: {problem}")]
    NotAdapted {
        /// Description of the error.
        problem: String,
    },
    /// The version of the binary format is unknown.
    #[error("this is an unknown version of WebAssembly (version {version}, layer {layer})")]
    UnknownForm {
        /// Version in the header.
        version: u16,
        /// Layer in the header.
        layer: u16,
    },
    /// The end of the file is missing.
    #[error("the component is cut off: it ends at byte {size}, within a part that begins at byte {start}")]
    Truncated {
        /// Offset of the incomplete part.
        start: usize,
        /// Size of the file in bytes.
        size: usize,
    },
    /// The component breaks a rule of the component model.
    #[error("the component is not valid: {problem} (at byte {offset})")]
    Invalid {
        /// Description of the error.
        problem: String,
        /// Offset of the error.
        offset: usize,
    },
    /// The component exports nothing that could be called.
    #[error("the component exports nothing")]
    NoExports,
    /// The file only describes interfaces.
    #[error("this is a WIT package in binary form: it describes interfaces and holds no code")]
    WitPackage,
    /// The file holds code, where only a description is expected.
    #[error("this is a component with code, not a WIT package in binary form")]
    NoWitPackage,
    /// Types are nested too deep.
    #[error("the component has types nested {depth} deep: at most {} are allowed", type_depth::MAX_DEPTH)]
    TooDeep {
        /// Depth of the nesting.
        depth: usize,
    },
    /// The component makes more than 2,000 instances of its parts.
    #[error("the component makes more than {} instances of the modules and components in it", instance_count::MOST)]
    TooManyInstances,
    /// The component makes an instance of a component that it imports, or that another instance exports.
    #[error("the component makes an instance of a component from outside, which is not supported")]
    GivenComponent,
    /// The component is valid, but its interface cannot be expressed in WIT.
    #[error("the component's interface cannot be written as WIT: {problem}")]
    NoWit {
        /// Description of the error.
        problem: String,
    },
}

impl ComponentError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::CoreModule => {
                "build for wasm32-wasip2 (`cargo build --target wasm32-wasip2`), which makes components, or turn the \
                 module into one with `wasm-tools component new`"
            }
            Self::Empty | Self::Truncated { .. } => "the file is incomplete: build or download it again",
            Self::NotWasm { .. } => "name the built component: a `.wasm` file, or the directory of a package",
            Self::NoExports => "export a function or an interface in its world",
            Self::WitPackage => "name the component that implements it",
            Self::NotAdapted { .. } => "build it for wasm32-wasip1 or wasm32-wasip2, with imports of WASI only",
            Self::UnknownForm { .. } | Self::Invalid { .. } => {
                "build it again with current tools; `wasm-tools validate` says more"
            }
            Self::NoWit { .. } => "a tool may export functions and interfaces, but no modules, components or values",
            Self::TooLarge { .. }
            | Self::TooDeep { .. }
            | Self::TooManyInstances
            | Self::GivenComponent
            | Self::NoWitPackage => return None,
        })
    }
}

impl Component {
    /// Validates `bytes`, and reads their self-description.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ComponentError> {
        match decoded(bytes)? {
            (DecodedWasm::Component(resolve, world), _) if resolve.worlds[world].exports.is_empty() => {
                Err(ComponentError::NoExports)
            }
            (DecodedWasm::Component(resolve, world), about) => Ok(Self { resolve, world, about }),
            (DecodedWasm::WitPackage(..), _) => Err(ComponentError::WitPackage),
        }
    }

    /// Returns true if the header of a file is that of a component.
    pub(crate) fn is_header(header: &[u8]) -> bool {
        Parser::is_component(header)
    }
}

/// Reads a WIT package in binary form, with its dependencies.
///
/// # Errors
/// If the bytes are not one, or a component with code.
pub(crate) fn wit_package(bytes: &[u8]) -> Result<Resolve, ComponentError> {
    match decoded(bytes)?.0 {
        DecodedWasm::WitPackage(resolve, _) => Ok(resolve),
        DecodedWasm::Component(..) => Err(ComponentError::NoWitPackage),
    }
}

/// Decodes bytes within bounds, and reads their custom sections.
fn decoded(bytes: &[u8]) -> Result<(DecodedWasm, ComponentMetadata), ComponentError> {
    check_whole(bytes)?;
    check_instances(bytes)?;
    let types = Validator::new_with_features(WasmFeatures::default()).validate_all(bytes).map_err(invalid)?;
    let surface = surface(bytes)?;
    let depth = type_depth::of(&types, &surface.imports, &surface.exports);
    if depth > type_depth::MAX_DEPTH {
        return Err(ComponentError::TooDeep { depth });
    }
    // The decoder asserts its assumptions on exports. None of its state is used after a panic.
    let Ok(decoded) = catch_unwind(|| wit_component::decode(bytes)) else {
        return Err(ComponentError::NoWit { problem: "it exports something that WIT cannot express".into() });
    };
    match decoded {
        Ok(decoded) => Ok((decoded, surface.about)),
        Err(error) => Err(ComponentError::NoWit { problem: format!("{error:#}") }),
    }
}

fn invalid(error: wasmparser::BinaryReaderError) -> ComponentError {
    ComponentError::Invalid { problem: error.message().into(), offset: error.offset() }
}

/// Checks that bytes begin like a component, and that no part of it extends past their end. wit-component's decoder
/// allocates as much as a part claims to have before it looks: up to 4 GiB for fourteen bytes.
///
/// # Errors
/// If it is not a component, or its end is missing.
pub fn check_whole(bytes: &[u8]) -> Result<(), ComponentError> {
    check_form(bytes)?;
    if let Some(start) = unfinished(bytes) {
        return Err(ComponentError::Truncated { start, size: bytes.len() });
    }
    // Nested parts too, down to the functions of modules.
    Parser::new(0).parse_all(bytes).try_for_each(|payload| payload.map(drop).map_err(invalid))
}

/// Checks the header: magic, version, layer.
fn check_form(bytes: &[u8]) -> Result<(), ComponentError> {
    const MAGIC: &[u8] = b"\0asm";
    if bytes.is_empty() {
        return Err(ComponentError::Empty);
    }
    if bytes.len() > MAX_COMPONENT {
        return Err(ComponentError::TooLarge { size: bytes.len() });
    }
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        if MAGIC.starts_with(bytes) {
            return Err(ComponentError::Truncated { start: 0, size: bytes.len() });
        }
        return Err(ComponentError::NotWasm { looks_like: looks_like(bytes) });
    };
    match rest {
        [0x0d, 0, 1, 0, ..] => Ok(()),
        [1, 0, 0, 0, ..] => Err(ComponentError::CoreModule),
        [a, b, c, d, ..] => Err(ComponentError::UnknownForm {
            version: u16::from_le_bytes([*a, *b]),
            layer: u16::from_le_bytes([*c, *d]),
        }),
        _ => Err(ComponentError::Truncated { start: 0, size: bytes.len() }),
    }
}

/// Describes bytes that are not WebAssembly.
fn looks_like(bytes: &[u8]) -> &'static str {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    if starts(b"\x7fELF") || starts(b"MZ") || starts(b"\xcf\xfa\xed\xfe") {
        "it looks like a native program or library"
    } else if starts(b"\x1f\x8b") || starts(b"PK\x03\x04") || starts(b"\x28\xb5\x2f\xfd") {
        "it looks like an archive, which must be unpacked first"
    } else if starts(b"version https://git-lfs") {
        "it is a Git LFS pointer, whose file must be fetched first"
    } else if bytes.trim_ascii_start().starts_with(b"(") {
        "it looks like WebAssembly text, which `wasm-tools parse` turns into binary"
    } else if bytes.len() < 64 << 10 && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok() {
        "it is text"
    } else {
        "it does not begin with `\\0asm`"
    }
}

/// Length of a header: magic, version, layer.
const HEADER: usize = 8;

/// Outermost section of a component.
struct OuterSection<'a> {
    id: u8,
    content: &'a [u8],
    /// Offset of its content.
    offset: usize,
    /// The whole section, with its header.
    whole: &'a [u8],
}

/// Iterates over the outermost sections of bytes that passed [`check_whole`].
fn sections(bytes: &[u8]) -> impl Iterator<Item = Result<OuterSection<'_>, ComponentError>> {
    let mut reader = BinaryReader::new(bytes.get(HEADER..).unwrap_or_default(), HEADER);
    std::iter::from_fn(move || {
        if reader.bytes_remaining() == 0 {
            return None;
        }
        let start = reader.original_position();
        let mut read = || {
            let id = reader.read_u8()?;
            let size = reader.read_var_u32()?;
            let offset = reader.original_position();
            let content = reader.read_bytes(usize::try_from(size).unwrap_or(usize::MAX))?;
            Ok(OuterSection { id, content, offset, whole: &bytes[start..offset + content.len()] })
        };
        Some(read().map_err(invalid))
    })
}

/// Returns the offset of a section that extends past the end, if there is one.
fn unfinished(bytes: &[u8]) -> Option<usize> {
    let mut reader = BinaryReader::new(bytes.get(HEADER..)?, HEADER);
    while reader.bytes_remaining() > 0 {
        let start = reader.original_position();
        let section = reader.read_u8().and_then(|_| reader.read_var_u32());
        let Ok(size) = section else {
            // An overlong number is not a truncation: validation reports it better.
            return (bytes.len() - start < 6).then_some(start);
        };
        match usize::try_from(size) {
            Ok(size) if reader.read_bytes(size).is_ok() => {}
            _ => return Some(start),
        }
    }
    None
}

/// Externally visible parts of a component.
#[derive(Default)]
struct ComponentSurface {
    imports: Vec<String>,
    exports: Vec<String>,
    about: ComponentMetadata,
}

/// Reads the outermost sections, and skips those of nested parts.
fn surface(bytes: &[u8]) -> Result<ComponentSurface, ComponentError> {
    let mut surface = ComponentSurface::default();
    let mut nesting = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(invalid)?;
        match &payload {
            Payload::Version { .. } => nesting += 1,
            Payload::End(_) => nesting = nesting.saturating_sub(1),
            _ => {}
        }
        if nesting != 1 {
            continue;
        }
        match payload {
            Payload::ComponentImportSection(section) => {
                for import in section {
                    surface.imports.push(import.map_err(invalid)?.name.name.into());
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    let export = export.map_err(invalid)?;
                    // The name of an interface on something else is valid, but crashes wit-component's decoder.
                    let named_interface = export.name.name.contains([':', '/', '=']);
                    if named_interface && export.kind != ComponentExternalKind::Instance {
                        let problem = format!("`{}` is exported but is not an interface", excerpt(export.name.name));
                        return Err(ComponentError::NoWit { problem });
                    }
                    if export.kind != ComponentExternalKind::Value {
                        surface.exports.push(export.name.name.into());
                    }
                }
            }
            Payload::CustomSection(section) => surface.about.read(&section),
            _ => {}
        }
    }
    Ok(surface)
}

impl ComponentMetadata {
    /// Reads a custom section, if it is of a known kind. Custom sections are never validated, so unreadable ones are
    /// skipped.
    fn read(&mut self, section: &wasmparser::CustomSectionReader<'_>) {
        if let KnownCustom::ComponentName(names) = section.as_known() {
            for name in names {
                if let Ok(ComponentName::Component { name, .. }) = name {
                    self.name = Some(name.into());
                }
            }
            return;
        }
        let slot = match section.name() {
            "version" => &mut self.version,
            "description" => &mut self.description,
            "licenses" => &mut self.licenses,
            "authors" => &mut self.authors,
            WIT_SECTION => &mut self.wit,
            _ => return,
        };
        *slot = std::str::from_utf8(section.data()).ok().map(Into::into);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{CHARGES, component, core_module, wit_package};
    use crate::wit::print_component;

    fn error(bytes: &[u8]) -> ComponentError {
        Component::read(bytes).map(|_| ()).expect_err("no component")
    }

    #[test]
    fn bytes_that_are_no_component_are_refused_with_reason() {
        assert_eq!(error(b""), ComponentError::Empty);
        assert_eq!(error(&core_module(CHARGES)), ComponentError::CoreModule);
        assert!(error(&core_module(CHARGES)).hint().expect("a hint").contains("wasm32-wasip2"));
        assert_eq!(error(&wit_package(CHARGES)), ComponentError::WitPackage);
        assert_eq!(error(b"\0asm\x02\0\x01\0"), ComponentError::UnknownForm { version: 2, layer: 1 });
        for (bytes, word) in [
            (&b"(component)"[..], "text, which"),
            (b"\x7fELF\x02\x01", "native"),
            (b"\x1f\x8b\x08", "archive"),
            (b"export const x = 1;", "it is text"),
            (b"\xff\xfe\xfd", "begin with"),
        ] {
            assert!(error(bytes).to_string().contains(word), "{word}");
        }
    }

    #[test]
    fn component_cut_anywhere_is_truncated_or_invalid() {
        let whole = component(CHARGES);
        let mut between = Vec::new();
        for end in 1..whole.len() {
            match Component::read(&whole[..end]) {
                Err(ComponentError::Truncated { size, .. }) => assert_eq!(size, end),
                outcome => between.push(outcome.map(|component| print_component(&component).expect("printed"))),
            }
        }
        // A cut between two sections leaves a component without its exports, or without trailing notes.
        assert!(between.len() < 20, "{between:?}");
        let full = print_component(&Component::read(&whole).expect("a component")).expect("printed");
        for outcome in between {
            match outcome {
                Ok(printed) => assert_eq!(printed, full),
                Err(error) => assert_eq!(error, ComponentError::NoExports),
            }
        }
    }

    #[test]
    fn component_exporting_function_named_like_interface_is_refused() {
        // A lifted function without parameters, exported as `a:b/c`.
        let bytes = wat::parse_str(
            r#"(component
                (core module $m (func (export "f")))
                (core instance $i (instantiate $m))
                (func $f (canon lift (core func $i "f")))
                (export "a:b/c" (func $f)))"#,
        )
        .expect("the text is a component");
        assert!(matches!(error(&bytes), ComponentError::NoWit { .. }));
    }

    #[test]
    fn exported_types_that_wit_has_no_word_for_are_refused() {
        // Found by fuzzing: the decoder panics.
        for ty in ["(component)", "(func)", "(instance)"] {
            let exports = format!(r#"(type $t {ty}) (export "t" (type (eq $t))) (export "f" (func))"#);
            let text = format!(r#"(component (import "i" (instance $i {exports})) (export "j" (instance $i)))"#);
            let bytes = wat::parse_str(text).expect("the text is a component");
            assert!(matches!(error(&bytes), ComponentError::NoWit { .. }), "{ty}");
        }
    }

    #[test]
    fn component_metadata_sections_are_read() {
        let mut bytes = component(CHARGES);
        for (name, value) in [("version", "1.2.3"), ("description", "what it does")] {
            let content: Vec<u8> =
                [&[u8::try_from(name.len()).expect("short")], name.as_bytes(), value.as_bytes()].concat();
            bytes.extend([0, u8::try_from(content.len()).expect("short")]);
            bytes.extend(content);
        }
        let about = Component::read(&bytes).expect("a component").about;
        assert_eq!(about.version.as_deref(), Some("1.2.3"));
        assert_eq!(about.description.as_deref(), Some("what it does"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn altered_components_never_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = component(CHARGES);
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(component) = Component::read(&bytes) {
                let _ = print_component(&component);
            }
        }

        #[test]
        fn garbage_never_panics(bytes in any::<Vec<u8>>()) {
            let _ = Component::read(&bytes);
            let _ = Component::read(&[b"\0asm\x0d\0\x01\0", &bytes[..]].concat());
        }
    }
}
