//! Grammars as text: rules with alternatives, from which scripts are derived.
//!
//! A rule begins at the margin: its name, then its role for the shrinker (`item`, `word` or `command`; fixed if
//! absent), and `quiet` if its alternatives are not to be counted as causes. Its alternatives follow, one on each line,
//! indented by two spaces; the rest of the line is taken as it is. `<name>` in it is another rule, `<name*0-3>` repeats
//! the rule none to three times. Any other `<` is text. `¶` is a line break, `ε` nothing, and `@5 ` at the beginning
//! makes an alternative five times as likely. Lines that begin with `#` are comments.
//!
//! Rules with a meaning: `header` is the first line of each script, of text alone; `statement` is a line of the script,
//! `statements` how many there are (`2-4`), `stdin` the standard input of the cases that have one, `argument` an
//! argument, `file NAME` the contents of a file, `language` the language.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use super::case::{Language, TestCase};
use super::node::{DerivationNode, NodeKind, NodePart};
use super::random::CaseRandom;

/// Depth from which on a derivation takes only the alternatives that refer to the fewest rules.
const DEEP: usize = 9;
/// Size, in applied rules, from which on a derivation takes only the alternatives that refer to the fewest rules.
const LARGE: usize = 160;
/// Share of the cases with a standard input, in percent.
const WITH_STDIN: usize = 60;
/// Share of the cases with arguments, in percent.
const WITH_ARGUMENTS: usize = 30;

/// Grammar of one subject.
#[derive(Debug)]
pub(crate) struct Grammar {
    rules: BTreeMap<String, GrammarRule>,
}

#[derive(Debug)]
struct GrammarRule {
    kind: NodeKind,
    /// False for rules whose alternatives are not counted as causes of differences.
    counted: bool,
    alternatives: Vec<GrammarAlternative>,
}

#[derive(Debug)]
struct GrammarAlternative {
    weight: usize,
    /// The alternative as it was written, for reports.
    text: String,
    symbols: Vec<GrammarSymbol>,
}

#[derive(Debug)]
enum GrammarSymbol {
    Text(String),
    Rule { name: String, least: usize, most: usize },
}

impl Grammar {
    /// Reads a grammar from its text.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut rules: BTreeMap<String, GrammarRule> = BTreeMap::new();
        let mut current: Option<String> = None;
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            if let Some(alternative) = line.strip_prefix("  ") {
                let rule = current.as_ref().and_then(|name| rules.get_mut(name));
                rule.context("an alternative before the first rule")?
                    .alternatives
                    .push(GrammarAlternative::parse(alternative));
                continue;
            }
            let (name, rule) = header(line)?;
            if rules.insert(name.clone(), rule).is_some() {
                bail!("the rule `{name}` is there twice");
            }
            current = Some(name);
        }
        let names: Vec<String> = rules.keys().cloned().collect();
        for (name, rule) in &mut rules {
            if rule.alternatives.is_empty() {
                bail!("the rule `{name}` has no alternatives");
            }
            rule.alternatives.iter_mut().for_each(|alternative| alternative.resolve(&names));
        }
        let grammar = Self { rules };
        grammar.rules.get("statement").context("a grammar needs a rule `statement`")?;
        Ok(grammar)
    }

    /// Derives a random case.
    pub(crate) fn derive(&self, subject: &'static str, random: &mut CaseRandom) -> TestCase {
        let language = self.literal("language").map_or(Language::Shell, |name| match name {
            "js" => Language::JavaScript,
            _ => Language::Shell,
        });
        let mut case = TestCase::new(subject, language);
        let mut size = 0;
        let mut rendered = |name: &str, random: &mut CaseRandom| {
            Some(self.apply(self.rules.get(name)?, name, 0, &mut size, random).render())
        };
        for name in self.rules.keys().filter(|name| name.starts_with("file ")) {
            let contents = rendered(name, random).unwrap_or_default();
            case.file(name.trim_start_matches("file "), contents);
        }
        if random.chance(WITH_STDIN) {
            case.stdin = rendered("stdin", random);
        }
        if random.chance(WITH_ARGUMENTS) {
            case.arguments = (0..random.between(1, 3)).filter_map(|_| rendered("argument", random)).collect();
        }
        if let Some(header) = self.literal("header") {
            case.script.parts.push(NodePart::Node(DerivationNode::plain(NodeKind::Fixed, format!("{header}\n"))));
        }
        let (least, most) = self.literal("statements").and_then(range).unwrap_or((1, 3));
        for _ in 0..random.between(least, most) {
            let mut size = 0;
            case.statement(self.apply(&self.rules["statement"], "statement", 0, &mut size, random));
        }
        case
    }

    /// Returns the text of a rule with a single alternative that refers to no other rule.
    fn literal(&self, name: &str) -> Option<&str> {
        Some(self.rules.get(name)?.alternatives.first()?.text.as_str())
    }

    fn apply(
        &self,
        rule: &GrammarRule,
        name: &str,
        depth: usize,
        size: &mut usize,
        random: &mut CaseRandom,
    ) -> DerivationNode {
        *size += 1;
        let small = depth >= DEEP || *size >= LARGE;
        let alternative = rule.choose(small, random);
        let mut node = DerivationNode::new(rule.kind, format!("{name}: {}", alternative.text.trim()));
        if !rule.counted {
            node.feature = None;
        }
        for symbol in &alternative.symbols {
            match symbol {
                GrammarSymbol::Text(text) => node.parts.push(NodePart::Text(text.clone())),
                GrammarSymbol::Rule { name, least, most } => {
                    let times = if small { *least } else { random.between(*least, *most) };
                    for _ in 0..times {
                        node.parts.push(NodePart::Node(self.apply(&self.rules[name], name, depth + 1, size, random)));
                    }
                }
            }
        }
        node
    }
}

