//! The script guest for bash: bashkit behind the world `script-guest` of `wit/guest.wit`.
//!
//! This file only contains the exports of the world. Modules:
//!
//! | module | contents |
//! | --- | --- |
//! | [`bindings`] | generated bindings of the world, and the symbols that libraries require from a host |
//! | [`shell`] | life cycle of one script: start, polls, and reports of its state |
//! | [`interpreter`] | creation of the interpreter for a script, and its preparation in the image |
//! | [`mentions`] | analysis of a script: the names that it mentions and does not define |
//! | [`operations`] | outstanding operations, as futures |
//! | [`clock`] | time within a step, and fuel |
//! | [`limits`] | limits of bashkit, and messages about exceeded limits |
//! | [`outcome`] | conversion of the end of a script to an `outcome` |
//! | [`allocator`] | allocator with free lists by size, on top of the standard library's |
//! | [`memory`] | `memcmp` for all linked code; pages that are touched before a script runs |
//! | [`commands`] | commands of our own |
//! | [`mend`] | replacements for commands of bashkit that differ from GNU bash |
//! | [`fs`] | bashkit's file system, on the world's `files` |
//! | [`devices`] | `/dev/null` and similar devices |
//! | [`state`] | state of the shell that a script leaves for the next one |
//! | [`stdin`] | standard input of the script, which is read on request |
//! | [`catalog`] | tools in the shell: mapping from words to methods |
//! | [`tool_command`] | the command `tool`, and commands for aliases |
//! | [`program_command`] | commands for mounted programs |
//! | [`script_command`] | `node` and `js`: scripts in the other guest |
//! | [`typed`] | interactive input: detection of input that continues on the next line |
//! | [`time_commands`] | `sleep`, and the alarm of `timeout`, as operations of the host |
//!
//! **Invariant:** no import is called before `start`: `wizer-initialize` runs when the host is built.
//!
//! **Invariant:** bashkit waits only for operations of [`operations`]. On this target its own timers poll the clock,
//! which does not advance within a step, so every command that would use them is replaced.

// Native builds, such as tests, have threads, and their own allocator and `memcmp`.
#[cfg(target_family = "wasm")]
mod allocator;
mod bindings;
mod catalog;
mod clock;
mod commands;
mod devices;
mod env_file;
mod fs;
mod interpreter;
mod limits;
#[cfg(target_family = "wasm")]
mod memory;
mod mend;
mod mentions;
mod operations;
mod outcome;
mod program_command;
mod script_command;
mod shell;
mod state;
mod stdin;
mod time_commands;
mod tool_command;
mod typed;

use bindings::{Completion, Guest, Mention, Script, Step};

/// Implementation of the component's exports.
struct ScriptGuest;

impl Guest for ScriptGuest {
    fn wizer_initialize() {
        shell::initialize();
    }

    fn is_open(source: String, _name: String) -> bool {
        typed::is_open(&source)
    }

    fn mentions(source: String, _name: String) -> Vec<Mention> {
        mentions::mentions(&source)
    }

    #[cfg_attr(not(target_family = "wasm"), expect(unused_variables, reason = "there is nothing to touch"))]
    fn touch(pages: Vec<u32>) {
        #[cfg(target_family = "wasm")]
        memory::touch(&pages);
    }

    fn start(script: Script) -> Step {
        shell::start(script)
    }

    fn resume(completion: Completion) -> Step {
        shell::resume(completion)
    }
}
