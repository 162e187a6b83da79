//! Lines, and the pipe from which they may come.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::{InputChunks, StdoutStream, cut_records};

use crate::commands::character_locale::CharacterSet;

/// Line of the input, without its end.
pub(crate) struct InputLine {
    pub(crate) text: String,
    /// The line was ended in the input.
    pub(crate) had_newline: bool,
    /// Index of its file among the operands, for `F`, `-s` and `-i`.
    pub(crate) file: usize,
}

/// Splits a text into lines, of which the last may not be ended.
pub(crate) fn split_lines(text: &str, separator: char, file: usize, lines: &mut Vec<InputLine>) {
    for line in text.split_inclusive(separator) {
        let ended = line.strip_suffix(separator);
        lines.push(InputLine { text: ended.unwrap_or(line).to_string(), had_newline: ended.is_some(), file });
    }
}

/// Pipe from which lines come.
pub(crate) struct Feed<'a> {
    input: InputChunks<'a>,
    characters: CharacterSet,
    /// Bytes of the lines that were read and are not yet edited, at the end.
    recent: Vec<u8>,
}

impl<'a> Feed<'a> {
    /// Index of standard input, which is the only operand of a stream.
    const FILE: usize = 0;

    pub(crate) fn new(input: InputChunks<'a>, characters: CharacterSet) -> Self {
        Feed { input, characters, recent: Vec::new() }
    }

    /// Leaves the last lines of a file, and what is behind them, to the next command.
    fn put_back(&mut self, line_count: usize, separator: char) {
        if self.input.is_seekable() {
            self.input.put_back(last_records(&self.recent, line_count, separator as u8));
        }
    }

    /// Reads some lines; returns false at the end.
    async fn read(&mut self, separator: char, lines: &mut Vec<InputLine>) -> bashkit::Result<bool> {
        let Some(piece) = self.input.next(cut_records(separator as u8)).await? else {
            return Ok(false);
        };
        if self.input.is_seekable() {
            self.recent = last_records(&self.recent, lines.len(), separator as u8).to_vec();
            self.recent.extend_from_slice(&piece);
        }
        split_lines(&self.characters.text_of(&piece), separator, Self::FILE, lines);
        Ok(true)
    }
}

/// Returns the last records of some bytes.
fn last_records(bytes: &[u8], count: usize, terminator: u8) -> &[u8] {
    let Some(before) = count.checked_sub(1) else {
        return &[];
    };
    let body = bytes.strip_suffix(&[terminator]).unwrap_or(bytes);
    let mut ends = (0..body.len()).rev().filter(|&position| body[position] == terminator);
    ends.nth(before).map_or(bytes, |position| &bytes[position + 1..])
}

/// Lines of one stream, and how far it is read.
#[derive(Default)]
pub(super) struct Input<'a> {
    lines: Vec<InputLine>,
    /// Number of `lines` that were taken.
    taken: usize,
    pub(super) line_number: usize,
    /// Index of the file of the line that was taken last.
    pub(super) file: usize,
    /// Source of more lines, if they do not all lie in `lines`.
    feed: Option<Feed<'a>>,
    /// Pipe to which results go as they are made.
    output: Option<StdoutStream>,
}

impl<'a> Input<'a> {
    pub(super) fn set_feed(&mut self, feed: Feed<'a>) {
        self.feed = Some(feed);
    }

    pub(super) fn set_output(&mut self, output: StdoutStream) {
        self.output = Some(output);
    }

    /// Returns the pipe to which results go.
    pub(super) fn output(&self) -> Option<&StdoutStream> {
        self.output.as_ref()
    }

    /// Begins the stream of some files.
    pub(super) fn start(&mut self, lines: Vec<InputLine>) {
        self.lines = lines;
        self.taken = 0;
        self.line_number = 0;
    }

    /// Gets the next line and the one behind it, which says whether the next is the last, and forgets those that are
    /// done.
    pub(super) async fn look_ahead(&mut self, separator: char) -> bashkit::Result<()> {
        let Some(feed) = &mut self.feed else {
            return Ok(());
        };
        if self.lines.len() - self.taken >= 2 {
            return Ok(());
        }
        self.lines.drain(..self.taken);
        self.taken = 0;
        while self.lines.len() < 2 && feed.read(separator, &mut self.lines).await? {}
        Ok(())
    }

    /// Takes the next line; none behind the last. What is behind the next must be looked for before.
    pub(super) fn take(&mut self) -> Option<&InputLine> {
        let line = self.lines.get(self.taken)?;
        self.taken += 1;
        self.line_number += 1;
        self.file = line.file;
        Some(line)
    }

    /// Returns true if the line that was taken last is the last one.
    pub(super) fn is_at_end(&self) -> bool {
        self.taken >= self.lines.len()
    }

    /// Leaves the lines that were not taken to the next command.
    pub(super) fn put_back_rest(&mut self, separator: char) {
        if let Some(feed) = &mut self.feed {
            feed.put_back(self.lines.len() - self.taken, separator);
        }
    }
}
