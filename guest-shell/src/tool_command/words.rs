//! Words of a command line: the name of a method, options of the command itself, and parameters.

use std::sync::LazyLock;

use serde_json::Value as Json;

use super::TOOL;
use crate::bindings::catalog;
use crate::catalog::Method;

/// Options for the call and its output.
#[derive(Default)]
pub(super) struct Options {
    pub(super) each: bool,
    pub(super) raw: bool,
    /// Remaining words, which are the parameters.
    pub(super) words: Vec<String>,
}

/// Request for help on the command, instead of running it.
pub(super) struct Help;

/// Special action of `tool` that needs no method.
pub(super) enum Special {
    Nothing,
    Usage,
    List,
    Budgets,
    Unknown(String),
}

/// Splits the words into the name of a method, and the words from the first option on.
pub(super) fn split_name<'a>(name: &str, arguments: &'a [String]) -> Result<(Vec<String>, &'a [String]), Special> {
    let is_option = |word: &String| word.starts_with('-');
    let (mut words, mut arguments) = (Vec::new(), arguments);
    let mut help = false;
    if name == TOOL {
        if arguments.first().is_some_and(|word| word == "--help") {
            help = true;
            arguments = &arguments[1..];
        }
        match arguments.split_first() {
            None if help => return Err(Special::Usage),
            None => return Err(Special::Nothing),
            Some((first, _)) if first == "--list" => return Err(Special::List),
            Some((first, _)) if first == "--budgets" => return Err(Special::Budgets),
            Some((first, _)) if is_option(first) => return Err(Special::Unknown(first.clone())),
            Some((first, rest)) => {
                words.extend(first.split(['.', '/']).map(str::to_owned));
                arguments = rest;
            }
        }
    } else {
        words.push(name.to_owned());
    }
    let count = arguments.iter().position(is_option).unwrap_or(arguments.len());
    words.extend_from_slice(&arguments[..count]);
    // `tool --help NAME` is equivalent to `tool NAME --help`.
    static HELP: LazyLock<[String; 1]> = LazyLock::new(|| ["--help".to_owned()]);
    Ok((words, if help { &HELP[..] } else { &arguments[count..] }))
}

/// Removes the options of this command from the words, unless the method has a parameter of that name.
pub(super) fn options(method: &Method, words: Vec<String>) -> Result<Options, Help> {
    let mut options = Options::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--help" => return Err(Help),
            "-r" => options.raw = true,
            "--raw" if !Parameters::of(method).has("raw") => options.raw = true,
            "--each" if !Parameters::of(method).has("each") => options.each = true,
            "--" => {
                options.words.push(word);
                options.words.extend(words.by_ref());
            }
            // The next word is the value, even if it looks like an option.
            "--json" => {
                options.words.push(word);
                options.words.extend(words.next());
            }
            _ => options.words.push(word),
        }
    }
    Ok(options)
}

/// Parameters of a method, according to its schema.
pub(super) struct Parameters(Json);

impl Parameters {
    pub(super) fn of(method: &Method) -> Self {
        let described = catalog::describe(&method.name).and_then(|text| serde_json::from_str(&text).ok());
        Self(described.unwrap_or_default())
    }

    fn has(&self, name: &str) -> bool {
        self.0.pointer("/parameters/properties").and_then(|properties| properties.get(name)).is_some()
    }

    pub(super) fn any(&self) -> bool {
        let properties = self.0.pointer("/parameters/properties").and_then(Json::as_object);
        // A schema that does not list its properties may still accept some.
        properties.is_none_or(|properties| !properties.is_empty())
    }

    pub(super) fn some_required(&self) -> bool {
        self.0.pointer("/parameters/required").and_then(Json::as_array).is_some_and(|required| !required.is_empty())
    }
}
