//! The script's standard input, and how it reaches the commands that read it.
//!
//! It may be a pipe that stays open for ever, so it must not be read for a script that does not ask for it. bashkit
//! takes a script's input as a whole and in advance, so the script is looked through first ([`demand`]):
//!
//! - No command in it reads the script's own input (each has its input from a pipe, a file or a here document, or
//!   takes none): nothing is ever read.
//! - Only `read` does: each `read` reads as it runs, one record at a time ([`reader`]).
//! - A program of the host does: it asks by itself, and gets what it asks for ([`ScriptInput::part`]).
//! - Others do (`cat`, `jq` without a file, …): the input is read to its end before the script starts.
//!
//! A call of a tool that needs arguments and has neither parameters nor a pipe reads the rest of it as well.

mod demand;
mod reader;

use std::sync::{Mutex, PoisonError};

pub(crate) use demand::{Demand, calls_any, demand};
pub(crate) use reader::{READ_RUN, ReadCommand, ReadRun};

use crate::bindings::types::{Operation, StreamRead, Value};
use crate::operations::{self, Ending};

/// The world's number of the script's standard input.
const STANDARD_INPUT: u32 = 0;

/// How much one `read` asks for.
const CHUNK: u32 = 64 * 1024;

/// The script's standard input: what was read of it and not yet used.
#[derive(Default)]
pub(crate) struct ScriptInput {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    ended: bool,
    /// Whether programs may read it.
    lent: bool,
}

impl ScriptInput {
    /// Reads on. False at the end.
    async fn more(&self) -> bool {
        if self.with(|state| state.ended) {
            return false;
        }
        let read = StreamRead { stream: STANDARD_INPUT, limit: CHUNK };
        let ending = operations::begin(Operation::Read(read)).await;
        self.with(|state| state.take(ending))
    }

    /// Lets programs read it, which have no other input.
    pub(crate) fn lend(&self) {
        self.with(|state| state.lent = true);
    }

    /// The next part of it for a program; nothing at its end, or if programs may not read it.
    pub(crate) async fn part(&self) -> Vec<u8> {
        if self.with(|state| state.lent && state.bytes.is_empty()) {
            self.more().await;
        }
        self.with(|state| if state.lent { std::mem::take(&mut state.bytes) } else { Vec::new() })
    }

    /// All that is left of it.
    pub(crate) async fn rest(&self) -> Vec<u8> {
        while self.more().await {}
        self.with(|state| std::mem::take(&mut state.bytes))
    }

    fn with<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn take(&mut self, ending: Ending) -> bool {
        match ending {
            Ok(Value::Bytes(bytes)) if !bytes.is_empty() => {
                self.bytes.extend(bytes);
                true
            }
            // An input that fails has ended, as far as a shell can tell.
            _ => {
                self.ended = true;
                false
            }
        }
    }
}
