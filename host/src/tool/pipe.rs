//! Bounded streams between a script and a program. One end waits as WASI does, on the program's thread; the other end
//! never waits, and is notified.
//!
//! Input of a program is read on demand and never earlier: a program that reads nothing leaves its input to others.
//!
//! **Invariant:** neither end holds more than [`CAPACITY`] bytes that the other has not taken. The exception is a
//! script in a program's place: it is paused while there are more, and until then may write as much as its limit on
//! output and its session's memory allow.

mod program_ends;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::sync::Notify;

pub(crate) use self::program_ends::{PipeReader, PipeWriter};
use crate::code::{Interrupt, MemoryAccount, MemoryCharge, TICK};

/// Capacity of a stream in bytes: that of a pipe of Linux.
pub(crate) const CAPACITY: usize = 64 << 10;

/// Completion callback, called once when the script's end can continue.
pub(crate) type OnComplete<T> = Box<dyn FnOnce(T) + Send>;

/// Error of a write: the program at the other end is gone, or was given more than it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WriteError {
    /// The program ended, or reads no more.
    #[error("broken pipe: nobody reads it any more")]
    Broken,
    /// Earlier bytes are not taken yet, or these are too many.
    #[error("a stream holds {CAPACITY} bytes: write more when those were read")]
    Full,
    /// The session has no memory for the bytes.
    #[error("there is no memory for the input of a script that reads all of it at once")]
    NoMemory,
}

/// Stream between a script and a program. Clones share it.
#[derive(Clone)]
pub(crate) struct Pipe {
    shared: Arc<PipeInner>,
    /// Interrupt of the program.
    interrupt: Interrupt,
}

#[derive(Default)]
struct PipeInner {
    state: Mutex<PipeState>,
    changed: Notify,
}

#[derive(Default)]
struct PipeState {
    bytes: BytesMut,
    /// Memory of bytes that a script wrote, in the session's account. A program's bytes are few and not charged.
    charge: Option<MemoryCharge>,
    /// No more bytes will be written.
    ended: bool,
    /// The script's end has seen the end of the stream.
    end_read: bool,
    /// No more bytes will be read.
    gone: bool,
    /// Bytes were written after the reader was gone.
    broken: bool,
    /// The program asked for bytes, and there were none.
    wanted: bool,
    /// The script in the program's place waits until all of its input is there.
    is_collecting: bool,
    /// Pending write at the script's end, by the number of its operation.
    writer: Option<(u64, OnComplete<Result<(), WriteError>>)>,
    readers: VecDeque<PendingRead>,
    /// Bytes that were given to operations of the script, until it has them.
    in_flight: VecDeque<(u64, Bytes)>,
    /// Writes of the script that a program is given again, before the bytes that are there: each as it was.
    repeated_input: VecDeque<Bytes>,
    /// Bytes that a program writes again, and that the script has already.
    repeated_output: Bytes,
    /// A program that runs again wrote something else.
    differs: bool,
}

/// Pending read of a script.
struct PendingRead {
    operation: u64,
    limit: usize,
    told: OnComplete<Bytes>,
}

/// Notifications to scripts that a change causes, sent once the lock is free.
type Notifications = Vec<Box<dyn FnOnce()>>;

impl PipeState {
    /// Collects the notifications that the current state calls for.
    fn news(&mut self) -> Notifications {
        let mut news = Notifications::new();
        while (!self.bytes.is_empty() || self.ended)
            && let Some(PendingRead { operation, limit, told }) = self.readers.pop_front()
        {
            let bytes = self.take(limit);
            self.end_read |= bytes.is_empty();
            self.in_flight.push_back((operation, bytes.clone()));
            news.push(Box::new(move || told(bytes)));
        }
        // A script in a program's place requests bytes by waiting for them.
        self.wanted |= !self.readers.is_empty();
        let written = match (self.gone, self.is_collecting || self.bytes.is_empty() && self.wanted) {
            (true, _) => Err(WriteError::Broken),
            (false, true) => Ok(()),
            (false, false) => return news,
        };
        if let Some((_, told)) = self.writer.take() {
            news.push(Box::new(move || told(written)));
        }
        news
    }

    /// Appends bytes of a script. Returns false if there is no memory for them.
    fn append(&mut self, bytes: &[u8]) -> bool {
        let all = (self.bytes.len() + bytes.len()) as u64;
        let fits = self.charge.as_mut().is_none_or(|charge| charge.resize(all));
        if fits {
            self.bytes.extend_from_slice(bytes);
        }
        fits
    }

