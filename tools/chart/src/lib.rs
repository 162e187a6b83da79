//! `tollhouse:chart`: line, bar and scatter charts and histograms, over the crate `plotters`.
//!
//! The modules hold the logic and know nothing of WIT, so they are tested natively; `component` binds them to
//! `wit/chart.wit` and exists only in the wasm build. `data` checks the data, and `draw` draws it: on the SVG backend
//! of plotters, or on `pixels`.

#[cfg(target_family = "wasm")]
mod component;
pub mod data;
pub mod draw;
pub mod letters;
pub mod pixels;
pub mod render;
