//! `patch`, as GNU patch 2.7.6 has it, for unified, git's and normal diffs.
//!
//! | module | contents |
//! | --- | --- |
//! | [`diff`] | what a diff says |
//! | [`reader`] | diffs out of text |
//! | [`apply`] | where a hunk fits, and the lines that it leaves |
//! | [`options`] | the command line |
//! | [`command`] | the shell's command |
//! | [`subject`] | the file that a diff is about |
//! | [`work`] | one diff put into its file |
//! | [`rejects`] | hunks that did not fit, as a diff |

mod apply;
pub(super) mod command;
mod diff;
mod options;
mod reader;
mod rejects;
mod subject;
mod work;
