//! Command line of `split`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

/// Rule that says what a piece is.
pub(super) enum Pieces {
    Lines(usize),
    Bytes(usize),
    LineBytes(usize),
    /// Cut into a number of pieces; if one of them is selected, only that one is printed.
    Chunks(Chunks, Option<usize>, usize),
}

/// Way in which a file is cut into a number of pieces.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Chunks {
    Bytes,
    Lines,
    RoundRobin,
}

/// Options of one call.
pub(super) struct SplitOptions {
    pub(super) pieces: Pieces,
    pub(super) suffix_length: Option<usize>,
    pub(super) additional: String,
    pub(super) alphabet: &'static [u8],
    pub(super) from: usize,
    pub(super) elide: bool,
    pub(super) verbose: bool,
    given_separator: Option<u8>,
    /// Command that gets the pieces in place of files (`--filter`).
    pub(super) filter: Option<String>,
}

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const DIGITS: &[u8] = b"0123456789";
const HEXADECIMAL: &[u8] = b"0123456789abcdef";

const LONG_OPTIONS: [(&str, OptArg, char); 13] = [
    ("additional-suffix", OptArg::Required, 'A'),
    ("bytes", OptArg::Required, 'b'),
    ("elide-empty-files", OptArg::No, 'e'),
    ("filter", OptArg::Required, 'f'),
    ("hex-suffixes", OptArg::Optional, 'x'),
    ("line-bytes", OptArg::Required, 'C'),
    ("lines", OptArg::Required, 'l'),
    ("number", OptArg::Required, 'n'),
    ("numeric-suffixes", OptArg::Optional, 'd'),
    ("separator", OptArg::Required, 't'),
    ("suffix-length", OptArg::Required, 'a'),
    ("unbuffered", OptArg::No, 'u'),
    ("verbose", OptArg::No, 'v'),
];

pub(super) fn failure(message: String) -> ExecResult {
    ExecResult::err(format!("split: {message}\n"), 1)
}

fn usage(message: String) -> ExecResult {
    failure(format!("{message}\nTry 'split --help' for more information."))
}

/// Reads a command line into options and operands. The error is the result of a wrong call.
pub(super) fn parse_args(args: &[String]) -> Result<(SplitOptions, Vec<String>), ExecResult> {
    // The obsolete `-NUM` is `-lNUM`.
    let obsolete = |word: &String| {
        word.len() > 1 && word.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut words = args.to_vec();
    if let Some(word) = words.first_mut().filter(|word| obsolete(word)) {
        word.insert(1, 'l');
    }
    // `f` is the letter of a long option alone.
    let (given, operands) = gnu_getopt("split", &words, "a:b:C:del:n:t:ux", &LONG_OPTIONS, true, 1)?;
    let mut options = SplitOptions {
        pieces: Pieces::Lines(1000),
        suffix_length: None,
        additional: String::new(),
        alphabet: LETTERS,
        from: 0,
        elide: false,
        verbose: false,
        given_separator: None,
        filter: None,
    };
    let mut chosen = false;
    for option in given {
        if "bCln".contains(option.key) && std::mem::replace(&mut chosen, true) {
            return Err(usage("cannot split in more than one way".into()));
        }
        options.set(option)?;
    }
    if let Some(extra) = operands.get(2) {
        return Err(usage(format!("extra operand '{extra}'")));
    }
    if options.filter.is_some() && matches!(options.pieces, Pieces::Chunks(_, Some(_), _)) {
        return Err(usage("--filter does not process a chunk extracted to stdout".into()));
    }
    Ok((options, operands))
}

impl SplitOptions {
    /// Sets what ends a record, which may be given only once.
    fn set_separator(&mut self, value: &str) -> Result<(), ExecResult> {
        let separator = match &*bashkit::bytes_of(value) {
            [only] => *only,
            b"\\0" => 0,
            [] => return Err(failure("empty record separator".into())),
            _ => return Err(failure(format!("multi-character separator '{value}'"))),
        };
        if self.given_separator.is_some_and(|given| given != separator) {
            return Err(failure("multiple separator characters specified".into()));
        }
        self.given_separator = Some(separator);
        Ok(())
    }

    /// Returns the byte that ends a record.
    pub(super) fn separator(&self) -> u8 {
        self.given_separator.unwrap_or(b'\n')
    }

    fn set(&mut self, option: ParsedOpt) -> Result<(), ExecResult> {
        let given = option.value.is_some();
        let value = option.value.unwrap_or_default();
        match option.key {
            'a' => self.suffix_length = Some(number(&value, "suffix length", true)?),
            'A' if value.contains('/') => {
                return Err(usage(format!("invalid suffix '{value}', contains directory separator")));
            }
            'A' => self.additional = value,
            'b' => self.pieces = Pieces::Bytes(number(&value, "number of bytes", false)?),
            'C' => self.pieces = Pieces::LineBytes(number(&value, "number of bytes", false)?),
            'f' => self.filter = Some(value),
            'l' => self.pieces = Pieces::Lines(number(&value, "number of lines", false)?),
            'n' => self.pieces = chunks(&value)?,
            'd' | 'x' => {
                self.alphabet = if option.key == 'd' { DIGITS } else { HEXADECIMAL };
                if given {
                    let radix = if option.key == 'd' { 10 } else { 16 };
                    self.from = usize::from_str_radix(&value, radix)
                        .map_err(|_| usage(format!("{value}: invalid start value for numerical suffix")))?;
                }
            }
            'e' => self.elide = true,
            't' => self.set_separator(&value)?,
            'v' => self.verbose = true,
            _ => {}
        }
        Ok(())
    }
}

/// A number with GNU's multipliers.
fn number(value: &str, what: &str, zero: bool) -> Result<usize, ExecResult> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let multiplier = crate::commands::excerpt::count::count_multiplier(&value[digits..]);
    let number = value[..digits].parse::<usize>().ok().zip(multiplier);
    match number.map(|(number, multiplier)| number.saturating_mul(multiplier)) {
        Some(number) if number > 0 || zero => Ok(number),
        _ => Err(failure(format!("invalid {what}: '{value}'"))),
    }
}

fn chunks(value: &str) -> Result<Pieces, ExecResult> {
    let (kind, rest) = match value.split_once('/') {
        Some(("l", rest)) => (Chunks::Lines, rest),
        Some(("r", rest)) => (Chunks::RoundRobin, rest),
        _ => (Chunks::Bytes, value),
    };
    let (only, count) = match rest.split_once('/') {
        Some((only, count)) => (Some(only), count),
        None => (None, rest),
    };
    let invalid = |what: &str, value: &str| failure(format!("invalid {what}: '{value}'"));
    let count: usize =
        count.parse().ok().filter(|count| *count > 0).ok_or_else(|| invalid("number of chunks", count))?;
    let only = match only {
        None => None,
        Some(only) => {
            let number = only.parse().ok().filter(|number| (1..=count).contains(number));
            Some(number.ok_or_else(|| invalid("chunk number", only))?)
        }
    };
    Ok(Pieces::Chunks(kind, only, count))
}
