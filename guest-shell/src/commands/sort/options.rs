//! Command-line options of `sort`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::hash::RandomState;

use super::comparison::LineOrder;
use super::key::{KeyEnds, KeyOrdering, SortKey};
use crate::commands::getopt::{Found, Known, Order, Takes, scan};
use crate::commands::option_parser::{OptionWords, option_word};

/// Short options. Digits are the end of a key in the old form (`+1 -2`).
const SHORT: &str = "bcCdfghik:mMno:rRsS:t:T:uVy::z0::1::2::3::4::5::6::7::8::9::";

/// Long options in GNU's order: name, the short option that is the same, and the argument.
const LONG: [(&str, char, Takes); 30] = [
    ("ignore-leading-blanks", 'b', Takes::Nothing),
    ("check", CHECK, Takes::Optional),
    ("compress-program", IGNORED, Takes::Required),
    ("debug", REFUSED, Takes::Nothing),
    ("dictionary-order", 'd', Takes::Nothing),
    ("ignore-case", 'f', Takes::Nothing),
    ("general-numeric-sort", 'g', Takes::Nothing),
    ("ignore-nonprinting", 'i', Takes::Nothing),
    ("key", 'k', Takes::Required),
    ("merge", 'm', Takes::Nothing),
    ("month-sort", 'M', Takes::Nothing),
    ("numeric-sort", 'n', Takes::Nothing),
    ("human-numeric-sort", 'h', Takes::Nothing),
    ("version-sort", 'V', Takes::Nothing),
    ("random-sort", 'R', Takes::Nothing),
    ("random-source", REFUSED, Takes::Required),
    ("sort", SORT, Takes::Required),
    ("output", 'o', Takes::Required),
    ("reverse", 'r', Takes::Nothing),
    ("stable", 's', Takes::Nothing),
    ("batch-size", BATCH_SIZE, Takes::Required),
    ("buffer-size", BUFFER_SIZE, Takes::Required),
    ("field-separator", 't', Takes::Required),
    ("files0-from", FILES_FROM, Takes::Required),
    ("temporary-directory", IGNORED, Takes::Required),
    ("unique", 'u', Takes::Nothing),
    ("zero-terminated", 'z', Takes::Nothing),
    ("parallel", PARALLEL, Takes::Required),
    ("help", COMMON, Takes::Nothing),
    ("version", COMMON, Takes::Nothing),
];

/// Short option that represents all options for resources, which have no effect here.
const IGNORED: char = 'T';
/// Short option for the size of the buffer, which is checked and has no effect here.
const BUFFER_SIZE: char = 'S';
/// Short option that represents `--batch-size`.
const BATCH_SIZE: char = '\x04';
/// Short option that represents `--parallel`, whose number is checked and has no effect here.
const PARALLEL: char = '\x05';
/// Short option that represents what would change the output, and is not done here.
const REFUSED: char = '\x06';
/// Short option that represents `--help` and `--version`, which are answered before where they are written out.
const COMMON: char = '\x07';
/// Short option that represents `--check`.
const CHECK: char = '\x01';
/// Short option that represents `--sort`.
const SORT: char = '\x02';
/// Stands for the short option of `--files0-from`.
const FILES_FROM: char = '\x03';

/// Words of `--sort`, and their short options.
const SORT_WORDS: [(&str, char); 6] = [
    ("general-numeric", 'g'),
    ("human-numeric", 'h'),
    ("month", 'M'),
    ("numeric", 'n'),
    ("random", 'R'),
    ("version", 'V'),
];

/// Words of `--check`, and the short options.
const CHECK_WORDS: [(&str, char); 3] = [("quiet", 'C'), ("silent", 'C'), ("diagnose-first", 'c')];

/// Status of a call with a mistake.
const MISTAKE_STATUS: i32 = 2;
/// Status of a call with a wrong word of an option.
const WORD_STATUS: i32 = 1;

/// Mistake in a command line.
pub(super) struct SortMistake {
    pub(super) message: String,
    pub(super) status: i32,
}

impl From<String> for SortMistake {
    fn from(message: String) -> Self {
        Self { message, status: MISTAKE_STATUS }
    }
}

/// Returns the short option of the word of an option.
fn letter_of(option: &str, word: &str, words: &OptionWords<char>) -> Result<char, SortMistake> {
    option_word(option, word, words).map_err(|message| SortMistake {
        message: format!("{message}\nTry 'sort --help' for more information."),
        status: WORD_STATUS,
    })
}

