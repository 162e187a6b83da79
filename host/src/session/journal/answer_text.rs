//! Text of an answer in the journal, whose values are made only when they are needed.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value as Json, json};

use super::answer::{CallStart, RecordedAnswer, RecordedEdit, restore_edits};
use super::{ReplayError, measured};
use crate::code::MemoryAccount;
use crate::error::Failure;
use crate::vfs::Edit;

/// Answer in the journal as text. A value takes up to forty times the memory of its text, and all answers of a run
/// together may be many times what its guests ever held at once.
#[derive(Clone, Debug)]
pub(in crate::session) struct AnswerText {
    text: Bytes,
    /// Digest of the call that it answers, as the script made it.
    pub(in crate::session) call: Option<String>,
    /// Start of a call without effects, so that it can be repeated.
    pub(in crate::session) started: Option<CallStart>,
    /// True if a program ended, with output that the script may not have read.
    pub(in crate::session) ends_program: bool,
    /// Whether the input ended, if this is standard input that the run read.
    pub(in crate::session) is_end_of_input: Option<bool>,
}

/// What is read of an answer without making its values.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerOutline<'a> {
    #[serde(borrow)]
    result: &'a RawValue,
    #[serde(rename = "edits")]
    _edits: Option<IgnoredAny>,
    call: Option<String>,
    stream: Option<u32>,
    started: Option<CallStart>,
    unread: Option<IgnoredAny>,
}

/// Result of an answer, whose value stays text.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResultOutline<'a> {
    #[serde(borrow)]
    Json(JsonText<'a>),
    #[serde(borrow)]
    Bytes(Cow<'a, str>),
    Nothing,
    Exited(u8),
    Failed(IgnoredAny),
}

#[derive(Deserialize)]
struct JsonText<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
}

/// Changes of files of an answer.
#[derive(Deserialize)]
struct AnswerEdits {
    #[serde(default)]
    edits: Vec<RecordedEdit>,
}

impl AnswerText {
    /// Returns the text of an answer.
    pub(in crate::session) fn of(answer: &RecordedAnswer) -> Self {
        Self {
            text: serde_json::to_vec(answer).expect("an answer is plain data").into(),
            call: answer.call.clone(),
            started: answer.started,
            ends_program: answer.unread.is_some(),
            is_end_of_input: answer.is_end_of_input(),
        }
    }

    /// Takes the text of an answer.
    pub(super) fn parse(text: Bytes) -> Result<Self, ReplayError> {
        let AnswerOutline { result, call, stream, started, unread, .. } = serde_json::from_slice(&text)?;
        let is_end_of_input = match (serde_json::from_str(result.get())?, stream) {
            (ResultOutline::Bytes(bytes), None) => Some(bytes.is_empty()),
            _ => None,
        };
        let ends_program = unread.is_some();
        Ok(Self { text, call, started, ends_program, is_end_of_input })
    }

    /// Returns the answer without the start of its call.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(in crate::session) fn without_start(self) -> Result<Self, ReplayError> {
        if self.started.is_none() {
            return Ok(self);
        }
        let mut answer = self.read()?;
        answer.started = None;
        Ok(Self::of(&answer))
    }

    /// Returns the text of the result alone.
    fn result(&self) -> Result<&str, ReplayError> {
        Ok(serde_json::from_slice::<AnswerOutline<'_>>(&self.text)?.result.get())
    }

    /// Returns the text.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// Returns the answer with its values.
    ///
    /// # Errors
    /// If it is none.
    pub(in crate::session) fn read(&self) -> Result<RecordedAnswer, ReplayError> {
        Ok(serde_json::from_slice(&self.text)?)
    }

    /// Returns the answer with its values, if there is memory for them: they are counted before they are made.
    ///
    /// # Errors
    /// If it is none, or its values take more than what is left of the memory.
    pub(in crate::session) fn read_within(&self, memory: &MemoryAccount) -> Result<RecordedAnswer, ReplayError> {
        let weight = measured(self.result()?.as_bytes(), memory.limit())?;
        // From here on it is like the result of a tool, whose guest has the memory for it.
        match weight.and_then(|weight| memory.charge(weight)) {
            Some(_charge) => self.read(),
            None => Err(ReplayError::TooLarge(memory.limit())),
        }
    }

    /// Returns the changes of files that the call made.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(in crate::session) fn edits(&self) -> Result<Vec<Edit>, ReplayError> {
        restore_edits(serde_json::from_slice::<AnswerEdits>(&self.text)?.edits)
    }

    /// Returns the text of the value that the script was given, or the failure, whose values take at most `left` bytes.
    ///
    /// # Errors
    /// If the result cannot be read, or takes more.
    pub(in crate::session) fn outcome(&self, left: &mut u64) -> Result<Result<Box<RawValue>, Failure>, ReplayError> {
        let result = self.result()?;
        let value = match serde_json::from_str(result)? {
            ResultOutline::Json(text) => return Ok(Ok(text.value.to_owned())),
            ResultOutline::Bytes(_) | ResultOutline::Nothing => Json::Null,
            ResultOutline::Exited(status) => json!({ "exitCode": status }),
            ResultOutline::Failed(_) => {
                *left -= measured(result.as_bytes(), *left)?.ok_or(ReplayError::TooLarge(*left))?;
                let (result, _) = self.read()?.restore()?;
                return result.err().map(Err).ok_or_else(|| ReplayError::Unreadable("a failure".to_owned()));
            }
        };
        Ok(Ok(to_raw_value(&value)?))
    }
}
