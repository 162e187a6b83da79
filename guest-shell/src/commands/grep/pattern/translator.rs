//! Translation of basic and extended expressions to the syntax of the crate `regex`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::bracket::bracket;

/// Most repetitions that an interval may ask for (glibc's RE_DUP_MAX).
const DUP_MAX: u32 = 0x7fff;

const OPEN_GROUP: &str = "Unmatched ( or \\(";
const BAD_INTERVAL: &str = "Invalid content of \\{\\}";

/// Syntax of an expression of POSIX.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Basic,
    Extended,
}

/// Expression in the syntax of the crate `regex`.
pub(super) struct Translated {
    pub(super) rust: String,
    pub(super) backrefs: bool,
    pub(super) groups: usize,
    pub(super) warnings: Vec<String>,
}

/// Translates an expression, for `fancy_regex` if `fancy` is true. The number of groups in the expressions before it is
/// added to those of back-references. The error is glibc's message.
pub(super) fn translate(
    pattern: &str,
    dialect: Dialect,
    icase: bool,
    fancy: bool,
    group_offset: usize,
) -> Result<Translated, String> {
    let mut translator = Translator {
        characters: pattern.chars().collect(),
        position: 0,
        extended: dialect == Dialect::Extended,
        icase,
        fancy,
        group_offset,
        out: String::with_capacity(pattern.len() + 8),
        last_atom: None,
        quantified: false,
        at_start: true,
        anchors: true,
        dropped_operator: false,
        open: Vec::new(),
        groups: 0,
        closed: Vec::new(),
        backrefs: false,
        warnings: Vec::new(),
        deferred_error: None,
    };
    while let Some(next) = translator.peek(0) {
        translator.translate_next(next)?;
    }
    if !translator.open.is_empty() {
        return Err(OPEN_GROUP.to_string());
    }
    let Translator { out: rust, backrefs, groups, warnings, deferred_error, .. } = translator;
    deferred_error.map_or(Ok(Translated { rust, backrefs, groups, warnings }), Err)
}

/// Adds a character of a bracket expression, escaped if it has a meaning in classes of the crate `regex`.
pub(super) fn push_class_literal(out: &mut String, literal: char) {
    if matches!(literal, '\\' | ']' | '[' | '^' | '-' | '&' | '~') {
        out.push('\\');
    }
    out.push(literal);
}

/// Parts of an interval.
struct Interval {
    least: Option<u32>,
    comma: bool,
    most: Option<u32>,
    /// Position behind the numbers.
    end: usize,
}

impl Interval {
    /// Returns the interval in the syntax of the crate `regex`.
    fn text(&self) -> Result<String, String> {
        if self.least.is_none() && !self.comma {
            return Err(BAD_INTERVAL.to_string());
        }
        let least = self.least.unwrap_or(0);
        let most = if self.comma { self.most } else { Some(least) };
        if most.is_some_and(|most| most < least) {
            return Err(BAD_INTERVAL.to_string());
        }
        if least.max(most.unwrap_or(0)) > DUP_MAX {
            return Err("Regular expression too big".to_string());
        }
        Ok(match most {
            Some(_) if !self.comma => format!("{{{least}}}"),
            Some(most) => format!("{{{least},{most}}}"),
            None => format!("{{{least},}}"),
        })
    }
}

/// State of a translation.
struct Translator {
    characters: Vec<char>,
    position: usize,
    extended: bool,
    icase: bool,
    fancy: bool,
    group_offset: usize,
    out: String,
    /// Byte of the translation at which the last part that can be repeated starts.
    last_atom: Option<usize>,
    /// True if the last part is repeated already.
    quantified: bool,
    /// True at the start of an expression, of a group or of an alternative. Anchors leave it as it is (`^*`).
    at_start: bool,
    /// True where a `^` is an anchor in a basic expression: at the start, and behind `\(` and `\|`.
    anchors: bool,
    /// True if an operator that repeats was just dropped, at the start of an extended expression.
    dropped_operator: bool,
    /// Groups that are open: the byte of the translation at which each starts, and its number.
    open: Vec<(usize, usize)>,
    groups: usize,
    closed: Vec<bool>,
    backrefs: bool,
    warnings: Vec<String>,
    /// Error of a pattern that glibc accepts but grep's dfa.c does not. Errors of glibc come first.
    deferred_error: Option<String>,
}

