//! `tollhouse:http`: fetches over HTTP, over `wasi:http` and the crate `url`.
//!
//! The modules hold the rules (what may be sent, where a redirect leads, what is text) and know nothing of WIT or of
//! `wasi:http`, so they are tested natively against a fake network. `component` binds them to `wit/http.wit`, `wire` to
//! `wasi:http`; both exist only in the wasm build. The tool must not decide what is allowed: the host does so at each
//! request, and replaces the placeholders of secrets.

pub mod address;
pub mod answer;
#[cfg(target_family = "wasm")]
mod component;
pub mod error;
pub mod fetch;
pub mod headers;
pub mod redirect;
pub mod request;
#[cfg(target_family = "wasm")]
mod wire;
