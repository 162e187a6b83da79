//! `tollhouse:payments`: a payment processor in test mode, whose state belongs to the session.
//!
//! The modules hold the rules and know nothing of WIT or of `wasi:keyvalue`, so they are tested natively against a
//! store in memory; `component` binds them to `wit/` and exists only in the wasm build. Each change of a charge is one
//! compare-and-swap of its record, so that concurrent calls cannot violate a rule together.

pub mod charge;
#[cfg(target_family = "wasm")]
mod component;
pub mod error;
pub mod idempotency;
pub mod list;
pub mod money;
pub mod processor;
pub mod store;
