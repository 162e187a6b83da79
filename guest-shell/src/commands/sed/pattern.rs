//! POSIX regex translation and matching for `sed`.
//!
//! Important decisions (issue #2427, finding B):
//!
//! - BRE and ERE are translated by a single [`Translator`] used for **both**
//!   `s///` patterns and address regexes, and every character goes through it:
//!   nothing of the `regex` crate's own syntax (`(?#`, lazy `*?`, `\10`) can be
//!   written in a sed script.
//! - Whether `+ ? | * ^ $` are operators or literals is positional in BRE, so
//!   the translator remembers what it could repeat rather than doing string
//!   replacements. `s/a+b/`, `s/a?b/`, `s/a|b/`, `/a^b/` and `s/*a/` are all
//!   literal matches in BRE, exactly as GNU sed treats them.
//! - What GNU sed refuses is refused here with the same words (`b**` in BRE,
//!   `(*b)` in ERE, `a{b`, `[[:no:]]`), before the engine sees it.
//! - `.` and `[^x]` match a newline, which `N` and `G` bring in; with the flag
//!   `M` they do not.
//! - Matches are POSIX's leftmost-longest ones, found by awk's engine.
//!   Back-references need `fancy_regex`, which is leftmost-first.
//! - Bracket expressions have a scanner of their own: inside `[...]` POSIX
//!   gives `\` no special meaning, while the engine treats `\`, `[`, `&&`, `~~`
//!   and `--` as syntax.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::atomic::{AtomicBool, Ordering};

use crate::commands::awk::regex::AwkRegex;
use bashkit::builtins::search_common::{REGEX_DFA_SIZE_LIMIT, REGEX_SIZE_LIMIT, bytes_escape};

/// What GNU sed says of a bracket expression that was meant to be a class;
/// unlike other mistakes it exits with status 4 and names no place.
pub(super) const CLASS_SYNTAX: &str = "character class syntax is [[:space:]], not [:space:]";
const BAD_REPEAT: &str = "Invalid preceding regular expression";
const BAD_INTERVAL: &str = "Invalid content of \\{\\}";
const BAD_RANGE: &str = "Invalid range end";
const BAD_COLLATION: &str = "Invalid collation character";
const OPEN_BRACKET: &str = "Unmatched [, [^, [:, [., or [=";
const OPEN_GROUP: &str = "Unmatched ( or \\(";

/// The most that an interval may say (POSIX's RE_DUP_MAX).
const MOST_REPEATS: u32 = 0x7fff;

/// How an expression is to be read.
#[derive(Clone, Copy, Default)]
pub(super) struct Syntax {
    pub(super) extended: bool,
    pub(super) case_insensitive: bool,
    /// `M`: `^` and `$` match at every line, and `.` no newline.
    pub(super) multi_line: bool,
    /// `-z`: the lines of `M` end with NUL.
    pub(super) null_data: bool,
    /// The locale is C, see [`AwkRegex::matching_bytes`].
    pub(super) bytes_match: bool,
}

impl Syntax {
    /// The engine knows only lines that end with a newline.
    fn null_lines(&self) -> bool {
        self.multi_line && self.null_data
    }
}

/// An expression in the engine's syntax.
struct Translated {
    text: String,
    groups: usize,
    back_references: bool,
    /// Leftmost-first and leftmost-longest matches may differ.
    ambiguous: bool,
}

/// Translates a POSIX BRE (or ERE, when `extended`) into `regex` crate syntax,
/// for other commands. What is no expression becomes one that does not compile.
pub(crate) fn translate(pattern: &str, extended: bool) -> String {
    let syntax = Syntax { extended, ..Syntax::default() };
    match Translator::new(pattern, syntax, false).run() {
        Ok(translated) => translated.text,
        Err(_) => "[".to_string(),
    }
}

/// What may stand before a repetition operator.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// The start of the expression, a group or an alternative.
    Start,
    /// `^`, `\<` and the like, behind a start or elsewhere.
    Anchor,
    /// Something that begins at this byte of the translation.
    Atom(usize),
    /// The same, with a repetition behind it.
    Repeated(usize),
}

