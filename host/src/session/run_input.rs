//! Standard input of scripts: operations read it between two steps, and a script that cannot wait reads it within one.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::options::Stdin;
use crate::code::{Interrupt, TICK};
use crate::error::{self, Failure};
use crate::guest::{InputError, StepInput};
use crate::tool::Pipe;

/// Most bytes of input that one read gives.
const READ_LIMIT: u32 = 1 << 20;

/// Most bytes of standard input and of programs' output that a journal holds. A run that reads more goes on, and cannot
/// be suspended: writing all of it to the store would make it slow.
pub(super) const MAX_JOURNALED: usize = 8 << 20;

/// Standard input of a run, at its position.
pub(super) type SharedStdin = Arc<Mutex<StdinSource>>;

/// Source of a run's standard input.
pub(super) struct StdinSource {
    reader: Box<dyn Read + Send>,
    /// True if its end was read: a terminal would give more behind it.
    ended: bool,
}

impl StdinSource {
    /// Reads at most this many bytes, and waits for them; none at the end.
    pub(super) fn read(&mut self, limit: u32) -> Result<Vec<u8>, Failure> {
        if self.ended {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; limit.clamp(1, READ_LIMIT) as usize];
        loop {
            match self.reader.read(&mut bytes) {
                Ok(count) => {
                    bytes.truncate(count);
                    self.ended = bytes.is_empty();
                    return Ok(bytes);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::host(format!("cannot read standard input: {error}"))),
            }
        }
    }
}

/// Locks a source. No change can be seen half done, so a poisoned lock is still good.
pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the error of a read within a step whose bytes only come between two steps.
fn unavailable(why: &str) -> InputError {
    let message = format!("standard input cannot be read at once here, since {why}");
    let hint = "read it with `await stdin.text()`, or `for await (const chunk of process.stdin)`";
    InputError::Refused(Failure::new(error::ErrorKind::Deadlock, "Error", message).with_hint(hint))
}

/// Standard input of a run's own script. Clones share it.
#[derive(Clone)]
pub(super) struct RunInput {
    /// Source; `None` if the input is empty.
    source: Option<SharedStdin>,
    /// True if the bytes are in memory.
    is_at_hand: bool,
    /// True if whoever drives the run gives the input.
    is_driven: bool,
    reads: Arc<Mutex<StepReads>>,
    interrupt: Interrupt,
}

/// Reads within steps, for the journal.
#[derive(Default)]
pub(super) struct StepReads {
    /// Bytes of the journal that a replay gives again, in order.
    pub(super) replayed: VecDeque<Bytes>,
    /// What is read behind those, if the run had read input before it was resumed.
    pub(super) behind: Option<Result<Vec<u8>, Failure>>,
    /// True if reads are to be journaled.
    pub(super) is_journaled: bool,
    /// Reads that are in no journal yet.
    pub(super) new: NewReads,
}

/// Reads within a step that are in no journal yet.
#[derive(Default)]
pub(super) struct NewReads {
    /// Bytes of each read, unless they are too many for a journal.
    pub(super) parts: Vec<Bytes>,
    /// Number of bytes of all reads.
    pub(super) bytes: usize,
}

impl NewReads {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_JOURNALED {
            self.parts.clear();
        } else {
            self.parts.push(Bytes::copy_from_slice(bytes));
        }
    }
}

impl RunInput {
    /// Creates the input of a run with this interrupt.
    pub(super) fn new(stdin: Stdin, interrupt: &Interrupt, reads: StepReads) -> Self {
        let (is_at_hand, is_driven) = (matches!(stdin, Stdin::Bytes(_)), matches!(stdin, Stdin::OfDriver));
        let reader: Option<Box<dyn Read + Send>> = match stdin {
            Stdin::Empty | Stdin::OfDriver => None,
            Stdin::Bytes(bytes) => Some(Box::new(std::io::Cursor::new(bytes))),
            Stdin::Reader(reader) => Some(reader),
        };
        let source = reader.map(|reader| Arc::new(Mutex::new(StdinSource { reader, ended: false })));
        Self { source, is_at_hand, is_driven, reads: Arc::new(Mutex::new(reads)), interrupt: interrupt.clone() }
    }

