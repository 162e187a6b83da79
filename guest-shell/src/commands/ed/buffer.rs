//! The lines that are edited, with their marks, the current line, and the copy that `u` exchanges them for.

use std::sync::Arc;

/// Number of lower-case letters, which name marks.
const MARK_COUNT: usize = 26;

/// Line with an identity that moves keep and substitutions do not.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) id: u64,
    pub(super) text: Arc<str>,
}

/// Lines and current line at one moment.
#[derive(Clone, Default)]
struct State {
    lines: Vec<Line>,
    current: usize,
}

/// Lines that are edited. Addresses count from 1; 0 is the place before the first line.
#[derive(Default)]
pub(super) struct Buffer {
    state: State,
    undo: Option<(State, bool)>,
    marks: [Option<u64>; MARK_COUNT],
    next_id: u64,
    is_modified: bool,
}

impl Buffer {
    /// Returns the address of the last line.
    pub(super) fn last(&self) -> usize {
        self.state.lines.len()
    }

    /// Returns the address of the current line.
    pub(super) fn current(&self) -> usize {
        self.state.current
    }

    pub(super) fn set_current(&mut self, address: usize) {
        self.state.current = address;
    }

    pub(super) fn is_modified(&self) -> bool {
        self.is_modified
    }

    pub(super) fn set_modified(&mut self, is_modified: bool) {
        self.is_modified = is_modified;
    }

    /// Returns the line at an address from 1 on.
    pub(super) fn line(&self, address: usize) -> &Line {
        &self.state.lines[address - 1]
    }

    /// Returns the lines of a range of addresses; none if it begins at 0.
    pub(super) fn range(&self, first: usize, last: usize) -> &[Line] {
        if first == 0 { &[] } else { &self.state.lines[first - 1..last] }
    }

    /// Returns the address of a line, if it is still there. The search begins at `hint`.
    pub(super) fn find(&self, id: u64, hint: usize) -> Option<usize> {
        let lines = &self.state.lines;
        let start = hint.min(lines.len());
        let at = |from: usize, part: &[Line]| part.iter().position(|line| line.id == id).map(|index| from + index + 1);
        at(start, &lines[start..]).or_else(|| at(0, &lines[..start]))
    }

    /// Inserts lines behind an address, makes the last of them the current line, and returns their number.
    pub(super) fn insert(&mut self, after: usize, texts: impl IntoIterator<Item = Arc<str>>) -> usize {
        let mut next_id = self.next_id;
        let lines: Vec<Line> = texts
            .into_iter()
            .map(|text| {
                next_id += 1;
                Line { id: next_id, text }
            })
            .collect();
        self.next_id = next_id;
        self.splice(after, lines)
    }

    fn splice(&mut self, after: usize, lines: Vec<Line>) -> usize {
        let count = lines.len();
        self.state.lines.splice(after..after, lines);
        self.state.current = after + count;
        self.is_modified |= count > 0;
        count
    }

    /// Removes lines and returns them. The current line is then the one before them.
    pub(super) fn remove(&mut self, first: usize, last: usize) -> Vec<Line> {
        self.is_modified = true;
        self.state.current = first - 1;
        self.state.lines.drain(first - 1..last).collect()
    }

    /// Moves lines behind an address outside of them, with their marks.
    pub(super) fn relocate(&mut self, first: usize, last: usize, after: usize) {
        let lines = self.remove(first, last);
        let after = if after >= last { after - lines.len() } else { after };
        self.splice(after, lines);
    }

    /// Removes all lines and marks, for another file.
    pub(super) fn clear(&mut self) {
        *self = Self { next_id: self.next_id, ..Self::default() };
    }

    pub(super) fn set_mark(&mut self, letter: char, address: usize) {
        let id = self.line(address).id;
        if let Some(mark) = mark_index(letter).and_then(|index| self.marks.get_mut(index)) {
            *mark = Some(id);
        }
    }

    /// Returns the address of a marked line.
    pub(super) fn marked(&self, letter: char) -> Option<usize> {
        let id = (*self.marks.get(mark_index(letter)?)?)?;
        self.find(id, 0)
    }

    /// Keeps the lines as they are for `u`.
    pub(super) fn keep_for_undo(&mut self) {
        self.undo = Some((self.state.clone(), self.is_modified));
    }

    /// Exchanges the lines for those that were kept. Returns false if nothing has changed since.
    pub(super) fn undo(&mut self) -> bool {
        let Some((state, is_modified)) = self.undo.take_if(|(state, _)| !same_lines(&state.lines, &self.state.lines))
        else {
            return false;
        };
        let present = std::mem::replace(&mut self.state, state);
        self.undo = Some((present, std::mem::replace(&mut self.is_modified, is_modified)));
        true
    }
}

fn same_lines(one: &[Line], other: &[Line]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.id == other.id)
}

fn mark_index(letter: char) -> Option<usize> {
    letter.is_ascii_lowercase().then(|| usize::from(letter as u8 - b'a'))
}
