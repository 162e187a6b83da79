//! `s` and `y`.
//!
//! The matches are walked here and not by the `regex` crate, which is what makes `s/x/y/3g` mean the third match and
//! those behind it.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::pattern::{FANCY_BACKTRACK_LIMIT, MatchSpan};
use super::super::script::{CaseChange, ReplacementPart, Substitution};
use super::Machine;
use super::space::empty_text;
use crate::commands::character_locale::{lower_character, upper_character};
use bashkit::limits::{BudgetedString, LimitExceeded};

impl Machine<'_> {
    pub(super) fn substitute(&mut self, substitution: &Substitution) -> Result<(), LimitExceeded> {
        let Some(regex) = self.resolve(&substitution.regex) else {
            return Ok(());
        };
        let most = if substitution.global { usize::MAX } else { substitution.occurrence };
        let matches = regex.matches(&self.pattern.text, most);
        if regex.given_up() {
            return Err(LimitExceeded::MaxLoopIterations(FANCY_BACKTRACK_LIMIT));
        }
        let replaced = matches.get(substitution.occurrence - 1..).unwrap_or_default();
        if replaced.is_empty() {
            return Ok(());
        }
        let old = &self.pattern.text;
        let mut text = empty_text(self.settings.budget.as_ref())?;
        let mut copied = 0;
        for found in replaced {
            text.try_push_str(&old[copied..found.start])?;
            expand(&substitution.parts, old, found, &mut text)?;
            copied = found.end;
        }
        text.try_push_str(&old[copied..])?;
        self.pattern.text = text;
        self.has_substituted = true;
        if substitution.print {
            self.print();
        }
        if let Some(file) = &substitution.file {
            self.write_to_file(file);
        }
        Ok(())
    }

    pub(super) fn transliterate(&mut self, map: &[(char, char)]) -> Result<(), LimitExceeded> {
        let mut text = empty_text(self.settings.budget.as_ref())?;
        for character in self.pattern.text.chars() {
            let mapped = map.iter().find(|(source, _)| *source == character);
            text.try_push(mapped.map_or(character, |(_, target)| *target))?;
        }
        self.pattern.text = text;
        Ok(())
    }
}

/// Case in which a replacement goes on.
#[derive(Clone, Copy)]
enum Case {
    Upper,
    Lower,
}

/// Changes of case that hold at a place in a replacement.
#[derive(Default)]
struct CaseState {
    /// Case of all characters, from `\U` or `\L` to `\E`.
    all: Option<Case>,
    /// Case of the next character, by `\u` or `\l`.
    one: Option<Case>,
}

impl CaseState {
    fn change(&mut self, change: CaseChange) {
        match change {
            CaseChange::Upper => *self = CaseState { all: Some(Case::Upper), one: None },
            CaseChange::Lower => *self = CaseState { all: Some(Case::Lower), one: None },
            CaseChange::End => *self = CaseState::default(),
            CaseChange::UpperOne => self.one = Some(Case::Upper),
            CaseChange::LowerOne => self.one = Some(Case::Lower),
        }
    }

    /// Appends text in its case.
    fn push(&mut self, text: &str, output: &mut BudgetedString) -> Result<(), LimitExceeded> {
        if self.all.is_none() && self.one.is_none() {
            return output.try_push_str(text);
        }
        for character in text.chars() {
            match self.one.take().or(self.all) {
                Some(Case::Upper) => output.try_push(upper_character(character))?,
                Some(Case::Lower) => output.try_push(lower_character(character))?,
                None => output.try_push(character)?,
            }
        }
        Ok(())
    }
}

/// Appends what replaces a match.
fn expand(
    parts: &[ReplacementPart],
    text: &str,
    found: &MatchSpan,
    output: &mut BudgetedString,
) -> Result<(), LimitExceeded> {
    let mut state = CaseState::default();
    for part in parts {
        match part {
            ReplacementPart::Literal(literal) => state.push(literal, output)?,
            ReplacementPart::Group(0) => state.push(&text[found.start..found.end], output)?,
            ReplacementPart::Group(number) => {
                if let Some((start, end)) = found.groups.get(number - 1).copied().flatten() {
                    state.push(&text[start..end], output)?;
                }
            }
            ReplacementPart::Case(change) => state.change(*change),
        }
    }
    Ok(())
}
