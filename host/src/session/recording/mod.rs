//! Recordings of sessions in memory: the calls of their scripts with the results, in a file from which tests answer the
//! calls again.
//!
//! A recording has the seed of the random numbers and the time at which the session began too, so that a script that puts
//! either into its arguments makes the same calls again.

mod consent;
mod recorder;
mod recording_file;
mod replay;
mod session_calls;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use self::consent::RecordedConsent;
pub use self::recorder::Recorder;
pub use self::recording_file::RecordingFile;
pub(super) use self::session_calls::{AdmittedCall, NextAnswer, RecordedResult, SessionCalls};
use super::journal::RecordedAnswer;
use crate::capability::Limits;
use crate::gate::Approver;
use crate::json::{self, JsonError};
use crate::tool::DryRun;

/// Format of a recording.
const FORMAT: &str = "tollhouse recording 1";

/// Source of the results of the calls that a session's scripts make.
#[derive(Clone, Default)]
pub enum CallSource {
    /// The tools are called.
    #[default]
    Tools,
    /// The tools are called, and the calls are recorded.
    Recorded(Recorder),
    /// No tool is called: a recording has the results.
    Replayed(Recording),
    /// No tool is called: examples of manifests have the results, or the embedding program. No value of a secret is
    /// needed. Budgets are counted, and decisions are audited, as if the calls were made: neither belongs to what is kept
    /// of real runs.
    DryRun(DryRun),
}

impl CallSource {
    /// Returns the seed of the session's random numbers, if it is given.
    pub(super) fn seed(&self) -> Option<[u8; 32]> {
        match self {
            Self::Tools | Self::DryRun(_) => None,
            Self::Recorded(recorder) => Some(recorder.seed()),
            Self::Replayed(recording) => Some(recording.seed()),
        }
    }

    /// Returns the approver of the session's calls, given the one for calls that are made.
    pub(super) fn approver(&self, of_made: Option<Arc<dyn Approver>>) -> Option<Arc<dyn Approver>> {
        match self {
            Self::Replayed(recording) => Some(Arc::new(RecordedConsent(recording.clone()))),
            _ => of_made,
        }
    }

    /// Returns the answers of a dry run.
    pub(super) fn dry_run(&self) -> Option<&DryRun> {
        match self {
            Self::DryRun(dry_run) => Some(dry_run),
            _ => None,
        }
    }
}

/// Recorded session.
#[derive(Clone, Debug)]
pub struct Recording {
    header: Header,
    calls: Arc<Vec<RecordedCall>>,
}

/// First line of a recording.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    /// Time at which the session began, in nanoseconds since the Unix epoch.
    started: u64,
    /// Seed of the session's random numbers, in hexadecimal.
    seed: String,
}

/// Line of a recording: a call.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine<'a> {
    /// Number of the run in its session.
    run: u64,
    /// Number of the call in its run.
    seq: u64,
    /// The canonical method.
    method: Cow<'a, str>,
    /// The canonical arguments.
    arguments: Json,
    /// Result; `None` for a call that the script did not wait for to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<RecordedAnswer>,
    /// Position of the answer among those of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<u64>,
}

/// Call in a recording, whose values stay text until they are needed: as values they take many times the memory.
#[derive(Clone, Debug)]
struct RecordedCall {
    run: u64,
    seq: u64,
    method: String,
    arguments: String,
    /// Answer with its position.
    answer: Option<(u64, String)>,
    /// Approximate bytes of memory that its values take.
    weight: u64,
}

/// Error of reading a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The text is no recording.
    #[error("it is no recording: line {line}: {why}")]
    Unreadable {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// Another version has written it.
    #[error("it has the format `{0}`, and this version reads `{FORMAT}`")]
    Format(String),
    /// Its values take more memory than the run may use.
    #[error("it takes more than the memory limit of {0} bytes")]
    Memory(u64),
    /// Reading it takes longer than the run may.
    #[error("reading it takes longer than the time limit of {} ms", .0.as_millis())]
    Time(Duration),
}

impl Recording {
    /// Most bytes of a recording.
    pub const MAX_BYTES: u64 = 64 << 20;

    /// Reads a recording within the usual limits of a run.
    ///
    /// # Errors
    /// Those of [`Recording::parse_within`].
    pub fn parse(text: &[u8]) -> Result<Self, RecordingError> {
        Self::parse_within(text, &Limits::default())
    }

