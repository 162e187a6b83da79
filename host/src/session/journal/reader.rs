//! Reader of a journal's lines.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tollhouse_types::json::{self, JsonError};

use super::{AnswerText, JournalEntry, ReplayError};
use crate::gate::DeferredCall;
use crate::guest::OperationId;

/// Most bytes of memory that the values of a journal take that are not answers: what was asked about and decided.
const MAX_VALUES: u64 = 256 << 20;

/// Reader of a journal, whole or in parts. The values of its answers are not made: they stay text, which is part of the
/// bytes that are read.
pub(in crate::session) struct JournalReader {
    /// Bytes of memory that values may still take.
    pub(super) left: u64,
}

impl Default for JournalReader {
    fn default() -> Self {
        Self { left: MAX_VALUES }
    }
}

/// Line of a journal, of which the answer is not read.
#[derive(Deserialize)]
struct EntryLine<'a> {
    #[serde(borrow)]
    entry: Cow<'a, str>,
    id: Option<OperationId>,
    now: Option<u64>,
    #[serde(borrow)]
    answer: Option<&'a RawValue>,
}

/// Line of a call that waits for approval.
#[derive(Deserialize)]
struct DeferredLine {
    id: OperationId,
    call: Box<DeferredCall>,
}

impl JournalReader {
    /// Decodes the next part of the journal, which has whole lines.
    ///
    /// # Errors
    /// If a line is no entry that this version knows, or the values of other entries than answers take more than 256 MiB of
    /// memory.
    pub(in crate::session) fn read(&mut self, part: &Bytes) -> Result<Vec<JournalEntry>, ReplayError> {
        let lines = part.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| self.read_line(&part.slice_ref(line))).collect()
    }

    fn read_line(&mut self, line: &Bytes) -> Result<JournalEntry, ReplayError> {
        // The longest of the entries that every journal has are read at once, without a look at their kind.
        match kind_of(line) {
            Some(b"started") => {
                self.count(line)?;
                return Ok(JournalEntry::Started(serde_json::from_slice(line)?));
            }
            Some(b"deferred") => {
                self.count(line)?;
                let DeferredLine { id, call } = serde_json::from_slice(line)?;
                return Ok(JournalEntry::Deferred { id, call });
            }
            _ => {}
        }
        let EntryLine { entry, id, now, answer } = serde_json::from_slice(line)?;
        match entry.as_ref() {
            "delivered" => {
                let (Some(id), Some(now)) = (id, now) else {
                    return Err(ReplayError::Unreadable("an answer without an operation or a time".to_owned()));
                };
                let answer = answer.map(|answer| AnswerText::parse(line.slice_ref(answer.get().as_bytes())));
                return Ok(JournalEntry::Delivered { id, now, answer: answer.transpose()? });
            }
            // They take no more memory than their text.
            "kept" | "input" => {}
            _ => self.count(line)?,
        }
        Ok(serde_json::from_slice(line)?)
    }

    /// Counts the memory that the value of a line takes.
    fn count(&mut self, line: &[u8]) -> Result<(), ReplayError> {
        self.left -= measured(line, self.left)?.ok_or(ReplayError::TooLarge(MAX_VALUES))?;
        Ok(())
    }
}

/// Returns the kind of an entry, if it is the first key of its line, as it is written.
fn kind_of(line: &[u8]) -> Option<&[u8]> {
    let kind = line.strip_prefix(br#"{"entry":""#)?;
    kind.iter().position(|byte| *byte == b'"').map(|end| &kind[..end])
}

/// Returns the bytes of memory that the value of a text takes; `None` if they are more than `most`.
pub(super) fn measured(text: &[u8], most: u64) -> Result<Option<u64>, ReplayError> {
    match json::measure(text, most, &|| true) {
        Ok(weight) => Ok(weight),
        Err(JsonError::TooLarge(_)) => Ok(None),
        Err(JsonError::Malformed(why)) => Err(ReplayError::Unreadable(why)),
    }
}
