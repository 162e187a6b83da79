//! Command-line options of `seq`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::slice::Iter;

use super::format::NumberFormat;
use super::usage_error;

/// Command-line options and operands of one call.
#[derive(Debug)]
pub(super) struct SeqOptions {
    pub(super) separator: String,
    pub(super) equal_width: bool,
    pub(super) format: Option<NumberFormat>,
    pub(super) operands: Vec<String>,
}

impl SeqOptions {
    /// Parses a command line. The error is a message.
    ///
    /// A word in the position of an option that looks like a negative number ends the options, so that `seq -3 -1`
    /// works, while `seq -s -1 1 2` uses `-1` as the separator.
    pub(super) fn parse(words: &[String]) -> Result<Self, String> {
        let mut options = Self { separator: "\n".to_owned(), equal_width: false, format: None, operands: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.strip_prefix('-') {
                None | Some("") => options.operands.push(word.clone()),
                Some(number) if is_number(number) => {
                    options.operands.push(word.clone());
                    options.operands.extend(words.by_ref().cloned());
                }
                Some("-") => options.operands.extend(words.by_ref().cloned()),
                Some(option) => match option.strip_prefix('-') {
                    Some(long) => options.take_long(long, &mut words)?,
                    None => options.take_letters(option, &mut words)?,
                },
            }
        }
        if options.format.is_some() && options.equal_width {
            return Err(usage_error("format string may not be specified when printing equal width strings"));
        }
        Ok(options)
    }

    /// Consumes a long option, whose name may be abbreviated.
    fn take_long(&mut self, option: &str, words: &mut Iter<'_, String>) -> Result<(), String> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let known = ["equal-width", "format", "separator"];
        let known = known.into_iter().find(|known| !name.is_empty() && known.starts_with(name));
        let Some(name) = known else {
            return Err(usage_error(&format!("unrecognized option '--{option}'")));
        };
        if name == "equal-width" && value.is_some() {
            return Err(usage_error(&format!("option '--{name}' doesn't allow an argument")));
        }
        if name == "equal-width" {
            self.equal_width = true;
            return Ok(());
        }
        let value = value.or_else(|| words.next().cloned());
        let missing = || usage_error(&format!("option '--{name}' requires an argument"));
        self.take_value(name.starts_with('f'), value.ok_or_else(missing)?)
    }

    fn take_letters(&mut self, letters: &str, words: &mut Iter<'_, String>) -> Result<(), String> {
        for (at, letter) in letters.char_indices() {
            match letter {
                'w' => self.equal_width = true,
                'f' | 's' => {
                    let value = match &letters[at + 1..] {
                        "" => words.next().cloned(),
                        attached => Some(attached.to_owned()),
                    };
                    let missing = || usage_error(&format!("option requires an argument -- '{letter}'"));
                    return self.take_value(letter == 'f', value.ok_or_else(missing)?);
                }
                _ => return Err(usage_error(&format!("invalid option -- '{letter}'"))),
            }
        }
        Ok(())
    }

    fn take_value(&mut self, is_format: bool, value: String) -> Result<(), String> {
        if is_format {
            self.format = Some(NumberFormat::parse(value)?);
        } else {
            self.separator = value;
        }
        Ok(())
    }
}

/// Returns true if the rest of a word after a dash begins like a number.
fn is_number(rest: &str) -> bool {
    rest.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') || rest.starts_with("inf")
}
