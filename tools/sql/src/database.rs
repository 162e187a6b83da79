//! A database in memory: from bytes, to bytes, and what statements may do to it.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use tollhouse_tool_files as files;

use crate::error::{Error, Kind};

/// The largest database file: it is in memory twice while it is read or written.
pub const MAX_FILE: u64 = 48 << 20;
/// Largest heap that SQLite may take, in bytes. Beyond it a statement fails; at the host's limit the call would end.
const MAX_HEAP: u64 = 128 << 20;
/// The longest text or blob, and the longest row.
const MAX_VALUE: i32 = 16 << 20;

/// Access that statements have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading of the database only.
    Read,
    /// Changes to tables, besides reading.
    Write,
}

/// Opens an empty database in memory.
///
/// # Errors
/// As SQLite tells it.
pub fn empty() -> Result<Connection, Error> {
    let connection = Connection::open_in_memory()?;
    prepare(&connection)?;
    Ok(connection)
}

/// The database of a file.
///
/// # Errors
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
    // It was written with a log beside it, of which nothing is left: in memory there is none.
    if bytes[18] == 2 || bytes[19] == 2 {
        (bytes[18], bytes[19]) = (1, 1);
    }
    let mut connection = Connection::open_in_memory()?;
    let size = bytes.len();
    connection.deserialize_read_exact("main", bytes.as_slice(), size, false)?;
    drop(bytes);
    prepare(&connection)?;
    // It reads the header and the schema: what is no database shows here.
    connection.query_row("select count(*) from sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Checks that all changes are in the file itself, as far as this tool may look: a writer that was killed leaves some
/// beside it.
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
    // No temporary files: there is no place for them.
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.query_row(&format!("pragma hard_heap_limit = {MAX_HEAP}"), [], |_| Ok(()))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
        // They nest on the stack.
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 20),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    ] {
        connection.set_limit(limit, value)?;
    }
    Ok(())
}

/// Says what the statements to come may do.
///
/// # Errors
/// As SQLite tells it.
pub fn guard(connection: &mut Connection, access: Access) -> Result<(), Error> {
    connection.pragma_update(None, "query_only", access == Access::Read)?;
    let judge = |context: AuthContext<'_>| {
        if allowed(&context.action) { Authorization::Allow } else { Authorization::Deny }
    };
    Ok(connection.authorizer(Some(judge))?)
}

/// Ends what [`guard`] began.
///
/// # Errors
/// As SQLite tells it.
pub fn unguard(connection: &mut Connection) -> Result<(), Error> {
    Ok(connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?)
}

/// Pragmas that only say something.
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
/// Pragmas that only return a value if they are given none. FTS5 and R*Tree ask for them.
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
        // `ATTACH`, transactions, and what a later SQLite may ask.
        _ => false,
    }
}
