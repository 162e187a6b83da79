//! Command-line options of `sort`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::hash::RandomState;

use super::comparison::LineOrder;
use super::key::{KeyEnds, KeyOrdering, SortKey};
use crate::commands::getopt::{Found, Known, Order, Takes, scan};

const SHORT: &str = "bcCdfghik:mMno:rRsS:t:T:uVy::z";

/// Long options in GNU's order: name, the short option that is the same, and the argument.
const LONG: [(&str, char, Takes); 28] = [
    ("ignore-leading-blanks", 'b', Takes::Nothing),
    ("check", CHECK, Takes::Optional),
    ("compress-program", IGNORED, Takes::Required),
    ("debug", IGNORED, Takes::Nothing),
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
    ("random-source", IGNORED, Takes::Required),
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
    ("parallel", IGNORED, Takes::Required),
];

/// Short option that represents all options for resources, which have no effect here.
const IGNORED: char = 'T';
/// Short option for the size of the buffer, which is checked and has no effect here.
const BUFFER_SIZE: char = 'S';
/// Short option that represents `--batch-size`.
const BATCH_SIZE: char = '\x04';
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
    /// Parses a command line. The error is a message.
    pub(super) fn parse(words: &[String]) -> Result<Self, String> {
        let known = Known {
            short: SHORT.to_owned(),
            long: LONG.iter().map(|(name, _, takes)| ((*name).to_owned(), *takes)).collect(),
            single_dash: false,
        };
        let (found, files) = scan(&known, Order::Permute, words);
        let mut given = GivenOptions::default();
        for option in found {
            match option {
                Found::Short(letter, value) => {
                    check_size(letter, "-S", value.as_deref())?;
                    given.take(letter, value.unwrap_or_default())?;
                }
                Found::Long(name, value) => {
                    let same = LONG.iter().find(|(long, ..)| *long == name);
                    let letter = same.map_or(IGNORED, |(_, letter, _)| *letter);
                    check_size(letter, &format!("--{name}"), value.as_deref())?;
                    given.take(letter, value.unwrap_or_default())?;
                }
                Found::Mistake(message) => return Err(format!("{message}\nTry 'sort --help' for more information.")),
                Found::Word(_) => {}
            }
        }
        given.finish(files)
    }
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
    fn take(&mut self, letter: char, value: String) -> Result<(), String> {
        match letter {
            'c' => self.check_loudly = true,
            'C' => self.check_quietly = true,
            CHECK => match value.as_str() {
                "" | "diagnose-first" => self.check_loudly = true,
                "quiet" | "silent" => self.check_quietly = true,
                _ => return Err(format!("invalid argument '{value}' for '--check'")),
            },
            'k' => self.keys.push(SortKey::parse(&value)?),
            'm' => self.merge = true,
            'o' => self.set_output(value)?,
            's' => self.stable = true,
            SORT => {
                let letter = sort_word(&value).ok_or_else(|| format!("invalid argument '{value}' for '--sort'"))?;
                self.global.set(letter, KeyEnds::Both);
            }
            't' => self.set_field_separator(&value)?,
            'u' => self.unique = true,
            FILES_FROM => self.files_from = Some(value),
            'z' => self.zero_terminated = true,
            BATCH_SIZE | BUFFER_SIZE | IGNORED | 'y' => {}
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
        BATCH_SIZE => digits == value.len(),
        _ => return Ok(()),
    };
    match (digits, suffix_is_known) {
        (0, _) => Err(format!("invalid {option} argument '{value}'")),
        (_, false) => Err(format!("invalid suffix in {option} argument '{value}'")),
        _ if letter == BATCH_SIZE && value.parse().is_ok_and(|size: u64| size < 2) => {
            Err(format!("invalid {option} argument '{value}'\nsort: minimum {option} argument is '2'"))
        }
        _ => Ok(()),
    }
}

/// Returns the short option for a word of `--sort`, which may be abbreviated unambiguously.
fn sort_word(word: &str) -> Option<char> {
    let mut matching = SORT_WORDS.iter().filter(|(name, _)| !word.is_empty() && name.starts_with(word));
    match (matching.next(), matching.next()) {
        (Some((_, letter)), None) => Some(*letter),
        _ => None,
    }
}
