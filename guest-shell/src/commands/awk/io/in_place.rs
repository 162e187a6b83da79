//! `-i inplace`: what a program prints for a file takes the place of the file.
//!
//! As in gawk, output goes to the file from its `BEGINFILE` on, and to standard output again from its `ENDFILE` on, or
//! from `END` on where the program exits within the file. A fatal error leaves the file as it was.

use std::path::PathBuf;

use super::super::interpreter::{Evaluation, Interpreter};
use bashkit::error::io_error_reason;

/// Editing of files in place, if the options ask for it.
#[derive(Default)]
pub(in crate::commands::awk) struct InPlace {
    pub(in crate::commands::awk) is_enabled: bool,
    /// Suffix of the name of the copy that is kept of a file as it was.
    pub(in crate::commands::awk) suffix: Option<String>,
    /// File that is edited, and its new text so far.
    editing: Option<(PathBuf, String)>,
}

impl InPlace {
    /// Returns where output goes while a file is edited.
    pub(super) fn output(&mut self) -> Option<&mut String> {
        self.editing.as_mut().map(|(_, text)| text)
    }
}

impl Interpreter {
    /// Begins the edit of a file, if files are edited; standard input is none.
    pub(super) fn start_edit(&mut self, name: &str) {
        if !self.io.in_place.is_enabled {
            return;
        }
        if name == "-" || name == "/dev/stdin" {
            let invalid = format!("inplace::begin: disabling in-place editing for invalid FILENAME `{name}'");
            return self.write_error_line(&format!("awk: inplace:59: warning: {invalid}"));
        }
        let path = self.io.resolve(name);
        self.io.in_place.editing = Some((path, String::new()));
    }

    /// Ends the edit of a file, if there is one: its copy and its new text are written.
    pub(crate) async fn end_edit(&mut self) -> Evaluation<()> {
        let Some((path, text)) = self.io.in_place.editing.take() else {
            return Ok(());
        };
        let fs = self.io.host.fs.clone();
        if let Some(suffix) = self.io.in_place.suffix.clone().filter(|suffix| !suffix.is_empty()) {
            let mut copy = path.clone().into_os_string();
            copy.push(suffix);
            if let Err(error) = fs.copy(&path, &PathBuf::from(copy)).await {
                return Err(self.edit_failed(&path, &error));
            }
        }
        match fs.write_file(&path, &bashkit::bytes_of(&text)).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.edit_failed(&path, &error)),
        }
    }

    fn edit_failed(&mut self, path: &std::path::Path, error: &bashkit::Error) -> super::super::interpreter::Unwind {
        let reason = io_error_reason(error);
        self.fatal_error(&format!("inplace::end: cannot write `{}': {reason}", path.display()))
    }
}
