//! What each command takes behind its name.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::parser::Item;
use super::reader::ScriptReader;
use super::replacement::text_with_escapes;
use super::{Action, JumpCondition, Parsed};

/// Newest version of GNU sed that a script may ask for (`v`).
const FOLLOWED_VERSION: [u32; 2] = [4, 9];

/// Error of a command on files under `--sandbox`.
pub(super) const SANDBOXED: &str = "e/r/w commands disabled in sandbox mode";

impl ScriptReader {
    /// Takes what a command has behind its name.
    pub(super) fn command(&mut self, name: char, has_address: bool) -> Parsed<Item> {
        if self.mode.posix && "eFvzLQTRW".contains(name) {
            return self.fail(format!("unknown command: `{name}'"));
        }
        if self.mode.sandbox && "erRwW".contains(name) {
            return self.fail(SANDBOXED);
        }
        if let Some(action) = self.plain_command(name)? {
            self.end_of_command()?;
            return Ok(Item::Action(action));
        }
        match name {
            's' => self.substitution().map(Item::Action),
            'a' | 'i' | 'c' => self.text_command(name).map(Item::Action),
            'r' => Ok(Item::Action(Action::ReadFile(self.file_name()?))),
            'R' => Ok(Item::Action(Action::ReadLine(self.file_name()?))),
            'w' => Ok(Item::Action(Action::WriteFile(self.output_name()?))),
            'W' => Ok(Item::Action(Action::WriteFirstLine(self.output_name()?))),
            ':' if has_address => self.fail(": doesn't want any addresses"),
            ':' => match self.label() {
                Some(label) => Ok(Item::Label(label)),
                None => self.fail("\":\" lacks a label"),
            },
            'b' => Ok(Item::Jump(JumpCondition::Always, self.label())),
            't' => Ok(Item::Jump(JumpCondition::IfSubstituted, self.label())),
            'T' => Ok(Item::Jump(JumpCondition::UnlessSubstituted, self.label())),
            'e' => {
                self.fail("the `e' command is not available: Bashkit never executes host commands from a sed script")
            }
            _ => self.fail(format!("unknown command: `{name}'")),
        }
    }

    /// Takes a command without text, label or file, behind which only another command may follow.
    fn plain_command(&mut self, name: char) -> Parsed<Option<Action>> {
        Ok(Some(match name {
            'y' => self.transliteration()?,
            'd' => Action::Delete,
            'D' => Action::DeleteFirstLine,
            'p' => Action::Print,
            'P' => Action::PrintFirstLine,
            'n' => Action::Next,
            'N' => Action::AppendNext,
            'h' => Action::CopyToHold,
            'H' => Action::AppendToHold,
            'g' => Action::CopyFromHold,
            'G' => Action::AppendFromHold,
            'x' => Action::Exchange,
            'z' => Action::Empty,
            'F' => Action::PrintFileName,
            '=' => Action::PrintLineNumber,
            'q' => Action::Quit(self.exit_status()?),
            'Q' => Action::QuitSilently(self.exit_status()?),
            'l' => Action::List(self.optional_number()?),
            'v' => self.required_version()?,
            _ => return Ok(None),
        }))
    }

    /// Sees to it that a command ends here.
    pub(super) fn end_of_command(&mut self) -> Parsed<()> {
        self.skip(|character| matches!(character, ' ' | '\t' | '\r'));
        if matches!(self.peek(), None | Some('\n' | ';' | '}' | '#')) {
            return Ok(());
        }
        self.position += 1;
        self.fail("extra characters after command")
    }

    /// Takes the number that GNU lets stand behind `l` and `q`, and POSIX does not.
    fn optional_number(&mut self) -> Parsed<Option<usize>> {
        self.skip_blanks();
        if !self.at_number() {
            return Ok(None);
        }
        if self.mode.posix {
            self.position += 1;
            return self.fail("extra characters after command");
        }
        Ok(Some(self.number()))
    }

    fn exit_status(&mut self) -> Parsed<i32> {
        Ok((self.optional_number()?.unwrap_or(0) & 0xff) as i32)
    }

    /// Takes the version that `v` asks for; what is no version, or too new, is refused.
    fn required_version(&mut self) -> Parsed<Action> {
        self.skip_blanks();
        let version = self.take_while(|character| !character.is_whitespace() && character != ';');
        let parts: Option<Vec<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
        if !version.is_empty() && parts.is_none_or(|parts| parts > FOLLOWED_VERSION.to_vec()) {
            return self.fail("expected newer version of sed");
        }
        Ok(Action::Nothing)
    }

    /// Takes a label; none if there is nothing.
    fn label(&mut self) -> Option<String> {
        self.skip_blanks();
        let label = self.take_while(|character| !character.is_whitespace() && !matches!(character, ';' | '}'));
        (!label.is_empty()).then_some(label)
    }

    /// Takes the name of a file: all that is left of the line, semicolons included.
    fn file_name(&mut self) -> Parsed<String> {
        self.skip_blanks();
        let name = self.rest_of_line().trim_end().to_string();
        if name.is_empty() { self.fail("missing filename in r/R/w/W commands") } else { Ok(name) }
    }

    /// Takes the name of a file to write, which is made when the script is read.
    pub(super) fn output_name(&mut self) -> Parsed<String> {
        let name = self.file_name()?;
        self.write_files.push(name.clone());
        Ok(name)
    }

    /// Takes `a`, `i` or `c` with its text, behind `\` and a newline (POSIX) or on the same line (GNU).
    fn text_command(&mut self, name: char) -> Parsed<Action> {
        self.skip_blanks();
        if self.mode.posix && self.peek() != Some('\\') {
            self.position += 1;
            return self.fail("expected \\ after `a', `c' or `i'");
        }
        if self.peek().is_none() {
            return self.fail("expected \\ after `a', `c' or `i'");
        }
        let has_backslash = self.accept('\\');
        // GNU adds no line at all if the script ends behind the backslash, but `a` ends a line that has no end.
        if has_backslash && self.peek().is_none() {
            return Ok(match name {
                'a' => Action::Append(String::new()),
                'i' => Action::Nothing,
                _ => Action::Change(None),
            });
        }
        if has_backslash {
            self.accept('\n');
        }
        let text = text_with_escapes(self);
        Ok(match name {
            'a' => Action::Append(text + "\n"),
            'i' => Action::Insert(text),
            _ => Action::Change(Some(text)),
        })
    }
}
