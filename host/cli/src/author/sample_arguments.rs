//! Smallest arguments of a function, for calls without an example.

use serde_json::{Map, Value, json};
use tollhouse::tool::types::{Case, Function, Members, Shape, Type};

/// Returns the arguments as one object. An error names a type that has no value without a call that creates one.
pub(super) fn arguments(function: &Function) -> Result<Value, String> {
    let mut arguments = Map::new();
    for param in function.params.iter().filter(|param| !param.is_optional()) {
        arguments.insert(param.camel.clone(), value(&param.ty)?);
    }
    Ok(Value::Object(arguments))
}

fn value(ty: &Type) -> Result<Value, String> {
    Ok(match &ty.shape {
        Shape::Bool => json!(false),
        Shape::Char => json!(" "),
        Shape::String | Shape::Bytes => json!(""),
        Shape::List(_) | Shape::Flags(_) => json!([]),
        Shape::Map(..) => json!({}),
        Shape::Option(_) => Value::Null,
        Shape::FixedList(inner, count) => {
            let inner = value(inner)?;
            // Each element of a long one would be alike, and the call would be refused for its size.
            let count = usize::try_from(*count).ok().filter(|count| *count <= 1 << 16);
            Value::Array(vec![inner; count.ok_or_else(|| format!("it takes {}", ty.describe()))?])
        }
        Shape::Tuple(members) => Value::Array(members.iter().map(value).collect::<Result<_, _>>()?),
        Shape::Record(fields) => {
            let fields = fields.iter().map(|field| Ok((field.camel.clone(), value(&field.ty)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
        Shape::Enum(cases) => json!(cases.first().map(|case| &case.name)),
        Shape::Variant(cases) => smallest(cases)?,
        Shape::Result { ok, err } => match side("ok", ok.as_deref()) {
            Err(_) => side("err", err.as_deref())?,
            ok => ok?,
        },
        Shape::Own(_) | Shape::Borrow(_) => return Err(format!("it takes {}", ty.describe())),
        // Only numbers are left.
        _ => json!(0),
    })
}

fn side(tag: &str, ty: Option<&Type>) -> Result<Value, String> {
    Ok(match ty {
        None => json!({ "tag": tag }),
        Some(ty) => json!({ "tag": tag, "val": value(ty)? }),
    })
}

/// Returns the first case without a payload, otherwise the first whose payload has a value.
fn smallest(cases: &Members<Case>) -> Result<Value, String> {
    if let Some(plain) = cases.iter().find(|case| case.ty.is_none()) {
        return side(&plain.name, None);
    }
    let mut refused = Err("it takes a variant without cases".to_owned());
    for case in cases.iter() {
        refused = side(&case.name, case.ty.as_ref());
        if refused.is_ok() {
            break;
        }
    }
    refused
}

#[cfg(test)]
mod tests {
    use tollhouse::tool::canonical::canonicalize;
    use tollhouse::tool::types::{Export, Field, FunctionKind, Resource};

    use super::*;

    fn function(params: Vec<Field>) -> Function {
        let export = Export { instance: None, function: "f".into() };
        let (path, kind) = (vec!["f".into()], FunctionKind::Free);
        Function { path, docs: None, params: params.into(), result: None, kind, export, schemas: None }
    }

    #[test]
    fn sample_arguments_of_every_type_pass_the_gate() {
        let cases = |names: &[&str], ty: Option<Type>| -> Members<Case> {
            names.iter().map(|name| Case::new(*name, ty.clone())).collect()
        };
        let number = || Box::new(Type::from(Shape::U8));
        let shapes = vec![
            Shape::Bool,
            Shape::S8,
            Shape::U64,
            Shape::F32,
            Shape::F64,
            Shape::Char,
            Shape::String,
            Shape::Bytes,
            Shape::List(number()),
            Shape::FixedList(number(), 3),
            Shape::Tuple(vec![Shape::U8.into(), Shape::Char.into()]),
            Shape::Record(Members::from(vec![Field::new("a-b", Shape::S64)])),
            Shape::Variant(cases(&["one", "two"], Some(Shape::String.into()))),
            Shape::Enum(cases(&["one", "two"], None)),
            Shape::Flags(cases(&["one", "two"], None)),
            Shape::Option(number()),
            Shape::Result { ok: None, err: Some(number()) },
            Shape::Map(Box::new(Shape::String.into()), number()),
        ];
        let params = shapes.into_iter().enumerate().map(|(at, shape)| Field::new(format!("p{at}"), shape)).collect();
        let function = function(params);
        let sample = arguments(&function).expect("each has one");
        canonicalize(&function, sample, u64::MAX).expect("they fit");
    }

    #[test]
    fn sample_arguments_that_need_a_handle_say_so() {
        let resource = Resource { instance: "i".into(), name: "counter".into() };
        let taken = function(vec![Field::new("c", Shape::List(Box::new(Shape::Own(resource.clone()).into())))]);
        assert_eq!(arguments(&taken), Ok(json!({ "c": [] })));
        let taken = function(vec![Field::new("self", Shape::Borrow(resource))]);
        assert_eq!(arguments(&taken), Err("it takes a handle of `counter`".to_owned()));
    }
}
