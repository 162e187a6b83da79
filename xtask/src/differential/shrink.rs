//! Hierarchical delta debugging: looks for a smaller case that differs in the same aspects.

use std::collections::BTreeSet;

use anyhow::Result;

use super::case::TestCase;
use super::compare::{ComparisonVerdict, DifferenceAspect};
use super::sides::ComparedSides;

/// Largest number of rounds for one case. Each round accepts at least one simplification, so most cases need far fewer.
const ROUNDS: usize = 40;

/// Number of candidates that are run in parallel.
const ABREAST: usize = 16;

/// Number of candidates that are tried in one round before the case counts as minimal.
const TRIED: usize = 240;

/// Returns a smaller case that still differs, in all of these aspects or some of them.
pub(crate) fn shrink(case: &TestCase, aspects: &BTreeSet<DifferenceAspect>, sides: &ComparedSides) -> Result<TestCase> {
    let mut best = case.clone();
    for _ in 0..ROUNDS {
        let mut candidates = candidates(&best);
        candidates.truncate(TRIED);
        let Some(smaller) = first_that_differs(&candidates, aspects, sides)? else { break };
        best = smaller;
    }
    Ok(best)
}

fn first_that_differs(
    candidates: &[TestCase],
    aspects: &BTreeSet<DifferenceAspect>,
    sides: &ComparedSides,
) -> Result<Option<TestCase>> {
    for group in candidates.chunks(ABREAST) {
        let trials = sides.trials(&group.iter().collect::<Vec<_>>())?;
        let kept = group.iter().zip(trials).find(|(_, trial)| match &trial.verdict {
            ComparisonVerdict::Differs(found) => found.is_subset(aspects) && !found.is_empty(),
            ComparisonVerdict::Same | ComparisonVerdict::Void(_) => false,
        });
        if let Some((case, _)) = kept {
            return Ok(Some(case.clone()));
        }
    }
    Ok(None)
}

/// Returns all cases that are one simplification away, the largest simplifications first.
fn candidates(case: &TestCase) -> Vec<TestCase> {
    let mut found = Vec::new();
    for path in case.files.keys() {
        let mut copy = case.clone();
        copy.files.remove(path);
        found.push(copy);
    }
    if case.stdin.is_some() {
        found.push(TestCase { stdin: None, ..case.clone() });
    }
    if !case.arguments.is_empty() {
        found.push(TestCase { arguments: Vec::new(), ..case.clone() });
    }
    for name in case.env.keys() {
        let mut copy = case.clone();
        copy.env.remove(name);
        found.push(copy);
    }
    let scripts = case.script.simplifications().into_iter();
    // The script comes first: once statements are gone, most files are unused.
    let mut all: Vec<TestCase> = scripts.map(|script| TestCase { script, ..case.clone() }).collect();
    all.append(&mut found);
    for (path, file) in &case.files {
        for text in halves(&file.text) {
            let mut copy = case.clone();
            copy.file(path, text);
            all.push(copy);
        }
    }
    for stdin in case.stdin.iter().flat_map(|stdin| halves(stdin)) {
        all.push(TestCase { stdin: Some(stdin), ..case.clone() });
    }
    all
}

/// Returns the first and the second half of a text of several lines.
fn halves(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.len() < 2 {
        return Vec::new();
    }
    let (first, second) = lines.split_at(lines.len() / 2);
    vec![first.concat(), second.concat()]
}

#[cfg(test)]
mod tests {
    use super::{candidates, halves};
    use crate::differential::case::{Language, TestCase};
    use crate::differential::node::{DerivationNode, NodeKind};

    #[test]
    fn candidates_drop_statements_files_and_input() {
        let mut case = TestCase::new("shell", Language::Shell);
        case.statement(DerivationNode::plain(NodeKind::Command, "a"));
        case.statement(DerivationNode::plain(NodeKind::Command, "b"));
        case.file("f", "1\n2\n");
        case.stdin = Some("x".to_owned());
        let texts: Vec<String> = candidates(&case).iter().map(TestCase::text).collect();
        assert!(texts.contains(&"a\n".to_owned()) && texts.contains(&"b\n".to_owned()), "{texts:?}");
        assert!(candidates(&case).iter().any(|case| case.files.is_empty()));
        assert!(candidates(&case).iter().any(|case| case.stdin.is_none()));
    }

    #[test]
    fn halves_of_a_text_end_at_lines() {
        assert_eq!(halves("1\n2\n3"), ["1\n", "2\n3"]);
        assert!(halves("1\n").is_empty());
    }
}
