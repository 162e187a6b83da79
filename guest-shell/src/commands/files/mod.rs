//! Commands that create, copy, move, link and remove files, as in GNU coreutils 9.1.
//!
//! | module | contents |
//! | --- | --- |
//! | [`call`] | one execution: its words, the file system, what it prints |
//! | [`words`] | options and operands of a command line |
//! | [`quote`] | names as GNU's messages have them |
//! | [`mode`] | permissions, as octal numbers and symbols |
//! | [`place`] | paths: what they name, and where they lead |
//! | [`target`] | the destination of `cp`, `mv`, `ln` and `install`, and backups of what is there |
//! | [`copy`] | copying and moving, for `cp`, `mv` and `install` |
//! | [`cp`], [`mv`], [`install`], [`ln`], [`mkdir`], [`remove`], [`chmod`], [`ownership`], [`resolve`] | the commands |
//!
//! The file system of a session has no owners, no hard links, and only the time of the last change. Modes are stored
//! but not enforced.

mod call;
mod chmod;
mod copy;
mod cp;
mod install;
mod ln;
mod mkdir;
pub(super) mod mode;
mod mv;
mod ownership;
mod place;
mod quote;
mod remove;
mod resolve;
mod target;
mod words;

use std::sync::Arc;

use bashkit::BuiltinRegistry;

pub(super) use call::reason;
use call::{FileCommand, Run};
use ownership::OwnershipCommand;
pub(super) use place::missing;
pub(super) use quote::{quote, quote_if_needed};

use super::identity::UserDatabase;

/// Names of the commands, with their functions.
const COMMANDS: [(&str, Run); 13] = [
    ("chmod", |call| Box::pin(chmod::run(call))),
    ("cp", |call| Box::pin(cp::run(call))),
    ("install", |call| Box::pin(install::run(call))),
    ("link", |call| Box::pin(ln::link(call))),
    ("ln", |call| Box::pin(ln::run(call))),
    ("mkdir", |call| Box::pin(mkdir::run(call))),
    ("mv", |call| Box::pin(mv::run(call))),
    ("pathchk", |call| Box::pin(resolve::pathchk(call))),
    ("readlink", |call| Box::pin(resolve::readlink(call))),
    ("realpath", |call| Box::pin(resolve::realpath(call))),
    ("rm", |call| Box::pin(remove::rm(call))),
    ("rmdir", |call| Box::pin(remove::rmdir(call))),
    ("unlink", |call| Box::pin(remove::unlink(call))),
];

/// Adds the commands to the registry. `user` owns the files.
pub(super) fn register(registry: &BuiltinRegistry, user: &str) {
    for (name, run) in COMMANDS {
        registry.insert(name, Arc::new(FileCommand { name, run }));
    }
    for name in ["chgrp", "chown"] {
        registry.insert(name, Arc::new(OwnershipCommand { name, users: UserDatabase::new(user) }));
    }
}
