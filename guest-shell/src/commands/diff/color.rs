//! Colours of the output (`--color=always`), in the palette that GNU's has.

use super::options::DiffOptions;
use super::put_line;

/// Start of a deleted line.
pub(super) const DELETED: &str = "\x1b[31m";
/// Start of an inserted line.
pub(super) const INSERTED: &str = "\x1b[32m";
/// Start of a line that says where a change is.
pub(super) const PLACE: &str = "\x1b[36m";
/// End of what is coloured.
const END: &str = "\x1b[0m";

impl DiffOptions {
    /// Returns a text in a colour, if there are colours.
    pub(super) fn colored(&self, start: &str, text: &str) -> String {
        if self.color { format!("{start}{text}{END}") } else { text.to_owned() }
    }

    /// Appends a line behind a mark, in a colour if there are colours.
    pub(super) fn put_colored(&self, output: &mut Vec<u8>, start: &str, mark: &str, line: &[u8]) {
        let line = &*self.shown_line(line);
        let tabbed = match self.initial_tab {
            true => mark.strip_suffix(' ').unwrap_or(mark).to_owned() + "\t",
            false => mark.to_owned(),
        };
        if !self.color || start.is_empty() {
            return put_line(output, &tabbed, line);
        }
        output.extend_from_slice(start.as_bytes());
        output.extend_from_slice(tabbed.as_bytes());
        let text = line.strip_suffix(b"\n");
        output.extend_from_slice(text.unwrap_or(line));
        output.extend_from_slice(END.as_bytes());
        output.push(b'\n');
        if text.is_none() {
            output.extend_from_slice(b"\\ No newline at end of file\n");
        }
    }
}
