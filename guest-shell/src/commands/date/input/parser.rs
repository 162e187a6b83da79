//! Parser of the items of a date. The functions return `None` if a text is not a date.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::token::{DateToken, TimeUnit};
use super::{DateItems, TimeOfDay, WrittenYear};

/// Parsed items, and the position of the next token.
pub(super) struct DateParser<'t> {
    tokens: &'t [DateToken],
    at: usize,
    items: DateItems,
}

impl<'t> DateParser<'t> {
    /// Creates a parser at the first token.
    pub(super) fn new(tokens: &'t [DateToken]) -> Self {
        Self { tokens, at: 0, items: DateItems::default() }
    }

    /// Reads all items.
    pub(super) fn items(mut self) -> Option<DateItems> {
        while self.at < self.tokens.len() {
            self.item()?;
        }
        Some(self.items)
    }

    fn peek(&self, ahead: usize) -> Option<DateToken> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn is_punctuation(&self, ahead: usize, sign: char) -> bool {
        self.peek(ahead) == Some(DateToken::Punctuation(sign))
    }

    /// Consumes a number without a sign.
    fn unsigned(&mut self) -> Option<(i64, usize)> {
        match self.peek(0) {
            Some(DateToken::Number { value, signed: false, digits }) => {
                self.at += 1;
                Some((value, digits))
            }
            _ => None,
        }
    }

    /// Consumes a number with a sign, if one comes next.
    fn signed(&mut self) -> Option<(i64, usize)> {
        match self.peek(0) {
            Some(DateToken::Number { value, signed: true, digits }) => {
                self.at += 1;
                Some((value, digits))
            }
            _ => None,
        }
    }

    fn item(&mut self) -> Option<()> {
        match self.peek(0)? {
            DateToken::Number { signed: false, .. } => self.unsigned_number(),
            DateToken::Number { value, .. } => {
                let Some(DateToken::Unit(unit)) = self.peek(1) else {
                    return None;
                };
                self.at += 2;
                self.relative(unit, value)
            }
            DateToken::Decimal { value, nanos } => {
                let Some(DateToken::Unit(TimeUnit::Second)) = self.peek(1) else {
                    return None;
                };
                self.at += 2;
                let factor = self.ago();
                let relative = self.items.relative.get_or_insert_default();
                relative.seconds = relative.seconds.checked_add(value.checked_mul(factor)?)?;
                relative.nanos += nanos * factor;
                Some(())
            }
            DateToken::Month(month) => self.month(month),
            DateToken::Day(day) => {
                self.at += 1;
                self.at += usize::from(self.is_punctuation(0, ','));
                self.set_day(0, day)
            }
            DateToken::Ordinal(ordinal) => {
                self.at += 2;
                match self.tokens.get(self.at - 1) {
                    Some(DateToken::Day(day)) => self.set_day(ordinal, *day),
                    Some(DateToken::Unit(unit)) => self.relative(*unit, ordinal),
                    _ => None,
                }
            }
            DateToken::Unit(unit) => {
                self.at += 1;
                self.relative(unit, 1)
            }
            DateToken::DayShift(days) => {
                self.at += 1;
                let relative = self.items.relative.get_or_insert_default();
                relative.days = relative.days.checked_add(days)?;
                Some(())
            }
            DateToken::Zone(offset) => self.zone(offset),
            DateToken::T => self.zone(-7 * 3600),
            _ => None,
        }
    }

    fn set_day(&mut self, ordinal: i64, day: i64) -> Option<()> {
        self.items.counts.days += 1;
        self.items.day = Some((ordinal, day));
        Some(())
    }

    fn set_date(&mut self, year: Option<WrittenYear>, month: i64, day: i64) -> Option<()> {
        self.items.counts.dates += 1;
        let year = year.or(self.items.date.and_then(|date| date.0));
        self.items.date = Some((year, month, day));
        Some(())
    }

    fn ago(&mut self) -> i64 {
        let ago = self.peek(0) == Some(DateToken::Ago);
        self.at += usize::from(ago);
        if ago { -1 } else { 1 }
    }

    fn relative(&mut self, unit: TimeUnit, count: i64) -> Option<()> {
        let count = count.checked_mul(self.ago())?;
        let relative = self.items.relative.get_or_insert_default();
        let (field, by) = match unit {
            TimeUnit::Year => (&mut relative.years, count),
            TimeUnit::Month => (&mut relative.months, count),
            TimeUnit::Days(days) => (&mut relative.days, count.checked_mul(days)?),
            TimeUnit::Hour => (&mut relative.hours, count),
            TimeUnit::Minute => (&mut relative.minutes, count),
            TimeUnit::Second => (&mut relative.seconds, count),
        };
        *field = field.checked_add(by)?;
        Some(())
    }

