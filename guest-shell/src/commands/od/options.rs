//! Command-line options of `od`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::helpers::{string_value, string_values};
use bashkit::clap::ArgMatches;

use super::element::{ElementForm, ElementType};

/// Largest number of bytes of a line. The script chooses the width, and a line is laid out in memory.
const MAX_WIDTH: usize = 65_536;

/// Options that stand for a type, and that type.
const TYPE_OPTIONS: [(&str, &str); 19] = [
    ("a", "a"),
    ("b", "o1"),
    ("c", "c"),
    ("d", "u2"),
    ("D", "u4"),
    ("o", "o2"),
    ("I", "dL"),
    ("L", "dL"),
    ("i", "dI"),
    ("l", "dL"),
    ("x", "x2"),
    ("h", "x2"),
    ("O", "o4"),
    ("s", "d2"),
    ("X", "x4"),
    ("H", "x4"),
    ("e", "fD"),
    ("f", "fF"),
    ("F", "fD"),
];

/// Radix of the addresses at the start of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressRadix {
    Octal,
    Decimal,
    Hexadecimal,
    /// No addresses.
    None,
}

/// Command-line options of one call.
#[derive(Debug)]
pub(super) struct OdOptions {
    pub(super) address_radix: AddressRadix,
    /// Types in the order of the command line, at least one.
    pub(super) types: Vec<ElementType>,
    /// Number of bytes that are dumped; `None` for all.
    pub(super) count: Option<usize>,
    pub(super) skip: usize,
    pub(super) width: Option<usize>,
    pub(super) big_endian: bool,
    pub(super) show_duplicates: bool,
    /// Length of the shortest strings that are shown in place of elements (`-S`).
    pub(super) strings: Option<usize>,
}

impl OdOptions {
    /// Converts clap's matches to options and names of files. The error is a message.
    pub(super) fn from_matches(matches: &ArgMatches) -> Result<(Self, Vec<String>), String> {
        let number = |option: &str, letter: &str| {
            string_value(matches, option).map(|text| parse_number(&text, letter)).transpose()
        };
        let address_radix = address_radix(string_value(matches, "address-radix").as_deref())?;
        let strings = number("strings", "-S")?;
        let types = element_types(matches)?;
        let count = number("read-bytes", "-N")?;
        let skip = number("skip-bytes", "-j")?.unwrap_or(0);
        let width = number("width", "-w")?;
        if width.is_some_and(|width| width > MAX_WIDTH) {
            return Err(format!("width exceeds maximum of {MAX_WIDTH} bytes"));
        }
        let big_endian = string_value(matches, "endian").is_some_and(|endian| endian == "big");
        let show_duplicates = matches.get_flag("output-duplicates");
        let options = Self { address_radix, types, count, skip, width, big_endian, show_duplicates, strings };
        Ok((options, string_values(matches, "FILENAME")))
    }

    /// Returns the number of bytes at the start of the input that are read; `None` for all.
    pub(super) fn used(&self) -> Option<usize> {
        self.count.map(|count| count.saturating_add(self.skip))
    }
}

fn address_radix(letter: Option<&str>) -> Result<AddressRadix, String> {
    match letter {
        None | Some("o") => Ok(AddressRadix::Octal),
        Some("d") => Ok(AddressRadix::Decimal),
        Some("x") => Ok(AddressRadix::Hexadecimal),
        Some("n") => Ok(AddressRadix::None),
        Some(other) => Err(format!("invalid address radix: '{other}'")),
    }
}

/// Returns the types of `-t` and of the options for single types, in the order of the command line.
fn element_types(matches: &ArgMatches) -> Result<Vec<ElementType>, String> {
    let mut places: Vec<(usize, String)> = Vec::new();
    if let Some(indexes) = matches.indices_of("format") {
        places.extend(indexes.zip(string_values(matches, "format")));
    }
    for (option, type_text) in TYPE_OPTIONS {
        if matches.try_get_one::<bool>(option).ok().flatten() == Some(&true)
            && let Some(index) = matches.index_of(option)
        {
            places.push((index, type_text.to_owned()));
        }
    }
    places.sort_by_key(|(index, _)| *index);
    let mut types = Vec::new();
    for (_, text) in &places {
        types.extend(ElementType::parse_all(text)?);
    }
    if types.is_empty() {
        types.push(ElementType { form: ElementForm::Octal, size: 2, trailer: false });
    }
    Ok(types)
}

/// Parses a number: hexadecimal after `0x`, octal after `0`, else decimal, with a multiplier `b`, `k` or `m`.
fn parse_number(text: &str, option: &str) -> Result<usize, String> {
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let multiplier = match text.as_bytes().last() {
        Some(b'b') if !is_hexadecimal => 512,
        Some(b'k' | b'K') => 1024,
        Some(b'm' | b'M') => 1024 * 1024,
        _ => 1,
    };
    let digits = if multiplier == 1 { text } else { &text[..text.len() - 1] };
    let value = if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        usize::from_str_radix(digits, 16).ok()
    } else if digits.len() > 1 && digits.starts_with('0') {
        usize::from_str_radix(&digits[1..], 8).ok()
    } else {
        digits.parse().ok()
    };
    let value = value.and_then(|value: usize| value.checked_mul(multiplier));
    value.ok_or_else(|| format!("invalid {option} argument '{text}'"))
}
