//! Splits text into rows of texts: delimiters, quotes and names, but no types.

use std::collections::BTreeSet;
use std::io::Read;

use csv::{ByteRecord, ReaderBuilder, StringRecord};

use crate::error::{Error, excerpt};

/// Options for reading CSV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Character between two fields.
    pub delimiter: char,
    /// True if the first row holds names.
    pub header: bool,
    /// Character that begins a line to skip.
    pub comment: Option<char>,
    /// True if white space around names and cells is removed.
    pub trim: bool,
    /// True if types are inferred, which concerns `columns` and not `read`.
    pub infer: bool,
    /// Texts that count as an empty cell.
    pub missing: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { delimiter: ',', header: true, comment: None, trim: false, infer: true, missing: Vec::new() }
    }
}

/// Row, and the line in which it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Line of the row, counted from 1.
    pub line: u64,
    /// Fields of the row, as many as there are columns.
    pub fields: StringRecord,
}

/// Names of the columns, and rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// Names of the columns, which are unique.
    pub names: Vec<String>,
    /// Rows below the header.
    pub rows: Vec<Row>,
}

/// Parses a whole text.
///
/// # Errors
///
/// `Option`, `NoHeader`, `Ragged`, `UnclosedQuote`.
pub fn read(text: &str, options: &Options) -> Result<Sheet, Error> {
    let delimiter = delimiter(options.delimiter)?;
    let comment = options.comment.map(|comment| comment_byte(comment, delimiter)).transpose()?;
    let mut rows = rows(text, delimiter, comment, options.trim)?;
    let expected = rows.first().map_or(0, |row| row.fields.len());
    if let Some(row) = rows.iter().find(|row| row.fields.len() != expected) {
        let start = excerpt(&row.fields.iter().collect::<Vec<_>>().join(&options.delimiter.to_string()));
        return Err(Error::Ragged { line: row.line, found: row.fields.len(), expected, start });
    }
    if !options.header {
        return Ok(Sheet { names: unique((0..expected).map(|_| "")), rows });
    }
    if rows.is_empty() {
        return Err(Error::NoHeader);
    }
    let head = rows.remove(0);
    Ok(Sheet { names: unique(head.fields.iter()), rows })
}

/// Returns the byte of a delimiter.
///
/// # Errors
///
/// `Option` if the delimiter is not ASCII, or is a quote or a line end.
pub fn delimiter(delimiter: char) -> Result<u8, Error> {
    byte("delimiter", delimiter)
}

fn comment_byte(comment: char, delimiter: u8) -> Result<u8, Error> {
    let comment = byte("comment", comment)?;
    let reason = "is the delimiter too";
    if comment == delimiter { Err(Error::Option { option: "comment", reason }) } else { Ok(comment) }
}

fn byte(option: &'static str, character: char) -> Result<u8, Error> {
    let reason = match character {
        '"' => "is the quote",
        '\n' | '\r' => "is a line end",
        _ => "is not an ASCII character",
    };
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii() && !b"\"\r\n".contains(&byte) => Ok(byte),
        _ => Err(Error::Option { option, reason }),
    }
}

/// Reads the records of a text. The `csv` crate takes the end of the text for a closing quote, so a missing quote would
/// swallow the rest of a file silently. A sentinel row is therefore appended: if it does not come out as a row, a quote
/// is open.
fn rows(text: &str, delimiter: u8, comment: Option<u8>, trim: bool) -> Result<Vec<Row>, Error> {
    let sentinel = [b'a', b'b', b'c'].into_iter().find(|&byte| byte != delimiter && Some(byte) != comment);
    let sentinel = sentinel.expect("two bytes do not take up three");
    let end = [b'\n', sentinel];
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .comment(comment)
        .from_reader(text.as_bytes().chain(end.as_slice()));
    let mut lines = Lines::new(text);
    let mut rows: Vec<Row> = Vec::new();
    for record in reader.byte_records() {
        let record = record.expect("the input is in memory and flexible, so reading cannot fail");
        let line = lines.of(&record, comment);
        rows.push(Row { line, fields: decode(record) });
    }
    match rows.pop() {
        Some(last) if last.fields.len() == 1 && last.fields[0].as_bytes() == [sentinel] => {}
        last => return Err(Error::UnclosedQuote { line: last.map_or(1, |row| row.line) }),
    }
    // The reader's own `trim` would trim the sentinel as well, and a lone `"` could pass for it.
    if trim {
        for row in &mut rows {
            row.fields.trim();
        }
    }
    Ok(rows)
}

/// Converts a record to strings. The text was UTF-8, and it is split at ASCII bytes only.
fn decode(record: ByteRecord) -> StringRecord {
    StringRecord::from_byte_record_lossy(record)
}

