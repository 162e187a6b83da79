//! Recorded calls that answer those of scripts.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

use super::{AdmittedCall, NextAnswer, RecordedCall, RecordedResult, Recording};
use crate::code::MemoryCharge;
use crate::error::{Failure, Special, SpecialKind};
use crate::guest::Value;
use crate::session::journal::RecordedAnswer;
use crate::tool::no_memory_for;
use crate::vfs::Edit;

/// Most differences between two calls that an error names, and most characters of each value.
const MAX_DIFFERENCES: usize = 4;
const MAX_VALUE: usize = 80;

/// Recorded calls that were not made yet.
pub(super) struct UnusedCalls {
    recording: Recording,
    is_made: Vec<bool>,
    /// Positions of equal calls, in order.
    by_content: HashMap<blake3::Hash, VecDeque<usize>>,
    /// Memory of the recorded texts, once a run has made a call.
    held: Option<MemoryCharge>,
}

/// Returns the key of a call's run, method and arguments.
fn content(run: u64, method: &str, arguments: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&run.to_le_bytes()).update(&(method.len() as u64).to_le_bytes());
    hasher.update(method.as_bytes()).update(arguments.as_bytes()).finalize()
}

impl UnusedCalls {
    pub(super) fn of(recording: Recording) -> Self {
        let mut by_content = HashMap::<_, VecDeque<usize>>::new();
        for (index, call) in recording.calls.iter().enumerate() {
            by_content.entry(content(call.run, &call.method, &call.arguments)).or_default().push_back(index);
        }
        Self { is_made: vec![false; recording.calls.len()], recording, by_content, held: None }
    }

    /// Takes the answer of a call: that of the first such call of its run that was not made yet. Calls may come in another
    /// order than when they were recorded.
    pub(super) fn take(&mut self, made: AdmittedCall<'_>) -> NextAnswer {
        if self.held.is_none() {
            self.held = made.memory.charge(self.recording.calls.iter().map(RecordedCall::held).sum());
        }
        let content = content(made.run, made.method, &made.arguments.to_string());
        let next = self.by_content.get_mut(&content).and_then(VecDeque::pop_front);
        let Some(index) = next.filter(|_| self.held.is_some()) else {
            return NextAnswer::Ends(match self.held {
                Some(_) => self.difference(made),
                None => no_memory_for("the calls of the recording", made.memory),
            });
        };
        self.is_made[index] = true;
        let call = &self.recording.calls[index];
        let Some((order, answer)) = &call.answer else { return NextAnswer::Never };
        let Some(charge) = made.memory.charge(call.weight) else {
            return NextAnswer::Ends(no_memory_for("the values of a recorded call", made.memory));
        };
        let order = *order;
        match restored(answer) {
            Ok((result, edits)) => NextAnswer::Recorded(Box::new(RecordedResult { order, result, edits, charge })),
            Err(why) => NextAnswer::Ends(Failure::host(format!(
                "the recording cannot be replayed: the answer of call {} of run {}: {why}",
                call.seq, call.run
            ))),
        }
    }

    /// Returns the failure of a call that is not in the recording: how it differs from the call that comes closest.
    fn difference(&self, made: AdmittedCall<'_>) -> Failure {
        let AdmittedCall { run, seq, method, arguments, memory } = made;
        let similar = || self.unused(run).filter(|call| call.method == method);
        let why = match similar().find(|call| call.seq == seq).or_else(|| similar().next()) {
            Some(call) => match memory.charge(call.weight) {
                Some(_charge) => {
                    let recorded = serde_json::from_str(&call.arguments).unwrap_or_default();
                    format!("call {} differs: {}", call.seq, difference(&recorded, arguments))
                }
                None => format!("call {} has other arguments, which are too large to compare", call.seq),
            },
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
        let calls = self.recording.calls.iter().zip(&self.is_made);
        calls.filter(move |(call, is_made)| !**is_made && call.run == run).map(|(call, _)| call)
    }
}

/// Returns the result and the changes of files of an answer: a tool returns a value, or fails.
fn restored(answer: &str) -> Result<(Result<Value, Failure>, Vec<Edit>), String> {
    let answer: RecordedAnswer = serde_json::from_str(answer).map_err(|error| error.to_string())?;
    let (result, edits) = answer.restore().map_err(|error| error.to_string())?;
    match &result {
        Ok(Value::Json(payload)) => {
            payload.specials.iter().try_for_each(|special| fits(special, payload.value.pointer(&special.pointer)))?;
            Ok((result, edits))
        }
        Err(_) => Ok((result, edits)),
        Ok(_) => Err("it is not what a tool returns".to_owned()),
    }
}

/// Checks that a text can be what it stands for.
fn fits(special: &Special, value: Option<&Json>) -> Result<(), String> {
    let Some(text) = value.and_then(Json::as_str) else { return Err(format!("`{}` is no text", special.pointer)) };
    let (is_one, what) = match special.kind {
        SpecialKind::Bytes => (STANDARD.decode(text).is_ok(), "base64"),
        SpecialKind::Integer => (text.parse::<i128>().is_ok(), "integer"),
        SpecialKind::Float => (matches!(text, "NaN" | "Infinity" | "-Infinity"), "number of that kind"),
    };
    if is_one { Ok(()) } else { Err(format!("`{}` is no {what}", special.pointer)) }
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
