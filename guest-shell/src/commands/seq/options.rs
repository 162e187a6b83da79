//! Options of `seq`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::slice::Iter;

use bashkit::ExecResult;
use bashkit::builtins::invalid_option;

/// Options of one call.
pub(super) struct SeqOptions {
    pub(super) separator: String,
    pub(super) equal_width: bool,
    /// Format of `printf`.
    pub(super) format: Option<String>,
}

impl SeqOptions {
    /// Reads a command line into options and operands. The error is the result of a wrong call.
    ///
    /// A word where an option may be that looks like a negative number ends the options, so that `seq -3 -1` counts,
    /// while `seq -s -1 1 2` takes `-1` as the separator.
    pub(super) fn parse(words: &[String]) -> Result<(Self, Vec<String>), ExecResult> {
        let mut options = Self { separator: "\n".to_owned(), equal_width: false, format: None };
        let mut operands = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.strip_prefix('-') {
                None | Some("") => operands.push(word.clone()),
                Some(number) if number.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') => {
                    operands.push(word.clone());
                    operands.extend(words.by_ref().cloned());
                }
                Some("-") => operands.extend(words.by_ref().cloned()),
                Some(option) => match option.strip_prefix('-') {
                    Some(long) => options.take_long(long, &mut words)?,
                    None => options.take_letters(option, &mut words)?,
                },
            }
        }
        if options.format.is_some() && options.equal_width {
            let message = "seq: format string may not be specified when printing equal width strings\n";
            return Err(ExecResult::err(message, 1));
        }
        Ok((options, operands))
    }

    /// Takes a long option, whose name may be shortened.
    fn take_long(&mut self, option: &str, words: &mut Iter<'_, String>) -> Result<(), ExecResult> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let known = ["equal-width", "format", "separator"];
        let known = known.into_iter().find(|known| !name.is_empty() && known.starts_with(name));
        let Some(name) = known else {
            return Err(invalid_option("seq", &format!("--{option}"), 1));
        };
        if name == "equal-width" {
            self.equal_width = true;
            return Ok(());
        }
        let value = value.or_else(|| words.next().cloned());
        let value =
            value.ok_or_else(|| ExecResult::err(format!("seq: option '--{name}' requires an argument\n"), 1))?;
        match name {
            "format" => self.format = Some(value),
            _ => self.separator = value,
        }
        Ok(())
    }

    fn take_letters(&mut self, letters: &str, words: &mut Iter<'_, String>) -> Result<(), ExecResult> {
        for (at, letter) in letters.char_indices() {
            match letter {
                'w' => self.equal_width = true,
                'f' | 's' => {
                    let value = match &letters[at + 1..] {
                        "" => words.next().cloned(),
                        attached => Some(attached.to_owned()),
                    };
                    let missing = || ExecResult::err(format!("seq: option requires an argument -- '{letter}'\n"), 1);
                    let value = value.ok_or_else(missing)?;
                    match letter {
                        'f' => self.format = Some(value),
                        _ => self.separator = value,
                    }
                    return Ok(());
                }
                _ => return Err(invalid_option("seq", &format!("-{letter}"), 1)),
            }
        }
        Ok(())
    }
}
