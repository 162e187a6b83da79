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

/// Message about an offset before the start of the input.
pub(super) const CANNOT_SEEK: &str = "xxd: Sorry, cannot seek.\n";

/// Spellings of numeric options whose value is the next word. After other spellings, the value is the rest of the word.
const NUMBER_OPTIONS: [&str; 11] = ["cols", "groupsize", "len", "offset", "seek", "skip", "c", "g", "l", "o", "s"];

/// Command-line options of one call.
#[derive(Default)]
pub(super) struct XxdOptions {
    length: Option<usize>,
    /// Offset of the dump (`-s`), from the end of the input if negative. In reverse, the number that addresses grow by.
    seek: i64,
    /// Number that is added to the addresses (`-o`).
    pub(super) displacement: i64,
    columns: Option<usize>,
    pub(super) group: Option<usize>,
    /// True for digits only, without addresses and text.
    pub(super) plain: bool,
    pub(super) bits: bool,
    /// True for an array of C.
    pub(super) include: bool,
    /// True for an array with a name in upper case.
    pub(super) capitalize: bool,
    pub(super) upper_case: bool,
    /// True if lines of zeros are left out (`-a`).
    pub(super) skips_zeros: bool,
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
            Some('a') => self.skips_zeros = true,
            Some('b') => self.bits = true,
            Some('C') => self.capitalize = true,
            Some('i') => self.include = true,
            Some('u') => self.upper_case = true,
            Some('r') => self.reverse = true,
            Some('d') => self.decimal_addresses = true,
            Some('e') => self.little_endian = true,
            Some('n') => {
                // The name is in the same word, unless that is `-n` or `-name`.
                let attached = Some(&option[1..]).filter(|name| !name.is_empty() && !name.starts_with("ame"));
                let name = attached.map(str::to_owned).or_else(|| words.next().cloned());
                self.name = Some(name.ok_or(USAGE)?);
            }
            Some(letter @ ('c' | 'g' | 'l' | 'o' | 's')) => {
                let value = match NUMBER_OPTIONS.contains(&option) {
                    true => words.next().map(String::as_str),
                    false => Some(&option[1..]),
                };
                let value = value.ok_or(USAGE)?;
                let number = || parse_number(value).ok_or(USAGE);
                match letter {
                    'c' => self.columns = Some(number()?),
                    'g' => self.group = Some(number()?),
                    'l' => self.length = Some(number()?),
                    'o' => self.displacement = parse_offset(value).ok_or(USAGE)?,
                    // The position in the input is its start.
                    _ if value.starts_with("+-") => return Err(CANNOT_SEEK.to_owned()),
                    _ => self.seek = parse_offset(value).ok_or(USAGE)?,
                }
            }
            _ => return Err(USAGE.to_owned()),
        }
        Ok(())
    }

    /// Returns true if a dump of this kind is to be reverted, which is not possible.
    pub(super) fn cannot_revert(&self) -> bool {
        self.reverse && (self.include || self.little_endian || self.bits)
    }

    /// Returns the number of bytes at the start of the input that are read; `None` for all.
    pub(super) fn used(&self) -> Option<usize> {
        let length = self.length.filter(|_| !self.reverse)?;
        let start = usize::try_from(self.seek).ok()?;
        Some(length.saturating_add(start))
    }

    /// Returns the offset of the dump in an input of a size. The error is a message.
    pub(super) fn start(&self, size: usize) -> Result<usize, String> {
        match usize::try_from(self.seek) {
            Ok(start) => Ok(start),
            Err(_) => {
                let back = usize::try_from(self.seek.unsigned_abs()).ok();
                back.and_then(|back| size.checked_sub(back)).ok_or_else(|| CANNOT_SEEK.to_owned())
            }
        }
    }

    /// Returns the address in a reversed dump with what `-s` adds.
    pub(super) fn reverted_address(&self, address: usize) -> Option<usize> {
        i64::try_from(address).ok()?.checked_add(self.seek).and_then(|sum| usize::try_from(sum).ok())
    }

    /// Returns the part of the input that is dumped.
    pub(super) fn dumped_part<'d>(&self, data: &'d [u8], start: usize) -> &'d [u8] {
        let data = data.get(start..).unwrap_or_default();
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

/// Parses a number that may have a minus sign.
fn parse_offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    i64::try_from(parse_number(digits)?).ok().map(|number| sign * number)
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
