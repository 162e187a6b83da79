//! Reader of a world's functions: their place, their names, and whether they can be called.

use std::collections::{BTreeMap, HashMap, HashSet};

use wit_parser::{self as wit, InterfaceId, Resolve, TypeDefKind, TypeOwner};

use super::ExportedInterface;
use super::docs::{DefinitionScope, WitDocs};
use super::shape::unambiguous;
use crate::types::{Export, Field, Function, FunctionKind, Interface, Package, Resource, Shape, Unavailable};

/// Result whose error says why a function is unavailable.
pub(super) type ReadResult<T> = Result<T, String>;

pub(super) struct WorldReader<'r> {
    pub(super) resolve: &'r Resolve,
    pub(super) docs: Option<&'r WitDocs>,
    /// Exported interfaces, which can define resources.
    pub(super) exported: HashMap<InterfaceId, &'r ExportedInterface>,
    pub(super) package: Package,
    /// Paths in use, and the export that uses each.
    taken: BTreeMap<Vec<String>, String>,
    /// Parts of types read for the current function, and for all.
    pub(super) parts: usize,
    pub(super) all_parts: usize,
}

impl<'r> WorldReader<'r> {
    pub(super) fn new(resolve: &'r Resolve, docs: Option<&'r WitDocs>, instances: &'r [ExportedInterface]) -> Self {
        Self {
            resolve,
            docs,
            exported: instances.iter().map(|instance| (instance.id, instance)).collect(),
            package: Package::default(),
            taken: BTreeMap::new(),
            parts: 0,
            all_parts: 0,
        }
    }

    pub(super) fn instance(&mut self, instance: &ExportedInterface, default: bool) {
        let interface = &self.resolve.interfaces[instance.id];
        let docs = self.docs.and_then(|docs| docs.interface(&self.scope(TypeOwner::Interface(instance.id))));
        self.package.interfaces.push(Interface {
            export: instance.export.clone(),
            name: instance.name.clone(),
            docs: docs.or_else(|| interface.docs.contents.clone()),
            default,
        });
        let prefix = if default { Vec::new() } else { vec![instance.name.clone()] };
        for function in interface.functions.values() {
            self.function(function, Some(instance), prefix.clone());
        }
        for (name, id) in &interface.types {
            if matches!(self.resolve.types[*id].kind, TypeDefKind::Resource) {
                self.dropper(instance, name, prefix.clone());
            }
        }
    }

    /// Adds an exported function, or the reason why it cannot be called.
    pub(super) fn function(
        &mut self,
        function: &wit::Function,
        instance: Option<&ExportedInterface>,
        mut path: Vec<String>,
    ) {
        let export = Export { instance: instance.map(|i| i.export.clone()), function: function.name.clone() };
        let resource = function.kind.resource().and_then(|id| self.resolve.types[id].name.clone());
        if let Some(resource) = &resource {
            path.push(resource.clone());
        }
        path.push(match function.kind {
            wit::FunctionKind::Constructor(_) => "new".to_owned(),
            // `[method]counter.increment`
            _ => function.name.rsplit('.').next().unwrap_or_default().to_owned(),
        });
        let kind = self.kind(function, instance, resource);
        let read = kind.and_then(|kind| self.signature(function, instance, kind, export));
        match read {
            Ok(read) => self.add(Function { path, ..read }),
            Err(reason) => self.package.unavailable.push(Unavailable { path, reason }),
        }
    }

    fn kind(
        &self,
        function: &wit::Function,
        instance: Option<&ExportedInterface>,
        resource: Option<String>,
    ) -> ReadResult<FunctionKind> {
        let (Some(name), Some(instance)) = (resource, instance) else {
            return Ok(FunctionKind::Free);
        };
        let resource = Resource { instance: instance.export.clone(), name };
        match function.kind {
            wit::FunctionKind::Constructor(_) => Ok(FunctionKind::Constructor(resource)),
            wit::FunctionKind::Method(_) => Ok(FunctionKind::Method(resource)),
            wit::FunctionKind::Static(_) => Ok(FunctionKind::Static(resource)),
            _ => Err("it is async, which calls of tools cannot be".to_owned()),
        }
    }

