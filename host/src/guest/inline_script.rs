//! Scripts that a guest runs to completion within a step of its own: `scripts` of `wit/guest.wit`. The session runs
//! them; this module holds the request and the answer.

use std::time::Duration;

use super::Language;
use super::bindings::scripts as wit;
use super::bindings::types;
use super::guest_state::{GuestState, Output, Stream};
use crate::code::Stopped;
use crate::error::Failure;
use crate::vfs::Tree;

/// Script to run to completion.
pub(crate) struct ScriptRequest {
    pub(crate) language: Language,
    pub(crate) source: String,
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) directory: String,
    /// Standard input. With `None`, the script is stopped when it reads.
    pub(crate) input: Option<Vec<u8>>,
    pub(crate) stdout: OutputDestination,
    pub(crate) stderr: OutputDestination,
    pub(crate) timeout: Option<Duration>,
    /// Time on the clock of the guest that asks.
    pub(crate) now: u64,
}

/// Destination of a stream that the script writes.
#[derive(Clone, Copy)]
pub(crate) enum OutputDestination {
    /// Collected, up to this many bytes.
    Kept(u64),
    /// Written to a stream of the guest that asks.
    Standard(Stream),
    Dropped,
}

/// Way in which the script ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ScriptExit {
    Exited(u8),
    TimedOut,
    Overflowed,
    /// The script requested this operation, which can only be waited for between steps.
    Asked(String),
}

/// Outcome of a script that has ended.
pub(crate) struct ScriptEnd {
    pub(crate) how: ScriptExit,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) now: u64,
}

/// Runner of scripts to completion, for one guest.
pub(crate) trait ScriptRunner: Send {
    /// Runs one script, on the files of the guest, which is suspended meanwhile.
    ///
    /// # Errors
    /// If the guest itself must stop.
    fn run_to_end(
        &mut self,
        request: ScriptRequest,
        files: &mut Tree,
        output: &mut Output,
    ) -> Result<Result<ScriptEnd, Failure>, Stopped>;

    /// Returns the number of scripts that were run.
    fn scripts(&self) -> u64;

    /// Sets the number of scripts that were run before the run of the guest was resumed.
    fn resume(&mut self, scripts: u64);
}

impl wit::Host for GuestState {
    fn run_to_end(&mut self, request: wit::Request) -> wasmtime::Result<Result<wit::Ended, types::Failure>> {
        let Some(mut runner) = self.runner.take() else {
            return Ok(Err(Failure::host("no scripts are run here").into()));
        };
        let ended = runner.run_to_end(request.into(), &mut self.files, &mut self.output);
        self.runner = Some(runner);
        // A refusal of the inner script's output holds for this guest too.
        if let Some(refused) = self.output.refused() {
            return Err(refused.clone().into());
        }
        Ok(ended?.map(wit::Ended::from).map_err(types::Failure::from))
    }
}

impl From<wit::Request> for ScriptRequest {
    fn from(request: wit::Request) -> Self {
        let wit::Request { what, arguments, environment, directory, input, stdout, stderr, timeout, now } = request;
        let types::InnerScript { language, source, name } = what;
        let language = language.into();
        let (stdout, stderr) = (stdout.into(), stderr.into());
        let timeout = timeout.map(Duration::from_nanos);
        Self { language, source, name, arguments, environment, directory, input, stdout, stderr, timeout, now }
    }
}

impl From<wit::Destination> for OutputDestination {
    fn from(destination: wit::Destination) -> Self {
        match destination {
            wit::Destination::Kept(most) => Self::Kept(most),
            wit::Destination::StandardOutput => Self::Standard(Stream::Stdout),
            wit::Destination::StandardError => Self::Standard(Stream::Stderr),
            wit::Destination::Dropped => Self::Dropped,
        }
    }
}

impl From<ScriptEnd> for wit::Ended {
    fn from(ended: ScriptEnd) -> Self {
        let ScriptEnd { how, stdout, stderr, now } = ended;
        let how = match how {
            ScriptExit::Exited(status) => wit::Ending::Exited(status),
            ScriptExit::TimedOut => wit::Ending::TimedOut,
            ScriptExit::Overflowed => wit::Ending::Overflowed,
            ScriptExit::Asked(what) => wit::Ending::Asked(what),
        };
        Self { how, stdout, stderr, now }
    }
}
