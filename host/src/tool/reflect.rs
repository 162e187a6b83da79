//! Reads the model of a package (`types`) from the bytes of its component.
//!
//! The component is authoritative: it decides what exists and of which type. The WIT text of the release adds doc
//! comments. The bytes are hostile; what cannot be called is listed as unavailable with the reason, and the rest works.

mod docs;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use wit_parser::decoding::DecodedWasm;
use wit_parser::{self as wit, InterfaceId, Resolve, TypeDefKind, TypeOwner, WorldId, WorldItem, WorldKey};

use self::docs::{Scope, WitDocs};
use super::types::{
    Case, Definition, Export, Field, Function, FunctionKind, Interface, MAX_DEPTH, Members, Package, Resource, Shape,
    Type, Unavailable,
};

/// A function's types have at most so many parts, written out in full. wasi:http's largest function has about 250.
const MAX_PARTS: usize = 20_000;
/// All functions of a package together: a bound on memory, since each function carries its types.
const MAX_PARTS_OF_PACKAGE: usize = 500_000;
/// A package has at most so many functions.
const MAX_FUNCTIONS: usize = 10_000;

/// Which interface's functions are named without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultInterface {
    /// The only interface, if there is only one that has functions.
    Only,
    /// None.
    None,
    /// This one: `charges`, or in full `acme:payments/charges@1.0.0` (the version may be left out).
    Named(String),
}

impl DefaultInterface {
    /// What `default` in a manifest means.
    #[must_use]
    pub fn from_manifest(default: Option<&str>) -> Self {
        match default {
            None => Self::Only,
            Some("none") => Self::None,
            Some(name) => Self::Named(name.to_owned()),
        }
    }
}

/// Why bytes are no package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReflectError {
    /// The bytes are no valid component, or one whose exports WIT cannot describe.
    #[error("not a component: {message}")]
    Invalid {
        /// What the decoder says.
        message: String,
    },
    /// The bytes are a core module.
    #[error("a core module, not a component: build it for `wasm32-wasip2`, or wrap it with `wasm-tools component new`")]
    CoreModule,
    /// The bytes are a WIT package in binary form.
    #[error("a WIT package in binary form, not a component: it has types and no code")]
    WitPackage,
    /// The manifest names a default interface that the component does not export.
    #[error("the default interface `{name}` is not exported; exported: {}", if exported.is_empty() { "none".to_owned() } else { format!("`{}`", exported.join("`, `")) })]
    NoSuchInterface {
        /// The name in the manifest.
        name: String,
        /// What is exported.
        exported: Vec<String>,
    },
    /// The component exports more functions than a package may have.
    #[error("{count} functions, of at most {MAX_FUNCTIONS}")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// The WIT text does not parse.
    #[error("the WIT text of the package does not parse: {message}")]
    Wit {
        /// What the parser says, with the place.
        message: String,
    },
}

/// Reads what a component offers. `wit` is the release's WIT text, for its doc comments.
///
/// # Errors
/// [`ReflectError`].
pub fn reflect(component: &[u8], wit: Option<&str>, default: &DefaultInterface) -> Result<Package, ReflectError> {
    let docs = wit.map(WitDocs::parse).transpose().map_err(|message| ReflectError::Wit { message })?;
    let (resolve, world) = decode(component)?;
    reflect_world(&resolve, world, docs.as_ref(), default)
}

/// Checks that a WIT text parses, without looking at any component.
///
/// # Errors
/// [`ReflectError::Wit`].
pub fn check_wit(text: &str) -> Result<(), ReflectError> {
    WitDocs::parse(text).map(|_| ()).map_err(|message| ReflectError::Wit { message })
}