/// A group that is open, or the expression as a whole.
#[derive(Default)]
struct Open {
    /// Where it begins, and its number.
    start: usize,
    number: usize,
    /// The groups that were closed before it.
    before: Groups,
    /// Those and the ones of its alternatives so far.
    seen: Groups,
}

/// Groups that a `\1` may refer to, a bit each.
type Groups = u16;

struct Translator {
    chars: Vec<char>,
    at: usize,
    syntax: Syntax,
    /// The translation is for `fancy_regex`.
    fancy: bool,
    out: String,
    before: Before,
    /// A `^` here is an anchor in a basic expression.
    line_start: bool,
    open: Vec<Open>,
    whole: Open,
    groups: usize,
    /// The groups that are closed, but for those of another alternative.
    closed: Groups,
    back_references: bool,
    alternatives: bool,
    repeats: usize,
}

impl Translator {
    fn new(pattern: &str, syntax: Syntax, fancy: bool) -> Self {
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

    fn run(mut self) -> Result<Translated, String> {
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
            return Err(OPEN_GROUP.to_string());
        }
        Ok(Translated {
            groups: self.groups,
            back_references: self.back_references,
            ambiguous: self.alternatives || self.repeats > 1,
            text: self.out,
        })
    }

    // ----- what matches a character ----------------------------------------

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

    // ----- anchors ---------------------------------------------------------

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

    /// In BRE, `$` anchors only at the very end of the expression or
    /// immediately before `\)` / `\|`.
    fn ends_branch(&self) -> bool {
        matches!(self.chars[self.at..], [] | ['\\', ')' | '|', ..])
    }

    // ----- groups and alternatives -----------------------------------------

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

