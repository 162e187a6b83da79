//! Diffs in two columns.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::text_of;

use super::comparison::Comparison;

/// Distance of tab stops.
const TAB_STOP: usize = 8;

/// Writes both files side by side.
pub(super) fn side_by_side(comparison: &Comparison<'_>, output: &mut Vec<u8>) {
    let columns = PageColumns::new(comparison.options.width, comparison.options.expands_tabs);
    let (mut at, mut new_at) = (0, 0);
    for change in &comparison.changes {
        put_common(comparison, &columns, (at, change.old.0), new_at, output);
        let is_ignored = comparison.is_ignored(change);
        let (deleted, inserted) = (comparison.deleted(change), comparison.inserted(change));
        for index in 0..deleted.len().max(inserted.len()) {
            let (left, right) = (deleted.get(index).copied(), inserted.get(index).copied());
            let mark = match (left, right) {
                _ if is_ignored => ' ',
                (Some(_), Some(_)) => '|',
                (Some(_), None) => '<',
                _ => '>',
            };
            columns.put(left, mark, right, output);
        }
        at = change.old.0 + change.old.1;
        new_at = change.new.0 + change.new.1;
    }
    put_common(comparison, &columns, (at, comparison.old.len()), new_at, output);
}

/// Writes lines that are equal: those of the old file from one to another, and those of the new one from `new_start`.
fn put_common(
    comparison: &Comparison<'_>,
    columns: &PageColumns,
    (start, end): (usize, usize),
    new_start: usize,
    output: &mut Vec<u8>,
) {
    if comparison.options.suppress_common_lines {
        return;
    }
    for (left, right) in comparison.old[start..end].iter().zip(&comparison.new[new_start..]) {
        match comparison.options.left_column {
            true => columns.put(Some(left), '(', None, output),
            false => columns.put(Some(left), ' ', Some(right), output),
        }
    }
}

/// Columns of a page.
struct PageColumns {
    /// Letters of a column.
    width: usize,
    /// Place of the second column.
    second: usize,
    /// Blanks stand in place of tabs.
    expands_tabs: bool,
}

impl PageColumns {
    /// Returns columns as wide as a page allows, the second one at a tab stop.
    fn new(page_width: usize, expands_tabs: bool) -> Self {
        let tab_stop = if expands_tabs { 1 } else { TAB_STOP };
        let offset = (page_width + tab_stop + 3) / (2 * tab_stop) * tab_stop;
        let width = offset.saturating_sub(3).min(page_width.saturating_sub(offset));
        Self { width, second: if width > 0 { offset } else { page_width }, expands_tabs }
    }

    fn put(&self, left: Option<&[u8]>, mark: char, right: Option<&[u8]>, output: &mut Vec<u8>) {
        let has_end = |line: Option<&[u8]>| line.is_some_and(|line| line.ends_with(b"\n"));
        let mut column = 0;
        if let Some(left) = left {
            column = self.put_cut(left, output);
        }
        if mark != ' ' {
            column = self.put_blanks(column, (self.width + self.second - 1) / 2, output) + 1;
            let mark = match mark {
                '|' if has_end(left) && !has_end(right) => '/',
                '|' if !has_end(left) && has_end(right) => '\\',
                mark => mark,
            };
            output.push(u8::try_from(mark).unwrap_or(b'|'));
        }
        if let Some(right) = right.filter(|line| *line != b"\n") {
            self.put_blanks(column, self.second, output);
            self.put_cut(right, output);
        }
        if has_end(left) || has_end(right) {
            output.push(b'\n');
        }
    }

    /// Writes a line, cut where its column ends, and returns how many columns it takes.
    fn put_cut(&self, line: &[u8], output: &mut Vec<u8>) -> usize {
        let (mut wanted, mut written) = (0, 0);
        for letter in text_of(line).trim_end_matches('\n').chars() {
            if letter == '\t' {
                let blanks = TAB_STOP - wanted % TAB_STOP;
                if wanted == written && written + blanks < self.width {
                    written += blanks;
                    match self.expands_tabs {
                        true => output.extend(std::iter::repeat_n(b' ', blanks)),
                        false => output.push(b'\t'),
                    }
                }
                wanted += blanks;
                continue;
            }
            wanted += 1;
            if wanted <= self.width {
                written = wanted;
                output.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        written
    }

    /// Goes from one column to another with tabs and blanks, and returns where it arrives.
    fn put_blanks(&self, from: usize, to: usize, output: &mut Vec<u8>) -> usize {
        let mut column = from;
        while !self.expands_tabs && (column / TAB_STOP + 1) * TAB_STOP <= to {
            column = (column / TAB_STOP + 1) * TAB_STOP;
            output.push(b'\t');
        }
        output.extend(std::iter::repeat_n(b' ', to.saturating_sub(column)));
        column.max(to)
    }
}
