//! Execution of statements.

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection, Statement, params_from_iter};
use tollhouse_tool_files as files;

use crate::database::{Access, empty, guard, open, save, unguard};
use crate::error::{Error, Kind};
use crate::value::{MAX_RESULT, Rows, Value, quoted};

/// Query with its database and limits.
#[derive(Debug, Clone, Default)]
pub struct Question<'a> {
    /// Statement in SQL.
    pub sql: &'a str,
    /// Path of the database.
    pub path: Option<&'a str>,
    /// Additional tables, by name.
    pub tables: Vec<(String, Rows)>,
    /// Values of the statement's parameters.
    pub parameters: Vec<Value>,
    /// Largest number of rows.
    pub limit: u32,
}

/// Outcome of statements that change the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes {
    /// Number of changed rows.
    pub rows: u64,
    /// Row id of the last inserted row.
    pub last_id: i64,
}

/// Returns the rows of one statement that only reads.
///
/// # Errors
///
/// `Sql`, `Parameter`, `Forbidden`, `TooLarge`, and those of [`open`].
pub fn query(question: Question<'_>) -> Result<Rows, Error> {
    if !(1..=1_000_000).contains(&question.limit) {
        return Err(Error::new(Kind::Parameter, "the limit is 1 to 1000000"));
    }
    let mut connection = question.path.map_or_else(empty, open)?;
    connection.execute_batch("begin")?;
    for (name, rows) in &question.tables {
        fill(&connection, "temp", name, rows)?;
    }
    connection.execute_batch("commit")?;
    guard(&mut connection, Access::Read)?;
    let mut statements = Batch::new(&connection, question.sql);
    let Some(mut statement) = statements.next()? else {
        return Err(Error::new(Kind::Sql, "there is no statement"));
    };
    let rows = read(&mut statement, &question.parameters, question.limit)?;
    if statements.next()?.is_some() {
        return Err(Error::new(Kind::Sql, "there is more than one statement: `execute` takes several"));
    }
    Ok(rows)
}

fn read(statement: &mut Statement<'_>, parameters: &[Value], limit: u32) -> Result<Rows, Error> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let (mut rows, mut left) = (Vec::new(), MAX_RESULT);
    let mut found = statement.query(params_from_iter(parameters))?;
    while let Some(row) = found.next()? {
        if rows.len() >= limit as usize {
            let message =
                format!("there are more than {limit} rows: ask for less with `LIMIT`, or for more with `limit`");
            return Err(Error::new(Kind::TooLarge, message));
        }
        let values = (0..columns.len()).map(|place| Ok(Value::from(row.get_ref(place)?)));
        let values = values.collect::<Result<Vec<_>, Error>>()?;
        let size: usize = values.iter().map(Value::size).sum();
        left = left.checked_sub(size).ok_or_else(|| {
            Error::new(Kind::TooLarge, format!("the result is larger than {MAX_RESULT} bytes: select less"))
        })?;
        rows.push(values);
    }
    Ok(Rows { columns, rows })
}

/// Executes statements that change a database, either all or none, and saves it.
///
/// # Errors
///
/// `Sql`, `Constraint`, `Parameter`, `Forbidden`, `TooLarge`, and those of [`open`] and [`save`].
pub fn execute(path: &str, sql: &str, parameters: &[Value], create: bool) -> Result<Changes, Error> {
    changed(path, create, |connection| {
        guard(connection, Access::Write)?;
        let (mut changes, mut count) = (Changes::default(), 0);
        let mut statements = Batch::new(connection, sql);
        while let Some(mut statement) = statements.next()? {
            count += 1;
            if count > 1 && !parameters.is_empty() {
                return Err(Error::new(Kind::Parameter, "parameters go with one statement: there are more"));
            }
            let before = connection.total_changes();
            let mut rows = statement.query(params_from_iter(parameters))?;
            while rows.next()?.is_some() {}
            changes.rows += connection.total_changes().saturating_sub(before);
        }
        if count == 0 {
            return Err(Error::new(Kind::Sql, "there is no statement"));
        }
        changes.last_id = connection.last_insert_rowid();
        Ok(changes)
    })
}

/// Inserts rows into a table, which is created if necessary, and saves the database.
///
/// # Errors
///
/// Those of [`execute`].
pub fn insert(path: &str, name: &str, rows: &Rows, create: bool) -> Result<Changes, Error> {
    changed(path, create, |connection| {
        // Triggers of the database are restricted, too.
        guard(connection, Access::Write)?;
        fill(connection, "main", name, rows)?;
        Ok(Changes { rows: rows.rows.len() as u64, last_id: connection.last_insert_rowid() })
    })
}

fn changed(
    path: &str,
    create: bool,
    change: impl FnOnce(&mut Connection) -> Result<Changes, Error>,
) -> Result<Changes, Error> {
    files::absolute(path)?;
    let mut connection = match open(path) {
        Err(error) if error.kind == Kind::NotFound && create => empty()?,
        opened => opened?,
    };
    connection.execute_batch("begin")?;
    let changes = change(&mut connection)?;
    unguard(&mut connection)?;
    connection.execute_batch("commit")?;
    save(&mut connection, path)?;
    Ok(changes)
}

/// Inserts rows into a table, which is created if necessary. In the schema `temp`, the table must not exist yet.
fn fill(connection: &Connection, schema: &str, name: &str, rows: &Rows) -> Result<(), Error> {
    rows.check(name)?;
    let names: Vec<String> = rows.columns.iter().map(|column| quoted(column)).collect();
    let (table, names) = (format!("{schema}.{}", quoted(name)), names.join(", "));
    let make = if schema == "temp" { "create table" } else { "create table if not exists" };
    connection.execute_batch(&format!("{make} {table} ({names})"))?;
    let places = vec!["?"; rows.columns.len()].join(", ");
    let mut statement = connection.prepare(&format!("insert into {table} ({names}) values ({places})"))?;
    for row in &rows.rows {
        statement.execute(params_from_iter(row))?;
    }
    Ok(())
}

/// Table or view of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Name of the table or view.
    pub name: String,
    /// True if the relation is a view.
    pub view: bool,
    /// Columns of the relation, with their declared types.
    pub columns: Vec<(String, String)>,
    /// Statement that created the relation.
    pub sql: String,
}

/// Returns the tables and views of a database, sorted by name.
///
/// # Errors
///
/// Those of [`open`].
pub fn schema(path: &str) -> Result<Vec<Relation>, Error> {
    let mut connection = open(path)?;
    guard(&mut connection, Access::Read)?;
    let mut relations = connection.prepare(
        "select name, type = 'view', coalesce(sql, '') from sqlite_schema where type in ('table', 'view') and name not like \
         'sqlite\\_%' escape '\\' order by name",
    )?;
    let relations = relations.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut found = Vec::new();
    for relation in relations {
        let (name, view, sql): (String, bool, String) = relation?;
        let columns = match columns(&connection, &name) {
            // The columns of a view whose tables no longer exist are unknown.
            Err(error) if view && error.kind == Kind::Sql => Vec::new(),
            columns => columns?,
        };
        found.push(Relation { name, view, columns, sql });
    }
    Ok(found)
}

fn columns(connection: &Connection, relation: &str) -> Result<Vec<(String, String)>, Error> {
    let mut columns = connection.prepare("select name, type from pragma_table_info(?1)")?;
    let columns = columns.query_map([relation], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(columns.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests;
