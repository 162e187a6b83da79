//! Functions on strings, and conversions between values and text.

use super::failure::Failure;
use super::formats::{Format, text};
use super::literal::number;
use super::number::Number;
use super::operators::split;
use super::reader::read_one;
use super::term::NativeFn;
use super::value::Val;
use super::writer::compact;

type Given = Result<Val, Failure>;

/// Names, numbers of arguments, functions.
pub(crate) const TABLE: &[(&str, usize, NativeFn)] = &[
    ("tojson", 0, |_, input, _| Ok(Val::string(compact(&input)))),
    ("tostring", 0, |_, input, _| Ok(if input.as_str().is_some() { input } else { Val::string(text(&input)) })),
    ("fromjson", 0, |_, input, _| match input.as_str() {
        Some(text) => read_one(text).map_err(Failure::new),
        None => Err(Failure::about(&input, "only strings can be parsed")),
    }),
    ("tonumber", 0, |_, input, _| to_number(input)),
    ("toboolean", 0, |_, input, _| match &input {
        Val::Bool(_) => Ok(input),
        Val::Str(text) if text.as_str() == "true" => Ok(Val::Bool(true)),
        Val::Str(text) if text.as_str() == "false" => Ok(Val::Bool(false)),
        _ => Err(Failure::about(&input, "cannot be parsed as a boolean")),
    }),
    ("format", 1, |_, input, arguments| match arguments[0].as_str() {
        Some(name) => Ok(Val::string(Format::named(name).apply(&input)?)),
        None => Err(Failure::about(&arguments[0], "is not a valid format")),
    }),
    ("explode", 0, |_, input, _| match input.as_str() {
        Some(text) => Ok(text.chars().map(|it| Val::from(f64::from(u32::from(it)))).collect()),
        None => Err(Failure::new("explode input must be a string")),
    }),
    ("implode", 0, |_, input, _| implode(&input)),
    ("utf8bytelength", 0, |_, input, _| match input.as_str() {
        Some(text) => Ok(Val::from(text.len())),
        None => Err(Failure::about(&input, "only strings have UTF-8 byte length")),
    }),
    ("split", 1, |_, input, arguments| match (input.as_str(), arguments[0].as_str()) {
        (Some(text), Some(separator)) => Ok(split(text, separator)),
        _ => Err(Failure::new("split input and separator must be strings")),
    }),
    ("startswith", 1, |_, input, arguments| match (input.as_str(), arguments[0].as_str()) {
        (Some(text), Some(start)) => Ok(Val::Bool(text.starts_with(start))),
        _ => Err(Failure::new("startswith() requires string inputs")),
    }),
    ("endswith", 1, |_, input, arguments| match (input.as_str(), arguments[0].as_str()) {
        (Some(text), Some(end)) => Ok(Val::Bool(text.ends_with(end))),
        _ => Err(Failure::new("endswith() requires string inputs")),
    }),
    ("trim", 0, |_, input, _| trimmed(&input, str::trim_matches)),
    ("ltrim", 0, |_, input, _| trimmed(&input, str::trim_start_matches)),
    ("rtrim", 0, |_, input, _| trimmed(&input, |text, blank| text.trim_end_matches(blank))),
    ("_strindices", 1, |_, input, arguments| occurrences(&input, &arguments[0])),
];

fn to_number(input: Val) -> Given {
    match &input {
        Val::Num(_) => return Ok(input),
        Val::Str(text) => {
            if let Some(value) = number(text) {
                return Ok(value);
            }
        }
        _ => {}
    }
    Err(Failure::about(&input, "cannot be parsed as a number"))
}

fn implode(input: &Val) -> Given {
    let Val::Arr(array) = input else { return Err(Failure::new("implode input must be an array")) };
    let mut text = String::new();
    for code in &array.0 {
        let Some(value) = code.as_f64().filter(|value| !value.is_nan()) else {
            return Err(Failure::about(code, "can't be imploded, unicode codepoint needs to be numeric"));
        };
        let point = if (0.0..=1_114_111.0).contains(&value) { char::from_u32(value as u32) } else { None };
        text.push(point.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Ok(Val::string(text))
}

type Blank = fn(char) -> bool;

fn trimmed(input: &Val, trim: fn(&str, Blank) -> &str) -> Given {
    let blank: Blank = char::is_whitespace;
    match input.as_str() {
        Some(text) => Ok(Val::from(trim(text, blank))),
        None => Err(Failure::new("trim input must be a string")),
    }
}

/// Returns the positions, counted in characters, at which a text occurs within another one.
fn occurrences(whole: &Val, part: &Val) -> Given {
    let Some(whole) = whole.as_str() else {
        return Err(Failure::about(whole, "cannot be searched, as it is not a string"));
    };
    let Some(part) = part.as_str() else { return Err(Failure::about(part, "is not a string")) };
    let mut found = Vec::new();
    if part.is_empty() {
        return Ok(Val::array(found));
    }
    let (mut from, mut before, mut counted) = (0, 0, 0);
    while let Some(at) = whole.get(from..).and_then(|rest| rest.find(part)).map(|at| at + from) {
        before += whole[counted..at].chars().count();
        counted = at;
        found.push(Val::Num(Number::from(before as f64)));
        from = at + whole[at..].chars().next().map_or(1, char::len_utf8);
    }
    Ok(Val::array(found))
}
