//! Command-line options of `od`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

use super::element::{ElementForm, ElementType};
use crate::commands::option_parser::{gnu_getopt, option_word};

/// Largest number of bytes of a line. The script chooses the width, and a line is laid out in memory.
const MAX_WIDTH: usize = 65_536;

/// Options that stand for a type, and that type.
const TYPE_OPTIONS: [(char, &str); 20] = [
    ('a', "a"),
    ('b', "o1"),
    ('B', "o2"),
    ('c', "c"),
    ('d', "u2"),
    ('D', "u4"),
    ('o', "o2"),
    ('I', "dL"),
    ('L', "dL"),
    ('i', "dI"),
    ('l', "dL"),
    ('x', "x2"),
    ('h', "x2"),
    ('O', "o4"),
    ('s', "d2"),
    ('X', "x4"),
    ('H', "x4"),
    ('e', "fD"),
    ('f', "fF"),
    ('F', "fD"),
];

const SHORT: &str = "A:aBbcDdeFfHhIij:LlN:OoS:st:vw::Xx";

const LONG: [(&str, OptArg, char); 9] = [
    ("skip-bytes", OptArg::Required, 'j'),
    ("address-radix", OptArg::Required, 'A'),
    ("read-bytes", OptArg::Required, 'N'),
    ("format", OptArg::Required, 't'),
    ("output-duplicates", OptArg::No, 'v'),
    ("strings", OptArg::Optional, 'S'),
    ("traditional", OptArg::No, TRADITIONAL),
    ("width", OptArg::Optional, 'w'),
    ("endian", OptArg::Required, ENDIAN),
];

/// Key of `--traditional`.
const TRADITIONAL: char = 'T';
/// Key of `--endian`.
const ENDIAN: char = 'E';
/// Options of which none may stand beside an offset in the old form, unless `--traditional` is given.
const MODERN: &str = "AjNtvSwE";
/// Width that `-w` stands for without a number.
const UNSTATED_WIDTH: usize = 32;
/// Length that `--strings` stands for without a number.
const UNSTATED_LENGTH: usize = 3;

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
    /// Parses a command line to options and names of files. The error is the result of a wrong call.
    pub(super) fn parse(words: &[String]) -> Result<(Self, Vec<String>), ExecResult> {
        let (given, mut files) = gnu_getopt("od", words, SHORT, &LONG, true, 1)?;
        let mut options = Self {
            address_radix: AddressRadix::Octal,
            types: Vec::new(),
            count: None,
            skip: 0,
            width: None,
            big_endian: false,
            show_duplicates: false,
            strings: None,
        };
        let is_traditional = given.iter().any(|option| option.key == TRADITIONAL);
        let is_modern = given.iter().any(|option| MODERN.contains(option.key));
        for option in given {
            options.take(option)?;
        }
        if options.strings.is_some() && !options.types.is_empty() {
            return Err(failure("no type may be specified when dumping strings".to_owned()));
        }
        if options.types.is_empty() {
            options.types.push(ElementType { form: ElementForm::Octal, size: 2, trailer: false });
        }
        if is_traditional || !is_modern {
            options.take_old_offset(&mut files, is_traditional)?;
        }
        Ok((options, files))
    }

    fn take(&mut self, option: ParsedOpt) -> Result<(), ExecResult> {
        let number = |text: &str, name: &str| parse_number(text, name).map_err(failure);
        let value = option.value.as_deref();
        let text = value.unwrap_or_default();
        match option.key {
            'A' => self.address_radix = address_radix(text).map_err(failure)?,
            'j' => self.skip = number(text, "-j")?,
            'N' => self.count = Some(number(text, "-N")?),
            't' if text.is_empty() => {}
            't' => self.types.extend(ElementType::parse_all(text).map_err(failure)?),
            'v' => self.show_duplicates = true,
            'S' => self.strings = Some(value.map_or(Ok(UNSTATED_LENGTH), |text| number(text, "-S"))?),
            'w' => {
                let width = value.map_or(Ok(UNSTATED_WIDTH), |text| number(text, "-w"))?;
                if width > MAX_WIDTH {
                    return Err(failure(format!("width exceeds maximum of {MAX_WIDTH} bytes")));
                }
                self.width = Some(width);
            }
            ENDIAN => {
                self.big_endian = option_word("--endian", text, &[("little", false), ("big", true)])
                    .map_err(|message| failure(format!("{message}\nTry 'od --help' for more information.")))?;
            }
            key => {
                if let Some((_, type_text)) = TYPE_OPTIONS.iter().find(|(letter, _)| *letter == key) {
                    self.types.extend(ElementType::parse_all(type_text).map_err(failure)?);
                }
            }
        }
        Ok(())
    }

    /// Takes an offset in the old form, which is the last operand: `od FILE +20`.
    fn take_old_offset(&mut self, files: &mut Vec<String>, is_traditional: bool) -> Result<(), ExecResult> {
        let may_be_offset = match files.as_slice() {
            [only] => is_traditional || only.starts_with('+'),
            [_, second] => is_traditional || second.starts_with(|first: char| first == '+' || first.is_ascii_digit()),
            _ => is_traditional && files.len() > 2,
        };
        let offsets = files.iter().rev().map_while(|word| old_offset(word)).count();
        match (may_be_offset, offsets, files.len()) {
            (true, 1, 1 | 2) => self.skip = files.pop().and_then(|word| old_offset(&word)).unwrap_or_default(),
            (true, 1.., 2 | 3) if is_traditional => {
                return Err(failure("a label behind an offset (--traditional) is not supported".to_owned()));
            }
            (true, 2, 2) => self.skip = files.pop().and_then(|word| old_offset(&word)).unwrap_or_default(),
            _ => {}
        }
        match files.get(1) {
            Some(extra) if is_traditional => Err(failure(format!(
                "extra operand '{extra}'\nod: compatibility mode supports at most one file\nTry 'od --help' for more information."
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the number of bytes at the start of the input that are read; `None` for all.
    pub(super) fn used(&self) -> Option<usize> {
        self.count.map(|count| count.saturating_add(self.skip))
    }
}

/// Returns the result of a call with a wrong value.
fn failure(message: String) -> ExecResult {
    ExecResult::err(format!("od: {message}\n"), 1)
}

fn address_radix(text: &str) -> Result<AddressRadix, String> {
    match text.chars().next() {
        Some('o') => Ok(AddressRadix::Octal),
        Some('d') => Ok(AddressRadix::Decimal),
        Some('x') => Ok(AddressRadix::Hexadecimal),
        Some('n') => Ok(AddressRadix::None),
        other => {
            let letter = other.map(String::from).unwrap_or_default();
            Err(format!("invalid output address radix '{letter}'; it must be one character from [doxn]"))
        }
    }
}

/// Parses an offset in the old form: octal, decimal in front of `.`, hexadecimal behind `0x`, in blocks of 512 bytes in
/// front of `b`.
fn old_offset(word: &str) -> Option<usize> {
    let text = word.strip_prefix('+').unwrap_or(word);
    let (text, multiplier) = match text.strip_suffix('b') {
        Some(text) if !text.starts_with("0x") => (text, 512),
        _ => (text, 1),
    };
    let (digits, radix) = match (text.strip_suffix('.'), text.strip_prefix("0x").or(text.strip_prefix("0X"))) {
        (Some(digits), _) => (digits, 10),
        (None, Some(digits)) => (digits, 16),
        (None, None) => (text, 8),
    };
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    let offset = is_number.then(|| usize::from_str_radix(digits, radix).ok())??;
    offset.checked_mul(multiplier)
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
