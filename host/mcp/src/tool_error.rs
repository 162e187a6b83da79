//! Errors of tools, written for the model that made the call: what was wrong, and the right form.

use std::error::Error;

use rmcp::model::{CallToolResult, ContentBlock};
use tollhouse::error::Failure;
use tollhouse::session::{HostError, SessionsError};

use crate::excerpts::shorten;
use crate::sessions::{ClientSessions, MAIN};

/// Most characters of each text of a failure.
const MAX_TEXT: usize = 2000;

/// Words of hints that are of no use to the clients of a gateway.
const NOT_OF_GATEWAY: [&str; 4] = ["`sessions`", "`search_tools`", "`run_", "script"];

/// Error that a tool call results in.
#[derive(Debug)]
pub(crate) struct ToolError {
    message: String,
    hint: Option<String>,
}

impl ToolError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// Creates the error of a request that its client cancelled.
    pub(crate) fn cancelled() -> Self {
        Self::new("the request was cancelled")
    }

    /// Adds what to do about the error.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Creates the error of an operation that failed, with its causes.
    pub(crate) fn because(message: &str, error: &dyn Error) -> Self {
        Self::new(format!("{message}: {}", chain(error)))
    }

    /// Names sessions as the client does, in place of their names in the store.
    pub(crate) fn with_names_of(mut self, client: &ClientSessions) -> Self {
        let stored = format!("session `{}", client.stored_name());
        for (end, known) in
            [("`", format!("session `{MAIN}`")), ("@", format!("session `{MAIN}@")), (".", "session `".to_owned())]
        {
            self.message = self.message.replace(&format!("{stored}{end}"), &known);
        }
        self
    }

    /// Leaves out what to do with tools that a gateway has not.
    pub(crate) fn for_gateway(mut self) -> Self {
        self.hint = self.hint.filter(|hint| !NOT_OF_GATEWAY.iter().any(|tool| hint.contains(tool)));
        self
    }

    /// Converts the error to the result of the tool call.
    pub(crate) fn into_result(self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.to_string())])
    }
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl From<SessionsError> for ToolError {
    fn from(error: SessionsError) -> Self {
        let shown = Self::new(match &error {
            // Clients know it by another name than the store.
            SessionsError::Suspended { run, .. } => format!("run {run} of this session is suspended"),
            SessionsError::Busy(_) => "this session has a run that has not ended".to_owned(),
            error => chain(error),
        });
        match error {
            SessionsError::Suspended { .. } => shown.hint(
                "`pending` lists the calls that wait for approval; once they are decided, `resume` continues the run",
            ),
            SessionsError::NoPoint { .. } => shown.hint("`sessions` with action `list` shows how many runs there are"),
            _ => shown,
        }
    }
}

impl From<HostError> for ToolError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Sessions(error) => error.into(),
            error => Self::new(chain(&error)),
        }
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let [name, message] = [&failure.name, &failure.message].map(|text| shorten(text, MAX_TEXT).text);
        let hint = failure.hint.map(|hint| shorten(&hint, MAX_TEXT).text);
        Self { message: format!("{name}: {message}"), hint }
    }
}

/// Formats an error with its causes, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
