//! Command-line arguments: words become the one JSON object that a function takes, by the types of its parameters.
//!
//! This module decides the meaning of a word; `canonical` then checks whether it fits, as for every other caller. It is
//! independent of shells: words are already split, and the caller handles `--help` and standard input.
//!
//! - `--amount 500`, `--amount=500`. A word that begins with `--` is a value only after `=`.
//! - `--dry-run`, `--no-dry-run`, `--dry-run=false` for a bool.
//! - `--value 1 --value 2`, or `--value '[1,2]'`, for a list. Commas split nothing.
//! - `--charge.amount 5` for a field of a record; `--charge '{"amount": 5}'` for the whole.
//! - Strings, characters, bytes (base64) and handles are taken as they are, enums and cases without payload by name.
//! - `--json '{…}'` is the whole object; flags override it. A parameter that is called `json` is only reached inside
//!   it.
//! - A function with exactly one required parameter takes its value without a flag too: `markdown to-html '# Hi'`. For
//!   a list of such values it takes many. `--` ends the flags.

use serde_json::{Map, Value};

use super::canonical::{self, ArgumentError, on_one_line, shorten, show};
use super::names;
use super::types::{Field, Function, Members, Shape, Type};

/// Reason why words are not valid arguments, in one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordsError {
    /// No parameter has the name of a flag.
    #[error("unknown flag `{flag}`{}", nearest.as_ref().map_or_else(String::new, |near| format!(", did you mean `{near}`?")))]
    UnknownFlag {
        /// The flag as written.
        flag: String,
        /// The flag that was perhaps meant.
        nearest: Option<String>,
    },
    /// A flag lacks the value that it needs.
    #[error("`{flag}` needs a value: {expected} (`{flag}=…` if it begins with `--`)")]
    NoValue {
        /// The flag as written.
        flag: String,
        /// Description of valid values.
        expected: String,
    },
    /// The value of a flag does not fit.
    #[error("`{flag}`: expected {expected}, got {got}")]
    Value {
        /// The flag, perhaps with a place in its value: `--items[2].price`.
        flag: String,
        /// Description of valid values.
        expected: String,
        /// Value that was given.
        got: String,
    },
    /// A flag is given more than once.
    #[error("`{flag}` is given more than once")]
    Repeated {
        /// The flag as written.
        flag: String,
    },
    /// A required flag is missing.
    #[error("`{flag}` is missing: {expected}; usage: {usage}")]
    Missing {
        /// Name of the flag.
        flag: String,
        /// Description of valid values.
        expected: String,
        /// Usage of the function: `--amount <u32> [--note <string>]`.
        usage: String,
    },
    /// A word belongs to no flag.
    #[error("unexpected word `{word}`; usage: {usage}")]
    Unexpected {
        /// The word as written, shortened.
        word: String,
        /// Usage of the function.
        usage: String,
    },
    /// The value of `--json` is not a JSON object.
    #[error("`--json` takes one JSON object: {message}")]
    Json {
        /// Description of the error.
        message: String,
    },
    /// A part of a value does not fit.
    #[error("{0}")]
    Argument(#[from] ArgumentError),
}

/// Converts words to canonical arguments.
///
/// # Errors
/// The first problem, in one line that names the flag.
pub fn parse_words(function: &Function, words: &[String], memory: u64) -> Result<Value, WordsError> {
    let arguments = Value::Object(object(function, words)?);
    canonical::canonicalize(function, arguments, memory).map_err(|error| in_flags(function, error))
}

/// Converts words to an object, without checking that it fits.
///
/// # Errors
/// The first word without a meaning, in one line that names the flag.
pub fn object(function: &Function, words: &[String]) -> Result<Map<String, Value>, WordsError> {
    WordParser::new(function).parse(words)
}

/// Describes the usage of a function: `--amount <u32> [--note <string>]`.
#[must_use]
pub fn usage(params: &[Field]) -> String {
    let mut parts = Vec::with_capacity(params.len());
    for field in params {
        let flag = form(field, "");
        parts.push(if field.is_optional() { format!("[{flag}]") } else { flag });
    }
    if parts.is_empty() { "no flags".to_owned() } else { parts.join(" ") }
}

/// Describes a flag with its value: `--amount <u32>`, `--[no-]dry-run`, `--value <f64>…` if it may be repeated.
pub(crate) fn form(field: &Field, prefix: &str) -> String {
    let name = &field.name;
    match bare(&field.ty) {
        Shape::Bool => format!("--[no-]{prefix}{name}"),
        Shape::List(inner) | Shape::FixedList(inner, _) => format!("--{prefix}{name} <{}>…", placeholder(inner)),
        Shape::Flags(_) => format!("--{prefix}{name} <{}>…", placeholder(&field.ty)),
        _ => format!("--{prefix}{name} <{}>", placeholder(&field.ty)),
    }
}

