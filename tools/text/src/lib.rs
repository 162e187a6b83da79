//! `tollhouse:text`: differences, similarity, counts and layout of text, over the crates `similar`, `strsim`,
//! `unicode-segmentation` and `textwrap`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/text.wit` and exists only in the wasm build. For any text, a function returns a result or an `Error`, and never
//! panics.

#[cfg(target_family = "wasm")]
mod component;
pub mod count;
pub mod diff;
pub mod error;
pub mod rank;
pub mod tokens;
pub mod wrap;
