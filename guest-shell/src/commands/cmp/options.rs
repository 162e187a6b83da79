//! Options of `cmp`. Errors are messages.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::option_parser::getopt_long;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

use crate::commands::excerpt::count::count_multiplier;

const LONG: [(&str, OptArg, char); 6] = [
    ("bytes", OptArg::Required, 'n'),
    ("ignore-initial", OptArg::Required, 'i'),
    ("print-bytes", OptArg::No, 'b'),
    ("quiet", OptArg::No, 's'),
    ("silent", OptArg::No, 's'),
    ("verbose", OptArg::No, 'l'),
];

/// Options of one call.
#[derive(Debug, Default)]
pub(super) struct CmpOptions {
    /// True if all differences are listed, and not only the first.
    pub(super) verbose: bool,
    pub(super) silent: bool,
    pub(super) print_bytes: bool,
    /// Largest number of bytes that are compared.
    limit: Option<usize>,
    /// Numbers of bytes at the start of the files that are not compared.
    skips: [usize; 2],
    /// Names of both files; `-` is standard input.
    pub(super) names: [String; 2],
}

impl CmpOptions {
    /// Reads a command line.
    pub(super) fn parse(words: &[String]) -> Result<Self, String> {
        let (given, operands) = getopt_long("cmp", words, "bi:ln:s", &LONG, true, 2).map_err(|error| {
            let message = error.stderr.text_lossy();
            usage_error(message.trim_start_matches("cmp: ").trim_end())
        })?;
        let mut options = Self::default();
        for option in given {
            options.take(option)?;
        }
        if options.verbose && options.silent {
            return Err(usage_error("options -l and -s are incompatible"));
        }
        let mut operands = operands.into_iter();
        let first = operands.next().ok_or_else(|| usage_error("missing operand after 'cmp'"))?;
        options.names = [first, operands.next().unwrap_or_else(|| "-".to_owned())];
        for (skip, operand) in options.skips.iter_mut().zip(operands.by_ref()) {
            *skip = parse_skip(&operand, &operand)?.max(*skip);
        }
        match operands.next() {
            Some(extra) => Err(usage_error(&format!("extra operand '{extra}'"))),
            None => Ok(options),
        }
    }

    fn take(&mut self, option: ParsedOpt) -> Result<(), String> {
        let value = option.value.unwrap_or_default();
        match option.key {
            'b' => self.print_bytes = true,
            'l' => self.verbose = true,
            's' => self.silent = true,
            'n' => {
                let limit = number(&value).ok_or_else(|| usage_error(&format!("invalid --bytes value '{value}'")))?;
                self.limit = Some(self.limit.map_or(limit, |earlier| earlier.min(limit)));
            }
            _ => {
                let (first, second) = value.split_once(':').unwrap_or((&value, &value));
                for (skip, text) in self.skips.iter_mut().zip([first, second]) {
                    *skip = parse_skip(text, &value)?.max(*skip);
                }
            }
        }
        Ok(())
    }

    /// Returns the parts of both files that are compared.
    pub(super) fn compared_parts<'d>(&self, contents: [&'d [u8]; 2]) -> [&'d [u8]; 2] {
        [0, 1].map(|side: usize| {
            let data = contents[side].get(self.skips[side]..).unwrap_or_default();
            &data[..data.len().min(self.limit.unwrap_or(data.len()))]
        })
    }
}

/// Reads a number of bytes to skip, which is a part of a value.
fn parse_skip(text: &str, value: &str) -> Result<usize, String> {
    number(text).ok_or_else(|| usage_error(&format!("invalid --ignore-initial value '{value}'")))
}

/// Parses a number, which may be followed by a multiplier.
fn number(text: &str) -> Option<usize> {
    let digits_end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(digits_end);
    digits.parse::<usize>().ok()?.checked_mul(count_multiplier(suffix)?)
}

fn usage_error(message: &str) -> String {
    format!("{message}\ncmp: Try 'cmp --help' for more information.")
}
