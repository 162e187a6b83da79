//! `wget`: single files, over the tool `http`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | the command line |
//! | [`retrieval`] | one address: redirects, a user's password, tries |
//! | [`command`] | the shell's command |

pub(super) mod command;
mod options;
mod retrieval;
