//! First step of a nested script, which is repeated if it reads input that is not complete: `cat FILE | node -e …`, where
//! the shell that writes the input cannot go on before the step has ended.
//!
//! A guest is deterministic: with the same files, at the same time, it does the same until it reads. So the step is
//! abandoned, its changes of files with it, and the script starts anew when all of its input is there. What it wrote has
//! been read perhaps; it is not written again.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::guest_process::{PendingStart, PipedOutput};
use super::run_input::{PipeInput, lock};
use crate::guest::{OutputSink, StepInput, Stream};
use crate::tool::ProgramStart;
use crate::vfs::Tree;

/// First step of a nested script.
pub(super) struct FirstStep {
    /// True while the step is executed that can be repeated.
    is_running: Arc<AtomicBool>,
    /// Bytes that the step has written to standard output and to standard error.
    written: Arc<Mutex<[Vec<u8>; 2]>>,
}

/// Script that is to be started anew.
pub(super) struct AbandonedStart {
    pub(super) first_step: FirstStep,
    pub(super) pending_start: PendingStart,
    /// Files as they were before.
    pub(super) files: Tree,
}

/// Output of a nested script. Of what it wrote in an abandoned step, nothing is written again.
struct FirstStepOutput {
    output: PipedOutput,
    is_running: Arc<AtomicBool>,
    written: Arc<Mutex<[Vec<u8>; 2]>>,
    /// Bytes that were written before.
    repeated: [Vec<u8>; 2],
}

impl FirstStep {
    pub(super) fn new() -> Self {
        Self { is_running: Arc::default(), written: Arc::default() }
    }

    /// Returns the sink of the script's output.
    pub(super) fn output(&self, streams: &ProgramStart) -> Box<dyn OutputSink> {
        let (is_running, written) = (Arc::clone(&self.is_running), Arc::clone(&self.written));
        let repeated = std::mem::take(&mut *lock(&written));
        Box::new(FirstStepOutput { output: PipedOutput::new(streams), is_running, written, repeated })
    }

    /// Returns the script's standard input, as it is read within a step.
    pub(super) fn input(&self, streams: &ProgramStart) -> Box<dyn StepInput> {
        Box::new(PipeInput { stdin: streams.stdin.clone(), is_first_step: Arc::clone(&self.is_running) })
    }

    /// Notes that the step begins.
    pub(super) fn begin(&self) {
        self.is_running.store(true, Ordering::Relaxed);
    }

    /// Notes that the step has ended.
    pub(super) fn end(&self) {
        self.is_running.store(false, Ordering::Relaxed);
    }
}

impl OutputSink for FirstStepOutput {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let which = match stream {
            Stream::Stdout => 0,
            Stream::Stderr => 1,
        };
        if self.is_running.load(Ordering::Relaxed) {
            lock(&self.written)[which].extend_from_slice(bytes);
        }
        let repeated = &mut self.repeated[which];
        let (again, new) = bytes.split_at(repeated.len().min(bytes.len()));
        if !repeated.starts_with(again) {
            return Err(io::Error::other("a script that was started anew, with its input, wrote something else"));
        }
        repeated.drain(..again.len());
        if new.is_empty() { Ok(()) } else { self.output.write(stream, new) }
    }
}
