//! Completions for Tab: commands that begin with a dot, tools, files.

use std::collections::BTreeSet;
use std::sync::Arc;

use tollhouse::vfs::{Kind, Tree};

use super::super::run::Lang;
use super::command::{COMMANDS, absolute};

/// Most completions that are offered: a screen full.
const MOST: usize = 200;

/// Globals of JavaScript that scripts call besides tools.
const GLOBALS: [&str; 13] = [
    "Buffer",
    "JSON",
    "Math",
    "Object",
    "budgets",
    "console",
    "fetch",
    "fs",
    "listTools",
    "process",
    "require",
    "shell",
    "state",
];

/// Mounted tool.
pub(super) struct ToolCompletion {
    /// Canonical method: `payments/charges/create`.
    pub(super) method: String,
    /// Path in JavaScript: `payments.charges.create`.
    pub(super) path: String,
    /// True if its alias is a command of the shell.
    pub(super) is_command: bool,
    /// Options on a command line: `--amount`.
    pub(super) options: Vec<String>,
}

/// Sources of completions.
pub(super) struct CompletionSources {
    pub(super) lang: Lang,
    pub(super) tools: Arc<[ToolCompletion]>,
    pub(super) files: Option<Tree>,
    /// Directory in which relative paths start.
    pub(super) place: String,
}

/// Completions of a word, and the position where it starts. Each replaces the whole word.
pub(super) type Offers = (usize, Vec<String>);

impl CompletionSources {
    /// Returns completions of the word before the cursor.
    pub(super) fn offers(&self, before: &str) -> Offers {
        let (start, mut offers) = if before.starts_with('.') {
            self.commands(before)
        } else if self.lang.is_shell() {
            self.shell(before)
        } else {
            self.script(before)
        };
        offers.truncate(MOST);
        (start, offers)
    }

    fn commands(&self, before: &str) -> Offers {
        let Some((name, rest)) = before.split_once(' ') else {
            let fits = COMMANDS.iter().filter(|(name, ..)| name.starts_with(before));
            // A command that takes an argument is followed by a space.
            let named = fits.map(|(name, takes, _)| format!("{name}{}", if takes.is_empty() { "" } else { " " }));
            return (0, named.collect());
        };
        let start = before.len() - rest.len();
        let offers = match name {
            ".lang" => having(["js", "sh", "ts"], rest),
            ".history" => having(["off", "on"], rest),
            ".tools" => having(self.tools.iter().map(|tool| tool.method.as_str()), rest),
            ".cat" | ".files" => self.paths(rest),
            _ => Vec::new(),
        };
        (start, offers)
    }

    /// Completes a path inside a string, and elsewhere a tool or another global, up to its next dot.
    fn script(&self, before: &str) -> Offers {
        if let Some(start) = string_start(before) {
            return (start, self.paths(&before[start..]));
        }
        let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$' | '.');
        let start = before
            .rfind(|char| !is_part(char))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        let names = self.tools.iter().map(|tool| tool.path.as_str()).chain(GLOBALS);
        let mut offers: BTreeSet<String> = BTreeSet::new();
        for name in names.filter(|name| name.starts_with(word)) {
            let end = name[word.len()..].find('.').map_or(name.len(), |at| word.len() + at + 1);
            offers.insert(name[..end].to_owned());
        }
        (start, offers.into_iter().collect())
    }

