//! Binding of the logic to WIT: converts arguments and results. This module holds no rules.

use bindings::exports::tollhouse::sql::sql as wit;

use crate::error::{Error, Kind};
use crate::statements::{Changes, Question, execute, insert, query, schema};
use crate::value::{Rows, Value};

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

type Tables = Option<Vec<wit::Table>>;
type Values = Option<Vec<wit::Value>>;

impl wit::Guest for Tool {
    fn query(
        sql: String,
        path: Option<String>,
        tables: Tables,
        parameters: Values,
        limit: Option<u32>,
    ) -> Result<wit::Answer, wit::Error> {
        let Rows { columns, rows } = asked(&sql, path, tables, parameters, limit)?;
        Ok(wit::Answer {
            columns,
            rows: rows.into_iter().map(|row| row.into_iter().map(Into::into).collect()).collect(),
        })
    }

    fn records(
        sql: String,
        path: Option<String>,
        tables: Tables,
        parameters: Values,
        limit: Option<u32>,
    ) -> Result<String, wit::Error> {
        Ok(asked(&sql, path, tables, parameters, limit)?.records()?)
    }

    fn execute(path: String, sql: String, given: Values, create: Option<bool>) -> Result<wit::Changes, wit::Error> {
        Ok(execute(&path, &sql, &values(given.unwrap_or_default()), create.unwrap_or(true))?.into())
    }

    fn insert(path: String, table: wit::Table, create: Option<bool>) -> Result<wit::Changes, wit::Error> {
        let (name, rows) = given(table);
        Ok(insert(&path, &name, &rows, create.unwrap_or(true))?.into())
    }

    fn schema(path: String) -> Result<Vec<wit::Relation>, wit::Error> {
        let relation = |one: crate::statements::Relation| wit::Relation {
            name: one.name,
            view: one.view,
            columns: one.columns.into_iter().map(|(name, kind)| wit::Column { name, kind }).collect(),
            sql: one.sql,
        };
        Ok(schema(&path)?.into_iter().map(relation).collect())
    }
}

fn asked(
    sql: &str,
    path: Option<String>,
    tables: Tables,
    parameters: Values,
    limit: Option<u32>,
) -> Result<Rows, Error> {
    query(Question {
        sql,
        path: path.as_deref(),
        tables: tables.unwrap_or_default().into_iter().map(given).collect(),
        parameters: values(parameters.unwrap_or_default()),
        limit: limit.unwrap_or(10_000),
    })
}

fn given(table: wit::Table) -> (String, Rows) {
    (table.name, Rows { columns: table.columns, rows: table.rows.into_iter().map(values).collect() })
}

fn values(given: Vec<wit::Value>) -> Vec<Value> {
    given.into_iter().map(Into::into).collect()
}

impl From<wit::Value> for Value {
    fn from(value: wit::Value) -> Self {
        match value {
            wit::Value::Null => Self::Null,
            wit::Value::Integer(value) => Self::Integer(value),
            wit::Value::Real(value) => Self::Real(value),
            wit::Value::Text(value) => Self::Text(value),
            wit::Value::Blob(value) => Self::Blob(value),
        }
    }
}

impl From<Value> for wit::Value {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(value) => Self::Integer(value),
            Value::Real(value) => Self::Real(value),
            Value::Text(value) => Self::Text(value),
            Value::Blob(value) => Self::Blob(value),
        }
    }
}

impl From<Changes> for wit::Changes {
    fn from(Changes { rows, last_id }: Changes) -> Self {
        Self { rows, last_id }
    }
}

impl From<Error> for wit::Error {
    fn from(Error { kind, message }: Error) -> Self {
        let kind = match kind {
            Kind::Sql => wit::ErrorKind::Sql,
            Kind::Constraint => wit::ErrorKind::Constraint,
            Kind::Forbidden => wit::ErrorKind::Forbidden,
            Kind::Parameter => wit::ErrorKind::Parameter,
            Kind::Damaged => wit::ErrorKind::Damaged,
            Kind::TooLarge => wit::ErrorKind::TooLarge,
            Kind::Denied => wit::ErrorKind::Denied,
            Kind::NotFound => wit::ErrorKind::NotFound,
            Kind::File => wit::ErrorKind::File,
        };
        Self { kind, message }
    }
}
