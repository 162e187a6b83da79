//! `strftime` as GNU date and the C library implement it: conversions with flags, widths and modifiers. Other text is
//! copied.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};

/// Dialect of the conversions in a format. The dialect of `date` has `%N`, `%q`, `%:z` and the flag `+`, which the dialect of the C library,
/// used by `printf '%(…)T'`, lacks.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Dialect {
    Date,
    Library,
}

/// Largest width of a field, as in GNU's; the memory limit is reached earlier.
const WIDEST: usize = i32::MAX as usize;

/// Point in time as it is shown: local fields, and the zone.
pub(super) struct ShownTime {
    local: DateTime<Utc>,
    seconds: i64,
    offset: i64,
    zone: String,
    dialect: Dialect,
}

/// Flags and width of a conversion.
#[derive(Clone, Copy, Default)]
struct FieldSpec {
    pad: Option<char>,
    upper: bool,
    change_case: bool,
    width: Option<usize>,
}

impl FieldSpec {
    /// Returns these flags for a number that is padded with blanks by default.
    fn blank_padded(self) -> Self {
        Self { pad: self.pad.or(Some('_')), ..self }
    }

    /// Pads a text on its left.
    fn text(&self, text: &str, dialect: Dialect) -> String {
        let text = if self.upper { text.to_uppercase() } else { text.to_string() };
        let missing = self.width.unwrap_or(0).saturating_sub(text.chars().count());
        let fill = match self.pad {
            Some('-') if dialect == Dialect::Date => return text,
            Some('0' | '+') => '0',
            _ => ' ',
        };
        String::from_iter(std::iter::repeat_n(fill, missing)) + &text
    }

    /// Pads a number to at least `digits` digits, with a sign where it is shown.
    fn number(&self, digits: usize, sign: Option<char>, number: &str, dialect: Dialect) -> String {
        let width = match dialect {
            Dialect::Date => self.width.unwrap_or(digits),
            Dialect::Library => self.width.unwrap_or(0).max(digits),
        };
        let missing = width.saturating_sub(usize::from(sign.is_some()) + number.len());
        let sign = sign.map(String::from).unwrap_or_default();
        match self.pad {
            // The C library pads to a width that is given, and only to that.
            Some('-') => match (dialect, self.width) {
                (Dialect::Library, Some(width)) => format!("{:>width$}", sign + number),
                _ => sign + number,
            },
            Some('_') => " ".repeat(missing) + &sign + number,
            _ => sign + &"0".repeat(missing) + number,
        }
    }
}

impl ShownTime {
    /// Returns a point in time in a zone with this offset and abbreviation.
    pub(super) fn new(at: DateTime<Utc>, offset: i64, zone: String, dialect: Dialect) -> Self {
        let shifted = chrono::Duration::try_seconds(offset).and_then(|by| at.checked_add_signed(by));
        ShownTime { local: shifted.unwrap_or(at), seconds: at.timestamp(), offset, zone, dialect }
    }

    /// Returns the text of a format.
    pub(super) fn format(&self, format: &str) -> String {
        let chars: Vec<char> = format.chars().collect();
        let mut out = String::with_capacity(format.len() * 2);
        let mut at = 0;
        while let Some(c) = chars.get(at) {
            if *c != '%' {
                out.push(*c);
                at += 1;
                continue;
            }
            at = self.directive(&chars, at, &mut out);
        }
        out
    }

