//! Functions, and arguments that match their types, or almost.

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};
use tollhouse::tool::types::{Case, Function, Members, Shape, Type};

use crate::shape;

/// Letters for the first line of the inputs of `canonical` and `words`: see `shape`. Types with parts are as frequent
/// as those without.
const LETTERS: &[u8] = b"bcsB12345678fFEGOWLXTRV?!MLTRV?!_abclm12312";

/// Largest depth of generated arguments.
const DEPTH: usize = 10;

/// Numbers and texts at the borders of ranges.
const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "-1",
    "-0.0",
    "127",
    "255",
    "65536",
    "2147483648",
    "9007199254740993",
    "18446744073709551615",
    "1e40",
    "0.1",
];
const TEXTS: [&str; 9] = ["", "a", "é", "💡", "QQ==", "QR==", "7", "NaN", "\u{0}"];

/// Generates the first line, which describes the types.
pub(super) fn types(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut line = vec![choices.int_in_range(b'0'..=b'4')?, choices.int_in_range(b'a'..=b'x')?];
    for _ in 0..choices.int_in_range(1..=12)? {
        line.push(*choices.choose(LETTERS)?);
    }
    line.push(b'\n');
    Ok(line)
}

/// Generates types, and JSON arguments.
pub(super) fn json(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut data = types(choices)?;
    let (function, _) = shape::function(&data);
    data.extend(arguments(&function, choices)?.to_string().into_bytes());
    Ok(data)
}

/// Generates types, and command-line words: each parameter by its name, with its value as JSON or as plain text.
pub(super) fn words(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut data = types(choices)?;
    let (function, _) = shape::function(&data);
    if choices.ratio(1, 4)? {
        data.extend(format!("--json\0{}", arguments(&function, choices)?).into_bytes());
        return Ok(data);
    }
    let mut words = Vec::new();
    for field in function.params.iter() {
        let value = value(&field.ty, 0, choices)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        words.push(match choices.int_in_range(0..=3)? {
            0 => format!("--{}={text}", field.name),
            1 => text,
            2 => format!("--{}", field.name),
            _ => format!("--{}\0{text}", field.name),
        });
    }
    data.extend(words.join("\0").into_bytes());
    Ok(data)
}

fn arguments(function: &Function, choices: &mut Unstructured<'_>) -> Result<Value> {
    let mut object = Map::new();
    for field in function.params.iter() {
        if !choices.ratio(1, 20)? {
            object.insert(spelled(&field.name, choices)?, value(&field.ty, 0, choices)?);
        }
    }
    Ok(Value::Object(object))
}

fn spelled(name: &str, choices: &mut Unstructured<'_>) -> Result<String> {
    Ok(match choices.int_in_range(0..=3)? {
        0 => name.replace('-', "_"),
        1 => tollhouse::tool::names::to_camel(name),
        _ => name.to_owned(),
    })
}

/// Generates a value of a type, or sometimes of another one.
fn value(ty: &Type, depth: usize, choices: &mut Unstructured<'_>) -> Result<Value> {
    if depth > DEPTH || choices.ratio(1, 24)? {
        return anything(choices);
    }
    let deeper = depth + 1;
    Ok(match &ty.shape {
        Shape::Bool => json!(choices.ratio(1, 2)?),
        Shape::Char | Shape::String | Shape::Bytes => json!(*choices.choose(&TEXTS)?),
        Shape::Enum(cases) => name(cases, choices)?,
        Shape::Flags(cases) => several(choices, |choices| name(cases, choices))?,
        Shape::Option(inner) if choices.ratio(1, 2)? => {
            let inner = value(inner, deeper, choices)?;
            if choices.ratio(1, 2)? { json!({ "tag": "some", "val": inner }) } else { inner }
        }
        Shape::Option(_) => Value::Null,
        Shape::List(inner) => several(choices, |choices| value(inner, deeper, choices))?,
        Shape::FixedList(inner, count) => {
            let items: Result<Vec<Value>> = (0..*count).map(|_| value(inner, deeper, choices)).collect();
            Value::Array(items?)
        }
        Shape::Tuple(types) => {
            let items: Result<Vec<Value>> = types.iter().map(|ty| value(ty, deeper, choices)).collect();
            Value::Array(items?)
        }
        Shape::Record(fields) => {
            let mut object = Map::new();
            for field in fields.iter() {
                object.insert(spelled(&field.name, choices)?, value(&field.ty, deeper, choices)?);
            }
            Value::Object(object)
        }
        Shape::Variant(cases) => {
            let cases: Vec<&Case> = cases.iter().collect();
            if cases.is_empty() {
                return anything(choices);
            }
            let case = *choices.choose(&cases)?;
            tagged(&spelled(&case.name, choices)?, case.ty.as_ref(), deeper, choices)?
        }
        Shape::Result { ok, err } => {
            let (tag, ty) = if choices.ratio(1, 2)? { ("ok", ok) } else { ("err", err) };
            tagged(tag, ty.as_deref(), deeper, choices)?
        }
        Shape::Map(key, inner) => {
            several(choices, |choices| Ok(json!([value(key, deeper, choices)?, value(inner, deeper, choices)?])))?
        }
        _ => number(choices)?,
    })
}

fn several(
    choices: &mut Unstructured<'_>,
    mut one: impl FnMut(&mut Unstructured<'_>) -> Result<Value>,
) -> Result<Value> {
    let items: Result<Vec<Value>> = (0..choices.int_in_range(0..=3)?).map(|_| one(choices)).collect();
    Ok(Value::Array(items?))
}

fn tagged(tag: &str, ty: Option<&Type>, depth: usize, choices: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match ty {
        Some(ty) => json!({ "tag": tag, "val": value(ty, depth, choices)? }),
        None => json!({ "tag": tag }),
    })
}

fn name(cases: &Members<Case>, choices: &mut Unstructured<'_>) -> Result<Value> {
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    if names.is_empty() { anything(choices) } else { Ok(json!(spelled(choices.choose(&names)?, choices)?)) }
}

fn number(choices: &mut Unstructured<'_>) -> Result<Value> {
    let text = *choices.choose(&NUMBERS)?;
    let number = serde_json::from_str(text).expect("it is JSON");
    Ok(if choices.ratio(1, 8)? { json!(text) } else { number })
}

fn anything(choices: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match choices.int_in_range(0..=5)? {
        0 => Value::Null,
        1 => json!([]),
        2 => json!({}),
        3 => json!(*choices.choose(&TEXTS)?),
        4 => json!({ "tag": "some" }),
        _ => number(choices)?,
    })
}
