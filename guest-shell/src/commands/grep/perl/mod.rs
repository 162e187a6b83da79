//! Patterns of `grep -P`, translated to the syntax of the crates `regex` and `fancy_regex`.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`class`] | classes, properties and characters |
//! | [`groups`] | groups, lookarounds and conditions |
//!
//! The reference is GNU grep 3.8 with PCRE2 10.42 in a UTF-8 locale: `\d`, `\w`, `\s`, `\b` and the POSIX classes are
//! ASCII, `$` is the very end, and `-z` changes neither `^` nor `.`. What has no counterpart in those crates is an error
//! that names it, and what PCRE2 refuses is refused in PCRE2's words. Groups keep their numbers and lose their names;
//! flags are written at each atom, so that their scopes need no counterpart.

mod class;
mod groups;

use std::collections::HashMap;

use self::class::{WORD, braced, is_number, set_of};

/// Nesting of parentheses at which PCRE2 stops.
const MAX_DEPTH: usize = 250;
/// Highest number in a quantifier.
const MAX_REPEAT: usize = 65535;
const NO_GROUP: &str = "reference to non-existent subpattern";
const NOT_REPEATABLE: &str = "quantifier does not follow a repeatable item";
const UNKNOWN_ESCAPE: &str = "unrecognized character follows \\";

/// Result of parsing; the error is the message.
type Parsed<T> = Result<T, String>;

/// Translated pattern, in the syntax of `fancy_regex`, or of `regex` where that is enough.
pub(crate) struct Translation {
    pub(crate) text: String,
    /// Flag of a pattern with lookarounds, references or the like, which `regex` does not take.
    pub(crate) fancy: bool,
}

/// Translates one pattern of PCRE. The error is the text that follows `grep: `.
pub(crate) fn translate(pattern: &str, icase: bool) -> Parsed<Translation> {
    let mut first = Parser::new(pattern, icase);
    first.whole()?;
    let fancy = first.fancy;
    let (groups, names) = (first.groups, first.names);
    let mut second = Parser::new(pattern, icase);
    second.fancy = fancy;
    second.known = Some((groups, names));
    let text = second.whole()?;
    Ok(Translation { text, fancy: fancy || second.fancy })
}

/// Flags at a position of the pattern.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) i: bool,
    m: bool,
    s: bool,
    x: bool,
    /// Flag `(?xx)`: blanks are ignored inside classes too.
    pub(super) xx: bool,
    /// Flag `(?n)`: only named groups capture.
    n: bool,
    /// Flag `(?U)`: quantifiers are lazy, and greedy with `?`.
    lazy: bool,
}

/// Kind of an item, which says whether it may be repeated.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Atom,
    /// Anchor or setting, which takes no quantifier.
    Fixed,
}

/// Translated item of a pattern, with the number of characters that it takes, if that is fixed.
pub(super) struct Piece {
    pub(super) text: String,
    len: Option<usize>,
    pub(super) kind: Kind,
}

impl Piece {
    pub(super) fn new(text: impl Into<String>, len: usize, kind: Kind) -> Self {
        Piece { text: text.into(), len: Some(len), kind }
    }
}

/// Translated alternative, with the number of characters that it takes, if that is fixed.
struct Branch {
    text: String,
    len: Option<usize>,
}

/// Bounds of a repetition: the lowest number, and the highest, if there is one.
type Repeat = (usize, Option<usize>);

/// Reader of a pattern that writes its translation.
pub(super) struct Parser {
    pub(super) pattern: Vec<char>,
    pub(super) position: usize,
    pub(super) flags: Flags,
    /// Flag of option `-i`, which is written once, in front of the pattern.
    base_icase: bool,
    groups: usize,
    names: HashMap<String, usize>,
    /// Number of groups and their names, after the first reading of the pattern.
    known: Option<(usize, HashMap<String, usize>)>,
    pub(super) quoting: bool,
    pub(super) fancy: bool,
    depth: usize,
    lookarounds: usize,
}

