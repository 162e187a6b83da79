//! Parts of a date, assembled from numbers in the order in which they are read.

/// Day, assembled from up to three numbers and the name of a month.
#[derive(Default)]
pub(super) struct Day {
    numbers: Vec<i32>,
    /// Month that is given by name, from 1.
    pub(super) named_month: Option<i32>,
    /// True if the text is in the format of the standard, where a year is never abbreviated.
    pub(super) is_standard: bool,
}

impl Day {
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Adds a number. Returns `None` if there are three already.
    pub(super) fn add(&mut self, number: i32) -> Option<()> {
        (self.numbers.len() < 3).then(|| self.numbers.push(number))
    }

    /// Returns year, month and day. A missing month or day is 1, a missing year is 2001.
    pub(super) fn finish(mut self) -> Option<[i32; 3]> {
        if self.is_empty() {
            return None;
        }
        self.numbers.resize(3, 1);
        let [first, second, third] = self.numbers[..] else { return None };
        let is_day = (1..=31).contains(&first);
        let (year, month, day) = match self.named_month {
            Some(month) if is_day => (second, month, first),
            Some(month) => (first, month, second),
            None if self.is_standard || !is_day => (first, second, third),
            None => (third, first, second),
        };
        let year = match year {
            0..50 if !self.is_standard => year + 2000,
            50..100 if !self.is_standard => year + 1900,
            year => year,
        };
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some([year, month, day])
    }
}

/// Time of day, assembled from up to four numbers and the half of the day.
#[derive(Default)]
pub(super) struct Time {
    numbers: Vec<i32>,
    half: Option<i32>,
}

impl Time {
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns true if the number, at the end of the text, is valid as the next part of the time.
    pub(super) fn expects(&self, number: i32) -> bool {
        match self.numbers.len() {
            1 | 2 => (0..60).contains(&number),
            3 => (0..1000).contains(&number),
            _ => false,
        }
    }

    /// Adds a number. Returns `None` if there are four already.
    pub(super) fn add(&mut self, number: i32) -> Option<()> {
        (self.numbers.len() < 4).then(|| self.numbers.push(number))
    }

    /// Adds the last number.
    pub(super) fn add_last(&mut self, number: i32) {
        if self.add(number).is_some() {
            self.numbers.resize(4, 0);
        }
    }

    /// Sets the half of the day, as the number of hours to add.
    pub(super) fn set_half(&mut self, hours: i32) {
        self.half = Some(hours);
    }

    /// Returns hour, minute, second and millisecond.
    pub(super) fn finish(mut self) -> Option<[i32; 4]> {
        self.numbers.resize(4, 0);
        let [mut hour, minute, second, millisecond] = self.numbers[..] else { return None };
        if let Some(half) = self.half {
            if !(0..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + half;
        }
        let is_time = (0..24).contains(&hour) && minute < 60 && second < 60 && millisecond < 1000;
        let is_end_of_day = [hour, minute, second, millisecond] == [24, 0, 0, 0];
        (is_time || is_end_of_day).then_some([hour, minute, second, millisecond])
    }
}

/// Time zone, as an offset from Greenwich.
#[derive(Default)]
pub(super) struct Zone {
    /// Sign (1 or -1) and hours.
    hours: Option<(i32, i32)>,
    minutes: Option<i32>,
}

impl Zone {
    pub(super) fn new(sign: i32, hours: i32, minutes: Option<i32>) -> Self {
        Self { hours: Some((sign, hours)), minutes }
    }

    /// Returns the zone at this many hours east of Greenwich.
    pub(super) fn of_hours(hours: i32) -> Self {
        Self::new(if hours < 0 { -1 } else { 1 }, hours.abs(), Some(0))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hours.is_none()
    }

    pub(super) fn is_utc(&self) -> bool {
        self.minutes == Some(0) && self.hours.is_some_and(|(_, hours)| hours == 0)
    }

    /// Returns true if the number is valid as the minutes of the zone.
    pub(super) fn expects(&self, number: i32) -> bool {
        self.hours.is_some() && self.minutes.is_none() && (0..60).contains(&number)
    }

    pub(super) fn set_minute(&mut self, minutes: i32) {
        self.minutes = Some(minutes);
    }

    /// Returns the offset in minutes, `Some(None)` for local time, or `None` if no date can have this offset.
    pub(super) fn finish(self) -> Option<Option<i32>> {
        let Some((sign, hours)) = self.hours else { return Some(None) };
        let minutes = hours.checked_mul(60)?.checked_add(self.minutes.unwrap_or(0))?;
        Some(Some(sign * minutes))
    }
}
