//! Reflection: reads the model of a package (`types`) from its world, as a decoder found it in the component.
//!
//! The component is authoritative: it decides which functions exist and their types. The WIT text of the release adds
//! doc comments. Both are hostile; functions that cannot be called are listed as unavailable with the reason, and the
//! others work.

mod docs;
mod program;
mod reader;
mod shape;

use wit_parser::{InterfaceId, Resolve, World, WorldId, WorldItem, WorldKey};

use self::docs::WitDocs;
pub use self::program::{ARGUMENTS, DIRECTORY, STDIN};
use self::reader::WorldReader;
use super::types::Package;

/// Most functions of a package.
const MAX_FUNCTIONS: usize = 10_000;

/// Selection of the interface whose functions are named without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultInterface {
    /// The only interface, if there is only one that has functions.
    Only,
    /// No interface is the default.
    None,
    /// Named interface: `charges`, or in full `acme:payments/charges@1.0.0` (the version may be omitted).
    Named(String),
}

impl DefaultInterface {
    /// Converts the value of `default` in a manifest.
    #[must_use]
    pub fn from_manifest(default: Option<&str>) -> Self {
        match default {
            None => Self::Only,
            Some("none") => Self::None,
            Some(name) => Self::Named(name.to_owned()),
        }
    }
}

/// Reason why bytes are not a package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReflectError {
    /// The bytes are not a valid component, or one whose exports WIT cannot describe.
    #[error("not a component: {message}")]
    Invalid {
        /// Message of the decoder.
        message: String,
    },
    /// The bytes are a core module.
    #[error("a core module, not a component: build it for `wasm32-wasip2`, or wrap it with `wasm-tools component new`")]
    CoreModule,
    /// The bytes are a WIT package in binary form.
    #[error("a WIT package in binary form, not a component: it has types but no code")]
    WitPackage,
    /// The manifest names a default interface that the component does not export.
    #[error("the default interface `{name}` is not exported; exported: {}", if exported.is_empty() { "none".to_owned() } else { format!("`{}`", exported.join("`, `")) })]
    NoSuchInterface {
        /// Name in the manifest.
        name: String,
        /// Names of the exported interfaces.
        exported: Vec<String>,
    },
    /// The component exports more functions than a package may have.
    #[error("{count} functions: at most {MAX_FUNCTIONS} are allowed")]
    TooMany {
        /// Number of functions.
        count: usize,
    },
    /// The WIT text does not parse.
    #[error("the WIT text of the package does not parse: {message}")]
    Wit {
        /// Message of the parser, with the place.
        message: String,
    },
}

/// Reflects a world of a component. `wit` is the release's WIT text, for its doc comments.
///
/// # Errors
/// If the text does not parse, the default interface does not exist, or there are too many functions.
pub fn reflect(
    resolve: &Resolve,
    world: WorldId,
    wit: Option<&str>,
    default: &DefaultInterface,
) -> Result<Package, ReflectError> {
    let docs = wit.map(WitDocs::parse).transpose().map_err(|message| ReflectError::Wit { message })?;
    reflect_world(resolve, world, docs.as_ref(), default)
}

/// Checks that a WIT text parses, without looking at any component.
///
/// # Errors
/// [`ReflectError::Wit`].
pub fn check_wit(text: &str) -> Result<(), ReflectError> {
    WitDocs::parse(text).map(|_| ()).map_err(|message| ReflectError::Wit { message })
}

fn reflect_world(
    resolve: &Resolve,
    world: WorldId,
    docs: Option<&WitDocs>,
    default: &DefaultInterface,
) -> Result<Package, ReflectError> {
    let world = &resolve.worlds[world];
    let mut instances = Vec::new();
    let mut count = 0_usize;
    for (key, item) in &world.exports {
        match item {
            WorldItem::Interface { id, .. } if is_toolchains(resolve, key, *id) => {}
            WorldItem::Interface { id, .. } => {
                count += resolve.interfaces[*id].functions.len();
                instances.push(ExportedInterface::new(resolve, key, *id));
            }
            WorldItem::Function(_) => count += 1,
            WorldItem::Type { .. } => {}
        }
    }
    if count > MAX_FUNCTIONS {
        return Err(ReflectError::TooMany { count });
    }
    if let Some(run) = program::run_of(resolve, &instances, count) {
        return Ok(program::package(run, imports(resolve, world)));
    }
    let default = find_default(resolve, &instances, default)?;
    let mut reader = WorldReader::new(resolve, docs, &instances);
    for item in world.exports.values() {
        if let WorldItem::Function(function) = item {
            reader.function(function, None, Vec::new());
        }
    }
    // The default interface comes first: of two functions with one path the one with the shorter name wins.
    let (first, rest): (Vec<_>, Vec<_>) = instances.iter().partition(|instance| Some(instance.id) == default);
    for instance in first.into_iter().chain(rest) {
        reader.instance(instance, Some(instance.id) == default);
    }
    reader.package.imports = imports(resolve, world);
    Ok(reader.finish())
}

/// Returns true if an exported interface is a leftover of componentize-py's initialisation.
fn is_toolchains(resolve: &Resolve, key: &WorldKey, id: InterfaceId) -> bool {
    let functions = &resolve.interfaces[id].functions;
    matches!(key, WorldKey::Name(name) if name == "exports") && functions.len() == 1 && functions.contains_key("init")
}

fn imports(resolve: &Resolve, world: &World) -> Vec<String> {
    world.imports.keys().map(|key| key_name(resolve, key)).collect()
}

/// Interface that the component exports.
struct ExportedInterface {
    id: InterfaceId,
    export: String,
    name: String,
}

impl ExportedInterface {
    fn new(resolve: &Resolve, key: &WorldKey, id: InterfaceId) -> Self {
        let name = match key {
            WorldKey::Name(name) => name.clone(),
            WorldKey::Interface(id) => resolve.interfaces[*id].name.clone().unwrap_or_default(),
        };
        Self { id, export: key_name(resolve, key), name }
    }
}

fn key_name(resolve: &Resolve, key: &WorldKey) -> String {
    match key {
        WorldKey::Name(name) => name.clone(),
        WorldKey::Interface(id) => resolve.id_of(*id).unwrap_or_default(),
    }
}

fn find_default(
    resolve: &Resolve,
    instances: &[ExportedInterface],
    default: &DefaultInterface,
) -> Result<Option<InterfaceId>, ReflectError> {
    let useful = || instances.iter().filter(|instance| !resolve.interfaces[instance.id].functions.is_empty());
    match default {
        DefaultInterface::None => Ok(None),
        DefaultInterface::Only => Ok(useful().next().filter(|_| useful().count() == 1).map(|instance| instance.id)),
        DefaultInterface::Named(name) => {
            let unversioned = |export: &str| export.split('@').next().unwrap_or_default() == name;
            let exact = instances.iter().find(|instance| instance.export == *name || instance.name == *name);
            let found = exact.or_else(|| instances.iter().find(|instance| unversioned(&instance.export)));
            found.map(|instance| Some(instance.id)).ok_or_else(|| ReflectError::NoSuchInterface {
                name: name.clone(),
                exported: instances.iter().map(|instance| instance.export.clone()).collect(),
            })
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
