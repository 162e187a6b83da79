//! Date functions. Local time is that of the zone which `TZ` names.

use super::failure::Failure;
use super::term::NativeFn;
use super::value::Val;
use crate::commands::calendar::MONTH_NAMES;
use crate::commands::date::SandboxTimezone;

type Given = Result<Val, Failure>;

/// Name, number of arguments, and implementation of each function.
pub(crate) const TABLE: &[(&str, usize, NativeFn)] = &[
    ("gmtime", 0, |_, input, _| broken_down(None, &input, "gmtime")),
    ("localtime", 0, |host, input, _| broken_down(Some(host.time_zone()), &input, "localtime")),
    ("mktime", 0, |_, input, _| match &input {
        Val::Arr(_) => match Moment::read(&input, "mktime")?.seconds() {
            // C's error value.
            -1 => Err(Failure::new("invalid gmtime representation")),
            seconds => Ok(Val::from(seconds as f64)),
        },
        _ => Err(Failure::new("mktime requires array inputs")),
    }),
    ("strftime", 1, |_, input, arguments| format(None, input, &arguments[0], "strftime")),
    ("strflocaltime", 1, |host, input, arguments| {
        format(Some(host.time_zone()), input, &arguments[0], "strflocaltime")
    }),
    ("strptime", 1, |host, input, arguments| parse(host.time_zone(), &input, &arguments[0])),
];

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Zone of a broken-down time: its name, and how far its clocks are ahead of UTC.
struct Zone {
    name: String,
    seconds_east: i64,
}

