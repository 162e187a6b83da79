//! Errors of commands: what failed, where, and what to do next.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, Report, SourceCode};
use serde_json::{Value, json};

use super::source_excerpt::SourceExcerpt;
use super::stdio::note_part;
use super::terminal_escape::{escape_hidden, mask_hidden};
use crate::Exit;

/// Result of a command: the exit status, or an error.
pub(crate) type Result<T = Exit> = std::result::Result<T, CliError>;

/// Exit status of a usage or policy error.
pub(crate) const USAGE: u8 = 2;

/// Error that ends a command.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CliError {
    message: String,
    hint: Option<String>,
    place: Option<(SourceExcerpt, LabeledSpan)>,
    status: u8,
    kind: ErrorCategory,
}

/// Kind of an error, as `--json` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorCategory {
    /// The command line, or a file that it names, is wrong.
    Usage,
    /// The policy, or a package that it mounts, is wrong.
    Policy,
    /// Something outside the command line is at fault.
    Host,
}

impl ErrorCategory {
    /// Names of the kind and of the error, for JSON.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Usage => ("usage", "UsageError"),
            Self::Policy => ("policy", "PolicyError"),
            Self::Host => ("host", "HostError"),
        }
    }
}

/// Sets the format of errors. Lines are wrapped for people only: programs search them.
pub(crate) fn configure() {
    let wrap = std::io::stderr().is_terminal();
    // It fails only if it was done before.
    let _ = miette::set_hook(Box::new(move |_| Box::new(MietteHandlerOpts::new().wrap_lines(wrap).build())));
}

/// Returns true if the terminal's user wants colours: <https://no-color.org>.
pub(crate) fn colors() -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// Text of an error; a system error is shown without its number, which adds nothing.
fn without_number(error: &(dyn Error + 'static)) -> String {
    let text = error.to_string();
    let number = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
    match number.and_then(|number| text.strip_suffix(&format!(" (os error {number})"))) {
        Some(short) => short.to_owned(),
        None => text,
    }
}

/// Formats an error with its causes.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    CliError::because("", error).message.trim_start_matches(": ").to_owned()
}

impl CliError {
    /// Creates an error of usage.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: escape_hidden(&message.into()),
            hint: None,
            place: None,
            status: USAGE,
            kind: ErrorCategory::Usage,
        }
    }

    /// Creates an error of the environment: what could not be done, and its causes.
    pub(crate) fn because(message: impl Into<String>, cause: &(dyn Error + 'static)) -> Self {
        let mut message = message.into();
        let mut next = Some(cause);
        while let Some(cause) = next {
            // Writing to a string does not fail.
            let _ = write!(message, ": {}", without_number(cause));
            next = cause.source();
        }
        Self { message: escape_hidden(&message), hint: None, place: None, status: 1, kind: ErrorCategory::Host }
    }

    /// Adds a hint on what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(escape_hidden(&hint.into()));
        self
    }

    /// Appends a hint to the existing one, if there is one.
    pub(crate) fn also(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        match self.hint.clone() {
            Some(first) => self.hint(format!("{first}\n{hint}")),
            None => self.hint(hint),
        }
    }

    /// Returns the message, and the hint after a semicolon.
    pub(crate) fn in_one_line(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        }
    }

    /// Adds the position in a file.
    pub(crate) fn at(mut self, file: &str, text: &str, span: Option<std::ops::Range<usize>>) -> Self {
        if let Some(span) = span {
            let (source, span) = SourceExcerpt::new(escape_hidden(file), &mask_hidden(text), span);
            self.place = Some((source, LabeledSpan::underline(span)));
        }
        self
    }

    /// Sets the exit status.
    pub(crate) fn status(mut self, status: u8) -> Self {
        self.status = status;
        if status == USAGE && self.kind == ErrorCategory::Host {
            self.kind = ErrorCategory::Usage;
        }
        self
    }

    /// Marks the error as one of a policy, or of what a policy mounts.
    pub(crate) fn of_policy(mut self) -> Self {
        self.kind = ErrorCategory::Policy;
        self
    }

    /// Returns the error as `--json` prints it: with the keys that the object of a run has for the same.
    pub(crate) fn to_json(&self) -> Value {
        let (kind, name) = self.kind.names();
        json!({
            "status": "failed",
            "exit_code": self.status,
            "error": { "kind": kind, "name": name, "message": self.message, "hint": self.hint, "stack": null },
        })
    }

    /// Prints the error on standard error.
    pub(crate) fn show(self) -> Exit {
        Exit::from(self.show_status())
    }

    /// Prints the error like [`CliError::show`], for a caller that continues.
    pub(crate) fn show_status(self) -> u8 {
        let status = self.status;
        // In colors. Text of strangers in it was escaped when the error was made.
        note_part(&format!("{:?}\n", Report::new(self)));
        status
    }
}

impl Diagnostic for CliError {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.hint.as_ref().map(|hint| Box::new(hint) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|(source, _)| source as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.place.as_ref().map(|(_, label)| Box::new(std::iter::once(label.clone())) as _)
    }
}

impl From<tollhouse::session::HostError> for CliError {
    fn from(error: tollhouse::session::HostError) -> Self {
        use tollhouse::session::HostError;
        let error = match error {
            HostError::Sessions(error) => return super::session::failed("cannot start", &error),
            error => error,
        };
        let hint = match &error {
            HostError::Mount(mount) => mount.hint(),
            HostError::Cache(_) => Some("see `tollhouse doctor`".to_owned()),
            HostError::Policy(policy) => policy.hint.clone(),
            HostError::UncheckedApprovals => {
                Some("give the policy that the session was created with, from this machine: `--policy FILE`".to_owned())
            }
            HostError::ServerNotStarted { server, .. } => Some(format!(
                "start it: `--policy FILE --allow-exec {server}`; the run is as it was, and can be resumed"
            )),
            HostError::Secret(name) => {
                Some(format!("`--secret {name}=env:VARIABLE`, or `file:PATH`, or `cmd:PROGRAM ARGS`"))
            }
            _ => None,
        };
        let shown = Self::because("cannot start", &error);
        let shown = match error {
            HostError::Mount(_) | HostError::Policy(_) => shown.status(USAGE).of_policy(),
            HostError::Secret(_) | HostError::UncheckedApprovals | HostError::ServerNotStarted { .. } => {
                shown.status(USAGE)
            }
            _ => shown,
        };
        Self { hint: hint.as_deref().map(escape_hidden), ..shown }
    }
}
