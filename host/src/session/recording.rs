//! Recordings of sessions in memory: the calls of their scripts with the results, in a file from which tests answer the
//! calls again.
//!
//! A recording has the seed of the random numbers and the time at which the session began too, so that a script that puts
//! either into its arguments makes the same calls again.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::host::HostError;
use super::journal::RecordedAnswer;
use crate::error::Failure;
use crate::guest::Value;
use crate::vfs::Edit;

/// Format of a recording.
const FORMAT: &str = "tollhouse recording 1";

/// Most differences between two calls that an error names, and most characters of each value.
const MAX_DIFFERENCES: usize = 4;
const MAX_VALUE: usize = 80;

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
}

impl CallSource {
    /// Returns the seed of the session's random numbers, if it is given.
    pub(super) fn seed(&self) -> Option<[u8; 32]> {
        match self {
            Self::Tools => None,
            Self::Recorded(recorder) => Some(recorder.lock().seed()),
            Self::Replayed(recording) => Some(recording.seed()),
        }
    }
}

/// Recorded session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    format: String,
    /// Time at which the session began, in nanoseconds since the Unix epoch.
    started: u64,
    /// Seed of the session's random numbers, in hexadecimal.
    seed: String,
    calls: Vec<RecordedCall>,
}

/// Call in a recording.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RecordedCall {
    /// Number of the run in its session.
    run: u64,
    /// Number of the call in its run.
    seq: u64,
    /// The canonical method.
    method: String,
    /// The canonical arguments.
    arguments: Json,
    /// Result; `None` for a call that the script did not wait for to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<RecordedAnswer>,
}

/// Error of reading a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The text is no recording.
    #[error("it is no recording: {0}")]
    Unreadable(String),
    /// Another version has written it.
    #[error("it has the format `{0}`, and this version reads `{FORMAT}`")]
    Format(String),
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// If the text is no recording, or one of another version.
    pub fn parse(text: &[u8]) -> Result<Self, RecordingError> {
        #[derive(Deserialize)]
        struct Header {
            format: String,
        }
        let unreadable = |error: serde_json::Error| RecordingError::Unreadable(error.to_string());
        let header: Header = serde_json::from_slice(text).map_err(unreadable)?;
        if header.format != FORMAT {
            return Err(RecordingError::Format(header.format));
        }
        let recording: Self = serde_json::from_slice(text).map_err(unreadable)?;
        if blake3::Hash::from_hex(&recording.seed).is_err() {
            return Err(RecordingError::Unreadable("its seed is not 64 hexadecimal digits".to_owned()));
        }
        if let Some(call) =
            recording.calls.iter().find(|call| call.answer.clone().is_some_and(|a| a.restore().is_err()))
        {
            return Err(RecordingError::Unreadable(format!("the answer of call {} of run {}", call.seq, call.run)));
        }
        Ok(recording)
    }

    /// Returns the recording as the text of a file: JSON with a line for each field, ended by a line feed.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a recording is plain data");
        text.push('\n');
        text
    }

    fn seed(&self) -> [u8; 32] {
        blake3::Hash::from_hex(&self.seed).map_or([0; 32], |seed| *seed.as_bytes())
    }
}

/// Recorder of a session in memory. Clones share the recording.
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<Recording>>);

impl Recorder {
    /// Creates a recorder.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub fn new() -> Result<Self, HostError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| HostError::Random(error.into()))?;
        let (format, seed) = (FORMAT.to_owned(), blake3::Hash::from(seed).to_string());
        Ok(Self(Arc::new(Mutex::new(Recording { format, started: 0, seed, calls: Vec::new() }))))
    }

    /// Returns what was recorded so far: whole runs, if none is active. The calls are in the order in which the gate
    /// admitted them.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let mut recording = self.lock().clone();
        recording.calls.sort_by_key(|call| (call.run, call.seq));
        recording
    }

    /// Locks the recording. Every change is complete, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Call that the gate has admitted.
#[derive(Clone, Copy)]
pub(super) struct TapedCall<'a> {
    pub(super) run: u64,
    pub(super) seq: u64,
    pub(super) method: &'a str,
    pub(super) arguments: &'a Json,
}

/// Where the answer of a call comes from.
pub(super) enum NextAnswer {
    /// The tool is called.
    OfTool,
    /// The recording has it, with the changes of files.
    Recorded(Result<Value, Failure>, Vec<Edit>),
    /// The recording has the call, and no answer.
    Never,
    /// The recording does not have the call.
    Differs(Failure),
}

/// Recording of a session's calls in progress, or the recording that answers them.
#[derive(Default)]
pub(super) struct CallTape {
    mode: TapeMode,
    /// Nanoseconds that the session's clock is ahead of the system's, wrapping around.
    pub(super) ahead: u64,
}

#[derive(Default)]
enum TapeMode {
    #[default]
    None,
    Recording(Recorder),
    Replaying(Mutex<UnusedCalls>),
}

