//! Answers in the journal: what the guests were given for their operations, with the files that a call changed.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use super::ReplayError;
use crate::error::{Failure, Payload, Special, SpecialKind};
use crate::guest::Value;
use crate::vfs::{Action, Body, Content, Edit};

/// Completion in the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::session) struct RecordedAnswer {
    result: RecordedResult,
    /// Changes of files that the call made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edits: Vec<RecordedEdit>,
    /// Digest of the call that it answers, as the script made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::session) call: Option<String>,
    /// Number of the stream of a program that was read or written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::session) stream: Option<u32>,
    /// Output that the script had not read when the program ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::session) unread: Option<UnreadOutput>,
    /// Start of a call without effects, so that it can be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::session) started: Option<CallStart>,
}

/// Point of a run at which a tool was called: with the files that the guests had left by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::session) struct CallStart {
    /// Time that the tool was given, in nanoseconds since the Unix epoch.
    pub(in crate::session) now: u64,
    /// Number of entries into guests before it: of `entered` and `delivered` entries.
    pub(in crate::session) entries: u64,
}

/// Output of a program that the script had not read when the program ended, in base64.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::session) struct UnreadOutput {
    stdout: String,
    stderr: String,
}

impl UnreadOutput {
    /// Records the output.
    pub(in crate::session) fn new([stdout, stderr]: [&[u8]; 2]) -> Self {
        Self { stdout: STANDARD.encode(stdout), stderr: STANDARD.encode(stderr) }
    }

