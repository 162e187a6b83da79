//! One generated case: a script, its input, its files and its environment.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::node::{DerivationNode, NodeKind, NodePart};

/// Language of a script, which also decides which program is the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Language {
    /// GNU bash, run as `bash -c SCRIPT`.
    #[default]
    Shell,
    /// Node.js, run on a module file.
    JavaScript,
}

impl Language {
    /// Returns the value of `lang` in a job of `tollhouse batch`.
    fn name(self) -> &'static str {
        match self {
            Self::Shell => "sh",
            Self::JavaScript => "js",
        }
    }
}

/// File that exists before the script starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FixtureFile {
    /// Contents of the file.
    pub(crate) text: String,
    /// Permission bits of the file.
    pub(crate) mode: u32,
}

/// Generated script with its files and input.
#[derive(Debug, Clone)]
pub(crate) struct TestCase {
    /// Subject, seed and index: enough to generate the case again.
    pub(crate) id: String,
    /// Name of the generator.
    pub(crate) subject: &'static str,
    /// Language of the script.
    pub(crate) language: Language,
    /// Derivation of the script. Its children are the statements.
    pub(crate) script: DerivationNode,
    /// Standard input; empty if `None`.
    pub(crate) stdin: Option<String>,
    /// Files by their path below the working directory.
    pub(crate) files: BTreeMap<String, FixtureFile>,
    /// Arguments, which a shell script is given by `set --`.
    pub(crate) arguments: Vec<String>,
    /// Environment variables in addition to those that every case has.
    pub(crate) env: BTreeMap<String, String>,
}

impl TestCase {
    /// Returns a case with an empty script.
    pub(crate) fn new(subject: &'static str, language: Language) -> Self {
        Self {
            id: String::new(),
            subject,
            language,
            script: DerivationNode { kind: NodeKind::Fixed, feature: None, parts: Vec::new() },
            stdin: None,
            files: BTreeMap::new(),
            arguments: Vec::new(),
            env: BTreeMap::new(),
        }
    }

    /// Appends a statement on a line of its own. The shrinker may remove it.
    pub(crate) fn statement(&mut self, node: DerivationNode) {
        let line = DerivationNode {
            kind: NodeKind::Item,
            feature: None,
            parts: vec![NodePart::Node(node), NodePart::Text("\n".to_owned())],
        };
        self.script.parts.push(NodePart::Node(line));
    }

    /// Adds a file with the mode 644.
    pub(crate) fn file(&mut self, path: &str, text: impl Into<String>) {
        self.files.insert(path.to_owned(), FixtureFile { text: text.into(), mode: 0o644 });
    }

    /// Returns the text that both sides run.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        if !self.arguments.is_empty() && self.language == Language::Shell {
            let words: Vec<String> = self.arguments.iter().map(|word| quoted(word)).collect();
            text = format!("set -- {}\n", words.join(" "));
        }
        text + &self.script.render()
    }

    /// Returns the productions that the case was derived by, including those of its input.
    pub(crate) fn features(&self) -> BTreeSet<String> {
        let mut features = self.script.features();
        if self.stdin.is_some() {
            features.insert("stdin".to_owned());
        }
        features
    }

    /// Returns the case as a job of `tollhouse batch`, a form that the reference's worker reads too.
    pub(crate) fn job(&self) -> Value {
        let files: BTreeMap<&str, &str> = self.files.iter().map(|(path, file)| (&**path, &*file.text)).collect();
        let modes: BTreeMap<&str, String> =
            self.files.iter().map(|(path, file)| (&**path, format!("{:o}", file.mode))).collect();
        let mut job = json!({
            "id": self.id, "lang": self.language.name(), "script": self.text(), "files": files, "modes": modes,
            "env": environment(&self.env),
        });
        if let Some(stdin) = &self.stdin {
            job["stdin"] = stdin.as_str().into();
        }
        job
    }
}

/// Returns the environment of both sides: the variables that every case has, and those of this case.
fn environment(own: &BTreeMap<String, String>) -> BTreeMap<&str, &str> {
    let common = [("LC_ALL", "C.UTF-8"), ("TZ", "UTC")];
    common.into_iter().chain(own.iter().map(|(name, value)| (&**name, &**value))).collect()
}

/// Quotes a word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
