//! Words of dates.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::token::{DateToken, TimeUnit};
use crate::commands::date::timezone::LocalZone;

const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];
const DAYS: [&str; 7] = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];

/// Ordinals from 1 on. `second` is the unit.
const ORDINALS: [&str; 12] =
    ["FIRST", "", "THIRD", "FOURTH", "FIFTH", "SIXTH", "SEVENTH", "EIGHTH", "NINTH", "TENTH", "ELEVENTH", "TWELFTH"];

/// Number of the first entries of [`ZONES`], whose names mean UTC everywhere.
const UNIVERSAL_ZONES: usize = 3;

/// Zones by name, in minutes east of UTC.
const ZONES: [(&str, i64); 54] = [
    ("GMT", 0),
    ("UT", 0),
    ("UTC", 0),
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("ART", -180),
    ("BRT", -180),
    ("BRST", -120),
    ("NST", -210),
    ("NDT", -150),
    ("AST", -240),
    ("ADT", -180),
    ("CLT", -240),
    ("CLST", -180),
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("AKST", -540),
    ("AKDT", -480),
    ("HST", -600),
    ("HAST", -600),
    ("HADT", -540),
    ("SST", -720),
    ("WAT", 60),
    ("CET", 60),
    ("CEST", 120),
    ("MET", 60),
    ("MEZ", 60),
    ("MEST", 120),
    ("MESZ", 120),
    ("EET", 120),
    ("EEST", 180),
    ("CAT", 120),
    ("SAST", 120),
    ("EAT", 180),
    ("MSK", 180),
    ("MSD", 240),
    ("IST", 330),
    ("SGT", 480),
    ("KST", 540),
    ("JST", 540),
    ("GST", 600),
    ("NZST", 720),
    ("NZDT", 780),
    ("WAST", 120),
    ("CHST", 600),
    ("PKT", 300),
    ("ICT", 420),
];

/// Returns the token that a word in upper case is.
pub(super) fn word_token(word: &str, local_zones: &[LocalZone]) -> Option<DateToken> {
    meridian(word)
        .or_else(|| month(word))
        .or_else(|| weekday(word))
        .or_else(|| zone(word, local_zones))
        .or_else(|| (word == "DST").then_some(DateToken::Summer))
        .or_else(|| unit(word).or_else(|| unit(word.strip_suffix('S')?)).map(DateToken::Unit))
        .or_else(|| ordinal_or_shift(word))
        .or_else(|| military_zone(word))
        .or_else(|| zone(&word.replace('.', ""), local_zones))
}

fn meridian(word: &str) -> Option<DateToken> {
    match word {
        "AM" | "A.M." => Some(DateToken::Meridian { afternoon: false }),
        "PM" | "P.M." => Some(DateToken::Meridian { afternoon: true }),
        _ => None,
    }
}

fn month(word: &str) -> Option<DateToken> {
    let at = place_of_name(&MONTHS, word).or((word == "SEPT").then_some(8))?;
    Some(DateToken::Month(at + 1))
}

fn weekday(word: &str) -> Option<DateToken> {
    let at = place_of_name(&DAYS, word).or(match word {
        "TUES" => Some(2),
        "WEDNES" => Some(3),
        "THUR" | "THURS" => Some(4),
        _ => None,
    })?;
    Some(DateToken::Day(at))
}

/// Returns the index of a name that is written in full, or abbreviated to three letters, optionally with a full stop.
fn place_of_name(names: &[&str], word: &str) -> Option<i64> {
    let is_short = word.len() == 3 || (word.len() == 4 && word.ends_with('.'));
    let is_word = |name: &&str| if is_short { name[..3] == word[..3] } else { *name == word };
    i64::try_from(names.iter().position(is_word)?).ok()
}

/// Returns the zone with a name. The sandbox's own abbreviations take precedence.
fn zone(word: &str, local_zones: &[LocalZone]) -> Option<DateToken> {
    let universal = ZONES[..UNIVERSAL_ZONES].iter().find(|(name, _)| *name == word);
    let local = local_zones.iter().find(|(name, _)| name == word).map(|(_, offset)| *offset);
    let listed = || ZONES.iter().find(|(name, _)| *name == word).map(|(_, minutes)| minutes * 60);
    universal.map(|_| 0).or(local).or_else(listed).map(DateToken::Zone)
}

fn unit(word: &str) -> Option<TimeUnit> {
    Some(match word {
        "YEAR" => TimeUnit::Year,
        "MONTH" => TimeUnit::Month,
        "FORTNIGHT" => TimeUnit::Days(14),
        "WEEK" => TimeUnit::Days(7),
        "DAY" => TimeUnit::Days(1),
        "HOUR" => TimeUnit::Hour,
        "MINUTE" | "MIN" => TimeUnit::Minute,
        "SECOND" | "SEC" => TimeUnit::Second,
        _ => return None,
    })
}

fn ordinal_or_shift(word: &str) -> Option<DateToken> {
    if let Some(at) = ORDINALS.iter().position(|name| *name == word) {
        return i64::try_from(at).ok().map(|at| DateToken::Ordinal(at + 1));
    }
    match word {
        "TOMORROW" => Some(DateToken::DayShift(1)),
        "YESTERDAY" => Some(DateToken::DayShift(-1)),
        "TODAY" | "NOW" => Some(DateToken::DayShift(0)),
        "LAST" => Some(DateToken::Ordinal(-1)),
        "THIS" => Some(DateToken::Ordinal(0)),
        "NEXT" => Some(DateToken::Ordinal(1)),
        "AGO" => Some(DateToken::Ago),
        "T" => Some(DateToken::T),
        _ => None,
    }
}

/// Returns the zone of a military letter: A to M are east, N to Y are west, without J.
fn military_zone(word: &str) -> Option<DateToken> {
    let &[letter] = word.as_bytes() else { return None };
    let hours = match letter {
        b'A'..=b'I' => i64::from(letter - b'A') + 1,
        b'K'..=b'M' => i64::from(letter - b'A'),
        b'N'..=b'Y' => -(i64::from(letter - b'N') + 1),
        b'Z' => 0,
        _ => return None,
    };
    Some(DateToken::Zone(hours * 3600))
}
