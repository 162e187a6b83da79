//! `tollhouse:html`: reads HTML, over the crates `scraper` (html5ever and Servo's selectors) and `url`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/html.wit` and exists only in the wasm build. Documents are hostile input: trees may be as deep as a document is
//! long, and are walked without recursion, and the size of results is limited.

#[cfg(target_family = "wasm")]
mod component;
pub mod document;
pub mod links;
pub mod metadata;
pub mod tables;
pub mod text;