    /// Gives back the memory of bytes that were taken.
    fn settle(&mut self) {
        let left = self.bytes.len() as u64;
        if let Some(charge) = self.charge.as_mut().filter(|charge| charge.bytes() > left) {
            // Shrinking a charge always succeeds.
            let _ = charge.resize(left);
        }
    }

    fn take(&mut self, limit: usize) -> Bytes {
        let count = self.bytes.len().min(limit);
        self.bytes.split_to(count).freeze()
    }

    /// Makes the next write that is repeated available to the program, once it has taken the one before.
    fn repeat_input(&mut self) {
        if self.bytes.is_empty()
            && let Some(written) = self.repeated_input.pop_front()
        {
            self.bytes.extend_from_slice(&written);
        }
    }

    /// Removes from the bytes that a program writes those that it had written before. Returns false if they differ.
    fn skip_repeated(&mut self, bytes: &mut Bytes) -> bool {
        let count = self.repeated_output.len().min(bytes.len());
        self.differs |= bytes.split_to(count) != self.repeated_output.split_to(count);
        !self.differs
    }
}

impl Pipe {
    /// Creates an empty stream for a program with this interrupt.
    pub(crate) fn new(interrupt: &Interrupt) -> Self {
        Self { shared: Arc::default(), interrupt: interrupt.clone() }
    }

    /// Creates an empty stream whose bytes are charged to a session's memory when a script writes them.
    pub(crate) fn charged(interrupt: &Interrupt, memory: &MemoryAccount) -> Self {
        let pipe = Self::new(interrupt);
        pipe.lock().charge = Some(memory.open());
        pipe
    }

    /// Changes the state, and sends the resulting notifications.
    fn change<T>(&self, change: impl FnOnce(&mut PipeState) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let news = state.news();
        state.settle();
        drop(state);
        self.shared.changed.notify_one();
        news.into_iter().for_each(|tell| tell());
        changed
    }

    /// Writes bytes to the program, for an operation of the script. `told` is called when the program has taken them
    /// and asks for more, or when it never will.
    pub(crate) fn write(&self, operation: u64, bytes: &[u8], end: bool, told: OnComplete<Result<(), WriteError>>) {
        let refused = self.change(|state| {
            if state.gone {
                return Some((told, Err(WriteError::Broken)));
            }
            let is_full = !bytes.is_empty() && state.bytes.len() + bytes.len() > CAPACITY;
            if is_full && !state.is_collecting || state.ended || state.writer.is_some() {
                return Some((told, Err(WriteError::Full)));
            }
            if state.is_collecting {
                if !state.append(bytes) {
                    return Some((told, Err(WriteError::NoMemory)));
                }
            } else if state.repeated_input.is_empty() {
                state.bytes.extend_from_slice(bytes);
            } else {
                state.repeated_input.push_back(Bytes::copy_from_slice(bytes));
            }
            state.wanted &= bytes.is_empty();
            state.ended = end;
            if end {
                return Some((told, Ok(())));
            }
            state.writer = Some((operation, told));
            None
        });
        if let Some((told, result)) = refused {
            told(result);
        }
    }

    /// Reads bytes without waiting, for an operation of a script: the output of a program, or in a program's place its
    /// input. `told` is called when there are some, and with none at the end. Readers are served in their order.
    pub(crate) fn read(&self, operation: u64, limit: u32, told: OnComplete<Bytes>) {
        // No platform has a `usize` of less than 32 bits.
        let limit = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        self.change(|state| state.readers.push_back(PendingRead { operation, limit, told }));
    }

    /// Takes bytes for a script in a program's place that cannot wait; none at the end. Returns `None` if none are there
    /// yet.
    pub(crate) fn read_now(&self, limit: u32) -> Option<Bytes> {
        self.change(|state| {
            if state.bytes.is_empty() && !state.ended {
                return None;
            }
            let bytes = state.take(usize::try_from(limit.max(1)).unwrap_or(usize::MAX));
            state.end_read |= bytes.is_empty();
            Some(bytes)
        })
    }

    /// Returns true if all that will ever be written is there.
    pub(crate) fn is_complete(&self) -> bool {
        self.lock().ended
    }

    /// Takes all that is written until the end, as much as the session has memory for.
    pub(crate) fn collect(&self) {
        self.change(|state| state.is_collecting = true);
    }

