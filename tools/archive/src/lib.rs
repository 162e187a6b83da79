//! `tollhouse:archive`: zip, tar, tar.gz and gzip, over the crates `zip`, `tar` and `flate2`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/archive.wit` and exists only in the wasm build. Archives are hostile input: `name` checks names, `read` counts
//! the unpacked bytes, and `extract` reads a whole archive before it writes.

#[cfg(target_family = "wasm")]
mod component;
pub mod create;
pub mod error;
pub mod extract;
pub mod name;
pub mod read;