impl CallTape {
    /// Creates the tape of a session that begins at this time.
    pub(super) fn of(source: CallSource, now: u64) -> Self {
        match source {
            CallSource::Tools => Self::default(),
            CallSource::Recorded(recorder) => {
                recorder.lock().started = now;
                Self { mode: TapeMode::Recording(recorder), ahead: 0 }
            }
            CallSource::Replayed(recording) => {
                let ahead = recording.started.wrapping_sub(now);
                Self { mode: TapeMode::Replaying(Mutex::new(UnusedCalls::of(recording))), ahead }
            }
        }
    }

    /// Returns true if calls are neither recorded nor answered.
    pub(super) fn is_none(&self) -> bool {
        matches!(self.mode, TapeMode::None)
    }

    /// Returns true if calls are answered, and no tool is called.
    pub(super) fn is_replayed(&self) -> bool {
        matches!(self.mode, TapeMode::Replaying(_))
    }

    /// Records a call that is about to be made, or answers it.
    pub(super) fn next(&self, call: TapedCall<'_>) -> NextAnswer {
        match &self.mode {
            TapeMode::None => {}
            TapeMode::Recording(recorder) => {
                let TapedCall { run, seq, method, arguments } = call;
                let (method, arguments) = (method.to_owned(), arguments.clone());
                recorder.lock().calls.push(RecordedCall { run, seq, method, arguments, answer: None });
            }
            TapeMode::Replaying(calls) => return lock(calls).take(call),
        }
        NextAnswer::OfTool
    }

    /// Records the result of a call of a run. Fails for a changed file whose content cannot be read.
    pub(super) fn record(
        &self,
        (run, seq): (u64, u64),
        result: &Result<Value, Failure>,
        edits: &[Edit],
    ) -> Result<(), String> {
        let TapeMode::Recording(recorder) = &self.mode else { return Ok(()) };
        let answer = RecordedAnswer::new(result, edits)?;
        if let Some(call) = recorder.lock().calls.iter_mut().rev().find(|call| (call.run, call.seq) == (run, seq)) {
            call.answer = Some(answer);
        }
        Ok(())
    }

    /// Returns the failure of a run that has ended, if it did not make all its recorded calls.
    pub(super) fn missing(&self, run: u64) -> Option<Failure> {
        match &self.mode {
            TapeMode::Replaying(calls) => lock(calls).missing(run),
            _ => None,
        }
    }
}

/// Locks the calls. Every change is complete, so a poisoned lock is still good.
fn lock(calls: &Mutex<UnusedCalls>) -> MutexGuard<'_, UnusedCalls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Recorded calls that were not made yet.
struct UnusedCalls {
    calls: Vec<Option<RecordedCall>>,
    /// Positions of equal calls, in order.
    by_content: HashMap<CallContent, VecDeque<usize>>,
}

/// Run, method and arguments of a call.
type CallContent = (u64, String, String);

impl UnusedCalls {
    fn of(recording: Recording) -> Self {
        let mut by_content = HashMap::<_, VecDeque<usize>>::new();
        for (index, call) in recording.calls.iter().enumerate() {
            let content = (call.run, call.method.clone(), call.arguments.to_string());
            by_content.entry(content).or_default().push_back(index);
        }
        Self { calls: recording.calls.into_iter().map(Some).collect(), by_content }
    }

    /// Takes the answer of a call: that of the first such call of its run that was not made yet. Calls may come in another
    /// order than when they were recorded.
    fn take(&mut self, made: TapedCall<'_>) -> NextAnswer {
        let content = (made.run, made.method.to_owned(), made.arguments.to_string());
        let next = self.by_content.get_mut(&content).and_then(VecDeque::pop_front);
        let Some(call) = next.and_then(|index| self.calls[index].take()) else {
            return NextAnswer::Differs(self.difference(made));
        };
        match call.answer.map(RecordedAnswer::restore) {
            Some(Ok((result, edits))) => NextAnswer::Recorded(result, edits),
            Some(Err(error)) => {
                NextAnswer::Differs(Failure::host(format!("the recording cannot be replayed: {error}")))
            }
            None => NextAnswer::Never,
        }
    }

    /// Returns the failure of a call that is not in the recording: how it differs from the call that comes closest.
    fn difference(&self, made: TapedCall<'_>) -> Failure {
        let TapedCall { run, seq, method, arguments } = made;
        let similar = || self.unused(run).filter(|call| call.method == method);
        let why = match similar().find(|call| call.seq == seq).or_else(|| similar().next()) {
            Some(call) => format!("call {} differs: {}", call.seq, difference(&call.arguments, arguments)),
            None => "it has no further call of that method".to_owned(),
        };
        record_again(format!("call {seq} of `{method}` is not in the recording: {why}"))
    }

    fn missing(&self, run: u64) -> Option<Failure> {
        let RecordedCall { seq, method, .. } = self.unused(run).next()?;
        Some(record_again(match self.unused(run).count() {
            1 => format!("the script did not make call {seq} of the recording, of `{method}`"),
            count => format!("the script did not make {count} calls of the recording, first call {seq} of `{method}`"),
        }))
    }

    fn unused(&self, run: u64) -> impl Iterator<Item = &RecordedCall> {
        self.calls.iter().flatten().filter(move |call| call.run == run)
    }
}

