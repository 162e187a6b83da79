//! `wget`: retrieval of single files with the tool `http`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`retrieval`] | retrieval of one address: redirects, passwords, tries |
//! | [`command`] | the command of the shell |

pub(super) mod command;
mod options;
mod retrieval;
