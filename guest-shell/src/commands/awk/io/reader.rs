//! Sources of records, and how records are separated.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::sync::Arc;

use super::super::interpreter::next_character;
use super::super::regex::AwkRegex;
use crate::commands::character_locale::CharacterSet;
use bashkit::builtins::{StdinStream, cut_utf8};

/// Bytes of a pipe that are kept behind the place where it is read.
const KEPT_BYTES: usize = 64 * 1024;

/// Separator of records, as `RS` has it.
#[derive(Clone)]
pub(crate) enum RecordSeparator {
    Newline,
    Character(char),
    /// Blank lines, of an empty `RS`.
    Paragraph,
    Regex(Arc<AwkRegex>),
}

impl RecordSeparator {
    /// Returns the character that separates records, if it is one.
    fn character(&self) -> Option<char> {
        match self {
            RecordSeparator::Newline => Some('\n'),
            RecordSeparator::Character(character) => Some(*character),
            RecordSeparator::Paragraph | RecordSeparator::Regex(_) => None,
        }
    }
}

/// Record, and the text that ended it (`RT`).
pub(super) type Record = (String, String);

/// Bounds of a record in the text, and the end of what separates it from the next.
struct Bounds {
    start: usize,
    end: usize,
    next: usize,
}

/// Source that gives records: a text, or a pipe that is read as records are needed.
pub(super) struct Reader {
    text: String,
    position: usize,
    pipe: Option<InputPipe>,
    /// Number of bytes behind `position` that were searched for a separator in vain.
    searched: usize,
    /// Exit status of the command whose output is read.
    status: i32,
}

impl Reader {
    pub(super) fn new(text: String) -> Self {
        Reader::with_pipe(text, None)
    }

    /// Creates a reader of a text and of what comes out of a pipe behind it.
    pub(super) fn with_pipe(text: String, pipe: Option<InputPipe>) -> Self {
        Reader { text, position: 0, pipe, searched: 0, status: 0 }
    }

    /// Creates a reader of the output of a command.
    pub(super) fn of_command(output: String, status: i32) -> Self {
        Reader { status, ..Reader::new(output) }
    }

    pub(super) fn status(&self) -> i32 {
        self.status
    }

    /// Returns how many bytes are held.
    pub(super) fn byte_count(&self) -> usize {
        self.text.len()
    }

    /// Reads from the pipe until a whole record is there. What separates records by more than a character needs to see
    /// all that comes.
    pub(super) async fn fill(&mut self, separator: &RecordSeparator) -> bashkit::Result<()> {
        while let Some(pipe) = &mut self.pipe {
            let unsearched = &self.text[self.position + self.searched..];
            if separator.character().is_some_and(|character| unsearched.contains(character)) {
                break;
            }
            self.searched = self.text.len() - self.position;
            if self.position > KEPT_BYTES {
                self.text.drain(..self.position);
                self.position = 0;
            }
            match pipe.read().await? {
                Some(text) => self.text.push_str(&text),
                None => self.pipe = None,
            }
        }
        self.searched = 0;
        Ok(())
    }

    /// Returns the next record; none at the end.
    pub(super) fn read(&mut self, separator: &RecordSeparator) -> Option<Record> {
        let bounds = match separator {
            RecordSeparator::Newline => self.find_record_before('\n'),
            RecordSeparator::Character(character) => self.find_record_before(*character),
            RecordSeparator::Paragraph => self.find_paragraph(),
            RecordSeparator::Regex(regex) => self.find_record_before_match(regex),
        };
        let Some(Bounds { start, end, next }) = bounds else {
            self.position = self.text.len();
            return None;
        };
        self.position = next;
        Some((self.text[start..end].to_string(), self.text[end..next].to_string()))
    }

    /// Returns the bounds of what is left; none if nothing is.
    fn last_record(&self) -> Option<Bounds> {
        let end = self.text.len();
        (self.position < end).then_some(Bounds { start: self.position, end, next: end })
    }

    fn find_record_before(&self, separator: char) -> Option<Bounds> {
        match self.text[self.position..].find(separator) {
            Some(length) => {
                let end = self.position + length;
                Some(Bounds { start: self.position, end, next: end + separator.len_utf8() })
            }
            None => self.last_record(),
        }
    }

    fn find_paragraph(&self) -> Option<Bounds> {
        let start = self.text.len() - self.text[self.position..].trim_start_matches('\n').len();
        if start == self.text.len() {
            return None;
        }
        let rest = &self.text[start..];
        let length = rest.find("\n\n").unwrap_or_else(|| rest.trim_end_matches('\n').len());
        let next = self.text.len() - rest[length..].trim_start_matches('\n').len();
        Some(Bounds { start, end: start + length, next })
    }

    /// Finds the record in front of a match; an empty match separates nothing.
    fn find_record_before_match(&self, separator: &AwkRegex) -> Option<Bounds> {
        if self.position >= self.text.len() {
            return None;
        }
        let mut from = self.position;
        while from <= self.text.len() {
            match separator.find_at(&self.text, from) {
                Some((start, end)) if start == end => from = next_character(&self.text, start),
                Some((end, next)) => return Some(Bounds { start: self.position, end, next }),
                None => break,
            }
        }
        self.last_record()
    }
}

/// Standard input that is a pipe, read as text that ends between characters.
pub(crate) struct InputPipe {
    stream: StdinStream,
    characters: CharacterSet,
    partial_character: Vec<u8>,
}

impl InputPipe {
    pub(crate) fn new(stream: StdinStream, characters: CharacterSet) -> Self {
        Self { stream, characters, partial_character: Vec::new() }
    }

    /// Returns the next part; none at the end.
    async fn read(&mut self) -> bashkit::Result<Option<String>> {
        loop {
            let chunk = self.stream.read().await?;
            let has_ended = chunk.is_empty();
            let mut bytes = std::mem::take(&mut self.partial_character);
            bytes.extend_from_slice(&chunk);
            if !has_ended {
                self.partial_character = bytes.split_off(cut_utf8(&bytes));
            }
            if !bytes.is_empty() {
                return Ok(Some(self.characters.text_of(&bytes).into_owned()));
            }
            if has_ended {
                return Ok(None);
            }
        }
    }
}