    /// Writes the conversion that begins here, and returns where it ends.
    fn directive(&self, chars: &[char], start: usize, out: &mut String) -> usize {
        let mut spec = FieldSpec::default();
        let mut at = start + 1;
        while let Some(flag) = chars.get(at) {
            match flag {
                '_' | '-' | '0' => spec.pad = Some(*flag),
                '+' if self.dialect == Dialect::Date => spec.pad = Some('+'),
                '^' => spec.upper = true,
                '#' => spec.change_case = true,
                _ => break,
            }
            at += 1;
        }
        while let Some(digit) = chars.get(at).and_then(|c| c.to_digit(10)) {
            let width = spec.width.unwrap_or(0) * 10 + usize::try_from(digit).unwrap_or(0);
            spec.width = Some(width.min(WIDEST));
            at += 1;
        }
        let modifier = chars.get(at).copied().filter(|c| matches!(c, 'E' | 'O'));
        at += usize::from(modifier.is_some());
        let colons = match self.dialect {
            Dialect::Date if modifier != Some('O') => chars[at..].iter().take_while(|c| **c == ':').count(),
            _ => 0,
        };
        if colons > 0 && chars.get(at + colons) == Some(&'z') && colons <= 3 {
            out.push_str(&self.zone_offset(&spec, colons));
            return at + colons + 1;
        }
        let plain = at == start + 1;
        // date itself requests all nine digits of `%-N`.
        if at == start + 2 && chars[start + 1] == '-' && chars.get(at) == Some(&'N') {
            spec.pad = None;
        }
        let written = match chars.get(at) {
            Some('%') if plain || self.dialect == Dialect::Library => Some(spec.text("%", self.dialect)),
            // A percent sign after flags begins another conversion.
            Some('%') | None => {
                at -= 1;
                None
            }
            Some(letter) => self.convert(*letter, modifier, spec),
        };
        match written {
            Some(text) => out.push_str(&text),
            None => {
                let raw: String = chars[start..=at].iter().collect();
                let spec = FieldSpec { upper: false, ..spec };
                out.push_str(&spec.text(&raw, self.dialect));
            }
        }
        at + 1
    }

    /// Formats one conversion, or returns `None` if it does not exist.
    fn convert(&self, letter: char, modifier: Option<char>, spec: FieldSpec) -> Option<String> {
        let refused = match modifier {
            Some('E') => !"cCxXyYpPnRtTrsuzZ".contains(letter),
            Some(_) => "aAcDFxXY".contains(letter),
            None => false,
        };
        if refused {
            return None;
        }
        let time = &self.local;
        Some(match letter {
            'a' => self.name("%a", spec),
            'A' => self.name("%A", spec),
            'b' | 'h' => self.name("%b", spec),
            'B' => self.name("%B", spec),
            'c' => self.composed("%a %b %e %H:%M:%S %Y", spec),
            'C' => self.year(i64::from(time.year()).div_euclid(100), 2, spec),
            'D' | 'x' => self.composed("%m/%d/%y", spec),
            'e' => self.number(2, time.day(), spec.blank_padded()),
            'F' => self.full_date(spec),
            'g' => self.year(i64::from(time.iso_week().year()).rem_euclid(100), 2, spec),
            'G' => self.year(i64::from(time.iso_week().year()), 4, spec),
            'k' => self.number(2, time.hour(), spec.blank_padded()),
            'l' => self.number(2, time.hour12().1, spec.blank_padded()),
            'n' => spec.text("\n", self.dialect),
            'N' if self.dialect == Dialect::Date => self.nanoseconds(spec),
            'p' | 'P' => self.half_of_day(letter, spec),
            'r' => self.composed("%I:%M:%S %p", spec),
            'R' => self.composed("%H:%M", spec),
            's' => {
                let sign = (self.seconds < 0).then_some('-');
                spec.number(1, sign, &self.seconds.unsigned_abs().to_string(), self.dialect)
            }
            't' => spec.text("\t", self.dialect),
            'T' | 'X' => self.composed("%H:%M:%S", spec),
            'y' => self.year(i64::from(time.year()).rem_euclid(100), 2, spec),
            'Y' => self.year(i64::from(time.year()), 4, spec),
            'z' => self.zone_offset(&spec, 0),
            'Z' if spec.change_case => spec.text(&self.zone.to_lowercase(), self.dialect),
            'Z' => spec.text(&self.zone, self.dialect),
            _ => {
                let (digits, value) = self.zero_padded_field(letter)?;
                self.number(digits, value, spec)
            }
        })
    }

    /// Returns a numeric field and its minimum number of digits.
    fn zero_padded_field(&self, letter: char) -> Option<(usize, u32)> {
        let time = &self.local;
        Some(match letter {
            'd' => (2, time.day()),
            'H' => (2, time.hour()),
            'I' => (2, time.hour12().1),
            'j' => (3, time.ordinal()),
            'm' => (2, time.month()),
            'M' => (2, time.minute()),
            'q' if self.dialect == Dialect::Date => (1, time.month().div_ceil(3)),
            'S' => (2, time.second()),
            'u' => (1, time.weekday().number_from_monday()),
            'U' => (2, (time.ordinal() + 6 - time.weekday().num_days_from_sunday()) / 7),
            'V' => (2, time.iso_week().week()),
            'w' => (1, time.weekday().num_days_from_sunday()),
            'W' => (2, (time.ordinal() + 6 - time.weekday().num_days_from_monday()) / 7),
            _ => return None,
        })
    }

