//! Named types of a package, for generators of declarations in other languages.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::names;
use super::types::{Definition, FunctionKind, Package, Resource, Shape, Type};

/// Identity of a named type: its interface and its name there.
pub(crate) type TypeKey<'a> = (&'a str, &'a str);

/// Definition of a named type.
#[derive(Clone, Copy)]
pub(crate) enum TypeBody<'a> {
    Type(&'a Type, &'a Definition),
    Resource(&'a Resource),
}

/// Named type and its name in the declarations.
pub(crate) struct NamedType<'a> {
    pub(crate) name: String,
    pub(crate) body: TypeBody<'a>,
}

/// Collects all named types of a package. `spelling` turns a name in PascalCase into one that can be declared, and
/// avoids the names in `taken`.
pub(crate) fn gather<'a>(
    package: &'a Package,
    taken: &[&str],
    spelling: impl Fn(&str) -> String,
) -> BTreeMap<TypeKey<'a>, NamedType<'a>> {
    let mut found = BTreeMap::new();
    for function in &package.functions {
        let params = function.params.iter().map(|field| &field.ty);
        for ty in params.chain(function.result.as_ref()) {
            find(ty, &mut found);
        }
        if let FunctionKind::Constructor(resource) = &function.kind {
            found.entry((&resource.instance, &resource.name)).or_insert(TypeBody::Resource(resource));
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
        // Types of the same name in two interfaces: the interface is added to distinguish them.
        if count.get(&name).is_some_and(|count| *count > 1) {
            let interface = interface.rsplit('/').next().unwrap_or_default();
            name.insert_str(0, &names::to_pascal(interface.split('@').next().unwrap_or_default()));
        }
        let mut name = spelling(&name);
        while !used.insert(name.clone()) {
            name.push('_');
        }
        named.insert(key, NamedType { name, body });
    }
    named
}

/// Collects the named types and resources within a type.
fn find<'a>(ty: &'a Type, found: &mut BTreeMap<TypeKey<'a>, TypeBody<'a>>) {
    if let Some(definition) = &ty.definition {
        let key = (definition.interface.as_str(), definition.name.as_str());
        // Known already, and so are the types within it.
        if found.insert(key, TypeBody::Type(ty, definition)).is_some() {
            return;
        }
    }
    if let Shape::Own(resource) | Shape::Borrow(resource) = &ty.shape {
        found.entry((&resource.instance, &resource.name)).or_insert(TypeBody::Resource(resource));
    }
    inner(&ty.shape).into_iter().for_each(|ty| find(ty, found));
}

/// Returns the component types of a type, in their order.
pub(crate) fn inner(shape: &Shape) -> Vec<&Type> {
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