    fn close_group(&mut self) -> Result<(), String> {
        let Some(group) = self.open.pop() else {
            return Err("Unmatched ) or \\)".to_string());
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

    fn back_reference(&mut self, number: usize) -> Result<(), String> {
        if self.closed & 1 << number == 0 {
            return Err("Invalid back reference".to_string());
        }
        self.begin_atom();
        self.back_references = true;
        // In a group, as a digit may follow.
        self.out.push_str(&format!("(?:\\{number})"));
        Ok(())
    }

    // ----- repetition ------------------------------------------------------

    /// Has what is before repeated.
    fn repeat(&mut self, operator: &str) -> Result<(), String> {
        let start = match self.before {
            Before::Atom(start) => start,
            Before::Repeated(start) => {
                // `a*?` would be the engine's lazy `a*`.
                self.out.insert_str(start, "(?:");
                self.out.push(')');
                start
            }
            Before::Start | Before::Anchor => return Err(BAD_REPEAT.to_string()),
        };
        self.out.push_str(operator);
        self.before = Before::Repeated(start);
        self.repeats += 1;
        Ok(())
    }

    /// `*`, which a basic expression takes for itself where there is nothing
    /// to repeat, and does not take behind another repetition.
    fn star(&mut self) -> Result<(), String> {
        match self.before {
            Before::Start | Before::Anchor if !self.syntax.extended => self.literal('*'),
            Before::Repeated(_) if !self.syntax.extended => return Err(BAD_REPEAT.to_string()),
            _ => self.repeat("*")?,
        }
        Ok(())
    }

    /// `\+` and `\?` of a basic expression.
    fn basic_repeat(&mut self, c: char) -> Result<(), String> {
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

    /// `{n}`, `{n,}`, `{,m}` or `{n,m}` behind its brace.
    fn interval(&mut self) -> Result<(), String> {
        let basic = !self.syntax.extended;
        if basic && matches!(self.before, Before::Repeated(_)) {
            return Err(BAD_REPEAT.to_string());
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
            return Err(error.to_string());
        }
        self.at += close.len();
        let low = least.unwrap_or(0);
        if least.is_none() && !comma || most.is_some_and(|most| most < low) {
            return Err(BAD_INTERVAL.to_string());
        }
        if low.max(most.unwrap_or(0)) > MOST_REPEATS {
            return Err("Regular expression too big".to_string());
        }
        let high = most.map_or(String::new(), |most| most.to_string());
        self.repeat(&format!("{{{low},{high}}}"))
    }

    // ----- operators -------------------------------------------------------

    /// A character of an extended expression that may be an operator.
    fn operator(&mut self, c: char) -> Result<(), String> {
        match c {
            '(' => self.open_group(),
            ')' => self.close_group()?,
            '|' => self.alternate(),
            '+' => self.repeat("+")?,
            '?' => self.repeat("?")?,
            '{' if matches!(self.before, Before::Start | Before::Anchor) => {
                return Err(BAD_REPEAT.to_string());
            }
            '{' => self.interval()?,
            _ => self.literal(c),
        }
        Ok(())
    }

    /// What is behind a backslash.
    fn escape(&mut self) -> Result<(), String> {
        let Some(&c) = self.chars.get(self.at) else {
            return Err("Trailing backslash".to_string());
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

    // ----- bracket expressions ---------------------------------------------

    /// A bracket expression, behind its `[`.
    fn bracket(&mut self) -> Result<(), String> {
        let negated = self.chars.get(self.at) == Some(&'^');
        self.at += usize::from(negated);
        let start = self.at;
        let mut class = String::from(if negated { "[^" } else { "[" });
        while self.chars.get(self.at) != Some(&']') || self.at == start {
            self.member(&mut class)?;
        }
        if let [':', .., ':'] = self.chars[start..self.at]
            && !negated
        {
            return Err(CLASS_SYNTAX.to_string());
        }
        self.at += 1;
        if negated && self.syntax.multi_line {
            class.push_str("\\n");
        }
        if negated && self.syntax.null_lines() {
            class.push_str("\\x00");
        }
        class.push(']');
        self.begin_atom();
        self.out.push_str(&class);
        Ok(())
    }

    /// One member of a bracket expression: a character, a range or a class.
    fn member(&mut self, class: &mut String) -> Result<(), String> {
        let first = self.element()?;
        let range =
            self.chars.get(self.at) == Some(&'-') && self.chars.get(self.at + 1).is_some_and(|next| *next != ']');
        match first {
            Element::Class(_) if range => return Err(BAD_RANGE.to_string()),
            Element::Class(members) => class.push_str(members),
            Element::Char(low) if range => {
                self.at += 1;
                let Element::Char(high) = self.element()? else {
                    return Err(BAD_RANGE.to_string());
                };
                push_range(class, low, high)?;
            }
            Element::Char(c) => push_member(class, c),
        }
        Ok(())
    }

    fn element(&mut self) -> Result<Element, String> {
        let Some(&c) = self.chars.get(self.at) else {
            return Err(OPEN_BRACKET.to_string());
        };
        let next = self.chars.get(self.at + 1).copied();
        self.at += 1;
        match (c, next) {
            ('[', Some(kind @ (':' | '.' | '='))) => self.named_element(kind),
            // GNU sed converts `\t`, `\n`, `\xHH`... before it compiles, so they
            // work inside brackets too (`[ \t]`); any other `\` is a member.
            ('\\', Some(next)) => {
                if let Some(c) = simple_escape(next) {
                    self.at += 1;
                    return Ok(Element::Char(c));
                }
                let Some((c, used)) = numeric_escape(&self.chars, self.at) else {
                    return Ok(Element::Char('\\'));
                };
                self.at += 1 + used;
                Ok(Element::Char(c))
            }
            _ => Ok(Element::Char(c)),
        }
    }

    /// `[:class:]`, `[.c.]` or `[=c=]`, behind its `[`.
    fn named_element(&mut self, kind: char) -> Result<Element, String> {
        let from = self.at + 1;
        let name = &self.chars[from..];
        let Some(length) = name.windows(2).position(|end| end == [kind, ']']) else {
            return Err(OPEN_BRACKET.to_string());
        };
        self.at = from + length + 2;
        match (kind, &name[..length]) {
            (':', name) => class_members(&name.iter().collect::<String>())
                .map(Element::Class)
                .ok_or_else(|| "Invalid character class name".to_string()),
            (_, [c]) => Ok(Element::Char(*c)),
            _ => Err(BAD_COLLATION.to_string()),
        }
    }
}

enum Element {
    Char(char),
    Class(&'static str),
}

/// The members of a character class, which is Unicode's as in a UTF-8 locale.
fn class_members(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => r"\p{Alphabetic}",
        "upper" => r"\p{Uppercase}",
        "lower" => r"\p{Lowercase}",
        "digit" => "0-9",
        "alnum" => r"\p{Alphabetic}0-9",
        "xdigit" => "0-9A-Fa-f",
        "space" => r"\s",
        "blank" => r" \t",
        "punct" => r"\p{P}\p{S}",
        "cntrl" => r"\p{Cc}",
        "print" => r"\P{C}",
        "graph" => r"[\P{C}&&\S]",
        _ => return None,
    })
}

fn push_range(class: &mut String, low: char, high: char) -> Result<(), String> {
    // In the C.UTF-8 locale only ASCII has an order that ranges can use.
    if !low.is_ascii() || !high.is_ascii() {
        return Err(BAD_COLLATION.to_string());
    }
    if low > high {
        return Err(BAD_RANGE.to_string());
    }
    push_member(class, low);
    class.push('-');
    push_member(class, high);
    Ok(())
}

/// Escapes the characters that the engine treats as class syntax but POSIX as
/// ordinary members of a bracket expression.
fn push_member(class: &mut String, c: char) {
    if matches!(c, '\\' | '[' | ']' | '^' | '-' | '&' | '~') {
        class.push('\\');
    }
    class.push(c);
}

/// GNU's character-producing escapes `\dNNN`, `\oNNN`, `\xHH` and `\cX`,
/// with `chars[i]` the letter after the backslash. Returns the character and
/// how many characters after the letter it used. In a replacement it is
/// literal: `s/z/\x26/` inserts `&`, not the match (GNU bug 30794).
pub(super) fn numeric_escape(chars: &[char], i: usize) -> Option<(char, usize)> {
    let (character, end) = bytes_escape(chars, i, byte_escape)?;
    Some((character, end - i - 1))
}

/// The byte of one such escape, and where what follows begins.
fn byte_escape(chars: &[char], i: usize) -> Option<(u8, usize)> {
    let (radix, max) = match chars.get(i)? {
        'd' => (10, 3),
        'o' => (8, 3),
        'x' => (16, 2),
        'c' => {
            let x = chars.get(i + 1)?.to_ascii_uppercase();
            return x.is_ascii().then_some(((x as u8) ^ 0x40, i + 2));
        }
        _ => return None,
    };
    let digits: String = chars[i + 1..].iter().take(max).take_while(|c| c.is_digit(radix)).collect();
    let n = u8::from_str_radix(&digits, radix).ok()?;
    Some((n, i + 1 + digits.len()))
}

/// The plain one-letter escapes GNU sed converts everywhere in a regex,
/// including inside bracket expressions.
fn simple_escape(c: char) -> Option<char> {
    Some(match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'f' => '\x0c',
        'v' => '\x0b',
        'a' => '\x07',
        _ => return None,
    })
}

/// A compiled sed regex.
pub(super) enum SedRegex {
    /// With its number of groups.
    Posix(Box<AwkRegex>, usize),
    /// With whether a search was given up, which says nothing about the line.
    Fancy(fancy_regex::Regex, AtomicBool),
}

/// Backtracking step cap for the fancy-regex fallback.
pub(super) const FANCY_BACKTRACK_LIMIT: usize = 1_000_000;

/// One match with its capture group spans (byte offsets into the subject).
pub(super) struct MatchSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) groups: Vec<Option<(usize, usize)>>,
}

impl SedRegex {
    pub(super) fn new(pattern: &str, syntax: Syntax) -> Result<Self, String> {
        let translated = Translator::new(pattern, syntax, false).run()?;
        if translated.back_references || syntax.null_lines() {
            let text = Translator::new(pattern, syntax, true).run()?.text;
            return Self::build_fancy(&text, syntax);
        }
        let text = format!("{}{}", flags(syntax), translated.text);
        AwkRegex::from_translated(text, translated.ambiguous)
            .map(|re| re.matching_bytes(syntax.bytes_match))
            .map(|re| SedRegex::Posix(Box::new(re), translated.groups))
            .map_err(|error| error.0)
    }