/// Returns true if a flag of this type may be repeated to add values.
pub(crate) fn grows(ty: &Type) -> bool {
    matches!(bare(ty), Shape::List(_) | Shape::FixedList(..) | Shape::Flags(_))
}

/// Returns one word for the value of a flag: `u32`, `string`, `red|green`, `json`.
fn placeholder(ty: &Type) -> String {
    match bare(ty) {
        Shape::Bytes => "base64".to_owned(),
        Shape::Enum(cases) | Shape::Flags(cases) if cases.len() <= 6 => {
            cases.iter().map(|case| case.name.as_str()).collect::<Vec<_>>().join("|")
        }
        Shape::Enum(_) | Shape::Flags(_) => "name".to_owned(),
        Shape::Own(_) | Shape::Borrow(_) => "handle".to_owned(),
        shape if is_scalar(shape) => shape.word().to_owned(),
        _ => "json".to_owned(),
    }
}

fn is_scalar(shape: &Shape) -> bool {
    matches!(shape, Shape::Bool | Shape::F32 | Shape::F64 | Shape::Char | Shape::String)
        || canonical::bounds(shape).is_some()
}

/// Returns the type without the options around it.
fn bare(ty: &Type) -> &Shape {
    match &ty.shape {
        Shape::Option(inner) => bare(inner),
        shape => shape,
    }
}

/// Rewrites an error of the arguments in terms of flags.
fn in_flags(function: &Function, error: ArgumentError) -> WordsError {
    let flag = |path: &str| {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (camel, rest) = path.split_at(end);
        let name = function.params.find(camel).map_or(camel, |field| field.name.as_str());
        format!("--{name}{rest}")
    };
    match error {
        ArgumentError::Mismatch { path, expected, got } => WordsError::Value { flag: flag(&path), expected, got },
        ArgumentError::Missing { path, expected } => {
            WordsError::Missing { flag: flag(&path), expected, usage: usage(&function.params) }
        }
        ArgumentError::Twice { path, .. } => WordsError::Repeated { flag: flag(&path) },
        other => WordsError::Argument(other),
    }
}

struct WordParser<'f> {
    function: &'f Function,
    object: Map<String, Value>,
    /// Flags already given, by the path that they set: lists are extended, any other repetition is an error.
    given: Vec<String>,
    /// Words that belong to no flag.
    loose: Vec<String>,
}

impl<'f> WordParser<'f> {
    fn new(function: &'f Function) -> Self {
        Self { function, object: Map::new(), given: Vec::new(), loose: Vec::new() }
    }

