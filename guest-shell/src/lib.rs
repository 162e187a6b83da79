//! The script guest for bash: bashkit behind the world `script-guest` of `wit/guest.wit`.
//!
//! This file holds the world's exports, and nothing else. Where things are:
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`bindings`] | the Rust side of the world, generated, and the symbols that libraries ask a host for |
//! | [`shell`] | the life of one script: start it, poll it, say where it stands |
//! | [`interpreter`] | what a script runs in, and what of it is made before any run |
//! | [`mentions`] | what a script mentions that it does not define, without running it |
//! | [`operations`] | which operations are outstanding, as futures |
//! | [`clock`] | time within a step, and fuel |
//! | [`limits`] | what bashkit may use, and how a limit reached is told |
//! | [`outcome`] | how a script's end becomes an `outcome` |
//! | [`allocator`] | free blocks by size, before the standard library's allocator |
//! | [`memory`] | `memcmp`, for all that is linked; pages that are touched before a script runs |
//! | [`commands`] | commands of our own |
//! | [`mend`] | where bashkit differs from GNU bash, mended from outside |
//! | [`commands`] | commands of our own: `jq` |
//! | [`fs`] | bashkit's file system, on the world's `files` |
//! | [`devices`] | `/dev/null` and its like |
//! | [`state`] | what a script leaves of its shell for the next one |
//! | [`stdin`] | the script's standard input, read when a command reads it |
//! | [`catalog`] | the tools as a shell knows them: words to methods |
//! | [`tool_command`] | the command `tool`, and a command for each alias |
//! | [`program_command`] | a command for each program: its streams, and its status |
//! | [`script_command`] | `node` and `js`: scripts of the other guest |
//! | [`typed`] | inputs that a person types: whether one goes on with the next line |
//! | [`time_commands`] | `sleep` and `timeout`, as operations |
//!
//! **Invariant:** no import is called before `start`: `wizer-initialize` runs when the host is built.
//!
//! **Invariant:** bashkit never waits but for an operation of [`operations`]. Its own timers spin on this target, and
//! the clock stands still within a step: every command that would use one is replaced.

// Natively, as in its tests, there are threads, and an allocator and a `memcmp` that are somebody else's.
#[cfg(target_family = "wasm")]
mod allocator;
mod bindings;
mod catalog;
mod clock;
mod commands;
mod devices;
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