    /// Parses an item that begins with a number: a time, a date, a relative item or a number alone.
    fn unsigned_number(&mut self) -> Option<()> {
        let (value, digits) = self.unsigned()?;
        match self.peek(0) {
            Some(DateToken::Meridian { .. } | DateToken::Punctuation(':')) => self.time(value),
            Some(DateToken::Punctuation('/')) => self.date_with_slashes(value, digits),
            Some(DateToken::Month(month)) => {
                self.at += 1;
                let year = match (self.signed(), self.unsigned()) {
                    (Some((year, digits)), _) => Some(WrittenYear { value: -year, digits }),
                    (None, Some((year, digits))) => Some(WrittenYear { value: year, digits }),
                    (None, None) => None,
                };
                self.set_date(year, month, value)
            }
            Some(DateToken::Day(day)) => {
                self.at += 1;
                self.set_day(value, day)
            }
            Some(DateToken::Unit(unit)) => {
                self.at += 1;
                self.relative(unit, value)
            }
            Some(DateToken::Number { signed: true, value: second, .. }) => match self.peek(1) {
                Some(DateToken::Number { signed: true, value: third, .. }) => {
                    self.at += 2;
                    self.set_date(Some(WrittenYear { value, digits }), -second, -third)?;
                    self.iso_time()
                }
                Some(DateToken::Unit(_)) => {
                    self.number(value, digits)?;
                    self.item()
                }
                _ => self.clock(value, 0, (0, 0)),
            },
            _ => self.number(value, digits),
        }
    }

    /// Parses the rest of a numeric date after its first number: `MONTH/DAY`, `MONTH/DAY/YEAR` or `YEAR/MONTH/DAY`.
    fn date_with_slashes(&mut self, first: i64, digits: usize) -> Option<()> {
        self.at += 1;
        let (second, _) = self.unsigned()?;
        if !self.is_punctuation(0, '/') {
            return self.set_date(None, first, second);
        }
        self.at += 1;
        let (third, third_digits) = self.unsigned()?;
        if digits >= 4 {
            return self.set_date(Some(WrittenYear { value: first, digits }), second, third);
        }
        self.set_date(Some(WrittenYear { value: third, digits: third_digits }), first, second)
    }

    /// Parses the time after the `T` of an ISO 8601 date, if there is one.
    fn iso_time(&mut self) -> Option<()> {
        if self.peek(0) != Some(DateToken::T) {
            return Some(());
        }
        self.at += 1;
        let (hour, _) = self.unsigned()?;
        match self.peek(0) {
            Some(DateToken::Punctuation(':')) => self.time(hour),
            Some(DateToken::Number { signed: true, .. }) => self.clock(hour, 0, (0, 0)),
            _ => None,
        }
    }

    /// Parses the rest of a time after its hour.
    fn time(&mut self, hour: i64) -> Option<()> {
        let (mut minute, mut second) = (0, (0, 0));
        if self.is_punctuation(0, ':') {
            self.at += 1;
            minute = self.unsigned()?.0;
            if self.is_punctuation(0, ':') {
                self.at += 1;
                second = match self.peek(0)? {
                    DateToken::Decimal { value, nanos } if value >= 0 => {
                        self.at += 1;
                        (value, u32::try_from(nanos).ok()?)
                    }
                    _ => (self.unsigned()?.0, 0),
                };
            }
        }
        let Some(DateToken::Meridian { afternoon }) = self.peek(0) else {
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

    /// Sets a time on the 24-hour clock, and parses a signed number after it as its zone.
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
        self.items.time = Some(TimeOfDay { hour, minute, second, nanos });
        (0..24).contains(&hour).then_some(())
    }

    /// Returns the seconds of an offset such as `+2`, `+0530` or `+05:30`.
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

    /// Parses the rest of a date after the month: a day, and perhaps a year.
    fn month(&mut self, month: i64) -> Option<()> {
        self.at += 1;
        if let Some((day, _)) = self.signed() {
            let (year, digits) = self.signed()?;
            return self.set_date(Some(WrittenYear { value: -year, digits }), month, -day);
        }
        let (day, _) = self.unsigned()?;
        let mut year = None;
        if self.is_punctuation(0, ',') {
            self.at += 1;
            let (value, digits) = self.unsigned()?;
            year = Some(WrittenYear { value, digits });
        }
        self.set_date(year, month, day)
    }

    fn zone(&mut self, offset: i64) -> Option<()> {
        self.at += 1;
        self.items.counts.zones += 1;
        let mut offset = offset;
        match (self.peek(0), self.peek(1)) {
            (Some(DateToken::Number { signed: true, .. }), Some(DateToken::Unit(_))) => {}
            (Some(DateToken::Number { signed: true, value, digits }), _) => {
                self.at += 1;
                offset += self.offset(value, digits)?;
            }
            (Some(DateToken::Summer), _) => {
                self.at += 1;
                offset += 3600;
            }
            _ => {}
        }
        self.items.zone = Some(offset);
        Some(())
    }

    /// Interprets a number that stands alone: the year of a date without one, a date, or a time.
    fn number(&mut self, value: i64, digits: usize) -> Option<()> {
        let counts = &self.items.counts;
        let without_year = self.items.date.is_some_and(|date| date.0.is_none());
        let times = counts.times > 0 || digits > 2;
        if counts.dates > 0 && without_year && self.items.relative.is_none() && times {
            if let Some(date) = &mut self.items.date {
                date.0 = Some(WrittenYear { value, digits });
            }
            return Some(());
        }
        if digits > 4 {
            let year = WrittenYear { value: value / 10_000, digits: digits - 4 };
            return self.set_date(Some(year), value / 100 % 100, value % 100);
        }
        match digits {
            0..=2 => self.set_time(value, 0, (0, 0)),
            _ => self.set_time(value / 100, value % 100, (0, 0)),
        }
    }
}
