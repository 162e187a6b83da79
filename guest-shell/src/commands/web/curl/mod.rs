//! `curl`: the most common options, with the tool `http`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`table`], [`options`] | command-line options |
//! | [`glob`] | words for several addresses: `{a,b}`, `[1-9]` |
//! | [`data`], [`form`] | bodies of requests |
//! | [`message`] | construction of the request from the options, and its changes by redirects |
//! | [`codes`] | exit statuses |
//! | [`transfer`] | transfer of one address: redirects, retries, report |
//! | [`write_out`] | output of `-w` |
//! | [`command`] | the command of the shell |

mod codes;
pub(super) mod command;
mod data;
mod form;
mod glob;
mod message;
mod options;
mod table;
mod transfer;
mod write_out;
