//! `tollhouse:sql`: SQLite over files of the session and over passed tables, over the crate `rusqlite`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/sql.wit` and exists only in the wasm build. SQLite itself never opens a file: this crate reads and writes
//! databases as bytes. Statements are hostile input: `database` restricts them.

#[cfg(target_family = "wasm")]
mod component;
pub mod database;
pub mod error;
pub mod statements;
pub mod value;
