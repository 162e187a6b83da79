//! Commands of our own, beside those of bashkit: a module for each, compared with the program whose name it has.
//!
//! Each keeps its work apart from the shell: the modules beside `command.rs` know neither bashkit nor the world, and run
//! natively as they are. [`session`] brings the two together, [`effort`] counts work.

mod bc;
mod column;
mod dc;
mod decimal;
mod effort;
mod files;
mod getopt;
mod jq;
mod session;

use std::sync::Arc;

use bashkit::BuiltinRegistry;

/// Adds the commands.
pub(crate) fn register(registry: &BuiltinRegistry) {
    registry.insert_command("bc", bc::command::Bc);
    registry.insert_command("column", column::command::Column);
    registry.insert_command("dc", dc::command::Dc);
    registry.insert_command("getopt", getopt::command::Getopt);
    files::register(registry);
    registry.insert("jq", Arc::new(jq::Jq));
}
