//! Tables from JSON records.

use serde_json::{Map, Value};

use crate::error::Error;
use crate::table::{Alignment, table};

/// Makes a table from the records in a JSON text, with all keys or those of `columns`.
///
/// # Errors
///
/// `NotJson`, `NotArray`, `NotObject`, `NoColumns`.
pub fn table_from_records(records: &str, columns: Option<Vec<String>>) -> Result<String, Error> {
    let records = parse(records)?;
    let columns = columns.unwrap_or_else(|| keys(&records));
    let rows: Vec<Vec<String>> =
        records.iter().map(|record| columns.iter().map(|column| cell(record.get(column))).collect()).collect();
    let alignments: Vec<Alignment> = columns.iter().map(|column| alignment(&records, column)).collect();
    table(&columns, &rows, &alignments)
}

fn parse(records: &str) -> Result<Vec<Map<String, Value>>, Error> {
    let value: Value = serde_json::from_str(records).map_err(|error| Error::NotJson(error.to_string()))?;
    let Value::Array(values) = value else { return Err(Error::NotArray) };
    let object = |(row, value)| match value {
        Value::Object(record) => Ok(record),
        _ => Err(Error::NotObject { row }),
    };
    values.into_iter().enumerate().map(object).collect()
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

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn alignment(records: &[Map<String, Value>], column: &str) -> Alignment {
    let mut values = records.iter().filter_map(|record| record.get(column)).filter(|value| !value.is_null()).peekable();
    if values.peek().is_some() && values.all(Value::is_number) { Alignment::Right } else { Alignment::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_set_to_the_right() {
        let records = r#"[{"name":"VW","mpg":26,"hp":null},{"name":"Saab","mpg":25.5,"tags":["a"]}]"#;
        assert_eq!(
            table_from_records(records, None).expect("records"),
            "| name |  mpg | hp  | tags  |\n\
             | ---- | ---: | --- | ----- |\n\
             | VW   |   26 |     |       |\n\
             | Saab | 25.5 |     | [\"a\"] |\n"
        );
    }

    #[test]
    fn columns_can_be_chosen() {
        let columns = Some(vec!["b".to_owned(), "c".to_owned()]);
        let table = table_from_records(r#"[{"a":1,"b":true}]"#, columns).expect("records");
        assert_eq!(table, "| b    | c   |\n| ---- | --- |\n| true |     |\n");
    }

    #[test]
    fn table_records_that_are_malformed_are_refused() {
        assert!(matches!(table_from_records("[", None), Err(Error::NotJson(_))));
        assert_eq!(table_from_records("{}", None), Err(Error::NotArray));
        assert_eq!(table_from_records("[{}, 1]", None), Err(Error::NotObject { row: 1 }));
        assert_eq!(table_from_records("[]", None), Err(Error::NoColumns));
    }
}
