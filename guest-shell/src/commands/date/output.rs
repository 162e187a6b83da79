//! `strftime` as GNU date and the C library do it: conversions with flags, widths
//! and modifiers. What is no conversion is copied.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};

/// Dialect of conversions, where date's has `%N`, `%q`, `%:z` and the flag `+` beside the C library's, which `printf
/// '%(…)T'` uses.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Dialect {
    Date,
    Library,
}

/// Widest field, as GNU's; the limit of memory comes first.
const WIDEST: usize = i32::MAX as usize;

/// A point in time as it is shown: local fields, and the zone.
pub(super) struct Shown {
    local: DateTime<Utc>,
    seconds: i64,
    offset: i64,
    zone: String,
    dialect: Dialect,
}

/// Flags and width of a conversion.
#[derive(Clone, Copy, Default)]
struct Spec {
    pad: Option<char>,
    upper: bool,
    change_case: bool,
    width: Option<usize>,
}

impl Spec {
    /// Text, to the right of its padding.
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

    /// A number of so many digits at least, with a sign where it is shown.
    fn number(&self, digits: usize, sign: Option<char>, number: &str, dialect: Dialect) -> String {
        let width = match dialect {
            Dialect::Date => self.width.unwrap_or(digits),
            Dialect::Library => self.width.unwrap_or(0).max(digits),
        };
        let missing = width.saturating_sub(usize::from(sign.is_some()) + number.len());
        let sign = sign.map(String::from).unwrap_or_default();
        match self.pad {
            Some('-') => sign + number,
            Some('_') => " ".repeat(missing) + &sign + number,
            _ => sign + &"0".repeat(missing) + number,
        }
    }
}

impl Shown {
    /// A point in time in a zone with this offset and abbreviation.
    pub(super) fn new(at: DateTime<Utc>, offset: i64, zone: String, dialect: Dialect) -> Self {
        let shifted = chrono::Duration::try_seconds(offset).and_then(|by| at.checked_add_signed(by));
        Shown { local: shifted.unwrap_or(at), seconds: at.timestamp(), offset, zone, dialect }
    }

