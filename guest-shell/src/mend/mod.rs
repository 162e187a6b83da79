//! Where bashkit differs from GNU bash 5.2 and GNU's commands, mended from outside: a module for each cause.
//!
//! Nothing here knows the world: it is bashkit's own traits only, so the same modules run natively too.
//!
//! A command that is mended looks at its words, and hands on what it has put right to bashkit's own command of that
//! name. Since its name is taken, that one is reached by a path, [`ORIGINALS`]: bashkit runs the command that a *stub* names,
//! a small file that it recognises by its first lines. The guest's file system shows these stubs ([`stub`]).

mod caller;
mod jq;
mod seq;
mod stream;
mod tee;
mod yes;

use std::path::Path;
use std::sync::Arc;

use bashkit::{BuiltinRegistry, SubCommand};

/// Where bashkit's own commands are found, under their names.
const ORIGINALS: &str = "/usr/lib/tollhouse/bashkit";

/// The commands that are mended and handed on.
const MENDED: [&str; 1] = ["jq"];

/// Variables that bash sets before a script's first command and bashkit does not ("Bash Variables" in the manual).
pub(crate) const VARIABLES: [(&str, &str); 3] =
    [("IFS", " \t\n"), ("OPTERR", "1"), ("COMP_WORDBREAKS", " \t\n\"'@><=;|&(:")];

/// What is added to its commands.
pub(crate) fn register(registry: &BuiltinRegistry) {
    registry.insert("caller", Arc::new(caller::Caller));
    registry.insert("jq", Arc::new(jq::Jq::new()));
    registry.insert_command("seq", seq::Seq);
    registry.insert("tee", Arc::new(tee::Tee));
    registry.insert_command("yes", yes::Yes);
}

/// The file that stands for a command of bashkit's own, if one is at this path.
pub(crate) fn stub(path: &Path) -> Option<Vec<u8>> {
    let name = path.strip_prefix(ORIGINALS).ok()?.to_str()?;
    MENDED.contains(&name).then(|| format!("#!/bin/sh\n# bashkit builtin: {name}\nexec {name} \"$@\"\n").into_bytes())
}

/// bashkit's own command, with these words; it reads what the mended one would have read.
fn original(name: &str, args: Vec<String>) -> SubCommand {
    SubCommand { name: format!("{ORIGINALS}/{name}"), args, stdin: None, assignments: Vec::new() }
}

/// A line of shell, run where the command stands.
fn line(text: String) -> SubCommand {
    SubCommand { name: "eval".to_owned(), args: vec![text], stdin: None, assignments: Vec::new() }
}