    fn parse(mut self, words: &[String]) -> Result<Map<String, Value>, WordsError> {
        // `--json` first, wherever it is: flags override it.
        self.json(words)?;
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                self.loose.extend(rest.by_ref().cloned());
            } else if let Some(flag) = word.strip_prefix("--") {
                let (name, value) = match flag.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (flag, None),
                };
                let next = rest.as_slice().first().filter(|next| !next.starts_with("--")).map(String::as_str);
                if name == "json" {
                    if value.is_none() {
                        rest.next();
                    }
                } else if self.flag(name, value, next)? {
                    rest.next();
                }
            } else {
                self.loose.push(word.clone());
            }
        }
        self.place_loose()?;
        Ok(self.object)
    }

    /// Finds and parses `--json`.
    fn json(&mut self, words: &[String]) -> Result<(), WordsError> {
        let flags = words.split(|word| word == "--").next().unwrap_or_default();
        let mut seen = false;
        for (at, word) in flags.iter().enumerate() {
            let text = match word.strip_prefix("--json") {
                Some("") => flags.get(at + 1).map(String::as_str).ok_or_else(|| WordsError::NoValue {
                    flag: "--json".to_owned(),
                    expected: "one JSON object".to_owned(),
                })?,
                Some(rest) if rest.starts_with('=') => rest.get(1..).unwrap_or_default(),
                _ => continue,
            };
            if seen {
                return Err(WordsError::Repeated { flag: "--json".to_owned() });
            }
            seen = true;
            match serde_json::from_str(text) {
                Ok(Value::Object(object)) => self.object = object,
                Ok(other) => return Err(WordsError::Json { message: format!("got {}", show(&other)) }),
                Err(error) => return Err(WordsError::Json { message: error.to_string() }),
            }
        }
        Ok(())
    }

    /// Parses one flag. Returns true if it used up the next word.
    fn flag(&mut self, name: &str, value: Option<&str>, next: Option<&str>) -> Result<bool, WordsError> {
        let flag = format!("--{name}");
        let Some(path) = self.path(name) else {
            if self.function.is_open() && !name.is_empty() {
                return self.undeclared(name, value, next);
            }
            return self.negated(name, value).ok_or_else(|| self.unknown(name))?.map(|()| false);
        };
        let Some(field) = path.last() else {
            return Err(self.unknown(name));
        };
        if let (Shape::Bool, None) = (bare(&field.ty), value) {
            if matches!(next, Some("true" | "false")) {
                let expected = format!("nothing, or `{flag}=true` or `{flag}=false`");
                return Err(WordsError::Value { flag, expected, got: next.unwrap_or_default().to_owned() });
            }
            self.set(&path, &flag, Value::Bool(true))?;
            return Ok(false);
        }
        let text =
            value.or(next).ok_or_else(|| WordsError::NoValue { flag: flag.clone(), expected: field.ty.describe() })?;
        self.set(&path, &flag, word_value(&field.ty, text))?;
        Ok(value.is_none())
    }

    /// Returns the fields along a name with dots.
    fn path(&self, name: &str) -> Option<Vec<&'f Field>> {
        let mut fields = Some(&self.function.params);
        let mut path = Vec::new();
        for part in name.split('.') {
            let field = fields?.find(part)?;
            path.push(field);
            fields = match bare(&field.ty) {
                Shape::Record(fields) => Some(fields),
                _ => None,
            };
        }
        Some(path)
    }

    /// Parses an undeclared flag: its value is JSON or a string; without a value it is true.
    fn undeclared(&mut self, name: &str, value: Option<&str>, next: Option<&str>) -> Result<bool, WordsError> {
        let given = value.or(next).map_or(Value::Bool(true), parsed);
        if self.given.iter().any(|given| given == name) {
            return Err(WordsError::Repeated { flag: format!("--{name}") });
        }
        self.given.push(name.to_owned());
        self.object.insert(name.to_owned(), given);
        Ok(value.is_none() && next.is_some())
    }

    /// Recognises `--no-dry-run` for a bool that is called `dry-run`.
    fn negated(&mut self, name: &str, value: Option<&str>) -> Option<Result<(), WordsError>> {
        let positive = name.strip_prefix("no-").filter(|_| value.is_none())?;
        let path =
            self.path(positive).filter(|path| path.last().is_some_and(|f| matches!(bare(&f.ty), Shape::Bool)))?;
        Some(self.set(&path, &format!("--{name}"), Value::Bool(false)))
    }

    fn unknown(&self, name: &str) -> WordsError {
        let known = self.function.params.iter().map(|field| field.name.as_str()).chain(["json"]);
        let nearest = names::nearest(name, known).map(|near| format!("--{near}"));
        WordsError::UnknownFlag { flag: format!("--{}", unknown_flag(name)), nearest }
    }

    /// Sets the value at a path. A list that is given again is extended.
    fn set(&mut self, path: &[&Field], flag: &str, value: Value) -> Result<(), WordsError> {
        let Some((last, outer)) = path.split_last() else {
            return Ok(());
        };
        let place: Vec<&str> = path.iter().map(|field| field.camel.as_str()).collect();
        let place = place.join(".");
        let again = self.given.contains(&place);
        if again && !grows(&last.ty) {
            return Err(WordsError::Repeated { flag: flag.to_owned() });
        }
        let mut object = &mut self.object;
        for field in outer {
            let inner = entry(object, field);
            if !inner.is_object() {
                // Null or nothing: the record begins here. Another value is checked with the rest.
                *inner = Value::Object(Map::new());
            }
            let Value::Object(inner) = inner else {
                return Ok(());
            };
            object = inner;
        }
        let slot = entry(object, last);
        match (slot, value) {
            (Value::Array(items), Value::Array(more)) if again => items.extend(more),
            (slot, value) => *slot = value,
        }
        if !again {
            self.given.push(place);
        }
        Ok(())
    }

    /// Assigns words without a flag to the only required parameter.
    fn place_loose(&mut self) -> Result<(), WordsError> {
        let Some(first) = self.loose.first() else {
            return Ok(());
        };
        let usage = usage(&self.function.params);
        let mut required = self.function.params.iter().filter(|field| !field.is_optional());
        let only = required.next().filter(|field| required.next().is_none() && !matches!(field.ty.shape, Shape::Bool));
        let takes_many = only.is_some_and(|field| matches!(field.ty.shape, Shape::List(_) | Shape::Flags(_)));
        let fits = only.filter(|_| takes_many || self.loose.len() == 1);
        let Some(field) = fits else {
            let stray = if only.is_some() { self.loose.get(1).unwrap_or(first) } else { first };
            return Err(WordsError::Unexpected { word: on_one_line(&shorten(stray)), usage });
        };
        if self.given.contains(&field.camel) {
            return Err(WordsError::Repeated { flag: format!("--{}", field.name) });
        }
        for word in std::mem::take(&mut self.loose) {
            let value = word_value(&field.ty, &word);
            self.set(&[field], &format!("--{}", field.name), value)?;
        }
        Ok(())
    }
}

