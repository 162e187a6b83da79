//! Typed columns of a sheet, and their conversion to records and series.

use std::iter;

use serde_json::{Number, Value};

use crate::error::{Error, excerpt};
use crate::infer::{Kind, boolean, kind, number};
use crate::read::{Options, Row, Sheet, read};

/// Value of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Cell with a number.
    Number(f64),
    /// Cell with a boolean.
    Boolean(bool),
    /// Cell with a text.
    Text(&'a str),
    /// Cell without a value.
    Empty,
}

/// Sheet whose columns have types.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    sheet: Sheet,
    kinds: Vec<Kind>,
    missing: Vec<String>,
}

impl Table {
    /// Parses a text and infers the types of its columns.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn parse(text: &str, options: &Options) -> Result<Self, Error> {
        let sheet = read(text, options)?;
        let kinds = vec![Kind::Text; sheet.names.len()];
        let mut table = Self { sheet, kinds, missing: options.missing.clone() };
        if options.infer {
            table.kinds = (0..table.kinds.len()).map(|column| table.infer(column)).collect();
        }
        Ok(table)
    }

    /// Returns the names and types of the columns, from left to right.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Kind)> {
        self.sheet.names.iter().map(String::as_str).zip(self.kinds.iter().copied())
    }

    /// Returns the rows, each as its cells.
    pub fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = Cell<'_>>> {
        self.sheet.rows.iter().map(|row| (0..self.kinds.len()).map(|column| self.cell(row, column)))
    }

    /// Returns the cells of a column, from top to bottom.
    pub fn column(&self, column: usize) -> impl Iterator<Item = Cell<'_>> {
        self.sheet.rows.iter().map(move |row| self.cell(row, column))
    }

    /// Returns the rows as JSON text: an array of objects. The text is written directly, because a tree of values would
    /// take many times the memory.
    pub fn records(&self) -> String {
        let keys: Vec<String> = self.sheet.names.iter().map(|name| Value::from(name.as_str()).to_string()).collect();
        let mut text = String::from("[");
        for (row, mark) in self.rows().zip(marks()) {
            text.push_str(mark);
            text.push('{');
            for ((key, cell), mark) in keys.iter().zip(row).zip(marks()) {
                text.push_str(mark);
                text.push_str(key);
                text.push(':');
                text.push_str(&json(cell).to_string());
            }
            text.push('}');
        }
        text.push(']');
        text
    }

    /// Returns the numbers of the named columns in the rows where none of them is empty, and the number of omitted
    /// rows.
    ///
    /// # Errors
    ///
    /// `NoColumn`, `NotNumber`.
    pub fn numbers(&self, names: &[String]) -> Result<(Vec<Vec<f64>>, u32), Error> {
        let places = names.iter().map(|name| self.place(name)).collect::<Result<Vec<_>, _>>()?;
        let mut series = vec![Vec::new(); places.len()];
        let mut skipped = 0;
        for row in &self.sheet.rows {
            let values = places.iter().map(|&place| self.number(row, place)).collect::<Result<Option<Vec<_>>, _>>()?;
            match values {
                Some(values) => series.iter_mut().zip(values).for_each(|(series, value)| series.push(value)),
                None => skipped += 1,
            }
        }
        Ok((series, skipped))
    }

    fn infer(&self, column: usize) -> Kind {
        kind(self.sheet.rows.iter().map(|row| &row.fields[column]).filter(|text| !self.is_missing(text)))
    }

    fn cell<'a>(&self, row: &'a Row, column: usize) -> Cell<'a> {
        let text = &row.fields[column];
        if self.is_missing(text) {
            return Cell::Empty;
        }
        // Inferring the type of the column has checked that each cell has it.
        match self.kinds[column] {
            Kind::Number => number(text).map_or(Cell::Empty, Cell::Number),
            Kind::Boolean => boolean(text).map_or(Cell::Empty, Cell::Boolean),
            Kind::Text => Cell::Text(text),
            Kind::Empty => Cell::Empty,
        }
    }

    fn number(&self, row: &Row, column: usize) -> Result<Option<f64>, Error> {
        let text = &row.fields[column];
        if self.is_missing(text) {
            return Ok(None);
        }
        let column = || self.sheet.names[column].clone();
        let error = || Error::NotNumber { line: row.line, column: column(), text: excerpt(text) };
        number(text).map(Some).ok_or_else(error)
    }

    fn is_missing(&self, text: &str) -> bool {
        text.is_empty() || self.missing.iter().any(|missing| missing == text)
    }

    fn place(&self, name: &str) -> Result<usize, Error> {
        let known = || self.sheet.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let place = self.sheet.names.iter().position(|known| known == name);
        place.ok_or_else(|| Error::NoColumn { name: name.to_owned(), known: known() })
    }
}

