//! Programs that are commands of the shell.

mod added_programs;
mod commands;