fn decode(component: &[u8]) -> Result<(Resolve, WorldId), ReflectError> {
    // Bytes 4 to 8 of a binary say what it is: version 1 and layer 0 is a core module.
    if component.starts_with(b"\0asm\x01\0\0\0") {
        return Err(ReflectError::CoreModule);
    }
    // The decoder validates first, but asserts what it takes for granted about well-formed names: a hostile component
    // can make it panic. Nothing of it is used afterwards.
    match catch_unwind(AssertUnwindSafe(|| wit_component::decode(component))) {
        Ok(Ok(DecodedWasm::Component(resolve, world))) => Ok((resolve, world)),
        Ok(Ok(DecodedWasm::WitPackage(..))) => Err(ReflectError::WitPackage),
        Ok(Err(error)) => Err(ReflectError::Invalid { message: format!("{error:#}") }),
        Err(_) => Err(ReflectError::Invalid { message: "its exports have names that WIT cannot express".to_owned() }),
    }
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
            WorldItem::Interface { id, .. } => {
                count += resolve.interfaces[*id].functions.len();
                instances.push(Instance::new(resolve, key, *id));
            }
            WorldItem::Function(_) => count += 1,
            WorldItem::Type { .. } => {}
        }
    }
    if count > MAX_FUNCTIONS {
        return Err(ReflectError::TooMany { count });
    }
    let default = find_default(resolve, &instances, default)?;
    let mut reader = Reader::new(resolve, docs, &instances);
    for item in world.exports.values() {
        if let WorldItem::Function(function) = item {
            reader.function(function, None, Vec::new());
        }
    }
    // The default interface first: of two functions with one path the shorter way to say it wins.
    let (first, rest): (Vec<_>, Vec<_>) = instances.iter().partition(|instance| Some(instance.id) == default);
    for instance in first.into_iter().chain(rest) {
        reader.instance(instance, Some(instance.id) == default);
    }
    reader.package.imports = world.imports.iter().map(|(key, _)| key_name(resolve, key)).collect();
    Ok(reader.finish())
}

/// An exported interface.
struct Instance {
    id: InterfaceId,
    export: String,
    name: String,
}

impl Instance {
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
    instances: &[Instance],
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

/// Why a function is unavailable.
type Refused<T> = Result<T, String>;

struct Reader<'r> {
    resolve: &'r Resolve,
    docs: Option<&'r WitDocs>,
    /// Exported interfaces, which can define resources.
    exported: HashMap<InterfaceId, &'r Instance>,
    package: Package,
    /// Paths taken, and by which export.
    taken: BTreeMap<Vec<String>, String>,
    /// Parts of types read for the current function, and for all.
    parts: usize,
    all_parts: usize,
}

