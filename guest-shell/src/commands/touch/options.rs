//! Command-line options of `touch`. Errors are messages.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::slice::Iter;

use bashkit::time_compat::SystemTime;

use super::stamp::parse_stamp;

/// Command-line options of one call.
#[derive(Debug, Default)]
pub(super) struct TouchOptions {
    pub(super) files: Vec<String>,
    /// Time of the last `-d` or `-t`.
    pub(super) time: Option<SystemTime>,
    /// True if there is a `-d`.
    pub(super) is_dated: bool,
    /// True if there is a `-t`.
    is_stamped: bool,
    /// File whose time is used.
    pub(super) reference: Option<String>,
    /// True if missing files are skipped.
    pub(super) no_create: bool,
    /// True if the command applies to links themselves.
    pub(super) no_dereference: bool,
    /// True if `-a` selects the time of access.
    access: bool,
    /// True if `-m` selects the time of modification.
    modification: bool,
}

impl TouchOptions {
    /// Parses a command line. `read_date` parses dates.
    pub(super) fn parse(words: &[String], read_date: &dyn Fn(&str) -> Option<SystemTime>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.strip_prefix('-') {
                None | Some("") => options.files.push(word.clone()),
                Some("-") => options.files.extend(words.by_ref().cloned()),
                Some(option) => match option.strip_prefix('-') {
                    Some(long) => options.take_long(long, &mut words, read_date)?,
                    None => options.take_letters(option, &mut words, read_date)?,
                },
            }
        }
        if options.is_stamped && (options.is_dated || options.reference.is_some()) {
            let message = "cannot specify times from more than one source\nTry 'touch --help' for more information.";
            return Err(message.to_owned());
        }
        Ok(options)
    }

    /// Returns true if the time of modification is set, which it is unless only `-a` is given.
    pub(super) fn sets_modification(&self) -> bool {
        self.modification || !self.access
    }

    fn take_long(
        &mut self,
        option: &str,
        words: &mut Iter<'_, String>,
        read_date: &dyn Fn(&str) -> Option<SystemTime>,
    ) -> Result<(), String> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let mut value = || value.clone().or_else(|| words.next().cloned());
        match name {
            "no-create" => self.no_create = true,
            "no-dereference" => self.no_dereference = true,
            "time" => match value().unwrap_or_default().as_str() {
                "access" | "atime" | "use" => self.access = true,
                "modify" | "mtime" => self.modification = true,
                word => return Err(format!("invalid argument '{word}' for '--time'")),
            },
            "date" => {
                let text = value().ok_or("option '--date' requires an argument")?;
                self.take_date(&text, read_date)?;
            }
            "reference" => self.reference = value(),
            _ => return Err(format!("unrecognized option '--{option}'")),
        }
        Ok(())
    }

    fn take_letters(
        &mut self,
        letters: &str,
        words: &mut Iter<'_, String>,
        read_date: &dyn Fn(&str) -> Option<SystemTime>,
    ) -> Result<(), String> {
        for (at, letter) in letters.char_indices() {
            match letter {
                'f' => {}
                'a' => self.access = true,
                'm' => self.modification = true,
                'h' => self.no_dereference = true,
                'c' => self.no_create = true,
                'd' | 't' | 'r' => {
                    let value = match &letters[at + 1..] {
                        "" => words.next().cloned(),
                        attached => Some(attached.to_owned()),
                    };
                    let value = value.ok_or_else(|| format!("option requires an argument -- '{letter}'"))?;
                    match letter {
                        'd' => self.take_date(&value, read_date)?,
                        't' => {
                            self.time = Some(parse_stamp(&value).ok_or_else(|| invalid_date(&value))?);
                            self.is_stamped = true;
                        }
                        _ => self.reference = Some(value),
                    }
                    return Ok(());
                }
                other => return Err(format!("invalid option -- '{other}'")),
            }
        }
        Ok(())
    }

    fn take_date(&mut self, text: &str, read_date: &dyn Fn(&str) -> Option<SystemTime>) -> Result<(), String> {
        self.time = Some(read_date(text).ok_or_else(|| invalid_date(text))?);
        self.is_dated = true;
        Ok(())
    }
}

fn invalid_date(text: &str) -> String {
    format!("invalid date format '{text}'")
}
