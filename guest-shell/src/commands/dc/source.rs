//! Text that is read byte by byte and may still be arriving.

/// Text of a file, or of standard input.
#[derive(Debug, Default)]
pub(super) struct Source {
    text: Vec<u8>,
    at: usize,
    ended: bool,
}

/// Error for text that ends within a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Short;

impl Source {
    /// Adds text; an empty text marks the end.
    pub(super) fn feed(&mut self, text: &[u8]) {
        self.text.drain(..self.at);
        self.at = 0;
        self.text.extend_from_slice(text);
        self.ended |= text.is_empty();
    }

    /// Consumes a line without its end, or the rest of the text at its end.
    pub(super) fn line(&mut self) -> Result<Vec<u8>, Short> {
        let rest = &self.text[self.at..];
        let (line, passed) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(length) => (rest[..length].to_vec(), length + 1),
            None if self.ended => (rest.to_vec(), rest.len()),
            None => return Err(Short),
        };
        self.at += passed;
        Ok(line)
    }
}

/// Position in a text from which one command is read. The text is consumed only once the command is complete.
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    ended: bool,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor into a string, which is complete.
    pub(super) fn of_string(text: &'a [u8], at: usize) -> Self {
        Self { text, at, ended: true }
    }

    /// Returns a cursor into the rest of a file.
    pub(super) fn of_source(source: &'a Source) -> Self {
        Self { text: &source.text, at: source.at, ended: source.ended }
    }

    /// Returns the next byte, or `None` at the end.
    pub(super) fn peek(&self) -> Result<Option<u8>, Short> {
        match self.text.get(self.at) {
            Some(byte) => Ok(Some(*byte)),
            None if self.ended => Ok(None),
            None => Err(Short),
        }
    }

    /// Consumes the next byte.
    pub(super) fn next(&mut self) -> Result<Option<u8>, Short> {
        let byte = self.peek()?;
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }

    /// Returns the place reached.
    pub(super) fn at(&self) -> usize {
        self.at
    }
}

impl Source {
    /// Consumes what a cursor has read.
    pub(super) fn pass(&mut self, at: usize) {
        self.at = at;
    }
}
