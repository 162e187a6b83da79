//! Names of tools in the shell: which words name which method.
//!
//! This module only handles names. The interface `catalog` of the WIT world provides parameters and help texts.

use std::collections::BTreeSet;

use crate::bindings::types::Tool;

/// Mounted tool, as the shell sees it.
pub(crate) struct Method {
    /// Canonical name of the tool, which is segments joined by `/`.
    pub(crate) name: String,
    /// True if a grant could allow a call of the tool.
    pub(crate) granted: bool,
    /// True if the tool is a program, which is run with streams.
    program: bool,
    /// True if the tool is an open namespace: any method that begins with this one can be called.
    pub(crate) open: bool,
    /// True if the alias of the tool is a command, and not only available through `tool`.
    command: bool,
    segments: Vec<String>,
}

/// List of all mounted tools, in the order of the host.
pub(crate) struct Methods(Vec<Method>);

impl Methods {
    pub(crate) fn new(tools: Vec<Tool>) -> Self {
        let method = |tool: Tool| Method {
            segments: tool.method.split('/').map(str::to_owned).collect(),
            name: tool.method,
            granted: tool.granted,
            program: tool.program,
            open: tool.open,
            command: tool.command,
        };
        Self(tools.into_iter().map(method).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Method> {
        self.0.iter()
    }

    /// Returns the aliases that are commands.
    pub(crate) fn aliases(&self) -> BTreeSet<&str> {
        let commands = self.0.iter().filter(|method| method.command);
        commands.filter_map(|method| method.segments.first()).map(String::as_str).collect()
    }

    /// Returns the programs that are commands.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|method| method.program && method.command).map(|method| method.name.as_str())
    }

    /// Returns true if the word is the alias of a tool, but not a command.
    pub(crate) fn lacks_command(&self, word: &str) -> bool {
        self.0.iter().any(|method| !method.command && method.begins_with(&[word]))
    }

    /// Finds the method that the longest sequence of words, from the first, names. Returns the method and the number of
    /// words.
    pub(crate) fn find(&self, words: &[&str]) -> Option<(&Method, usize)> {
        self.0
            .iter()
            .filter(|method| {
                method.segments.len() <= words.len() && method.begins_with(&words[..method.segments.len()])
            })
            .max_by_key(|method| method.segments.len())
            .map(|method| (method, method.segments.len()))
    }

    /// Returns how many of the words, from the first, are the beginning of a method, and that beginning in canonical
    /// form.
    pub(crate) fn beginning(&self, words: &[&str]) -> (usize, String) {
        (1..=words.len())
            .rev()
            .find_map(|count| {
                let method = self.0.iter().find(|method| method.begins_with(&words[..count]))?;
                Some((count, method.segments[..count].join("/")))
            })
            .unwrap_or_default()
    }

    /// Returns the segment nearest to `word` among those that may follow the beginning of a method.
    pub(crate) fn nearest(&self, beginning: &str, word: &str) -> Option<&str> {
        let depth = if beginning.is_empty() { 0 } else { beginning.split('/').count() };
        let follows =
            |method: &&Method| method.segments.len() > depth && method.segments[..depth].join("/") == beginning;
        self.0
            .iter()
            .filter(follows)
            .map(|method| method.segments[depth].as_str())
            .map(|segment| (strsim::jaro_winkler(segment, &kebab(word)), segment))
            .filter(|(likeness, _)| *likeness > ALIKE)
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, segment)| segment)
    }
}

/// Similarity (Jaro-Winkler, 0 to 1) from which on a name is suggested for an unknown one.
const ALIKE: f64 = 0.7;

impl Method {
    /// Returns the method that these words name in this namespace.
    pub(crate) fn below(&self, words: &[&str]) -> Self {
        let more = words.iter().map(|word| (*word).to_owned());
        let segments: Vec<String> = self.segments.iter().cloned().chain(more).collect();
        let name = segments.join("/");
        Self { name, granted: self.granted, program: false, open: true, command: self.command, segments }
    }

    /// Returns true if the words name the first segments, each in its own spelling or in one with the same kebab-case
    /// form.
    fn begins_with(&self, words: &[&str]) -> bool {
        self.segments.len() >= words.len()
            && self.segments.iter().zip(words).all(|(segment, word)| segment == word || *segment == kebab(word))
    }
}

/// Converts a camelCase or snake_case word to kebab-case.
fn kebab(word: &str) -> String {
    let mut kebab = String::with_capacity(word.len() + 4);
    let mut after_small = false;
    for character in word.chars() {
        if character.is_uppercase() && after_small {
            kebab.push('-');
        }
        after_small = character.is_lowercase() || character.is_ascii_digit();
        match character {
            '_' => kebab.push('-'),
            other => kebab.extend(other.to_lowercase()),
        }
    }
    kebab
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(names: &[&str]) -> Methods {
        let tool = |name: &&str| Tool {
            method: (*name).to_owned(),
            path: String::new(),
            granted: true,
            program: false,
            open: false,
            command: *name != "echo/say",
        };
        Methods::new(names.iter().map(tool).collect())
    }

    fn found(methods: &Methods, words: &[&str]) -> Option<(String, usize)> {
        methods.find(words).map(|(method, count)| (method.name.clone(), count))
    }

    #[test]
    fn the_longest_run_of_words_wins() {
        let methods = methods(&["pay", "pay/charges", "pay/charges/create"]);
        assert_eq!(found(&methods, &["pay", "charges", "create", "x"]), Some(("pay/charges/create".into(), 3)));
        assert_eq!(found(&methods, &["pay", "charges", "x"]), Some(("pay/charges".into(), 2)));
        assert_eq!(found(&methods, &["x"]), None);
    }

    #[test]
    fn other_spellings_name_kebab_segments_only() {
        let methods = methods(&["stats/linear-fit", "get_weather"]);
        assert!(found(&methods, &["stats", "linearFit"]).is_some());
        assert!(found(&methods, &["stats", "linear_fit"]).is_some());
        assert!(found(&methods, &["get_weather"]).is_some());
        assert!(found(&methods, &["get-weather"]).is_none());
    }

    #[test]
    fn alias_that_means_something_else_is_no_command() {
        let methods = methods(&["echo/say", "pay/charges"]);
        assert_eq!(methods.aliases(), BTreeSet::from(["pay"]));
        assert!(methods.lacks_command("echo") && !methods.lacks_command("pay") && !methods.lacks_command("cat"));
        assert_eq!(found(&methods, &["echo", "say"]), Some(("echo/say".into(), 2)));
    }

    #[test]
    fn an_unknown_word_has_a_nearest() {
        let methods = methods(&["pay/charges/create", "pay/refunds/create"]);
        assert_eq!(methods.beginning(&["pay", "chrages"]), (1, "pay".into()));
        assert_eq!(methods.nearest("pay", "chrages"), Some("charges"));
        assert_eq!(methods.nearest("pay", "zzz"), None);
        assert_eq!(methods.beginning(&["nothing"]), (0, String::new()));
    }
}
