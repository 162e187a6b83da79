//! Standard input that a guest reads within a step: `input` of `wit/guest.wit`. The session gives it.

use super::bindings::{input, types};
use super::guest_state::GuestState;
use crate::code::Stopped;
use crate::error::Failure;

/// Standard input of a guest.
pub(crate) trait StepInput: Send {
    /// Reads at most `limit` bytes, and waits for them on this thread; none at the end of the input.
    ///
    /// # Errors
    /// The reason why there are no bytes.
    fn read(&mut self, limit: u32) -> Result<Vec<u8>, InputError>;
}

/// Reason why a guest gets no bytes of its standard input.
#[derive(Debug)]
pub(crate) enum InputError {
    /// An error for the script.
    Refused(Failure),
    /// The guest must stop.
    Stopped(Stopped),
    /// The script is to be started anew once all of its input is there.
    Incomplete,
}

/// Error of a guest whose script is to be started anew once all of its input is there.
#[derive(Debug, thiserror::Error)]
#[error("the input of the script is not complete")]
pub(super) struct IncompleteInput;

impl input::Host for GuestState {
    fn read(&mut self, limit: u32) -> wasmtime::Result<Result<Vec<u8>, types::Failure>> {
        let Some(input) = &mut self.input else { return Ok(Err(Failure::host("there is no standard input").into())) };
        match input.read(limit) {
            Ok(bytes) => Ok(Ok(bytes)),
            Err(InputError::Refused(failure)) => Ok(Err(failure.into())),
            Err(InputError::Stopped(stopped)) => Err(stopped.into()),
            Err(InputError::Incomplete) => Err(IncompleteInput.into()),
        }
    }
}
