//! The JavaScript guest, beside Node.

mod costs;
mod node;
mod programs;
mod scripts_in_scripts;
mod synchronous_commands;
mod synchronous_input;