    /// Reads a recording within the limits `memory` and `wall` of its run: whoever made it may be a stranger, and a value
    /// in it takes many times the memory of its text. So values are counted before they are made.
    ///
    /// # Errors
    /// If the text is no recording, has a key that recordings do not have, or is of another version; if it exceeds a limit.
    pub fn parse_within(text: &[u8], limits: &Limits) -> Result<Self, RecordingError> {
        let (memory, wall) = (limits.memory, limits.wall);
        let deadline = Instant::now().checked_add(wall);
        let goes_on = || deadline.is_none_or(|deadline| Instant::now() < deadline);
        let mut left = memory.checked_sub(text.len() as u64).ok_or(RecordingError::Memory(memory))?;
        let lines = text.split(|byte| *byte == b'\n').enumerate();
        let mut lines = lines.filter(|(_, line)| !line.is_empty());
        let (index, first) = lines.next().unwrap_or_default();
        let header: Header = read(index, first)?;
        let unreadable = |why: &str| Err(RecordingError::Unreadable { line: 1, why: why.to_owned() });
        if header.format != FORMAT {
            return Err(RecordingError::Format(header.format));
        }
        if blake3::Hash::from_hex(&header.seed).is_err() {
            return unreadable("its seed is not 64 hexadecimal digits");
        }
        if i64::try_from(header.started).is_err() {
            return unreadable("the time at which it started is after the year 2262");
        }
        let (mut calls, mut positions) = (Vec::new(), HashSet::new());
        for (index, line) in lines {
            if !goes_on() {
                return Err(RecordingError::Time(wall));
            }
            let weight = match json::measure(line, left, &goes_on) {
                Ok(Some(weight)) => weight,
                Ok(None) => return Err(RecordingError::Time(wall)),
                Err(JsonError::TooLarge(_)) => return Err(RecordingError::Memory(memory)),
                Err(JsonError::Malformed(why)) => return Err(RecordingError::Unreadable { line: index + 1, why }),
            };
            let call = RecordedCall::read(index, line, weight)?;
            // Of two answers in one place the script would wait for one until its time is over.
            if let Some((order, _)) = &call.answer
                && !positions.insert(*order)
            {
                let why = format!("an earlier answer has the same `order`, {order}");
                return Err(RecordingError::Unreadable { line: index + 1, why });
            }
            left = left.checked_sub(call.held()).ok_or(RecordingError::Memory(memory))?;
            calls.push(call);
        }
        Ok(Self { header, calls: Arc::new(calls) })
    }

    /// Returns the recording as the text of a file: a line of JSON for the session, and one for each call.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string(&self.header).expect("a header is plain data");
        for RecordedCall { run, seq, method, arguments, answer, .. } in self.calls.iter() {
            let method = Json::from(method.as_str());
            let _ = write!(text, "\n{{\"run\":{run},\"seq\":{seq},\"method\":{method},\"arguments\":{arguments}");
            if let Some((order, answer)) = answer {
                let _ = write!(text, ",\"answer\":{answer},\"order\":{order}");
            }
            text.push('}');
        }
        text.push('\n');
        text
    }

    /// Returns true if a run of the recording has made this call.
    #[must_use]
    pub fn has_call(&self, method: &str, arguments: &Json) -> bool {
        let arguments = arguments.to_string();
        self.calls.iter().any(|call| call.method == method && call.arguments == arguments)
    }

    fn seed(&self) -> [u8; 32] {
        blake3::Hash::from_hex(&self.header.seed).map_or([0; 32], |seed| *seed.as_bytes())
    }
}

impl RecordedCall {
    fn read(index: usize, line: &[u8], weight: u64) -> Result<Self, RecordingError> {
        let CallLine { run, seq, method, arguments, answer, order } = read(index, line)?;
        let answer = match (answer, order) {
            (Some(answer), Some(order)) => Some((order, text_of(&answer))),
            (Some(_), None) => {
                let why = "its answer has no `order`".to_owned();
                return Err(RecordingError::Unreadable { line: index + 1, why });
            }
            (None, _) => None,
        };
        Ok(Self { run, seq, method: method.into_owned(), arguments: arguments.to_string(), answer, weight })
    }

    /// Returns the approximate bytes of memory that the call takes in a replay until it is made, with its place in the
    /// index.
    fn held(&self) -> u64 {
        self.bytes() + 300
    }

    /// Returns the number of bytes that the call takes in a file, about.
    fn bytes(&self) -> u64 {
        let answer = self.answer.as_ref().map_or(0, |(_, answer)| answer.len());
        (self.method.len() + self.arguments.len() + answer) as u64 + 100
    }
}

/// Reads a line of a recording.
fn read<'a, T: Deserialize<'a>>(index: usize, line: &'a [u8]) -> Result<T, RecordingError> {
    serde_json::from_slice(line).map_err(|error| {
        // Each line is a text of its own to the parser.
        let (text, column) = (error.to_string(), error.column());
        let why = text.strip_suffix(&format!(" at line {} column {column}", error.line()));
        let why = why.map_or(text.clone(), |why| format!("{why} (column {column})"));
        RecordingError::Unreadable { line: index + 1, why }
    })
}

fn text_of(answer: &RecordedAnswer) -> String {
    serde_json::to_string(answer).expect("an answer is plain data")
}
