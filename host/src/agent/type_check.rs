//! Type check of imports: an imported function must have exactly the exported function's types.

use wasmtime::component::Type as Import;
use wasmtime::component::types::ComponentFunc;

use crate::tool::types::{Case, Field, Function, Members, Shape, Type};

/// Checks an imported function against an exported one. The error names the difference.
pub(super) fn check(import: &ComponentFunc, export: &Function) -> Result<(), String> {
    let params: Vec<(&str, Import)> = import.params().collect();
    if params.len() != export.params.len() {
        return Err(format!("it takes {} parameters, but the import has {}", export.params.len(), params.len()));
    }
    for ((name, ty), field) in params.iter().zip(export.params.iter()) {
        if *name != field.name {
            return Err(format!("its parameter `{}` is called `{name}` in the import", field.name));
        }
        if !same(ty, &field.ty) {
            return Err(format!("its parameter `{name}` is {}", field.ty.describe()));
        }
    }
    let results: Vec<Import> = import.results().collect();
    match (results.as_slice(), &export.result) {
        ([], None) => Ok(()),
        ([ty], Some(export)) if same(ty, export) => Ok(()),
        (_, Some(export)) => Err(format!("it returns {}", export.describe())),
        (_, None) => Err("it returns nothing".to_owned()),
    }
}

fn same(import: &Import, export: &Type) -> bool {
    match (import, &export.shape) {
        (Import::Bool, Shape::Bool)
        | (Import::S8, Shape::S8)
        | (Import::U8, Shape::U8)
        | (Import::S16, Shape::S16)
        | (Import::U16, Shape::U16)
        | (Import::S32, Shape::S32)
        | (Import::U32, Shape::U32)
        | (Import::S64, Shape::S64)
        | (Import::U64, Shape::U64)
        | (Import::Float32, Shape::F32)
        | (Import::Float64, Shape::F64)
        | (Import::Char, Shape::Char)
        | (Import::String, Shape::String) => true,
        (Import::List(list), Shape::Bytes) => list.ty() == Import::U8,
        (Import::List(list), Shape::List(inner)) => same(&list.ty(), inner),
        (Import::FixedLengthList(list), Shape::FixedList(inner, count)) => {
            list.len() == *count && same(&list.ty(), inner)
        }
        (Import::Map(map), Shape::Map(key, value)) => same(&map.key(), key) && same(&map.value(), value),
        (Import::Option(option), Shape::Option(inner)) => same(&option.ty(), inner),
        (Import::Tuple(tuple), Shape::Tuple(members)) => {
            let types: Vec<Import> = tuple.types().collect();
            types.len() == members.len() && types.iter().zip(members).all(|(ty, member)| same(ty, member))
        }
        (Import::Record(record), Shape::Record(fields)) => {
            let own: Vec<(String, Import)> = record.fields().map(|field| (field.name.to_owned(), field.ty)).collect();
            same_fields(&own, fields)
        }
        (Import::Variant(variant), Shape::Variant(cases)) => {
            let own: Vec<(String, Option<Import>)> =
                variant.cases().map(|case| (case.name.to_owned(), case.ty)).collect();
            own.len() == cases.len()
                && own
                    .iter()
                    .zip(cases.iter())
                    .all(|((name, ty), case)| *name == case.name && same_payload(ty.as_ref(), case.ty.as_ref()))
        }
        (Import::Enum(names), Shape::Enum(cases)) => same_names(&names.names().collect::<Vec<_>>(), cases),
        (Import::Flags(names), Shape::Flags(cases)) => same_names(&names.names().collect::<Vec<_>>(), cases),
        (Import::Result(result), Shape::Result { ok, err }) => {
            same_payload(result.ok().as_ref(), ok.as_deref()) && same_payload(result.err().as_ref(), err.as_deref())
        }
        // The identity of a resource type is checked when a resource is used.
        (Import::Own(_), Shape::Own(_)) | (Import::Borrow(_), Shape::Borrow(_)) => true,
        _ => false,
    }
}

fn same_fields(own: &[(String, Import)], fields: &Members<Field>) -> bool {
    own.len() == fields.len()
        && own.iter().zip(fields.iter()).all(|((name, ty), field)| *name == field.name && same(ty, &field.ty))
}

fn same_names(own: &[&str], cases: &Members<Case>) -> bool {
    own.len() == cases.len() && own.iter().zip(cases.iter()).all(|(name, case)| *name == case.name)
}

fn same_payload(import: Option<&Import>, export: Option<&Type>) -> bool {
    match (import, export) {
        (None, None) => true,
        (Some(import), Some(export)) => same(import, export),
        _ => false,
    }
}
