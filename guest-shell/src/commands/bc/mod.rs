//! `bc`: GNU's calculator language, version 1.07.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | the words of the command line |
//! | [`lexer`] | tokens |
//! | [`parser`] | items: lines and definitions |
//! | [`statement`], [`definition`], [`expression`] | their parts, compiled |
//! | [`program`] | the compiled form |
//! | [`machine`] | the machine that runs it |
//! | [`variables`], [`calls`] | its variables and calls |
//! | [`mathlib`] | the functions of `-l` |
//! | [`output`] | lines of limited length |
//! | [`command`] | the shell's command |

mod calls;
pub(super) mod command;
mod definition;
mod expression;
pub(super) mod lexer;
pub(super) mod machine;
mod mathlib;
pub(super) mod options;
pub(super) mod output;
mod parser;
mod program;
mod random;
mod statement;
mod variables;
