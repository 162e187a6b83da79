//! The command `s`.

use std::sync::Arc;

use super::editor::{Action, Editor, Failure, Outcome};
use super::output::PrintForm;
use super::pattern::Pattern;
use super::scanner::Scanner;
use crate::commands::sed::MatchSpan;

/// Part of the text that replaces a match.
#[derive(Clone)]
enum Part {
    Text(String),
    /// The match, or a group of it.
    Group(usize),
}

/// Matches of a line that are replaced.
#[derive(Clone, Copy)]
enum Chosen {
    All,
    Nth(usize),
}

/// Substitution that `s` repeats.
#[derive(Clone)]
pub(super) struct Substitution {
    pattern: Pattern,
    replacement: Vec<Part>,
    chosen: Chosen,
    form: PrintForm,
}

/// Mistake in the letters behind a substitution.
const SUFFIX: Failure = Failure::Message("Invalid command suffix");

impl Editor {
    /// Substitutes in a range of lines, behind the letter `s`.
    pub(super) fn substitute(&mut self, range: (usize, usize), line: &mut Scanner) -> Outcome {
        let is_repeated = line.peek().is_none_or(|next| matches!(next, '0'..='9' | 'g' | 'p' | 'r'));
        let substitution = if is_repeated { self.repeated(line)? } else { self.new_substitution(line)? };
        self.substitution = Some(substitution.clone());
        if self.global.is_none() {
            self.buffer.keep_for_undo();
        }
        let mut end = range.1;
        let mut address = range.0;
        let mut last_changed = None;
        while address <= end {
            let text = Arc::clone(&self.buffer.line(address).text);
            if let Some(lines) = substitution.apply(&text)? {
                let count = lines.len();
                self.cut = vec![text];
                self.buffer.remove(address, address);
                self.buffer.insert(address - 1, lines.into_iter().map(Arc::from));
                address += count - 1;
                end += count - 1;
                last_changed = Some(address);
            }
            address += 1;
        }
        match last_changed {
            Some(address) => {
                self.buffer.set_current(address);
                self.print_current(substitution.form)
            }
            None if self.global.is_none() => Err("No match".into()),
            None => Ok(Action::Continue),
        }
    }

    /// Reads the letters of a repetition: a number, `g` and `p`, which turn the last ones round, and `r`.
    fn repeated(&mut self, line: &mut Scanner) -> Result<Substitution, Failure> {
        let mut repeated = self.substitution.clone().ok_or("No previous substitution")?;
        while let Some(next) = line.peek() {
            match next {
                '0'..='9' => repeated.chosen = Chosen::Nth(count(line)?),
                'g' => {
                    repeated.chosen = match repeated.chosen {
                        Chosen::All => Chosen::Nth(1),
                        Chosen::Nth(_) => Chosen::All,
                    };
                }
                'p' if repeated.form.is_none() => repeated.form.is_plain = true,
                'p' => repeated.form = PrintForm::default(),
                'r' => repeated.pattern = self.last_pattern.clone().ok_or("No previous pattern")?,
                _ => return Err(SUFFIX),
            }
            if !next.is_ascii_digit() {
                line.next();
            }
        }
        Ok(repeated)
    }

    /// Reads a substitution.
    fn new_substitution(&mut self, line: &mut Scanner) -> Result<Substitution, Failure> {
        let delimiter = line.next().filter(|next| *next != ' ').ok_or("Invalid pattern delimiter")?;
        if line.is_at_end() {
            return Err("Invalid pattern delimiter".into());
        }
        let pattern = self.pattern(line, delimiter)?;
        if !line.take(delimiter) {
            return Err("Missing pattern delimiter".into());
        }
        let replacement = self.replacement(line, delimiter, &pattern)?;
        let (mut chosen, mut form) = (Chosen::Nth(1), PrintForm::default());
        if !line.take(delimiter) {
            form.is_plain = true;
            return Ok(Substitution { pattern, replacement, chosen, form });
        }
        if line.peek().is_some_and(|next| next.is_ascii_digit()) {
            chosen = Chosen::Nth(count(line)?);
        } else if line.take('g') {
            chosen = Chosen::All;
        }
        while let Some(letter) = line.next() {
            if !form.add(letter) {
                return Err(SUFFIX);
            }
        }
        Ok(Substitution { pattern, replacement, chosen, form })
    }