/// Task of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortTask {
    Sort,
    /// Merges sorted files.
    Merge,
    /// Searches for a line that is out of order. `quiet` suppresses the message about it.
    Check {
        quiet: bool,
    },
}

/// Command-line options of one call.
pub(super) struct SortOptions {
    pub(super) task: SortTask,
    pub(super) order: LineOrder,
    pub(super) unique: bool,
    pub(super) zero_terminated: bool,
    pub(super) output: Option<String>,
    /// Names of the inputs, at least one unless a list has them.
    pub(super) files: Vec<String>,
    /// List of the inputs' names.
    pub(super) files_from: Option<String>,
}

impl SortOptions {
    /// Parses a command line.
    pub(super) fn parse(words: &[String]) -> Result<Self, SortMistake> {
        let known = Known {
            short: SHORT.to_owned(),
            long: LONG.iter().map(|(name, _, takes)| ((*name).to_owned(), *takes)).collect(),
            single_dash: false,
        };
        let (found, files_behind_dashes) = scan(&known, Order::Keep, words);
        let mut given = GivenOptions::default();
        let mut files = Vec::new();
        let mut old_key = None;
        for option in found {
            let open_key = old_key.take();
            match option {
                Found::Short(digit, rest) if digit.is_ascii_digit() => {
                    let rest = rest.unwrap_or_default();
                    given.keys.push(ended_key(open_key, &format!("{digit}{rest}"))?);
                    continue;
                }
                Found::Short(letter, value) => {
                    check_size(letter, "-S", value.as_deref())?;
                    given.take(letter, value)?;
                }
                Found::Long(name, value) => {
                    let same = LONG.iter().find(|(long, ..)| *long == name);
                    let letter = same.map_or(IGNORED, |(_, letter, _)| *letter);
                    if letter == REFUSED {
                        return Err(format!("the option '--{name}' is not available").into());
                    }
                    if letter == COMMON {
                        let message = format!("unrecognized option '--{name}'");
                        return Err(format!("{message}\nTry 'sort --help' for more information.").into());
                    }
                    check_size(letter, &format!("--{name}"), value.as_deref())?;
                    given.take(letter, value)?;
                }
                Found::Mistake(message) => {
                    return Err(format!("{message}\nTry 'sort --help' for more information.").into());
                }
                Found::Word(word) => match word.strip_prefix('+').and_then(SortKey::parse_old_start) {
                    Some(key) => old_key = Some(key),
                    None => files.push(word),
                },
            }
            given.keys.extend(open_key);
        }
        given.keys.extend(old_key);
        files.extend(files_behind_dashes);
        given.finish(files).map_err(SortMistake::from)
    }
}

/// Ends a key in the old form, whose start is the word before.
fn ended_key(key: Option<SortKey>, text: &str) -> Result<SortKey, String> {
    let hint = "Try 'sort --help' for more information.";
    let mut key = key.ok_or_else(|| format!("invalid option -- '{}'\n{hint}", &text[..1]))?;
    key.end_old(text)?;
    Ok(key)
}

/// Options that were parsed so far.
#[derive(Default)]
struct GivenOptions {
    global: KeyOrdering,
    keys: Vec<SortKey>,
    field_separator: Option<u8>,
    check_loudly: bool,
    check_quietly: bool,
    merge: bool,
    stable: bool,
    unique: bool,
    zero_terminated: bool,
    output: Option<String>,
    files_from: Option<String>,
}

impl GivenOptions {
    fn take(&mut self, letter: char, value: Option<String>) -> Result<(), SortMistake> {
        let text = value.clone().unwrap_or_default();
        match letter {
            'c' => self.check_loudly = true,
            'C' => self.check_quietly = true,
            CHECK => match value {
                None => self.check_loudly = true,
                Some(word) => self.take(letter_of("--check", &word, &CHECK_WORDS)?, None)?,
            },
            'k' => self.keys.push(SortKey::parse(&text)?),
            'm' => self.merge = true,
            'o' => self.set_output(text)?,
            's' => self.stable = true,
            SORT => {
                let letter = letter_of("--sort", &text, &SORT_WORDS)?;
                self.global.set(letter, KeyEnds::Both);
            }
            't' => self.set_field_separator(&text)?,
            'u' => self.unique = true,
            FILES_FROM => self.files_from = Some(text),
            'z' => self.zero_terminated = true,
            BATCH_SIZE | BUFFER_SIZE | PARALLEL | IGNORED | 'y' => {}
            letter => {
                self.global.set(letter, KeyEnds::Both);
            }
        }
        Ok(())
    }