/// Broken-down time, which C calls `struct tm`.
#[derive(Clone, Copy, Default)]
struct Moment {
    year: i64,
    /// Month, counted from 0.
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

/// Returns the days from 1970 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = (year + month.div_euclid(12), month.rem_euclid(12) + 1);
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

impl Moment {
    /// Returns the moment at a number of seconds since 1970.
    fn at(seconds: i64) -> Self {
        let (day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let shifted = day + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let month = (shifted_month + 2) % 12;
        let year = era * 400 + year_of_era + i64::from(month < 2);
        let day = of_year - (153 * shifted_month + 2) / 5 + 1;
        Self { year, month, day, hour: rest / 3_600, minute: rest / 60 % 60, second: rest % 60 }
    }

    fn seconds(self) -> i64 {
        days(self.year, self.month, self.day) * 86_400 + self.hour * 3_600 + self.minute * 60 + self.second
    }

    fn weekday(self) -> i64 {
        (days(self.year, self.month, self.day) + 4).rem_euclid(7)
    }

    /// Returns the day of the year, from 0.
    fn ordinal(self) -> i64 {
        days(self.year, self.month, self.day) - days(self.year, 0, 1)
    }

    /// Returns the month and the day of the month of a day of the year.
    fn month_and_day(self, ordinal: i64) -> (i64, i64) {
        let start = days(self.year, 0, 1);
        let month = (0..12).rev().find(|month| days(self.year, *month, 1) - start <= ordinal).unwrap_or(0);
        (month, ordinal + start - days(self.year, month, 1) + 1)
    }

    /// Reads the fields of an array; those that are missing are 0, and the year 1900.
    fn read(value: &Val, function: &str) -> Result<Self, Failure> {
        let wrong = || {
            Failure::new(format!(
                "{function}{} requires parsed datetime inputs",
                if function == "mktime" { "" } else { "/1" }
            ))
        };
        let Val::Arr(array) = value else { return Err(wrong()) };
        let mut fields = [1900, 0, 0, 0, 0, 0];
        for (at, field) in array.0.iter().enumerate().take(8) {
            let number = field.as_f64().filter(|it| !it.is_nan()).ok_or_else(wrong)?;
            if let Some(place) = fields.get_mut(at) {
                // Fields are C ints.
                *place = i64::from(number as i32);
            }
        }
        let [year, month, day, hour, minute, second] = fields;
        Ok(Self { year, month, day, hour, minute, second })
    }

    /// Returns the year and week of ISO 8601.
    fn iso_week(self) -> (i64, i64) {
        let weekday = (self.weekday() + 6) % 7;
        let thursday = Self::at((days(self.year, self.month, self.day) - weekday + 3) * 86_400);
        (thursday.year, thursday.ordinal() / 7 + 1)
    }

    fn array(self, second: f64, weekday: i64, ordinal: i64) -> Vec<Val> {
        let whole = |it: i64| Val::from(it as f64);
        let fields = [self.year, self.month, self.day, self.hour, self.minute].map(whole);
        fields.into_iter().chain([Val::from(second), whole(weekday), whole(ordinal)]).collect()
    }
}

/// Returns the fields of a number of seconds since 1970, in UTC or in a zone.
fn broken_down(zone: Option<&SandboxTimezone>, input: &Val, function: &str) -> Given {
    let Some(seconds) = input.as_f64() else {
        return Err(Failure::new(format!("{function}() requires numeric inputs")));
    };
    // Limits the year to the range of C's int.
    if seconds.is_nan() || seconds.abs() > 6.7e16 {
        return Err(Failure::new("error converting number of seconds since epoch to datetime"));
    }
    // C truncates the fraction and adds it to the seconds.
    let whole = seconds.trunc() as i64;
    let moment = Moment::at(whole + zone.map_or(0, |zone| zone.offset_at(whole).0));
    let second = moment.second as f64 + (seconds - seconds.floor());
    Ok(Val::array(moment.array(second, moment.weekday(), moment.ordinal())))
}

/// Formats a time in UTC or in a zone. Fields of a broken-down time are those that clocks of the zone show.
fn format(zone: Option<&SandboxTimezone>, input: Val, format: &Val, function: &str) -> Given {
    let input = if matches!(input, Val::Num(_)) { broken_down(zone, &input, "gmtime")? } else { input };
    if !matches!(input, Val::Arr(_)) {
        return Err(Failure::new(format!("{function}/1 requires parsed datetime inputs")));
    }
    let Some(format) = format.as_str() else {
        return Err(Failure::new(format!("{function}/1 requires a string format")));
    };
    let wall = Moment::read(&input, function)?.seconds();
    let (seconds, zone) = match zone {
        None => (wall, Zone { name: "GMT".to_owned(), seconds_east: 0 }),
        Some(zone) => {
            let seconds = zone.seconds_of_wall(wall);
            let (seconds_east, name) = zone.offset_at(seconds);
            (seconds, Zone { name, seconds_east })
        }
    };
    Ok(Val::string(formatted(Moment::at(seconds + zone.seconds_east), format, &zone)))
}

fn formatted(moment: Moment, format: &str, zone: &Zone) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (conversion, behind) = Conversion::read(&rest[at + 1..]);
        match conversion.apply(moment, zone) {
            Some(field) => out.push_str(&field),
            // An unknown conversion is copied.
            None => out.push_str(&rest[at..rest.len() - behind.len()]),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Conversion of `strftime` as in the GNU C library: flags, a width and a modifier, all optional, and a letter.
#[derive(Default)]
struct Conversion {
    /// `-`, `_` or `0`: no padding, spaces or zeros before a number.
    pad: Option<char>,
    /// Flag `^` or `#`, which changes the case.
    case: Option<char>,
    width: usize,
    modifier: Option<char>,
    letter: Option<char>,
}

impl Conversion {
    /// Largest width of a conversion, in characters.
    const MAX_WIDTH: usize = 1_000;

    /// Parses the conversion after `%`, and returns the rest.
    fn read(text: &str) -> (Self, &str) {
        let mut conversion = Self::default();
        let mut rest = text.trim_start_matches(['-', '_', '0', '^', '#']);
        for flag in text[..text.len() - rest.len()].chars() {
            let kind = if matches!(flag, '^' | '#') { &mut conversion.case } else { &mut conversion.pad };
            *kind = Some(flag);
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        conversion.width = rest[..digits].parse().unwrap_or(0).min(Self::MAX_WIDTH);
        rest = &rest[digits..];
        conversion.modifier = rest.chars().next().filter(|it| matches!(it, 'E' | 'O'));
        rest = &rest[usize::from(conversion.modifier.is_some())..];
        conversion.letter = rest.chars().next();
        rest = &rest[conversion.letter.map_or(0, char::len_utf8)..];
        (conversion, rest)
    }

    /// Formats the field, or returns `None` for an unknown conversion.
    fn apply(&self, moment: Moment, zone: &Zone) -> Option<String> {
        let letter = self.letter?;
        let known = match self.modifier {
            Some('E') => "cCnpPrRstTuxXyYzZ".contains(letter),
            Some(_) => "bBCdegGhHIjklmMnpPrRsStTuUVwWyzZ".contains(letter),
            None => true,
        };
        let field = conversion_text(moment, letter, zone).filter(|_| known)?;
        Some(self.padded(self.in_case(field, letter), letter))
    }

    fn in_case(&self, field: String, letter: char) -> String {
        match self.case {
            None => field,
            Some('#') if matches!(letter, 'p' | 'Z') => field.to_lowercase(),
            Some(_) => field.to_uppercase(),
        }
    }

    fn padded(&self, field: String, letter: char) -> String {
        // Composite fields take no width.
        if "cDFrRTxX".contains(letter) || (self.pad.is_none() && self.width <= field.len()) {
            return field;
        }
        let is_number = field.trim_start_matches(' ').bytes().all(|byte| byte.is_ascii_digit());
        let zeros = match self.pad {
            Some(pad) => pad == '0',
            None => is_number && !matches!(letter, 'e' | 'k' | 'l'),
        };
        let natural = if self.pad == Some('-') { 0 } else { field.len() };
        let width = self.width.max(natural);
        let bare = if is_number { field.trim_start_matches(['0', ' ']) } else { &field };
        let bare = if bare.is_empty() && is_number { "0" } else { bare };
        if zeros { format!("{bare:0>width$}") } else { format!("{bare:>width$}") }
    }
}

/// Formats a conversion without flags, or returns `None` for an unknown one.
fn conversion_text(moment: Moment, conversion: char, zone: &Zone) -> Option<String> {
    let Moment { year, month, day, hour, minute, second } = moment;
    let (weekday, ordinal) = (moment.weekday(), moment.ordinal());
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    // In range: remainders in a normalized calendar.
    let (day_name, month_name) = (DAYS[weekday as usize % 7], MONTH_NAMES[month as usize % 12]);
    let composed = |format: &str| formatted(moment, format, zone);
    Some(match conversion {
        'a' => day_name[..3].to_owned(),
        'A' => day_name.to_owned(),
        'b' | 'h' => month_name[..3].to_owned(),
        'B' => month_name.to_owned(),
        'c' => composed("%a %b %e %H:%M:%S %Y"),
        'C' => format!("{:02}", year.div_euclid(100)),
        'd' => format!("{day:02}"),
        'D' | 'x' => composed("%m/%d/%y"),
        'e' => format!("{day:>2}"),
        'F' => composed("%Y-%m-%d"),
        'g' => format!("{:02}", moment.iso_week().0.rem_euclid(100)),
        'G' => moment.iso_week().0.to_string(),
        'H' => format!("{hour:02}"),
        'I' => format!("{twelve:02}"),
        'j' => format!("{:03}", ordinal + 1),
        'k' => format!("{hour:>2}"),
        'l' => format!("{twelve:>2}"),
        'm' => format!("{:02}", month + 1),
        'M' => format!("{minute:02}"),
        'n' => "\n".to_owned(),
        'p' => if hour < 12 { "AM" } else { "PM" }.to_owned(),
        'P' => if hour < 12 { "am" } else { "pm" }.to_owned(),
        'r' => composed("%I:%M:%S %p"),
        'R' => composed("%H:%M"),
        's' => (moment.seconds() - zone.seconds_east).to_string(),
        'S' => format!("{second:02}"),
        't' => "\t".to_owned(),
        'T' | 'X' => composed("%H:%M:%S"),
        'u' => if weekday == 0 { 7 } else { weekday }.to_string(),
        'U' => format!("{:02}", (ordinal + 7 - weekday) / 7),
        'V' => format!("{:02}", moment.iso_week().1),
        'w' => weekday.to_string(),
        'W' => format!("{:02}", (ordinal + 7 - (weekday + 6) % 7) / 7),
        'y' => format!("{:02}", year.rem_euclid(100)),
        'Y' => year.to_string(),
        'z' => {
            let minutes = zone.seconds_east.abs() / 60;
            let sign = if zone.seconds_east < 0 { '-' } else { '+' };
            format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
        }
        'Z' => zone.name.clone(),
        '%' => "%".to_owned(),
        _ => return None,
    })
}

/// Week of a year, with the weekday that weeks begin with.
#[derive(Clone, Copy)]
struct Week {
    number: i64,
    first_weekday: i64,
}

/// Text that is being parsed as a date, as by the GNU C library.
struct Reading<'a> {
    rest: &'a str,
    zone: &'a SandboxTimezone,
    moment: Moment,
    /// Weekday and day of the year, which have values outside of their ranges until they are known.
    weekday: i64,
    ordinal: i64,
    century: Option<i64>,
    /// True if the year was read without its century.
    year_of_century: bool,
    /// True if the last hour that was read is one of the twelve of half a day.
    half_days: bool,
    afternoon: bool,
    week: Option<Week>,
    has_month: bool,
    has_day: bool,
    has_weekday: bool,
    has_ordinal: bool,
    /// True once a part of a date was read: the weekday and the day of the year then follow from it.
    has_date: bool,
}

/// Parses a text by a format, as `strptime`.
fn parse(zone: &SandboxTimezone, input: &Val, format: &Val) -> Given {
    let (Some(text), Some(format)) = (input.as_str(), format.as_str()) else {
        return Err(Failure::new("strptime/1 requires string inputs and arguments"));
    };
    let mut reading = Reading {
        rest: text,
        zone,
        moment: Moment { year: 1900, ..Moment::default() },
        weekday: 8,
        ordinal: 367,
        century: None,
        year_of_century: false,
        half_days: false,
        afternoon: false,
        week: None,
        has_month: false,
        has_day: false,
        has_weekday: false,
        has_ordinal: false,
        has_date: false,
    };
    let blank_after = |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    if reading.read(format).is_none() || !blank_after(reading.rest) {
        return Err(Failure::new(format!("date \"{text}\" does not match format \"{format}\"")));
    }
    reading.complete();
    let moment = reading.moment;
    let mut fields = moment.array(moment.second as f64, reading.weekday, reading.ordinal);
    if !reading.rest.is_empty() {
        fields.push(Val::from(reading.rest));
    }
    Ok(Val::array(fields))
}

impl Reading<'_> {
    /// Derives the fields that the text did not give from those that it gave.
    fn complete(&mut self) {
        if self.half_days && self.afternoon {
            self.moment.hour += 12;
        }
        if let Some(century) = self.century {
            let of_century = if self.year_of_century { self.moment.year.rem_euclid(100) } else { 0 };
            self.moment.year = century * 100 + of_century;
        }
        if self.has_date && !self.has_weekday {
            if self.has_ordinal && !(self.has_month && self.has_day) {
                self.set_month_and_day();
                (self.has_month, self.has_day) = (true, true);
            }
            self.weekday = self.moment.weekday();
        }
        if self.has_date && !self.has_ordinal {
            self.ordinal = self.moment.ordinal();
        }
        let Some(week) = self.week.filter(|_| self.has_weekday) else { return };
        if !self.has_ordinal {
            let first = Moment { month: 0, day: 1, ..self.moment }.weekday() - week.first_weekday;
            let of_week = (self.weekday - week.first_weekday + 7) % 7;
            self.ordinal = (7 - first) % 7 + (week.number - 1) * 7 + of_week;
        }
        // A week before the first day of the year has no month of that year.
        if self.ordinal >= 0 {
            self.set_month_and_day();
        }
    }

    /// Sets the month and the day, where the text did not give them, from the day of the year.
    fn set_month_and_day(&mut self) {
        let (month, day) = self.moment.month_and_day(self.ordinal);
        if !self.has_month {
            self.moment.month = month;
        }
        if !self.has_day {
            self.moment.day = day;
        }
    }

    fn set_month(&mut self, month: i64) {
        self.moment.month = month;
        (self.has_month, self.has_date) = (true, true);
    }

    fn set_weekday(&mut self, weekday: i64) {
        (self.weekday, self.has_weekday) = (weekday, true);
    }

    /// Sets all fields to those of a number of seconds since 1970 in local time.
    fn set_seconds(&mut self, seconds: i64) {
        self.moment = Moment::at(seconds + self.zone.offset_at(seconds).0);
        (self.weekday, self.ordinal) = (self.moment.weekday(), self.moment.ordinal());
    }

    fn read(&mut self, format: &str) -> Option<()> {
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            if letter.is_whitespace() {
                self.rest = self.rest.trim_start();
            } else if letter == '%' {
                let mut conversion = letters.next()?;
                while matches!(conversion, '-' | '_' | '0' | '^' | '#' | 'E' | 'O') {
                    conversion = letters.next()?;
                }
                self.conversion(conversion)?;
            } else {
                self.rest = self.rest.strip_prefix(letter)?;
            }
        }
        Some(())
    }

