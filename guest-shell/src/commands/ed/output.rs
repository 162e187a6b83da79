//! Standard output and standard error of a call, and the forms in which lines are printed.

use bashkit::{PlacedMessages, StreamData, bytes_of};

/// Columns behind which `l` breaks a line.
const LIST_WIDTH: usize = 72;

/// Way of printing a line, which the letters behind a command choose.
#[derive(Clone, Copy, Default)]
pub(super) struct PrintForm {
    pub(super) is_plain: bool,
    pub(super) is_numbered: bool,
    pub(super) is_listed: bool,
}

impl PrintForm {
    /// Adds the form of a letter. Returns false if the letter chooses none.
    pub(super) fn add(&mut self, letter: char) -> bool {
        match letter {
            'p' => self.is_plain = true,
            'n' => self.is_numbered = true,
            'l' => self.is_listed = true,
            _ => return false,
        }
        true
    }

    /// Returns true if nothing is printed.
    pub(super) fn is_none(self) -> bool {
        !(self.is_plain || self.is_numbered || self.is_listed)
    }
}

/// Output that was written, of which the shell has passed some on.
#[derive(Default)]
pub(super) struct Output {
    stdout: Vec<u8>,
    messages: PlacedMessages,
    error_text: Vec<u8>,
    emitted: (usize, usize),
}

impl Output {
    pub(super) fn print(&mut self, text: &str) {
        self.stdout.extend_from_slice(&bytes_of(text));
    }

    pub(super) fn complain(&mut self, message: &str) {
        self.messages.push(message, self.stdout.len());
        self.error_text.extend_from_slice(&bytes_of(message));
    }

    /// Prints a line.
    pub(super) fn print_line(&mut self, number: usize, text: &str, form: PrintForm) {
        if form.is_numbered {
            self.print(&format!("{number}\t"));
        }
        if form.is_listed {
            let column = if form.is_numbered { 8 } else { 0 };
            self.print(&listed(text, column));
        } else {
            self.print(text);
        }
        self.print("\n");
    }

    /// Adds what a command of the shell wrote, which the shell has passed on.
    pub(super) fn add_streamed(&mut self, stdout: &StreamData, stderr: &StreamData) {
        self.stdout.extend_from_slice(stdout.as_bytes());
        self.messages.push(&stderr.text_lossy(), self.stdout.len());
        self.error_text.extend_from_slice(stderr.as_bytes());
        self.emitted = (self.stdout.len(), self.error_text.len());
    }

    /// Takes what was not passed on yet.
    pub(super) fn take_unemitted(&mut self) -> (StreamData, StreamData) {
        let (out, err) = self.emitted;
        self.emitted = (self.stdout.len(), self.error_text.len());
        (StreamData::from(self.stdout[out..].to_vec()), StreamData::from(self.error_text[err..].to_vec()))
    }

    /// Takes everything.
    pub(super) fn take_all(&mut self) -> (StreamData, StreamData) {
        (StreamData::from(std::mem::take(&mut self.stdout)), std::mem::take(&mut self.messages).into())
    }
}

/// Returns a line in the form of `l`, which begins in a column.
fn listed(text: &str, mut column: usize) -> String {
    let mut listed = String::new();
    for byte in bytes_of(text).iter() {
        let shown = match byte {
            b'\\' => "\\\\".to_owned(),
            b'$' => "\\$".to_owned(),
            b'\x07' => "\\a".to_owned(),
            b'\x08' => "\\b".to_owned(),
            b'\x0c' => "\\f".to_owned(),
            b'\n' => "\\n".to_owned(),
            b'\r' => "\\r".to_owned(),
            b'\t' => "\\t".to_owned(),
            b'\x0b' => "\\v".to_owned(),
            b' '..=b'~' => char::from(*byte).to_string(),
            byte => format!("\\{byte:03o}"),
        };
        column += shown.len();
        if column > LIST_WIDTH {
            column = shown.len();
            listed.push_str("\\\n");
        }
        listed.push_str(&shown);
    }
    listed.push('$');
    listed
}
