//! Tokens of a text that may be a date.

/// Part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Row of digits, with its value and length. Digits behind nine significant ones do not count for the value.
    Number { value: i32, digits: usize },
    /// Word, by what it names.
    Word(Word),
    /// `+` (1) or `-` (-1).
    Sign(i32),
    /// The sign `:`, behind an hour or a minute.
    Colon,
    /// The sign `.`, behind seconds or between numbers.
    Dot,
    /// `)` without a bracket before it.
    Closed,
    /// Row of white space.
    Space,
    /// Any other character, such as a comma or slash, or a text in brackets.
    Other,
    /// End of the text.
    End,
}

/// Meaning of a word, by its first three letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Month, from 1. Its name may go on.
    Month(i32),
    /// `am` or `pm`: hours that it adds.
    HalfDay(i32),
    /// Time zone: hours east of Greenwich, and the letters of its name.
    Zone { hours: i32, letters: usize },
    /// `T`, behind which the time stands.
    TimeFollows,
    /// Any other word.
    Unknown,
}

/// Digits that count.
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

/// Reader of a text, one token ahead.
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

    /// Returns the next token, and leaves it there.
    pub(super) fn peek(&self) -> Token {
        self.ahead
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Token {
        let token = self.ahead;
        self.ahead = self.read();
        token
    }

    /// Takes the next token if it is this one. Returns true if it was.
    pub(super) fn skip(&mut self, token: Token) -> bool {
        let is_next = self.ahead == token;
        if is_next {
            self.next();
        }
        is_next
    }

    /// Takes the next token, which has to be this one.
    pub(super) fn expect(&mut self, token: Token) -> Option<()> {
        self.skip(token).then_some(())
    }

    /// Takes a number of two digits, which is at most `most`.
    pub(super) fn two_digits(&mut self, most: i32) -> Option<i32> {
        match self.next() {
            Token::Number { value, digits: 2 } if value <= most => Some(value),
            _ => None,
        }
    }

    /// Takes the digits behind the point of seconds. Beyond three they are cut off.
    pub(super) fn milliseconds(&mut self) -> Option<i32> {
        let Token::Number { value, digits } = self.next() else { return None };
        Some(match digits {
            1 => value * 100,
            2 => value * 10,
            more => (3..more.min(SIGNIFICANT)).fold(value, |value, _| value / 10),
        })
    }

    /// Takes the bytes that a condition holds for.
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

    /// Skips what stands in brackets, and brackets in them. One that is not closed holds the rest of the text.
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

/// Returns true for letters and whatever comes behind them in Latin-1, brackets and underscores too.
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
