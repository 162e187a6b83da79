//! Our own commands, in addition to those of bashkit: a module for each, which follows the program of the same name.
//!
//! The work of each command is separate from the shell: the modules next to `command.rs` depend neither on bashkit nor on
//! the world, and also run natively. [`session`] connects the two, and [`effort`] counts work.
//!
//! Commands whose header says that they are derived from bashkit use `bashkit::builtins`, like bashkit's own commands;
//! [`utilities`] is their table. They are changed here instead of with a patch.

mod archive;
mod awk;
mod bc;
mod budget;
mod byte_text;
mod cal;
mod calendar;
mod cat;
mod character_locale;
mod checksum;
mod clap_answer;
mod cmp;
mod col;
mod colrm;
mod column;
mod comm;
mod coreutils_extra;
mod csplit;
mod cut;
mod date;
mod dc;
mod decimal;
mod df;
mod diff;
mod dirname;
mod dirstack;
mod du;
mod ed;
mod effort;
mod enable;
mod encodings;
mod env;
mod excerpt;
mod expand;
mod expr;
mod factor;
mod file;
mod file_status;
mod files;
mod find;
mod fmt;
mod fold;
mod getopt;
mod grep;
mod head;
mod hexdump;
mod iconv;
mod identity;
mod join;
mod jq;
mod less;
mod line_breaks;
mod logger;
mod long_double;
mod look;
mod ls;
mod mapfile;
mod mktemp;
mod nl;
mod numfmt;
mod od;
mod openssl;
mod operands;
pub(crate) mod option_parser;
mod padding;
mod paste;
mod patch;
mod pr;
mod printf;
mod records;
mod sed;
mod seq;
mod session;
#[cfg(test)]
mod shell_tests;
mod shred;
mod shuf;
mod sort;
mod split;
mod stat;
mod strings;
mod tail;
mod terminal;
#[cfg(test)]
mod testing;
mod textrev;
mod time;
pub(crate) mod timeout;
mod touch;
mod tr;
mod tree;
mod truncate;
mod uniq;
mod utilities;
mod watch;
mod wc;
pub(crate) mod web;
mod which;
mod who;
mod wrappers;
mod xargs;
mod xxd;
mod zip;

use std::sync::Arc;

use bashkit::{BashBuilder, BuiltinRegistry};

use self::date::Date;
use crate::mend;

/// Adds all commands that need no world to a shell. `user` owns the files.
pub(crate) fn add_all(builder: BashBuilder, registry: &BuiltinRegistry, user: &str) -> BashBuilder {
    add_all_with_clock(builder, registry, user, Date::new())
}

/// [`add_all`] with a specific clock.
fn add_all_with_clock(builder: BashBuilder, registry: &BuiltinRegistry, user: &str, clock: Date) -> BashBuilder {
    bashkit::builtins::set_pcre_translation(grep::translate_perl);
    mend::register(registry);
    register(registry, user);
    let mut builder = builder.builtin_registry(registry.clone());
    for (name, utility) in utilities::all(user, clock) {
        // The registry has precedence, so that the utility would be unreachable without notice.
        assert!(registry.lookup(name).is_none(), "`{name}` is in the registry and in the table of utilities");
        builder.add_utility(name, utility);
    }
    builder.set_prompt_time(|zone, format| Date::new().strftime(zone, None, format).ok());
    builder
}

/// Adds the commands that are not utilities to the registry. `user` owns the files.
fn register(registry: &BuiltinRegistry, user: &str) {
    registry.insert_command("bc", bc::command::Bc);
    registry.insert_command("column", column::command::Column);
    registry.insert_command("dc", dc::command::Dc);
    registry.insert_command("getopt", getopt::command::Getopt);
    registry.insert_command("patch", patch::command::Patch);
    registry.insert_command("seq", seq::Seq);
    registry.insert_command("stty", terminal::Stty);
    registry.insert_command("tput", terminal::Tput);
    files::register(registry, user);
    zip::register(registry);
    registry.insert("jq", Arc::new(jq::Jq));
}
