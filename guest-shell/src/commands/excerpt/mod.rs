//! Common part of `head` and `tail`: selects a part of each input by a number of lines or bytes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`count`] | numbers with a sign and a multiplier |
//! | [`options`] | options that both commands have |
//! | [`selection`] | the part of some bytes that a number selects |
//! | [`files`] | the parts of files, which are read whole |
//! | [`stream`] | the part of a pipe, of which no more is read and held than may be wanted |
//! | [`output`] | what is written, and the headers between files |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

pub(in crate::commands) mod count;
pub(in crate::commands) mod files;
pub(in crate::commands) mod options;
pub(in crate::commands) mod output;
pub(in crate::commands) mod selection;
mod stream;
#[cfg(test)]
mod tests;
