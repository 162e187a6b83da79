//! Recorded calls that answer those of scripts.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use serde_json::Value as Json;

use super::{AdmittedCall, NextAnswer, RecordedCall, RecordedResult, Recording};
use crate::error::{Failure, Special};
use crate::guest::Value;
use crate::session::journal::RecordedAnswer;
use crate::vfs::Edit;

/// Most differences between two calls that an error names, and most characters of each value.
const MAX_DIFFERENCES: usize = 4;
const MAX_VALUE: usize = 80;

/// Recorded calls that were not made yet.
pub(super) struct UnusedCalls {
    calls: Vec<Option<RecordedCall>>,
    /// Positions of equal calls, in order.
    by_content: HashMap<CallContent, VecDeque<usize>>,
}

/// Run, method and arguments of a call.
type CallContent = (u64, String, String);

impl UnusedCalls {
    pub(super) fn of(recording: Recording) -> Self {
        let mut by_content = HashMap::<_, VecDeque<usize>>::new();
        for (index, call) in recording.calls.iter().enumerate() {
            let content = (call.run, call.method.clone(), call.arguments.clone());
            by_content.entry(content).or_default().push_back(index);
        }
        Self { calls: recording.calls.into_iter().map(Some).collect(), by_content }
    }

    /// Takes the answer of a call: that of the first such call of its run that was not made yet. Calls may come in another
    /// order than when they were recorded.
    pub(super) fn take(&mut self, made: AdmittedCall<'_>) -> NextAnswer {
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
    fn difference(&self, made: AdmittedCall<'_>) -> Failure {
        let AdmittedCall { run, seq, method, arguments } = made;
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

    pub(super) fn missing(&self, run: u64) -> Option<Failure> {
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
