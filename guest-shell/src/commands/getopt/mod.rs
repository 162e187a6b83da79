//! `getopt`: util-linux's parser of options for scripts.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | the words of getopt's own command line |
//! | [`scanner`] | options among words, as the C library's `getopt_long` finds them |
//! | [`program`] | both together, and the text that a script evaluates |
//! | [`command`] | the shell's command |

pub(super) mod command;
mod options;
pub(super) mod program;
mod scanner;

pub(super) use scanner::{Found, Known, Order, Takes, scan};
