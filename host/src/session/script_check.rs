//! Static check of a script: its syntax, and the tools that it calls.

mod shell_words;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use self::shell_words::wrong_words;
use super::host::HostError;
use super::session_handle::Session;
use crate::error::{ErrorKind, Failure, Location};
use crate::gate::Gate;
use crate::guest::{Language, Mention, MentionedArguments};
use crate::remedy::Remedy;
use crate::tool::Tool;
use crate::tool::names::{Face, Spelling, nearest, taken_by, to_kebab};
use crate::tool::types::Named;

/// Most mentions that are checked per script: the guest, which is not trusted, reports at most as many.
const MAX_MENTIONS: usize = 1_000;

/// Most problems that are reported per script.
const MAX_PROBLEMS: usize = 100;

/// Properties that every function or object of JavaScript has, besides those of [`taken_by`].
const COMMON_PROPERTIES: [&str; 8] = ["apply", "bind", "call", "catch", "finally", "length", "name", "prototype"];

impl Session {
    /// Returns the problems of a script, in the order of its text. Nothing is run, and nothing is spent.
    ///
    /// A syntax error is reported alone. Otherwise the problems are calls of tools that do not exist, that no grant
    /// covers, or that get wrong arguments: in JavaScript other arguments than one object, or one with wrong keys; in bash
    /// words that the tool's command cannot read. In JavaScript also undefined names are reported. The extension of `name`, the
    /// script's name, tells TypeScript from JavaScript. Whatever a script computes (names, arguments, evaluated text)
    /// is left to its run, and to the gate.
    ///
    /// # Errors
    /// If the guest of the language cannot be loaded.
    pub fn check(&self, language: Language, source: &str, name: &str) -> Result<Vec<Failure>, HostError> {
        let guests = self.0.guests();
        if let Some(failure) = guests.syntax_error(language, source, name)? {
            // A shell that cannot parse its script ends with a status, or reports that the script is too long.
            let is_unread = matches!(failure.kind, ErrorKind::Exit | ErrorKind::Exception);
            let kind = if is_unread { ErrorKind::Syntax } else { failure.kind };
            return Ok(vec![Failure { kind, ..failure }]);
        }
        let checker = MentionChecker { gate: self.gate(), language };
        let mut seen = BTreeSet::new();
        let mentions = guests.mentions(language, source, name)?;
        let problems = mentions.iter().take(MAX_MENTIONS).filter_map(|mention| {
            let failure = checker.problem(mention)?;
            let location = location_of(mention, name, source);
            Some(Failure { location, ..failure })
        });
        // The same mistake made ten times is one problem.
        Ok(problems.filter(|problem| seen.insert(problem.message.clone())).take(MAX_PROBLEMS).collect())
    }
}

/// Returns the position of a mention, if it is known.
fn location_of(mention: &Mention, name: &str, script: &str) -> Option<Location> {
    let column = Some(mention.column).filter(|column| *column > 0);
    let mut location = Location { file: name.to_owned(), line: mention.line, column, source: None };
    location.quote(name, script);
    (mention.line > 0).then_some(location)
}

/// Compares a script's mentions with the tools and grants of its session.
struct MentionChecker<'s> {
    gate: &'s Gate,
    language: Language,
}

impl MentionChecker<'_> {
    fn problem(&self, mention: &Mention) -> Option<Failure> {
        match self.language {
            Language::JavaScript => self.in_javascript(mention),
            Language::Shell => self.in_shell(mention),
        }
    }

    fn in_javascript(&self, mention: &Mention) -> Option<Failure> {
        let path: Vec<&str> = mention.path.iter().map(String::as_str).collect();
        let tools = || self.gate.tools().iter();
        let is_root = |tool: &&Arc<Tool>| tool.path().split('.').next() == path.first().copied();
        if tools().find(is_root).is_none() {
            return self.undefined(path.first()?);
        }
        for length in (1..=path.len()).rev() {
            let called = path[..length].join(".");
            if let Some(tool) = tools().find(|tool| tool.path() == called) {
                let is_call = length == path.len();
                return self
                    .not_granted(tool)
                    .or_else(|| wrong_arguments(tool, &mention.arguments).filter(|_| is_call));
            }
        }
        let prefix = format!("{}.", path.join("."));
        let is_object = tools().any(|tool| tool.path().starts_with(&prefix));
        let last = path.last()?;
        let is_common_property =
            COMMON_PROPERTIES.contains(last) || taken_by(last, Spelling::Own, Face::Global).is_some();
        if is_object || (path.len() > 1 && is_common_property) {
            return None;
        }
        Some(no_such_tool(&path.join("."), tools().map(|tool| tool.path())))
    }

    /// Returns the failure of an undefined name.
    fn undefined(&self, name: &str) -> Option<Failure> {
        // No alias may have these names, so no tool can define them.
        if ["$", "arguments"].contains(&name) || taken_by(name, Spelling::Own, Face::Global).is_some() {
            return None;
        }
        let failure = Failure::new(ErrorKind::Exception, "ReferenceError", format!("{name} is not defined"));
        let roots = self.gate.tools().iter().filter_map(|tool| tool.path().split('.').next());
        let near = nearest(name, roots).map(|near| format!("did you mean `{near}`?"));
        Some(Failure { hint: near, ..failure })
    }

    fn in_shell(&self, mention: &Mention) -> Option<Failure> {
        let by_tool = mention.path.first().is_some_and(|name| name == "tool");
        let words: Vec<&str> = match &mention.path[..] {
            // `tool stats describe` and `tool stats.describe` mean `stats describe`.
            [_, first, rest @ ..] if by_tool => {
                first.split(['.', '/']).chain(rest.iter().map(String::as_str)).collect()
            }
            path => path.iter().map(String::as_str).collect(),
        };
        let alias = words.first()?;
        let is_command = |tool: &&Arc<Tool>| **tool.alias() == **alias && (by_tool || tool.has(Face::Command));
        self.gate.tools().iter().find(is_command)?;
        for length in (1..=words.len()).rev() {
            if let Some(tool) = self.named_in_shell(&words[..length]) {
                let loose = words[length..].iter().map(|word| (*word).to_owned());
                return self.not_granted(tool).or_else(|| match &mention.arguments {
                    MentionedArguments::Words(rest) => {
                        let words: Vec<String> = loose.chain(rest.iter().cloned()).collect();
                        wrong_words(tool, &words, self.gate.limits().memory)
                    }
                    _ => None,
                });
            }
        }
        let is_help = words.get(1).is_none_or(|word| *word == "help");
        let commands = self.gate.tools().iter().map(|tool| tool.command());
        if is_help { None } else { Some(no_such_tool(&words[..2].join(" "), commands)) }
    }

    /// Returns the tool that these words name, each as it is or in kebab-case.
    fn named_in_shell(&self, words: &[&str]) -> Option<&Arc<Tool>> {
        let is_named = |tool: &&Arc<Tool>| {
            let segments: Vec<&str> = tool.method().split('/').collect();
            let pairs = || segments.iter().zip(words);
            segments.len() == words.len()
                && pairs().all(|(segment, word)| segment == word || *segment == to_kebab(word))
        };
        self.gate.tools().iter().find(is_named)
    }

    fn not_granted(&self, tool: &Tool) -> Option<Failure> {
        let method = tool.method();
        if tool.is_open() || self.gate.grants(method) {
            return None;
        }
        let how = Remedy::Grant { method, is_program: tool.function().is_program() };
        Some(Failure::capability(format!("no grant allows `{method}`")).with_hint(how))
    }
}

