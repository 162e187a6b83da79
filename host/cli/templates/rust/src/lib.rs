//! Adds up orders. `orders` holds the logic and knows nothing of WIT, so `cargo test` tests it; `component` binds it to
//! `wit/`.

#[cfg(target_family = "wasm")]
mod component;
pub mod orders;
