//! Options of a run: input, output and kept state.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use crate::guest::{OutputSink, Stream};

/// Options of a run.
#[derive(Default)]
pub struct RunOptions {
    /// Sink that takes the output as it is produced. With `None`, the output is captured in the
    /// [`RunResult`](super::RunResult).
    pub output: Option<Box<dyn OutputSink>>,
    /// Standard input of the script.
    pub stdin: Stdin,
    /// True if the script finds the state that the previous script of its language left besides files, and leaves its
    /// own in turn: in JavaScript `globalThis.state`, and for typed input also its top-level declarations; in bash the
    /// directory, variables, functions and aliases. The state of a script that is stopped is not kept. An agent that is
    /// a component leaves none.
    pub keep_state: bool,
    /// True if a run that is resumed writes again what it had written before; otherwise only what is new. A run that starts
    /// writes everything anyway.
    pub replay_output: bool,
    /// Use of heaps, which let a run that was suspended be resumed without a replay. What the run does is the same.
    pub heap: HeapUse,
    /// Calls that the result of a run lists that is resumed from its heap.
    pub calls: CallListing,
}

/// Calls that the result of a run lists ([`RunResult::calls`](super::RunResult)). Only a run that is resumed from its heap has
/// calls that need not be listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallListing {
    /// All of them. The session's log is read from the start of the run.
    #[default]
    All,
    /// Those that had not ended when the heap was taken, and those since. Of the others the result has a
    /// summary ([`Calls::earlier`](crate::gate::Calls::earlier)), and resuming takes as long for many as for few.
    SinceHeap,
}

/// Use of the heap of a run: of the memory of its guest while it is suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeapUse {
    /// A heap is kept if the run had so many calls, timers and reads, or computed so long, that resuming it without one
    /// would take longer, and a heap that is kept is used.
    #[default]
    AfterMuchWork,
    /// A heap is kept whenever the run is suspended and can have one, and is used.
    Always,
    /// No heap is kept or used: the run is replayed from its start.
    Never,
}

/// Source of a script's standard input. It is read only when the script asks.
#[derive(Default)]
pub enum Stdin {
    /// Empty input.
    #[default]
    Empty,
    /// Input that whoever drives the run in steps gives: each [`Operation::Read`](super::Operation::Read) is answered with
    /// [`Run::resume`](super::Run::resume). A script that reads it within a step (`fs.readFileSync(0)`) gets an error.
    OfDriver,
    /// The given bytes.
    Bytes(Vec<u8>),
    /// A reader, for example the process's own standard input.
    Reader(Box<dyn Read + Send>),
}

/// Buffer of output that no sink takes.
#[derive(Clone, Default)]
pub(super) struct CapturedOutput(Arc<Mutex<(Vec<u8>, Vec<u8>)>>);

impl CapturedOutput {
    /// Takes both streams, as written so far.
    pub(super) fn take(&self) -> (Vec<u8>, Vec<u8>) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OutputSink for CapturedOutput {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match stream {
            Stream::Stdout => both.0.extend_from_slice(bytes),
            Stream::Stderr => both.1.extend_from_slice(bytes),
        }
        Ok(())
    }
}