impl Translator {
    fn peek(&self, distance: usize) -> Option<char> {
        self.characters.get(self.position + distance).copied()
    }

    fn translate_next(&mut self, next: char) -> Result<(), String> {
        match next {
            '\\' => return self.escape(),
            '[' => return self.bracket(),
            '{' if self.extended => return self.extended_brace(),
            _ => self.position += 1,
        }
        match next {
            '.' => {
                self.begin_atom();
                self.out.push('.');
            }
            '*' => {
                if !self.quantify("*") {
                    if self.extended {
                        self.warn_of_dropped("*");
                    } else {
                        self.literal('*');
                    }
                }
            }
            '^' if self.extended || self.anchors => self.anchor("^"),
            '$' if self.extended || self.ends_branch() => self.anchor("$"),
            _ if self.extended => return self.extended_operator(next),
            _ => self.literal(next),
        }
        Ok(())
    }

    /// Translates a character of an extended expression that may be an operator.
    fn extended_operator(&mut self, next: char) -> Result<(), String> {
        match next {
            '+' | '?' => {
                let operator = if next == '+' { "+" } else { "?" };
                if !self.quantify(operator) {
                    self.warn_of_dropped(operator);
                }
            }
            '(' => self.open_group(),
            ')' if !self.open.is_empty() => return self.close_group(),
            '|' => self.alternate(),
            _ => self.literal(next),
        }
        Ok(())
    }

    /// Returns true where a `$` is an anchor in a basic expression: at its end, and before `\)` and `\|`.
    fn ends_branch(&self) -> bool {
        matches!(self.characters[self.position..], [] | ['\\', ')' | '|', ..])
    }

    fn begin_atom(&mut self) {
        self.last_atom = Some(self.out.len());
        self.quantified = false;
        self.at_start = false;
        self.anchors = false;
        self.dropped_operator = false;
    }

    fn begin_branch(&mut self) {
        self.last_atom = None;
        self.quantified = false;
        self.at_start = true;
        self.anchors = true;
        self.dropped_operator = false;
    }

    fn literal(&mut self, literal: char) {
        self.begin_atom();
        self.out.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
    }

    /// Adds an assertion, which can be repeated, but leaves a start what it is.
    fn anchor(&mut self, text: &str) {
        self.last_atom = Some(self.out.len());
        self.quantified = false;
        self.anchors = false;
        self.dropped_operator = false;
        self.out.push_str(text);
    }

    fn bracket(&mut self) -> Result<(), String> {
        let bracket = bracket(&self.characters, self.position, self.icase)?;
        if bracket.is_mistaken_class {
            self.deferred_error = Some("character class syntax is [[:space:]], not [:space:]".to_string());
        }
        self.position = bracket.end;
        self.begin_atom();
        self.out.push_str(&bracket.class);
        Ok(())
    }

    /// Repeats the last part. Returns false if there is none, at the start of an expression.
    fn quantify(&mut self, operator: &str) -> bool {
        let Some(start) = self.last_atom.filter(|_| !self.at_start) else {
            return false;
        };
        if self.quantified {
            // The crate `regex` refuses two operators, or takes `+?` for a lazy one.
            self.out.insert_str(start, "(?:");
            self.out.push(')');
        }
        self.out.push_str(operator);
        self.quantified = true;
        true
    }

    fn warn_of_dropped(&mut self, operator: &str) {
        self.warnings.push(format!("warning: {operator} at start of expression"));
        self.dropped_operator = true;
    }

    fn open_group(&mut self) {
        self.groups += 1;
        self.open.push((self.out.len(), self.groups));
        self.out.push('(');
        self.begin_branch();
    }

    fn close_group(&mut self) -> Result<(), String> {
        if self.dropped_operator {
            // glibc: `(*)` leaves nothing for the group to hold.
            return Err(OPEN_GROUP.to_string());
        }
        let Some((start, number)) = self.open.pop() else {
            return Err("Unmatched ) or \\)".to_string());
        };
        self.out.push(')');
        if self.closed.len() <= number {
            self.closed.resize(number + 1, false);
        }
        self.closed[number] = true;
        self.begin_atom();
        self.last_atom = Some(start);
        Ok(())
    }

