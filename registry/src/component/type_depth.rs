//! Nesting depth of a component's value types. Decoding, printing and reflecting them recurses; the validator's own
//! bound (on size) is far above what a stack holds. Must not recurse itself.

use std::collections::{HashMap, HashSet};

use wasmparser::{
    component_types::{
        ComponentAnyTypeId, ComponentDefinedType, ComponentDefinedTypeId, ComponentEntityType, ComponentItem,
        ComponentValType,
    },
    types::Types,
};

/// Deepest nesting allowed: the WIT parser's limit within one type.
pub(crate) const MAX_DEPTH: usize = 100;

/// Returns the deepest nesting of value types in the imports and exports of these names.
pub(crate) fn of(types: &Types, imports: &[String], exports: &[String]) -> usize {
    let types = types.as_ref();
    let mut open: Vec<ComponentEntityType> = Vec::new();
    open.extend(imports.iter().filter_map(|name| types.component_item_for_import(name)).map(|item| item.ty));
    open.extend(exports.iter().filter_map(|name| types.component_item_for_export(name)).map(|item| item.ty));
    let mut walk = TypeWalk { types, open, seen: HashSet::new(), depths: HashMap::new() };
    let mut deepest = 0;
    while let Some(entity) = walk.open.pop() {
        for value in walk.values(entity) {
            deepest = deepest.max(walk.depth(value));
        }
    }
    deepest
}

struct TypeWalk<'a> {
    types: wasmparser::types::TypesRef<'a>,
    /// Entities that are yet to be examined.
    open: Vec<ComponentEntityType>,
    /// Instances, components and function types that were examined.
    seen: HashSet<ComponentAnyTypeId>,
    depths: HashMap<ComponentDefinedTypeId, usize>,
}

impl TypeWalk<'_> {
    /// Returns the value types of an entity, and queues the entities within it.
    fn values(&mut self, entity: ComponentEntityType) -> Vec<ComponentDefinedTypeId> {
        let id = match entity {
            ComponentEntityType::Func(id) => ComponentAnyTypeId::Func(id),
            ComponentEntityType::Instance(id) => ComponentAnyTypeId::Instance(id),
            ComponentEntityType::Component(id) => ComponentAnyTypeId::Component(id),
            ComponentEntityType::Type { referenced, .. } => referenced,
            ComponentEntityType::Value(value) => return defined(value).into_iter().collect(),
            ComponentEntityType::Module(_) => return Vec::new(),
        };
        if !self.seen.insert(id) {
            return Vec::new();
        }
        let inner = |items: &wasmparser::collections::IndexMap<String, ComponentItem>| {
            items.values().map(|item| item.ty).collect::<Vec<_>>()
        };
        match id {
            ComponentAnyTypeId::Defined(id) => return vec![id],
            ComponentAnyTypeId::Func(id) => {
                let function = &self.types[id];
                let parameters = function.params.iter().map(|(_, ty)| *ty);
                return parameters.chain(function.result).filter_map(defined).collect();
            }
            ComponentAnyTypeId::Instance(id) => self.open.extend(inner(&self.types[id].exports)),
            ComponentAnyTypeId::Component(id) => {
                self.open.extend(inner(&self.types[id].imports));
                self.open.extend(inner(&self.types[id].exports));
            }
            ComponentAnyTypeId::Resource(_) => {}
        }
        Vec::new()
    }

    /// Returns the number of types that are nested within each other, `root` included. Types cannot contain themselves.
    fn depth(&mut self, root: ComponentDefinedTypeId) -> usize {
        let mut stack = vec![root];
        while let Some(id) = stack.last().copied() {
            let parts = parts(&self.types[id]);
            let unknown = stack.len();
            stack.extend(parts.iter().filter(|part| !self.depths.contains_key(*part)));
            if stack.len() == unknown {
                let below = parts.iter().filter_map(|part| self.depths.get(part)).max();
                self.depths.insert(id, below.unwrap_or(&0) + 1);
                stack.pop();
            }
        }
        self.depths.get(&root).copied().unwrap_or(0)
    }
}

fn defined(value: ComponentValType) -> Option<ComponentDefinedTypeId> {
    match value {
        ComponentValType::Type(id) => Some(id),
        ComponentValType::Primitive(_) => None,
    }
}

/// Returns the types that a type directly consists of.
fn parts(ty: &ComponentDefinedType) -> Vec<ComponentDefinedTypeId> {
    use ComponentDefinedType as D;
    let parts: Vec<ComponentValType> = match ty {
        D::Primitive(_) | D::Flags(_) | D::Enum(_) | D::Own(_) | D::Borrow(_) => Vec::new(),
        D::Record(record) => record.fields.values().copied().collect(),
        D::Variant(variant) => variant.cases.values().filter_map(|case| case.ty).collect(),
        D::List { element, .. } | D::FixedLengthList { element, .. } => vec![*element],
        D::Map { key, value, .. } => vec![*key, *value],
        D::Tuple(tuple) => tuple.types.to_vec(),
        D::Option { ty, .. } => vec![*ty],
        D::Result { ok, err, .. } => ok.iter().chain(err).copied().collect(),
        D::Future { ty, .. } | D::Stream { ty, .. } => ty.iter().copied().collect(),
    };
    parts.into_iter().filter_map(defined).collect()
}

#[cfg(test)]
mod tests {
    use crate::{
        component::{Component, ComponentError},
        testing::nested_lists,
    };

    #[test]
    fn component_types_nested_beyond_the_limit_are_refused() {
        let outcome = Component::read(&nested_lists(50)).map(|_| ());
        assert_eq!(outcome, Err(ComponentError::NoExports));
        for depth in [super::MAX_DEPTH + 1, 5_000, 200_000] {
            let error = Component::read(&nested_lists(depth)).map(|_| ()).expect_err("too deep");
            // The validator has a bound of its own, which may be lower.
            assert!(matches!(error, ComponentError::TooDeep { .. } | ComponentError::Invalid { .. }), "{error}");
        }
    }
}
