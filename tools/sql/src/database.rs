//! Databases in memory: loading, saving, and the permissions of statements.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use tollhouse_tool_files as files;

use crate::error::{Error, Kind};

/// Largest database file, in bytes: it is in memory twice while it is read or written.
pub const MAX_FILE: u64 = 48 << 20;
/// Largest heap of SQLite, in bytes. A statement that exceeds it fails; at the limit of the host the whole call would
/// end.
const MAX_HEAP: u64 = 128 << 20;
/// Longest text or blob, and longest row, in bytes.
const MAX_VALUE: i32 = 16 << 20;

/// Permitted access of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    Read,
    /// Changes to tables, besides reading.
    Write,
}

/// Opens an empty database in memory.
///
/// # Errors
///
/// Those of SQLite.
pub fn empty() -> Result<Connection, Error> {
    let connection = Connection::open_in_memory()?;
    prepare(&connection)?;
    Ok(connection)
}

/// Loads the database of a file.
///
/// # Errors
///
/// `Damaged`, and those of [`files::read`].
pub fn open(path: &str) -> Result<Connection, Error> {
    let mut bytes = files::read(path, MAX_FILE)?;
    if bytes.is_empty() {
        return empty();
    }
    if !bytes.starts_with(b"SQLite format 3\0") || bytes.len() < 100 {
        return Err(Error::new(Kind::Damaged, format!("`{path}` is no database of SQLite")));
    }
    settled(path)?;
    // The file was written in WAL mode, which a database in memory does not have.
    if bytes[18] == 2 || bytes[19] == 2 {
        (bytes[18], bytes[19]) = (1, 1);
    }
    let mut connection = Connection::open_in_memory()?;
    let size = bytes.len();
    connection.deserialize_read_exact("main", bytes.as_slice(), size, false)?;
    drop(bytes);
    prepare(&connection)?;
    // This query reads the header and the schema, so it fails for a file that is not a database.
    connection.query_row("select count(*) from sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Checks that the file contains all changes, as far as the tool can see: a writer that was killed leaves some in a
/// file next to it.
fn settled(path: &str) -> Result<(), Error> {
    for beside in ["-wal", "-journal"].map(|end| format!("{path}{end}")) {
        match files::read(&beside, 0) {
            Ok(_) => {}
            Err(error) if matches!(error.kind, files::Kind::NotFound | files::Kind::Denied) => {}
            Err(error) if error.kind == files::Kind::TooLarge => {
                let message = format!("changes of `{path}` are in `{beside}`: open and close it where it was written");
                return Err(Error::new(Kind::Damaged, message));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes a database to a file.
///
/// # Errors
///
/// `TooLarge`, and those of [`files::write`].
pub fn save(connection: &mut Connection, path: &str) -> Result<(), Error> {
    let bytes = connection.serialize("main")?;
    if bytes.len() as u64 > MAX_FILE {
        let message =
            format!("the database has grown to {} bytes: at most {MAX_FILE} are kept, so nothing was", bytes.len());
        return Err(Error::new(Kind::TooLarge, message));
    }
    Ok(files::write(path, &bytes, true)?)
}

fn prepare(connection: &Connection) -> Result<(), Error> {
    // A tool has no place for temporary files.
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.query_row(&format!("pragma hard_heap_limit = {MAX_HEAP}"), [], |_| Ok(()))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
        // Expressions nest on the stack.
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 20),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    ] {
        connection.set_limit(limit, value)?;
    }
    Ok(())
}

/// Restricts the following statements.
///
/// # Errors
///
/// Those of SQLite.
pub fn guard(connection: &mut Connection, access: Access) -> Result<(), Error> {
    connection.pragma_update(None, "query_only", access == Access::Read)?;
    let judge = |context: AuthContext<'_>| {
        if allowed(&context.action) { Authorization::Allow } else { Authorization::Deny }
    };
    Ok(connection.authorizer(Some(judge))?)
}

/// Lifts the restrictions of [`guard`].
///
/// # Errors
///
/// Those of SQLite.
pub fn unguard(connection: &mut Connection) -> Result<(), Error> {
    Ok(connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?)
}

/// Pragmas that only return information.
const PRAGMAS: [&str; 8] = [
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "foreign_key_list",
    "foreign_key_check",
    "integrity_check",
];
/// Pragmas that only return a value, unless they are given one. FTS5 and R*Tree use them.
const ASKED: [&str; 2] = ["data_version", "page_size"];

fn allowed(action: &AuthAction<'_>) -> bool {
    let among = |names: &[&str], name: &str| names.contains(&name.to_ascii_lowercase().as_str());
    match action {
        AuthAction::Function { function_name } => !among(&["load_extension", "fts3_tokenizer"], function_name),
        AuthAction::Pragma { pragma_name, pragma_value } => {
            among(&PRAGMAS, pragma_name) || pragma_value.is_none() && among(&ASKED, pragma_name)
        }
        AuthAction::CreateVtable { module_name, .. } | AuthAction::DropVtable { module_name, .. } => {
            among(&["fts5", "rtree"], module_name)
        }
        AuthAction::Select
        | AuthAction::Recursive
        | AuthAction::Read { .. }
        | AuthAction::Insert { .. }
        | AuthAction::Update { .. }
        | AuthAction::Delete { .. }
        | AuthAction::CreateTable { .. }
        | AuthAction::CreateTempTable { .. }
        | AuthAction::AlterTable { .. }
        | AuthAction::DropTable { .. }
        | AuthAction::DropTempTable { .. }
        | AuthAction::CreateIndex { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::DropIndex { .. }
        | AuthAction::DropTempIndex { .. }
        | AuthAction::CreateTrigger { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::DropTrigger { .. }
        | AuthAction::DropTempTrigger { .. }
        | AuthAction::CreateView { .. }
        | AuthAction::CreateTempView { .. }
        | AuthAction::DropView { .. }
        | AuthAction::DropTempView { .. }
        | AuthAction::Analyze { .. }
        | AuthAction::Reindex { .. } => true,
        // `ATTACH`, transactions, and actions of later versions of SQLite.
        _ => false,
    }
}
