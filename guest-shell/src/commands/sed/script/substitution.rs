//! `s` and `y`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::command::SANDBOXED;
use super::reader::ScriptReader;
use super::replacement::{characters_with_escapes, parse_replacement};
use super::{Action, Parsed, ReplacementPart, Substitution};

/// Flags of a substitution, behind `s/regex/replacement/`.
#[derive(Default)]
struct Flags {
    global: bool,
    print: bool,
    case_insensitive: bool,
    multi_line: bool,
    occurrence: Option<usize>,
    file: Option<String>,
}

impl ScriptReader {
    /// Takes what stands between the parts of `s` and `y`.
    fn delimiter(&mut self, what: &str) -> Parsed<char> {
        match self.next() {
            None => self.fail(format!("unterminated {what}")),
            Some(delimiter) if !delimiter.is_ascii() => self.fail("delimiter character is not a single-byte character"),
            Some(delimiter) => Ok(delimiter),
        }
    }

    pub(super) fn transliteration(&mut self) -> Parsed<Action> {
        let what = "`y' command";
        let delimiter = self.delimiter(what)?;
        let source = characters_with_escapes(&self.delimited(delimiter, what, false)?);
        let target = characters_with_escapes(&self.delimited(delimiter, what, false)?);
        if source.len() != target.len() {
            return self.fail("strings for `y' command are different lengths");
        }
        Ok(Action::Transliterate(source.into_iter().zip(target).collect()))
    }

    pub(super) fn substitution(&mut self) -> Parsed<Action> {
        let what = "`s' command";
        let delimiter = self.delimiter(what)?;
        if delimiter == '\\' || delimiter == '\n' {
            return self.fail("unknown option to `s'");
        }
        let pattern = self.delimited(delimiter, what, true)?;
        let replacement = self.delimited(delimiter, what, false)?;
        let mut flags = Flags::default();
        while self.flag(&mut flags)? {}
        let regex = self.compile(&pattern, flags.case_insensitive, flags.multi_line)?;
        let parts = parse_replacement(&replacement);
        if let Some(regex) = &regex {
            self.check_groups(&parts, regex.group_count())?;
        }
        Ok(Action::Substitute(Box::new(Substitution {
            regex,
            parts,
            occurrence: flags.occurrence.unwrap_or(1),
            global: flags.global,
            print: flags.print,
            file: flags.file,
        })))
    }

    /// Takes one flag; returns false behind the last.
    fn flag(&mut self, flags: &mut Flags) -> Parsed<bool> {
        match self.peek() {
            None | Some('\n' | ';' | '}' | '#' | '\r') => return Ok(false),
            Some(digit) if digit.is_ascii_digit() => return self.occurrence(flags).map(|()| true),
            Some('e' | 'w') if self.mode.sandbox => return self.fail(SANDBOXED),
            Some('e') if !self.mode.posix => {
                return self.fail(
                    "the `e' option to `s' is not available: Bashkit never executes host commands from a sed script",
                );
            }
            Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | 'e' | 'w' | ' ' | '\t') => {}
            Some(other) => return self.fail(format!("unknown option to `s': `{other}'")),
        }
        match self.next() {
            Some('g') if flags.global => return self.fail("multiple `g' options to `s' command"),
            Some('p') if flags.print => return self.fail("multiple `p' options to `s' command"),
            Some('g') => flags.global = true,
            Some('p') => flags.print = true,
            Some(' ' | '\t') => {}
            Some('w') => {
                flags.file = Some(self.output_name()?);
                return Ok(false);
            }
            _ if self.mode.posix => return self.fail("unknown option to `s'"),
            Some('i' | 'I') => flags.case_insensitive = true,
            _ => flags.multi_line = true,
        }
        Ok(true)
    }

    /// Takes the number of the match that is replaced.
    fn occurrence(&mut self, flags: &mut Flags) -> Parsed<()> {
        if flags.occurrence.is_some() {
            return self.fail("multiple number options to `s' command");
        }
        match self.number() {
            0 => self.fail("number option to `s' command may not be zero"),
            number => {
                flags.occurrence = Some(number);
                Ok(())
            }
        }
    }

    /// Fails if a replacement names a group that the regular expression does not have.
    fn check_groups(&self, parts: &[ReplacementPart], group_count: usize) -> Parsed<()> {
        let groups = parts.iter().map(|part| match part {
            ReplacementPart::Group(number) => *number,
            _ => 0,
        });
        match groups.max() {
            Some(highest) if highest > group_count => {
                self.fail(format!("invalid reference \\{highest} on `s' command's RHS"))
            }
            _ => Ok(()),
        }
    }
}
