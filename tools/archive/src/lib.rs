//! `tollhouse:archive`: zip, tar, tar.gz and gzip, over the crates `zip`, `tar` and `flate2`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/archive.wit` and exists only in the wasm build. An archive is hostile: names are checked in `name`, what comes out
//! of it is counted in `read`, and `extract` goes through all of it before it writes.

#[cfg(target_family = "wasm")]
mod component;
pub mod create;
pub mod error;
pub mod extract;
pub mod name;
pub mod read;
