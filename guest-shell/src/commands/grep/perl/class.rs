//! Classes, properties and characters in the patterns of `grep -P`.

use super::{Kind, Parsed, Parser, Piece};

pub(super) const WORD: &str = "[0-9A-Za-z_]";
const BLANK: &str = r"\t \x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}";
const INVALID_RANGE: &str = "invalid range in character class";
const NO_END: &str = "missing terminating ] for character class";
const NO_PROPERTY: &str = "unknown property after \\P or \\p";
const NO_CHANGE_OF_CASE: &str = "PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u";

/// General categories of Unicode, as PCRE2 names them.
const CATEGORIES: &[&str] = &[
    "c", "cc", "cf", "cn", "co", "cs", "l", "ll", "lm", "lo", "lt", "lu", "m", "mc", "me", "mn", "n", "nd", "nl", "no",
    "p", "pc", "pd", "pe", "pf", "pi", "po", "ps", "s", "sc", "sk", "sm", "so", "z", "zl", "zp", "zs",
];
/// Properties that are true or false.
const BINARY: &[&str] = &[
    "alphabetic",
    "alpha",
    "lowercase",
    "lower",
    "uppercase",
    "upper",
    "whitespace",
    "wspace",
    "space",
    "ascii",
    "ahex",
    "hexdigit",
    "math",
    "dash",
    "emoji",
    "ideographic",
    "idstart",
    "idcontinue",
    "xidstart",
    "xidcontinue",
    "cased",
    "diacritic",
    "quotationmark",
];

/// Returns the set that `\d`, `\W` and the like stand for, and true if the set holds letters, so that flag `i` must not
/// apply to it.
pub(super) fn set_of(letter: char) -> Option<(String, bool)> {
    let (set, cased) = match letter.to_ascii_lowercase() {
        'd' => ("0-9", false),
        's' => (r"\t-\r ", false),
        'w' => ("0-9A-Za-z_", true),
        'h' => (BLANK, false),
        'v' => (r"\n-\r\x{85}\x{2028}\x{2029}", false),
        _ => return None,
    };
    let sign = if letter.is_ascii_uppercase() { "^" } else { "" };
    Some((format!("[{sign}{set}]"), cased))
}

