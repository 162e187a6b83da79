//! `patch` for unified, git's and normal diffs, which follows GNU patch 2.7.6.
//!
//! | module | contents |
//! | --- | --- |
//! | [`diff`] | contents of a diff |
//! | [`reader`] | parser of diffs |
//! | [`apply`] | location of hunks in a file, and the resulting lines |
//! | [`options`] | command-line options |
//! | [`command`] | the command of the shell |
//! | [`subject`] | selection of the file for a diff |
//! | [`work`] | application of one diff to its file |
//! | [`rejects`] | rejected hunks, as a diff |

mod apply;
pub(super) mod command;
mod diff;
mod options;
mod reader;
mod rejects;
mod subject;
mod work;