    /// The text of a format.
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
        let mut spec = Spec::default();
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
            Dialect::Date if modifier.is_none() => chars[at..].iter().take_while(|c| **c == ':').count(),
            _ => 0,
        };
        if colons > 0 && chars.get(at + colons) == Some(&'z') && colons <= 3 {
            out.push_str(&self.zone_offset(&spec, colons));
            return at + colons + 1;
        }
        let plain = at == start + 1;
        // date itself asks for all nine digits of `%-N`.
        if at == start + 2 && chars[start + 1] == '-' && chars.get(at) == Some(&'N') {
            spec.pad = None;
        }
        let written = match chars.get(at) {
            Some('%') if plain || self.dialect == Dialect::Library => Some(spec.text("%", self.dialect)),
            // The percent sign behind flags begins another conversion.
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
                let spec = Spec { upper: false, ..spec };
                out.push_str(&spec.text(&raw, self.dialect));
            }
        }
        at + 1
    }

    /// Writes one conversion, or returns nothing if there is no such one.
    fn convert(&self, letter: char, modifier: Option<char>, spec: Spec) -> Option<String> {
        let refused = match modifier {
            Some('E') => !"cCxXyYpPnRtTrsuzZ".contains(letter),
            Some(_) => "aAcDFxXY".contains(letter),
            None => false,
        };
        if refused {
            return None;
        }
        let time = &self.local;
        let dialect = self.dialect;
        let number = |digits: usize, value: u32| Some(spec.number(digits, None, &value.to_string(), dialect));
        let spaced = |value: u32| {
            let spec = Spec { pad: spec.pad.or(Some('_')), ..spec };
            Some(spec.number(2, None, &value.to_string(), dialect))
        };
        let name = |format: &str| {
            let spec = Spec { upper: spec.upper || spec.change_case, ..spec };
            Some(spec.text(&time.format(format).to_string(), dialect))
        };
        let composed = |format: &str| {
            let text = self.format(format);
            Some(spec.text(&text, dialect))
        };
        let twelve = time.hour12().1;
        match letter {
            'a' => name("%a"),
            'A' => name("%A"),
            'b' | 'h' => name("%b"),
            'B' => name("%B"),
            'c' => composed("%a %b %e %H:%M:%S %Y"),
            'C' => Some(self.year(i64::from(time.year()).div_euclid(100), 2, spec)),
            'd' => number(2, time.day()),
            'D' | 'x' => composed("%m/%d/%y"),
            'e' => spaced(time.day()),
            'F' => Some(self.full_date(spec)),
            'g' => Some(self.year(i64::from(time.iso_week().year()).rem_euclid(100), 2, spec)),
            'G' => Some(self.year(i64::from(time.iso_week().year()), 4, spec)),
            'H' => number(2, time.hour()),
            'I' => number(2, twelve),
            'j' => number(3, time.ordinal()),
            'k' => spaced(time.hour()),
            'l' => spaced(twelve),
            'm' => number(2, time.month()),
            'M' => number(2, time.minute()),
            'n' => Some(spec.text("\n", dialect)),
            'N' if dialect == Dialect::Date => Some(self.nanoseconds(spec)),
            'p' | 'P' => {
                let half = if time.hour() < 12 { "AM" } else { "PM" };
                let lower = letter == 'P' || spec.change_case;
                let half = if lower { half.to_lowercase() } else { half.to_string() };
                let spec = Spec { upper: spec.upper && letter == 'p', ..spec };
                Some(spec.text(&half, dialect))
            }
            'q' if dialect == Dialect::Date => number(1, time.month().div_ceil(3)),
            'r' => composed("%I:%M:%S %p"),
            'R' => composed("%H:%M"),
            's' => {
                let sign = (self.seconds < 0).then_some('-');
                Some(spec.number(1, sign, &self.seconds.unsigned_abs().to_string(), dialect))
            }
            'S' => number(2, time.second()),
            't' => Some(spec.text("\t", dialect)),
            'T' | 'X' => composed("%H:%M:%S"),
            'u' => number(1, time.weekday().number_from_monday()),
            'U' => number(2, (time.ordinal() + 6 - time.weekday().num_days_from_sunday()) / 7),
            'V' => number(2, time.iso_week().week()),
            'w' => number(1, time.weekday().num_days_from_sunday()),
            'W' => number(2, (time.ordinal() + 6 - time.weekday().num_days_from_monday()) / 7),
            'y' => Some(self.year(i64::from(time.year()).rem_euclid(100), 2, spec)),
            'Y' => Some(self.year(i64::from(time.year()), 4, spec)),
            'z' => Some(self.zone_offset(&spec, 0)),
            'Z' => {
                let zone = if spec.change_case { self.zone.to_lowercase() } else { self.zone.clone() };
                Some(spec.text(&zone, dialect))
            }
            _ => None,
        }
    }

    /// A year or a century. With the flag `+`, one that is wider than usual has a sign.
    fn year(&self, value: i64, digits: usize, spec: Spec) -> String {
        let usual = if digits == 2 { 99 } else { 9999 };
        let wide = spec.width.is_some_and(|width| width > digits);
        let plus = spec.pad == Some('+') && (value > usual || wide);
        let sign = if value < 0 { Some('-') } else { plus.then_some('+') };
        spec.number(digits, sign, &value.unsigned_abs().to_string(), self.dialect)
    }

    fn full_date(&self, spec: Spec) -> String {
        let year = if self.dialect == Dialect::Date && spec.pad.is_none() && spec.width.is_none() {
            Spec { pad: Some('+'), width: Some(4), ..spec }
        } else {
            Spec { width: spec.width.map(|width| width.saturating_sub(6)), ..spec }
        };
        self.year(i64::from(self.local.year()), 4, year) + &self.format("-%m-%d")
    }

    /// The first digits of the second's fraction; zeros that `_` makes blanks.
    fn nanoseconds(&self, spec: Spec) -> String {
        let width = spec.width.filter(|width| *width > 0).unwrap_or(9);
        let digits = format!("{:09}", self.local.timestamp_subsec_nanos() % 1_000_000_000);
        let shown = &digits[..width.min(9)];
        let significant = shown.trim_end_matches('0').len().max(1);
        match spec.pad {
            Some('-') => shown[..significant].to_string(),
            Some('_') => bashkit::builtins::helpers::filled_behind(&shown[..significant], width, ' '),
            _ => bashkit::builtins::helpers::filled_behind(shown, width, '0'),
        }
    }

    /// `%z` with so many colons before the letter.
    fn zone_offset(&self, spec: &Spec, colons: usize) -> String {
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
            let sign = Spec { pad: spec.pad.filter(|pad| *pad == '0'), ..*spec }.text(&sign.to_string(), self.dialect);
            return sign + &spec.number(4, None, &number, self.dialect);
        }
        spec.number(digits, Some(sign), &number, self.dialect)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Shown};
    use chrono::DateTime;

    fn shown(dialect: Dialect) -> Shown {
        let at = DateTime::from_timestamp(1_704_164_645, 678_000_000).unwrap();
        Shown::new(at, 0, "UTC".to_string(), dialect)
    }

    #[test]
    fn date_formats_as_gnu() {
        for (format, text) in [
            ("%1d %3d %_3d %+6Y", "2 002   2 +02024"),
            ("%_N|%12N|%3N", "678      |678000000000|678"),
            ("%F %12F %010D", "2024-01-02 002024-01-02 0001/02/24"),
            ("%06p %^a %#p %#Z", "0000AM TUE am utc"),
            ("%z %_z %:z %:::z %-:z", "+0000    +0 +00:00 +00 +0:00"),
            ("%5% %5i %Ed %", "   %5%   %5i %Ed %"),
            ("%q %U %W %V %j", "1 00 01 01 002"),
        ] {
            assert_eq!(shown(Dialect::Date).format(format), text, "{format}");
        }
    }

    #[test]
    fn the_library_has_fewer_conversions() {
        for (format, text) in [
            ("%1d %+5Y %N %:z", "02 %+5Y %N %:z"),
            ("%6z|%_z|%3%", "     +000000|+   0|  %"),
            ("%012F %-6p", "002024-01-02     AM"),
        ] {
            assert_eq!(shown(Dialect::Library).format(format), text, "{format}");
        }
    }
}
