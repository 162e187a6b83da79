//! Estimates the number of tokens that a large language model would count.
//!
//! A real tokenizer needs a vocabulary of several megabytes, which every call would have to unpack in a fresh instance.
//! This module splits text into pieces as byte-pair tokenizers do (words with the space before them, digits by threes,
//! sequences of punctuation) and adds up a typical cost of each piece. The costs were fitted to `o200k_base`; the tests
//! contain its exact counts for some texts.

use std::iter::Peekable;
use std::str::Chars;

/// Kind of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Letters of the Latin alphabet.
    Latin,
    /// Chinese, Japanese and Korean, where nearly every character is a token.
    Ideographic,
    /// Letters of other alphabets.
    OtherLetter,
    Digit,
    Blank,
    LineEnd,
    Symbol,
}

/// Costs are whole hundredths of a token, so that the sum does not depend on rounding.
const TOKEN: u64 = 100;
/// Length up to which a Latin word is mostly one token.
const FREE_LATIN: u64 = 6;
const LATIN: u64 = 12;
const ACCENT: u64 = 50;
const IDEOGRAPH: u64 = 80;
const OTHER_LETTER: u64 = 25;
const FIRST_SYMBOL: u64 = 90;
const SYMBOL: u64 = 20;
/// Cost of a line end after a symbol: mostly both are one token.
const LINE_END_BEHIND_SYMBOL: u64 = 30;

/// Estimates the tokens of a text.
pub fn estimate(text: &str) -> u64 {
    let mut characters = text.chars().peekable();
    let mut sum = 0;
    let mut before = None;
    while let Some(first) = characters.next() {
        let piece = Piece::take(first, &mut characters);
        sum += piece.price(before, characters.peek().copied().map(kind));
        before = Some(piece.kind);
    }
    sum.div_ceil(TOKEN)
}

/// Sequence of characters of one kind.
struct Piece {
    kind: Kind,
    length: u64,
    beyond_ascii: u64,
}

impl Piece {
    fn take(first: char, rest: &mut Peekable<Chars<'_>>) -> Self {
        let mut piece = Self { kind: kind(first), length: 1, beyond_ascii: u64::from(!first.is_ascii()) };
        let mut last = first;
        while let Some(&next) = rest.peek() {
            let capital = piece.kind == Kind::Latin && last.is_lowercase() && next.is_uppercase();
            if kind(next) != piece.kind || capital {
                break;
            }
            piece.length += 1;
            piece.beyond_ascii += u64::from(!next.is_ascii());
            last = next;
            rest.next();
        }
        piece
    }

    fn price(&self, before: Option<Kind>, behind: Option<Kind>) -> u64 {
        match self.kind {
            Kind::Latin => TOKEN + self.length.saturating_sub(FREE_LATIN) * LATIN + self.beyond_ascii * ACCENT,
            Kind::Ideographic => self.length * IDEOGRAPH,
            Kind::OtherLetter => (self.length * OTHER_LETTER).max(TOKEN),
            Kind::Digit => self.length.div_ceil(3) * TOKEN,
            // A single space belongs to the word after it, but not to a number.
            Kind::Blank if self.length > 1 || behind == Some(Kind::Digit) => TOKEN,
            Kind::Blank => 0,
            Kind::LineEnd if before == Some(Kind::Symbol) => LINE_END_BEHIND_SYMBOL,
            Kind::LineEnd => TOKEN,
            Kind::Symbol => {
                let ascii = self.length - self.beyond_ascii;
                self.beyond_ascii * TOKEN + if ascii > 0 { FIRST_SYMBOL + (ascii - 1) * SYMBOL } else { 0 }
            }
        }
    }
}

fn kind(character: char) -> Kind {
    match character {
        ' ' | '\t' => Kind::Blank,
        '\n' | '\r' => Kind::LineEnd,
        _ if character.is_numeric() => Kind::Digit,
        '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{20000}'.. if character.is_alphabetic() => {
            Kind::Ideographic
        }
        '\0'..'\u{250}' | '\u{1e00}'..'\u{1f00}' if character.is_alphabetic() => Kind::Latin,
        _ if character.is_alphabetic() => Kind::OtherLetter,
        _ => Kind::Symbol,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Exact counts by the tokenizer `o200k_base` (crate `bpe-openai` 0.3.2). The texts are the beginning of the
    // Universal Declaration of Human Rights in several languages, and typical data of scripts.
    #[rustfmt::skip]
    const COUNTED: [(&str, u64); 7] = [
        ("All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.", 33),
        ("Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.", 38),
        ("Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.", 41),
        ("人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。", 35),
        (r#"[{"name":"Saab 99","mpg":25,"hp":87,"origin":"Europe"},{"name":"VW","mpg":26.5,"hp":46,"origin":"Europe"}]"#, 42),
        ("name,mpg,weight\nford pinto,25.0,2046\nvw 1131,26.5,1835\npeugeot 504,25.4,2672\n", 42),
        ("for (const row of rows) {\n    if (row.price > 10) {\n        total += await stats.describe({values: row.items});\n    }\n}\n", 33),
    ];

    #[test]
    fn token_estimate_is_within_a_quarter_of_a_tokenizer() {
        for (text, counted) in COUNTED {
            let estimated = estimate(text);
            assert!(estimated.abs_diff(counted) * 4 <= counted, "{estimated} for {counted}: {text}");
        }
    }

    #[test]
    fn token_estimate_of_small_texts_is_exact() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("a"), 1);
        assert_eq!(estimate("hello world"), 2);
        assert_eq!(estimate("1234567"), 3);
        assert_eq!(estimate("\n\n\n"), 1);
    }
}