/// Returns the text before each element of a JSON list: nothing before the first one, then commas.
fn marks() -> impl Iterator<Item = &'static str> {
    iter::once("").chain(iter::repeat(","))
}

/// Converts a cell to JSON. Integers are written without a fraction, as in JavaScript.
fn json(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Number(value) => integer(value).map_or_else(|| Value::from(value), Value::Number),
        Cell::Boolean(value) => Value::Bool(value),
        Cell::Text(text) => Value::from(text),
        Cell::Empty => Value::Null,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an integer within 2^53, as just checked")]
fn integer(value: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    (value.fract() == 0.0 && value.abs() <= EXACT).then(|| Number::from(value as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARS: &str = "name,mpg,hp,diesel,note\n\"Chevy, blue\",18.0,130,false,\nVW,26,NA,TRUE,\n";

    fn table(text: &str) -> Table {
        Table::parse(text, &Options { missing: vec!["NA".into()], ..Options::default() }).expect("good CSV")
    }

    #[test]
    fn types_are_inferred_by_column() {
        let table = table(CARS);
        let kinds: Vec<_> = table.columns().map(|(_, kind)| kind).collect();
        assert_eq!(kinds, [Kind::Text, Kind::Number, Kind::Number, Kind::Boolean, Kind::Empty]);
        let second: Vec<_> = table.rows().nth(1).expect("two rows").collect();
        assert_eq!(second, [Cell::Text("VW"), Cell::Number(26.0), Cell::Empty, Cell::Boolean(true), Cell::Empty]);
        assert_eq!(table.column(1).collect::<Vec<_>>(), [Cell::Number(18.0), Cell::Number(26.0)]);
    }

    #[test]
    fn records_are_plain_objects_in_column_order() {
        assert_eq!(
            table(CARS).records(),
            r#"[{"name":"Chevy, blue","mpg":18,"hp":130,"diesel":false,"note":null},{"name":"VW","mpg":26,"hp":null,"diesel":true,"note":null}]"#
        );
        assert_eq!(table("a\n").records(), "[]");
        assert_eq!(table("a\n-0\n0.5\n1e20\n").records(), r#"[{"a":0},{"a":0.5},{"a":1e+20}]"#);
    }

    #[test]
    fn records_without_inference_are_text() {
        let table = Table::parse("a\n1\n", &Options { infer: false, ..Options::default() }).expect("good CSV");
        assert_eq!(table.records(), r#"[{"a":"1"}]"#);
    }

    #[test]
    fn number_columns_skip_incomplete_rows_together() {
        let names = ["hp".to_owned(), "mpg".to_owned()];
        assert_eq!(table(CARS).numbers(&names), Ok((vec![vec![130.0], vec![18.0]], 1)));
        assert_eq!(table(CARS).numbers(&names[1..]), Ok((vec![vec![18.0, 26.0]], 0)));
    }

    #[test]
    fn number_column_of_text_is_an_error_with_its_line() {
        let error = table(CARS).numbers(&["name".into()]).expect_err("texts");
        assert_eq!(error.to_string(), "line 2: `Chevy, blue` in column `name` is not a number");
        let error = table("a,b\n").numbers(&["c".into()]).expect_err("no column");
        assert_eq!(error.to_string(), "there is no column `c`; there are: `a`, `b`");
    }
}
