//! The part of some bytes that a number of lines or bytes selects.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Part of an input, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Selection {
    /// The first units, as of `head -n 3`.
    First(usize),
    /// Selection of all units but the last ones, as by `head -n -3`.
    AllButLast(usize),
    /// The last units, as of `tail -n 3`.
    Last(usize),
    /// Selection of all units from this one on, as by `tail -n +3`; the first unit is 1.
    From(usize),
}

/// Unit that a selection counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum SelectionUnit {
    Lines,
    /// Lines that end with a NUL, `-z`.
    Records,
    Bytes,
}

impl SelectionUnit {
    /// Returns the byte that ends a line.
    fn terminator(self) -> u8 {
        if self == Self::Records { 0 } else { b'\n' }
    }
}

/// Returns the selected part of some bytes.
pub(in crate::commands) fn select(data: &[u8], selection: Selection, unit: SelectionUnit) -> &[u8] {
    if unit == SelectionUnit::Bytes {
        return select_bytes(data, selection);
    }
    // The boundary is searched from the nearer end: an index of all lines would be large (THREAT[TM-DOS-117]).
    let terminator = unit.terminator();
    match selection {
        Selection::First(count) => &data[..start_of_line(data, count, terminator)],
        Selection::AllButLast(count) => &data[..start_of_last_lines(data, count, terminator)],
        Selection::Last(count) => &data[start_of_last_lines(data, count, terminator)..],
        Selection::From(count) => &data[start_of_line(data, count.saturating_sub(1), terminator)..],
    }
}

fn select_bytes(data: &[u8], selection: Selection) -> &[u8] {
    match selection {
        Selection::First(count) => &data[..count.min(data.len())],
        Selection::AllButLast(count) => &data[..data.len().saturating_sub(count)],
        Selection::Last(count) => &data[data.len().saturating_sub(count)..],
        Selection::From(count) => &data[count.saturating_sub(1).min(data.len())..],
    }
}

/// Returns true if a line ends at a byte and another one follows.
fn parts_lines(data: &[u8], at: usize, terminator: u8) -> bool {
    data[at] == terminator && at + 1 < data.len()
}

/// Returns the start of a line by its number, counted from 0.
fn start_of_line(data: &[u8], line: usize, terminator: u8) -> usize {
    let Some(ends_before) = line.checked_sub(1) else { return 0 };
    let mut ends = (0..data.len()).filter(|at| parts_lines(data, *at, terminator));
    ends.nth(ends_before).map_or(data.len(), |at| at + 1)
}

/// Returns the start of the last `lines` lines.
fn start_of_last_lines(data: &[u8], lines: usize, terminator: u8) -> usize {
    let Some(ends_behind) = lines.checked_sub(1) else { return data.len() };
    let mut ends = (0..data.len()).rev().filter(|at| parts_lines(data, *at, terminator));
    ends.nth(ends_behind).map_or(0, |at| at + 1)
}

/// Returns the first units of some bytes, at most `left`, which is decreased by their number.
pub(super) fn take_units<'d>(data: &'d [u8], left: &mut usize, unit: SelectionUnit) -> &'d [u8] {
    if unit == SelectionUnit::Bytes {
        let taken = &data[..data.len().min(*left)];
        *left -= taken.len();
        return taken;
    }
    if *left == 0 {
        return &[];
    }
    for (at, _) in data.iter().enumerate().filter(|(_, byte)| **byte == unit.terminator()) {
        *left -= 1;
        if *left == 0 {
            return &data[..=at];
        }
    }
    data
}
