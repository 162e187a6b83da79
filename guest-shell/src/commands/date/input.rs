//! Dates as GNU's `parse_datetime` reads them ("Date input formats" in coreutils'
//! manual): items in any order, of which those that are absolute may be there once.
//!
//! Where the manual leaves a text open, this follows what GNU date does: a signed
//! number behind a time is its zone, and a number alone is a date, a time or a year.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Items that a text gives, before it is related to a point in time.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Items {
    /// Seconds and nanoseconds since the epoch, `@…`.
    pub(super) epoch: Option<(i64, u32)>,
    pub(super) date: Option<(Option<Year>, i64, i64)>,
    pub(super) time: Option<Time>,
    /// Ordinal of the weekday, and the weekday.
    pub(super) day: Option<(i64, i64)>,
    /// Seconds east of UTC.
    pub(super) zone: Option<i64>,
    pub(super) relative: Option<Relative>,
    counts: Counts,
}

/// Number of items of each kind.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    dates: u32,
    times: u32,
    days: u32,
    zones: u32,
}

/// A year and how many digits it was written with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Year {
    value: i64,
    digits: usize,
}

impl Year {
    /// The year; of two digits in the century from 1969 on.
    pub(super) fn full(self) -> i64 {
        match (self.digits, self.value) {
            (2, value @ 0..69) => value + 2000,
            (2, value @ 69..) => value + 1900,
            (_, value) => value,
        }
    }
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Time {
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanos: u32,
}

/// Relative time that is added.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Relative {
    pub(super) years: i64,
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) hours: i64,
    pub(super) minutes: i64,
    pub(super) seconds: i64,
    pub(super) nanos: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Year,
    Month,
    /// Number of whole days.
    Days(i64),
    Hour,
    Minute,
    Second,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    /// A number, whether it has a sign, and its digits.
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
    Unit(Unit),
    Ordinal(i64),
    DayShift(i64),
    /// A zone, and whether it is one of summer time.
    Zone(i64),
    Summer,
    /// The letter that is a zone, or stands before a time.
    T,
    Ago,
    Punctuation(char),
}

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
const ORDINALS: [&str; 12] =
    ["FIRST", "", "THIRD", "FOURTH", "FIFTH", "SIXTH", "SEVENTH", "EIGHTH", "NINTH", "TENTH", "ELEVENTH", "TWELFTH"];

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

/// Longest text that is read.
const LONGEST: usize = 4096;

/// A zone of the sandbox's `TZ`: its abbreviation and seconds east of UTC.
pub(super) type LocalZone = (String, i64);

/// Reads a text; nothing if it is no date.
pub(super) fn parse(text: &str, local_zones: &[LocalZone]) -> Option<Items> {
    if text.len() > LONGEST {
        return None;
    }
    let text = text.trim_start();
    if let Some(epoch) = text.strip_prefix('@') {
        return parse_epoch(epoch, local_zones);
    }
    let tokens = tokens(text, local_zones)?;
    let mut parser = Parser { tokens: &tokens, at: 0, items: Items::default() };
    while parser.at < tokens.len() {
        parser.item()?;
    }
    let counts = &parser.items.counts;
    let once = [counts.dates, counts.times, counts.days, counts.zones].iter().all(|count| *count <= 1);
    once.then_some(parser.items)
}

fn parse_epoch(text: &str, local_zones: &[LocalZone]) -> Option<Items> {
    let (value, nanos) = match tokens(text, local_zones)?.as_slice() {
        [Token::Number { value, .. }] => (*value, 0),
        [Token::Decimal { value, nanos }] => (*value, *nanos),
        _ => return None,
    };
    // Nanoseconds count forwards, also before the epoch.
    let value = value.checked_add(nanos.div_euclid(1_000_000_000))?;
    let nanos = u32::try_from(nanos.rem_euclid(1_000_000_000)).ok()?;
    Some(Items { epoch: Some((value, nanos)), ..Items::default() })
}

