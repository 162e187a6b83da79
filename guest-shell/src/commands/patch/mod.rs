//! `patch`, as GNU patch 2.7.6 has it, for unified, git's and normal diffs.
//!
//! | module | contents |
//! | --- | --- |
//! | [`diff`] | what a diff says |
//! | [`apply`] | where a hunk fits, and the lines that it leaves |
//! | [`command`] | the shell's command |

mod apply;
pub(super) mod command;
mod diff;
