//! Values, and rows of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::{ToSql, ToSqlOutput, Value as Sqlite, ValueRef};

use crate::error::{Error, Kind};

/// Largest result, in bytes.
pub const MAX_RESULT: usize = 32 << 20;

/// Value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Absence of a value.
    Null,
    /// Integer of 64 bits.
    Integer(i64),
    /// Floating-point number of 64 bits.
    Real(f64),
    /// Text in UTF-8.
    Text(String),
    /// Sequence of bytes.
    Blob(Vec<u8>),
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Sqlite::Null),
            Self::Integer(value) => ToSqlOutput::Owned(Sqlite::Integer(*value)),
            Self::Real(value) => ToSqlOutput::Owned(Sqlite::Real(*value)),
            Self::Text(value) => ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes())),
            Self::Blob(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
        })
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(value) => Self::Integer(value),
            ValueRef::Real(value) => Self::Real(value),
            // SQLite does not check that texts are valid UTF-8.
            ValueRef::Text(bytes) => Self::Text(String::from_utf8_lossy(bytes).into_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

impl Value {
    /// Returns the approximate size in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        16 + match self {
            Self::Null | Self::Integer(_) | Self::Real(_) => 0,
            Self::Text(text) => text.len(),
            Self::Blob(bytes) => bytes.len(),
        }
    }

    fn json(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Integer(value) => (*value).into(),
            Self::Real(value) => (*value).into(),
            Self::Text(text) => text.as_str().into(),
            Self::Blob(bytes) => STANDARD.encode(bytes).into(),
        }
    }
}

/// Rows with the names of their columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values of the rows.
    pub rows: Vec<Vec<Value>>,
}

impl Rows {
    /// Returns an array of objects as JSON text. If several columns have the same name, the last one counts.
    ///
    /// # Errors
    ///
    /// `TooLarge`: each row repeats the names of all columns.
    pub fn records(&self) -> Result<String, Error> {
        let names: usize = self.columns.iter().map(String::len).sum();
        if names.saturating_mul(self.rows.len()) > MAX_RESULT {
            let message =
                format!("the names of the columns, in each row, are larger than {MAX_RESULT} bytes: use `query`");
            return Err(Error::new(Kind::TooLarge, message));
        }
        let record = |row: &Vec<Value>| {
            let pairs = self.columns.iter().zip(row).map(|(name, value)| (name.clone(), value.json()));
            serde_json::Value::Object(pairs.collect()).to_string()
        };
        let records: Vec<String> = self.rows.iter().map(record).collect();
        Ok(format!("[{}]", records.join(",")))
    }

    /// Checks that each row has a value for each column.
    ///
    /// # Errors
    /// `Parameter`.
    pub fn check(&self, name: &str) -> Result<(), Error> {
        let columns = self.columns.len();
        if columns == 0 {
            return Err(Error::new(Kind::Parameter, format!("table `{name}` has no columns")));
        }
        match self.rows.iter().position(|row| row.len() != columns) {
            None => Ok(()),
            Some(place) => {
                let found = self.rows[place].len();
                let message =
                    format!("row {place} of table `{name}` has {found} values where there are {columns} columns");
                Err(Error::new(Kind::Parameter, message))
            }
        }
    }
}

/// Quotes an identifier for SQL.
#[must_use]
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
