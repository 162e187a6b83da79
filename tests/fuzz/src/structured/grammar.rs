//! Texts by a grammar: what a parser takes, and nearly takes.
//!
//! A line of a grammar is a name, a colon, and one way to write what is called so; `<name>` stands for something, `\n`
//! for an end of line, `\l` for a `<`. The first way of each must come to an end by itself: it is taken when a text gets
//! deep or long.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};

/// Depth at which a text comes to its end, and its approximate length.
const DEPTH: usize = 12;
const LENGTH: usize = 2000;

/// A grammar that has been read.
pub(super) struct Grammar(BTreeMap<&'static str, Vec<&'static str>>);

impl Grammar {
    pub(super) fn read(text: &'static str) -> Self {
        let mut ways: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (name, way) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
            ways.entry(name).or_default().push(way);
        }
        Self(ways)
    }

    /// Makes a text by the rule `start`.
    pub(super) fn text(&self, choices: &mut Unstructured<'_>) -> Result<String> {
        let mut text = String::new();
        self.write("start", 0, choices, &mut text)?;
        Ok(text)
    }

    fn write(&self, name: &str, depth: usize, choices: &mut Unstructured<'_>, text: &mut String) -> Result<()> {
        let ways = self.0.get(name).unwrap_or_else(|| panic!("the grammar does not say what `{name}` is"));
        let deep = depth > DEPTH || text.len() > LENGTH;
        let mut rest = if deep { ways[0] } else { *choices.choose(ways)? };
        while let Some((before, after)) = rest.split_once('<') {
            let (name, after) = after.split_once('>').unwrap_or_else(|| panic!("`<{after}` is no name"));
            text.push_str(&literal(before));
            self.write(name, depth + 1, choices, text)?;
            rest = after;
        }
        text.push_str(&literal(rest));
        Ok(())
    }
}

fn literal(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\l", "<")
}
