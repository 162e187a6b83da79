//! Tables: cells of a row side by side, each column as wide as its widest cell.

use super::options::Options;
use super::width;

/// Default text between cells.
const SEPARATOR: &str = "  ";

/// Column of the table.
struct Column {
    name: String,
    /// Index of the column's cells in an input row.
    source: usize,
    right: bool,
    hidden: bool,
}

/// Makes a table of the lines of a text.
pub(crate) fn table(text: &str, options: &Options) -> Result<String, String> {
    let lines = text.lines().filter(|line| options.keep_empty || !line.trim().is_empty());
    let rows: Vec<Vec<&str>> = lines.map(|line| cells(line, options)).collect();
    let wide = rows.iter().map(Vec::len).max().unwrap_or_default();
    if options.json && wide > options.columns.len() {
        let line = rows.iter().position(|row| row.len() > options.columns.len()).unwrap_or_default();
        let missing = options.columns.len() + 1;
        return Err(format!("line {}: for JSON the name of the column {missing} is required", line + 2));
    }
    if rows.is_empty() {
        return Ok(String::new());
    }
    let columns = columns(wide.max(options.columns.len()), options)?;
    if options.json {
        return Ok(json(&columns, &rows, options));
    }
    plain(&columns, &rows, options)
}

/// Splits a line into cells. With a limit, the last cell contains the rest of the line.
fn cells<'a>(line: &'a str, options: &Options) -> Vec<&'a str> {
    let limit = options.limit.unwrap_or(usize::MAX);
    let mut cells = Vec::new();
    let Some(separator) = &options.separator else {
        let mut rest = line;
        while cells.len() + 1 < limit {
            rest = rest.trim_start_matches([' ', '\t']);
            if rest.is_empty() {
                return cells;
            }
            let end = rest.find([' ', '\t']).unwrap_or(rest.len());
            cells.push(&rest[..end]);
            // The rest of a line, which a limit keeps together, keeps its white space except for one character.
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        cells.extend((!rest.is_empty()).then_some(rest));
        return cells;
    };
    let mut rest = line;
    while cells.len() + 1 < limit {
        let Some(at) = rest.find(|character| separator.contains(character)) else { break };
        cells.push(&rest[..at]);
        rest = &rest[at + rest[at..].chars().next().map_or(1, char::len_utf8)..];
    }
    cells.push(rest);
    cells
}

fn columns(count: usize, options: &Options) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = (0..count)
        .map(|source| Column {
            name: options.columns.get(source).cloned().unwrap_or_default(),
            source,
            right: false,
            hidden: false,
        })
        .collect();
    for name in &options.right {
        for at in named(name, &columns)? {
            columns[at].right = true;
        }
    }
    for name in &options.hidden {
        let unnamed = name == "-";
        let places = match unnamed {
            true => (0..count).filter(|at| columns[*at].name.is_empty()).collect(),
            false => named(name, &columns)?,
        };
        for at in places {
            columns[at].hidden = true;
        }
    }
    for name in &options.flexible {
        named(name, &columns)?;
    }
    let mut first = Vec::new();
    for name in &options.order {
        first.extend(named(name, &columns)?.into_iter().filter(|at| !first.contains(at)).collect::<Vec<_>>());
    }
    columns.sort_by_key(|column| first.iter().position(|at| *at == column.source).unwrap_or(count + column.source));
    Ok(columns)
}

/// Returns the indexes of the column with a name or number; 0 means all columns, and a number beyond the last one none.
fn named(name: &str, columns: &[Column]) -> Result<Vec<usize>, String> {
    if let Some(at) =
        columns.iter().position(|column| !column.name.is_empty() && column.name.eq_ignore_ascii_case(name))
    {
        return Ok(vec![at]);
    }
    match name.parse::<usize>() {
        Ok(0) => Ok((0..columns.len()).collect()),
        Ok(number) if !name.starts_with('+') => {
            Ok((number <= columns.len()).then_some(number - 1).into_iter().collect())
        }
        _ => Err(format!("undefined column name '{name}'")),
    }
}

fn plain(columns: &[Column], rows: &[Vec<&str>], options: &Options) -> Result<String, String> {
    let header = !options.columns.is_empty() && !options.no_header;
    let visible: Vec<&Column> = columns.iter().filter(|column| !column.hidden).collect();
    let cell = |row: &[&str], column: &Column| row.get(column.source).copied().unwrap_or_default().to_owned();
    let names: Vec<String> = visible.iter().map(|column| column.name.clone()).collect();
    let mut lines = vec![names];
    lines.extend(rows.iter().map(|row| visible.iter().map(|column| cell(row, column)).collect()));
    // The header counts for the width of a column even if it is not printed.
    let widths: Vec<usize> =
        (0..visible.len()).map(|at| lines.iter().map(|line| width(&line[at])).max().unwrap_or_default()).collect();
    let separator = options.output_separator.as_deref().unwrap_or(SEPARATOR);
    let total = widths.iter().sum::<usize>() + width(separator) * widths.len().saturating_sub(1);
    if !options.flexible.is_empty() && total > options.width {
        return Err("the table is too wide: shortening and breaking cells (-T, -W) is not implemented here".to_owned());
    }
    let mut output = String::new();
    for line in lines.iter().skip(usize::from(!header)) {
        for (at, text) in line.iter().enumerate() {
            let padding = " ".repeat(widths[at] - width(text));
            if at > 0 {
                output.push_str(separator);
            }
            let is_last = at + 1 == line.len();
            match visible[at].right {
                _ if is_last && text.is_empty() => {}
                true => output.extend([padding.as_str(), text]),
                false if is_last => output.push_str(text),
                false => output.extend([text.as_str(), &padding]),
            }
        }
        output.push('\n');
    }
    Ok(output)
}

fn json(columns: &[Column], rows: &[Vec<&str>], options: &Options) -> String {
    let objects: Vec<String> = rows
        .iter()
        .map(|row| {
            let members: Vec<String> = columns
                .iter()
                .filter(|column| !column.hidden)
                .map(|column| {
                    let value = row.get(column.source).filter(|cell| !cell.is_empty());
                    let value = value.map_or_else(|| "null".to_owned(), |cell| quoted(cell));
                    format!("         {}: {value}", quoted(&column.name.to_lowercase()))
                })
                .collect();
            format!("{{\n{}\n      }}", members.join(",\n"))
        })
        .collect();
    format!("{{\n   {}: [\n      {}\n   ]\n}}\n", quoted(&options.name.to_lowercase()), objects.join(","))
}

/// Returns a text as a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            control if control < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
