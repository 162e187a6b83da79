//! Options that `head` and `tail` share.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

use super::count::{CountError, CountSign, parse_count};
use super::selection::{Selection, SelectionUnit};

/// Long options of both commands.
pub(in crate::commands) const LONG: [(&str, OptArg, char); 6] = [
    ("bytes", OptArg::Required, 'c'),
    ("lines", OptArg::Required, 'n'),
    ("quiet", OptArg::No, 'q'),
    ("silent", OptArg::No, 'q'),
    ("verbose", OptArg::No, 'v'),
    ("zero-terminated", OptArg::No, 'z'),
];

/// Properties of one of the commands: its name, and the meaning of numbers.
pub(in crate::commands) struct ExcerptCommand {
    pub(in crate::commands) name: &'static str,
    pub(in crate::commands) default: Selection,
    /// Returns the selection for a number with a sign.
    pub(in crate::commands) select: fn(CountSign, usize) -> Selection,
}

/// Condition for printing the names of files above their contents.
#[derive(Clone, Copy, PartialEq)]
enum HeaderUse {
    SeveralFiles,
    Never,
    Always,
}

/// Options of one call that both commands have, and its files.
pub(in crate::commands) struct ExcerptOptions {
    pub(in crate::commands) selection: Selection,
    pub(in crate::commands) unit: SelectionUnit,
    headers: HeaderUse,
    zero_terminated: bool,
    /// Names of files, at least one; `-` is standard input.
    pub(in crate::commands) files: Vec<String>,
}

impl ExcerptOptions {
    /// Returns the options of a call without arguments.
    pub(in crate::commands) fn new(command: &ExcerptCommand) -> Self {
        Self {
            selection: command.default,
            unit: SelectionUnit::Lines,
            headers: HeaderUse::SeveralFiles,
            zero_terminated: false,
            files: Vec::new(),
        }
    }

    /// Applies an option of the command line. The error is the result of an invalid call.
    pub(in crate::commands) fn take(&mut self, command: &ExcerptCommand, option: ParsedOpt) -> Result<(), ExecResult> {
        let value = option.value.unwrap_or_default();
        match option.key {
            'n' => {
                self.selection = parse_selection(command, &value, "lines")?;
                self.unit = SelectionUnit::Lines;
            }
            'c' => {
                self.selection = parse_selection(command, &value, "bytes")?;
                self.unit = SelectionUnit::Bytes;
            }
            'z' => self.zero_terminated = true,
            'q' => self.headers = HeaderUse::Never,
            _ => self.headers = HeaderUse::Always,
        }
        Ok(())
    }

    /// Returns the options, once all are taken, with the operands of the command line.
    pub(in crate::commands) fn finish(mut self, operands: Vec<String>) -> Self {
        if self.zero_terminated && self.unit == SelectionUnit::Lines {
            self.unit = SelectionUnit::Records;
        }
        self.files = if operands.is_empty() { vec!["-".to_owned()] } else { operands };
        self
    }

    /// Returns true if the name is printed even above a single file.
    pub(super) fn always_shows_headers(&self) -> bool {
        self.headers == HeaderUse::Always
    }

    /// Returns true if names are written above files.
    pub(in crate::commands) fn shows_headers(&self) -> bool {
        match self.headers {
            HeaderUse::SeveralFiles => self.files.len() > 1,
            HeaderUse::Never => false,
            HeaderUse::Always => true,
        }
    }
}

fn parse_selection(command: &ExcerptCommand, text: &str, units: &str) -> Result<Selection, ExecResult> {
    let reason = match parse_count(text) {
        Ok((sign, count)) => return Ok((command.select)(sign, count)),
        Err(CountError::NotANumber) => "",
        Err(CountError::TooLarge) => ": Value too large for defined data type",
    };
    Err(ExecResult::err(format!("{}: invalid number of {units}: '{text}'{reason}\n", command.name), 1))
}

/// Returns the digits of a word `-NUM`, an obsolete form of `-n NUM`.
fn obsolete_count(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|digits| is_number(digits))
}

/// Returns true if a text has digits alone, at least one.
pub(in crate::commands) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the positions and digits of words `-NUM` that are neither values of options nor after `--`.
pub(in crate::commands) fn obsolete_counts(words: &[String]) -> impl Iterator<Item = (usize, &str)> {
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let options = words.iter().zip(before).take_while(|(word, _)| *word != "--").enumerate();
    options
        .filter(|(_, (_, before))| !takes_next_word(before))
        .filter_map(|(at, (word, _))| Some((at, obsolete_count(word)?)))
}

/// Returns true if the value of an option is the next word.
fn takes_next_word(option: &str) -> bool {
    match option.strip_prefix('-') {
        Some("-lines" | "-bytes") => true,
        Some(letters) => letters.ends_with(['n', 'c']) && letters.bytes().all(|byte| b"cnqvfFz".contains(&byte)),
        None => false,
    }
}
