//! Standard input of the script, as bashkit's descriptor 0.
//!
//! It may be a pipe that stays open for ever, so nothing is read before a command requests it: bashkit's descriptors
//! are lazy, and this one requests a part of the input from the host whenever a command finds it empty.

use std::time::Duration;

use bashkit::{StdinSource, async_trait};

use crate::bindings::types::{Operation, StreamRead, Value};
use crate::operations;

/// The world's number of the script's standard input.
const STANDARD_INPUT: u32 = 0;

/// Number of bytes per request, which is the capacity of a pipe on Linux.
const CHUNK: u32 = 64 << 10;

/// Source of descriptor 0, which reads from the host.
pub(crate) struct ScriptStdin;

#[async_trait]
impl StdinSource for ScriptStdin {
    async fn read(&self) -> Vec<u8> {
        let read = StreamRead { stream: STANDARD_INPUT, limit: CHUNK };
        match operations::begin(Operation::Read(read)).await {
            Ok(Value::Bytes(bytes)) => bytes,
            // For a shell, an input that fails has ended.
            _ => Vec::new(),
        }
    }

    async fn sleep(&self, duration: Duration) {
        // If the host refuses the timer, the wait ends immediately.
        let _ = operations::sleep(duration).await;
    }
}