    /// Returns the source, for an operation; `None` if the input is empty.
    pub(super) fn source(&self) -> Option<&SharedStdin> {
        self.source.as_ref()
    }

    /// Takes the reads within the last step.
    pub(super) fn take_reads(&self) -> NewReads {
        std::mem::take(&mut lock(&self.reads).new)
    }

    /// Returns true if the journal has reads that the script has not made again.
    pub(super) fn is_replaying(&self) -> bool {
        !lock(&self.reads).replayed.is_empty()
    }

    /// Stops journaling of reads.
    pub(super) fn stop_journaling(&self) {
        lock(&self.reads).is_journaled = false;
    }

    /// Reads bytes that are not there before on a thread of its own, which may outlive the run: nothing can interrupt a
    /// read.
    fn wait_for(&self, source: &SharedStdin, limit: u32) -> Result<Vec<u8>, InputError> {
        if self.is_at_hand {
            return lock(source).read(limit).map_err(InputError::Refused);
        }
        let (sender, receiver) = channel();
        let source = Arc::clone(source);
        // The receiver is gone once the run has ended.
        let read = move || drop(sender.send(lock(&source).read(limit)));
        let failed = |error: String| InputError::Refused(Failure::host(format!("cannot read standard input: {error}")));
        let thread = std::thread::Builder::new().name("tollhouse-stdin".into()).spawn(read);
        thread.map_err(|error| failed(error.to_string()))?;
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(bytes) => return bytes.map_err(InputError::Refused),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(failed("its reader panicked".to_owned())),
            }
            if let Some(stopped) = self.interrupt.stopped() {
                return Err(InputError::Stopped(stopped));
            }
        }
    }
}

impl StepInput for RunInput {
    fn read(&mut self, limit: u32) -> Result<Vec<u8>, InputError> {
        {
            let mut reads = lock(&self.reads);
            if let Some(bytes) = reads.replayed.pop_front() {
                return Ok(bytes.into());
            }
            if let Some(behind) = &reads.behind {
                return behind.clone().map_err(InputError::Refused);
            }
        }
        if self.is_driven {
            return Err(unavailable("whoever drives the run gives it between two steps"));
        }
        let bytes = match &self.source {
            Some(source) => self.wait_for(source, limit)?,
            None => Vec::new(),
        };
        let mut reads = lock(&self.reads);
        if reads.is_journaled {
            reads.new.add(&bytes);
        }
        Ok(bytes)
    }
}

/// Standard input of a script that another one runs to completion within a step: bytes, or nothing if it is that of the
/// other script. Clones share it.
#[derive(Clone)]
pub(super) struct InlineInput(Arc<Mutex<Option<Bytes>>>);

impl InlineInput {
    pub(super) fn new(bytes: Option<Bytes>) -> Self {
        Self(Arc::new(Mutex::new(bytes)))
    }

    /// Takes at most this many bytes; none at the end. Returns `None` if the input is that of the other script.
    pub(super) fn take(&self, limit: u32) -> Option<Bytes> {
        let mut input = lock(&self.0);
        let left = input.as_mut()?;
        let count = left.len().min(usize::try_from(limit.max(1)).unwrap_or(usize::MAX));
        Some(left.split_to(count))
    }
}

impl StepInput for InlineInput {
    fn read(&mut self, limit: u32) -> Result<Vec<u8>, InputError> {
        let bytes = self.take(limit).map(Vec::from);
        bytes.ok_or_else(|| unavailable("it is that of the script that runs this one: give it as `input`"))
    }
}

/// Standard input of a nested script, which its parent writes between two steps of it.
pub(super) struct PipeInput {
    pub(super) stdin: Pipe,
    /// True within the first step of the script, after which it cannot be started anew.
    pub(super) is_first_step: Arc<AtomicBool>,
}

impl StepInput for PipeInput {
    fn read(&mut self, limit: u32) -> Result<Vec<u8>, InputError> {
        if self.is_first_step.load(Ordering::Relaxed) && !self.stdin.is_complete() {
            return Err(InputError::Incomplete);
        }
        match self.stdin.read_now(limit) {
            Some(bytes) => Ok(bytes.into()),
            None => {
                Err(unavailable("the script that runs this one has not written it, and this one has waited before"))
            }
        }
    }
}
