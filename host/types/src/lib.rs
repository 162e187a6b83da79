//! Types that the other crates of Tollhouse share: failures, names of packages and releases, quantities, memory accounts,
//! rules on files and HTTP requests, keys, and the reading of untrusted texts and files.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`effect`] | effect of repeating a call |
//! | [`error`] | the one shape of failures |
//! | [`json`] | JSON that guests make, read within bounds |
//! | [`memory`] | memory accounts of sessions |
//! | [`name`] | names of packages, and their versions |
//! | [`quantity`] | sizes and durations with their units |
//! | [`remedy`] | what can be done about an error, in the words of each interface |
//! | [`permission`] | permissions that a manifest asks for: files, HTTP, secrets, buckets |
//! | [`http_rule`] | rules on HTTP requests, and the requests that they allow |
//! | [`key`] | Ed25519 keys |
//! | [`untrusted_file`] | files that others wrote, read up to a limit |
//!
//! **Invariant:** nothing here opens a connection or knows of WebAssembly.
#![deny(missing_docs)]

pub mod effect;
pub mod error;
mod excerpt;
mod hidden;
mod http_path;
pub mod http_rule;
pub mod json;
pub mod key;
pub mod memory;
pub mod name;
mod other_writers;
pub mod permission;
pub mod quantity;
pub mod remedy;
pub mod untrusted_file;

pub use excerpt::excerpt;
pub use hidden::is_hidden;
#[cfg(unix)]
pub use other_writers::other_writers_of;
pub use other_writers::{other_writers, other_writers_in};
