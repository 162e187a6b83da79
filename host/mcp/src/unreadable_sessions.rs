//! Sessions that are damaged, as a result tells a client about them that lists the calls of others.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::excerpts::shorten;
use crate::sessions::UnreadableSession;
use crate::tool_error::ToolError;

/// Most sessions that a result names.
const MAX_SESSIONS: usize = 20;

/// Most characters of a problem.
const MAX_PROBLEM: usize = 500;

/// Sessions that cannot be read, with their problems.
pub(crate) struct UnreadableSessions(Vec<(String, String)>);

impl UnreadableSessions {
    /// Creates the list of sessions, with the reasons why they cannot be read.
    pub(crate) fn new(sessions: Vec<UnreadableSession>) -> Self {
        let told = |error: ToolError| shorten(&error.to_string(), MAX_PROBLEM).text;
        Self(sessions.into_iter().map(|(session, error)| (session, told(error))).collect())
    }

    /// Returns what precedes a statement about all sessions: that it is about those that can be read.
    pub(crate) fn reservation(&self) -> &'static str {
        if self.0.is_empty() { "" } else { "Of the sessions that can be read: " }
    }

    /// Warns of each session in a line.
    pub(crate) fn warnings(&self) -> String {
        let mut text = String::new();
        for (session, problem) in self.0.iter().take(MAX_SESSIONS) {
            // Writing to a string does not fail.
            let _ =
                write!(text, "\nwarning: session {session} cannot be read, and may have calls that wait: {problem}");
        }
        match self.0.len().saturating_sub(MAX_SESSIONS) {
            0 => {}
            more => text.push_str(&format!("\nwarning: {more} more sessions cannot be read")),
        }
        text
    }

    /// Describes the sessions as structured content.
    pub(crate) fn to_json(&self) -> Value {
        self.0
            .iter()
            .take(MAX_SESSIONS)
            .map(|(session, problem)| json!({ "session": session, "problem": problem }))
            .collect()
    }
}
