//! Records of the main input: of the files that `ARGV` names, or of standard input.
//!
//! `ARGV` is looked at as files are needed, so that `BEGIN` can change it: `name=value` is an assignment, `-` standard
//! input, and a file that is missing a fatal error, unless `BEGINFILE` skips it, as in gawk.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{VarRef, special};
use super::super::interpreter::{Evaluation, Interpreter, Slot, Unwind};
use super::super::lexer::unescape;
use super::super::value::Value;
use super::reader::Reader;
use bashkit::builtins::STREAM_CHUNK_BYTES;

/// State of the main input.
#[derive(Default)]
pub(super) struct MainInput {
    /// Number of elements of `ARGV` that were looked at, without the first one, which names the program.
    seen_arguments: usize,
    current: Option<Reader>,
    /// A file or standard input was opened.
    has_opened: bool,
}

/// Returns the name and the value of an operand `name=value`.
pub(crate) fn command_line_assignment(argument: &str) -> Option<(&str, &str)> {
    let (name, value) = argument.split_once('=')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value))
}

impl Interpreter {
    /// Returns the next record; none behind the last file.
    pub(crate) async fn next_main_record(&mut self) -> Evaluation<Option<String>> {
        loop {
            self.pass_on(STREAM_CHUNK_BYTES).await?;
            if let Some(record) = self.read_main_record().await? {
                return Ok(Some(record));
            }
            self.end_main_file().await?;
            if !self.open_next_main_file().await? {
                return Ok(None);
            }
        }
    }

    /// Returns the next record of the current file; none at its end, or if there is no file.
    async fn read_main_record(&mut self) -> Evaluation<Option<String>> {
        let Some(reader) = self.io.main.current.as_mut() else {
            return Ok(None);
        };
        let separator = &self.settings.record_separator;
        if let Err(error) = reader.fill(separator).await {
            return Err(self.fail_with(error));
        }
        let Some((record, terminator)) = reader.read(separator) else {
            return Ok(None);
        };
        self.charge_work()?;
        self.settings.nr += 1.0;
        self.settings.fnr += 1.0;
        self.put_special(special::NR, Value::Num(self.settings.nr));
        self.put_special(special::FNR, Value::Num(self.settings.fnr));
        self.put_special(special::RT, Value::Str(terminator));
        Ok(Some(record))
    }

    /// Leaves the current file, if there is one, and runs `ENDFILE`.
    pub(crate) async fn end_main_file(&mut self) -> Evaluation<()> {
        if self.io.main.current.take().is_some() {
            self.end_edit().await?;
            let program = self.program.clone();
            self.run_blocks(&program.endfile).await?;
        }
        Ok(())
    }

    /// Opens the next file of `ARGV`, or standard input if no file was named; returns false if there is none.
    async fn open_next_main_file(&mut self) -> Evaluation<bool> {
        while self.io.main.seen_arguments + 1 < self.argument_count() {
            self.io.main.seen_arguments += 1;
            let key = self.io.main.seen_arguments.to_string();
            let Some(argument) = self.global_element_text(special::ARGV, &key) else {
                continue;
            };
            if let Some((name, value)) = command_line_assignment(&argument) {
                let value = self.io.host.characters.of_text(unescape(value));
                self.assign_by_name(name, Value::from_input(value))?;
                continue;
            }
            if !argument.is_empty()
                && let Some(reader) = self.open_main_file(&argument).await?
            {
                self.start_main_file(argument, reader).await?;
                return Ok(true);
            }
        }
        if self.io.main.has_opened {
            return Ok(false);
        }
        self.io.main.has_opened = true;
        let reader = self.io.take_stdin();
        self.start_main_file("-".to_string(), reader).await?;
        Ok(true)
    }

    /// Returns the value of `ARGC`.
    fn argument_count(&self) -> usize {
        match &self.globals[special::ARGC as usize] {
            // The cast saturates: a negative number is none.
            Slot::Scalar(value) if value.to_num().is_finite() => value.to_num() as usize,
            _ => 0,
        }
    }

    /// Opens a file; a directory is skipped with a warning.
    async fn open_main_file(&mut self, name: &str) -> Evaluation<Option<Reader>> {
        self.io.main.has_opened = true;
        if name == "-" || name == "/dev/stdin" {
            return Ok(Some(self.io.take_stdin()));
        }
        let path = self.io.resolve(name);
        let fs = self.io.host.fs.clone();
        if fs.stat(&path).await.is_ok_and(|metadata| metadata.file_type.is_dir()) {
            if self.skips_unreadable_file(name, "Is a directory").await? {
                return Ok(None);
            }
            let warning = format!("awk: warning: command line argument `{name}' is a directory: skipped");
            self.write_error_line(&warning);
            return Ok(None);
        }
        match fs.read_file(&path).await {
            Ok(bytes) => {
                self.charge_input(bytes.len())?;
                Ok(Some(Reader::new(self.io.host.characters.text_of(&bytes).into_owned())))
            }
            Err(error) => {
                let reason = bashkit::error::io_error_reason(&error).to_string();
                if self.skips_unreadable_file(name, &reason).await? {
                    return Ok(None);
                }
                Err(self.fatal_error(&format!("cannot open file `{name}' for reading: {reason}")))
            }
        }
    }

    /// Runs `BEGINFILE` for a file that cannot be read, with the reason in `ERRNO`. Returns true if it skips the file
    /// with `nextfile`, which else is a fatal error.
    async fn skips_unreadable_file(&mut self, name: &str, reason: &str) -> Evaluation<bool> {
        let program = self.program.clone();
        if program.beginfile.is_empty() {
            return Ok(false);
        }
        self.set_variable(VarRef::Global(special::FILENAME), Value::Str(name.to_string()))?;
        self.settings.fnr = 0.0;
        self.put_special(special::FNR, Value::Num(0.0));
        self.put_special(special::ERRNO, Value::Str(reason.to_string()));
        match self.run_blocks(&program.beginfile).await {
            Err(Unwind::NextFile) => Ok(true),
            outcome => outcome.map(|()| false),
        }
    }

    async fn start_main_file(&mut self, name: String, reader: Reader) -> Evaluation<()> {
        self.start_edit(&name);
        self.set_variable(VarRef::Global(special::FILENAME), Value::Str(name))?;
        self.settings.fnr = 0.0;
        self.put_special(special::FNR, Value::Num(0.0));
        self.put_special(special::ERRNO, Value::Str(String::new()));
        self.io.main.current = Some(reader);
        let program = self.program.clone();
        self.run_blocks(&program.beginfile).await
    }
}
