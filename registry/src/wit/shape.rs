//! Normal form of a world's exports, in which two worlds can be compared whatever they were read from: without doc
//! comments, order, spans, aliases and types that no function uses.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
};

use wit_parser::{
    Function, Handle, InterfaceId, Resolve, Type, TypeDefKind, TypeId, TypeOwner, WorldId, WorldItem, WorldKey,
};

/// Functions and the types that they use: full name to definition.
pub(crate) type Shape = BTreeMap<String, String>;

/// Most types that are written out. A valid component has at most a million, named ones written out too; a text of a
/// few lines can have any number.
const BUDGET: usize = 4_000_000;

/// Deepest nesting of named types that is written out: those of a component are not nested deeper.
const DEPTH: usize = 100;

/// Returns the exports of `world`. Returns `None` if they are too large.
pub(super) fn exports(resolve: &Resolve, world: WorldId) -> Option<Shape> {
    let world = &resolve.worlds[world];
    let mut writer = ShapeWriter {
        resolve,
        inline: HashMap::new(),
        open: Vec::new(),
        shape: Shape::new(),
        budget: BUDGET,
        depth: 0,
    };
    for (key, item) in world.imports.iter().chain(&world.exports) {
        if let (WorldKey::Name(name), WorldItem::Interface { id, .. }) = (key, item) {
            writer.inline.insert(*id, name.clone());
        }
    }
    for (key, item) in &world.exports {
        match item {
            WorldItem::Function(function) => writer.function(None, function),
            WorldItem::Interface { id, .. } => {
                let interface = resolve.name_world_key(key);
                for function in resolve.interfaces[*id].functions.values() {
                    writer.function(Some(&interface), function);
                }
            }
            WorldItem::Type { .. } => {}
        }
    }
    writer.types();
    (writer.budget > 0).then_some(writer.shape)
}

/// Lists the differences between `text`, a world as written, and `built`, a component: a sentence for each item, or for
/// each interface that one of them lacks.
pub(super) fn differences(text: &Shape, built: &Shape) -> Vec<String> {
    let mut differences = absent(built, text, "the component has", "the text lacks it");
    differences.extend(absent(text, built, "the text has", "the component lacks it"));
    for (name, definition) in built {
        if let Some(other) = text.get(name)
            && other != definition
        {
            let (other, definition) = (crate::error::excerpt(other), crate::error::excerpt(definition));
            differences.push(format!("`{name}` is `{other}` in the text and `{definition}` in the component"));
        }
    }
    differences
}

/// Lists the items of `one` that `other` lacks.
fn absent(one: &Shape, other: &Shape, has: &str, has_not: &str) -> Vec<String> {
    let interface = |name: &'_ String| name.split_once('#').map(|(interface, _)| interface.to_owned());
    let known: HashSet<_> = other.keys().filter_map(interface).collect();
    let mut missing = Vec::new();
    for name in one.keys().filter(|name| !other.contains_key(*name)) {
        let name = interface(name).filter(|interface| !known.contains(interface)).unwrap_or_else(|| name.clone());
        let sentence = format!("{has} `{name}`, {has_not}");
        if missing.last() != Some(&sentence) {
            missing.push(sentence);
        }
    }
    missing
}

struct ShapeWriter<'a> {
    resolve: &'a Resolve,
    /// Interfaces that have no name except the one that the world gives them.
    inline: HashMap<InterfaceId, String>,
    /// Named types that were mentioned and are yet to be defined.
    open: Vec<TypeId>,
    shape: Shape,
    /// Number of types that may still be written out.
    budget: usize,
    /// Nesting depth of the type that is being written.
    depth: usize,
}