    fn alternate(&mut self) {
        self.out.push('|');
        self.begin_branch();
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(letter) = self.peek(1) else {
            return Err("Trailing backslash".to_string());
        };
        match letter {
            '{' if !self.extended => return self.basic_brace(),
            _ => self.position += 2,
        }
        match letter {
            '(' if !self.extended => self.open_group(),
            ')' if !self.extended => self.close_group()?,
            '|' if !self.extended => self.alternate(),
            '+' | '?' if !self.extended => {
                if !self.quantify(if letter == '+' { "+" } else { "?" }) {
                    self.literal(letter);
                }
            }
            '1'..='9' => self.back_reference(letter as usize - '0' as usize)?,
            '<' if self.fancy => self.anchor(r"(?:(?<!\w)(?=\w))"),
            '>' if self.fancy => self.anchor(r"(?:(?<=\w)(?!\w))"),
            '<' => self.anchor(r"\b{start}"),
            '>' => self.anchor(r"\b{end}"),
            'b' => self.anchor(r"\b"),
            'B' => self.anchor(r"\B"),
            '`' => self.anchor(r"\A"),
            '\'' => self.anchor(r"\z"),
            'w' | 'W' | 's' | 'S' => {
                self.begin_atom();
                self.out.extend(['\\', letter]);
            }
            other => self.literal(other),
        }
        Ok(())
    }

    fn back_reference(&mut self, number: usize) -> Result<(), String> {
        if !self.closed.get(number).copied().unwrap_or(false) {
            return Err("Invalid back reference".to_string());
        }
        self.backrefs = true;
        self.begin_atom();
        let group = number + self.group_offset;
        self.out.push_str(&if group < 10 { format!("\\{group}") } else { format!("\\k<{group}>") });
        Ok(())
    }

    /// Reads the numbers of an interval at a position.
    fn interval(&self, start: usize) -> Interval {
        let (least, end) = self.number(start);
        if self.characters.get(end) != Some(&',') {
            return Interval { least, comma: false, most: None, end };
        }
        let (most, end) = self.number(end + 1);
        Interval { least, comma: true, most, end }
    }

    /// Reads a number at a position. Returns it, if there is one, and where it ends.
    fn number(&self, start: usize) -> (Option<u32>, usize) {
        let mut number: Option<u32> = None;
        let mut end = start;
        while let Some(digit) = self.characters.get(end).and_then(|next| next.to_digit(10)) {
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            end += 1;
        }
        (number, end)
    }

    /// Translates a `{` of an extended expression: an interval, or a brace that stands for itself.
    fn extended_brace(&mut self) -> Result<(), String> {
        let interval = self.interval(self.position + 1);
        let closed = self.characters.get(interval.end) == Some(&'}');
        match (self.at_start, closed) {
            // glibc skips a brace at the start, whether it begins an interval or not.
            (true, false) => {
                self.position += 1;
                self.dropped_operator = true;
            }
            (false, false) => {
                self.position += 1;
                self.literal('{');
            }
            (_, true) => {
                let text = interval.text()?;
                self.position = interval.end + 1;
                if !self.quantify(&text) {
                    self.warn_of_dropped("{...}");
                }
            }
        }
        Ok(())
    }

    /// Translates `\{` of a basic expression: an interval, or at the start a brace that stands for itself.
    fn basic_brace(&mut self) -> Result<(), String> {
        let behind = self.position + 2;
        if self.at_start {
            self.position = behind;
            self.literal('{');
            return Ok(());
        }
        let interval = self.interval(behind);
        let rest = &self.characters[interval.end..];
        if !rest.starts_with(&['\\', '}']) {
            let is_closed = rest.windows(2).any(|pair| pair == ['\\', '}']);
            return Err(if is_closed { BAD_INTERVAL } else { "Unmatched \\{" }.to_string());
        }
        let text = interval.text()?;
        self.position = interval.end + 2;
        if !self.quantify(&text) {
            self.literal('{');
        }
        Ok(())
    }
}