    fn build_fancy(pattern: &str, syntax: Syntax) -> Result<Self, String> {
        let pattern = format!("{}{pattern}", flags(syntax));
        Self::build_fancy_with_limit(&pattern, FANCY_BACKTRACK_LIMIT)
    }

    pub(super) fn build_fancy_with_limit(pattern: &str, backtrack_limit: usize) -> Result<Self, String> {
        fancy_regex::RegexBuilder::new(pattern)
            .delegate_size_limit(REGEX_SIZE_LIMIT)
            .delegate_dfa_size_limit(REGEX_DFA_SIZE_LIMIT)
            .backtrack_limit(backtrack_limit)
            .build()
            .map(|re| SedRegex::Fancy(re, AtomicBool::new(false)))
            .map_err(|e| e.to_string())
    }

    /// Number of capture groups, excluding the whole match.
    pub(super) fn group_count(&self) -> usize {
        match self {
            SedRegex::Posix(_, groups) => *groups,
            SedRegex::Fancy(re, _) => re.captures_len().saturating_sub(1),
        }
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        match self {
            SedRegex::Posix(re, _) => re.is_match(text),
            SedRegex::Fancy(re, given_up) => re.is_match(text).unwrap_or_else(|_| {
                given_up.store(true, Ordering::Relaxed);
                false
            }),
        }
    }

