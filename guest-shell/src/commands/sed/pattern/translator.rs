//! Translation of expressions to the syntax of the engine.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::bracket::bracket;
use super::escape::{numeric_escape, simple_escape};
use super::{Mistake, Syntax};

const BAD_REPEAT: &str = "Invalid preceding regular expression";
const BAD_INTERVAL: &str = "Invalid content of \\{\\}";
pub(super) const BAD_RANGE: &str = "Invalid range end";
const OPEN_GROUP: &str = "Unmatched ( or \\(";

/// Most repetitions that an interval may ask for (POSIX's RE_DUP_MAX).
const MOST_REPEATS: u32 = 0x7fff;

/// Expression in the engine's syntax.
pub(super) struct Translated {
    pub(super) text: String,
    pub(super) groups: usize,
    pub(super) back_references: bool,
    /// True if leftmost-first and leftmost-longest matches may differ.
    pub(super) ambiguous: bool,
}

/// Part of an expression that stands before a repetition operator.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// Start of the expression, of a group or of an alternative.
    Start,
    /// Anchor such as `^` or `\<`, behind a start or elsewhere.
    Anchor,
    /// Part that can be repeated, and begins at this byte of the translation.
    Atom(usize),
    /// Part that begins at this byte, with a repetition behind it.
    Repeated(usize),
}

/// Group that is open, or the expression as a whole.
#[derive(Default)]
struct Open {
    /// Byte of the translation at which the group begins.
    start: usize,
    number: usize,
    /// Groups that were closed before this one.
    before: Groups,
    /// Groups that were closed before this one, and in its alternatives so far.
    seen: Groups,
}

/// Set of groups that a `\1` may refer to, a bit each.
type Groups = u16;

/// State of a translation.
pub(super) struct Translator {
    chars: Vec<char>,
    at: usize,
    syntax: Syntax,
    /// True for a translation to the syntax of `fancy_regex`.
    fancy: bool,
    out: String,
    before: Before,
    /// True where a `^` is an anchor in a basic expression.
    line_start: bool,
    open: Vec<Open>,
    whole: Open,
    groups: usize,
    /// Groups that are closed, but for those of another alternative.
    closed: Groups,
    back_references: bool,
    alternatives: bool,
    repeats: usize,
}

impl Translator {
    pub(super) fn new(pattern: &str, syntax: Syntax, fancy: bool) -> Self {
        Translator {
            chars: pattern.chars().collect(),
            at: 0,
            syntax,
            fancy: fancy || syntax.null_lines(),
            out: String::with_capacity(pattern.len() + 8),
            before: Before::Start,
            line_start: true,
            open: Vec::new(),
            whole: Open::default(),
            groups: 0,
            closed: 0,
            back_references: false,
            alternatives: false,
            repeats: 0,
        }
    }

    /// Translates the whole expression.
    pub(super) fn run(mut self) -> Result<Translated, Mistake> {
        while let Some(&c) = self.chars.get(self.at) {
            self.at += 1;
            match c {
                '\\' => self.escape()?,
                '[' => self.bracket()?,
                '.' => self.any(),
                '*' => self.star()?,
                '^' if self.syntax.extended || self.line_start => self.line_anchor('^'),
                '$' if self.syntax.extended || self.ends_branch() => self.line_anchor('$'),
                _ if self.syntax.extended => self.operator(c)?,
                _ => self.literal(c),
            }
        }
        if !self.open.is_empty() {
            return Err(Mistake(OPEN_GROUP));
        }
        Ok(Translated {
            groups: self.groups,
            back_references: self.back_references,
            ambiguous: self.alternatives || self.repeats > 1,
            text: self.out,
        })
    }

    fn begin_atom(&mut self) {
        self.before = Before::Atom(self.out.len());
        self.line_start = false;
    }