impl<'r> Reader<'r> {
    fn new(resolve: &'r Resolve, docs: Option<&'r WitDocs>, instances: &'r [Instance]) -> Self {
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

    fn instance(&mut self, instance: &Instance, default: bool) {
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
    fn function(&mut self, function: &wit::Function, instance: Option<&Instance>, mut path: Vec<String>) {
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
        instance: Option<&Instance>,
        resource: Option<String>,
    ) -> Refused<FunctionKind> {
        let (Some(name), Some(instance)) = (resource, instance) else {
            return Ok(FunctionKind::Free);
        };
        let resource = Resource { instance: instance.export.clone(), name };
        match function.kind {
            wit::FunctionKind::Constructor(_) => Ok(FunctionKind::Constructor(resource)),
            wit::FunctionKind::Method(_) => Ok(FunctionKind::Method(resource)),
            wit::FunctionKind::Static(_) => Ok(FunctionKind::Static(resource)),
            _ => Err("it is async, and calls of tools are not".to_owned()),
        }
    }

    /// Reads the types of a function. Its path is added by the caller.
    fn signature(
        &mut self,
        function: &wit::Function,
        instance: Option<&Instance>,
        kind: FunctionKind,
        export: Export,
    ) -> Refused<Function> {
        if function.kind.is_async() {
            return Err("it is async, and calls of tools are not".to_owned());
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
        let scope = owner.map_or(Scope::World, |owner| self.scope(owner));
        let docs = self.docs.and_then(|docs| docs.function(&scope, &function.name));
        let docs = docs.or_else(|| function.docs.contents.clone());
        Ok(Function { path: Vec::new(), docs, params, result, kind, export })
    }

    /// Every resource can be let go of.
    fn dropper(&mut self, instance: &Instance, name: &str, mut path: Vec<String>) {
        path.extend([name.to_owned(), "drop".to_owned()]);
        // A method that its author called `drop` is what scripts mean; the handle then lives until the run ends.
        if self.taken.contains_key(&path) {
            return;
        }
        let resource = Resource { instance: instance.export.clone(), name: name.to_owned() };
        self.add(Function {
            path,
            docs: Some(format!("Lets go of a `{name}`. Its handle is of no use afterwards.")),
            params: [Field::new("self", Shape::Own(resource.clone()))].into_iter().collect(),
            result: None,
            kind: FunctionKind::Drop(resource),
            export: Export { instance: Some(instance.export.clone()), function: String::new() },
        });
    }

    /// Adds a function, unless another stands at its path or above it.
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

    /// A path that leads on from a function is refused in `add`; this finds the functions that came after what leads on
    /// from them.
    fn finish(mut self) -> Package {
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

    /// Where a type is defined, for its docs.
    fn scope(&self, owner: TypeOwner) -> Scope<'r> {
        let TypeOwner::Interface(id) = owner else {
            return Scope::World;
        };
        let interface = &self.resolve.interfaces[id];
        match (&interface.name, interface.package) {
            (Some(name), Some(package)) => Scope::Interface(&self.resolve.packages[package].name, name),
            _ => self.exported.get(&id).map_or(Scope::World, |instance| Scope::Inline(&instance.name)),
        }
    }

    fn ty(&mut self, ty: &wit::Type, depth: usize) -> Refused<Type> {
        self.count(1)?;
        let shape = match ty {
            wit::Type::Bool => Shape::Bool,
            wit::Type::U8 => Shape::U8,
            wit::Type::U16 => Shape::U16,
            wit::Type::U32 => Shape::U32,
            wit::Type::U64 => Shape::U64,
            wit::Type::S8 => Shape::S8,
            wit::Type::S16 => Shape::S16,
            wit::Type::S32 => Shape::S32,
            wit::Type::S64 => Shape::S64,
            wit::Type::F32 => Shape::F32,
            wit::Type::F64 => Shape::F64,
            wit::Type::Char => Shape::Char,
            wit::Type::String => Shape::String,
            wit::Type::ErrorContext => return Err("an error-context cannot cross the gate".to_owned()),
            wit::Type::Id(id) => return self.defined(*id, depth + 1),
        };
        Ok(shape.into())
    }

    fn count(&mut self, parts: usize) -> Refused<()> {
        self.parts += parts;
        self.all_parts += parts;
        if self.parts > MAX_PARTS {
            return Err(format!("its types have more than {MAX_PARTS} parts"));
        }
        if self.all_parts > MAX_PARTS_OF_PACKAGE {
            return Err(format!("the types of the package's functions have more than {MAX_PARTS_OF_PACKAGE} parts"));
        }
        Ok(())
    }

    fn defined(&mut self, id: wit::TypeId, depth: usize) -> Refused<Type> {
        if depth > MAX_DEPTH {
            return Err(format!("types are nested more than {MAX_DEPTH} deep"));
        }
        let resolve = self.resolve;
        let def = &resolve.types[id];
        // A type brought in by `use`, or renamed: what it stands for, under the name where it was defined. Only what
        // has no name there (`type amount = u64`) takes this one.
        if let TypeDefKind::Type(target) = &def.kind {
            let mut ty = self.ty(target, depth)?;
            if ty.definition.is_none() {
                ty.definition = self.definition(def);
            }
            return Ok(ty);
        }
        let text = def.name.as_ref().and_then(|name| self.docs?.ty(&self.scope(def.owner), name));
        let member = Docs { text: text.map(|def| &def.kind) };
        let shape = self.shape(&def.kind, &member, depth)?;
        let definition = if matches!(shape, Shape::Own(_) | Shape::Borrow(_)) { None } else { self.definition(def) };
        Ok(Type { definition, shape })
    }

    fn definition(&self, def: &wit::TypeDef) -> Option<Box<Definition>> {
        let name = def.name.clone()?;
        let interface = match def.owner {
            TypeOwner::Interface(id) => match self.exported.get(&id) {
                Some(instance) => instance.export.clone(),
                None => self.resolve.id_of(id).unwrap_or_default(),
            },
            _ => String::new(),
        };
        let text = self.docs.and_then(|docs| docs.ty(&self.scope(def.owner), &name));
        let docs = text.and_then(|def| def.docs.contents.clone()).or_else(|| def.docs.contents.clone());
        Some(Box::new(Definition { interface, name, docs }))
    }

    fn shape(&mut self, kind: &TypeDefKind, docs: &Docs<'_>, depth: usize) -> Refused<Shape> {
        Ok(match kind {
            TypeDefKind::Record(record) => {
                let mut fields = Vec::with_capacity(record.fields.len());
                for (at, field) in record.fields.iter().enumerate() {
                    let ty = self.ty(&field.ty, depth)?;
                    fields.push(Field {
                        docs: docs.of(at, &field.name, &field.docs),
                        ..Field::new(field.name.clone(), ty)
                    });
                }
                Shape::Record(unambiguous(fields)?)
            }
            TypeDefKind::Variant(variant) => {
                let mut cases = Vec::with_capacity(variant.cases.len());
                for (at, case) in variant.cases.iter().enumerate() {
                    self.count(1)?;
                    let ty = case.ty.as_ref().map(|ty| self.ty(ty, depth)).transpose()?;
                    cases.push(Case { docs: docs.of(at, &case.name, &case.docs), ..Case::new(case.name.clone(), ty) });
                }
                Shape::Variant(unambiguous(cases)?)
            }
            TypeDefKind::Enum(names) => {
                Shape::Enum(self.names(names.cases.iter().map(|case| (&case.name, &case.docs)), docs)?)
            }
            TypeDefKind::Flags(names) => {
                Shape::Flags(self.names(names.flags.iter().map(|flag| (&flag.name, &flag.docs)), docs)?)
            }
            TypeDefKind::Tuple(tuple) => {
                Shape::Tuple(tuple.types.iter().map(|ty| self.ty(ty, depth)).collect::<Refused<_>>()?)
            }
            TypeDefKind::Option(inner) => Shape::Option(Box::new(self.ty(inner, depth)?)),
            TypeDefKind::Result(result) => {
                let mut side = |ty: &Option<wit::Type>| -> Refused<Option<Box<Type>>> {
                    Ok(ty.as_ref().map(|ty| self.ty(ty, depth)).transpose()?.map(Box::new))
                };
                Shape::Result { ok: side(&result.ok)?, err: side(&result.err)? }
            }
            TypeDefKind::List(inner) => match self.ty(inner, depth)? {
                Type { shape: Shape::U8, .. } => Shape::Bytes,
                inner => Shape::List(Box::new(inner)),
            },
            TypeDefKind::FixedLengthList(inner, count) => Shape::FixedList(Box::new(self.ty(inner, depth)?), *count),
            TypeDefKind::Map(key, value) => self.map(key, value, depth)?,
            TypeDefKind::Handle(wit::Handle::Own(id)) => Shape::Own(self.resource(*id)?),
            TypeDefKind::Handle(wit::Handle::Borrow(id)) => Shape::Borrow(self.resource(*id)?),
            TypeDefKind::Type(ty) => self.ty(ty, depth)?.shape,
            TypeDefKind::Future(_) => return Err("a future cannot cross the gate".to_owned()),
            TypeDefKind::Stream(_) => return Err("a stream cannot cross the gate".to_owned()),
            TypeDefKind::Resource | TypeDefKind::Unknown => {
                return Err("a type that has no values".to_owned());
            }
        })
    }

    fn names<'n>(
        &mut self,
        names: impl ExactSizeIterator<Item = (&'n String, &'n wit::Docs)>,
        docs: &Docs<'_>,
    ) -> Refused<Members<Case>> {
        self.count(names.len())?;
        let case = |(at, (name, own)): (usize, (&String, &wit::Docs))| Case {
            docs: docs.of(at, name, own),
            ..Case::new(name.clone(), None)
        };
        unambiguous(names.enumerate().map(case).collect())
    }

    fn map(&mut self, key: &wit::Type, value: &wit::Type, depth: usize) -> Refused<Shape> {
        let key = self.ty(key, depth)?;
        let spelled = matches!(
            key.shape,
            Shape::Bool
                | Shape::S8
                | Shape::U8
                | Shape::S16
                | Shape::U16
                | Shape::S32
                | Shape::U32
                | Shape::S64
                | Shape::U64
                | Shape::Char
                | Shape::String
        );
        if !spelled {
            return Err(format!("a map with keys of type {} cannot be written in JSON", key.shape.word()));
        }
        Ok(Shape::Map(Box::new(key), Box::new(self.ty(value, depth)?)))
    }

    fn resource(&self, id: wit::TypeId) -> Refused<Resource> {
        let mut def = &self.resolve.types[id];
        // A resource brought in by `use`. Definitions come before uses, so the chain ends; the count is a second lock.
        for _ in 0..MAX_DEPTH {
            match def.kind {
                TypeDefKind::Type(wit::Type::Id(id)) => def = &self.resolve.types[id],
                _ => break,
            }
        }
        let name = def.name.clone().unwrap_or_default();
        match def.owner {
            TypeOwner::Interface(id) => match self.exported.get(&id) {
                Some(instance) => Ok(Resource { instance: instance.export.clone(), name }),
                None => Err(format!(
                    "a handle of `{name}`, which is a resource of `{}` and not of this package",
                    self.resolve.id_of(id).unwrap_or_default()
                )),
            },
            _ => Err(format!("a handle of `{name}`, which is not a resource of this package")),
        }
    }
}

/// Docs of the members of a type, from the WIT text.
struct Docs<'d> {
    text: Option<&'d TypeDefKind>,
}

/// Members of a text that are in another order than in the component are searched for only in types of this size: the
/// search is quadratic, and the text is not ours.
const SEARCHED: usize = 256;

impl Docs<'_> {
    /// Docs of the member that stands at `at`; `own` are those that the component itself carries.
    fn of(&self, at: usize, name: &str, own: &wit::Docs) -> Option<String> {
        fn pick<'m, T>(
            all: &'m [T],
            at: usize,
            name: &str,
            get: impl Fn(&'m T) -> (&'m str, &'m wit::Docs),
        ) -> Option<&'m wit::Docs> {
            let here = all.get(at).map(&get).filter(|(found, _)| *found == name);
            let found = here.or_else(|| all.iter().take(SEARCHED).map(&get).find(|(found, _)| *found == name));
            found.map(|(_, docs)| docs)
        }
        let text = match self.text {
            Some(TypeDefKind::Record(record)) => pick(&record.fields, at, name, |f| (&f.name, &f.docs)),
            Some(TypeDefKind::Variant(variant)) => pick(&variant.cases, at, name, |c| (&c.name, &c.docs)),
            Some(TypeDefKind::Enum(names)) => pick(&names.cases, at, name, |c| (&c.name, &c.docs)),
            Some(TypeDefKind::Flags(names)) => pick(&names.flags, at, name, |f| (&f.name, &f.docs)),
            _ => None,
        };
        text.and_then(|docs| docs.contents.clone()).or_else(|| own.contents.clone())
    }
}

fn unambiguous<T: super::types::Named>(members: Vec<T>) -> Refused<Members<T>> {
    let members = Members::from(members);
    match members.ambiguous() {
        Some((a, b)) => Err(format!("`{}` and `{}` are both `{}` in JSON", a.name(), b.name(), a.camel())),
        None => Ok(members),
    }
}

#[cfg(test)]
pub(super) mod tests;
