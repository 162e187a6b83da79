//! `tollhouse:image`: dimensions, resize, thumbnail and convert, over the crate `image`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/image.wit` and exists only in the wasm build. An image is hostile: `source` judges what it says of its size before
//! a pixel is unpacked.

#[cfg(target_family = "wasm")]
mod component;
pub mod error;
pub mod size;
pub mod source;
pub mod write;
