//! Tokens of a text that may be a date.

/// Token of a text that may be a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Sequence of digits, with its value and length. Digits after the first nine significant ones do not count for the
    /// value.
    Number { value: i32, digits: usize },
    /// Word, by its meaning.
    Word(Word),
    /// `+` (1) or `-` (-1).
    Sign(i32),
    /// The sign `:`, after an hour or a minute.
    Colon,
    /// The sign `.`, after seconds or between numbers.
    Dot,
    /// `)` without an opening bracket.
    Closed,
    /// Sequence of white space.
    Space,
    /// Any other character, such as a comma or slash, or a text in brackets.
    Other,
    /// End of the text.
    End,
}

/// Meaning of a word, by its first three letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Month, from 1. The word may be longer than its first three letters.
    Month(i32),
    /// `am` or `pm`, as the number of hours to add.
    HalfDay(i32),
    /// Time zone: hours east of Greenwich, and the number of letters in its name.
    Zone { hours: i32, letters: usize },
    /// `T`, which precedes the time.
    TimeFollows,
    /// Any other word.
    Unknown,
}

/// Number of significant digits that count.
const SIGNIFICANT: usize = 9;

const MONTHS: [&[u8]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

const ZONES: [(&[u8], i32); 12] = [
    (b"ut", 0),
    (b"utc", 0),
    (b"z", 0),
    (b"gmt", 0),
    (b"cdt", -5),
    (b"cst", -6),
    (b"edt", -4),
    (b"est", -5),
    (b"mdt", -6),
    (b"mst", -7),
    (b"pdt", -7),
    (b"pst", -8),
];

/// Tokenizer with one token of lookahead.
pub(super) struct Tokens<'t> {
    rest: &'t [u8],
    ahead: Token,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        let mut tokens = Self { rest: text, ahead: Token::End };
        tokens.ahead = tokens.read();
        tokens
    }

    /// Returns the next token without consuming it.
    pub(super) fn peek(&self) -> Token {
        self.ahead
    }

    /// Consumes and returns the next token.
    pub(super) fn next(&mut self) -> Token {
        let token = self.ahead;
        self.ahead = self.read();
        token
    }

    /// Consumes the next token if it is this one. Returns true if it was.
    pub(super) fn skip(&mut self, token: Token) -> bool {
        let is_next = self.ahead == token;
        if is_next {
            self.next();
        }
        is_next
    }

    /// Consumes the next token, or returns `None` if it is not this one.
    pub(super) fn expect(&mut self, token: Token) -> Option<()> {
        self.skip(token).then_some(())
    }

    /// Consumes a number of two digits that is at most `most`.
    pub(super) fn two_digits(&mut self, most: i32) -> Option<i32> {
        match self.next() {
            Token::Number { value, digits: 2 } if value <= most => Some(value),
            _ => None,
        }
    }

    /// Consumes the fraction of seconds. Digits after the third are dropped.
    pub(super) fn milliseconds(&mut self) -> Option<i32> {
        let Token::Number { value, digits } = self.next() else { return None };
        Some(match digits {
            1 => value * 100,
            2 => value * 10,
            more => (3..more.min(SIGNIFICANT)).fold(value, |value, _| value / 10),
        })
    }

    /// Consumes bytes as long as a condition holds.
    fn run(&mut self, holds: impl Fn(u8) -> bool) -> &'t [u8] {
        let length = self.rest.iter().position(|byte| !holds(*byte)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(length);
        self.rest = rest;
        run
    }

    fn read(&mut self) -> Token {
        let Some(first) = self.rest.first().copied() else { return Token::End };
        if first.is_ascii_digit() {
            return number(self.run(|byte| byte.is_ascii_digit()));
        }
        if is_letter(first) {
            return Token::Word(word(self.run(is_letter)));
        }
        if is_space(first) {
            self.run(is_space);
            return Token::Space;
        }
        if first == b'(' {
            self.skip_brackets();
            return Token::Other;
        }
        self.rest = &self.rest[1..];
        match first {
            b'+' => Token::Sign(1),
            b'-' => Token::Sign(-1),
            b':' => Token::Colon,
            b'.' => Token::Dot,
            b')' => Token::Closed,
            _ => Token::Other,
        }
    }

    /// Skips text in brackets, which may be nested. A bracket that is not closed extends to the end of the text.
    fn skip_brackets(&mut self) {
        let mut depth = 0;
        while let Some((first, rest)) = self.rest.split_first() {
            self.rest = rest;
            match first {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | 0xa0)
}

/// Returns true for letters and all higher characters of Latin-1, including brackets and underscores.
fn is_letter(byte: u8) -> bool {
    byte >= b'A' && !is_space(byte)
}

fn number(digits: &[u8]) -> Token {
    let significant = digits.iter().skip_while(|digit| **digit == b'0').take(SIGNIFICANT);
    let value = significant.fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
    Token::Number { value, digits: digits.len() }
}

fn word(letters: &[u8]) -> Word {
    let prefix = letters[..letters.len().min(3)].to_ascii_lowercase();
    if let Some(month) = (1..).zip(MONTHS).find(|(_, name)| **name == *prefix) {
        return Word::Month(month.0);
    }
    if letters.len() > 3 {
        return Word::Unknown;
    }
    match prefix.as_slice() {
        b"am" => Word::HalfDay(0),
        b"pm" => Word::HalfDay(12),
        b"t" => Word::TimeFollows,
        name => match ZONES.iter().find(|(zone, _)| *zone == name) {
            Some((_, hours)) => Word::Zone { hours: *hours, letters: letters.len() },
            None => Word::Unknown,
        },
    }
}