    /// A search took more steps than it may.
    pub(super) fn given_up(&self) -> bool {
        matches!(self, SedRegex::Fancy(_, given_up) if given_up.load(Ordering::Relaxed))
    }

    /// The first match at or behind `from`.
    fn find_at(&self, text: &str, from: usize) -> Option<MatchSpan> {
        let spans = match self {
            SedRegex::Posix(re, 0) => vec![Some(re.find_at(text, from)?)],
            SedRegex::Posix(re, _) => re.captures_at(text, from)?,
            SedRegex::Fancy(re, given_up) => match re.captures_from_pos(text, from) {
                Ok(found) => found?.iter().map(|group| group.map(|m| (m.start(), m.end()))).collect(),
                Err(_) => {
                    given_up.store(true, Ordering::Relaxed);
                    return None;
                }
            },
        };
        let (whole, groups) = spans.split_first()?;
        let (start, end) = (*whole)?;
        Some(MatchSpan { start, end, groups: groups.to_vec() })
    }

    /// The non-overlapping matches, with capture spans, up to the `most`th. An
    /// empty one right behind another does not count.
    pub(super) fn matches(&self, text: &str, most: usize) -> Vec<MatchSpan> {
        let mut spans: Vec<MatchSpan> = Vec::new();
        let mut from = 0;
        while from <= text.len()
            && spans.len() < most
            && let Some(span) = self.find_at(text, from)
        {
            let empty = span.start == span.end;
            let width = text[span.end..].chars().next().map_or(1, char::len_utf8);
            from = span.end + if empty { width } else { 0 };
            if !empty || spans.last().is_none_or(|last| last.end != span.start) {
                spans.push(span);
            }
        }
        spans
    }
}

/// The engine's flags, to stand before an expression.
fn flags(syntax: Syntax) -> String {
    let mut flags = String::from(match (syntax.multi_line, syntax.null_data) {
        (true, false) => "(?m)",
        _ => "(?s)",
    });
    if syntax.case_insensitive {
        flags.push_str("(?i)");
    }
    flags
}