fn no_such_tool<'t>(name: &str, known: impl Iterator<Item = &'t str>) -> Failure {
    let failure = Failure::argument(format!("there is no tool `{name}`"));
    match nearest(name, known) {
        Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
        None => failure,
    }
}

/// Returns the failure of a call in JavaScript whose arguments certainly do not fit.
fn wrong_arguments(tool: &Tool, arguments: &MentionedArguments) -> Option<Failure> {
    match arguments {
        MentionedArguments::Keys(keys) => wrong_keys(tool, keys),
        MentionedArguments::NoObject(given) => {
            let form = example(tool);
            let failure = Failure::argument(format!("`{}` takes one object, such as {form}; got {given}", tool.path()));
            let ToolParameters { names, .. } = ToolParameters::of(tool);
            Some(match &names[..] {
                [] => failure,
                names => failure.with_hint(format!("it takes {}", names.join(", "))),
            })
        }
        MentionedArguments::Unknown | MentionedArguments::Words(_) => None,
    }
}

/// Returns an example of a call with the required parameters of a tool, or else with all: `pay({amount: …, to: …})`.
fn example(tool: &Tool) -> String {
    let ToolParameters { names, required, .. } = ToolParameters::of(tool);
    let names = if required.is_empty() { names } else { required };
    let is_identifier = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "$_".contains(c));
    let key = |name: &&str| if is_identifier(name) { format!("{name}: …") } else { format!("{name:?}: …") };
    let mut shown: Vec<String> = names.iter().take(4).map(key).collect();
    if names.len() > 4 {
        shown.push("…".to_owned());
    }
    format!("{}({{{}}})", tool.path(), shown.join(", "))
}

/// Returns the failure of an object that has a key which is not a parameter of the tool, or lacks a required one.
fn wrong_keys(tool: &Tool, keys: &[String]) -> Option<Failure> {
    let ToolParameters { names, required, takes_more } = ToolParameters::of(tool);
    let mut given = Vec::new();
    for key in keys {
        // Parameters of components have several spellings.
        let of_wit = tool.function().params.find(key).map(Named::camel);
        match of_wit.or_else(|| names.iter().copied().find(|name| name == key)) {
            Some(name) => given.push(name),
            None if takes_more => {}
            None => {
                let failure = Failure::argument(format!("`{}`: there is no parameter `{key}`", tool.path()));
                return Some(failure.with_hint(match nearest(key, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if names.is_empty() => "it takes no parameters".to_owned(),
                    None => format!("it takes {}", names.join(", ")),
                }));
            }
        }
    }
    let missing = required.iter().find(|name| !given.contains(name))?;
    Some(Failure::argument(format!("`{}`: the parameter `{missing}` is missing", tool.path())))
}

/// Parameters of a tool, by their names in JavaScript.
struct ToolParameters<'t> {
    names: Vec<&'t str>,
    required: Vec<&'t str>,
    /// True if the tool takes parameters that it does not name.
    takes_more: bool,
}

impl<'t> ToolParameters<'t> {
    fn of(tool: &'t Tool) -> Self {
        let function = tool.function();
        let Some(schemas) = &function.schemas else {
            return Self {
                names: function.params.iter().map(Named::camel).collect(),
                required: function.params.iter().filter(|field| !field.is_optional()).map(Named::camel).collect(),
                takes_more: function.is_open(),
            };
        };
        let part = |keyword| schemas.parameters.get(keyword);
        let fields = part("properties").and_then(Value::as_object).into_iter().flatten();
        let required = part("required").and_then(Value::as_array).into_iter().flatten();
        Self {
            names: fields.map(|(name, _)| name.as_str()).collect(),
            required: required.filter_map(Value::as_str).collect(),
            takes_more: function.is_open(),
        }
    }
}
