//! Parses dates in text as V8 does: the format of the standard (ECMA-262, 21.4.1.32), and everything else that Node's
//! `Date.parse` accepts, by the same rules. QuickJS calls `tollhouse_date_parse` (`patches/10-dates.patch`).
//!
//! A text in another format is a sequence of numbers, words and signs. A number before a colon belongs to the time, a
//! number with a sign after the time is the zone, and other numbers form the day. Any word may precede the first
//! number; after it, only names of months, zones and halves of the day are allowed.
#![expect(unsafe_code, reason = "a function that C calls by its name")]

mod parts;
mod tokens;

use parts::{Day, Time, Zone};
use tokens::{Token, Tokens, Word};

/// Date that was found in a text.
struct ParsedDate {
    /// Year, month (from 0), day, hour, minute, second, millisecond.
    fields: [i32; 7],
    /// Offset in minutes east of Greenwich; `None` for local time.
    offset: Option<i32>,
}

/// Parses a date for QuickJS: seven fields, and the offset in minutes. Returns 0 if the text is not a date, 1 for a
/// time in UTC or with an offset, and 2 for local time.
///
/// # Safety
///
/// `text` points to `length` bytes, and `fields` to room for nine numbers, of which the offset is the last.
#[unsafe(no_mangle)]
unsafe extern "C" fn tollhouse_date_parse(text: *const u8, length: usize, fields: *mut i32) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (text, fields) =
        unsafe { (std::slice::from_raw_parts(text, length), std::slice::from_raw_parts_mut(fields, 9)) };
    let Some(date) = parse(text) else { return 0 };
    fields[..7].copy_from_slice(&date.fields);
    fields[8] = date.offset.unwrap_or(0);
    if date.offset.is_some() { 1 } else { 2 }
}

/// State of parsing a date.
#[derive(Default)]
struct DateParser {
    day: Day,
    time: Time,
    zone: Zone,
    has_number: bool,
}

/// Parses a date. Returns `None` if the text is not a date. Bytes beyond ASCII count as letters.
fn parse(text: &[u8]) -> Option<ParsedDate> {
    let mut tokens = Tokens::new(text);
    let mut parser = DateParser::default();
    let first = parser.standard(&mut tokens)?;
    parser.has_number = !parser.day.is_empty();
    let mut token = if first == Token::End { tokens.next() } else { first };
    while token != Token::End {
        parser.take(token, &mut tokens)?;
        token = tokens.next();
    }
    let DateParser { day, time, zone, .. } = parser;
    let [year, month, day] = day.finish()?;
    let [hour, minute, second, millisecond] = time.finish()?;
    Some(ParsedDate { fields: [year, month - 1, day, hour, minute, second, millisecond], offset: zone.finish()? })
}

impl DateParser {
    /// Parses the format of the standard as far as possible. Returns the first token that does not belong to it, which
    /// is the end of the text if the whole text is in that format. Returns `None` if no other format can apply: the
    /// text has a `T` without a time.
    fn standard(&mut self, tokens: &mut Tokens<'_>) -> Option<Token> {
        if let Token::Sign(sign) = tokens.peek() {
            tokens.next();
            let Token::Number { value: year, digits: 6 } = tokens.peek() else { return Some(Token::Sign(sign)) };
            tokens.next();
            if sign < 0 && year == 0 {
                return Some(Token::Sign(sign));
            }
            self.day.add(sign * year)?;
        } else if let Token::Number { value: year, digits: 4 } = tokens.peek() {
            tokens.next();
            self.day.add(year)?;
        } else {
            return Some(tokens.next());
        }
        // Month and day, each with its highest number.
        for highest in [12, 31] {
            if !tokens.skip(Token::Sign(-1)) {
                break;
            }
            match tokens.next() {
                Token::Number { value, digits: 2 } if (1..=highest).contains(&value) => self.day.add(value)?,
                other => return Some(other),
            }
        }
        if tokens.peek() == Token::Word(Word::TimeFollows) {
            tokens.next();
            self.standard_time(tokens)?;
        } else if tokens.peek() != Token::End {
            return Some(tokens.next());
        }
        if self.zone.is_empty() && self.time.is_empty() {
            self.zone = Zone::of_hours(0);
        }
        self.day.is_standard = true;
        Some(Token::End)
    }

