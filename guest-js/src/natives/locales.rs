//! Data of `Intl` about locales, languages and scripts: texts of the CLDR, collation, and segmentation.
#![expect(unsafe_code, reason = "a class of QuickJS's whose values hold no values")]

mod collation;

use std::collections::HashMap;

use brotli_decompressor::BrotliResult;
use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_collator::preferences::{CollationCaseFirst, CollationNumericOrdering};
use icu_collator::{Collator as IcuCollator, CollatorPreferences};
use rquickjs::class::{Class, Readable};
use rquickjs::{Ctx, Object, Result};
use unicode_segmentation::UnicodeSegmentation;

use super::brotli::Brotli;
use super::{add_all, class_without_values};
use crate::errors;
use crate::text::Text;

/// Texts that `intl-data.mjs` packed: one line for each text with its name, offset and length, then an empty line, then
/// the texts as Brotli streams.
static DATA: &[u8] = include_bytes!("../../node/intl-data.bin");

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives,
        "localeData" => data,
        "segmentEnds" => segment_ends,
        "openCollator" => open_collator,
        "compareTexts" => compare,
    )
}

/// Returns the text with this name.
fn data(ctx: Ctx<'_>, name: Text) -> Result<String> {
    let found = packed(&name.0).and_then(decompress);
    found.ok_or_else(|| errors::type_error(&ctx, "there is no such text of `Intl`"))
}

fn packed(name: &str) -> Option<&'static [u8]> {
    let end = DATA.windows(2).position(|pair| pair == b"\n\n")?;
    let index = std::str::from_utf8(&DATA[..end]).ok()?;
    let row = index.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    let (at, length) = row.split_once(' ')?;
    let from = end + 2 + at.parse::<usize>().ok()?;
    DATA.get(from..from + length.parse::<usize>().ok()?)
}

fn decompress(packed: &[u8]) -> Option<String> {
    let mut stream = Brotli::new();
    let mut text = Vec::new();
    let mut at = 0;
    loop {
        let start = text.len();
        text.resize(start + (64 << 10), 0);
        let (result, taken, given) = stream.run(&packed[at..], &mut text[start..]);
        at += taken;
        text.truncate(start + given);
        match result {
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultSuccess => return String::from_utf8(text).ok(),
            BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => return None,
        }
    }
}

/// Collator of a language.
struct Collator(IcuCollator);

class_without_values!(Collator, Readable);

/// Opens the collator of a language. The settings are its strength (0 to 3: base, accent, case, variant), whether
/// digits compare as numbers, which case comes first, and whether punctuation counts.
fn open_collator<'js>(
    ctx: Ctx<'js>,
    language: Text,
    strength: u8,
    numeric: bool,
    case_first: Text,
    ignores_punctuation: bool,
) -> Result<Class<'js, Collator>> {
    let mut preferences = CollatorPreferences::from(&collation::locale(&language.0));
    preferences.numeric_ordering = numeric.then_some(CollationNumericOrdering::True);
    preferences.case_first = match case_first.0.as_str() {
        "upper" => Some(CollationCaseFirst::Upper),
        "lower" => Some(CollationCaseFirst::Lower),
        _ => None,
    };
    let mut options = CollatorOptions::default();
    options.strength = Some(match strength {
        0 | 2 => Strength::Primary,
        1 => Strength::Secondary,
        _ => Strength::Tertiary,
    });
    options.case_level = (strength == 2).then_some(CaseLevel::On);
    options.alternate_handling = ignores_punctuation.then_some(AlternateHandling::Shifted);
    match IcuCollator::try_new_unstable(&collation::Provider, preferences, options) {
        Ok(collator) => Class::instance(ctx, Collator(collator)),
        Err(error) => Err(errors::type_error(&ctx, &error.to_string())),
    }
}

fn compare(collator: Class<'_, Collator>, left: Text, right: Text) -> i32 {
    collator.borrow().0.as_borrowed().compare(&left.0, &right.0) as i32
}

/// Returns the ends of a text's segments (graphemes, words or sentences), in UTF-16 code units.
fn segment_ends(text: Text, granularity: u8) -> Vec<u32> {
    let text = text.0.as_str();
    match granularity {
        0 => ends_of(text.graphemes(true)),
        1 => ends_of(text.split_word_bounds()),
        _ => sentence_ends(text),
    }
}

fn ends_of<'text>(pieces: impl Iterator<Item = &'text str>) -> Vec<u32> {
    let mut end = 0;
    pieces
        .map(|piece| {
            end += piece.chars().map(units).sum::<u32>();
            end
        })
        .collect()
}

/// Returns the length of a character in UTF-16 code units.
fn units(character: char) -> u32 {
    u32::from(character > '\u{ffff}') + 1
}

/// Role of a character at the end of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentenceClass {
    Space,
    /// Follows the end of a sentence and belongs to it: a bracket or a quotation mark.
    Close,
    /// Belongs to the character before it.
    Attached,
    Other,
}

impl SentenceClass {
    /// Finds the role of a character by its effect on a test sentence, because the library does not export its tables.
    fn of(character: char) -> Self {
        let sentences =
            |before: &str, after: &str| format!("{before}{character}{after}").split_sentence_bounds().count();
        if character.is_ascii_alphanumeric() || matches!(character, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}') {
            Self::Other
        } else if character.is_whitespace() {
            Self::Space
        } else if sentences("! ", "") == 1 {
            if sentences("! ", "B") == 2 && sentences(" ", "B") == 1 { Self::Attached } else { Self::Other }
        } else if sentences("!", "") == 1 {
            Self::Close
        } else {
            Self::Other
        }
    }
}

/// Returns the ends of sentences. The library looks ahead from each space and bracket after a full stop, which is
/// quadratic in the length of a run of them. So the library gets only two characters of each run, and an end between
/// them is moved to the end of the run.
fn sentence_ends(text: &str) -> Vec<u32> {
    let mut classes = HashMap::new();
    let mut short = String::with_capacity(text.len());
    // Position in the whole text of the end of each character in the shortened text, including the omitted ones after
    // it.
    let mut ends: Vec<u32> = Vec::new();
    let (mut of_run, mut run, mut end) = (SentenceClass::Other, 0, 0);
    for character in text.chars() {
        let class = *classes.entry(character).or_insert_with(|| SentenceClass::of(character));
        let is_in_run = of_run != SentenceClass::Other && (class == of_run || class == SentenceClass::Attached);
        if class != SentenceClass::Attached {
            run = if is_in_run { run + 1 } else { 1 };
        }
        if !is_in_run {
            of_run = if class == SentenceClass::Attached { SentenceClass::Other } else { class };
        }
        end += units(character);
        match ends.last_mut() {
            Some(last) if is_in_run && (run > 2 || class == SentenceClass::Attached) => *last = end,
            _ => {
                short.push(character);
                ends.push(end);
            }
        }
    }
    let mut count = 0;
    let pieces = short.split_sentence_bounds();
    pieces
        .map(|piece| {
            count += piece.chars().count();
            ends[count - 1]
        })
        .collect()
}
