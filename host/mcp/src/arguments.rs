//! Arguments of a tool call, checked against the names that the tool's schema has.

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::tool_error::ToolError;

/// Most characters of a value that an error quotes.
const MAX_QUOTED: usize = 40;

/// Similarity from which a name counts as a misspelling of another.
const SIMILAR: f64 = 0.6;

/// Arguments of a call, of which each is taken once.
pub(crate) struct Arguments {
    values: JsonObject,
}

impl Arguments {
    /// Checks the names of all arguments. Null counts as absent.
    ///
    /// # Errors
    /// If there is an argument that the tool does not have.
    pub(crate) fn new(given: Option<JsonObject>, known: &[&str]) -> Result<Self, ToolError> {
        let mut values = given.unwrap_or_default();
        if let Some(unknown) = values.keys().find(|name| !known.contains(&name.as_str())) {
            let error = ToolError::new(format!("there is no argument `{}`", excerpt(unknown)));
            return Err(match nearest(unknown, known.iter().copied()) {
                Some(near) => error.hint(format!("did you mean `{near}`? The arguments are {}", listed(known))),
                None if known.is_empty() => error.hint("this tool takes no arguments"),
                None => error.hint(format!("the arguments are {}", listed(known))),
            });
        }
        values.retain(|_, value| !value.is_null());
        Ok(Self { values })
    }

    /// Takes an optional string.
    ///
    /// # Errors
    /// If the argument is something else.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, ToolError> {
        match self.values.shift_remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a string", &other)),
        }
    }

    /// Takes a string that must be there.
    ///
    /// # Errors
    /// If the argument is absent or something else.
    pub(crate) fn required(&mut self, name: &str) -> Result<String, ToolError> {
        self.text(name)?.ok_or_else(|| ToolError::new(format!("the argument `{name}` is missing: it must be a string")))
    }

    /// Takes an optional whole number.
    ///
    /// # Errors
    /// If the argument is something else, or negative.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<u64>, ToolError> {
        let Some(value) = self.values.shift_remove(name) else { return Ok(None) };
        value.as_u64().map(Some).ok_or_else(|| wrong(name, "a whole number, 0 or more", &value))
    }

    /// Takes an argument that is true or false; false if it is absent.
    ///
    /// # Errors
    /// If the argument is something else.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, ToolError> {
        match self.values.shift_remove(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(wrong(name, "true or false", &other)),
        }
    }

    /// Takes an optional list of strings; a single string counts as a list of one.
    ///
    /// # Errors
    /// If the argument is something else.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, ToolError> {
        let Some(value) = self.values.shift_remove(name) else { return Ok(Vec::new()) };
        match &value {
            Value::String(text) => Ok(vec![text.clone()]),
            Value::Array(items) => items
                .iter()
                .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| wrong(name, "a list of strings", &value)))
                .collect(),
            _ => Err(wrong(name, "a list of strings", &value)),
        }
    }

    /// Takes an optional word out of a fixed set.
    ///
    /// # Errors
    /// If the argument is something else.
    pub(crate) fn word<'w>(&mut self, name: &str, words: &[&'w str]) -> Result<Option<&'w str>, ToolError> {
        let Some(given) = self.text(name)? else { return Ok(None) };
        words.iter().find(|word| **word == given).copied().map(Some).ok_or_else(|| {
            let error = ToolError::new(format!("`{name}` cannot be `{}`", excerpt(&given)));
            match nearest(&given, words.iter().copied()) {
                Some(near) => error.hint(format!("did you mean `{near}`? It is one of {}", listed(words))),
                None => error.hint(format!("it is one of {}", listed(words))),
            }
        })
    }
}

/// Returns the most similar name, if one is similar enough to be meant.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Names come from a client: comparing takes the product of the lengths.
    if name.len() > 200 {
        return None;
    }
    let scored = names.map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(score, _)| *score >= SIMILAR).map(|(_, known)| known)
}

/// Returns the beginning of a text that an error quotes.
pub(crate) fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_QUOTED).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_QUOTED).is_some() {
        short.push('…');
    }
    short
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn wrong(name: &str, expected: &str, given: &Value) -> ToolError {
    ToolError::new(format!("`{name}` must be {expected}, not `{}`", excerpt(&given.to_string())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(given: Value, known: &[&str]) -> Result<Arguments, ToolError> {
        Arguments::new(given.as_object().cloned(), known)
    }

    #[test]
    fn errors_say_the_right_form_and_the_nearest_name() {
        let said = |error: Option<ToolError>| error.map(|error| error.to_string()).unwrap_or_default();
        let unknown = arguments(json!({ "scirpt": "1" }), &["script", "session"]);
        assert_eq!(
            said(unknown.err()),
            "there is no argument `scirpt`\nhint: did you mean `script`? The arguments are `script`, `session`"
        );
        let mut given = arguments(
            json!({ "script": 5, "limit": -1, "action": "rolback", "paths": [1] }),
            &["script", "limit", "action", "paths"],
        )
        .expect("the names are known");
        assert_eq!(said(given.required("script").err()), "`script` must be a string, not `5`");
        assert_eq!(said(given.number("limit").err()), "`limit` must be a whole number, 0 or more, not `-1`");
        assert_eq!(said(given.texts("paths").err()), "`paths` must be a list of strings, not `[1]`");
        assert_eq!(
            said(given.word("action", &["rollback", "list"]).err()),
            "`action` cannot be `rolback`\nhint: did you mean `rollback`? It is one of `rollback`, `list`"
        );
        assert_eq!(said(given.required("script").err()), "the argument `script` is missing: it must be a string");
    }

    #[test]
    fn argument_null_is_absent_and_one_string_is_a_list() {
        let mut given = arguments(json!({ "a": null, "b": "x" }), &["a", "b"]).expect("the names are known");
        assert_eq!(given.text("a").expect("it is absent"), None);
        assert_eq!(given.texts("b").expect("it is a list"), ["x"]);
    }

    #[test]
    fn quoted_values_are_short_and_on_one_line() {
        assert_eq!(excerpt("a\nb"), "a\\nb");
        assert!(excerpt(&"x".repeat(1000)).chars().count() <= MAX_QUOTED + 1);
    }
}