    /// Cancels an operation, whose callback is then never called. Bytes that were on their way to it are there again.
    pub(crate) fn forget(&self, operation: u64) {
        self.change(|state| {
            state.readers.retain(|read| read.operation != operation);
            state.writer.take_if(|(writer, _)| *writer == operation);
            if let Some(at) = state.in_flight.iter().position(|(reader, _)| *reader == operation)
                && let Some((_, bytes)) = state.in_flight.remove(at)
            {
                state.end_read &= !bytes.is_empty();
                let rest = std::mem::replace(&mut state.bytes, BytesMut::from(bytes));
                state.bytes.extend_from_slice(&rest);
            }
        });
    }

    /// Notes that the script has the bytes that an operation read.
    pub(crate) fn confirm(&self, operation: u64) {
        self.lock().in_flight.retain(|(reader, _)| *reader != operation);
    }

    /// Returns the bytes that were written and that the script does not have yet.
    pub(crate) fn unread(&self) -> Bytes {
        let state = self.lock();
        let mut bytes = BytesMut::new();
        state.in_flight.iter().for_each(|(_, part)| bytes.extend_from_slice(part));
        bytes.extend_from_slice(&state.bytes);
        bytes.freeze()
    }

    /// Fills the stream of a program that has ended with the bytes that the script does not have yet.
    pub(crate) fn restore_unread(&self, bytes: &[u8]) {
        self.change(|state| {
            state.bytes.extend_from_slice(bytes);
            state.ended = true;
        });
    }

    /// Gives the program these writes again, in their order and each for itself.
    pub(crate) fn repeat_input(&self, writes: impl IntoIterator<Item = Bytes>, end: bool) {
        self.change(|state| {
            state.repeated_input.extend(writes.into_iter().filter(|bytes| !bytes.is_empty()));
            state.repeat_input();
            state.ended = end;
        });
    }

    /// Waits, for an operation of the script, until the program has taken all of its input and asks for more.
    pub(crate) fn await_taken(&self, operation: u64, told: OnComplete<Result<(), WriteError>>) {
        self.change(|state| state.writer = Some((operation, told)));
    }

    /// Drops the first bytes that the program writes: the script has them, and they must be these.
    pub(crate) fn repeat_output(&self, bytes: Bytes) {
        self.lock().repeated_output = bytes;
    }

    /// Returns true if a program that has run again did not write what it had written before.
    pub(crate) fn differs(&self) -> bool {
        let state = self.lock();
        state.differs || !state.repeated_output.is_empty()
    }

    /// Returns true if the program waits for input of the script.
    pub(crate) fn is_wanted(&self) -> bool {
        let state = self.lock();
        state.wanted && state.bytes.is_empty() && !state.ended
    }

    /// Writes in a program's place, without waiting. Such a writer has a limit of its own, and pauses when the stream
    /// [is full](Self::is_full). Returns false if its session has no memory for the bytes.
    #[must_use]
    pub(crate) fn append(&self, bytes: &[u8]) -> bool {
        self.change(|state| {
            if state.gone {
                state.broken |= !bytes.is_empty();
                return true;
            }
            state.append(bytes)
        })
    }

