//! `tollhouse:markdown`: Markdown to and from HTML, tables, headings, over the crates `comrak` and `htmd`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/markdown.wit` and exists only in the wasm build. Whatever the text, a function gives a result or an `Error`,
//! and never panics.

#[cfg(target_family = "wasm")]
mod component;
pub mod document;
pub mod error;
pub mod from_html;
pub mod records;
pub mod table;
