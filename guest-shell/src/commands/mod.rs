//! Commands of our own, beside those of bashkit: a module for each, compared with the program whose name it has.
//!
//! Each keeps its work apart from the shell: the modules beside `command.rs` know neither bashkit nor the world, and run
//! natively as they are. [`session`] brings the two together, [`effort`] counts work.
//!
//! Commands whose head says that they are derived from bashkit are written as its own are, against `bashkit::builtins`;
//! [`utilities`] is their table. They are changed here and not by a patch.

mod archive;
mod awk;
mod base64;
mod bc;
mod byte_text;
mod calendar;
mod checksum;
mod cmp;
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
mod du;
mod effort;
mod excerpt;
mod expand;
mod expr;
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
mod jq;
mod line_breaks;
mod long_double;
mod look;
mod ls;
mod nl;
mod numfmt;
mod od;
mod openssl;
mod operands;
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
mod touch;
mod tr;
mod tree;
mod truncate;
mod uniq;
mod utilities;
mod wc;
pub(crate) mod web;
mod wrappers;
mod xxd;
mod zip;

use std::sync::Arc;

use bashkit::{BashBuilder, BuiltinRegistry};

use self::date::Date;
use crate::mend;

/// Adds all commands that need no world to a shell; `user` is whom files belong to.
pub(crate) fn add_all(builder: BashBuilder, registry: &BuiltinRegistry, user: &str) -> BashBuilder {
    add_all_with_clock(builder, registry, user, Date::new())
}

/// [`add_all`] with a clock.
fn add_all_with_clock(builder: BashBuilder, registry: &BuiltinRegistry, user: &str, clock: Date) -> BashBuilder {
    mend::register(registry);
    register(registry);
    let mut builder = builder.builtin_registry(registry.clone());
    for (name, utility) in utilities::all(user, clock) {
        // The registry would win, and the utility be dead without a word.
        assert!(registry.lookup(name).is_none(), "`{name}` is in the registry and in the table of utilities");
        builder.add_utility(name, utility);
    }
    builder.set_prompt_time(|zone, format| Date::new().strftime(zone, None, format).ok());
    builder
}

/// Adds the commands that are no utilities to the registry.
fn register(registry: &BuiltinRegistry) {
    registry.insert_command("bc", bc::command::Bc);
    registry.insert_command("column", column::command::Column);
    registry.insert_command("dc", dc::command::Dc);
    registry.insert_command("getopt", getopt::command::Getopt);
    registry.insert_command("patch", patch::command::Patch);
    registry.insert_command("seq", seq::Seq);
    registry.insert_command("stty", terminal::Stty);
    registry.insert_command("tput", terminal::Tput);
    files::register(registry);
    zip::register(registry);
    registry.insert("jq", Arc::new(jq::Jq));
}
