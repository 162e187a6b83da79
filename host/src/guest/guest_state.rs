//! The host as a guest sees it: the imports of its world.

use std::io;
use std::sync::Arc;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha12Rng;
use wasmtime::Result;
use wasmtime::component::HasSelf;

use super::GuestWorld;
use super::bindings::{ScriptGuest, catalog, clock, fuel, output, random, types};
use super::inline_script::ScriptRunner;
use super::instance::GuestProgress;
use super::run_usage::{GuestFuel, GuestMemory, RunUsage};
use super::step_input::StepInput;
use crate::code::MemoryAccount;
use crate::vfs::Tree;

/// Information that a guest may ask for about its tools. Answers must be quick, and the same each time within a run.
pub trait Catalog: Send + Sync {
    /// Returns the mounted tools, sorted by method.
    fn tools(&self) -> Vec<MountedTool>;
    /// Describes a method as JSON (`wit/guest.wit`, `catalog.describe`).
    fn describe(&self, method: &str) -> Option<String>;
    /// Converts command-line words to the JSON object that a method takes.
    ///
    /// # Errors
    /// One line for standard error.
    fn parse_words(&self, method: &str, words: &[String]) -> Result<String, String>;
    /// Returns the help text of a method, or of all methods with a prefix.
    fn help(&self, prefix: &str) -> Option<String>;
    /// Returns the remaining amount of every budget, as JSON. It is the only answer that changes within a run: with
    /// each call.
    fn budgets(&self) -> String;
}

/// Tool that the session has mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountedTool {
    /// Canonical method.
    pub method: String,
    /// Name in JavaScript.
    pub path: String,
    /// True if a grant could allow a call of the tool.
    pub granted: bool,
    /// True if the tool is a program.
    pub program: bool,
    /// True if any method that begins with this one can be called.
    pub open: bool,
    /// True if the tool's alias is a command of the shell.
    pub command: bool,
}

/// Output stream of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Destination of a script's output, as it is produced.
pub trait OutputSink: Send {
    /// Writes some bytes. The method must not block for long: the guest waits meanwhile.
    ///
    /// # Errors
    /// If the bytes cannot be taken. That ends the run, so that no output is lost in silence; after
    /// [`BrokenPipe`](io::ErrorKind::BrokenPipe) with status 141, as SIGPIPE ends a process.
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()>;
}

/// Output of a run, counted on its way to the sink.
pub struct Output {
    sink: Box<dyn OutputSink>,
    written: u64,
    limit: u64,
    refused: Option<OutputError>,
}

impl Output {
    /// Output that may take `limit` bytes.
    #[must_use]
    pub fn new(sink: Box<dyn OutputSink>, limit: u64) -> Self {
        Self { sink, written: 0, limit, refused: None }
    }

    /// Counts bytes that were written before the run was resumed.
    pub(super) fn resume(&mut self, written: u64) {
        self.written = written.min(self.limit);
    }

    /// Bytes written so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns why output was refused, if any was.
    #[must_use]
    pub fn refused(&self) -> Option<&OutputError> {
        self.refused.as_ref()
    }

    /// Writes what the limit leaves room for. After an error, nothing more is written.
    pub(crate) fn write(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), OutputError> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        let room = usize::try_from(self.limit - self.written).unwrap_or(usize::MAX);
        let taken = &bytes[..bytes.len().min(room)];
        let written = self.sink.write(stream, taken).map_err(|error| OutputError::from(&error));
        if written.is_ok() {
            self.written += taken.len() as u64;
        }
        let result = written.and(if taken.len() < bytes.len() { Err(OutputError::Full) } else { Ok(()) });
        self.refused = result.clone().err();
        result
    }
}

/// Reason why a guest's output was refused. As a trap, it ends the guest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The guest wrote more than its limit.
    #[error("output limit reached")]
    Full,
    /// There is no memory for what another script has yet to read.
    #[error("memory limit reached")]
    Memory,
    /// The reader of the output went away.
    #[error("nobody reads the output")]
    BrokenPipe,
    /// The output's destination failed.
    #[error("{0}")]
    Write(String),
}

impl From<&io::Error> for OutputError {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            io::ErrorKind::OutOfMemory => Self::Memory,
            _ => Self::Write(error.to_string()),
        }
    }
}