impl GrammarRule {
    fn choose(&self, small: bool, random: &mut CaseRandom) -> &GrammarAlternative {
        let least = self.alternatives.iter().map(GrammarAlternative::references).min().unwrap_or(0);
        let fits = |alternative: &&GrammarAlternative| !small || alternative.references() == least;
        let total = self.alternatives.iter().filter(fits).map(|alternative| alternative.weight).sum();
        let mut drawn = random.below(total);
        for alternative in self.alternatives.iter().filter(fits) {
            if drawn < alternative.weight {
                return alternative;
            }
            drawn -= alternative.weight;
        }
        &self.alternatives[0]
    }
}

impl GrammarAlternative {
    fn parse(line: &str) -> Self {
        let weighted = line.strip_prefix('@').and_then(|rest| rest.split_once(' '));
        let weighted = weighted.and_then(|(weight, text)| Some((weight.parse().ok()?, text)));
        let (weight, text) = weighted.unwrap_or((1, line));
        let text = text.replace('¶', "\n").replace('ε', "");
        Self { weight, symbols: vec![GrammarSymbol::Text(text.clone())], text }
    }

    /// Splits the text of each alternative at its references to existing rules.
    fn resolve(&mut self, names: &[String]) {
        let (mut symbols, mut plain, mut rest) = (Vec::new(), String::new(), self.text.as_str());
        while let Some(at) = rest.find('<') {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            let reference =
                from[1..].split_once('>').and_then(|(inner, after)| Some((reference(inner, names)?, after)));
            rest = match reference {
                Some((symbol, after)) => {
                    symbols.push(GrammarSymbol::Text(std::mem::take(&mut plain)));
                    symbols.push(symbol);
                    after
                }
                None => {
                    plain.push('<');
                    &from[1..]
                }
            };
        }
        plain.push_str(rest);
        symbols.push(GrammarSymbol::Text(plain));
        symbols.retain(|symbol| !matches!(symbol, GrammarSymbol::Text(text) if text.is_empty()));
        self.symbols = symbols;
    }

    fn references(&self) -> usize {
        self.symbols.iter().filter(|symbol| matches!(symbol, GrammarSymbol::Rule { least: 1.., .. })).count()
    }
}

/// Parses the text between `<` and `>`.
fn reference(inner: &str, names: &[String]) -> Option<GrammarSymbol> {
    let (name, (least, most)) = match inner.split_once('*') {
        Some((name, times)) => (name, range(times)?),
        None => (inner, (1, 1)),
    };
    names.iter().any(|known| known == name).then(|| GrammarSymbol::Rule { name: name.to_owned(), least, most })
}

fn range(text: &str) -> Option<(usize, usize)> {
    let (least, most) = text.trim().split_once('-')?;
    Some((least.parse().ok()?, most.parse().ok()?))
}

/// Parses the first line of a rule.
fn header(line: &str) -> Result<(String, GrammarRule)> {
    let mut rule = GrammarRule { kind: NodeKind::Fixed, counted: true, alternatives: Vec::new() };
    let mut words = line.split_whitespace();
    let mut name = words.next().unwrap_or_default().to_owned();
    if name == "file" {
        name = format!("file {}", words.next().context("`file` needs a path")?);
    }
    for word in words {
        match word {
            "item" => rule.kind = NodeKind::Item,
            "word" => rule.kind = NodeKind::Word,
            "command" => rule.kind = NodeKind::Command,
            "quiet" => rule.counted = false,
            _ => bail!("`{word}` is no role of a rule, in `{line}`"),
        }
    }
    Ok((name, rule))
}

#[cfg(test)]
mod tests {
    use super::Grammar;
    use crate::differential::random::CaseRandom;

    const GRAMMAR: &str = "\
# Sorts.
statements
  2-2
statement command
  sort<option*0-2> < <path>
option item
   -n
   -k<key>
key word
  1
  2
file f
  b¶a¶
path quiet
  f
";

    #[test]
    fn grammar_derives_statements_files_and_features() {
        let grammar = Grammar::parse(GRAMMAR).expect("it is a grammar");
        let case = grammar.derive("sort", &mut CaseRandom::new("sort", 1, 4));
        assert_eq!(case.files["f"].text, "b\na\n");
        let text = case.text();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.lines().all(|line| line.starts_with("sort") && line.ends_with(" < f")), "{text}");
        assert!(case.features().contains("statement: sort<option*0-2> < <path>"), "{:?}", case.features());
    }

    #[test]
    fn grammar_without_statement_or_with_a_rule_twice_is_refused() {
        assert!(Grammar::parse("a\n  b\n").is_err());
        assert!(Grammar::parse("statement\n  b\nstatement\n  c\n").is_err());
        assert!(Grammar::parse("  b\n").is_err());
    }
}