/// Returns the text in braces at `at`, and the position behind them.
pub(super) fn braced(c: &[char], at: usize) -> Option<(String, usize)> {
    if c.get(at) != Some(&'{') {
        return None;
    }
    let end = at + c[at..].iter().position(|&c| c == '}')?;
    Some((c[at + 1..end].iter().collect(), end + 1))
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Members of a class: those that ignore case with flag `i`, and those that never do.
#[derive(Default)]
struct Items {
    folded: String,
    exact: String,
}

/// Member of a class.
enum Item {
    Char(char),
    Set(String, bool),
}

impl Parser {
    pub(super) fn class(&mut self) -> Parsed<Piece> {
        if self.eat("[[:<:]]") || self.eat("[[:>:]]") {
            let (behind, ahead) = if self.pattern[self.position - 4] == '<' { ("!", "=") } else { ("=", "!") };
            return Ok(self.assertion(&format!("(?-i:(?<{behind}{WORD})(?{ahead}{WORD}))")));
        }
        if self.posix_end().is_some() {
            return Err("POSIX named classes are supported only within a class".into());
        }
        self.position += 1;
        while self.eat("\\E") {}
        let negated = self.eat("^");
        let mut items = Items::default();
        self.members(&mut items)?;
        let sign = if negated { "^" } else { "" };
        let Items { folded, exact } = items;
        let text = if !self.flags.i || exact.is_empty() {
            self.folded(format!("[{sign}{folded}{exact}]"), self.flags.i)
        } else if folded.is_empty() {
            self.folded(format!("[{sign}{exact}]"), false)
        } else {
            let either = format!("(?i:[{folded}])|(?-i:[{exact}])");
            self.fancy |= negated;
            if negated { format!("(?:(?!{either})(?s:.))") } else { format!("(?:{either})") }
        };
        Ok(Piece::new(text, 1, Kind::Atom))
    }

    /// Reads the members up to the bracket that closes a class.
    fn members(&mut self, items: &mut Items) -> Parsed<()> {
        let (mut first, mut quoting) = (true, false);
        loop {
            let c = self.peek(0).ok_or(NO_END)?;
            if self.eat("\\E") {
                quoting = false;
            } else if !quoting && self.eat("\\Q") {
                quoting = true;
            } else if !quoting && self.flags.xx && matches!(c, ' ' | '\t') {
                self.position += 1;
            } else if !quoting && c == ']' && !first {
                self.position += 1;
                return Ok(());
            } else {
                first = false;
                let item = self.member(quoting)?;
                self.range(item, items, &mut quoting)?;
            }
        }
    }

    /// Reads one member; between `\Q` and `\E`, `quoting` is true.
    fn member(&mut self, quoting: bool) -> Parsed<Item> {
        let c = self.peek(0).ok_or(NO_END)?;
        if !quoting
            && c == '['
            && let Some(end) = self.posix_end()
        {
            return self.posix(end);
        }
        if quoting || c != '\\' {
            self.position += 1;
            return Ok(Item::Char(c));
        }
        let letter = self.peek(1).ok_or("\\ at end of pattern")?;
        if let Some((set, cased)) = set_of(letter) {
            self.position += 2;
            return Ok(Item::Set(set, cased));
        }
        match letter {
            'b' => {
                self.position += 2;
                Ok(Item::Char('\u{8}'))
            }
            'p' | 'P' => {
                self.position += 2;
                Ok(Item::Set(self.property(letter == 'P')?, true))
            }
            'N' if self.peek(2) != Some('{') => Err("\\N is not supported in a class".into()),
            'A' | 'B' | 'G' | 'K' | 'R' | 'X' | 'Z' | 'z' => {
                Err("escape sequence is invalid in character class".into())
            }
            _ => match self.character()? {
                Some(c) => Ok(Item::Char(c)),
                None => Err("unrecognized character follows \\".into()),
            },
        }
    }

    /// Adds a member, with the range that it begins.
    fn range(&mut self, item: Item, items: &mut Items, quoting: &mut bool) -> Parsed<()> {
        while self.eat("\\E") {
            *quoting = false;
        }
        let hyphen = !*quoting && self.peek(0) == Some('-') && self.peek(1).is_some_and(|c| c != ']');
        let low = match item {
            Item::Set(..) if hyphen => return Err(INVALID_RANGE.into()),
            Item::Set(set, true) => {
                items.exact.push_str(&set);
                return Ok(());
            }
            Item::Set(set, false) => {
                items.folded.push_str(&set);
                return Ok(());
            }
            Item::Char(c) => c,
        };
        items.folded.push_str(&member_text(low));
        if !hyphen {
            return Ok(());
        }
        let at = self.position;
        self.position += 1;
        loop {
            if self.eat("\\Q") {
                *quoting = true;
            } else if self.eat("\\E") {
                *quoting = false;
            } else if self.flags.xx && !*quoting && matches!(self.peek(0), Some(' ' | '\t')) {
                self.position += 1;
            } else {
                break;
            }
        }
        if !*quoting && self.peek(0) == Some(']') {
            // The hyphen is a member: nothing but what means nothing followed it.
            self.position = at + 1;
            items.folded.push_str(&member_text('-'));
            return Ok(());
        }
        match self.member(*quoting)? {
            Item::Set(..) => Err(INVALID_RANGE.into()),
            Item::Char(high) if high < low => Err("range out of order in character class".into()),
            Item::Char(high) => {
                items.folded.push('-');
                items.folded.push_str(&member_text(high));
                Ok(())
            }
        }
    }

    /// Returns the end of the `[:name:]` (also with `.` or `=`) that begins at this position.
    fn posix_end(&self) -> Option<usize> {
        let mark = self.peek(1).filter(|c| matches!(c, ':' | '.' | '='))?;
        let mut at = self.position + 2;
        while at + 1 < self.pattern.len() {
            match (self.pattern[at], self.pattern[at + 1]) {
                ('\\', ']' | '\\') => at += 1,
                ('[', next) if next == mark => return None,
                (']', _) => return None,
                (c, ']') if c == mark => return Some(at),
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn posix(&mut self, end: usize) -> Parsed<Item> {
        if self.peek(1) != Some(':') {
            return Err("POSIX collating elements are not supported".into());
        }
        let name: String = self.pattern[self.position + 2..end].iter().collect();
        let (sign, name) = match name.strip_prefix('^') {
            Some(rest) => ("^", rest.to_string()),
            None => ("", name),
        };
        let set = match name.as_str() {
            "upper" | "lower" if self.flags.i => "A-Za-z",
            "alpha" => "A-Za-z",
            "lower" => "a-z",
            "upper" => "A-Z",
            "alnum" => "0-9A-Za-z",
            "word" => "0-9A-Za-z_",
            "digit" => "0-9",
            "xdigit" => "0-9A-Fa-f",
            "ascii" => r"\x{0}-\x{7f}",
            "blank" => r"\t ",
            "space" => r"\t-\r ",
            "cntrl" => r"\x{0}-\x{1f}\x{7f}",
            "graph" => r"\x{21}-\x{7e}",
            "print" => r"\x{20}-\x{7e}",
            "punct" => r"\x{21}-\x{2f}\x{3a}-\x{40}\x{5b}-\x{60}\x{7b}-\x{7e}",
            _ => return Err("unknown POSIX class name".into()),
        };
        self.position = end + 2;
        Ok(Item::Set(format!("[{sign}{set}]"), true))
    }

    /// Reads the property behind `\p` or `\P`, as a member of a class.
    pub(super) fn property(&mut self, negated: bool) -> Parsed<String> {
        let malformed = "malformed \\P or \\p sequence";
        let (name, negated) = match braced(&self.pattern, self.position) {
            Some((name, end)) => {
                self.position = end;
                match name.strip_prefix('^') {
                    Some(rest) => (rest.to_string(), !negated),
                    None => (name, negated),
                }
            }
            None => {
                let letter = self.peek(0).filter(char::is_ascii_alphabetic).ok_or(malformed)?;
                self.position += 1;
                (letter.to_string(), negated)
            }
        };
        let loose: String = name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).collect();
        let loose = loose.to_ascii_lowercase();
        let set = match loose.as_str() {
            "l&" | "lc" => r"\p{Lu}\p{Ll}\p{Lt}".to_string(),
            "any" => r"\x{0}-\x{10ffff}".to_string(),
            "xan" => r"\p{L}\p{N}".to_string(),
            "xwd" => r"\p{L}\p{N}_".to_string(),
            known if CATEGORIES.contains(&known) || BINARY.contains(&known) => {
                format!("\\p{{{known}}}")
            }
            other => script(other)?,
        };
        Ok(format!("[{}{set}]", if negated { "^" } else { "" }))
    }

    /// Reads the escape at this position, and returns the character that it stands for, if it is one.
    pub(super) fn character(&mut self) -> Parsed<Option<char>> {
        let letter = self.peek(1).ok_or("\\ at end of pattern")?;
        self.position += 2;
        Ok(Some(match letter {
            'a' => '\u{7}',
            'e' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'c' => self.control()?,
            'x' => self.hexadecimal()?,
            'o' => {
                let Some((digits, end)) = braced(&self.pattern, self.position) else {
                    return Err("missing opening brace after \\o".into());
                };
                self.position = end;
                code(&digits, 8)?
            }
            'N' if self.eat("{U+") => {
                let digits = self.until('}')?;
                code(&digits, 16)?
            }
            '0'..='7' => {
                let rest = self.pattern[self.position..].iter().take(2);
                let digits: String = rest.take_while(|c| c.is_digit(8)).collect();
                self.position += digits.len();
                code(&format!("{letter}{digits}"), 8)?
            }
            '8' | '9' => letter,
            'F' | 'L' | 'l' | 'N' | 'U' | 'u' => return Err(NO_CHANGE_OF_CASE.into()),
            letter if letter.is_ascii_alphabetic() => return Ok(None),
            other => other,
        }))
    }

    fn control(&mut self) -> Parsed<char> {
        let c = self.peek(0).ok_or("\\c at end of pattern")?;
        self.position += 1;
        match u8::try_from(c) {
            Ok(byte @ b' '..=b'~') => Ok(char::from(byte.to_ascii_uppercase() ^ 0x40)),
            _ => Err("\\c must be followed by a printable ASCII character".into()),
        }
    }

    fn hexadecimal(&mut self) -> Parsed<char> {
        if let Some((digits, end)) = braced(&self.pattern, self.position) {
            self.position = end;
            return code(&digits, 16);
        }
        if self.peek(0) == Some('{') {
            return Err("non-hex character in \\x{} (closing brace missing?)".into());
        }
        let rest = self.pattern[self.position..].iter().take(2);
        let digits: String = rest.take_while(|c| c.is_ascii_hexdigit()).collect();
        self.position += digits.len();
        if digits.is_empty() { Ok('\0') } else { code(&digits, 16) }
    }
}

/// Returns the set of a script, which is named as such or behind `sc:` or `scx:`.
fn script(loose: &str) -> Parsed<String> {
    let (kind, name) = match loose.split_once([':', '=']) {
        Some(("sc" | "script", name)) => ("sc", name),
        Some(("scx" | "scriptextensions", name)) => ("scx", name),
        Some(_) => return Err(NO_PROPERTY.into()),
        None => ("scx", loose),
    };
    let set = format!("\\p{{{kind}={name}}}");
    let valid = name.bytes().all(|b| b.is_ascii_alphanumeric()) && regex::Regex::new(&set).is_ok();
    valid.then_some(set).ok_or_else(|| NO_PROPERTY.to_string())
}

/// Returns the character of a number.
fn code(digits: &str, radix: u32) -> Parsed<char> {
    if digits.is_empty() {
        return Err("digits missing in \\x{} or \\o{} or \\N{U+}".into());
    }
    if !digits.chars().all(|c| c.is_digit(radix)) {
        let (kind, letter) = if radix == 8 { ("octal", 'o') } else { ("hex", 'x') };
        return Err(format!("non-{kind} character in \\{letter}{{}} (closing brace missing?)"));
    }
    let number = u32::from_str_radix(digits, radix).unwrap_or(u32::MAX);
    if (0xd800..=0xdfff).contains(&number) {
        return Err("disallowed Unicode code point (>= 0xd800 && <= 0xdfff)".into());
    }
    char::from_u32(number).ok_or_else(|| "character code point value in \\x{} or \\o{} is too large".to_string())
}

/// Returns a character as a member of a class, without any other meaning.
fn member_text(c: char) -> String {
    if c.is_ascii() && !c.is_ascii_alphanumeric() { format!("\\x{{{:x}}}", u32::from(c)) } else { c.to_string() }
}
