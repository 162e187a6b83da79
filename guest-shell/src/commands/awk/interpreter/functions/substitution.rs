//! `sub`, `gsub` and `gensub`.
//!
//! - In a replacement `&` is the match, and `\&` a literal `&`. Backslashes in front of `&` count by pairs; elsewhere
//!   they stay, but for four, which are two (`gsub(/x/, "\\\\")` makes two): what gawk does without `--posix`. In `gensub`
//!   they always count by pairs, `\0` to `\9` are groups, and other letters lose their backslash.
//! - An empty match right behind another match is skipped, as in gawk: `gsub(/b*/, "-", "abc")` makes `-a-c-`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::Arc;

use super::super::super::ast::Expr;
use super::super::super::regex::AwkRegex;
use super::super::super::value::Value;
use super::super::splitter::next_character;
use super::super::{Evaluation, Interpreter, Place};

/// Bounds of a group that took part in a match.
type Group = Option<(usize, usize)>;

/// Choice of the matches that are replaced.
#[derive(Clone, Copy)]
enum Chosen {
    All,
    Nth(usize),
}

/// Substitution in a text.
struct Substitution {
    regex: Arc<AwkRegex>,
    replacement: String,
    chosen: Chosen,
    /// The replacement may name groups, as `gensub`'s may.
    has_groups: bool,
}

impl Substitution {
    /// Returns the groups of the first match at or behind a position; the first group is the whole match.
    fn find(&self, text: &str, position: usize) -> Option<Vec<Group>> {
        match self.has_groups {
            true => self.regex.captures_at(text, position),
            false => self.regex.find_at(text, position).map(|bounds| vec![Some(bounds)]),
        }
    }

    /// Appends what replaces a match.
    fn expand(&self, text: &str, groups: &[Group], output: &mut String) {
        let group = |index: usize| groups.get(index).copied().flatten().map_or("", |(start, end)| &text[start..end]);
        let mut rest = self.replacement.as_str();
        while !rest.is_empty() {
            let behind = rest.trim_start_matches('\\');
            let backslashes = rest.len() - behind.len();
            let letter = behind.chars().next();
            rest = &behind[letter.map_or(0, char::len_utf8)..];
            let by_pairs = self.has_groups || letter == Some('&');
            let (kept, is_escaped) = match by_pairs {
                true => (backslashes / 2, backslashes % 2 == 1),
                false => (backslashes / 4 * 2 + backslashes % 4, false),
            };
            output.extend(std::iter::repeat_n('\\', kept));
            match letter {
                Some('&') if !is_escaped => output.push_str(group(0)),
                Some(digit @ '0'..='9') if is_escaped => output.push_str(group(digit as usize - '0' as usize)),
                Some(letter) => output.push(letter),
                None if is_escaped => output.push('\\'),
                None => {}
            }
        }
    }
}

impl Interpreter {
    /// Replaces in a variable, a field or the record: `sub` and `gsub`. Returns how many matches were replaced.
    pub(super) async fn substitute(&mut self, is_global: bool, arguments: &[Expr]) -> Evaluation<Value> {
        let substitution = Substitution {
            regex: self.regex_operand(&arguments[0]).await?,
            replacement: self.eval_text(&arguments[1]).await?,
            chosen: if is_global { Chosen::All } else { Chosen::Nth(1) },
            has_groups: false,
        };
        let (place, text) = self.substitution_target(arguments.get(2)).await?;
        let (changed, count) = self.replace_matches(&substitution, &text)?;
        if count > 0
            && let Some(place) = place
        {
            self.store(place, Value::Str(changed))?;
        }
        Ok(Value::Num(count as f64))
    }

    /// Returns the text of a target, and its place unless it is a mere value.
    async fn substitution_target(&mut self, target: Option<&Expr>) -> Evaluation<(Option<Place>, String)> {
        let place = match target {
            None => Place::Field(0),
            Some(target) if is_place(target) => self.place(target).await?,
            Some(value) => return Ok((None, self.eval_text(value).await?)),
        };
        self.reach(&place)?;
        let value = self.load(&place)?;
        Ok((Some(place), self.text_of(&value)))
    }

