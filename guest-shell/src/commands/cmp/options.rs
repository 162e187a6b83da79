//! Options of `cmp`. Errors are messages.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::slice::Iter;

/// Options of one call.
#[derive(Debug, Default)]
pub(super) struct CmpOptions {
    /// All differences are told, and not the first alone.
    pub(super) verbose: bool,
    pub(super) silent: bool,
    pub(super) print_bytes: bool,
    /// Most bytes that are compared.
    limit: Option<usize>,
    /// Number of bytes at the start of both files that are not compared.
    skip: usize,
    /// Names of both files; `-` is standard input.
    pub(super) names: [String; 2],
}

impl CmpOptions {
    /// Reads a command line.
    pub(super) fn parse(words: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut files = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--" => files.extend(words.by_ref().cloned()),
                "-" => files.push(word.clone()),
                option if option.starts_with('-') => options.take(option, &mut words)?,
                _ => files.push(word.clone()),
            }
        }
        options.names = match <[String; 2]>::try_from(files) {
            Ok(names) => names,
            Err(mut files) => match (files.pop(), files.get(2)) {
                (None, _) => return Err("missing operand after 'cmp'".to_owned()),
                (Some(name), _) if files.is_empty() => [name, "-".to_owned()],
                (Some(last), third) => {
                    let third = third.unwrap_or(&last);
                    return Err(format!("invalid --ignore-initial value '{third}'"));
                }
            },
        };
        Ok(options)
    }

    fn take(&mut self, option: &str, words: &mut Iter<'_, String>) -> Result<(), String> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) if option.starts_with("--") => (name, Some(value)),
            _ => (option, None),
        };
        match name {
            "--verbose" => self.verbose = true,
            "--quiet" | "--silent" => self.silent = true,
            "--print-bytes" => self.print_bytes = true,
            "-n" | "--bytes" => self.limit = Some(number("bytes", value, words)?),
            "-i" | "--ignore-initial" => self.skip = number("ignore-initial", value, words)?,
            _ if option.starts_with("--") => return Err(format!("unrecognized option '{option}'")),
            _ => self.take_letters(&option[1..])?,
        }
        Ok(())
    }

    fn take_letters(&mut self, letters: &str) -> Result<(), String> {
        for letter in letters.chars() {
            match letter {
                'l' => self.verbose = true,
                's' => self.silent = true,
                'b' => self.print_bytes = true,
                // A letter alone is told as a whole word.
                _ if letters.len() == 1 => return Err(format!("unrecognized option '-{letter}'")),
                _ => return Err(format!("invalid option -- '{letter}'")),
            }
        }
        Ok(())
    }

    /// Returns the part of a file that is compared.
    pub(super) fn compared_part<'d>(&self, data: &'d [u8]) -> &'d [u8] {
        let data = data.get(self.skip..).unwrap_or_default();
        &data[..data.len().min(self.limit.unwrap_or(data.len()))]
    }
}

/// Reads the value of an option, which may be the next word.
fn number(name: &str, value: Option<&str>, words: &mut Iter<'_, String>) -> Result<usize, String> {
    let value = value.or_else(|| words.next().map(String::as_str));
    let value = value.ok_or_else(|| format!("option requires an argument -- '{name}'"))?;
    value.parse().map_err(|_| format!("invalid --{name} value '{value}'"))
}