impl Parser {
    fn new(pattern: &str, icase: bool) -> Self {
        Parser {
            pattern: pattern.chars().collect(),
            position: 0,
            flags: Flags { i: icase, ..Flags::default() },
            base_icase: icase,
            groups: 0,
            names: HashMap::new(),
            known: None,
            quoting: false,
            fancy: false,
            depth: 0,
            lookarounds: 0,
        }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.pattern.get(self.position + ahead).copied()
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(k, c)| self.peek(k) == Some(c));
        if found {
            self.position += text.chars().count();
        }
        found
    }

    fn whole(&mut self) -> Parsed<String> {
        while self.eat("(*UTF8)") || self.eat("(*UTF)") || self.eat("(*NO_JIT)") {}
        let branches = self.branches()?;
        if self.position < self.pattern.len() {
            return Err("unmatched closing parenthesis".into());
        }
        Ok(joined(&branches).text)
    }

    fn branches(&mut self) -> Parsed<Vec<Branch>> {
        let mut all = vec![self.branch()?];
        while !self.quoting && self.eat("|") {
            all.push(self.branch()?);
        }
        Ok(all)
    }

    fn branch(&mut self) -> Parsed<Branch> {
        let (mut text, mut len) = (String::new(), Some(0));
        loop {
            self.ignorable()?;
            match self.peek(0) {
                None => break,
                Some('|' | ')') if !self.quoting => break,
                Some(_) => {}
            }
            let before = self.groups;
            let mut piece = self.atom()?;
            self.ignorable()?;
            if let Some(repeat) = self.repeat()? {
                let captures = self.groups > before;
                piece = self.repeated(piece, repeat, captures)?;
            }
            text.push_str(&piece.text);
            len = len.zip(piece.len).map(|(a, b)| a + b);
        }
        Ok(Branch { text, len })
    }

    /// Skips comments, `\Q` and `\E`, and with the flag `x` white space.
    fn ignorable(&mut self) -> Parsed<()> {
        loop {
            if self.eat("\\E") {
                self.quoting = false;
            } else if self.quoting {
                return Ok(());
            } else if self.eat("\\Q") {
                self.quoting = true;
            } else if self.eat("(?#") {
                let end = self.pattern[self.position..].iter().position(|&c| c == ')');
                self.position += 1 + end.ok_or("missing ) after (?# comment")?;
            } else if !self.flags.x || !self.skip_space() {
                return Ok(());
            }
        }
    }

    /// Skips a character of Unicode's pattern white space, or a comment up to the end of the line.
    fn skip_space(&mut self) -> bool {
        match self.peek(0) {
            Some('\t'..='\r' | ' ' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}') => {
                self.position += 1;
            }
            Some('#') => {
                let line = self.pattern[self.position..].iter().position(|&c| c == '\n');
                self.position = line.map_or(self.pattern.len(), |k| self.position + k + 1);
            }
            _ => return false,
        }
        true
    }

    fn atom(&mut self) -> Parsed<Piece> {
        let Some(c) = self.peek(0) else {
            return Err("unexpected end of the pattern".into());
        };
        if self.quoting {
            self.position += 1;
            return Ok(self.literal(c));
        }
        match c {
            '\\' => return self.escape(),
            '[' => return self.class(),
            '*' | '+' | '?' => return Err(NOT_REPEATABLE.into()),
            '{' if self.repeat()?.is_some() => return Err(NOT_REPEATABLE.into()),
            _ => self.position += 1,
        }
        Ok(match c {
            '(' => return self.group(),
            '.' if self.flags.s => Piece::new("(?s:.)", 1, Kind::Atom),
            '.' => Piece::new(".", 1, Kind::Atom),
            '^' if self.flags.m => self.assertion(r"(?:\A|(?<=\n)(?!\z))"),
            '^' => Piece::new(r"\A", 0, Kind::Fixed),
            '$' if self.flags.m => self.assertion(r"(?=\n|\z)"),
            '$' => Piece::new(r"\z", 0, Kind::Fixed),
            c => self.literal(c),
        })
    }

    /// Returns an assertion, which takes no quantifier and needs `fancy_regex`.
    pub(super) fn assertion(&mut self, text: &str) -> Piece {
        self.fancy = true;
        Piece::new(text, 0, Kind::Fixed)
    }

    pub(super) fn literal(&self, c: char) -> Piece {
        let escaped = regex::escape(c.encode_utf8(&mut [0; 4]));
        Piece::new(self.folded(escaped, self.flags.i), 1, Kind::Atom)
    }

    /// Returns `text` with case ignored or not, independently of the flag in front of the pattern.
    pub(super) fn folded(&self, text: String, fold: bool) -> String {
        match (fold, self.base_icase) {
            (true, false) => format!("(?i:{text})"),
            (false, true) => format!("(?-i:{text})"),
            _ => text,
        }
    }

    /// Reads the quantifier at this position, if there is one; a `{` that begins none is literal.
    fn repeat(&mut self) -> Parsed<Option<Repeat>> {
        if self.quoting {
            return Ok(None);
        }
        let found = match self.peek(0) {
            Some('*') => Some((0, None)),
            Some('+') => Some((1, None)),
            Some('?') => Some((0, Some(1))),
            Some('{') => return self.interval(),
            _ => None,
        };
        self.position += usize::from(found.is_some());
        Ok(found)
    }

    fn interval(&mut self) -> Parsed<Option<Repeat>> {
        let Some((body, end)) = braced(&self.pattern, self.position) else {
            return Ok(None);
        };
        let (from, to) = body.split_once(',').unwrap_or((&body, &body));
        if !is_number(from) || !(to.is_empty() || is_number(to)) {
            return Ok(None);
        }
        let number = |digits: &str| {
            let value = digits.parse().ok().filter(|&n: &usize| n <= MAX_REPEAT);
            value.ok_or("number too big in {} quantifier")
        };
        let from = number(from)?;
        let to = if to.is_empty() { None } else { Some(number(to)?) };
        if to.is_some_and(|to| to < from) {
            return Err("numbers out of order in {} quantifier".into());
        }
        self.position = end;
        Ok(Some((from, to)))
    }

    fn repeated(&mut self, piece: Piece, (from, to): Repeat, captures: bool) -> Parsed<Piece> {
        if piece.kind == Kind::Fixed {
            return Err(NOT_REPEATABLE.into());
        }
        self.ignorable()?;
        let marked = !self.quoting && self.eat("?");
        let possessive = !self.quoting && !marked && self.eat("+");
        let lazy = !possessive && marked != self.flags.lazy;
        let inner = piece.text;
        let len = piece.len.filter(|_| to == Some(from)).map(|len| len * from);
        // What takes no characters matches once or not at all.
        let empty = piece.len == Some(0);
        let text = match (empty, from, to) {
            // Never tried, but its groups keep their numbers.
            (_, _, Some(0)) if captures => format!("(?:(?!){inner}|)"),
            (_, _, Some(0)) => String::new(),
            (true, 0, _) if lazy => format!("(?:|{inner})"),
            (true, 0, _) => format!("(?:{inner}|)"),
            (true, ..) => inner,
            (false, from, to) => {
                let sign = match to {
                    Some(to) if to == from => format!("{{{from}}}"),
                    Some(to) => format!("{{{from},{to}}}"),
                    None => format!("{{{from},}}"),
                };
                format!("{inner}{sign}{}", if lazy { "?" } else { "" })
            }
        };
        self.fancy |= possessive || (captures && to == Some(0));
        let text = if possessive { format!("(?>{text})") } else { text };
        let len = if empty { Some(0) } else { len };
        Ok(Piece { text, len, kind: Kind::Atom })
    }

    /// Reads the alternatives up to the parenthesis that closes a group; its flags end there.
    fn inside(&mut self) -> Parsed<Vec<Branch>> {
        let outer = self.flags;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("parentheses are too deeply nested".into());
        }
        let branches = self.branches()?;
        if !self.eat(")") {
            return Err("missing closing parenthesis".into());
        }
        self.depth -= 1;
        self.flags = outer;
        Ok(branches)
    }

    fn enclosed(&mut self, opening: &str) -> Parsed<Piece> {
        let Branch { text, len } = joined(&self.inside()?);
        Ok(Piece { text: format!("{opening}{text})"), len, kind: Kind::Atom })
    }

    /// Reads the text before `end`, and skips `end`.
    pub(super) fn until(&mut self, end: char) -> Parsed<String> {
        let Some(k) = self.pattern[self.position..].iter().position(|&c| c == end) else {
            return Err(format!("missing {end} in the pattern"));
        };
        let text = self.pattern[self.position..self.position + k].iter().collect();
        self.position += k + 1;
        Ok(text)
    }

    /// Returns the number of a group that is named or counted, also relative to this position.
    fn number_of(&self, name: &str) -> Parsed<usize> {
        let count = |digits: &str| digits.parse::<usize>().ok();
        let number = match name.strip_prefix(['-', '+']) {
            Some(digits) if name.starts_with('-') => {
                count(digits).filter(|&n| n > 0).and_then(|n| (self.groups + 1).checked_sub(n))
            }
            Some(digits) => count(digits).filter(|&n| n > 0).and_then(|n| self.groups.checked_add(n)),
            None if is_number(name) => count(name),
            None if !is_name(name) => return Err("subpattern name expected".into()),
            None => match &self.known {
                None => Some(1),
                Some((_, names)) => names.get(name).copied(),
            },
        };
        let exists = |n: &usize| *n > 0 && self.known.as_ref().is_none_or(|(groups, _)| n <= groups);
        number.filter(exists).ok_or_else(|| NO_GROUP.to_string())
    }

    pub(super) fn reference(&mut self, name: &str) -> Parsed<Piece> {
        self.fancy = true;
        let number = self.number_of(name)?;
        let text = self.folded(format!("\\k<{number}>"), self.flags.i);
        Ok(Piece { text, len: None, kind: Kind::Atom })
    }

    fn escape(&mut self) -> Parsed<Piece> {
        let start = self.position;
        self.position += 1;
        let c = self.peek(0).ok_or("\\ at end of pattern")?;
        self.position += 1;
        if let Some((set, cased)) = set_of(c) {
            let text = if cased { self.folded(set, false) } else { set };
            return Ok(Piece::new(text, 1, Kind::Atom));
        }
        Ok(match c {
            'A' => Piece::new(r"\A", 0, Kind::Fixed),
            'z' => Piece::new(r"\z", 0, Kind::Fixed),
            'Z' => self.assertion(r"(?=\n?\z)"),
            'G' => self.assertion(r"\G"),
            'b' if !self.fancy => Piece::new(r"(?-u:\b)", 0, Kind::Fixed),
            'b' => self.assertion(&format!("(?-i:(?<!{WORD})(?={WORD})|(?<={WORD})(?!{WORD}))")),
            'B' => self.assertion(&format!("(?-i:(?<!{WORD})(?!{WORD})|(?<={WORD})(?={WORD}))")),
            'K' if self.lookarounds > 0 => {
                return Err("\\K is not allowed in lookarounds (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)".into());
            }
            'K' => self.assertion(r"\K"),
            'R' => {
                self.fancy = true;
                let text = r"(?>\r\n|[\n-\r\x{85}\x{2028}\x{2029}])";
                Piece { text: text.into(), len: None, kind: Kind::Atom }
            }
            'N' if !self.eat("{U+") => return self.no_newline(),
            'p' | 'P' => {
                let set = self.property(c == 'P')?;
                Piece::new(self.folded(format!("[{set}]"), false), 1, Kind::Atom)
            }
            'k' | 'g' => return self.named_reference(c),
            '1'..='9' => return self.numbered(start),
            'X' | 'C' => return unsupported(&format!("\\{c}")),
            _ => {
                self.position = start;
                let c = self.character()?.ok_or(UNKNOWN_ESCAPE)?;
                self.literal(c)
            }
        })
    }

    /// Reads `\N`, unless it begins the name of a character.
    fn no_newline(&mut self) -> Parsed<Piece> {
        if self.peek(0) == Some('{') {
            let at = self.position;
            if self.interval()?.is_none() {
                return Err("PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u".into());
            }
            self.position = at;
        }
        Ok(Piece::new(r"[^\n]", 1, Kind::Atom))
    }

    /// Reads `\1` and the like: a reference below 10, and above if so many groups precede it; else an octal number.
    fn numbered(&mut self, start: usize) -> Parsed<Piece> {
        self.position = start + 1;
        let digits = self.pattern[self.position..].iter().take_while(|c| c.is_ascii_digit());
        let digits: String = digits.collect();
        let number = digits.parse::<usize>().unwrap_or(usize::MAX);
        if number < 10 || digits.starts_with(['8', '9']) || number <= self.groups {
            self.position += digits.len();
            return self.reference(&digits);
        }
        self.position = start;
        let c = self.character()?.ok_or(UNKNOWN_ESCAPE)?;
        Ok(self.literal(c))
    }

    /// Reads the reference that follows `\g` or `\k`.
    fn named_reference(&mut self, letter: char) -> Parsed<Piece> {
        let name = match (letter, self.peek(0)) {
            (_, Some('{')) => {
                self.position += 1;
                self.until('}')?
            }
            ('k', Some('<' | '\'')) => {
                let close = if self.eat("<") {
                    '>'
                } else {
                    self.position += 1;
                    '\''
                };
                self.until(close)?
            }
            ('g', Some('<' | '\'')) => return unsupported("a call of a group (\\g<name>)"),
            ('g', Some('0'..='9' | '-' | '+')) => {
                let signed = usize::from(!self.pattern[self.position].is_ascii_digit());
                let rest = self.pattern[self.position + signed..].iter();
                let end = self.position + signed + rest.take_while(|c| c.is_ascii_digit()).count();
                let name = self.pattern[self.position..end].iter().collect();
                self.position = end;
                name
            }
            ('g', _) => {
                return Err(
                    "\\g is not followed by a braced, angle-bracketed, or quoted name/number or by a plain number"
                        .into(),
                );
            }
            _ => return Err("\\k is not followed by a braced, angle-bracketed, or quoted name".into()),
        };
        if letter == 'k' && !is_name(&name) {
            return Err("subpattern name expected".into());
        }
        self.reference(&name)
    }
}

fn joined(branches: &[Branch]) -> Branch {
    let texts: Vec<&str> = branches.iter().map(|b| b.text.as_str()).collect();
    let alike = branches.iter().all(|b| b.len == branches[0].len);
    Branch { text: texts.join("|"), len: branches[0].len.filter(|_| alike) }
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c == '_' || c.is_alphabetic());
    starts && name.chars().all(|c| c == '_' || c.is_alphanumeric())
}

fn unsupported<T>(what: &str) -> Parsed<T> {
    Err(format!("-P: {what} is not supported here"))
}
