//! Recordings of sessions in memory: the calls of their scripts with the results, in a file from which tests answer the
//! calls again.
//!
//! A recording has the seed of the random numbers and the time at which the session began too, so that a script that puts
//! either into its arguments makes the same calls again.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::host::HostError;
use super::journal::RecordedAnswer;
use crate::error::{Failure, Special};
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
            Self::Recorded(recorder) => Some(recorder.lock().recording.seed()),
            Self::Replayed(recording) => Some(recording.seed()),
        }
    }
}

/// Recorded session.
#[derive(Clone, Debug)]
pub struct Recording {
    header: Header,
    calls: Vec<RecordedCall>,
}

/// First line of a recording.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    /// Time at which the session began, in nanoseconds since the Unix epoch.
    started: u64,
    /// Seed of the session's random numbers, in hexadecimal.
    seed: String,
}

/// Line of a recording: a call.
#[derive(Serialize, Deserialize)]
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
}

impl Recording {
    /// Most bytes of a recording.
    pub const MAX_BYTES: u64 = 64 << 20;

    /// Reads a recording.
    ///
    /// # Errors
    /// If the text is no recording, or one of another version.
    pub fn parse(text: &[u8]) -> Result<Self, RecordingError> {
        let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).enumerate();
        let first = lines.next().map_or(&b""[..], |(_, line)| line);
        let header: Header = read(0, first)?;
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
        let calls = lines.map(|(index, line)| RecordedCall::read(index, line)).collect::<Result<_, _>>()?;
        Ok(Self { header, calls })
    }

    /// Returns the recording as the text of a file: a line of JSON for the session, and one for each call.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string(&self.header).expect("a header is plain data");
        for RecordedCall { run, seq, method, arguments, answer } in &self.calls {
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
    fn read(index: usize, line: &[u8]) -> Result<Self, RecordingError> {
        let CallLine { run, seq, method, arguments, answer, order } = read(index, line)?;
        let answer = answer.map(|answer| (order.unwrap_or_default(), json(&answer)));
        Ok(Self { run, seq, method: method.into_owned(), arguments: arguments.to_string(), answer })
    }

    /// Returns the number of bytes that the call takes in a file, about.
    fn bytes(&self) -> u64 {
        let answer = self.answer.as_ref().map_or(0, |(_, answer)| answer.len());
        (self.method.len() + self.arguments.len() + answer) as u64 + 100
    }
}

/// Reads a line of a recording.
fn read<'a, T: Deserialize<'a>>(index: usize, line: &'a [u8]) -> Result<T, RecordingError> {
    let unreadable = |error: serde_json::Error| RecordingError::Unreadable { line: index + 1, why: error.to_string() };
    serde_json::from_slice(line).map_err(unreadable)
}

fn json(answer: &RecordedAnswer) -> String {
    serde_json::to_string(answer).expect("an answer is plain data")
}

/// Recorder of a session in memory. Clones share the recording.
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<RecorderState>>);

struct RecorderState {
    recording: Recording,
    /// True once a session has the recorder.
    is_taken: bool,
    /// Bytes of the recording, about.
    bytes: u64,
    /// Number of answers.
    answers: u64,
}

impl Recorder {
    /// Creates a recorder for one session.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub fn new() -> Result<Self, HostError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| HostError::Random(error.into()))?;
        let header = Header { format: FORMAT.to_owned(), started: 0, seed: blake3::Hash::from(seed).to_string() };
        let recording = Recording { header, calls: Vec::new() };
        Ok(Self(Arc::new(Mutex::new(RecorderState { recording, is_taken: false, bytes: 0, answers: 0 }))))
    }

    /// Returns what was recorded so far: whole runs, if none is active. The calls are in the order in which the gate
    /// admitted them.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let mut recording = self.lock().recording.clone();
        recording.calls.sort_by_key(|call| (call.run, call.seq));
        recording
    }

    /// Locks the recording. Every change is complete, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecorderState {
    /// Returns the failure of a run whose recording is too long.
    fn check_size(&self, more: u64) -> Result<(), Failure> {
        if self.bytes.saturating_add(more) <= Recording::MAX_BYTES {
            return Ok(());
        }
        let message = format!("the recording would have more than {} bytes", Recording::MAX_BYTES);
        Err(Failure::limit(message, "record a run that makes fewer calls, or smaller ones"))
    }

    fn add(&mut self, call: RecordedCall) -> Result<(), Failure> {
        let bytes = call.bytes();
        self.check_size(bytes)?;
        self.bytes += bytes;
        self.recording.calls.push(call);
        Ok(())
    }

    fn answer(
        &mut self,
        (run, seq): (u64, u64),
        result: &Result<Value, Failure>,
        edits: &[Edit],
    ) -> Result<(), Failure> {
        let calls = self.recording.calls.iter().rposition(|call| (call.run, call.seq) == (run, seq));
        // A program is not recorded.
        let Some(index) = calls else { return Ok(()) };
        let answer = RecordedAnswer::new(result, edits)
            .map_err(|why| Failure::host(format!("the run cannot be recorded: call {seq} changed a file: {why}")))?;
        let text = json(&answer);
        self.check_size(text.len() as u64)?;
        self.bytes += text.len() as u64;
        self.answers += 1;
        self.recording.calls[index].answer = Some((self.answers, text));
        Ok(())
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
    /// The recording has it.
    Recorded(Box<RecordedResult>),
    /// The recording has the call, and no answer.
    Never,
    /// The call ends the run: the recording does not have it, or takes no more.
    Ends(Failure),
}

