//! The script's standard input, as bashkit's descriptor 0.
//!
//! It may be a pipe that stays open for ever, so nothing is read before a command asks for it: bashkit's descriptors
//! are lazy, and this one asks the host for a part of the input whenever a command finds it empty.

use std::time::Duration;

use bashkit::{StdinSource, async_trait};

use crate::bindings::types::{Operation, StreamRead, Value};
use crate::operations;

/// The world's number of the script's standard input.
const STANDARD_INPUT: u32 = 0;

/// Bytes asked for at once: the capacity of a pipe on Linux.
const CHUNK: u32 = 64 << 10;

/// The host's side of descriptor 0.
pub(crate) struct ScriptStdin;

#[async_trait]
impl StdinSource for ScriptStdin {
    async fn read(&self) -> Vec<u8> {
        let read = StreamRead { stream: STANDARD_INPUT, limit: CHUNK };
        match operations::begin(Operation::Read(read)).await {
            Ok(Value::Bytes(bytes)) => bytes,
            // A failing input has ended, as far as a shell can tell.
            _ => Vec::new(),
        }
    }

    async fn sleep(&self, duration: Duration) {
        // A timer that the host refuses is over.
        let _ = operations::sleep(duration).await;
    }
}