fn record_again(message: String) -> Failure {
    Failure::host(message).with_hint("if the script is right, record it again")
}

/// Describes how the arguments of a call differ from recorded ones.
fn difference(recorded: &Json, made: &Json) -> String {
    let (Json::Object(before), Json::Object(after)) = (recorded, made) else {
        return format!("{} was recorded, and it has {}", shortened(recorded), shortened(made));
    };
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let differing: Vec<&String> = names.filter(|name| before.get(*name) != after.get(*name)).collect();
    let mut text = String::new();
    for name in differing.iter().take(MAX_DIFFERENCES) {
        let value = |object: &serde_json::Map<String, Json>| object.get(*name).map_or("nothing".to_owned(), shortened);
        let separator = if text.is_empty() { "" } else { "; " };
        let _ = write!(text, "{separator}`{name}` was {}, and is {}", value(before), value(after));
    }
    if differing.len() > MAX_DIFFERENCES {
        let _ = write!(text, "; and {} more", differing.len() - MAX_DIFFERENCES);
    }
    text
}

fn shortened(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call<'a>(run: u64, seq: u64, method: &'a str, arguments: &'a Json) -> TapedCall<'a> {
        TapedCall { run, seq, method, arguments }
    }

    fn recorded(calls: &[(u64, u64, &str, Json, Json)]) -> Recording {
        let recorder = Recorder::new().expect("there are random numbers");
        let tape = CallTape::of(CallSource::Recorded(recorder.clone()), 5);
        for (run, seq, method, arguments, result) in calls {
            assert!(matches!(tape.next(call(*run, *seq, method, arguments)), NextAnswer::OfTool));
            tape.record((*run, *seq), &Ok(Value::Json(result.clone().into())), &[]).expect("it has no files");
        }
        recorder.recording()
    }

    fn replayed(calls: &[(u64, u64, &str, Json, Json)]) -> CallTape {
        CallTape::of(CallSource::Replayed(recorded(calls)), 7)
    }

    fn value(answer: NextAnswer) -> Json {
        match answer {
            NextAnswer::Recorded(Ok(Value::Json(payload)), _) => payload.value,
            NextAnswer::Differs(failure) => Json::String(failure.message),
            _ => panic!("it has no value"),
        }
    }

    #[test]
    fn recording_is_read_as_it_was_written() {
        let recording = recorded(&[(1, 2, "a/b", json!({ "x": 2 }), json!(2)), (1, 1, "a/b", json!({}), json!(1))]);
        let text = recording.to_text();
        assert_eq!(Recording::parse(text.as_bytes()).expect("it is one").to_text(), text);
        assert_eq!((recording.started, recording.calls[0].seq), (5, 1));
        assert!(matches!(Recording::parse(b""), Err(RecordingError::Unreadable(_))));
        assert!(
            matches!(Recording::parse(b"{\"format\":\"x\"}"), Err(RecordingError::Format(format)) if format == "x")
        );
        let cut = text.replace(&recording.seed, "07");
        assert!(matches!(Recording::parse(cut.as_bytes()), Err(RecordingError::Unreadable(_))));
    }

    #[test]
    fn clock_of_a_replay_begins_where_the_recording_began() {
        let tape = replayed(&[]);
        assert_eq!(7_u64.wrapping_add(tape.ahead), 5);
    }

    #[test]
    fn equal_calls_are_answered_in_order_and_others_in_any() {
        let (same, none) = (json!({ "x": 1 }), json!({}));
        let tape = replayed(&[
            (1, 1, "a/b", same.clone(), json!("first")),
            (1, 2, "a/c", none.clone(), json!("other")),
            (1, 3, "a/b", same.clone(), json!("second")),
            (2, 1, "a/b", same.clone(), json!("of the next run")),
        ]);
        assert_eq!(value(tape.next(call(1, 1, "a/c", &none))), "other");
        assert_eq!(value(tape.next(call(1, 2, "a/b", &same))), "first");
        assert!(tape.missing(1).expect("one is left").message.contains("call 3 of the recording, of `a/b`"));
        assert_eq!(value(tape.next(call(1, 3, "a/b", &same))), "second");
        assert!(tape.missing(1).is_none() && tape.missing(2).is_some());
        assert!(value(tape.next(call(1, 4, "a/b", &same))).as_str().expect("text").contains("no further call"));
        assert_eq!(value(tape.next(call(2, 1, "a/b", &same))), "of the next run");
    }

    #[test]
    fn call_that_differs_is_an_error_with_the_difference() {
        let tape = replayed(&[(1, 1, "a/b", json!({ "x": 1, "y": 2, "z": 3 }), json!(1))]);
        let arguments = json!({ "x": 1, "y": "é".repeat(100), "w": 4 });
        let told = value(tape.next(call(1, 1, "a/b", &arguments)));
        let end = "`z` was 3, and is nothing; `w` was nothing, and is 4";
        let expected = format!("call 1 differs: `y` was 2, and is \"{}…; {end}", "é".repeat(79));
        assert!(told.as_str().is_some_and(|told| told.ends_with(&expected)), "{told}");
    }
}
