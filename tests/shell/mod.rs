//! The shell guest: errors, limits, input, commands of the web.

mod errors;
mod limits;
mod standard_input;
mod web_commands;
