//! What waits for the end of a cycle: text of `a`, files of `r`, lines of `R`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;

use super::output::Sink;

/// Text that waits for the end of the cycle.
enum Append<'a> {
    Text(&'a str),
    File(&'a str),
    FileLine(&'a str),
}

/// Queue of what waits, and how far the files of `R` are read.
#[derive(Default)]
pub(super) struct Appends<'a> {
    queue: Vec<Append<'a>>,
    read_offsets: HashMap<&'a str, usize>,
}

impl<'a> Appends<'a> {
    pub(super) fn push_text(&mut self, text: &'a str) {
        self.queue.push(Append::Text(text));
    }

    pub(super) fn push_file(&mut self, name: &'a str) {
        self.queue.push(Append::File(name));
    }

    pub(super) fn push_line_of_file(&mut self, name: &'a str) {
        self.queue.push(Append::FileLine(name));
    }

    /// Forgets what waits, as `Q` does.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
    }

    /// Writes the texts that wait. A file that does not exist is none, as with GNU sed.
    pub(super) fn write_to(&mut self, sink: &mut Sink, files: &HashMap<String, String>) {
        for append in std::mem::take(&mut self.queue) {
            match append {
                Append::Text(text) => sink.write(text),
                Append::File(name) => {
                    // GNU ends the line before it looks for the file.
                    sink.end_line();
                    if let Some(text) = files.get(name) {
                        // Whatever comes next follows a last line without an end on the same line.
                        sink.write(text);
                    }
                }
                Append::FileLine(name) => {
                    let offset = self.read_offsets.entry(name).or_default();
                    let rest = files.get(name).map_or("", |text| &text[*offset..]);
                    if let Some(line) = rest.split_inclusive('\n').next() {
                        *offset += line.len();
                        sink.write(line);
                    }
                }
            }
        }
    }
}
