//! What a script writes: to standard output, to standard error, and to files.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;

use bashkit::limits::{BudgetedString, ExecutionBudget, LimitExceeded};

/// Text that is to be written. As with GNU sed, a line that was not ended in the input is written without its end, which comes only if
/// more is written: `printf a | sed s/a/b/` adds no newline.
pub(super) struct Sink {
    pub(super) text: BudgetedString,
    /// Refusal of the budget, behind which nothing more is written.
    pub(super) error: Option<LimitExceeded>,
    lacks_end: bool,
    separator: char,
}

impl Sink {
    pub(super) fn new(separator: char, budget: Option<&ExecutionBudget>) -> Self {
        let (text, error) = match BudgetedString::new(budget) {
            Ok(text) => (text, None),
            Err(error) => {
                (BudgetedString::new(None).expect("an empty text without budget is not refused"), Some(error))
            }
        };
        Sink { text, error, lacks_end: false, separator }
    }

    /// Writes a line, with its end only if it had one.
    pub(super) fn write_line(&mut self, line: &str, had_newline: bool) {
        self.write(line);
        if had_newline {
            self.push(self.separator.encode_utf8(&mut [0; 4]));
        } else {
            self.lacks_end = true;
        }
    }

    /// Writes text that has its own end.
    pub(super) fn write(&mut self, text: &str) {
        self.end_line();
        self.push(text);
    }

    /// Writes the end of a line that had none.
    pub(super) fn end_line(&mut self) {
        if std::mem::replace(&mut self.lacks_end, false) {
            self.push(self.separator.encode_utf8(&mut [0; 4]));
        }
    }

    fn push(&mut self, text: &str) {
        if self.error.is_none() {
            self.error = self.text.try_push_str(text).err();
        }
    }
}

/// Everything that a script writes to.
pub(super) struct Outputs {
    pub(super) stdout: Sink,
    pub(super) stderr: String,
    files: HashMap<String, Sink>,
    separator: char,
    budget: Option<ExecutionBudget>,
}

impl Outputs {
    pub(super) fn new(separator: char, budget: Option<ExecutionBudget>) -> Self {
        let stdout = Sink::new(separator, budget.as_ref());
        Outputs { stdout, stderr: String::new(), files: HashMap::new(), separator, budget }
    }

    /// Takes what was written to standard output, which is empty from then on.
    pub(super) fn take_stdout(&mut self) -> Sink {
        std::mem::replace(&mut self.stdout, Sink::new(self.separator, self.budget.as_ref()))
    }

    /// Writes a line to what a name means, as `w` does.
    pub(super) fn write_line_to(&mut self, name: &str, line: &str, had_newline: bool) {
        match name {
            "/dev/stdout" => self.stdout.write_line(line, had_newline),
            "/dev/stderr" => {
                self.stderr.push_str(line);
                if had_newline {
                    self.stderr.push('\n');
                }
            }
            _ => {
                if !self.files.contains_key(name) {
                    self.files.insert(name.to_string(), Sink::new(self.separator, self.budget.as_ref()));
                }
                if let Some(file) = self.files.get_mut(name) {
                    file.write_line(line, had_newline);
                }
            }
        }
    }

    /// Returns standard error and the text of each file.
    pub(super) fn finish(self) -> Result<(String, Vec<(String, BudgetedString)>), LimitExceeded> {
        let files = self.files.into_iter().map(|(name, sink)| match sink.error {
            Some(error) => Err(error),
            None => Ok((name, sink.text)),
        });
        Ok((self.stderr, files.collect::<Result<_, _>>()?))
    }
}
