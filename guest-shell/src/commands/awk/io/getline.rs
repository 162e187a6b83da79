//! `getline`, with the files and the commands that it reads.
//!
//! THREAT[TM-DOS-116]: inputs are capped per file, in number and in bytes that are held; each is charged to the request
//! budget when it is opened, which `close` does not refund.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;

use super::super::ast::{Expr, GetlineSource, special};
use super::super::interpreter::{Evaluation, Interpreter, Unwind, truncate};
use super::super::value::Value;
use super::reader::{Reader, Record};
use crate::commands::awk::bounds::{MAX_GETLINE_CACHE_BYTES, MAX_GETLINE_CACHED_FILES, MAX_GETLINE_FILE_BYTES};

/// Longest reason in `ERRNO`, in bytes.
const MAX_REASON_BYTES: usize = 200;

/// Files and commands that `getline` reads, by name.
#[derive(Default)]
pub(super) struct OpenInputs {
    readers: HashMap<String, Reader>,
    /// Number of bytes that the inputs held when they were opened.
    byte_count: usize,
}

impl OpenInputs {
    /// Closes an input; returns the exit status of its command, or 0.
    pub(super) fn close(&mut self, name: &str) -> Option<i32> {
        let reader = self.readers.remove(name)?;
        self.byte_count = self.byte_count.saturating_sub(reader.byte_count());
        Some(reader.status())
    }
}

impl Interpreter {
    /// Reads a record into a target, or makes it the current one. Returns 1, 0 at the end, -1 if there is no input.
    /// `NR` and `FNR` count records of the main input only, as in gawk.
    pub(crate) async fn getline(&mut self, source: &GetlineSource, target: Option<&Expr>) -> Evaluation<Value> {
        let record = match source {
            GetlineSource::Main => self.next_main_record().await?,
            GetlineSource::File(file) => {
                let name = self.eval_text(file).await?;
                if name.is_empty() {
                    return Err(self.fatal_error("expression for `<' redirection has null string value"));
                }
                if !self.io.inputs.readers.contains_key(&name) && !self.open_input_file(&name).await? {
                    return Ok(Value::Num(-1.0));
                }
                self.read_input(&name).await?
            }
            GetlineSource::Cmd(command) => {
                let command = self.eval_text(command).await?;
                if !self.io.inputs.readers.contains_key(&command) {
                    self.open_input_command(&command).await?;
                }
                self.read_input(&command).await?
            }
        };
        let Some(record) = record else {
            return Ok(Value::Num(0.0));
        };
        match target {
            Some(target) => self.assign(target, Value::from_input(record)).await?,
            None => self.set_record(record),
        }
        Ok(Value::Num(1.0))
    }

    /// Reads the next record of an open input, and sets `RT`.
    async fn read_input(&mut self, name: &str) -> Evaluation<Option<String>> {
        let Some(reader) = self.io.inputs.readers.get_mut(name) else {
            return Ok(None);
        };
        let separator = &self.settings.record_separator;
        if let Err(error) = reader.fill(separator).await {
            return Err(self.fail_with(error));
        }
        let record: Option<Record> = reader.read(separator);
        Ok(record.map(|(text, terminator)| {
            self.put_special(special::RT, Value::Str(terminator));
            text
        }))
    }

    async fn open_input_command(&mut self, command: &str) -> Evaluation<()> {
        self.check_input_count()?;
        let result = self.run_command(true, command).await?;
        let characters = self.io.host.characters;
        let reader = Reader::of_command(characters.of_text(result.stdout.text_lossy().into_owned()), result.exit_code);
        self.add_input(command, reader)
    }

    /// Opens a file; returns false, with `ERRNO` set, if it cannot be read.
    async fn open_input_file(&mut self, name: &str) -> Evaluation<bool> {
        self.check_input_count()?;
        let reader = match name {
            "-" | "/dev/stdin" => self.io.take_stdin(),
            _ => match self.read_input_file(name).await? {
                Ok(text) => Reader::new(text),
                Err(reason) => {
                    let reason = truncate(&reason, MAX_REASON_BYTES).to_string();
                    self.put_special(special::ERRNO, Value::Str(reason));
                    return Ok(false);
                }
            },
        };
        self.add_input(name, reader)?;
        Ok(true)
    }

    /// Returns the content of a file, or the reason why it cannot be read.
    async fn read_input_file(&mut self, name: &str) -> Evaluation<Result<String, String>> {
        let path = self.io.resolve(name);
        let fs = self.io.host.fs.clone();
        match fs.stat(&path).await {
            Ok(metadata) if metadata.file_type.is_dir() => return Ok(Err("Is a directory".to_string())),
            Ok(metadata) if metadata.size > MAX_GETLINE_FILE_BYTES as u64 => return Err(self.file_too_large()),
            Ok(_) => {}
            Err(error) => return Ok(Err(bashkit::error::io_error_reason(&error).to_string())),
        }
        match fs.read_file(&path).await {
            Ok(bytes) if bytes.len() > MAX_GETLINE_FILE_BYTES => Err(self.file_too_large()),
            Ok(bytes) => Ok(Ok(self.io.host.characters.text_of(&bytes).into_owned())),
            Err(error) => Ok(Err(bashkit::error::io_error_reason(&error).to_string())),
        }
    }

    fn file_too_large(&mut self) -> Unwind {
        let message = format!("getline input file size limit ({MAX_GETLINE_FILE_BYTES} bytes) exceeded");
        self.limit_reached(&message)
    }

    fn check_input_count(&mut self) -> Evaluation<()> {
        if self.io.inputs.readers.len() >= MAX_GETLINE_CACHED_FILES {
            let message = format!("getline open file limit ({MAX_GETLINE_CACHED_FILES}) exceeded");
            return Err(self.limit_reached(&message));
        }
        Ok(())
    }

    /// Adds an input, which is charged to the request budget and to what may be held.
    fn add_input(&mut self, name: &str, reader: Reader) -> Evaluation<()> {
        let byte_count = reader.byte_count();
        if let Some(budget) = &self.io.host.budget
            && let Err(limit) = budget.consume_input(byte_count).and_then(|()| budget.consume_work(byte_count as u64))
        {
            return Err(self.budget_exhausted(limit));
        }
        let total = self.io.inputs.byte_count.saturating_add(byte_count);
        if total > MAX_GETLINE_CACHE_BYTES {
            let message = format!("getline total input limit ({MAX_GETLINE_CACHE_BYTES} bytes) exceeded");
            return Err(self.limit_reached(&message));
        }
        self.io.inputs.byte_count = total;
        self.io.inputs.readers.insert(name.to_string(), reader);
        Ok(())
    }
}