fn unknown_flag(name: &str) -> String {
    on_one_line(&shorten(name))
}

/// Returns the entry of a field under its canonical key, whatever spelling `--json` used; null if there is none.
fn entry<'o>(object: &'o mut Map<String, Value>, field: &Field) -> &'o mut Value {
    let spelled = object.keys().find(|key| **key != field.camel && names::is_spelling_of(key, &field.name)).cloned();
    if let Some(value) = spelled.and_then(|key| object.shift_remove(&key)) {
        object.entry(field.camel.as_str()).or_insert(value);
    }
    object.entry(field.camel.as_str()).or_insert(Value::Null)
}

/// Converts a word to a value of this type. A word without a meaning for the type stays a string, and is refused with
/// the rest.
fn word_value(ty: &Type, word: &str) -> Value {
    let verbatim = || Value::String(word.to_owned());
    match &ty.shape {
        Shape::String | Shape::Char | Shape::Own(_) | Shape::Borrow(_) | Shape::Enum(_) => verbatim(),
        Shape::Bytes if word.starts_with('[') => parsed(word),
        Shape::Bytes => verbatim(),
        Shape::Bool => match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => verbatim(),
        },
        Shape::Option(inner) if word == "null" && !takes_text(inner) => Value::Null,
        Shape::Option(inner) if inner.is_nullable() => {
            let mut some = Map::new();
            some.insert("tag".to_owned(), Value::String("some".to_owned()));
            some.insert("val".to_owned(), word_value(inner, word));
            Value::Object(some)
        }
        Shape::Option(inner) => word_value(inner, word),
        Shape::List(inner) | Shape::FixedList(inner, _) => match list_of(inner, word) {
            Some(items) => Value::Array(items),
            None => Value::Array(vec![word_value(inner, word)]),
        },
        Shape::Flags(cases) => match list_of(&Type::from(Shape::Enum(cases.clone())), word) {
            Some(items) => Value::Array(items),
            None => Value::Array(vec![verbatim()]),
        },
        Shape::Variant(cases) if cases.find(word).is_some_and(|case| case.ty.is_none()) => {
            let mut object = Map::new();
            object.insert("tag".to_owned(), verbatim());
            Value::Object(object)
        }
        Shape::Json => undeclared(word),
        _ => parsed(word),
    }
}

/// Returns true if any word can be a value of this type.
fn takes_text(ty: &Type) -> bool {
    match bare(ty) {
        Shape::String => true,
        Shape::Enum(cases) => cases.find("null").is_some(),
        Shape::List(inner) => takes_text(inner),
        _ => false,
    }
}

/// Returns the elements, if a word is a JSON array of them. The array must hold strings if the elements accept any text
/// (`[draft]` is a string like another), and arrays if the elements are arrays: `[1,2]` is one point, not two.
fn list_of(inner: &Type, word: &str) -> Option<Vec<Value>> {
    if !word.trim_start().starts_with('[') {
        return None;
    }
    let Ok(Value::Array(items)) = serde_json::from_str(word) else {
        return None;
    };
    let elements = match bare(inner) {
        Shape::List(_) | Shape::FixedList(..) | Shape::Tuple(_) => items.iter().all(Value::is_array),
        Shape::Bytes => items.iter().all(|item| item.is_array() || item.is_string()),
        _ => !takes_text(inner) || items.iter().all(Value::is_string),
    };
    elements.then_some(items)
}

/// Parses a word as JSON, or returns it as a string.
fn parsed(word: &str) -> Value {
    serde_json::from_str(word).unwrap_or_else(|_| Value::String(word.to_owned()))
}

/// Parses a word of which no type is declared. Digits of an integer that a float would round stay a string.
fn undeclared(word: &str) -> Value {
    let is_integer = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match parsed(word) {
        Value::Number(number) if is_integer && number.is_f64() => Value::String(word.to_owned()),
        value => value,
    }
}

/// Returns the fields of a record that can be given as flags with dots.
pub(crate) fn dotted(field: &Field) -> Option<&Members<Field>> {
    match bare(&field.ty) {
        Shape::Record(fields) => Some(fields),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
