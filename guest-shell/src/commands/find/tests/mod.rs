//! Tests of `find`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod command;
mod file_systems;
mod format;
mod parse;