    /// Reads the types of a function. Its path is added by the caller.
    fn signature(
        &mut self,
        function: &wit::Function,
        instance: Option<&ExportedInterface>,
        kind: FunctionKind,
        export: Export,
    ) -> ReadResult<Function> {
        if function.kind.is_async() {
            return Err("it is async, which calls of tools cannot be".to_owned());
        }
        self.parts = 0;
        let mut params = Vec::with_capacity(function.params.len());
        for param in &function.params {
            let ty = self.ty(&param.ty, 0).map_err(|reason| format!("parameter `{}`: {reason}", param.name))?;
            params.push(Field::new(param.name.clone(), ty));
        }
        let params = unambiguous(params)?;
        let result = function.result.as_ref().map(|ty| self.ty(ty, 0)).transpose();
        let result = result.map_err(|reason| format!("its result: {reason}"))?;
        let owner = instance.map(|instance| TypeOwner::Interface(instance.id));
        let scope = owner.map_or(DefinitionScope::World, |owner| self.scope(owner));
        let docs = self.docs.and_then(|docs| docs.function(&scope, &function.name));
        let docs = docs.or_else(|| function.docs.contents.clone());
        Ok(Function { path: Vec::new(), docs, params, result, kind, export, schemas: None })
    }

    /// Adds the destructor that every resource has.
    fn dropper(&mut self, instance: &ExportedInterface, name: &str, mut path: Vec<String>) {
        path.extend([name.to_owned(), "drop".to_owned()]);
        // A method that its author called `drop` is what scripts mean; the handle then lives until the run ends.
        if self.taken.contains_key(&path) {
            return;
        }
        let resource = Resource { instance: instance.export.clone(), name: name.to_owned() };
        self.add(Function {
            path,
            docs: Some(format!("Drops a `{name}`. Its handle cannot be used afterwards.")),
            params: [Field::new("self", Shape::Own(resource.clone()))].into_iter().collect(),
            result: None,
            kind: FunctionKind::Drop(resource),
            export: Export { instance: Some(instance.export.clone()), function: String::new() },
            schemas: None,
        });
    }

    /// Adds a function, unless another one has its path or a prefix of it.
    fn add(&mut self, function: Function) {
        let by = format!("{}#{}", function.export.instance.as_deref().unwrap_or_default(), function.export.function);
        let other = (1..=function.path.len()).find_map(|n| self.taken.get(function.path.get(..n)?));
        if let Some(other) = other {
            let reason = format!("its name is taken by `{}`", other.trim_start_matches('#'));
            self.package.unavailable.push(Unavailable { path: function.path, reason });
            return;
        }
        self.taken.insert(function.path.clone(), by);
        self.package.functions.push(function);
    }

    /// Removes functions whose path is a prefix of another one's. `add` refuses a path that continues a function's;
    /// this finds the functions that came later than their continuations.
    pub(super) fn finish(mut self) -> Package {
        let namespaces: HashSet<Vec<String>> = self
            .taken
            .keys()
            .flat_map(|path| (1..path.len()).filter_map(|n| path.get(..n).map(<[String]>::to_vec)))
            .collect();
        let (kept, hidden): (Vec<_>, Vec<_>) =
            self.package.functions.into_iter().partition(|function| !namespaces.contains(&function.path));
        self.package.functions = kept;
        self.package.unavailable.extend(hidden.into_iter().map(|function| Unavailable {
            reason: "its name is also that of an interface or a resource with functions of its own".to_owned(),
            path: function.path,
        }));
        self.package
    }

    /// Returns the place of a type's definition, for its docs.
    pub(super) fn scope(&self, owner: TypeOwner) -> DefinitionScope<'r> {
        let TypeOwner::Interface(id) = owner else {
            return DefinitionScope::World;
        };
        let interface = &self.resolve.interfaces[id];
        match (&interface.name, interface.package) {
            (Some(name), Some(package)) => DefinitionScope::Interface(&self.resolve.packages[package].name, name),
            _ => self
                .exported
                .get(&id)
                .map_or(DefinitionScope::World, |instance| DefinitionScope::Inline(&instance.name)),
        }
    }
}