    /// Returns the bytes of standard output, and of standard error.
    pub(in crate::session) fn restore(&self) -> Result<[Vec<u8>; 2], ReplayError> {
        Ok([decoded(&self.stdout)?, decoded(&self.stderr)?])
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedResult {
    Json(RecordedPayload),
    /// Bytes in base64.
    Bytes(String),
    Nothing,
    Exited(u8),
    Failed(Box<RecordedFailure>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedPayload {
    value: Json,
    /// Kinds of the marked places, by their JSON Pointers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    specials: BTreeMap<String, RecordedKind>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedKind {
    Bytes,
    Integer,
    Float,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedFailure {
    #[serde(deserialize_with = "failure")]
    failure: Failure,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<RecordedPayload>,
}

/// Keys of a failure in a journal.
const FAILURE: [&str; 6] = ["kind", "name", "message", "hint", "stack", "location"];

/// Reads a failure. A key that failures do not have is an error: a recording may have been written by hand.
fn failure<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Failure, D::Error> {
    let failure = serde_json::Map::deserialize(deserializer)?;
    if let Some(key) = failure.keys().find(|key| !FAILURE.contains(&key.as_str())) {
        return Err(D::Error::unknown_field(key, &FAILURE));
    }
    Failure::deserialize(Json::Object(failure)).map_err(D::Error::custom)
}

/// Change of a file in the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::session) struct RecordedEdit {
    path: String,
    #[serde(flatten)]
    action: RecordedAction,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
enum RecordedAction {
    Remove {
        directory: bool,
    },
    File {
        /// Content in base64.
        content: String,
        mode: u32,
        modified: u64,
    },
    Directory {
        mode: u32,
        modified: u64,
    },
    Link {
        target: String,
        mode: u32,
        modified: u64,
    },
}

impl From<&Payload> for RecordedPayload {
    fn from(payload: &Payload) -> Self {
        let kind = |kind: SpecialKind| match kind {
            SpecialKind::Bytes => RecordedKind::Bytes,
            SpecialKind::Integer => RecordedKind::Integer,
            SpecialKind::Float => RecordedKind::Float,
        };
        let specials = payload.specials.iter().map(|special| (special.pointer.clone(), kind(special.kind)));
        Self { value: payload.value.clone(), specials: specials.collect() }
    }
}

impl From<RecordedPayload> for Payload {
    fn from(recorded: RecordedPayload) -> Self {
        let kind = |kind: RecordedKind| match kind {
            RecordedKind::Bytes => SpecialKind::Bytes,
            RecordedKind::Integer => SpecialKind::Integer,
            RecordedKind::Float => SpecialKind::Float,
        };
        let specials = recorded.specials.into_iter();
        let specials = specials.map(|(pointer, of)| Special { pointer, kind: kind(of) }).collect();
        Self { value: recorded.value, specials }
    }
}

impl RecordedAnswer {
    /// Records a completion. Fails for a file whose content cannot be read.
    pub(in crate::session) fn new(result: &Result<Value, Failure>, edits: &[Edit]) -> Result<Self, String> {
        let result = match result {
            Ok(Value::Json(payload)) => RecordedResult::Json(payload.into()),
            Ok(Value::Bytes(bytes)) => RecordedResult::Bytes(STANDARD.encode(bytes)),
            Ok(Value::Nothing) => RecordedResult::Nothing,
            Ok(Value::Exited(status)) => RecordedResult::Exited(*status),
            Err(failure) => {
                let payload = failure.payload.as_ref().map(RecordedPayload::from);
                let failure = Failure { payload: None, ..failure.clone() };
                RecordedResult::Failed(Box::new(RecordedFailure { failure, payload }))
            }
        };
        let edits = record_edits(edits)?;
        Ok(Self { result, edits, call: None, stream: None, unread: None, started: None })
    }

    /// Returns whether the input ended, if this is standard input that the run read.
    pub(super) fn is_end_of_input(&self) -> Option<bool> {
        match &self.result {
            RecordedResult::Bytes(text) if self.stream.is_none() => Some(text.is_empty()),
            _ => None,
        }
    }

    /// Returns the result as JSON: `{"result": value}`, or `{"error": failure}`.
    pub(in crate::session) fn outcome(&self) -> Json {
        match &self.result {
            RecordedResult::Json(payload) => serde_json::json!({ "result": payload.value }),
            RecordedResult::Exited(status) => serde_json::json!({ "result": { "exitCode": status } }),
            RecordedResult::Failed(recorded) => {
                let payload = recorded.payload.as_ref().map(|payload| &payload.value);
                serde_json::json!({ "error": recorded.failure, "payload": payload })
            }
            RecordedResult::Bytes(_) | RecordedResult::Nothing => serde_json::json!({ "result": null }),
        }
    }

    /// Returns the failure of the operation, without its payload; `None` if it succeeded.
    pub(in crate::session) fn failure(&self) -> Option<&Failure> {
        match &self.result {
            RecordedResult::Failed(recorded) => Some(&recorded.failure),
            _ => None,
        }
    }

    /// Returns true if a repetition of the call has given the same result.
    pub(in crate::session) fn has_same_result(&self, repeated: &Self) -> bool {
        serde_json::to_value(&self.result).ok() == serde_json::to_value(&repeated.result).ok()
    }

    /// Returns the paths of files that this answer or the other one changes, and not both to the same.
    pub(in crate::session) fn differing_files(&self, repeated: &Self) -> BTreeSet<String> {
        let changes = |answer: &Self| -> BTreeSet<(String, String)> {
            let text = |edit: &RecordedEdit| serde_json::to_string(edit).unwrap_or_default();
            answer.edits.iter().map(|edit| (edit.path.clone(), text(edit))).collect()
        };
        changes(self).symmetric_difference(&changes(repeated)).map(|(path, _)| path.clone()).collect()
    }

    /// Returns the completion and the changes of files.
    pub(in crate::session) fn restore(self) -> Result<(Result<Value, Failure>, Vec<Edit>), ReplayError> {
        let result = match self.result {
            RecordedResult::Json(payload) => Ok(Value::Json(payload.into())),
            RecordedResult::Bytes(text) => Ok(Value::Bytes(decoded(&text)?)),
            RecordedResult::Nothing => Ok(Value::Nothing),
            RecordedResult::Exited(status) => Ok(Value::Exited(status)),
            RecordedResult::Failed(recorded) => {
                let RecordedFailure { failure, payload } = *recorded;
                Err(Failure { payload: payload.map(Payload::from), ..failure })
            }
        };
        Ok((result, restore_edits(self.edits)?))
    }
}

/// Records changes of files. Fails for a file whose content cannot be read.
pub(in crate::session) fn record_edits(edits: &[Edit]) -> Result<Vec<RecordedEdit>, String> {
    edits.iter().map(RecordedEdit::new).collect()
}

/// Returns recorded changes of files.
pub(in crate::session) fn restore_edits(edits: Vec<RecordedEdit>) -> Result<Vec<Edit>, ReplayError> {
    edits.into_iter().map(RecordedEdit::restore).collect()
}

pub(in crate::session) fn decoded(text: &str) -> Result<Vec<u8>, ReplayError> {
    STANDARD.decode(text).map_err(|error| ReplayError::Unreadable(error.to_string()))
}

impl RecordedEdit {
    fn new(edit: &Edit) -> Result<Self, String> {
        let action = match &edit.action {
            Action::Remove { directory } => RecordedAction::Remove { directory: *directory },
            Action::Put { body, mode, modified } => {
                let (mode, modified) = (*mode, *modified);
                match body {
                    Body::File(content) => {
                        let bytes = content.to_vec().map_err(|error| format!("`{}`: {error}", edit.path))?;
                        RecordedAction::File { content: STANDARD.encode(bytes), mode, modified }
                    }
                    Body::Directory => RecordedAction::Directory { mode, modified },
                    Body::Link(target) => RecordedAction::Link { target: target.clone(), mode, modified },
                    _ => return Err(format!("`{}` is of an unknown kind", edit.path)),
                }
            }
            _ => return Err(format!("`{}` was changed in an unknown way", edit.path)),
        };
        Ok(Self { path: edit.path.clone(), action })
    }

    fn restore(self) -> Result<Edit, ReplayError> {
        let put = |body, mode, modified| Action::Put { body, mode, modified };
        let action = match self.action {
            RecordedAction::Remove { directory } => Action::Remove { directory },
            RecordedAction::File { content, mode, modified } => {
                put(Body::File(Content::from(decoded(&content)?)), mode, modified)
            }
            RecordedAction::Directory { mode, modified } => put(Body::Directory, mode, modified),
            RecordedAction::Link { target, mode, modified } => put(Body::Link(target), mode, modified),
        };
        Ok(Edit::new(self.path, action))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn journal_answer_written_is_restored_equal(
            bytes in any::<Vec<u8>>(), message in ".*", status in any::<u8>(), which in 0..4, text in ".*",
        ) {
            let result = match which {
                0 => Ok(Value::Bytes(bytes.clone())),
                1 => Ok(Value::Exited(status)),
                2 => Ok(Value::Json(json!({ "text": text }).into())),
                _ => Err(Failure { payload: Some(json!(text).into()), ..Failure::tool(message) }),
            };
            let put = Action::Put { body: Body::File(Content::from(bytes)), mode: 0o600, modified: 1 };
            let edits = [Edit::new(format!("/{text}"), put)];
            let recorded = RecordedAnswer::new(&result, &edits).expect("it is in memory");
            let line = serde_json::to_vec(&recorded).expect("plain data");
            let (restored, changed) =
                serde_json::from_slice::<RecordedAnswer>(&line).expect("it was written").restore().expect("it is whole");
            prop_assert_eq!(restored, result);
            prop_assert_eq!(changed, edits);
        }
    }

    /// A repetition is compared by what the script was given: the result, and each change of a file.
    #[test]
    fn answers_differ_in_their_results_or_in_what_they_change() {
        let put = |path: &str, text: &str| {
            let body = Body::File(Content::from(text.as_bytes().to_vec()));
            Edit::new(path.to_owned(), Action::Put { body, mode: 0o600, modified: 1 })
        };
        let answer = |value: i32, edits: &[Edit]| {
            RecordedAnswer::new(&Ok(Value::Json(json!(value).into())), edits).expect("it is in memory")
        };
        let first = answer(1, &[put("/a", "x"), put("/b", "y")]);
        assert!(first.has_same_result(&answer(1, &[])) && !first.has_same_result(&answer(2, &[])));
        assert!(first.differing_files(&answer(2, &[put("/b", "y"), put("/a", "x")])).is_empty());
        let differing = first.differing_files(&answer(1, &[put("/a", "z"), put("/c", "y")]));
        assert_eq!(differing.into_iter().collect::<Vec<_>>(), ["/a", "/b", "/c"]);
    }
}