    /// Completes the first word of a command to a tool's alias, and later ones to the tool's path and its options;
    /// otherwise to a file.
    fn shell(&self, before: &str) -> Offers {
        let command = before.rfind(['|', ';', '&', '(', '\n']).map_or(before, |at| &before[at + 1..]);
        let command = command.trim_start();
        let start = word_start(before);
        let word = &before[start..];
        let words: Vec<&str> = command.split_whitespace().collect();
        let commands = || self.tools.iter().filter(|tool| tool.is_command);
        let done = if word.is_empty() { words.as_slice() } else { &words[..words.len().saturating_sub(1)] };
        let mut offers = BTreeSet::new();
        if done.is_empty() {
            offers.extend(having(commands().map(alias).chain(["tool"]), word));
        } else if done == ["tool"] {
            offers.extend(having(self.tools.iter().map(|tool| tool.method.as_str()), word));
        } else {
            for tool in commands() {
                let segments: Vec<&str> = tool.method.split('/').collect();
                if segments.len() > done.len() && segments.starts_with(done) {
                    offers.extend(having([segments[done.len()]], word));
                } else if done.starts_with(&segments) && word.starts_with('-') {
                    offers.extend(having(tool.options.iter().map(String::as_str), word));
                }
            }
        }
        if offers.is_empty() || (done.is_empty() && word.contains('/')) {
            return (start, self.paths(&unescaped(word)).iter().map(|path| escaped(path)).collect());
        }
        (start, offers.into_iter().collect())
    }

    /// Returns the paths with this prefix, relative or absolute as it is; directories with a slash.
    fn paths(&self, word: &str) -> Vec<String> {
        let Some(files) = &self.files else { return Vec::new() };
        let (directory, name) = word.rsplit_once('/').map_or(("", word), |(above, name)| (&word[..=above.len()], name));
        let place = absolute(&self.place, directory);
        let Ok(entries) = files.read_directory(&place) else { return Vec::new() };
        let mut paths = Vec::new();
        for entry in entries {
            let hidden = entry.name.starts_with('.') && !name.starts_with('.');
            // Names that would affect a terminal are not written to it.
            if hidden || !entry.name.starts_with(name) || entry.name.contains(char::is_control) {
                continue;
            }
            let full = format!("{}/{}", place.trim_end_matches('/'), entry.name);
            let is_directory = files.stat(&full, true).is_ok_and(|stat| stat.kind == Kind::Directory);
            paths.push(format!("{directory}{}{}", entry.name, if is_directory { "/" } else { "" }));
        }
        paths
    }
}

fn alias(tool: &ToolCompletion) -> &str {
    tool.method.split('/').next().unwrap_or(&tool.method)
}

/// Returns the names with this prefix.
fn having<'a>(names: impl IntoIterator<Item = &'a str>, word: &str) -> Vec<String> {
    names.into_iter().filter(|name| name.starts_with(word)).map(str::to_owned).collect()
}

/// Returns the start of the string that is open at the end of a JavaScript text, if any.
fn string_start(text: &str) -> Option<usize> {
    let mut open: Option<(char, usize)> = None;
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match (open, char) {
            (Some(_), '\\') => drop(chars.next()),
            (Some((quote, _)), _) if quote == char => open = None,
            (None, '"' | '\'' | '`') => open = Some((char, at + 1)),
            _ => {}
        }
    }
    open.map(|(_, start)| start)
}

/// Characters that end a word in bash unless they are quoted.
const SPECIAL: &[char] = &[
    ' ', '\t', '\n', '"', '\'', '\\', '$', '`', '&', '|', ';', '<', '>', '(', ')', '*', '?', '[', ']', '{', '}', '!',
    '#',
];

/// Returns the start of the last word of a bash text.
fn word_start(text: &str) -> usize {
    let mut start = 0;
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            ' ' | '\t' | '\n' | '"' | '\'' | '|' | ';' | '&' | '(' | '<' | '>' | '=' => start = at + 1,
            _ => {}
        }
    }
    start
}

fn escaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for char in word.chars() {
        if SPECIAL.contains(&char) {
            text.push('\\');
        }
        text.push(char);
    }
    text
}

fn unescaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut chars = word.chars();
    while let Some(char) = chars.next() {
        text.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    text
}

#[cfg(test)]
mod tests {
    use tollhouse::vfs::{Limits, WriteMode};

    use super::*;

