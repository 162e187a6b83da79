//! Searchable words of a WIT text.

use wit_parser::{Docs, WorldItem, WorldKey};

use super::WitText;
use crate::search::SearchWords;

impl WitText {
    /// Collects the functions that the worlds export, their docs and those of their interfaces, and the packages that
    /// they import.
    pub(crate) fn words(&self) -> SearchWords {
        let mut words = SearchWords::default();
        for world in self.resolve.packages[self.main].worlds.values() {
            let world = &self.resolve.worlds[*world];
            words.docs(&world.docs);
            for item in world.exports.values() {
                match item {
                    WorldItem::Function(function) => words.function(&function.name, &function.docs),
                    WorldItem::Interface { id, .. } => {
                        let interface = &self.resolve.interfaces[*id];
                        words.docs(&interface.docs);
                        interface.functions.values().for_each(|it| words.function(&it.name, &it.docs));
                    }
                    WorldItem::Type { .. } => {}
                }
            }
            for key in world.imports.keys() {
                if let WorldKey::Interface(id) = key
                    && let Some(package) = self.resolve.interfaces[*id].package
                {
                    let name = &self.resolve.packages[package].name;
                    if name.namespace != "wasi" {
                        words.imports.insert(format!("{}:{}", name.namespace, name.name));
                    }
                }
            }
        }
        words
    }
}

impl SearchWords {
    fn function(&mut self, name: &str, docs: &Docs) {
        // For a method, `[method]blob.read`, the part after the bracket.
        let name = name.rsplit(']').next().unwrap_or(name);
        self.functions.insert(name.to_lowercase());
        self.docs(docs);
    }

    fn docs(&mut self, docs: &Docs) {
        if let Some(text) = &docs.contents {
            self.docs += text;
            self.docs.push(' ');
        }
    }
}
