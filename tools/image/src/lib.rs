//! `tollhouse:image`: dimensions, resize, thumbnail and convert, over the crate `image`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/image.wit` and exists only in the wasm build. Images are hostile input: `source` checks the stated size before
//! it unpacks any pixel.

#[cfg(target_family = "wasm")]
mod component;
pub mod error;
pub mod size;
pub mod source;
pub mod write;
