//! Bytes that claim to be a component: what is wrong with them, and what they say about themselves. Must not look at a
//! registry, and must not run anything.

mod adapt;
mod built;
mod dependencies;
mod depth;
mod finish;
mod hide;
mod instances;

use std::panic::catch_unwind;

use wasmparser::{
    BinaryReader, ComponentExternalKind, ComponentName, KnownCustom, Parser, Payload, Validator, WasmFeatures,
};
use wit_component::DecodedWasm;
use wit_parser::{Resolve, WorldId};

pub(crate) use self::adapt::adapted;
pub(crate) use self::built::path_of_builder;
pub use self::dependencies::{DependenciesError, Dependency, DependencyKind, dependencies};
pub use self::finish::{Anatomy, anatomy, finish};
pub use self::hide::without_export;
pub use self::instances::check_instances;
use crate::error::excerpt;

/// Largest component in bytes. Compiling one takes about a hundred times its size in memory; Python's interpreter with
/// its library is a tenth of this.
pub const MAX_COMPONENT: usize = 256 << 20;

/// The custom section that holds the WIT text, with its doc comments.
const WIT_SECTION: &str = "tollhouse-wit";

/// A component that is valid, and what it says about itself.
pub(crate) struct Component {
    /// Its types.
    pub(crate) resolve: Resolve,
    /// What it imports and exports, in `resolve`.
    pub(crate) world: WorldId,
    /// What its custom sections say.
    pub(crate) about: About,
}

/// What the custom sections of a component say. Any text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) licenses: Option<String>,
    pub(crate) authors: Option<String>,
    /// The WIT text. Whether it describes the component is not known.
    pub(crate) wit: Option<String>,
}

/// Why bytes are no component that can be published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// There are none.
    #[error("the component is empty")]
    Empty,
    /// More than [`MAX_COMPONENT`].
    #[error("the component has {size} bytes: at most {MAX_COMPONENT} are allowed")]
    TooLarge {
        /// How many.
        size: usize,
    },
    /// Something else altogether.
    #[error("not a WebAssembly file: {looks_like}")]
    NotWasm {
        /// What it looks like, in words.
        looks_like: &'static str,
    },
    /// A module and no component.
    #[error("this is a core WebAssembly module and no component")]
    CoreModule,
    /// A module that is a program or describes its interface, and cannot be made a component.
    #[error("this core module cannot be made a component: {problem}")]
    NotAdapted {
        /// Why not.
        problem: String,
    },
    /// A version of the format that is not known here.
    #[error("this is WebAssembly of an unknown form (version {version}, layer {layer})")]
    UnknownForm {
        /// The version in its header.
        version: u16,
        /// The layer in its header.
        layer: u16,
    },
    /// The end is missing.
    #[error("the component is cut off: it ends at byte {size}, within a part that begins at byte {start}")]
    Truncated {
        /// Where the part begins that has no end.
        start: usize,
        /// How many bytes there are.
        size: usize,
    },
    /// It breaks the rules of the component model.
    #[error("the component is not valid: {problem} (at byte {offset})")]
    Invalid {
        /// Which.
        problem: String,
        /// Where.
        offset: usize,
    },
    /// There is nothing in it that could be called.
    #[error("the component exports nothing")]
    NoExports,
    /// It only describes interfaces.
    #[error("this is a WIT package in binary form: it describes interfaces and holds no code")]
    WitPackage,
    /// It holds code, where only a description is wanted.
    #[error("this is a component with code, and no WIT package in binary form")]
    NoWitPackage,
    /// Types within types, too many.
    #[error("the component has types nested {depth} deep: at most {} are allowed", depth::MAX_DEPTH)]
    TooDeep {
        /// How many.
        depth: usize,
    },
    /// More instances of what is in it than 2,000.
    #[error("the component makes more than {} instances of the modules and components in it", instances::MOST)]
    TooManyInstances,
    /// It makes instances of a component that it imports, or that another instance exports.
    #[error("the component makes an instance of a component that it is given, which is not supported")]
    GivenComponent,
    /// It is valid, and its interface has no form in WIT.
    #[error("the component's interface cannot be written as WIT: {problem}")]
    NoWit {
        /// Why not.
        problem: String,
    },
}

impl ComponentError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::CoreModule => {
                "build for wasm32-wasip2 (`cargo build --target wasm32-wasip2`), which makes components, or turn the \
                 module into one with `wasm-tools component new`"
            }
            Self::Empty | Self::Truncated { .. } => "it was not written or copied to its end: build or fetch it again",
            Self::NotWasm { .. } => "name the built component: a `.wasm` file, or the directory of a package",
            Self::NoExports => "export a function or an interface in its world",
            Self::WitPackage => "name the component that implements it",
            Self::NotAdapted { .. } => "build it for wasm32-wasip1 or wasm32-wasip2, with imports of WASI only",
            Self::UnknownForm { .. } | Self::Invalid { .. } => {
                "build it again with current tools; `wasm-tools validate` says more"
            }
            Self::NoWit { .. } => "a tool exports functions and interfaces, and no modules, components or values",
            Self::TooLarge { .. }
            | Self::TooDeep { .. }
            | Self::TooManyInstances
            | Self::GivenComponent
            | Self::NoWitPackage => return None,
        })
    }
}

impl Component {
    /// Checks `bytes`, and reads what they say.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ComponentError> {
        match decoded(bytes)? {
            (DecodedWasm::Component(resolve, world), _) if resolve.worlds[world].exports.is_empty() => {
                Err(ComponentError::NoExports)
            }
            (DecodedWasm::Component(resolve, world), about) => Ok(Self { resolve, world, about }),
            (DecodedWasm::WitPackage(..), _) => Err(ComponentError::WitPackage),
        }
    }

    /// Whether the header of a file says component.
    pub(crate) fn is_header(header: &[u8]) -> bool {
        Parser::is_component(header)
    }
}

