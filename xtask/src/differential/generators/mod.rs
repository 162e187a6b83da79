//! Generators of cases, one for each subject: most derive cases from a grammar, some are code.

use std::sync::OnceLock;

use anyhow::{Context, Result};

use super::case::TestCase;
use super::grammar::Grammar;
use super::random::CaseRandom;

/// Generator of the cases of one subject.
pub(crate) trait CaseGenerator: Sync {
    /// Returns the name of the subject on the command line.
    fn name(&self) -> &'static str;

    /// Generates a case that depends on the choices of `random` alone.
    fn generate(&self, random: &mut CaseRandom) -> TestCase;
}

/// Generator that derives cases from a grammar.
struct GrammarGenerator {
    name: &'static str,
    text: &'static str,
    /// True if the grammar is read together with the fixtures that several grammars share.
    common: bool,
    grammar: OnceLock<Grammar>,
}

impl CaseGenerator for GrammarGenerator {
    fn name(&self) -> &'static str {
        self.name
    }

    fn generate(&self, random: &mut CaseRandom) -> TestCase {
        self.grammar().derive(self.name, random)
    }
}

impl GrammarGenerator {
    fn grammar(&self) -> &Grammar {
        self.grammar.get_or_init(|| {
            let common = if self.common { include_str!("grammars/common.grammar") } else { "" };
            let parsed = Grammar::parse(&format!("{common}\n{}", self.text));
            parsed.unwrap_or_else(|error| panic!("the grammar `{}`: {error:#}", self.name))
        })
    }
}

/// Makes the list of grammar-based generators from the names of grammar files.
macro_rules! grammars {
    ($common:literal: $($name:literal),* $(,)?) => {
        [$(GrammarGenerator {
            name: $name,
            text: include_str!(concat!("grammars/", $name, ".grammar")),
            common: $common,
            grammar: OnceLock::new(),
        }),*]
    };
}

/// Grammars that use the shared fixtures.
static COMMANDS: [GrammarGenerator; 16] = grammars!(
    true: "shell", "awk", "bytes", "date", "ed", "files", "find", "grep", "patch", "printf", "programs", "sed", "sort", "syntax", "text", "zip",
);

/// Grammars of languages other than the shell's. Those of calculators embed their programs in here-documents.
static LANGUAGES: [GrammarGenerator; 5] = grammars!(false: "bc", "builtins", "dc", "jq", "js");

/// Returns the generators of all subjects.
pub(crate) fn all() -> Vec<&'static dyn CaseGenerator> {
    COMMANDS.iter().chain(&LANGUAGES).map(|grammar| grammar as &dyn CaseGenerator).collect()
}

/// Returns the generator with this name.
pub(crate) fn named(name: &str) -> Result<&'static dyn CaseGenerator> {
    let found = all().into_iter().find(|generator| generator.name() == name);
    found.with_context(|| format!("`{name}` is not a subject; there are {}", names()))
}

/// Returns the names of all generators, as text.
pub(crate) fn names() -> String {
    all().iter().map(|generator| generator.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, LANGUAGES};

    #[test]
    fn grammars_of_all_subjects_can_be_read() {
        for derived in COMMANDS.iter().chain(&LANGUAGES) {
            derived.grammar();
        }
    }
}
