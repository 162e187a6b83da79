//! Replacements for commands of bashkit that differ from GNU bash 5.2 or from GNU's commands, with a module for each
//! cause.
//!
//! Nothing here depends on the world, only on traits of bashkit, so the same modules also run natively.

mod caller;
pub(crate) mod stream;
mod tee;
mod yes;

use std::sync::Arc;

use bashkit::{BuiltinRegistry, SubCommand};

/// Variables that bash sets before the first command of a script, and bashkit does not ("Bash Variables" in the
/// manual).
pub(crate) const VARIABLES: [(&str, &str); 3] =
    [("IFS", " \t\n"), ("OPTERR", "1"), ("COMP_WORDBREAKS", " \t\n\"'@><=;|&(:")];

/// Adds the replaced commands to the registry.
pub(crate) fn register(registry: &BuiltinRegistry) {
    registry.insert("caller", Arc::new(caller::Caller));
    registry.insert("tee", Arc::new(tee::Tee));
    registry.insert_command("yes", yes::Yes);
}

/// A line of shell, run where the command stands.
fn line(text: String) -> SubCommand {
    SubCommand { name: "eval".to_owned(), args: vec![text], stdin: None, assignments: Vec::new() }
}
