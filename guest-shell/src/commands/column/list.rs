//! Lines side by side, with tabs between them.

use super::options::Options;
use super::width;

/// Distance of tab stops.
const TAB: usize = 8;

/// Arranges lines in columns as wide as the widest line.
pub(crate) fn fill(text: &str, options: &Options) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| options.keep_empty || !line.trim().is_empty()).collect();
    let widest = lines.iter().map(|line| width(line)).max().unwrap_or_default();
    let limit = options.width;
    let mut output = String::new();
    if widest >= limit {
        for line in lines {
            output.push_str(line);
            output.push('\n');
        }
        return output;
    }
    let cell = (widest + TAB) / TAB * TAB;
    let across = (limit / cell).max(1);
    let down = lines.len().div_ceil(across);
    let rows = if options.rows_first { lines.len().div_ceil(across) } else { down };
    for row in 0..rows {
        let place = |column: usize| match options.rows_first {
            true => row * across + column,
            false => row + column * down,
        };
        let count = (0..across).take_while(|column| place(*column) < lines.len()).count();
        for column in 0..count {
            let line = lines[place(column)];
            output.push_str(line);
            if column + 1 < count {
                let tabs = (cell - width(line)).div_ceil(TAB);
                output.extend(std::iter::repeat_n('\t', tabs));
            }
        }
        output.push('\n');
    }
    output
}