fn tokens(text: &str, local_zones: &[LocalZone]) -> Option<Vec<Token>> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    let is_space = |c: &char| c.is_ascii_whitespace() || *c == '\x0b';
    while let Some(c) = chars.get(at) {
        if is_space(c) {
            at += 1;
        } else if *c == '(' {
            at = comment_end(&chars, at)?;
        } else if c.is_ascii_digit() || matches!(c, '-' | '+') {
            let sign = match c {
                '-' => -1,
                '+' => 1,
                _ => 0,
            };
            if sign != 0 {
                at += 1;
                at += chars[at..].iter().take_while(|c| is_space(c)).count();
                // A sign without a number counts for nothing.
                if !chars.get(at).is_some_and(char::is_ascii_digit) {
                    continue;
                }
            }
            let (token, end) = number(&chars, at, sign)?;
            tokens.push(token);
            at = end;
        } else if c.is_ascii_alphabetic() {
            let length = chars[at..].iter().take_while(|c| c.is_ascii_alphabetic() || **c == '.').count();
            let word: String = chars[at..at + length].iter().collect();
            tokens.push(self::word(&word.to_ascii_uppercase(), local_zones)?);
            at += length;
        } else {
            tokens.push(Token::Punctuation(*c));
            at += 1;
        }
    }
    Some(tokens)
}

