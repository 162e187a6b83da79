//! Databases that panic where others return an error, kept from taking the process down.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::record::StoreError;

/// Asks a database; its error is read, its panic is damage.
pub(super) fn guarded<T, E>(
    path: &Path,
    read: impl FnOnce(&Path, E) -> StoreError,
    what: impl FnOnce() -> Result<T, E>,
) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(what)) {
        Ok(outcome) => outcome.map_err(|error| read(path, error)),
        Err(panic) => Err(damaged(path, &format!("the database panicked: {}", message(panic.as_ref())))),
    }
}

/// Closes a database. What that fails to do is no loss: all that was acknowledged is durable already.
pub(super) fn close<T>(database: T) {
    drop(catch_unwind(AssertUnwindSafe(|| drop(database))));
}

/// The error that names what is damaged, and what to do.
pub(super) fn damaged(path: &Path, what: &str) -> StoreError {
    StoreError::Damaged(format!(
        "`{}`: {what}; a repair keeps its files aside and saves what can be read (`tollhouse store repair`)",
        path.display()
    ))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it gave no reason")
}
