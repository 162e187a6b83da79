//! Standard output of bc and dc, in which lines longer than the line length are broken.

/// Default line length.
const LINE_LENGTH: usize = 70;

/// Smallest line length; a smaller one means the default.
const SHORTEST: i64 = 3;

/// Text that waits for standard output, and the current column.
#[derive(Debug)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    column: usize,
    /// Length at which lines are broken; `None` if they are not broken.
    length: Option<usize>,
}

impl Output {
    /// Creates an output whose line length an environment variable may set: 0 means no limit, and so does a text that
    /// is not a number.
    pub(crate) fn new(setting: Option<&str>) -> Self {
        let length = match setting.map(leading_number) {
            None => Some(LINE_LENGTH),
            Some(0) => None,
            Some(length) if length < SHORTEST => Some(LINE_LENGTH),
            Some(length) => usize::try_from(length).ok(),
        };
        Self { bytes: Vec::new(), column: 0, length }
    }

    /// Writes text, breaking lines with a backslash.
    pub(crate) fn write(&mut self, text: &[u8]) {
        for byte in text {
            if *byte == b'\n' {
                self.column = 0;
            } else {
                self.column += 1;
                if self.length.is_some_and(|length| self.column == length - 1) {
                    self.bytes.extend_from_slice(b"\\\n");
                    self.column = 1;
                }
            }
            self.bytes.push(*byte);
        }
    }

    /// Writes text without breaking lines.
    pub(crate) fn write_plain(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }

    /// Returns the number of bytes that wait to be taken.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes what was written.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

/// Returns the number at the start of a text, as C's `atoi` reads it.
fn leading_number(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse::<i64>().map_or(0, |number| sign * number)
}
