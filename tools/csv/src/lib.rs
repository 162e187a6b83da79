//! `tollhouse:csv`: reads CSV, with types inferred by column, and writes it, over the crate `csv`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/csv.wit` and exists only in the wasm build. Whatever the text, a function gives a result or an `Error`, and
//! never panics.

pub mod columns;
#[cfg(target_family = "wasm")]
mod component;
pub mod error;
pub mod infer;
pub mod read;
pub mod write;
