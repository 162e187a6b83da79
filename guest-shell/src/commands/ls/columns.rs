//! Formats with several names on a line: `-C`, `-x` and `-m`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Width of the narrowest column: a letter and two spaces.
const NARROWEST: usize = 3;

/// Text that is printed, and its width. Escape sequences of colours have no width.
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) width: usize,
}

/// Returns the widths of `count` columns, if they fit into a line of less than `limit`.
fn fit(cells: &[Cell], count: usize, limit: usize, across: bool) -> Option<Vec<usize>> {
    let rows = cells.len().div_ceil(count);
    let mut widths = vec![NARROWEST; count];
    let mut line = count * NARROWEST;
    for (index, cell) in cells.iter().enumerate() {
        let column = if across { index % count } else { index / rows };
        let width = cell.width + if column + 1 == count { 0 } else { 2 };
        if width > widths[column] {
            line += width - widths[column];
            widths[column] = width;
        }
        if line >= limit {
            return None;
        }
    }
    Some(widths)
}

/// Indents from one column of the screen to another, with tabs where possible.
fn indent(out: &mut String, mut from: usize, to: usize, tab: usize) {
    while from < to {
        if tab != 0 && to / tab > (from + 1) / tab {
            out.push('\t');
            from += tab - from % tab;
        } else {
            out.push(' ');
            from += 1;
        }
    }
}

/// Formats cells in columns, downwards (`-C`) or across (`-x`), with as many columns as lines of `limit` can hold.
pub(super) fn columns(cells: &[Cell], limit: usize, tab: usize, across: bool, end: char) -> String {
    let most = limit.div_ceil(NARROWEST).min(cells.len());
    let widths = (2..=most).rev().find_map(|count| fit(cells, count, limit, across)).unwrap_or_else(|| vec![0]);
    let count = widths.len();
    let rows = cells.len().div_ceil(count);
    let mut out = String::new();
    for row in 0..rows {
        let index = |column| {
            if across { row * count + column } else { column * rows + row }
        };
        let mut start = 0;
        for (column, width) in widths.iter().enumerate() {
            let Some(cell) = cells.get(index(column)) else {
                break;
            };
            out.push_str(&cell.text);
            if column + 1 < count && index(column + 1) < cells.len() {
                indent(&mut out, start + cell.width, start + width, tab);
            }
            start += width;
        }
        out.push(end);
    }
    out
}

/// Formats cells with commas between them, in lines of less than `limit` (`-m`). With another separator, formats them
/// as `-C` on a line without a limit.
pub(super) fn separated(cells: &[Cell], separator: &str, limit: usize, end: char) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            out.push_str(separator);
            if limit == 0 || column + cell.width + 2 < limit {
                out.push(' ');
                column += 2;
            } else {
                out.push(end);
                column = 0;
            }
        }
        out.push_str(&cell.text);
        column += cell.width;
    }
    if !cells.is_empty() {
        out.push(end);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(names: &[&str]) -> Vec<Cell> {
        names.iter().map(|name| Cell { text: name.to_string(), width: name.len() }).collect()
    }

    #[test]
    fn columns_go_down_or_across() {
        let names = cells(&["aaa", "b", "cc", "d"]);
        assert_eq!(columns(&names, 80, 8, false, '\n'), "aaa  b\tcc  d\n");
        assert_eq!(columns(&names, 10, 8, false, '\n'), "aaa  cc\nb    d\n");
        assert_eq!(columns(&names, 10, 8, true, '\n'), "aaa  b\ncc   d\n");
        assert_eq!(columns(&names, 3, 8, false, '\n'), "aaa\nb\ncc\nd\n");
    }

    #[test]
    fn tabs_lead_to_columns() {
        let names = cells(&["a", "twenty-characters---", "c"]);
        assert_eq!(columns(&names, 26, 8, false, '\n'), "a\t\t      c\ntwenty-characters---\n");
        assert_eq!(columns(&[], 80, 8, false, '\n'), "");
    }

    #[test]
    fn commas_break_lines() {
        let names = cells(&["aaa", "bbb", "ccc"]);
        assert_eq!(separated(&names, ",", 80, '\n'), "aaa, bbb, ccc\n");
        assert_eq!(separated(&names, ",", 9, '\n'), "aaa, bbb,\nccc\n");
    }
}
