//! `tollhouse:stats`: statistics of lists of numbers, over the crate `statrs`.
//!
//! The modules hold the statistics and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/stats.wit` and exists only in the wasm build. For any input, a function returns finite numbers or an `Error`,
//! and never panics.

#[cfg(target_family = "wasm")]
mod component;
pub mod histogram;
pub mod pairs;
pub mod sample;
pub mod summary;