/// Finds the lines of records. The positions of the reader are before the blank lines and comments that it skips.
struct Lines<'a> {
    text: &'a [u8],
    offset: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), offset: 0, line: 1 }
    }

    fn of(&mut self, record: &ByteRecord, comment: Option<u8>) -> u64 {
        let position = record.position().map_or(0, csv::Position::byte);
        let position = usize::try_from(position).unwrap_or(usize::MAX).min(self.text.len());
        self.advance(position);
        while let Some(&first) = self.text.get(self.offset) {
            let rest = &self.text[self.offset..];
            let end = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
            let skipped = match first {
                b'\n' | b'\r' => 1,
                first if Some(first) == comment => end,
                _ => break,
            };
            self.advance(self.offset + skipped);
        }
        self.line
    }

    fn advance(&mut self, to: usize) {
        let Some(passed) = self.text.get(self.offset..to) else { return };
        // A list of this length is in memory, so its count fits 64 bits.
        self.line += passed.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
        self.offset = to;
    }
}

/// Makes names unique: an empty name is replaced by one with its position, and a repeated name gets a number.
fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut unique = Vec::new();
    for (index, name) in names.enumerate() {
        let base = if name.trim().is_empty() { format!("column_{}", index + 1) } else { name.to_owned() };
        let mut name = base.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        unique.push(name);
    }
    unique
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(text: &str, options: &Options) -> (Vec<String>, Vec<Vec<String>>) {
        let sheet = read(text, options).expect("good CSV");
        let rows = sheet.rows.iter().map(|row| row.fields.iter().map(str::to_owned).collect()).collect();
        (sheet.names, rows)
    }

    #[test]
    fn csv_with_quotes_line_ends_and_byte_order_mark_is_read() {
        let (names, rows) = cells("\u{feff}a,b\r\n\"x, \"\"y\"\"\",\"1\n2\"\r\n", &Options::default());
        assert_eq!(names, ["a", "b"]);
        assert_eq!(rows, [["x, \"y\"", "1\n2"]]);
    }

    #[test]
    fn csv_reader_options_are_applied() {
        let options = Options { delimiter: ';', comment: Some('#'), trim: true, header: false, ..Options::default() };
        let (names, rows) = cells("# note\n a ; b \n\n#x\n1;2", &options);
        assert_eq!(names, ["column_1", "column_2"]);
        assert_eq!(rows, [["a", "b"], ["1", "2"]]);
    }

    #[test]
    fn header_names_given_twice_are_made_unique() {
        let (names, _) = cells("a,,a,a_2,a\n", &Options::default());
        assert_eq!(names, ["a", "column_2", "a_2", "a_2_2", "a_3"]);
    }

    #[test]
    fn csv_row_of_wrong_length_is_reported_with_its_line() {
        let error = read("a,b\n\n1,2\n\"3\n3\",4\n\n\n5\n", &Options::default()).expect_err("ragged");
        assert_eq!(error, Error::Ragged { line: 8, found: 1, expected: 2, start: "5".into() });
        let options = Options { comment: Some('#'), ..Options::default() };
        let error = read("#\na,b\n# c\r\n\r\n1,2,3", &options).expect_err("ragged");
        assert!(matches!(error, Error::Ragged { line: 5, found: 3, .. }), "{error:?}");
    }

    #[test]
    fn csv_quote_left_open_is_an_error_with_its_line() {
        for (text, line) in [("\"", 1), ("a\n\"b", 2), ("a,b\n1,2\n3,\"4\n5,6\n", 3), ("a\n\"b\"\"", 2)] {
            for trim in [false, true] {
                let options = Options { trim, ..Options::default() };
                assert_eq!(read(text, &options), Err(Error::UnclosedQuote { line }), "{text:?}");
            }
        }
        // A quote inside an unquoted field has no meaning.
        assert_eq!(cells("size\n5\" pipe\n", &Options::default()).1, [["5\" pipe"]]);
    }

    #[test]
    fn csv_without_header_or_with_invalid_option_is_refused() {
        assert_eq!(read("", &Options::default()), Err(Error::NoHeader));
        assert!(cells("", &Options { header: false, ..Options::default() }).1.is_empty());
        for delimiter in ['"', '\n', 'é', '→'] {
            let options = Options { delimiter, ..Options::default() };
            assert!(matches!(read("a", &options), Err(Error::Option { option: "delimiter", .. })));
        }
        let options = Options { comment: Some(','), ..Options::default() };
        assert!(matches!(read("a", &options), Err(Error::Option { option: "comment", .. })));
        let same_as_sentinel = Options { comment: Some('a'), delimiter: 'b', ..Options::default() };
        assert_eq!(cells("xby\n1b2\na\n", &same_as_sentinel).1, [["1", "2"]]);
    }

    proptest! {
        #[test]
        fn csv_reader_with_arbitrary_text_does_not_panic(text in "[\"',;#\\n\\r a1é\u{feff}]{0,40}", trim: bool, header: bool) {
            let options = Options { trim, header, comment: Some('#'), ..Options::default() };
            let _ = read(&text, &options);
        }
    }
}
