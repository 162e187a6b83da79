//! Commands of our own, beside those of bashkit: a module for each, compared with the program whose name it has.
//!
//! Each keeps its work apart from the shell: the modules beside `command.rs` know neither bashkit nor the world, and run
//! natively as they are. [`session`] brings the two together, [`effort`] counts work.

mod bc;
mod calendar;
mod column;
mod dc;
mod decimal;
mod effort;
mod files;
mod getopt;
mod jq;
mod patch;
mod session;
mod terminal;
pub(crate) mod web;
mod zip;

use std::sync::Arc;

use bashkit::BuiltinRegistry;

/// Adds the commands.
pub(crate) fn register(registry: &BuiltinRegistry) {
    registry.insert_command("bc", bc::command::Bc);
    registry.insert_command("column", column::command::Column);
    registry.insert_command("dc", dc::command::Dc);
    registry.insert_command("getopt", getopt::command::Getopt);
    registry.insert_command("patch", patch::command::Patch);
    registry.insert_command("stty", terminal::Stty);
    registry.insert_command("tput", terminal::Tput);
    files::register(registry);
    zip::register(registry);
    registry.insert("jq", Arc::new(jq::Jq));
}
