//! The named types of a package, for those who declare them in another language.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::names;
use super::types::{Definition, FunctionKind, Package, Resource, Shape, Type};

/// A named type: its interface and its name there.
pub(super) type Key<'a> = (&'a str, &'a str);

/// What a name stands for.
#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    Type(&'a Type, &'a Definition),
    Resource(&'a Resource),
}

/// A named type, and what it is called where it is declared.
pub(super) struct Named<'a> {
    pub(super) name: String,
    pub(super) body: Body<'a>,
}

/// All named types of a package. `spelling` makes of a name in PascalCase one that can be declared; it is none of `taken`.
pub(super) fn gather<'a>(
    package: &'a Package,
    taken: &[&str],
    spelling: impl Fn(&str) -> String,
) -> BTreeMap<Key<'a>, Named<'a>> {
    let mut found = BTreeMap::new();
    for function in &package.functions {
        let params = function.params.iter().map(|field| &field.ty);
        for ty in params.chain(function.result.as_ref()) {
            find(ty, &mut found);
        }
        if let FunctionKind::Constructor(resource) = &function.kind {
            found.entry((&resource.instance, &resource.name)).or_insert(Body::Resource(resource));
        }
    }
    let mut count: HashMap<String, usize> = HashMap::new();
    for (_, name) in found.keys() {
        *count.entry(names::to_pascal(name)).or_default() += 1;
    }
    let mut used: HashSet<String> = taken.iter().map(|name| (*name).to_owned()).collect();
    let mut named = BTreeMap::new();
    for (key, body) in found {
        let (interface, own) = key;
        let mut name = names::to_pascal(own);
        // Types of two interfaces with one name: the interface tells them apart.
        if count.get(&name).is_some_and(|count| *count > 1) {
            let interface = interface.rsplit('/').next().unwrap_or_default();
            name.insert_str(0, &names::to_pascal(interface.split('@').next().unwrap_or_default()));
        }
        let mut name = spelling(&name);
        while !used.insert(name.clone()) {
            name.push('_');
        }
        named.insert(key, Named { name, body });
    }
    named
}

/// Finds the named types and resources in a type.
fn find<'a>(ty: &'a Type, found: &mut BTreeMap<Key<'a>, Body<'a>>) {
    if let Some(definition) = &ty.definition {
        let key = (definition.interface.as_str(), definition.name.as_str());
        // Seen before, and so were the types in it.
        if found.insert(key, Body::Type(ty, definition)).is_some() {
            return;
        }
    }
    if let Shape::Own(resource) | Shape::Borrow(resource) = &ty.shape {
        found.entry((&resource.instance, &resource.name)).or_insert(Body::Resource(resource));
    }
    inner(&ty.shape).into_iter().for_each(|ty| find(ty, found));
}

/// The types that a type is made of, in their order.
pub(super) fn inner(shape: &Shape) -> Vec<&Type> {
    match shape {
        Shape::List(inner) | Shape::FixedList(inner, _) | Shape::Option(inner) => vec![inner],
        Shape::Tuple(members) => members.iter().collect(),
        Shape::Record(fields) => fields.iter().map(|field| &field.ty).collect(),
        Shape::Variant(cases) => cases.iter().filter_map(|case| case.ty.as_ref()).collect(),
        Shape::Result { ok, err } => ok.iter().chain(err).map(|ty| &**ty).collect(),
        Shape::Map(key, item) => vec![key, item],
        _ => Vec::new(),
    }
}
