//! Recorder of the calls of a session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{AdmittedCall, FORMAT, Header, RecordedCall, Recording, text_of};
use crate::error::Failure;
use crate::guest::Value;
use crate::session::host::HostError;
use crate::session::journal::RecordedAnswer;
use crate::vfs::Edit;

/// Recorder of a session in memory. Clones share the recording.
#[derive(Clone)]
pub struct Recorder(Arc<Mutex<RecorderState>>);

struct RecorderState {
    recording: Recording,
    /// True once a session has the recorder.
    is_taken: bool,
    /// Bytes of the recording, about.
    bytes: u64,
    /// Number of answers.
    answers: u64,
}

impl Recorder {
    /// Creates a recorder for one session.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub fn new() -> Result<Self, HostError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| HostError::Random(error.into()))?;
        let header = Header { format: FORMAT.to_owned(), started: 0, seed: blake3::Hash::from(seed).to_string() };
        let recording = Recording { header, calls: Arc::default() };
        Ok(Self(Arc::new(Mutex::new(RecorderState { recording, is_taken: false, bytes: 0, answers: 0 }))))
    }

    /// Returns what was recorded so far: whole runs, if none is active. The calls are in the order in which the gate
    /// admitted them.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let mut recording = self.lock().recording.clone();
        Arc::make_mut(&mut recording.calls).sort_by_key(|call| (call.run, call.seq));
        recording
    }

    /// Returns the seed of the session's random numbers.
    pub(super) fn seed(&self) -> [u8; 32] {
        self.lock().recording.seed()
    }

    /// Takes the recorder for a session that begins at this time.
    ///
    /// # Errors
    /// If another session has it.
    pub(super) fn take(&self, started: u64) -> Result<(), HostError> {
        let mut state = self.lock();
        if std::mem::replace(&mut state.is_taken, true) {
            return Err(HostError::RecorderTaken);
        }
        state.recording.header.started = started;
        Ok(())
    }

    /// Adds a call that is about to be made.
    ///
    /// # Errors
    /// If the recording would be too long: the run ends.
    pub(super) fn add(&self, call: AdmittedCall<'_>) -> Result<(), Failure> {
        let AdmittedCall { run, seq, method, arguments, .. } = call;
        let (method, arguments) = (method.to_owned(), arguments.to_string());
        self.lock().add(RecordedCall { run, seq, method, arguments, answer: None, weight: 0 })
    }

    /// Adds the result of a call of a run.
    ///
    /// # Errors
    /// If the recording would be too long, or a changed file cannot be read: the run ends.
    pub(super) fn answer(
        &self,
        call: (u64, u64),
        result: &Result<Value, Failure>,
        edits: &[Edit],
    ) -> Result<(), Failure> {
        self.lock().answer(call, result, edits)
    }

    /// Locks the recording. Every change is complete, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecorderState {
    /// Returns the failure of a run whose recording is too long.
    fn check_size(&self, more: u64) -> Result<(), Failure> {
        if self.bytes.saturating_add(more) <= Recording::MAX_BYTES {
            return Ok(());
        }
        let message = format!("the recording would have more than {} bytes", Recording::MAX_BYTES);
        Err(Failure::limit(message, "record a run that makes fewer calls, or smaller ones"))
    }

    fn add(&mut self, call: RecordedCall) -> Result<(), Failure> {
        let bytes = call.bytes();
        self.check_size(bytes)?;
        self.bytes += bytes;
        Arc::make_mut(&mut self.recording.calls).push(call);
        Ok(())
    }

    fn answer(
        &mut self,
        (run, seq): (u64, u64),
        result: &Result<Value, Failure>,
        edits: &[Edit],
    ) -> Result<(), Failure> {
        let calls = self.recording.calls.iter().rposition(|call| (call.run, call.seq) == (run, seq));
        // A program is not recorded.
        let Some(index) = calls else { return Ok(()) };
        let answer = RecordedAnswer::new(result, edits)
            .map_err(|why| Failure::host(format!("the run cannot be recorded: call {seq} changed a file: {why}")))?;
        let text = text_of(&answer);
        self.check_size(text.len() as u64)?;
        self.bytes += text.len() as u64;
        self.answers += 1;
        Arc::make_mut(&mut self.recording.calls)[index].answer = Some((self.answers, text));
        Ok(())
    }
}
