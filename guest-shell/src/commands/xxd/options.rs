//! Command-line options of `xxd`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Largest number of bytes on a line with an address, as in `xxd`.
const MAX_COLUMNS: usize = 256;

const USAGE: &str = "\
Usage:
       xxd [options] [infile [outfile]]
    or
       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]
";

/// Spellings of numeric options whose value is the next word. After other spellings, the value is the rest of the word.
const NUMBER_OPTIONS: [&str; 9] = ["cols", "groupsize", "len", "seek", "skip", "c", "g", "l", "s"];

/// Command-line options of one call.
#[derive(Default)]
pub(super) struct XxdOptions {
    length: Option<usize>,
    pub(super) offset: usize,
    columns: Option<usize>,
    pub(super) group: Option<usize>,
    /// True for digits only, without addresses and text.
    pub(super) plain: bool,
    pub(super) bits: bool,
    /// True for an array of C.
    pub(super) include: bool,
    pub(super) upper_case: bool,
    pub(super) decimal_addresses: bool,
    pub(super) little_endian: bool,
    pub(super) reverse: bool,
    /// Name of the array.
    pub(super) name: Option<String>,
}

impl XxdOptions {
    /// Parses a command line into options and names of files. The error is a message.
    pub(super) fn parse(words: &[String]) -> Result<(Self, Vec<String>), String> {
        let mut options = Self::default();
        let mut files = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let option = word.strip_prefix('-').filter(|option| !option.is_empty() && files.is_empty());
            match option.map(|option| option.strip_prefix('-').unwrap_or(option)) {
                None => files.push(word.clone()),
                Some("") => files.extend(words.by_ref().cloned()),
                Some(option) => options.take(option, &mut words)?,
            }
        }
        if files.len() > 2 {
            return Err(USAGE.to_owned());
        }
        let has_addresses = !options.plain && !options.include;
        if has_addresses && options.columns.is_some_and(|columns| columns > MAX_COLUMNS) {
            return Err(format!("xxd: invalid number of columns (max. {MAX_COLUMNS}).\n"));
        }
        Ok((options, files))
    }

    /// Applies an option, which its first letter identifies.
    fn take<'a>(&mut self, option: &str, words: &mut impl Iterator<Item = &'a String>) -> Result<(), String> {
        match option.chars().next() {
            Some('p') => self.plain = true,
            Some('b') => self.bits = true,
            Some('i') => self.include = true,
            Some('u') => self.upper_case = true,
            Some('r') => self.reverse = true,
            Some('d') => self.decimal_addresses = true,
            Some('e') => self.little_endian = true,
            Some('n') => self.name = words.next().cloned(),
            Some(letter @ ('c' | 'g' | 'l' | 's')) => {
                let value = match NUMBER_OPTIONS.contains(&option) {
                    true => words.next().map(String::as_str),
                    false => Some(&option[1..]),
                };
                let number = value.and_then(parse_number).ok_or(USAGE)?;
                match letter {
                    'c' => self.columns = Some(number),
                    'g' => self.group = Some(number),
                    'l' => self.length = Some(number),
                    _ => self.offset = number,
                }
            }
            _ => return Err(USAGE.to_owned()),
        }
        Ok(())
    }

    /// Returns the number of bytes at the start of the input that are read; `None` for all.
    pub(super) fn used(&self) -> Option<usize> {
        let length = self.length.filter(|_| !self.reverse);
        length.map(|length| length.saturating_add(self.offset))
    }

    /// Returns the part of the input that is dumped.
    pub(super) fn dumped_part<'d>(&self, data: &'d [u8]) -> &'d [u8] {
        let data = data.get(self.offset..).unwrap_or_default();
        &data[..data.len().min(self.length.unwrap_or(data.len()))]
    }

    /// Returns the number of bytes of a plain line; 0 means one line with all bytes.
    pub(super) fn plain_columns(&self) -> usize {
        self.columns.unwrap_or(if self.bits { 10 } else { 30 })
    }

    /// Returns the number of bytes of a line of an array.
    pub(super) fn array_columns(&self) -> usize {
        self.given_columns().unwrap_or(12)
    }

    /// Returns the number of bytes of a line with an address.
    pub(super) fn line_columns(&self) -> usize {
        self.given_columns().unwrap_or(if self.bits { 6 } else { 16 })
    }

    fn given_columns(&self) -> Option<usize> {
        self.columns.filter(|columns| *columns > 0)
    }
}

/// Parses a number in C's form, with an optional sign `+`: decimal, hexadecimal after `0x`, or octal after `0`.
fn parse_number(text: &str) -> Option<usize> {
    let text = text.trim_start_matches('+');
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => usize::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => usize::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}