    /// Returns a text with replacements: `gensub`.
    pub(super) async fn gensub(&mut self, arguments: &[Expr]) -> Evaluation<Value> {
        let regex = self.regex_operand(&arguments[0]).await?;
        let replacement = self.eval_text(&arguments[1]).await?;
        let chosen = self.eval(&arguments[2]).await?;
        let text = match arguments.get(3) {
            Some(text) => self.eval_text(text).await?,
            None => {
                let record = self.field(0)?;
                self.text_of(&record)
            }
        };
        let chosen = if self.text_of(&chosen).starts_with(['g', 'G']) {
            Chosen::All
        } else {
            let number = chosen.to_num();
            Chosen::Nth(if number >= 1.0 { number as usize } else { 1 })
        };
        let substitution = Substitution { regex, replacement, chosen, has_groups: true };
        let (changed, _) = self.replace_matches(&substitution, &text)?;
        Ok(Value::Str(changed))
    }

    /// Returns a text with replacements, and how many there are. The length is checked as the result grows.
    fn replace_matches(&mut self, substitution: &Substitution, text: &str) -> Evaluation<(String, usize)> {
        let mut output = String::new();
        let (mut position, mut copied) = (0, 0);
        let (mut match_count, mut replaced) = (0, 0);
        let mut last_end: Option<usize> = None;
        while position <= text.len() {
            let Some(groups) = substitution.find(text, position) else { break };
            let Some((start, end)) = groups[0] else { break };
            let is_empty = start == end;
            position = if is_empty { next_character(text, start) } else { end };
            if is_empty && last_end == Some(start) {
                continue;
            }
            match_count += 1;
            if matches!(substitution.chosen, Chosen::Nth(chosen) if match_count < chosen) {
                last_end = if is_empty { last_end } else { Some(end) };
                continue;
            }
            output.push_str(&text[copied..start]);
            substitution.expand(text, &groups, &mut output);
            copied = end;
            replaced += 1;
            self.string_fits(output.len())?;
            if matches!(substitution.chosen, Chosen::Nth(_)) {
                break;
            }
            last_end = if is_empty { last_end } else { Some(end) };
        }
        self.string_fits(output.len() + text.len() - copied)?;
        output.push_str(&text[copied..]);
        Ok((output, replaced))
    }
}

/// Returns true for what can be assigned to, in parentheses or not.
fn is_place(target: &Expr) -> bool {
    match target {
        Expr::Group(inner) => is_place(inner),
        other => other.is_lvalue(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expansion(replacement: &str, has_groups: bool) -> String {
        let regex = Arc::new(AwkRegex::new("x(y)", false).ok().expect("a valid expression"));
        let substitution =
            Substitution { regex, replacement: replacement.to_string(), chosen: Chosen::All, has_groups };
        let mut output = String::new();
        substitution.expand("xy", &[Some((0, 2)), Some((1, 2))], &mut output);
        output
    }

    #[test]
    fn replacement_knows_match_and_escapes() {
        assert_eq!(expansion("<&>", false), "<xy>");
        assert_eq!(expansion("\\&", false), "&");
        assert_eq!(expansion("\\\\&", false), "\\xy");
        assert_eq!(expansion("\\1", false), "\\1");
        assert_eq!(expansion("\\1\\2\\0", true), "yxy");
        for (backslashes, kept, before_match) in
            [(1, 1, "&"), (2, 2, "\\xy"), (3, 3, "\\&"), (4, 2, "\\\\xy"), (7, 5, "\\\\\\&")]
        {
            let run = "\\".repeat(backslashes);
            assert_eq!(expansion(&run, false), "\\".repeat(kept), "{backslashes}");
            assert_eq!(expansion(&format!("{run}&"), false), before_match, "{backslashes}");
        }
        assert_eq!(expansion("\\x\\\\", true), "x\\");
    }
}
