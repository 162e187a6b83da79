//! Reader of a function's types. They are written out in full, so their size is bounded.

use wit_parser::{self as wit, TypeDefKind, TypeOwner};

use super::reader::{ReadResult, WorldReader};
use crate::types::{Case, Definition, Field, MAX_DEPTH, Members, Named, Resource, Shape, Type};

/// Most parts of a function's types, written out in full. wasi:http's largest function has about 250.
const MAX_PARTS: usize = 20_000;
/// Most parts of all functions of a package: a bound on memory, since each function carries its types.
const MAX_PARTS_OF_PACKAGE: usize = 500_000;

impl WorldReader<'_> {
    pub(super) fn ty(&mut self, ty: &wit::Type, depth: usize) -> ReadResult<Type> {
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

    fn count(&mut self, parts: usize) -> ReadResult<()> {
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

    fn defined(&mut self, id: wit::TypeId, depth: usize) -> ReadResult<Type> {
        if depth > MAX_DEPTH {
            return Err(format!("types are nested more than {MAX_DEPTH} deep"));
        }
        let resolve = self.resolve;
        let def = &resolve.types[id];
        // A type brought in by `use`, or renamed: its target, under the name where it was defined. Only a target
        // without a name (`type amount = u64`) takes this one.
        if let TypeDefKind::Type(target) = &def.kind {
            let mut ty = self.ty(target, depth)?;
            if ty.definition.is_none() {
                ty.definition = self.definition(def);
            }
            return Ok(ty);
        }
        let text = def.name.as_ref().and_then(|name| self.docs?.ty(&self.scope(def.owner), name));
        let member = MemberDocs { text: text.map(|def| &def.kind) };
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

    fn shape(&mut self, kind: &TypeDefKind, docs: &MemberDocs<'_>, depth: usize) -> ReadResult<Shape> {
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
                Shape::Tuple(tuple.types.iter().map(|ty| self.ty(ty, depth)).collect::<ReadResult<_>>()?)
            }
            TypeDefKind::Option(inner) => Shape::Option(Box::new(self.ty(inner, depth)?)),
            TypeDefKind::Result(result) => {
                let mut side = |ty: &Option<wit::Type>| -> ReadResult<Option<Box<Type>>> {
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
                return Err("a type without values".to_owned());
            }
        })
    }

    fn names<'n>(
        &mut self,
        names: impl ExactSizeIterator<Item = (&'n String, &'n wit::Docs)>,
        docs: &MemberDocs<'_>,
    ) -> ReadResult<Members<Case>> {
        self.count(names.len())?;
        let case = |(at, (name, own)): (usize, (&String, &wit::Docs))| Case {
            docs: docs.of(at, name, own),
            ..Case::new(name.clone(), None)
        };
        unambiguous(names.enumerate().map(case).collect())
    }

    fn map(&mut self, key: &wit::Type, value: &wit::Type, depth: usize) -> ReadResult<Shape> {
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

    fn resource(&self, id: wit::TypeId) -> ReadResult<Resource> {
        let mut def = &self.resolve.types[id];
        // A resource brought in by `use`. Definitions come before uses, so the chain ends; the count is a second
        // guarantee.
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
struct MemberDocs<'d> {
    text: Option<&'d TypeDefKind>,
}

/// Largest type whose members are searched for if the text has another order than the component: the search is
/// quadratic, and the text is hostile.
const SEARCHED: usize = 256;

impl MemberDocs<'_> {
    /// Returns the docs of the member at index `at`; `own` are those in the component itself.
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

pub(super) fn unambiguous<T: Named>(members: Vec<T>) -> ReadResult<Members<T>> {
    let members = Members::from(members);
    match members.ambiguous() {
        Some((a, b)) => Err(format!("`{}` and `{}` are both `{}` in JSON", a.name(), b.name(), a.camel())),
        None => Ok(members),
    }
}