    /// Parses a number of at most `digits` digits, within bounds.
    fn number(&mut self, digits: usize, least: i64, most: i64) -> Option<i64> {
        self.rest = self.rest.trim_start_matches(' ');
        let signed = digits > 4 && self.rest.starts_with('-');
        let unsigned = &self.rest[usize::from(signed)..];
        let length = unsigned.bytes().take(digits).take_while(u8::is_ascii_digit).count();
        let value: i64 = unsigned[..length].parse().ok()?;
        let value = if signed { -value } else { value };
        self.rest = &unsigned[length..];
        (least..=most).contains(&value).then_some(value)
    }

    fn name(&mut self, names: &[&str]) -> Option<i64> {
        for (at, name) in names.iter().enumerate() {
            for length in [name.len(), 3] {
                let head = self.rest.get(..length).filter(|head| head.eq_ignore_ascii_case(&name[..length]));
                if head.is_some() {
                    self.rest = &self.rest[length..];
                    return i64::try_from(at).ok();
                }
            }
        }
        None
    }

    fn conversion(&mut self, conversion: char) -> Option<()> {
        match conversion {
            'a' | 'A' => {
                let weekday = self.name(&DAYS)?;
                self.set_weekday(weekday);
            }
            'b' | 'B' | 'h' => {
                let month = self.name(&MONTH_NAMES)?;
                self.set_month(month);
            }
            'c' => self.read("%a %b %e %H:%M:%S %Y")?,
            'C' | 'y' | 'Y' => self.year(conversion)?,
            'd' | 'e' => {
                self.moment.day = self.number(2, 1, 31)?;
                (self.has_day, self.has_date) = (true, true);
            }
            'D' | 'x' => self.read("%m/%d/%y")?,
            'F' => self.read("%Y-%m-%d")?,
            'H' | 'k' => (self.moment.hour, self.half_days) = (self.number(2, 0, 23)?, false),
            'I' | 'l' => (self.moment.hour, self.half_days) = (self.number(2, 1, 12)? % 12, true),
            'j' => (self.ordinal, self.has_ordinal) = (self.number(3, 1, 366)? - 1, true),
            'm' => {
                let month = self.number(2, 1, 12)? - 1;
                self.set_month(month);
            }
            'M' => self.moment.minute = self.number(2, 0, 59)?,
            'n' | 't' => self.rest = self.rest.trim_start(),
            'p' | 'P' => self.afternoon = self.half_day()? == 1,
            'r' => self.read("%I:%M:%S %p")?,
            'R' => self.read("%H:%M")?,
            's' => {
                let seconds = self.number(18, i64::MIN, i64::MAX)?;
                self.set_seconds(seconds);
            }
            'S' => self.moment.second = self.number(2, 0, 61)?,
            'T' | 'X' => self.read("%H:%M:%S")?,
            'u' | 'w' => {
                let weekday = if conversion == 'u' { self.number(1, 1, 7)? % 7 } else { self.number(1, 0, 6)? };
                self.set_weekday(weekday);
            }
            'U' | 'W' => {
                let number = self.number(2, 0, 53)?;
                self.week = Some(Week { number, first_weekday: i64::from(conversion == 'W') });
            }
            'V' => drop(self.number(2, 0, 53)?),
            'g' => drop(self.number(2, 0, 99)?),
            'G' => drop(self.number(4, 0, 9_999)?),
            'z' => self.zone()?,
            'Z' => {
                let rest = self.rest.trim_start();
                self.rest = rest.trim_start_matches(|it: char| !it.is_whitespace());
            }
            '%' => self.rest = self.rest.strip_prefix('%')?,
            _ => return None,
        }
        Some(())
    }

    /// Parses a century (`C`), a year of its century (`y`) or a whole year (`Y`).
    fn year(&mut self, conversion: char) -> Option<()> {
        match conversion {
            'C' => self.century = Some(self.number(2, 0, 99)?),
            'y' => {
                let year = self.number(2, 0, 99)?;
                self.moment.year = year + if year < 69 { 2_000 } else { 1_900 };
                self.year_of_century = true;
            }
            _ => {
                self.moment.year = self.number(4, 0, 9_999)?;
                (self.century, self.year_of_century) = (None, false);
            }
        }
        self.has_date = true;
        Some(())
    }

    fn half_day(&mut self) -> Option<i64> {
        let head = self.rest.get(..2)?;
        let at = ["am", "pm"].iter().position(|it| head.eq_ignore_ascii_case(it))?;
        self.rest = &self.rest[2..];
        i64::try_from(at).ok()
    }

    /// Parses the offset of a zone, which C ignores.
    fn zone(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Some(());
        }
        let unsigned = self.rest.strip_prefix(['+', '-'])?;
        let length = unsigned.bytes().take(5).take_while(|byte| byte.is_ascii_digit() || *byte == b':').count();
        self.rest = &unsigned[length..];
        (length >= 2).then_some(())
    }
}