/// Answer from a recording.
pub(super) struct RecordedResult {
    /// Position among the answers of the session.
    pub(super) order: u64,
    pub(super) result: Result<Value, Failure>,
    /// Changes of files.
    pub(super) edits: Vec<Edit>,
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
    ///
    /// # Errors
    /// If another session has the recorder.
    pub(super) fn of(source: CallSource, now: u64) -> Result<Self, HostError> {
        Ok(match source {
            CallSource::Tools => Self::default(),
            CallSource::Recorded(recorder) => {
                let mut state = recorder.lock();
                if std::mem::replace(&mut state.is_taken, true) {
                    return Err(HostError::RecorderTaken);
                }
                state.recording.header.started = now;
                drop(state);
                Self { mode: TapeMode::Recording(recorder), ahead: 0 }
            }
            CallSource::Replayed(recording) => {
                let ahead = recording.header.started.wrapping_sub(now);
                Self { mode: TapeMode::Replaying(Mutex::new(UnusedCalls::of(recording))), ahead }
            }
        })
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
                let (method, arguments) = (method.to_owned(), arguments.to_string());
                if let Err(failure) = recorder.lock().add(RecordedCall { run, seq, method, arguments, answer: None }) {
                    return NextAnswer::Ends(failure);
                }
            }
            TapeMode::Replaying(calls) => return lock(calls).take(call),
        }
        NextAnswer::OfTool
    }

    /// Records the result of a call of a run.
    ///
    /// # Errors
    /// If the recording would be too long, or a changed file cannot be read: the run ends.
    pub(super) fn record(
        &self,
        call: (u64, u64),
        result: &Result<Value, Failure>,
        edits: &[Edit],
    ) -> Result<(), Failure> {
        match &self.mode {
            TapeMode::Recording(recorder) => recorder.lock().answer(call, result, edits),
            _ => Ok(()),
        }
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
            let content = (call.run, call.method.clone(), call.arguments.clone());
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
            return NextAnswer::Ends(self.difference(made));
        };
        let Some((order, answer)) = call.answer else { return NextAnswer::Never };
        match restored(&answer) {
            Ok((result, edits)) => NextAnswer::Recorded(Box::new(RecordedResult { order, result, edits })),
            Err(why) => NextAnswer::Ends(Failure::host(format!(
                "the recording cannot be replayed: the answer of call {} of run {}: {why}",
                call.seq, call.run
            ))),
        }
    }

    /// Returns the failure of a call that is not in the recording: how it differs from the call that comes closest.
    fn difference(&self, made: TapedCall<'_>) -> Failure {
        let TapedCall { run, seq, method, arguments } = made;
        let similar = || self.unused(run).filter(|call| call.method == method);
        let why = match similar().find(|call| call.seq == seq).or_else(|| similar().next()) {
            Some(call) => {
                let recorded = serde_json::from_str(&call.arguments).unwrap_or_default();
                format!("call {} differs: {}", call.seq, difference(&recorded, arguments))
            }
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

/// Returns the result and the changes of files of an answer: a tool returns a value, or fails.
fn restored(answer: &str) -> Result<(Result<Value, Failure>, Vec<Edit>), String> {
    let answer: RecordedAnswer = serde_json::from_str(answer).map_err(|error| error.to_string())?;
    let (result, edits) = answer.restore().map_err(|error| error.to_string())?;
    match &result {
        Ok(Value::Json(payload)) => {
            let is_text = |special: &Special| payload.value.pointer(&special.pointer).is_some_and(Json::is_string);
            match payload.specials.iter().find(|special| !is_text(special)) {
                Some(special) => Err(format!("`{}` is no text", special.pointer)),
                None => Ok((result, edits)),
            }
        }
        Err(_) => Ok((result, edits)),
        Ok(_) => Err("it is not what a tool returns".to_owned()),
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
        let tape = CallTape::of(CallSource::Recorded(recorder.clone()), 5).expect("it is new");
        for (run, seq, method, arguments, result) in calls {
            assert!(matches!(tape.next(call(*run, *seq, method, arguments)), NextAnswer::OfTool));
            tape.record((*run, *seq), &Ok(Value::Json(result.clone().into())), &[]).expect("it has no files");
        }
        recorder.recording()
    }

    fn replayed(calls: &[(u64, u64, &str, Json, Json)]) -> CallTape {
        CallTape::of(CallSource::Replayed(recorded(calls)), 7).expect("it has no recorder")
    }

    fn value(answer: NextAnswer) -> Json {
        match answer {
            NextAnswer::Recorded(recorded) => match recorded.result {
                Ok(Value::Json(payload)) => payload.value,
                _ => panic!("it has no value"),
            },
            NextAnswer::Ends(failure) => Json::String(failure.message),
            _ => panic!("it has no value"),
        }
    }

    #[test]
    fn recording_is_read_as_it_was_written() {
        let recording = recorded(&[(1, 2, "a/b", json!({ "x": 2 }), json!(2)), (1, 1, "a/b", json!({}), json!(1))]);
        let text = recording.to_text();
        assert_eq!(Recording::parse(text.as_bytes()).expect("it is one").to_text(), text);
        assert_eq!((recording.header.started, recording.calls[0].seq), (5, 1));
        assert!(recording.has_call("a/b", &json!({ "x": 2 })) && !recording.has_call("a/b", &json!({ "x": 3 })));
    }

    #[test]
    fn text_that_is_no_recording_is_refused_with_the_line() {
        let text = recorded(&[(1, 1, "a/b", json!({}), json!(1))]).to_text();
        let refused = |text: &str| Recording::parse(text.as_bytes()).expect_err("it is none").to_string();
        assert!(refused("").contains("line 1"));
        let other = text.replace("recording 1", "recording 9");
        assert!(refused(&other).contains("has the format `tollhouse recording 9`"));
        assert!(refused(&text.replace("\"seed\":\"", "\"seed\":\"x")).contains("64 hexadecimal digits"));
        assert!(refused(&text.replace("\"started\":5", "\"started\":18446744073709551615")).contains("2262"));
        assert!(refused(&text.replace("\"seq\"", "\"sequence\"")).contains("line 2"));
    }

    #[test]
    fn answer_that_no_tool_gives_ends_the_run() {
        let text = recorded(&[(1, 1, "a/b", json!({}), json!([1]))]).to_text();
        for (result, why) in [
            ("{\"exited\":3}", "not what a tool returns"),
            ("{\"json\":{\"value\":[1],\"specials\":{\"/0\":\"bytes\"}}}", "`/0` is no text"),
        ] {
            let text = text.replace("{\"json\":{\"value\":[1]}}", result);
            let recording = Recording::parse(text.as_bytes()).expect("its lines are whole");
            let tape = CallTape::of(CallSource::Replayed(recording), 7).expect("it has no recorder");
            let told = value(tape.next(call(1, 1, "a/b", &json!({}))));
            assert!(told.as_str().is_some_and(|told| told.contains(why)), "{told}");
        }
    }

    #[test]
    fn recorder_takes_one_session_and_a_bounded_number_of_bytes() {
        let recorder = Recorder::new().expect("there are random numbers");
        let tape = CallTape::of(CallSource::Recorded(recorder.clone()), 5).expect("it is new");
        assert!(matches!(CallTape::of(CallSource::Recorded(recorder), 5), Err(HostError::RecorderTaken)));
        let large = json!({ "text": "x".repeat(usize::try_from(Recording::MAX_BYTES).expect("it fits") / 2) });
        assert!(matches!(tape.next(call(1, 1, "a/b", &large)), NextAnswer::OfTool));
        assert!(matches!(tape.next(call(1, 2, "a/b", &large)), NextAnswer::Ends(_)));
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
