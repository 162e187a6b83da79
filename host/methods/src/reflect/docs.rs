//! Doc comments of a release's WIT text, found by name.
//!
//! A compiled component has lost them. The component decides which functions exist; this module only adds docs, so a
//! text that does not match the component costs docs and nothing else. Dependencies of the text are not needed: it is
//! parsed, not resolved.

use wit_parser::{
    Interface, PackageName, SourceMap, TypeDef, TypeDefKind, UnresolvedPackage, World, WorldItem, WorldKey,
};

/// Most bytes of a WIT text: wasi:http with all its dependencies has a tenth of that.
const MAX_TEXT: usize = 4 << 20;

/// Parsed WIT text with its docs.
pub(super) struct WitDocs {
    packages: Vec<UnresolvedPackage>,
}

/// Place of a definition.
pub(super) enum DefinitionScope<'a> {
    /// Interface of a package: package and interface name.
    Interface(&'a PackageName, &'a str),
    /// Interface that a world defines inline.
    Inline(&'a str),
    /// World of the component itself.
    World,
}

impl WitDocs {
    /// Parses a text: one package, and perhaps others nested in it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("it has more than {MAX_TEXT} bytes"));
        }
        let mut map = SourceMap::new();
        map.push_str("package.wit", text);
        match map.parse() {
            Ok(group) => Ok(Self { packages: std::iter::once(group.main).chain(group.nested).collect() }),
            Err((map, error)) => Err(error.render(&map)),
        }
    }

    /// Returns the docs of an interface. An inline one may have them at its `export`.
    pub(super) fn interface(&self, scope: &DefinitionScope<'_>) -> Option<String> {
        let (_, interface) = self.find_interface(scope)?;
        interface.docs.contents.clone()
    }

    /// Returns the docs of a function, by its name in the component: `describe`, `[method]counter.increment`.
    pub(super) fn function(&self, scope: &DefinitionScope<'_>, name: &str) -> Option<String> {
        if let DefinitionScope::World = scope {
            let mut items = self.worlds().filter_map(|(_, world)| world.exports.get(&WorldKey::Name(name.to_owned())));
            return items.find_map(|item| match item {
                WorldItem::Function(function) => function.docs.contents.clone(),
                _ => None,
            });
        }
        let (_, interface) = self.find_interface(scope)?;
        interface.functions.get(name)?.docs.contents.clone()
    }

    /// Returns the definition of a type, with the docs of its members.
    pub(super) fn ty(&self, scope: &DefinitionScope<'_>, name: &str) -> Option<&TypeDef> {
        let (package, id) = if let DefinitionScope::World = scope {
            self.worlds().find_map(|(package, world)| match world.imports.get(&WorldKey::Name(name.to_owned())) {
                Some(WorldItem::Type { id, .. }) => Some((package, *id)),
                _ => None,
            })?
        } else {
            let (package, interface) = self.find_interface(scope)?;
            (package, *interface.types.get(name)?)
        };
        let mut def = package.types.get(id)?;
        // A type of the same name that was brought in by `use`: definitions come before their uses, so this ends.
        while let TypeDefKind::Type(wit_parser::Type::Id(id)) = def.kind {
            def = package.types.get(id)?;
        }
        Some(def)
    }

    fn worlds(&self) -> impl Iterator<Item = (&UnresolvedPackage, &World)> {
        self.packages.iter().flat_map(|package| package.worlds.iter().map(move |(_, world)| (package, world)))
    }

    fn find_interface(&self, scope: &DefinitionScope<'_>) -> Option<(&UnresolvedPackage, &Interface)> {
        match scope {
            DefinitionScope::World => None,
            DefinitionScope::Inline(name) => {
                let key = WorldKey::Name((*name).to_owned());
                self.worlds().find_map(|(package, world)| match world.exports.get(&key)? {
                    WorldItem::Interface { id, .. } => Some((package, package.interfaces.get(*id)?)),
                    _ => None,
                })
            }
            DefinitionScope::Interface(package, name) => {
                let named =
                    |p: &&UnresolvedPackage| p.name.namespace == package.namespace && p.name.name == package.name;
                // The version of the component is the right one; a text with only another version is close enough for
                // docs.
                let same = self.packages.iter().filter(named).find(|p| p.name.version == package.version);
                let package = same.or_else(|| self.packages.iter().find(named))?;
                let mut interfaces = package.interfaces.iter().map(|(_, interface)| interface);
                Some((package, interfaces.find(|interface| interface.name.as_deref() == Some(*name))?))
            }
        }
    }
}