    fn known(lang: Lang) -> CompletionSources {
        let mut files = Tree::new(Limits::default(), 0);
        for path in ["/workspace/notes.txt", "/workspace/a b.txt", "/workspace/.hidden", "/tmp/x"] {
            files.write(path, b"", WriteMode::Replace, 0).expect("there is room");
        }
        files.create_directory("/workspace/data", false, 0).expect("there is room");
        let tools = [
            ("stats/describe", "stats.describe"),
            ("pay/charges/create", "pay.charges.create"),
            ("echo/say", "echo.say"),
            ("crypto/say", "crypto_say"),
        ];
        let tools = tools.map(|(method, path)| ToolCompletion {
            method: method.to_owned(),
            path: path.to_owned(),
            is_command: !method.starts_with("echo"),
            options: vec!["--amount".to_owned(), "--currency".to_owned()],
        });
        CompletionSources { lang, tools: tools.into(), files: Some(files), place: "/workspace".to_owned() }
    }

    fn offers(lang: Lang, before: &str) -> Vec<String> {
        let (start, offers) = known(lang).offers(before);
        offers.into_iter().map(|offer| format!("{}{offer}", &before[..start])).collect()
    }

    #[test]
    fn completion_in_javascript_offers_matching_names() {
        assert_eq!(offers(Lang::Js, "await sta"), ["await state", "await stats."]);
        assert_eq!(offers(Lang::Js, "x(stats."), ["x(stats.describe"]);
        assert_eq!(offers(Lang::Ts, "pay."), ["pay.charges."]);
        assert_eq!(offers(Lang::Js, "é+pay.charges.c"), ["é+pay.charges.create"]);
        assert_eq!(offers(Lang::Js, "fs.readFile('no"), ["fs.readFile('notes.txt"]);
        assert_eq!(offers(Lang::Js, "fs.readFile(\"/tm"), ["fs.readFile(\"/tmp/"]);
        assert_eq!(offers(Lang::Js, "f('it\\'s', 'd"), ["f('it\\'s', 'data/"]);
        assert_eq!(offers(Lang::Js, "nothing.lik"), [""; 0]);
        assert_eq!(offers(Lang::Js, "crypto"), ["crypto_say"]);
    }

    #[test]
    fn completion_in_bash_offers_matching_names() {
        assert_eq!(offers(Lang::Sh, "st"), ["stats"]);
        assert_eq!(offers(Lang::Sh, "echo | pay "), ["echo | pay charges"]);
        assert_eq!(offers(Lang::Sh, "pay charges cr"), ["pay charges create"]);
        assert_eq!(offers(Lang::Sh, "pay charges create --c"), ["pay charges create --currency"]);
        assert_eq!(offers(Lang::Sh, "tool pa"), ["tool pay/charges/create"]);
        assert_eq!(offers(Lang::Sh, "tool ec"), ["tool echo/say"]);
        assert_eq!(offers(Lang::Sh, "ech"), [""; 0]);
        assert_eq!(offers(Lang::Sh, "echo s"), [""; 0]);
        assert_eq!(offers(Lang::Sh, "cat n"), ["cat notes.txt"]);
        assert_eq!(offers(Lang::Sh, "cat a"), ["cat a\\ b.txt"]);
        assert_eq!(offers(Lang::Sh, "cat a\\ "), ["cat a\\ b.txt"]);
        assert_eq!(offers(Lang::Sh, "cat < ../tmp/"), ["cat < ../tmp/x"]);
        assert_eq!(offers(Lang::Sh, "cat .h"), ["cat .hidden"]);
    }

    #[test]
    fn completion_of_dot_commands_offers_names_and_arguments() {
        assert_eq!(offers(Lang::Js, ".h"), [".help", ".history "]);
        assert_eq!(offers(Lang::Js, ".cat no"), [".cat notes.txt"]);
        assert_eq!(offers(Lang::Sh, ".tools st"), [".tools stats/describe"]);
        assert_eq!(offers(Lang::Sh, ".lang "), [".lang js", ".lang sh", ".lang ts"]);
    }
}
