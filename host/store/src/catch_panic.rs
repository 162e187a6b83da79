//! Panics of a database library, converted to errors, so that they do not take the process down.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::record::StoreError;
use tollhouse_types::remedy::Remedy;

/// Calls a database; its errors are converted by `read`, and a panic is reported as damage.
pub(super) fn catch_panics<T, E>(
    path: &Path,
    read: impl FnOnce(&Path, E) -> StoreError,
    what: impl FnOnce() -> Result<T, E>,
) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(what)) {
        Ok(outcome) => outcome.map_err(|error| read(path, error)),
        Err(panic) => Err(damaged(path, &format!("the database panicked: {}", message(panic.as_ref())))),
    }
}

/// Closes a database. Errors on closing lose nothing: everything acknowledged is durable already.
pub(super) fn close<T>(database: T) {
    drop(catch_unwind(AssertUnwindSafe(|| drop(database))));
}

/// Error that says what is damaged, and what to do about it.
pub(super) fn damaged(path: &Path, what: &str) -> StoreError {
    StoreError::Damaged(format!("`{}`: {what}; {}", path.display(), Remedy::RepairStore))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it gave no message")
}