impl ShapeWriter<'_> {
    fn function(&mut self, interface: Option<&str>, function: &Function) {
        let name = match interface {
            Some(interface) => format!("{interface}#{}", function.name),
            None => function.name.clone(),
        };
        let mut text = String::from(if function.kind.is_async() { "async func(" } else { "func(" });
        for (at, parameter) in function.params.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            let _ = write!(text, "{separator}{}: ", parameter.name);
            self.ty(&mut text, &parameter.ty);
        }
        text.push(')');
        if let Some(result) = &function.result {
            text += " -> ";
            self.ty(&mut text, result);
        }
        self.shape.insert(name, text);
    }

    /// Defines the mentioned types, and those that they mention.
    fn types(&mut self) {
        let mut done = HashSet::new();
        while let Some(id) = self.open.pop() {
            if !done.insert(id) {
                continue;
            }
            let name = self.name(id);
            let mut text = String::new();
            self.definition(&mut text, &self.resolve.types[id].kind);
            self.shape.insert(name, text);
        }
    }

    /// Returns the full name of a named type.
    fn name(&self, id: TypeId) -> String {
        let definition = &self.resolve.types[id];
        let name = definition.name.as_deref().unwrap_or("");
        match definition.owner {
            TypeOwner::Interface(interface) => {
                let owner = self.inline.get(&interface).cloned().or_else(|| self.resolve.id_of(interface));
                format!("{}#{name}", owner.unwrap_or_default())
            }
            TypeOwner::World(_) | TypeOwner::None => name.into(),
        }
    }

    /// Writes a type where it is used: by name if it needs one, else in full.
    fn ty(&mut self, text: &mut String, ty: &Type) {
        self.budget = self.budget.saturating_sub(1);
        if self.budget == 0 {
            return;
        }
        let Type::Id(mut id) = *ty else {
            text.push_str(primitive(ty));
            return;
        };
        // Aliases are followed. Each leads to a type that was defined before it.
        while let TypeDefKind::Type(target) = &self.resolve.types[id].kind {
            match target {
                Type::Id(target) if self.budget > 0 => {
                    self.budget -= 1;
                    id = *target;
                }
                target => {
                    text.push_str(primitive(target));
                    return;
                }
            }
        }
        let named = self.resolve.types[id].name.is_some();
        if named && (self.depth > DEPTH || !is_plain(&self.resolve.types[id].kind)) {
            text.push_str(&self.name(id));
            self.open.push(id);
        } else {
            self.depth += 1;
            self.definition(text, &self.resolve.types[id].kind);
            self.depth -= 1;
        }
    }

    fn definition(&mut self, text: &mut String, kind: &TypeDefKind) {
        text.push_str(kind.as_str());
        match kind {
            TypeDefKind::Record(record) => {
                self.fields(text, record.fields.iter().map(|field| (&field.name, Some(&field.ty))));
            }
            TypeDefKind::Variant(variant) => {
                self.fields(text, variant.cases.iter().map(|case| (&case.name, case.ty.as_ref())));
            }
            TypeDefKind::Enum(cases) => self.fields(text, cases.cases.iter().map(|case| (&case.name, None))),
            TypeDefKind::Flags(flags) => self.fields(text, flags.flags.iter().map(|flag| (&flag.name, None))),
            TypeDefKind::Tuple(tuple) => self.arguments(text, tuple.types.iter().map(Some)),
            TypeDefKind::Handle(Handle::Own(id) | Handle::Borrow(id)) => {
                self.arguments(text, [Some(&Type::Id(*id))]);
            }
            TypeDefKind::Option(ty) | TypeDefKind::List(ty) | TypeDefKind::Type(ty) => self.arguments(text, [Some(ty)]),
            TypeDefKind::Map(key, value) => self.arguments(text, [Some(key), Some(value)]),
            TypeDefKind::FixedLengthList(ty, length) => {
                let _ = write!(text, " {length}");
                self.arguments(text, [Some(ty)]);
            }
            TypeDefKind::Result(result) => self.arguments(text, [result.ok.as_ref(), result.err.as_ref()]),
            TypeDefKind::Future(ty) | TypeDefKind::Stream(ty) => self.arguments(text, [ty.as_ref()]),
            TypeDefKind::Resource | TypeDefKind::Unknown => {}
        }
    }

    fn fields<'b>(&mut self, text: &mut String, fields: impl Iterator<Item = (&'b String, Option<&'b Type>)>) {
        text.push_str(" {");
        for (name, ty) in fields {
            let _ = write!(text, " {name}");
            if let Some(ty) = ty {
                text.push_str(": ");
                self.ty(text, ty);
            }
            text.push(',');
        }
        text.push_str(" }");
    }

    fn arguments<'b>(&mut self, text: &mut String, types: impl IntoIterator<Item = Option<&'b Type>>) {
        text.push('<');
        for (at, ty) in types.into_iter().enumerate() {
            text.push_str(if at == 0 { "" } else { ", " });
            match ty {
                Some(ty) => self.ty(text, ty),
                None => text.push('_'),
            }
        }
        text.push('>');
    }
}

/// Returns true if a type can be written without a name. A name for such a type is only an alias.
fn is_plain(kind: &TypeDefKind) -> bool {
    match kind {
        TypeDefKind::Record(_)
        | TypeDefKind::Variant(_)
        | TypeDefKind::Enum(_)
        | TypeDefKind::Flags(_)
        | TypeDefKind::Resource
        | TypeDefKind::Unknown => false,
        TypeDefKind::Handle(_)
        | TypeDefKind::Tuple(_)
        | TypeDefKind::Option(_)
        | TypeDefKind::Result(_)
        | TypeDefKind::List(_)
        | TypeDefKind::Map(..)
        | TypeDefKind::FixedLengthList(..)
        | TypeDefKind::Future(_)
        | TypeDefKind::Stream(_)
        | TypeDefKind::Type(_) => true,
    }
}

fn primitive(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::U8 => "u8",
        Type::U16 => "u16",
        Type::U32 => "u32",
        Type::U64 => "u64",
        Type::S8 => "s8",
        Type::S16 => "s16",
        Type::S32 => "s32",
        Type::S64 => "s64",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::Char => "char",
        Type::String => "string",
        Type::ErrorContext => "error-context",
        // Callers have resolved the id.
        Type::Id(_) => "type",
    }
}
