//! Lines of encoded text.

/// Writer of text in lines. As in GNU, a newline follows each whole line, and a last line that is shorter; without a width
/// there is none.
pub(super) struct LineWrapper {
    width: usize,
    column: usize,
}

impl LineWrapper {
    pub(super) fn new(width: usize) -> Self {
        Self { width, column: 0 }
    }

    /// Adds text.
    pub(super) fn push(&mut self, text: &str, output: &mut String) {
        let mut rest = text;
        while self.width > 0 && self.column + rest.len() > self.width {
            let (line, behind) = rest.split_at(self.width - self.column);
            output.push_str(line);
            output.push('\n');
            self.column = 0;
            rest = behind;
        }
        self.column += rest.len();
        output.push_str(rest);
    }

    /// Ends the last line.
    pub(super) fn end(&self, output: &mut String) {
        if self.width > 0 && self.column > 0 {
            output.push('\n');
        }
    }
}
