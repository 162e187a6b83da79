//! `tollhouse:sql`: SQLite over files of the session and over passed tables, over the crate `rusqlite`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to `wit/sql.wit`
//! and exists only in the wasm build. SQLite never opens a file: a database is bytes, read and written here. Statements are
//! hostile: `database` says what they may do.

#[cfg(target_family = "wasm")]
mod component;
pub mod database;
pub mod error;
pub mod statements;
pub mod value;