    /// Parses the part after the `T` in the format of the standard: `HH:mm[:ss[.sss]]`, and the zone. Returns `None` if
    /// the text differs.
    fn standard_time(&mut self, tokens: &mut Tokens<'_>) -> Option<()> {
        let hour = tokens.two_digits(24)?;
        // Hour 24 means the end of the day, so minutes and seconds must be 0.
        let most = |most: i32| if hour == 24 { 0 } else { most };
        self.time.add(hour)?;
        tokens.expect(Token::Colon)?;
        self.time.add(tokens.two_digits(most(59))?)?;
        if tokens.skip(Token::Colon) {
            self.time.add(tokens.two_digits(most(59))?)?;
            if tokens.skip(Token::Dot) {
                let fraction = tokens.milliseconds()?;
                self.time.add(Some(fraction).filter(|fraction| *fraction <= most(999))?)?;
            }
        }
        match tokens.peek() {
            Token::Word(Word::Zone { hours, letters: 1 }) => {
                tokens.next();
                self.zone = Zone::of_hours(hours);
            }
            Token::Sign(sign) => {
                tokens.next();
                let (hours, minutes) = match tokens.next() {
                    Token::Number { value, digits: 4 } => (value / 100, value % 100),
                    Token::Number { value, digits: 2 } => {
                        tokens.expect(Token::Colon)?;
                        (value, tokens.two_digits(59)?)
                    }
                    _ => return None,
                };
                if hours > 23 || minutes > 59 {
                    return None;
                }
                self.zone = Zone::new(sign, hours, Some(minutes));
            }
            _ => {}
        }
        tokens.expect(Token::End)
    }

    /// Handles a token of a text in another format. Returns `None` if no date can have the token there.
    fn take(&mut self, token: Token, tokens: &mut Tokens<'_>) -> Option<()> {
        match token {
            Token::Number { value, .. } => {
                self.has_number = true;
                self.take_number(value, tokens)
            }
            Token::Word(word) => self.take_word(word, tokens),
            Token::Sign(sign) if self.zone.is_utc() || !self.time.is_empty() => {
                self.has_number = true;
                self.take_offset(sign, tokens)
            }
            // A sign or bracket without a meaning here.
            Token::Sign(_) | Token::Closed if self.has_number => None,
            _ => Some(()),
        }
    }

    fn take_number(&mut self, value: i32, tokens: &mut Tokens<'_>) -> Option<()> {
        if tokens.skip(Token::Colon) {
            if tokens.skip(Token::Colon) {
                if !self.time.is_empty() {
                    return None;
                }
                self.time.add(value)?;
                return self.time.add(0);
            }
            self.time.add(value)?;
            tokens.skip(Token::Dot);
            return Some(());
        }
        if tokens.skip(Token::Dot) && self.time.expects(value) {
            self.time.add(value)?;
            let fraction = tokens.milliseconds()?;
            self.time.add_last(fraction);
            return Some(());
        }
        if self.zone.expects(value) {
            self.zone.set_minute(value);
            return Some(());
        }
        if self.time.expects(value) {
            self.time.add_last(value);
            let is_apart = matches!(
                tokens.peek(),
                Token::End | Token::Space | Token::Sign(_) | Token::Word(Word::Zone { letters: 1, .. })
            );
            return is_apart.then_some(());
        }
        self.day.add(value)?;
        tokens.skip(Token::Sign(-1));
        Some(())
    }

    fn take_word(&mut self, word: Word, tokens: &mut Tokens<'_>) -> Option<()> {
        match word {
            Word::HalfDay(hours) if !self.time.is_empty() => self.time.set_half(hours),
            Word::Month(month) => {
                self.day.named_month = Some(month);
                tokens.skip(Token::Sign(-1));
            }
            Word::Zone { hours, .. } if self.has_number => self.zone = Zone::of_hours(hours),
            _ if self.has_number || matches!(tokens.peek(), Token::Number { .. }) => return None,
            _ => {}
        }
        Some(())
    }

    /// Parses the number after a sign: hours, or hours and minutes.
    fn take_offset(&mut self, sign: i32, tokens: &mut Tokens<'_>) -> Option<()> {
        let (value, digits) = match tokens.peek() {
            Token::Number { value, digits } => {
                tokens.next();
                (value, digits)
            }
            _ => (0, 0),
        };
        self.zone = match digits {
            _ if tokens.peek() == Token::Colon => Zone::new(sign, value, None),
            1 | 2 => Zone::new(sign, value, Some(0)),
            3 | 4 => Zone::new(sign, value / 100, Some(value % 100)),
            _ => return None,
        };
        Some(())
    }
}
