//! How the calls of a session's scripts are answered: by tools, by tools and recorded, or from a recording.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;

use super::replay::UnusedCalls;
use super::{CallSource, Recorder};
use crate::code::{MemoryAccount, MemoryCharge};
use crate::error::Failure;
use crate::guest::Value;
use crate::session::host::HostError;
use crate::vfs::Edit;

/// Call that the gate has admitted.
#[derive(Clone, Copy)]
pub(in crate::session) struct AdmittedCall<'a> {
    pub(in crate::session) run: u64,
    pub(in crate::session) seq: u64,
    pub(in crate::session) method: &'a str,
    pub(in crate::session) arguments: &'a Json,
    /// Account that the values of a recording are charged to.
    pub(in crate::session) memory: &'a MemoryAccount,
}

/// Where the answer of a call comes from.
pub(in crate::session) enum NextAnswer {
    /// The tool is called.
    OfTool,
    /// The recording has it.
    Recorded(Box<RecordedResult>),
    /// The recording has the call, and no answer.
    Never,
    /// The call ends the run: the recording does not have it, or takes no more.
    Ends(Failure),
}

/// Answer from a recording.
pub(in crate::session) struct RecordedResult {
    /// Position among the answers of the session.
    pub(in crate::session) order: u64,
    pub(in crate::session) result: Result<Value, Failure>,
    /// Changes of files.
    pub(in crate::session) edits: Vec<Edit>,
    /// Memory that both take, until they are delivered.
    pub(in crate::session) charge: MemoryCharge,
}

/// Recording of a session's calls in progress, or the recording that answers them.
#[derive(Default)]
pub(in crate::session) struct SessionCalls {
    mode: ActiveSource,
    /// Nanoseconds that the session's clock is ahead of the system's, wrapping around.
    pub(in crate::session) ahead: u64,
}

#[derive(Default)]
enum ActiveSource {
    #[default]
    None,
    Recording(Recorder),
    Replaying(Mutex<UnusedCalls>),
}

impl SessionCalls {
    /// Creates the calls of a session that begins at this time.
    ///
    /// # Errors
    /// If another session has the recorder.
    pub(in crate::session) fn of(source: CallSource, now: u64) -> Result<Self, HostError> {
        Ok(match source {
            // A dry run is answered where tools are called.
            CallSource::Tools | CallSource::DryRun(_) => Self::default(),
            CallSource::Recorded(recorder) => {
                recorder.take(now)?;
                Self { mode: ActiveSource::Recording(recorder), ahead: 0 }
            }
            CallSource::Replayed(recording) => {
                let ahead = recording.header.started.wrapping_sub(now);
                Self { mode: ActiveSource::Replaying(Mutex::new(UnusedCalls::of(recording))), ahead }
            }
        })
    }

    /// Returns true if calls are neither recorded nor answered.
    pub(in crate::session) fn are_plain(&self) -> bool {
        matches!(self.mode, ActiveSource::None)
    }

    /// Returns true if calls are answered, and no tool is called.
    pub(in crate::session) fn is_replayed(&self) -> bool {
        matches!(self.mode, ActiveSource::Replaying(_))
    }

    /// Records a call that is about to be made, or answers it.
    pub(in crate::session) fn next(&self, call: AdmittedCall<'_>) -> NextAnswer {
        match &self.mode {
            ActiveSource::None => {}
            ActiveSource::Recording(recorder) => {
                if let Err(failure) = recorder.add(call) {
                    return NextAnswer::Ends(failure);
                }
            }
            ActiveSource::Replaying(calls) => return lock(calls).take(call),
        }
        NextAnswer::OfTool
    }

    /// Records the result of a call of a run.
    ///
    /// # Errors
    /// If the recording would be too long, or a changed file cannot be read: the run ends.
    pub(in crate::session) fn record(
        &self,
        call: (u64, u64),
        result: &Result<Value, Failure>,
        edits: &[Edit],
    ) -> Result<(), Failure> {
        match &self.mode {
            ActiveSource::Recording(recorder) => recorder.answer(call, result, edits),
            _ => Ok(()),
        }
    }

    /// Returns the failure of a run that has ended, if it did not make all its recorded calls.
    pub(in crate::session) fn missing(&self, run: u64) -> Option<Failure> {
        match &self.mode {
            ActiveSource::Replaying(calls) => lock(calls).missing(run),
            _ => None,
        }
    }
}

/// Locks the calls. Every change is complete, so a poisoned lock is still good.
fn lock(calls: &Mutex<UnusedCalls>) -> MutexGuard<'_, UnusedCalls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}