/// The place behind a comment in parentheses, which may nest.
fn comment_end(chars: &[char], start: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in chars.iter().enumerate().skip(start) {
        match c {
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

fn number(chars: &[char], start: usize, sign: i64) -> Option<(Token, usize)> {
    let digits = chars[start..].iter().take_while(|c| c.is_ascii_digit()).count();
    let text: String = chars[start..start + digits].iter().collect();
    let factor = if sign < 0 { -1 } else { 1 };
    let value = text.parse::<i64>().ok()?.checked_mul(factor)?;
    let end = start + digits;
    let places = match chars.get(end) {
        Some('.' | ',') => chars[end + 1..].iter().take_while(|c| c.is_ascii_digit()).count(),
        _ => 0,
    };
    if places == 0 {
        return Some((Token::Number { value, signed: sign != 0, digits }, end));
    }
    let fraction: String = chars[end + 1..end + 1 + places].iter().chain(&['0'; 9]).take(9).collect();
    let nanos = fraction.parse::<i64>().ok()? * factor;
    Some((Token::Decimal { value, nanos }, end + 1 + places))
}

fn word(word: &str, local_zones: &[LocalZone]) -> Option<Token> {
    match word {
        "AM" | "A.M." => return Some(Token::Meridian { afternoon: false }),
        "PM" | "P.M." => return Some(Token::Meridian { afternoon: true }),
        _ => {}
    }
    let short = word.len() == 3 || (word.len() == 4 && word.ends_with('.'));
    let among = |names: &[&str]| -> Option<i64> {
        let same = |name: &&str| {
            if short { name[..3] == word[..3] } else { *name == word }
        };
        let at = names.iter().position(same)?;
        i64::try_from(at).ok()
    };
    if let Some(month) = among(&MONTHS).or((word == "SEPT").then_some(8)) {
        return Some(Token::Month(month + 1));
    }
    let other_day = match word {
        "TUES" => Some(2),
        "WEDNES" => Some(3),
        "THUR" | "THURS" => Some(4),
        _ => None,
    };
    if let Some(day) = among(&DAYS).or(other_day) {
        return Some(Token::Day(day));
    }
    let zone = |word: &str| {
        let universal = ZONES[..3].iter().find(|(name, _)| *name == word);
        let local = local_zones.iter().find(|(name, _)| name == word).map(|(_, offset)| *offset);
        let listed = || ZONES.iter().find(|(name, _)| *name == word).map(|(_, minutes)| minutes * 60);
        universal.map(|_| 0).or(local).or_else(listed)
    };
    if let Some(offset) = zone(word) {
        return Some(Token::Zone(offset));
    }
    if word == "DST" {
        return Some(Token::Summer);
    }
    if let Some(unit) = unit(word).or_else(|| unit(word.strip_suffix('S')?)) {
        return Some(Token::Unit(unit));
    }
    if let Some(at) = ORDINALS.iter().position(|name| *name == word) {
        return i64::try_from(at).ok().map(|at| Token::Ordinal(at + 1));
    }
    match word {
        "TOMORROW" => return Some(Token::DayShift(1)),
        "YESTERDAY" => return Some(Token::DayShift(-1)),
        "TODAY" | "NOW" => return Some(Token::DayShift(0)),
        "LAST" => return Some(Token::Ordinal(-1)),
        "THIS" => return Some(Token::Ordinal(0)),
        "NEXT" => return Some(Token::Ordinal(1)),
        "AGO" => return Some(Token::Ago),
        "T" => return Some(Token::T),
        _ => {}
    }
    if let (&[letter], 1) = (word.as_bytes(), word.len()) {
        // Military zones: A to M are east, N to Y are west, without J.
        let hours = match letter {
            b'A'..=b'I' => i64::from(letter - b'A') + 1,
            b'K'..=b'M' => i64::from(letter - b'A'),
            b'N'..=b'Y' => -(i64::from(letter - b'N') + 1),
            b'Z' => 0,
            _ => return None,
        };
        return Some(Token::Zone(hours * 3600));
    }
    let without_periods = word.replace('.', "");
    if without_periods == word { None } else { zone(&without_periods).map(Token::Zone) }
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "YEAR" => Unit::Year,
        "MONTH" => Unit::Month,
        "FORTNIGHT" => Unit::Days(14),
        "WEEK" => Unit::Days(7),
        "DAY" => Unit::Days(1),
        "HOUR" => Unit::Hour,
        "MINUTE" | "MIN" => Unit::Minute,
        "SECOND" | "SEC" => Unit::Second,
        _ => return None,
    })
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    items: Items,
}

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> Option<Token> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn is_punctuation(&self, ahead: usize, c: char) -> bool {
        self.peek(ahead) == Some(Token::Punctuation(c))
    }

    /// Takes a number without a sign.
    fn unsigned(&mut self) -> Option<(i64, usize)> {
        match self.peek(0) {
            Some(Token::Number { value, signed: false, digits }) => {
                self.at += 1;
                Some((value, digits))
            }
            _ => None,
        }
    }

    /// Takes a number with a sign, if there is one.
    fn signed(&mut self) -> Option<(i64, usize)> {
        match self.peek(0) {
            Some(Token::Number { value, signed: true, digits }) => {
                self.at += 1;
                Some((value, digits))
            }
            _ => None,
        }
    }

    fn item(&mut self) -> Option<()> {
        match self.peek(0)? {
            Token::Number { signed: false, .. } => self.unsigned_number(),
            Token::Number { value, .. } => {
                let Some(Token::Unit(unit)) = self.peek(1) else {
                    return None;
                };
                self.at += 2;
                self.relative(unit, value)
            }
            Token::Decimal { value, nanos } => {
                let Some(Token::Unit(Unit::Second)) = self.peek(1) else {
                    return None;
                };
                self.at += 2;
                let factor = self.ago();
                let relative = self.items.relative.get_or_insert_default();
                relative.seconds = relative.seconds.checked_add(value.checked_mul(factor)?)?;
                relative.nanos += nanos * factor;
                Some(())
            }
            Token::Month(month) => self.month(month),
            Token::Day(day) => {
                self.at += 1;
                self.at += usize::from(self.is_punctuation(0, ','));
                self.set_day(0, day)
            }
            Token::Ordinal(ordinal) => {
                self.at += 2;
                match self.tokens.get(self.at - 1) {
                    Some(Token::Day(day)) => self.set_day(ordinal, *day),
                    Some(Token::Unit(unit)) => self.relative(*unit, ordinal),
                    _ => None,
                }
            }
            Token::Unit(unit) => {
                self.at += 1;
                self.relative(unit, 1)
            }
            Token::DayShift(days) => {
                self.at += 1;
                let relative = self.items.relative.get_or_insert_default();
                relative.days = relative.days.checked_add(days)?;
                Some(())
            }
            Token::Zone(offset) => self.zone(offset),
            Token::T => self.zone(-7 * 3600),
            _ => None,
        }
    }

    fn set_day(&mut self, ordinal: i64, day: i64) -> Option<()> {
        self.items.counts.days += 1;
        self.items.day = Some((ordinal, day));
        Some(())
    }

    fn set_date(&mut self, year: Option<Year>, month: i64, day: i64) -> Option<()> {
        self.items.counts.dates += 1;
        let year = year.or(self.items.date.and_then(|date| date.0));
        self.items.date = Some((year, month, day));
        Some(())
    }

    fn ago(&mut self) -> i64 {
        let ago = self.peek(0) == Some(Token::Ago);
        self.at += usize::from(ago);
        if ago { -1 } else { 1 }
    }

    fn relative(&mut self, unit: Unit, count: i64) -> Option<()> {
        let count = count.checked_mul(self.ago())?;
        let relative = self.items.relative.get_or_insert_default();
        let (field, by) = match unit {
            Unit::Year => (&mut relative.years, count),
            Unit::Month => (&mut relative.months, count),
            Unit::Days(days) => (&mut relative.days, count.checked_mul(days)?),
            Unit::Hour => (&mut relative.hours, count),
            Unit::Minute => (&mut relative.minutes, count),
            Unit::Second => (&mut relative.seconds, count),
        };
        *field = field.checked_add(by)?;
        Some(())
    }

    /// Reads what begins with a number: a time, a date, something relative or a number alone.
    fn unsigned_number(&mut self) -> Option<()> {
        let (value, digits) = self.unsigned()?;
        match self.peek(0) {
            Some(Token::Meridian { .. } | Token::Punctuation(':')) => self.time(value),
            Some(Token::Punctuation('/')) => {
                self.at += 1;
                let (second, _) = self.unsigned()?;
                if !self.is_punctuation(0, '/') {
                    return self.set_date(None, value, second);
                }
                self.at += 1;
                let (third, third_digits) = self.unsigned()?;
                if digits >= 4 {
                    return self.set_date(Some(Year { value, digits }), second, third);
                }
                self.set_date(Some(Year { value: third, digits: third_digits }), value, second)
            }
            Some(Token::Month(month)) => {
                self.at += 1;
                let year = match (self.signed(), self.unsigned()) {
                    (Some((year, digits)), _) => Some(Year { value: -year, digits }),
                    (None, Some((year, digits))) => Some(Year { value: year, digits }),
                    (None, None) => None,
                };
                self.set_date(year, month, value)
            }
            Some(Token::Day(day)) => {
                self.at += 1;
                self.set_day(value, day)
            }
            Some(Token::Unit(unit)) => {
                self.at += 1;
                self.relative(unit, value)
            }
            Some(Token::Number { signed: true, value: second, .. }) => match self.peek(1) {
                Some(Token::Number { signed: true, value: third, .. }) => {
                    self.at += 2;
                    self.set_date(Some(Year { value, digits }), -second, -third)?;
                    self.iso_time()
                }
                Some(Token::Unit(_)) => {
                    self.number(value, digits)?;
                    self.item()
                }
                _ => self.clock(value, 0, (0, 0)),
            },
            _ => self.number(value, digits),
        }
    }

    /// The time behind the `T` of a date of ISO 8601, if there is one.
    fn iso_time(&mut self) -> Option<()> {
        if self.peek(0) != Some(Token::T) {
            return Some(());
        }
        self.at += 1;
        let (hour, _) = self.unsigned()?;
        match self.peek(0) {
            Some(Token::Punctuation(':')) => self.time(hour),
            Some(Token::Number { signed: true, .. }) => self.clock(hour, 0, (0, 0)),
            _ => None,
        }
    }

    /// A time from its hour on.
    fn time(&mut self, hour: i64) -> Option<()> {
        let (mut minute, mut second) = (0, (0, 0));
        if self.is_punctuation(0, ':') {
            self.at += 1;
            minute = self.unsigned()?.0;
            if self.is_punctuation(0, ':') {
                self.at += 1;
                second = match self.peek(0)? {
                    Token::Decimal { value, nanos } if value >= 0 => {
                        self.at += 1;
                        (value, u32::try_from(nanos).ok()?)
                    }
                    _ => (self.unsigned()?.0, 0),
                };
            }
        }
        let Some(Token::Meridian { afternoon }) = self.peek(0) else {
            return self.clock(hour, minute, second);
        };
        self.at += 1;
        let hour = match hour {
            12 => 0,
            1..12 => hour,
            _ => return None,
        };
        self.set_time(hour + if afternoon { 12 } else { 0 }, minute, second)
    }

    /// A time of 24 hours, and the zone that a signed number behind it is.
    fn clock(&mut self, hour: i64, minute: i64, second: (i64, u32)) -> Option<()> {
        self.set_time(hour, minute, second)?;
        if let Some((value, digits)) = self.signed() {
            let offset = self.offset(value, digits)?;
            self.items.counts.zones += 1;
            self.items.zone = Some(offset);
        }
        Some(())
    }

    fn set_time(&mut self, hour: i64, minute: i64, (second, nanos): (i64, u32)) -> Option<()> {
        self.items.counts.times += 1;
        self.items.time = Some(Time { hour, minute, second, nanos });
        (0..24).contains(&hour).then_some(())
    }

    /// Seconds of an offset such as `+2`, `+0530` or `+05:30`.
    fn offset(&mut self, value: i64, digits: usize) -> Option<i64> {
        let minutes = if self.is_punctuation(0, ':') {
            self.at += 1;
            let minutes = self.unsigned()?.0;
            value.checked_mul(60)?.checked_add(if value < 0 { -minutes } else { minutes })?
        } else if digits <= 2 {
            value * 60
        } else {
            value / 100 * 60 + value % 100
        };
        (minutes.abs() <= 24 * 60).then_some(minutes * 60)
    }

    /// A month and what is behind it: a day, and perhaps a year.
    fn month(&mut self, month: i64) -> Option<()> {
        self.at += 1;
        if let Some((day, _)) = self.signed() {
            let (year, digits) = self.signed()?;
            return self.set_date(Some(Year { value: -year, digits }), month, -day);
        }
        let (day, _) = self.unsigned()?;
        let mut year = None;
        if self.is_punctuation(0, ',') {
            self.at += 1;
            let (value, digits) = self.unsigned()?;
            year = Some(Year { value, digits });
        }
        self.set_date(year, month, day)
    }

    fn zone(&mut self, offset: i64) -> Option<()> {
        self.at += 1;
        self.items.counts.zones += 1;
        let mut offset = offset;
        match (self.peek(0), self.peek(1)) {
            (Some(Token::Number { signed: true, .. }), Some(Token::Unit(_))) => {}
            (Some(Token::Number { signed: true, value, digits }), _) => {
                self.at += 1;
                offset += self.offset(value, digits)?;
            }
            (Some(Token::Summer), _) => {
                self.at += 1;
                offset += 3600;
            }
            _ => {}
        }
        self.items.zone = Some(offset);
        Some(())
    }

    /// Takes a number that stands alone: the year of a date without one, a date or a time.
    fn number(&mut self, value: i64, digits: usize) -> Option<()> {
        let counts = &self.items.counts;
        let without_year = self.items.date.is_some_and(|date| date.0.is_none());
        let times = counts.times > 0 || digits > 2;
        if counts.dates > 0 && without_year && self.items.relative.is_none() && times {
            if let Some(date) = &mut self.items.date {
                date.0 = Some(Year { value, digits });
            }
            return Some(());
        }
        if digits > 4 {
            let year = Year { value: value / 10_000, digits: digits - 4 };
            return self.set_date(Some(year), value / 100 % 100, value % 100);
        }
        match digits {
            0..=2 => self.set_time(value, 0, (0, 0)),
            _ => self.set_time(value / 100, value % 100, (0, 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn dates_are_read_in_many_forms() {
        for text in [
            "Jan 2 2024",
            "2 January 2024",
            "02-Jan-2024",
            "1/2/2024",
            "20240102",
            "2024-01-02 (a comment)",
            "Tue Jan  2 03:04:05 UTC 2024",
        ] {
            let items = parse(text, &[]).unwrap_or_else(|| panic!("{text}"));
            let (year, month, day) = items.date.unwrap();
            assert_eq!((year.unwrap().full(), month, day), (2024, 1, 2), "{text}");
        }
    }

    #[test]
    fn signed_number_behind_a_time_is_its_zone() {
        let items = parse("2024-01-02 12:00 +1 hour", &[]).unwrap();
        assert_eq!(items.zone, Some(3600));
        assert_eq!(items.relative.unwrap().hours, 1);
        assert!(parse("12:00 +90 minutes", &[]).is_none());
    }

    #[test]
    fn two_dates_or_unknown_words_are_refused() {
        for text in ["20240102T030405", "2024-01-02 nonsense", "1/2/3/4", "@x", "12:00 13:00"] {
            assert!(parse(text, &[]).is_none(), "{text}");
        }
    }
}
