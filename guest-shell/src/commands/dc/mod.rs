//! `dc`: GNU's desk calculator, version 1.4.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | the words of the command line |
//! | [`source`] | text that is read byte by byte and may still be arriving |
//! | [`reader`] | commands in a text |
//! | [`machine`] | execution of commands |
//! | [`arithmetic`] | the commands that compute |
//! | [`registers`] | registers with their stacks and arrays |
//! | [`command`] | the shell's command |

mod arithmetic;
pub(super) mod command;
pub(super) mod machine;
pub(super) mod options;
mod reader;
mod registers;
mod source;
