//! Writes rows and records as text.

use csv::{Terminator, Writer, WriterBuilder};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::read::delimiter;

/// Writes a header, if there are names, and rows of the same length (or of the length of the first row).
///
/// # Errors
///
/// `Option`, `RowLength`.
pub fn write<R, F>(headers: &[String], rows: R, between: char) -> Result<String, Error>
where
    R: IntoIterator<Item = Vec<F>>,
    F: AsRef<str>,
{
    let mut sink = sink(between)?;
    let mut expected = if headers.is_empty() { None } else { Some(headers.len()) };
    if expected.is_some() {
        put(&mut sink, headers.iter().map(String::as_str));
    }
    for (row, fields) in (1..).zip(rows) {
        let expected = *expected.get_or_insert(fields.len());
        if fields.len() != expected {
            return Err(Error::RowLength { row, found: fields.len(), expected });
        }
        put(&mut sink, fields.iter().map(AsRef::as_ref));
    }
    Ok(text(sink))
}

/// Writes the records in a JSON text.
///
/// # Errors
/// `Option`, `NotJson`, `NotRecords`.
pub fn write_records(records: &str, columns: Option<Vec<String>>, between: char) -> Result<String, Error> {
    let records = parse(records)?;
    let columns = columns.unwrap_or_else(|| keys(&records));
    let mut rows = Vec::with_capacity(records.len());
    for (row, record) in (1..).zip(&records) {
        rows.push(columns.iter().map(|column| field(record, row, column)).collect::<Result<Vec<_>, _>>()?);
    }
    write(&columns, rows, between)
}

fn sink(between: char) -> Result<Writer<Vec<u8>>, Error> {
    let delimiter = delimiter(between)?;
    let mut builder = WriterBuilder::new();
    Ok(builder.flexible(true).delimiter(delimiter).terminator(Terminator::Any(b'\n')).from_writer(Vec::new()))
}

fn put<'a>(sink: &mut Writer<Vec<u8>>, fields: impl ExactSizeIterator<Item = &'a str>) {
    // For a record without fields the crate would write a quoted empty field, which reads as one field.
    if fields.len() > 0 {
        sink.write_record(fields).expect("writing to memory, rows of any length");
    }
}

fn text(sink: Writer<Vec<u8>>) -> String {
    let bytes = sink.into_inner().expect("flushing to memory");
    String::from_utf8(bytes).expect("UTF-8 fields between ASCII delimiters")
}

fn parse(records: &str) -> Result<Vec<Map<String, Value>>, Error> {
    let value: Value = serde_json::from_str(records).map_err(|error| Error::NotJson {
        line: u64::try_from(error.line()).unwrap_or(u64::MAX),
        reason: error.to_string(),
    })?;
    let wrong = |reason: String, row| Error::NotRecords { reason, row, column: None };
    let Value::Array(values) = value else {
        return Err(wrong("the records are not a JSON array".into(), None));
    };
    let object = |(row, value)| match value {
        Value::Object(record) => Ok(record),
        _ => Err(wrong(format!("record {row} is not a JSON object"), Some(row))),
    };
    (1..).zip(values).map(object).collect()
}

/// Returns all keys, in the order of their first appearance.
fn keys(records: &[Map<String, Value>]) -> Vec<String> {
    let mut keys = Map::new();
    for key in records.iter().flat_map(Map::keys) {
        if !keys.contains_key(key) {
            keys.insert(key.clone(), Value::Null);
        }
    }
    keys.into_iter().map(|(key, _)| key).collect()
}

fn field(record: &Map<String, Value>, row: u64, column: &str) -> Result<String, Error> {
    match record.get(column) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => Ok(value.to_string()),
        Some(_) => Err(Error::NotRecords {
            reason: format!("`{column}` of record {row} is a list or an object: make a text of it first"),
            row: Some(row),
            column: Some(column.to_owned()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::columns::Table;
    use crate::read::Options;

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn csv_cell_is_quoted_only_where_needed() {
        let rows = vec![owned(&["a,b", "say \"hi\""]), owned(&["line\nend", ""])];
        assert_eq!(
            write(&owned(&["x", "y"]), rows, ',').expect("good rows"),
            "x,y\n\"a,b\",\"say \"\"hi\"\"\"\n\"line\nend\",\n"
        );
        assert_eq!(write(&[], vec![owned(&["1", "2;"])], ';').expect("good rows"), "1;\"2;\"\n");
        assert_eq!(write(&[], Vec::<Vec<String>>::new(), ',').expect("nothing"), "");
        assert_eq!(write(&[], vec![owned(&[])], ',').expect("an empty row"), "");
    }

    #[test]
    fn csv_rows_of_different_length_are_refused() {
        let rows = vec![owned(&["1", "2"]), owned(&["3"])];
        let expected = Error::RowLength { row: 2, found: 1, expected: 2 };
        assert_eq!(write(&[], rows.clone(), ','), Err(expected.clone()));
        assert_eq!(write(&owned(&["a", "b"]), rows, ','), Err(expected));
        assert!(matches!(write(&[], Vec::<Vec<String>>::new(), 'é'), Err(Error::Option { .. })));
    }

    #[test]
    fn records_with_missing_or_further_keys_are_written() {
        let records = r#"[{"a":1,"b":null},{"c":true,"a":"x"},{"a":0.5}]"#;
        assert_eq!(write_records(records, None, ',').expect("records"), "a,b,c\n1,,\nx,,true\n0.5,,\n");
        let some = Some(owned(&["c", "a"]));
        assert_eq!(write_records(records, some, ',').expect("records"), "c,a\n,1\ntrue,x\n,0.5\n");
        assert_eq!(write_records("[]", None, ',').expect("records"), "");
    }

    #[test]
    fn csv_records_that_are_malformed_are_refused_by_name() {
        let message = |records: &str| write_records(records, None, ',').expect_err("no records").to_string();
        assert!(message("[{]").starts_with("the records are not JSON: "));
        assert_eq!(message("{}"), "the records are not a JSON array");
        assert_eq!(message("[{}, 1]"), "record 2 is not a JSON object");
        assert_eq!(message(r#"[{"a":[]}]"#), "`a` of record 1 is a list or an object: make a text of it first");
    }

    proptest! {
        #[test]
        fn csv_written_is_read_back_equal(
            headers in proptest::collection::vec("[a-z]{1,3}", 2..4),
            seed in proptest::collection::vec("[\"',;#\\n\\r a1é]{0,6}", 0..24),
        ) {
            let rows: Vec<Vec<String>> = seed.chunks_exact(headers.len()).map(<[String]>::to_vec).collect();
            let text = write(&headers, rows.clone(), ',').expect("rows of one length");
            let options = Options { infer: false, ..Options::default() };
            let table = Table::parse(&text, &options).expect("our own CSV");
            let read: Vec<Vec<String>> = crate::read::read(&text, &options)
                .expect("our own CSV")
                .rows
                .iter()
                .map(|row| row.fields.iter().map(str::to_owned).collect())
                .collect();
            prop_assert_eq!(read, rows);
            let again = write_records(&table.records(), Some(headers.clone()), ',');
            prop_assert!(again.is_ok());
        }
    }
}
