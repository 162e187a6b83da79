//! Date functions. Local time is UTC, the only zone of the sandbox.

use super::failure::Failure;
use super::machine::Host;
use super::term::NativeFn;
use super::value::Val;
use crate::commands::calendar::MONTH_NAMES;

type Given = Result<Val, Failure>;

/// Name, number of arguments, and implementation of each function.
pub(crate) const TABLE: &[(&str, usize, NativeFn)] = &[
    ("gmtime", 0, |_, input, _| broken_down(&input, "gmtime")),
    ("localtime", 0, |_, input, _| broken_down(&input, "localtime")),
    ("mktime", 0, |_, input, _| match &input {
        Val::Arr(_) => match Moment::read(&input, "mktime")?.seconds() {
            // C's error value.
            -1 => Err(Failure::new("invalid gmtime representation")),
            seconds => Ok(Val::from(seconds as f64)),
        },
        _ => Err(Failure::new("mktime requires array inputs")),
    }),
    ("strftime", 1, |host, input, arguments| format(host, input, &arguments[0], "strftime", "GMT")),
    ("strflocaltime", 1, |host, input, arguments| format(host, input, &arguments[0], "strflocaltime", "UTC")),
    ("strptime", 1, |_, input, arguments| parse(&input, &arguments[0])),
];

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// Broken-down time in UTC, which C calls `struct tm`.
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

    /// Sets the day, and the month where it is January, to those of a day of the year.
    fn set_ordinal(&mut self, ordinal: i64) {
        let start = days(self.year, 0, 1);
        let month = (0..12).rev().find(|month| days(self.year, *month, 1) - start <= ordinal).unwrap_or(0);
        self.day = ordinal + start - days(self.year, month, 1) + 1;
        if self.month == 0 {
            self.month = month;
        }
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

fn broken_down(input: &Val, function: &str) -> Given {
    let Some(seconds) = input.as_f64() else {
        return Err(Failure::new(format!("{function}() requires numeric inputs")));
    };
    // Limits the year to the range of C's int.
    if seconds.is_nan() || seconds.abs() > 6.7e16 {
        return Err(Failure::new("error converting number of seconds since epoch to datetime"));
    }
    // C truncates the fraction and adds it to the seconds.
    let moment = Moment::at(seconds.trunc() as i64);
    let second = moment.second as f64 + (seconds - seconds.floor());
    Ok(Val::array(moment.array(second, moment.weekday(), moment.ordinal())))
}

fn format(_: &mut dyn Host, input: Val, format: &Val, function: &str, zone: &str) -> Given {
    let input = if matches!(input, Val::Num(_)) { broken_down(&input, "gmtime")? } else { input };
    if !matches!(input, Val::Arr(_)) {
        return Err(Failure::new(format!("{function}/1 requires parsed datetime inputs")));
    }
    let Some(format) = format.as_str() else {
        return Err(Failure::new(format!("{function}/1 requires a string format")));
    };
    let moment = Moment::at(Moment::read(&input, function)?.seconds());
    Ok(Val::string(formatted(moment, format, zone)))
}

fn formatted(moment: Moment, format: &str, zone: &str) -> String {
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
    fn apply(&self, moment: Moment, zone: &str) -> Option<String> {
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
fn conversion_text(moment: Moment, conversion: char, zone: &str) -> Option<String> {
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
        's' => moment.seconds().to_string(),
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
        'z' => "+0000".to_owned(),
        'Z' => zone.to_owned(),
        '%' => "%".to_owned(),
        _ => return None,
    })
}

/// Text that is being parsed as a date.
struct Reading<'a> {
    rest: &'a str,
    moment: Moment,
    afternoon: Option<bool>,
    weekday: Option<i64>,
    ordinal: Option<i64>,
}

fn parse(input: &Val, format: &Val) -> Given {
    let (Some(text), Some(format)) = (input.as_str(), format.as_str()) else {
        return Err(Failure::new("strptime/1 requires string inputs and arguments"));
    };
    let moment = Moment { year: 1900, ..Moment::default() };
    let mut reading = Reading { rest: text, moment, afternoon: None, weekday: None, ordinal: None };
    let blank_after = |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    if reading.read(format).is_none() || !blank_after(reading.rest) {
        return Err(Failure::new(format!("date \"{text}\" does not match format \"{format}\"")));
    }
    if let Some(afternoon) = reading.afternoon {
        reading.moment.hour = reading.moment.hour % 12 + if afternoon { 12 } else { 0 };
    }
    // C does so once it has read a part of a date.
    if let Some(ordinal) = reading.ordinal
        && reading.moment.day < 1
        && (reading.moment.year != 1900 || reading.moment.month != 0)
    {
        reading.moment.set_ordinal(ordinal);
    }
    let moment = reading.moment;
    // Values that C leaves where the text does not provide them.
    let known = moment.day >= 1;
    let weekday = if known { moment.weekday() } else { reading.weekday.unwrap_or(8) };
    let ordinal = if known { moment.ordinal() } else { reading.ordinal.unwrap_or(367) };
    let mut fields = moment.array(moment.second as f64, weekday, ordinal);
    if !reading.rest.is_empty() {
        fields.push(Val::from(reading.rest));
    }
    Ok(Val::array(fields))
}

impl Reading<'_> {
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
            'a' | 'A' => self.weekday = Some(self.name(&DAYS)?),
            'b' | 'B' | 'h' => self.moment.month = self.name(&MONTH_NAMES)?,
            'c' => self.read("%a %b %e %H:%M:%S %Y")?,
            'C' => drop(self.number(2, 0, 99)?),
            'd' | 'e' => self.moment.day = self.number(2, 1, 31)?,
            'D' | 'x' => self.read("%m/%d/%y")?,
            'F' => self.read("%Y-%m-%d")?,
            'H' | 'k' => self.moment.hour = self.number(2, 0, 23)?,
            'I' | 'l' => self.moment.hour = self.number(2, 1, 12)? % 12,
            'j' => self.ordinal = Some(self.number(3, 1, 366)? - 1),
            'm' => self.moment.month = self.number(2, 1, 12)? - 1,
            'M' => self.moment.minute = self.number(2, 0, 59)?,
            'n' | 't' => self.rest = self.rest.trim_start(),
            'p' | 'P' => self.afternoon = Some(self.half_day()? == 1),
            'r' => self.read("%I:%M:%S %p")?,
            'R' => self.read("%H:%M")?,
            's' => self.moment = Moment::at(self.number(18, i64::MIN, i64::MAX)?),
            'S' => self.moment.second = self.number(2, 0, 61)?,
            'T' | 'X' => self.read("%H:%M:%S")?,
            'u' => self.weekday = Some(self.number(1, 1, 7)? % 7),
            'w' => self.weekday = Some(self.number(1, 0, 6)?),
            'U' | 'V' | 'W' | 'g' => drop(self.number(2, 0, 99)?),
            'G' => drop(self.number(4, 0, 9_999)?),
            'y' => {
                let year = self.number(2, 0, 99)?;
                self.moment.year = year + if year < 69 { 2_000 } else { 1_900 };
            }
            'Y' => self.moment.year = self.number(4, 0, 9_999)?,
            'z' => self.zone()?,
            'Z' => self.rest = self.rest.trim_start_matches(|it: char| it.is_ascii_alphabetic()),
            '%' => self.rest = self.rest.strip_prefix('%')?,
            _ => return None,
        }
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