    /// Reads the text of a replacement up to its delimiter. A line that ends with a backslash goes on in the next one.
    fn replacement(&mut self, line: &mut Scanner, delimiter: char, pattern: &Pattern) -> Result<Vec<Part>, Failure> {
        if line.peek() == Some('%') && line.peek_second().is_none_or(|next| next == delimiter) {
            line.next();
            let last = self.substitution.as_ref().ok_or("No previous substitution")?;
            return Ok(last.replacement.clone());
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        while let Some(next) = line.peek().filter(|next| *next != delimiter) {
            line.next();
            let group = match (next, line.peek()) {
                ('&', _) => 0,
                ('\\', None) => {
                    text.push('\n');
                    *line = Scanner::new(&self.text_line().ok_or("Unexpected end-of-file")?);
                    continue;
                }
                ('\\', Some(digit @ '1'..='9')) => {
                    line.next();
                    let group = usize::from(digit as u8 - b'0');
                    if group > pattern.group_count() {
                        text.push(digit);
                        continue;
                    }
                    group
                }
                ('\\', Some(escaped)) => {
                    line.next();
                    text.push(escaped);
                    continue;
                }
                (next, _) => {
                    text.push(next);
                    continue;
                }
            };
            parts.extend([Part::Text(std::mem::take(&mut text)), Part::Group(group)]);
        }
        parts.push(Part::Text(text));
        Ok(parts)
    }
}

impl Substitution {
    /// Returns the lines that replace a line; none if nothing is replaced.
    fn apply(&self, text: &str) -> Result<Option<Vec<String>>, Failure> {
        let (mut result, mut from, mut count, mut is_changed) = (String::new(), 0, 0, false);
        let mut is_stuck = false;
        let mut is_skipping = false;
        // Behind a match the search goes on where it ends, even if it is empty.
        while from < text.len() || count == 0 {
            let Some(span) = self.find(text, from, count == 0) else { break };
            let is_empty = span.end == from;
            count += 1;
            let is_chosen = match self.chosen {
                Chosen::All => true,
                Chosen::Nth(number) => count == number,
            };
            if is_chosen && is_stuck && is_empty {
                return Err("Infinite substitution loop".into());
            }
            if is_chosen {
                result.push_str(&text[from..span.start]);
                self.push_replacement(text, &span, &mut result);
                is_changed = true;
            } else {
                result.push_str(&text[from..span.end]);
                // The next matches are the same empty one.
                if let (true, true, Chosen::Nth(number)) = (is_empty, is_skipping, self.chosen) {
                    count = number - 1;
                }
                is_skipping = is_empty && count > 1;
            }
            from = span.end;
            is_stuck = is_empty && is_chosen;
            if is_chosen && matches!(self.chosen, Chosen::Nth(_)) {
                break;
            }
        }
        if self.pattern.given_up() {
            return Err("Regular expression is too expensive".into());
        }
        result.push_str(&text[from..]);
        Ok(is_changed.then(|| result.split('\n').map(str::to_owned).collect()))
    }

    /// Returns the first match from a position on. Only the first search is at the beginning of the line.
    fn find(&self, text: &str, from: usize, is_first: bool) -> Option<MatchSpan> {
        /// Character in front of a text, so that `^` does not match.
        const BEFORE: &str = "\n";
        if is_first || from > 0 {
            return self.pattern.find_at(text, from);
        }
        let found = self.pattern.find_at(&format!("{BEFORE}{text}"), BEFORE.len())?;
        let shift = |(start, end): (usize, usize)| (start - BEFORE.len(), end - BEFORE.len());
        let (start, end) = shift((found.start, found.end));
        Some(MatchSpan { start, end, groups: found.groups.into_iter().map(|group| group.map(shift)).collect() })
    }

    fn push_replacement(&self, text: &str, span: &MatchSpan, result: &mut String) {
        for part in &self.replacement {
            match part {
                Part::Text(text) => result.push_str(text),
                Part::Group(0) => result.push_str(&text[span.start..span.end]),
                Part::Group(group) => {
                    if let Some(Some((start, end))) = span.groups.get(group - 1) {
                        result.push_str(&text[*start..*end]);
                    }
                }
            }
        }
    }
}

/// Reads the number of a match, from 1 on.
fn count(line: &mut Scanner) -> Result<usize, Failure> {
    let number = line.number()?.and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0);
    number.ok_or(SUFFIX)
}