/// Reads a WIT package in binary form: it and what it uses.
///
/// # Errors
/// If the bytes are none, or a component with code.
pub(crate) fn wit_package(bytes: &[u8]) -> Result<Resolve, ComponentError> {
    match decoded(bytes)?.0 {
        DecodedWasm::WitPackage(resolve, _) => Ok(resolve),
        DecodedWasm::Component(..) => Err(ComponentError::NoWitPackage),
    }
}

/// Decodes bytes within bounds, and reads what their custom sections say.
fn decoded(bytes: &[u8]) -> Result<(DecodedWasm, About), ComponentError> {
    check_whole(bytes)?;
    check_instances(bytes)?;
    let types = Validator::new_with_features(WasmFeatures::default()).validate_all(bytes).map_err(invalid)?;
    let surface = surface(bytes)?;
    let depth = depth::of(&types, &surface.imports, &surface.exports);
    if depth > depth::MAX_DEPTH {
        return Err(ComponentError::TooDeep { depth });
    }
    // The decoder asserts what it takes for granted of exports. Nothing of it is used after a panic.
    let Ok(decoded) = catch_unwind(|| wit_component::decode(bytes)) else {
        return Err(ComponentError::NoWit { problem: "it exports something that WIT has no word for".into() });
    };
    match decoded {
        Ok(decoded) => Ok((decoded, surface.about)),
        Err(error) => Err(ComponentError::NoWit { problem: format!("{error:#}") }),
    }
}

fn invalid(error: wasmparser::BinaryReaderError) -> ComponentError {
    ComponentError::Invalid { problem: error.message().into(), offset: error.offset() }
}

/// Checks that bytes begin as a component does, and that no part of it goes on past their end. wit-component's decoder
/// makes room for what a part claims to have before it looks: up to 4 GiB for fourteen bytes.
///
/// # Errors
/// If it is no component, or its end is missing.
pub fn check_whole(bytes: &[u8]) -> Result<(), ComponentError> {
    check_form(bytes)?;
    if let Some(start) = unfinished(bytes) {
        return Err(ComponentError::Truncated { start, size: bytes.len() });
    }
    // What is nested, down to the functions of its modules.
    Parser::new(0).parse_all(bytes).try_for_each(|payload| payload.map(drop).map_err(invalid))
}

/// Looks at the header: magic, version, layer.
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

/// What bytes are that are no WebAssembly.
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
    } else if bytes.len() < 64 << 10 && std::str::from_utf8(bytes).is_ok() {
        "it is text"
    } else {
        "it does not begin with `\\0asm`"
    }
}

/// A header's length: magic, version, layer.
const HEADER: usize = 8;

/// One of the outermost sections.
struct Section<'a> {
    id: u8,
    content: &'a [u8],
    /// Where its content begins.
    offset: usize,
    /// All of it, with its head.
    whole: &'a [u8],
}

/// The outermost sections of what [`check_whole`] found whole.
fn sections(bytes: &[u8]) -> impl Iterator<Item = Result<Section<'_>, ComponentError>> {
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
            Ok(Section { id, content, offset, whole: &bytes[start..offset + content.len()] })
        };
        Some(read().map_err(invalid))
    })
}

/// Where the section begins that goes on past the end, if one does.
fn unfinished(bytes: &[u8]) -> Option<usize> {
    let mut reader = BinaryReader::new(bytes.get(HEADER..)?, HEADER);
    while reader.bytes_remaining() > 0 {
        let start = reader.original_position();
        let section = reader.read_u8().and_then(|_| reader.read_var_u32());
        let Ok(size) = section else {
            // An overlong number is no truncation: validation says so better.
            return (bytes.len() - start < 6).then_some(start);
        };
        match usize::try_from(size) {
            Ok(size) if reader.read_bytes(size).is_ok() => {}
            _ => return Some(start),
        }
    }
    None
}

/// What can be seen of a component from outside.
#[derive(Default)]
struct Surface {
    imports: Vec<String>,
    exports: Vec<String>,
    about: About,
}

/// Reads the outermost sections, and skips those of what is nested.
fn surface(bytes: &[u8]) -> Result<Surface, ComponentError> {
    let mut surface = Surface::default();
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
                    // The name of an interface on something else: valid, and it brings wit-component's decoder down.
                    let named_interface = export.name.name.contains([':', '/', '=']);
                    if named_interface && export.kind != ComponentExternalKind::Instance {
                        let problem = format!("`{}` is exported and is no interface", excerpt(export.name.name));
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

impl About {
    /// Takes what a custom section says, if it is one of ours to read. Custom sections are never validated, so what
    /// cannot be read is passed over.
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
    fn what_is_no_component_says_so() {
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
    fn a_component_cut_anywhere_is_truncated_or_invalid() {
        let whole = component(CHARGES);
        let mut between = Vec::new();
        for end in 1..whole.len() {
            match Component::read(&whole[..end]) {
                Err(ComponentError::Truncated { size, .. }) => assert_eq!(size, end),
                outcome => between.push(outcome.map(|component| print_component(&component).expect("printed"))),
            }
        }
        // A cut between two sections leaves a component, which lacks its exports or nothing but trailing notes.
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
    fn a_function_with_an_interface_s_name_is_refused() {
        // A lifted function of no parameters, exported as `a:b/c`.
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
    fn sections_about_it_are_read() {
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