/// Most bytes that `random.bytes` returns at once, as its documentation says.
const RANDOM_BYTES: u32 = 65_536;

/// Data of a guest's store.
pub(super) struct GuestState {
    pub(super) files: Tree,
    pub(super) output: Output,
    pub(super) now: u64,
    pub(super) catalog: Arc<dyn Catalog>,
    pub(super) memory: GuestMemory,
    pub(super) fuel: GuestFuel,
    /// Runner of scripts within a step.
    pub(super) runner: Option<Box<dyn ScriptRunner>>,
    /// Standard input, read within a step.
    pub(super) input: Option<Box<dyn StepInput>>,
    random: ChaCha12Rng,
}

impl GuestState {
    pub(super) fn new(
        files: Tree,
        output: Output,
        catalog: Arc<dyn Catalog>,
        usage: &RunUsage,
        seed: [u8; 32],
        runner: Option<Box<dyn ScriptRunner>>,
        input: Option<Box<dyn StepInput>>,
    ) -> Self {
        let (memory, fuel) = (GuestMemory::new(usage), GuestFuel::new(usage));
        Self { files, output, now: 0, catalog, memory, fuel, runner, input, random: ChaCha12Rng::from_seed(seed) }
    }

    /// Returns the number of 32-bit words that were drawn of the random numbers.
    pub(super) fn random_position(&self) -> u128 {
        self.random.get_word_pos()
    }

    /// Sets what a guest had done before its run was resumed.
    pub(super) fn resume(&mut self, usage: &RunUsage, before: &GuestProgress) {
        self.fuel = GuestFuel::resumed(usage, before.fuel);
        self.random.set_word_pos(before.random);
        self.output.resume(before.output);
        if let Some(runner) = &mut self.runner {
            runner.resume(before.scripts);
        }
    }

    /// Replaces the source of random numbers.
    pub(super) fn reseed(&mut self, seed: [u8; 32]) {
        self.random = ChaCha12Rng::from_seed(seed);
    }

    /// State of an instance without a run: no files, no tools, no memory beyond the guest's own overhead.
    pub(super) fn asleep() -> Self {
        let GuestWorld { files, output, catalog, seed, .. } = GuestWorld::empty();
        Self::new(files, output, catalog, &RunUsage::new(0, &MemoryAccount::new(0)), seed, None, None)
    }
}

impl output::Host for GuestState {
    fn write(&mut self, to: output::Stream, bytes: Vec<u8>) -> Result<()> {
        let stream = match to {
            output::Stream::Stdout => Stream::Stdout,
            output::Stream::Stderr => Stream::Stderr,
        };
        Ok(self.output.write(stream, &bytes)?)
    }
}

impl clock::Host for GuestState {
    fn now(&mut self) -> u64 {
        self.now
    }
}

impl fuel::Host for GuestState {
    fn spent(&mut self, used: u64) -> u64 {
        self.fuel.spent(used)
    }
}

impl random::Host for GuestState {
    fn bytes(&mut self, count: u32) -> Vec<u8> {
        // Clamped, as documented: a guest does not decide how much memory the host takes.
        let mut bytes = vec![0; count.min(RANDOM_BYTES) as usize];
        self.random.fill_bytes(&mut bytes);
        bytes
    }
}

impl catalog::Host for GuestState {
    fn describe(&mut self, method: String) -> Option<String> {
        self.catalog.describe(&method)
    }

    fn parse_words(&mut self, method: String, words: Vec<String>) -> Result<String, String> {
        self.catalog.parse_words(&method, &words)
    }

    fn help(&mut self, prefix: String) -> Option<String> {
        self.catalog.help(&prefix)
    }

    fn budgets(&mut self) -> String {
        self.catalog.budgets()
    }
}

impl types::Host for GuestState {}

/// Creates a linker with the world of script guests.
pub(super) fn linker(engine: &wasmtime::Engine) -> Result<wasmtime::component::Linker<GuestState>> {
    let mut linker = wasmtime::component::Linker::new(engine);
    ScriptGuest::add_to_linker::<_, HasSelf<_>>(&mut linker, |state| state)?;
    Ok(linker)
}
