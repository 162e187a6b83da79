//! Sets of characters: escapes, ranges, classes (`[:lower:]`), equivalents (`[=c=]`) and repeats (`[c*n]`, `[c*]`).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Largest number of repeats of one byte. A set is expanded before limits of the input and the output can apply.
const MAX_REPEATS: usize = 4096;

/// Largest total number of bytes of all items, for sets with many repeats.
const MAX_EXPANDED: usize = 1 << 20;

/// Part of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SetItem {
    /// Bytes from the first to the last.
    Range(u8, u8),
    /// Class of characters, by its name.
    Class(&'static str),
    /// Characters that are equivalent to a character, which is only itself.
    Equivalent(u8),
    Repeat(u8, usize),
    /// Repeats of a byte, up to the length of the other set.
    Fill(u8),
}

const CLASSES: [&str; 12] =
    ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"];

impl SetItem {
    /// Returns the bytes in order. A [`SetItem::Fill`] has none, since its length is open.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Range(from, to) => (*from..=*to).collect(),
            Self::Class(name) => (0..=u8::MAX).filter(|byte| is_in_class(name, *byte)).collect(),
            Self::Equivalent(byte) => vec![*byte],
            Self::Repeat(byte, count) => vec![*byte; *count],
            Self::Fill(_) => Vec::new(),
        }
    }

    pub(super) fn is_fill(&self) -> bool {
        matches!(self, Self::Fill(_))
    }

    /// Returns true for the class of upper or of lower case letters.
    pub(super) fn is_case_class(&self) -> bool {
        matches!(self, Self::Class("upper" | "lower"))
    }
}

fn is_in_class(name: &str, byte: u8) -> bool {
    match name {
        "alnum" => byte.is_ascii_alphanumeric(),
        "alpha" => byte.is_ascii_alphabetic(),
        "blank" => matches!(byte, b' ' | b'\t'),
        "cntrl" => byte.is_ascii_control(),
        "digit" => byte.is_ascii_digit(),
        "graph" => byte.is_ascii_graphic(),
        "lower" => byte.is_ascii_lowercase(),
        "print" => byte == b' ' || byte.is_ascii_graphic(),
        "punct" => byte.is_ascii_punctuation(),
        "space" => matches!(byte, b'\t'..=b'\r' | b' '),
        "upper" => byte.is_ascii_uppercase(),
        _ => byte.is_ascii_hexdigit(),
    }
}

/// Parses a set, such as `a-z[:digit:]`. The error is a message.
pub(super) fn parse_set(text: &str) -> Result<Vec<SetItem>, String> {
    let tokens = SetTokens::new(text);
    let mut items = Vec::new();
    let mut place = 0;
    while let Some(token) = tokens.0.get(place) {
        let (item, end) = match tokens.bracketed(place)? {
            Some(found) => found,
            None => tokens.range(token.byte, place)?,
        };
        items.push(item);
        place = end;
    }
    let length = |item: &SetItem| if let SetItem::Repeat(_, count) = item { *count } else { 1 };
    if items.iter().map(length).sum::<usize>() > MAX_EXPANDED {
        return Err("character set expansion too large".to_owned());
    }
    Ok(items)
}

/// Byte of a set. An escaped byte is not an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SetToken {
    byte: u8,
    escaped: bool,
}

/// Bytes of a set, with decoded escapes.
struct SetTokens(Vec<SetToken>);

impl SetTokens {
    fn new(text: &str) -> Self {
        let text = bashkit::bytes_of(text);
        let mut tokens = Vec::with_capacity(text.len());
        let mut rest = &*text;
        while let Some((first, behind)) = rest.split_first() {
            rest = behind;
            let escaped = *first == b'\\';
            // A backslash at the end is literal.
            let byte = if escaped && !rest.is_empty() { take_escape(&mut rest) } else { *first };
            tokens.push(SetToken { byte, escaped });
        }
        Self(tokens)
    }

    /// Returns true if there is an operator at a position.
    fn is_operator(&self, place: usize, byte: u8) -> bool {
        self.0.get(place) == Some(&SetToken { byte, escaped: false })
    }

    /// Returns the position of an operator at or after a position.
    fn find_operator(&self, place: usize, byte: u8) -> Option<usize> {
        (place..self.0.len()).find(|place| self.is_operator(*place, byte))
    }