    fn number(&self, digits: usize, value: u32, spec: FieldSpec) -> String {
        spec.number(digits, None, &value.to_string(), self.dialect)
    }

    /// Formats the name of a month or a weekday.
    fn name(&self, format: &str, spec: FieldSpec) -> String {
        let spec = FieldSpec { upper: spec.upper || spec.change_case, ..spec };
        spec.text(&self.local.format(format).to_string(), self.dialect)
    }

    /// Formats a conversion that stands for several others.
    fn composed(&self, format: &str, spec: FieldSpec) -> String {
        spec.text(&self.format(format), self.dialect)
    }

    /// Formats `AM` or `PM`, in lower case with `%P` and with the flag `#`.
    fn half_of_day(&self, letter: char, spec: FieldSpec) -> String {
        let half = if self.local.hour() < 12 { "AM" } else { "PM" };
        let is_lower = letter == 'P' || spec.change_case;
        let half = if is_lower { half.to_lowercase() } else { half.to_string() };
        let spec = FieldSpec { upper: spec.upper && letter == 'p', ..spec };
        spec.text(&half, self.dialect)
    }

    /// Formats a year or a century. With the flag `+`, one that is wider than usual has a sign.
    fn year(&self, value: i64, digits: usize, spec: FieldSpec) -> String {
        let usual = if digits == 2 { 99 } else { 9999 };
        let wide = spec.width.is_some_and(|width| width > digits);
        let plus = spec.pad == Some('+') && (value > usual || wide);
        let sign = if value < 0 { Some('-') } else { plus.then_some('+') };
        spec.number(digits, sign, &value.unsigned_abs().to_string(), self.dialect)
    }

    fn full_date(&self, spec: FieldSpec) -> String {
        let year = if self.dialect == Dialect::Date && spec.pad.is_none() && spec.width.is_none() {
            FieldSpec { pad: Some('+'), width: Some(4), ..spec }
        } else {
            FieldSpec { width: spec.width.map(|width| width.saturating_sub(6)), ..spec }
        };
        self.year(i64::from(self.local.year()), 4, year) + &self.format("-%m-%d")
    }

    /// Formats the first digits of the fraction of a second; the flag `_` replaces trailing zeros by blanks.
    fn nanoseconds(&self, spec: FieldSpec) -> String {
        let width = spec.width.filter(|width| *width > 0).unwrap_or(9);
        let digits = format!("{:09}", self.local.timestamp_subsec_nanos() % 1_000_000_000);
        let shown = &digits[..width.min(9)];
        let significant = shown.trim_end_matches('0').len().max(1);
        match spec.pad {
            Some('-') => shown[..significant].to_string(),
            Some('_') => crate::commands::padding::filled_behind(&shown[..significant], width, ' '),
            _ => crate::commands::padding::filled_behind(shown, width, '0'),
        }
    }

    /// Formats the offset of the zone: `%z` with `colons` colons before the letter.
    fn zone_offset(&self, spec: &FieldSpec, colons: usize) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let offset = self.offset.unsigned_abs();
        let (hours, minutes, seconds) = (offset / 3600, offset / 60 % 60, offset % 60);
        let kind = match colons {
            3 if seconds != 0 => 2,
            3 if minutes != 0 => 1,
            colons => colons,
        };
        let (digits, number) = match kind {
            0 => (5, (hours * 100 + minutes).to_string()),
            1 => (6, format!("{hours}:{minutes:02}")),
            2 => (9, format!("{hours}:{minutes:02}:{seconds:02}")),
            _ => (3, hours.to_string()),
        };
        if self.dialect == Dialect::Library {
            // The C library pads the sign on its own, too.
            let sign =
                FieldSpec { pad: spec.pad.filter(|pad| *pad == '0'), ..*spec }.text(&sign.to_string(), self.dialect);
            return sign + &spec.number(4, None, &number, self.dialect);
        }
        spec.number(digits, Some(sign), &number, self.dialect)
    }
}