    fn literal(&mut self, c: char) {
        self.begin_atom();
        self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    fn any(&mut self) {
        self.begin_atom();
        // Whether `.` matches a newline is a flag of the whole expression.
        let any = if self.syntax.null_lines() { r"[^\n\x00]" } else { "." };
        self.out.push_str(any);
    }

    fn anchor(&mut self, text: &str) {
        self.before = Before::Anchor;
        self.line_start = false;
        self.out.push_str(text);
    }

    fn line_anchor(&mut self, c: char) {
        let text = match c {
            '^' if self.syntax.null_lines() => r"(?:\A|(?<=\x00))",
            '$' if self.syntax.null_lines() => r"(?:\z|(?=\x00))",
            '^' => "^",
            _ => "$",
        };
        self.anchor(text);
    }

    /// Returns true where a `$` is an anchor in a basic expression: at its end, and before `\)` and `\|`.
    fn ends_branch(&self) -> bool {
        matches!(self.chars[self.at..], [] | ['\\', ')' | '|', ..])
    }

    fn begin_branch(&mut self) {
        self.before = Before::Start;
        self.line_start = true;
    }

    fn open_group(&mut self) {
        self.groups += 1;
        self.open.push(Open { start: self.out.len(), number: self.groups, before: self.closed, seen: self.closed });
        self.out.push('(');
        self.begin_branch();
    }

    fn close_group(&mut self) -> Result<(), Mistake> {
        let Some(group) = self.open.pop() else {
            return Err(Mistake("Unmatched ) or \\)"));
        };
        self.out.push(')');
        self.closed |= group.seen;
        if group.number < 10 {
            self.closed |= 1 << group.number;
        }
        self.before = Before::Atom(group.start);
        self.line_start = false;
        Ok(())
    }

    fn alternate(&mut self) {
        self.out.push('|');
        self.alternatives = true;
        let group = self.open.last_mut().unwrap_or(&mut self.whole);
        group.seen |= self.closed;
        self.closed = group.before;
        self.begin_branch();
    }

    fn back_reference(&mut self, number: usize) -> Result<(), Mistake> {
        if self.closed & 1 << number == 0 {
            return Err(Mistake("Invalid back reference"));
        }
        self.begin_atom();
        self.back_references = true;
        // In a group, as a digit may follow.
        self.out.push_str(&format!("(?:\\{number})"));
        Ok(())
    }

    /// Adds an operator that repeats the part before it.
    fn repeat(&mut self, operator: &str) -> Result<(), Mistake> {
        let start = match self.before {
            Before::Atom(start) => start,
            Before::Repeated(start) => {
                // `a*?` would be the engine's lazy `a*`.
                self.out.insert_str(start, "(?:");
                self.out.push(')');
                start
            }
            Before::Start | Before::Anchor => return Err(Mistake(BAD_REPEAT)),
        };
        self.out.push_str(operator);
        self.before = Before::Repeated(start);
        self.repeats += 1;
        Ok(())
    }

    /// Translates `*`, which a basic expression takes for itself where there is nothing to repeat, and does not take
    /// behind another repetition.
    fn star(&mut self) -> Result<(), Mistake> {
        match self.before {
            Before::Start | Before::Anchor if !self.syntax.extended => self.literal('*'),
            Before::Repeated(_) if !self.syntax.extended => return Err(Mistake(BAD_REPEAT)),
            _ => self.repeat("*")?,
        }
        Ok(())
    }

    /// Translates `\+` and `\?` of a basic expression.
    fn basic_repeat(&mut self, c: char) -> Result<(), Mistake> {
        match self.before {
            Before::Start | Before::Anchor => self.literal(c),
            _ => self.repeat(c.encode_utf8(&mut [0; 4]))?,
        }
        Ok(())
    }

    fn digits(&mut self) -> Option<u32> {
        let mut number: Option<u32> = None;
        while let Some(digit) = self.chars.get(self.at).and_then(|c| c.to_digit(10)) {
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        number
    }

    /// Translates `{n}`, `{n,}`, `{,m}` or `{n,m}`, behind its brace.
    fn interval(&mut self) -> Result<(), Mistake> {
        let basic = !self.syntax.extended;
        if basic && matches!(self.before, Before::Repeated(_)) {
            return Err(Mistake(BAD_REPEAT));
        }
        let close: &[char] = if basic { &['\\', '}'] } else { &['}'] };
        let least = self.digits();
        let comma = self.chars.get(self.at) == Some(&',');
        self.at += usize::from(comma);
        let most = if comma { self.digits() } else { least };
        let rest = &self.chars[self.at..];
        if !rest.starts_with(close) {
            let closed = rest.windows(close.len()).any(|part| part == close);
            let error = if closed { BAD_INTERVAL } else { "Unmatched \\{" };
            return Err(Mistake(error));
        }
        self.at += close.len();
        let low = least.unwrap_or(0);
        if least.is_none() && !comma || most.is_some_and(|most| most < low) {
            return Err(Mistake(BAD_INTERVAL));
        }
        if low.max(most.unwrap_or(0)) > MOST_REPEATS {
            return Err(Mistake("Regular expression too big"));
        }
        let high = most.map_or(String::new(), |most| most.to_string());
        self.repeat(&format!("{{{low},{high}}}"))
    }

    /// Translates a character of an extended expression that may be an operator.
    fn operator(&mut self, c: char) -> Result<(), Mistake> {
        match c {
            '(' => self.open_group(),
            ')' => self.close_group()?,
            '|' => self.alternate(),
            '+' => self.repeat("+")?,
            '?' => self.repeat("?")?,
            '{' if matches!(self.before, Before::Start | Before::Anchor) => {
                return Err(Mistake(BAD_REPEAT));
            }
            '{' => self.interval()?,
            _ => self.literal(c),
        }
        Ok(())
    }

    /// Translates an escape, behind its backslash.
    fn escape(&mut self) -> Result<(), Mistake> {
        let Some(&c) = self.chars.get(self.at) else {
            return Err(Mistake("Trailing backslash"));
        };
        if let Some((c, used)) = numeric_escape(&self.chars, self.at) {
            // GNU sed puts the character into the pattern before it reads that.
            self.chars.splice(self.at - 1..=self.at + used, [c]);
            self.at -= 1;
            return Ok(());
        }
        self.at += 1;
        match c {
            '(' if !self.syntax.extended => self.open_group(),
            ')' if !self.syntax.extended => self.close_group()?,
            '|' if !self.syntax.extended => self.alternate(),
            '+' | '?' if !self.syntax.extended => self.basic_repeat(c)?,
            '{' if !self.syntax.extended => self.interval()?,
            '1'..='9' => self.back_reference(c as usize - '0' as usize)?,
            'w' | 'W' | 's' | 'S' => {
                self.begin_atom();
                self.out.push('\\');
                self.out.push(c);
            }
            'b' => self.anchor(r"\b"),
            'B' => self.anchor(r"\B"),
            '<' if self.fancy => self.anchor(r"(?:(?<!\w)(?=\w))"),
            '>' if self.fancy => self.anchor(r"(?:(?<=\w)(?!\w))"),
            '<' => self.anchor(r"\b{start}"),
            '>' => self.anchor(r"\b{end}"),
            '`' => self.anchor(r"\A"),
            '\'' => self.anchor(r"\z"),
            _ => self.literal(simple_escape(c).unwrap_or(c)),
        }
        Ok(())
    }

    fn bracket(&mut self) -> Result<(), Mistake> {
        let (class, end) = bracket(&self.chars, self.at, self.syntax)?;
        self.at = end;
        self.begin_atom();
        self.out.push_str(&class);
        Ok(())
    }
}