    /// Sets the output file. A repeated option must name the same file.
    fn set_output(&mut self, name: String) -> Result<(), String> {
        match self.output.replace(name) {
            Some(before) if Some(&before) != self.output.as_ref() => Err("multiple output files specified".to_owned()),
            _ => Ok(()),
        }
    }

    fn set_field_separator(&mut self, value: &str) -> Result<(), String> {
        let byte = match &*bashkit::bytes_of(value) {
            [] => return Err("empty tab".to_owned()),
            b"\\0" => 0,
            [byte] => *byte,
            _ => return Err(format!("multi-character tab '{value}'")),
        };
        match self.field_separator.replace(byte) {
            Some(before) if before != byte => Err("incompatible tabs".to_owned()),
            _ => Ok(()),
        }
    }

    /// Returns the options of the call, if they are compatible.
    fn finish(mut self, mut files: Vec<String>) -> Result<SortOptions, String> {
        // GNU: a key without ordering options takes the global ones.
        for key in &mut self.keys {
            if key.ordering.is_default() && !key.ordering.reverse {
                key.ordering = self.global.clone();
            }
        }
        let reverse = self.global.reverse;
        if self.keys.is_empty() && !self.global.is_default() {
            self.keys.push(SortKey::whole_line(self.global.clone()));
        }
        if let Some(letters) = self.keys.iter().find_map(|key| key.ordering.conflict()) {
            return Err(format!("options '-{letters}' are incompatible"));
        }
        let task = self.task(&files)?;
        match (&self.files_from, files.first()) {
            (Some(_), Some(extra)) => {
                let message = "file operands cannot be combined with --files0-from";
                return Err(format!("extra operand '{extra}'\n{message}\nTry 'sort --help' for more information."));
            }
            (None, None) => files.push("-".to_owned()),
            _ => {}
        }
        let order = LineOrder {
            keys: self.keys,
            field_separator: self.field_separator,
            reverse,
            keys_only: self.unique || self.stable,
            random: RandomState::new(),
        };
        let (unique, zero_terminated, output) = (self.unique, self.zero_terminated, self.output);
        let files_from = self.files_from;
        Ok(SortOptions { task, order, unique, zero_terminated, output, files, files_from })
    }

    fn task(&self, files: &[String]) -> Result<SortTask, String> {
        let letter = match (self.check_loudly, self.check_quietly) {
            (true, true) => return Err("options '-cC' are incompatible".to_owned()),
            (true, false) => 'c',
            (false, true) => 'C',
            (false, false) if self.merge => return Ok(SortTask::Merge),
            (false, false) => return Ok(SortTask::Sort),
        };
        if let Some(extra) = files.get(1) {
            return Err(format!("extra operand '{extra}' not allowed with -{letter}"));
        }
        if self.output.is_some() {
            return Err(format!("options '-{letter}o' are incompatible"));
        }
        Ok(SortTask::Check { quiet: self.check_quietly })
    }
}

/// Checks the value of an option for a size, which has no effect here. The error is a message.
fn check_size(letter: char, option: &str, value: Option<&str>) -> Result<(), String> {
    let value = value.unwrap_or_default();
    let digits = value.len() - value.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let suffix_is_known = match letter {
        BUFFER_SIZE => {
            matches!(&value[digits..], "" | "%" | "b" | "k" | "K" | "m" | "M" | "g" | "G" | "t" | "T" | "P" | "E")
        }
        BATCH_SIZE | PARALLEL => digits == value.len(),
        _ => return Ok(()),
    };
    match (digits, suffix_is_known) {
        (0, _) => Err(format!("invalid {option} argument '{value}'")),
        (_, false) => Err(format!("invalid suffix in {option} argument '{value}'")),
        _ if letter == BATCH_SIZE && value.parse().is_ok_and(|size: u64| size < 2) => {
            Err(format!("invalid {option} argument '{value}'\nsort: minimum {option} argument is '2'"))
        }
        _ if letter == PARALLEL && value.bytes().all(|digit| digit == b'0') => {
            Err("number in parallel must be nonzero".to_owned())
        }
        _ if letter != PARALLEL && value[..digits].parse::<u64>().is_err() => {
            Err(format!("{option} argument '{value}' too large"))
        }
        _ => Ok(()),
    }
}