    fn text(&self, from: usize, to: usize) -> String {
        let bytes: Vec<u8> = self.0[from..to].iter().map(|token| token.byte).collect();
        bashkit::text_of(&bytes).into_owned()
    }

    /// Returns the byte or the range at a position, and the position after it.
    fn range(&self, from: u8, place: usize) -> Result<(SetItem, usize), String> {
        let Some(to) = self.0.get(place + 2).filter(|_| self.is_operator(place + 1, b'-')) else {
            return Ok((SetItem::Range(from, from), place + 1));
        };
        if to.byte < from {
            let (from, to) = (from.escape_ascii(), to.byte.escape_ascii());
            return Err(format!("range-endpoints of '{from}-{to}' are in reverse collating sequence order"));
        }
        Ok((SetItem::Range(from, to.byte), place + 3))
    }

    /// Returns the item that begins with a bracket at a position, and the position after it. Returns `None` if the
    /// bracket is literal.
    fn bracketed(&self, place: usize) -> Result<Option<(SetItem, usize)>, String> {
        if !self.is_operator(place, b'[') {
            return Ok(None);
        }
        for kind in [b':', b'='] {
            if self.is_operator(place + 1, kind)
                && let Some(end) = (place + 2..self.0.len())
                    .find(|end| self.is_operator(*end, kind) && self.is_operator(end + 1, b']'))
            {
                let item = if kind == b':' { self.class(place + 2, end) } else { self.equivalent(place + 2, end) };
                return item.map(|item| Some((item, end + 2)));
            }
        }
        self.repeat(place)
    }

    fn class(&self, start: usize, end: usize) -> Result<SetItem, String> {
        let name = self.text(start, end);
        if name.is_empty() {
            return Err("missing character class name '[::]'".to_owned());
        }
        let class = CLASSES.into_iter().find(|class| *class == name);
        class.map(SetItem::Class).ok_or_else(|| format!("invalid character class '{name}'"))
    }

    fn equivalent(&self, start: usize, end: usize) -> Result<SetItem, String> {
        match &self.0[start..end] {
            [] => Err("missing equivalence class character '[==]'".to_owned()),
            [token] => Ok(SetItem::Equivalent(token.byte)),
            _ => Err(format!("{}: equivalence class operand must be a single character", self.text(start, end))),
        }
    }

    /// Returns the repeat that begins with a bracket at a position. A count that begins with 0 is octal. A count of 0
    /// means no count.
    fn repeat(&self, place: usize) -> Result<Option<(SetItem, usize)>, String> {
        if !self.is_operator(place + 2, b'*') {
            return Ok(None);
        }
        let Some(end) = self.find_operator(place + 3, b']') else {
            return Ok(None);
        };
        let byte = self.0[place + 1].byte;
        let count = self.text(place + 3, end);
        let radix = if count.starts_with('0') { 8 } else { 10 };
        let repeats = match count.as_str() {
            "" => Some(0),
            // The number parser would accept a sign.
            count if count.starts_with('+') => None,
            count => usize::from_str_radix(count, radix).ok().filter(|repeats| *repeats <= MAX_REPEATS),
        };
        let item = match repeats {
            None => return Err(format!("invalid repeat count '{count}' in [c*n] construct")),
            Some(0) => SetItem::Fill(byte),
            Some(repeats) => SetItem::Repeat(byte, repeats),
        };
        Ok(Some((item, end + 1)))
    }
}

/// Consumes an escape after a backslash: up to three octal digits of one byte, or a letter of C's escapes.
fn take_escape(rest: &mut &[u8]) -> u8 {
    let mut value = 0;
    let mut digit_count = 0;
    while let Some(digit) = rest.get(digit_count).filter(|byte| (b'0'..=b'7').contains(*byte)) {
        let next = value * 8 + u16::from(digit - b'0');
        if digit_count == 3 || next > 0o377 {
            break;
        }
        value = next;
        digit_count += 1;
    }
    let first = rest[0];
    *rest = &rest[digit_count.max(1)..];
    match first {
        _ if digit_count > 0 => u8::try_from(value).unwrap_or(u8::MAX),
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        other => other,
    }
}