    /// Returns true if the stream holds as much as a program may write.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().bytes.len() >= CAPACITY
    }

    /// Returns true if bytes were written after the reader was gone.
    pub(crate) fn is_broken(&self) -> bool {
        self.lock().broken
    }

    /// Ends the stream: nothing more is written.
    pub(crate) fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// Closes the reading end.
    pub(crate) fn abandon(&self) {
        self.change(|state| {
            state.gone = true;
            state.bytes.clear();
        });
    }

    /// Returns true if no more bytes can pass: nobody reads, or nothing is left to read.
    pub(crate) fn is_over(&self) -> bool {
        let state = self.lock();
        let is_delivered = state.in_flight.iter().all(|(_, part)| part.is_empty());
        state.gone || state.ended && state.bytes.is_empty() && state.readers.is_empty() && is_delivered
    }

    /// Returns true if nobody will read it again: its end was read, or its reader is gone.
    pub(crate) fn is_read(&self) -> bool {
        let state = self.lock();
        state.gone || state.end_read
    }

    /// Waits until a condition holds, or the program is to end.
    async fn until(&self, mut so: impl FnMut(&mut PipeState) -> bool) {
        while !self.change_if_asked(&mut so) && self.interrupt.stopped().is_none() {
            // An interrupt wakes nobody, so it is checked as often as the program would check itself.
            let _ = tokio::time::timeout(TICK, self.shared.changed.notified()).await;
        }
    }

    /// As [`Pipe::change`], for a condition that only reads the state, and may request bytes.
    fn change_if_asked(&self, look: &mut impl FnMut(&mut PipeState) -> bool) -> bool {
        let mut state = self.lock();
        let seen = look(&mut state);
        let news = state.news();
        drop(state);
        news.into_iter().for_each(|tell| tell());
        seen
    }

    /// Locks the state. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError};

    use super::*;

    fn pipe() -> Pipe {
        Pipe::new(&Interrupt::default())
    }

    /// Creates a callback, and the channel that receives its argument.
    fn told<T: Send + 'static>() -> (OnComplete<T>, Receiver<T>) {
        let (sender, receiver) = channel();
        (Box::new(move |value| drop(sender.send(value))), receiver)
    }

    #[test]
    fn pipe_gives_a_program_as_much_as_it_asks_for() {
        let pipe = pipe();
        let mut program = PipeReader(pipe.clone());
        let (asked, hears) = told();
        pipe.write(1, b"", false, asked);
        assert!(hears.try_recv().is_err(), "it asked for nothing yet");
        assert_eq!(program.read(10).expect("open"), "");
        assert_eq!(hears.try_recv(), Ok(Ok(())));
        let (taken, hears) = told();
        pipe.write(1, b"abcd", false, taken);
        assert_eq!(program.read(3).expect("open"), "abc");
        assert_eq!(program.read(3).expect("open"), "d");
        assert!(hears.try_recv().is_err(), "it did not ask for more");
        assert_eq!(program.read(3).expect("open"), "");
        assert_eq!(hears.try_recv(), Ok(Ok(())));
        let (ended, hears) = told();
        pipe.write(1, b"e", true, ended);
        assert_eq!(hears.try_recv(), Ok(Ok(())));
        assert_eq!(program.read(3).expect("open"), "e");
        assert!(matches!(program.read(3), Err(StreamError::Closed)));
    }

    #[test]
    fn pipe_writer_is_told_when_the_reader_is_gone() {
        let pipe = pipe();
        let (waits, hears) = told();
        pipe.write(1, b"x", false, waits);
        pipe.abandon();
        assert_eq!(hears.try_recv(), Ok(Err(WriteError::Broken)));
        let (late, hears) = told();
        pipe.write(1, b"y", false, late);
        assert_eq!(hears.try_recv(), Ok(Err(WriteError::Broken)));
        assert!(matches!(PipeWriter(pipe).write(Bytes::from_static(b"z")), Err(StreamError::Closed)));
    }

    #[test]
    fn pipe_reader_gets_what_was_written_and_then_the_end() {
        let pipe = pipe();
        let mut program = PipeWriter(pipe.clone());
        let (reads, hears) = told();
        pipe.read(1, 2, reads);
        assert!(hears.try_recv().is_err());
        program.write(Bytes::from_static(b"abc")).expect("room");
        assert_eq!(hears.try_recv().expect("there is some"), "ab");
        pipe.end();
        assert!(!pipe.is_over(), "a letter is left");
        let (rest, hears) = told();
        pipe.read(1, 9, rest);
        assert_eq!(hears.try_recv().expect("the rest"), "c");
        let (end, hears) = told();
        pipe.read(1, 9, end);
        assert_eq!(hears.try_recv().expect("the end"), "");
        assert!(!pipe.is_over(), "the letters are on their way");
        pipe.confirm(1);
        assert!(pipe.is_over());
    }

    #[test]
    fn pipe_readers_are_served_in_order_of_asking() {
        let pipe = pipe();
        let (asks, asked) = told();
        pipe.write(1, b"", false, asks);
        let hear: Vec<_> = (2..5)
            .map(|operation| {
                let (reads, hears) = told();
                pipe.read(operation, 2, reads);
                hears
            })
            .collect();
        assert_eq!(asked.try_recv(), Ok(Ok(())));
        pipe.forget(3);
        let (waits, hears) = told();
        pipe.write(6, b"abc", false, waits);
        assert_eq!(hear[0].try_recv().expect("the first"), "ab");
        assert!(hear[1].try_recv().is_err(), "it was given up, and takes nothing");
        assert_eq!(hear[2].try_recv().expect("the next"), "c");
        assert!(hears.try_recv().is_err(), "nobody asks for more");
        let (more, refused) = told();
        pipe.write(7, b"d", false, more);
        assert_eq!(refused.try_recv(), Ok(Err(WriteError::Full)), "one write waits already");
        pipe.forget(6);
        let (last, hears) = told();
        pipe.write(8, b"d", true, last);
        assert_eq!(hears.try_recv(), Ok(Ok(())));
        let rest: Vec<_> = (9..11)
            .map(|operation| {
                let (reads, hears) = told();
                pipe.read(operation, 2, reads);
                hears
            })
            .collect();
        assert_eq!(rest[0].try_recv().expect("the rest"), "d");
        assert_eq!(rest[1].try_recv().expect("the end"), "");
    }

    #[test]
    fn pipe_in_place_of_a_program_reports_full_and_broken() {
        let pipe = pipe();
        assert!(pipe.append(&[0; CAPACITY - 1]));
        assert!(!pipe.is_full());
        assert!(pipe.append(&[0; 2]));
        assert!(pipe.is_full() && !pipe.is_broken());
        pipe.abandon();
        assert!(!pipe.is_full() && !pipe.is_broken());
        assert!(pipe.append(b"x"));
        assert!(pipe.is_broken() && !pipe.is_full());
    }

    #[test]
    fn pipe_buffers_are_bounded_at_both_ends() {
        let pipe = pipe();
        let mut program = PipeWriter(pipe.clone());
        assert_eq!(program.check_write().expect("open"), CAPACITY);
        program.write(vec![0; CAPACITY].into()).expect("room");
        assert_eq!(program.check_write().expect("open"), 0);
        assert!(matches!(program.write(Bytes::from_static(b"x")), Err(StreamError::Trap(_))));
        let (more, hears) = told();
        pipe.write(1, b"x", false, more);
        assert_eq!(hears.try_recv(), Ok(Err(WriteError::Full)));
    }

    #[test]
    fn pipe_wait_ends_when_its_run_is_cancelled() {
        let interrupt = Interrupt::default();
        let mut program = PipeReader(Pipe::new(&interrupt));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let waits = std::thread::spawn(move || runtime.block_on(program.ready()));
        interrupt.cancel();
        waits.join().expect("it ends");
    }

    /// Bytes that were on their way to an operation that is cancelled are there for the next one.
    #[test]
    fn pipe_read_that_is_cancelled_consumes_nothing() {
        let pipe = pipe();
        PipeWriter(pipe.clone()).write(Bytes::from_static(b"abcd")).expect("room");
        let (reads, hears) = told();
        pipe.read(1, 2, reads);
        assert_eq!(hears.try_recv().expect("there is some"), "ab");
        assert_eq!(pipe.unread(), "abcd", "nobody has it yet");
        pipe.forget(1);
        let (reads, hears) = told();
        pipe.read(2, 3, reads);
        assert_eq!(hears.try_recv().expect("there is some"), "abc");
        pipe.confirm(2);
        assert_eq!(pipe.unread(), "d");
    }

    #[test]
    fn program_that_runs_again_gets_each_write_and_is_not_heard_again() {
        let pipe = pipe();
        pipe.repeat_input([Bytes::from_static(b"ab"), Bytes::new(), Bytes::from_static(b"cd")], false);
        let (waits, hears) = told();
        pipe.await_taken(1, waits);
        let mut program = PipeReader(pipe.clone());
        assert_eq!(program.read(9).expect("open"), "ab", "a write is a piece");
        assert_eq!(program.read(1).expect("open"), "c");
        assert_eq!(program.read(9).expect("open"), "d");
        assert!(hears.try_recv().is_err(), "it did not ask for more");
        assert_eq!(program.read(9).expect("open"), "");
        assert_eq!(hears.try_recv(), Ok(Ok(())));

        let output = self::pipe();
        output.repeat_output(Bytes::from_static(b"abc"));
        output.abandon();
        let mut program = PipeWriter(output.clone());
        assert_eq!(program.check_write().expect("it writes what it wrote"), CAPACITY);
        program.write(Bytes::from_static(b"ab")).expect("it is the same");
        assert!(output.differs(), "a letter is missing");
        program.write(Bytes::from_static(b"c")).expect("it is the same");
        assert!(!output.differs());
        assert!(matches!(program.write(Bytes::from_static(b"d")), Err(StreamError::Closed)), "nobody reads it");

        let output = self::pipe();
        output.repeat_output(Bytes::from_static(b"abc"));
        let mut program = PipeWriter(output.clone());
        program.write(Bytes::from_static(b"ab")).expect("it is the same");
        assert!(matches!(program.write(Bytes::from_static(b"d")), Err(StreamError::Closed)), "it is another letter");
        assert!(output.differs() && program.check_write().is_err() && output.unread().is_empty());
    }
}
