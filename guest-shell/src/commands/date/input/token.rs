//! Numbers, words and punctuation of a date.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::words::word_token;
use crate::commands::date::timezone::LocalZone;

/// Unit of relative time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TimeUnit {
    Year,
    Month,
    /// Number of whole days.
    Days(i64),
    Hour,
    Minute,
    Second,
}

/// Word, number or sign of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DateToken {
    /// Number, whether it has a sign, and how many digits.
    Number {
        value: i64,
        signed: bool,
        digits: usize,
    },
    Decimal {
        value: i64,
        nanos: i64,
    },
    Meridian {
        afternoon: bool,
    },
    Month(i64),
    Day(i64),
    Unit(TimeUnit),
    /// Number that is a word: `third`, `next`.
    Ordinal(i64),
    /// Number of days from today.
    DayShift(i64),
    /// Zone, in seconds east of UTC.
    Zone(i64),
    /// Word after a time zone that marks summer time.
    Summer,
    /// The letter T, which is a zone, or precedes a time.
    T,
    Ago,
    Punctuation(char),
}

/// Splits a text into tokens.
pub(super) fn tokens(text: &str, local_zones: &[LocalZone]) -> Option<Vec<DateToken>> {
    let letters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        if is_space(letter) {
            at += 1;
        } else if letter == '(' {
            at = comment_end(&letters, at)?;
        } else if letter.is_ascii_digit() {
            let (token, end) = number(&letters, at, None)?;
            tokens.push(token);
            at = end;
        } else if matches!(letter, '-' | '+') {
            at += 1;
            at += letters[at..].iter().take_while(|letter| is_space(**letter)).count();
            // A sign without a number is ignored.
            if letters.get(at).is_some_and(char::is_ascii_digit) {
                let (token, end) = number(&letters, at, Some(letter))?;
                tokens.push(token);
                at = end;
            }
        } else if letter.is_ascii_alphabetic() {
            let is_of_word = |letter: &&char| letter.is_ascii_alphabetic() || **letter == '.';
            let length = letters[at..].iter().take_while(is_of_word).count();
            let word: String = letters[at..at + length].iter().collect();
            tokens.push(word_token(&word.to_ascii_uppercase(), local_zones)?);
            at += length;
        } else {
            tokens.push(DateToken::Punctuation(letter));
            at += 1;
        }
    }
    Some(tokens)
}

fn is_space(letter: char) -> bool {
    letter.is_ascii_whitespace() || letter == '\x0b'
}

/// Returns the position after a comment in parentheses, which may be nested.
fn comment_end(letters: &[char], start: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in letters.iter().enumerate().skip(start) {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Reads a number after its sign, and returns the position after it.
fn number(letters: &[char], start: usize, sign: Option<char>) -> Option<(DateToken, usize)> {
    let count_digits = |letters: &[char]| letters.iter().take_while(|letter| letter.is_ascii_digit()).count();
    let digits = count_digits(&letters[start..]);
    let text: String = letters[start..start + digits].iter().collect();
    let factor = if sign == Some('-') { -1 } else { 1 };
    let value = text.parse::<i64>().ok()?.checked_mul(factor)?;
    let end = start + digits;
    let places = match letters.get(end) {
        Some('.' | ',') => count_digits(&letters[end + 1..]),
        _ => 0,
    };
    if places == 0 {
        return Some((DateToken::Number { value, signed: sign.is_some(), digits }, end));
    }
    let fraction: String = letters[end + 1..end + 1 + places].iter().chain(&['0'; 9]).take(9).collect();
    let nanos = fraction.parse::<i64>().ok()? * factor;
    Some((DateToken::Decimal { value, nanos }, end + 1 + places))
}
