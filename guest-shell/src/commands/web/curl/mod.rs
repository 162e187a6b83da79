//! `curl`: the options that are used most, over the tool `http`.
//!
//! | module | contents |
//! | --- | --- |
//! | [`table`], [`options`] | the command line |
//! | [`glob`] | several addresses in one: `{a,b}`, `[1-9]` |
//! | [`data`], [`form`] | bodies |
//! | [`message`] | the request that options ask for, and what redirects make of it |
//! | [`codes`] | exit statuses |
//! | [`transfer`] | one address: redirects, retries, what is written |
//! | [`write_out`] | `-w` |
//! | [`command`] | the shell's command |

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
