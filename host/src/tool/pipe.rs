//! The streams between a script and a program: bounded, each with one end that waits as WASI does, on the program's
//! thread, and one end that never waits, and is told.
//!
//! What a program reads comes when it asks, and not before: a program that reads nothing leaves its input to others.
//!
//! **Invariant:** neither end holds more than [`CAPACITY`] bytes that the other has not taken; but for a script in a
//! program's place, which writes as much as its limit on output allows.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use wasmtime_wasi::cli::{IsTerminal, StdinStream, StdoutStream};
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError};

use crate::code::{Interrupt, TICK};

/// What a stream holds: as much as a pipe of Linux.
pub(crate) const CAPACITY: usize = 64 << 10;

/// Told once, when the script's end can go on.
pub(crate) type Told<T> = Box<dyn FnOnce(T) + Send>;

/// The program at the other end is gone, or was given more than it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WriteError {
    /// It ended, or reads no more.
    #[error("broken pipe: nobody reads it any more")]
    Broken,
    /// The bytes before are not taken yet, or these are too many.
    #[error("a stream takes {CAPACITY} bytes, and more when those are taken")]
    Full,
}

/// A stream. Clones are the same.
#[derive(Clone)]
pub(crate) struct Pipe {
    shared: Arc<Shared>,
    /// Of the program.
    interrupt: Interrupt,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    bytes: BytesMut,
    /// Nothing follows.
    ended: bool,
    /// Nobody reads any more.
    gone: bool,
    /// The program asked for bytes, and there were none.
    wanted: bool,
    /// Who waits at the script's end.
    writer: Option<Told<Result<(), WriteError>>>,
    reader: Option<(usize, Told<Bytes>)>,
}

/// What a change of a stream tells its script, once the lock is free.
type News = Option<Box<dyn FnOnce()>>;

impl State {
    /// What is to be told of what there is now.
    fn news(&mut self) -> News {
        if (!self.bytes.is_empty() || self.ended)
            && let Some((limit, told)) = self.reader.take()
        {
            let bytes = self.take(limit);
            return Some(Box::new(move || told(bytes)));
        }
        let written = match (self.gone, self.bytes.is_empty() && self.wanted) {
            (true, _) => Err(WriteError::Broken),
            (false, true) => Ok(()),
            (false, false) => return None,
        };
        let told = self.writer.take()?;
        Some(Box::new(move || told(written)))
    }

    fn take(&mut self, limit: usize) -> Bytes {
        let count = self.bytes.len().min(limit);
        self.bytes.split_to(count).freeze()
    }
}

impl Pipe {
    /// An empty stream of a program that this switch stops.
    pub(crate) fn new(interrupt: &Interrupt) -> Self {
        Self { shared: Arc::default(), interrupt: interrupt.clone() }
    }

    /// Changes it, and tells who waits for that.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let news = state.news();
        drop(state);
        self.shared.changed.notify_one();
        if let Some(tell) = news {
            tell();
        }
        changed
    }

    /// Gives bytes to the program. `told` hears when it has taken them and asks for more, or that it never will.
    pub(crate) fn write(&self, bytes: &[u8], end: bool, told: Told<Result<(), WriteError>>) {
        let refused = self.change(|state| {
            if state.gone {
                return Some((told, Err(WriteError::Broken)));
            }
            if state.ended || !bytes.is_empty() && state.bytes.len() + bytes.len() > CAPACITY {
                return Some((told, Err(WriteError::Full)));
            }
            state.bytes.extend_from_slice(bytes);
            state.wanted &= bytes.is_empty();
            state.ended = end;
            if end {
                return Some((told, Ok(())));
            }
            state.writer = Some(told);
            None
        });
        if let Some((told, result)) = refused {
            told(result);
        }
    }

    /// Takes what the program wrote: `told` hears it when there is some, and nothing at the end.
    pub(crate) fn read(&self, limit: usize, told: Told<Bytes>) {
        self.change(|state| state.reader = Some((limit.max(1), told)));
    }

    /// Asks for bytes in a program's place, without waiting: `told` hears it when there are some, and nothing at the end.
    pub(crate) fn ask(&self, limit: usize, told: Told<Bytes>) {
        self.change(|state| {
            state.wanted = true;
            state.reader = Some((limit.max(1), told));
        });
    }

    /// Writes in a program's place, without waiting. Who does so has a limit of its own.
    pub(crate) fn append(&self, bytes: &[u8]) {
        self.change(|state| {
            if !state.gone {
                state.bytes.extend_from_slice(bytes);
            }
        });
    }

    /// Nothing is written any more.
    pub(crate) fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// Nothing is read any more.
    pub(crate) fn abandon(&self) {
        self.change(|state| {
            state.gone = true;
            state.bytes.clear();
        });
    }

    /// Whether nothing passes any more: nobody reads, or nothing is left to read.
    pub(crate) fn is_over(&self) -> bool {
        let state = self.lock();
        state.gone || state.ended && state.bytes.is_empty() && state.reader.is_none()
    }

    /// Waits until this is so, or the program is to end.
    async fn until(&self, mut so: impl FnMut(&mut State) -> bool) {
        while !self.change_if_asked(&mut so) && self.interrupt.stopped().is_none() {
            // A switch that is thrown wakes nobody, so it is looked at as often as the program would look itself.
            let _ = tokio::time::timeout(TICK, self.shared.changed.notified()).await;
        }
    }

    /// As [`Pipe::change`], for what only looks, and may ask.
    fn change_if_asked(&self, look: &mut impl FnMut(&mut State) -> bool) -> bool {
        let mut state = self.lock();
        let seen = look(&mut state);
        let news = state.news();
        drop(state);
        if let Some(tell) = news {
            tell();
        }
        seen
    }

    /// Every change is whole, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a program reads.
#[derive(Clone)]
pub(crate) struct Reader(pub(crate) Pipe);

/// What a program writes.
#[derive(Clone)]
pub(crate) struct Writer(pub(crate) Pipe);

impl InputStream for Reader {
    fn read(&mut self, size: usize) -> Result<Bytes, StreamError> {
        let read = |state: &mut State| match (state.bytes.is_empty(), state.ended) {
            (false, _) => Ok(state.take(size)),
            (true, true) => Err(StreamError::Closed),
            (true, false) => {
                state.wanted = size > 0;
                Ok(Bytes::new())
            }
        };
        self.0.change(read)
    }
}

#[async_trait::async_trait]
impl Pollable for Reader {
    async fn ready(&mut self) {
        let there = |state: &mut State| {
            state.wanted = state.bytes.is_empty() && !state.ended;
            !state.wanted
        };
        self.0.until(there).await;
    }
}

impl OutputStream for Writer {
    fn write(&mut self, bytes: Bytes) -> Result<(), StreamError> {
        self.0.change(|state| {
            if state.gone {
                return Err(StreamError::Closed);
            }
            // `check_write` said how much; who writes more is broken.
            if state.bytes.len() + bytes.len() > CAPACITY {
                return Err(StreamError::Trap(WriteError::Full.into()));
            }
            state.bytes.extend_from_slice(&bytes);
            Ok(())
        })
    }

    fn flush(&mut self) -> Result<(), StreamError> {
        Ok(())
    }

    fn check_write(&mut self) -> Result<usize, StreamError> {
        let state = self.0.lock();
        if state.gone { Err(StreamError::Closed) } else { Ok(CAPACITY - state.bytes.len()) }
    }
}

#[async_trait::async_trait]
impl Pollable for Writer {
    async fn ready(&mut self) {
        self.0.until(|state| state.gone || state.bytes.len() < CAPACITY).await;
    }
}

impl IsTerminal for Reader {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl IsTerminal for Writer {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for Reader {
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        Box::new(Unoffered)
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.clone())
    }
}

impl StdoutStream for Writer {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(Unoffered)
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

/// The streams of WASI 0.3, which no program finds here.
struct Unoffered;

impl AsyncRead for Unoffered {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Unoffered {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    fn pipe() -> Pipe {
        Pipe::new(&Interrupt::default())
    }

    /// Something to be told, and what it was told.
    fn told<T: Send + 'static>() -> (Told<T>, Receiver<T>) {
        let (sender, receiver) = channel();
        (Box::new(move |value| drop(sender.send(value))), receiver)
    }

    #[test]
    fn a_program_gets_what_it_asks_for() {
        let pipe = pipe();
        let mut program = Reader(pipe.clone());
        let (asked, hears) = told();
        pipe.write(b"", false, asked);
        assert!(hears.try_recv().is_err(), "it asked for nothing yet");
        assert_eq!(program.read(10).expect("open"), "");
        assert_eq!(hears.try_recv(), Ok(Ok(())));
        let (taken, hears) = told();
        pipe.write(b"abcd", false, taken);
        assert_eq!(program.read(3).expect("open"), "abc");
        assert_eq!(program.read(3).expect("open"), "d");
        assert!(hears.try_recv().is_err(), "it did not ask for more");
        assert_eq!(program.read(3).expect("open"), "");
        assert_eq!(hears.try_recv(), Ok(Ok(())));
        let (ended, hears) = told();
        pipe.write(b"e", true, ended);
        assert_eq!(hears.try_recv(), Ok(Ok(())));
        assert_eq!(program.read(3).expect("open"), "e");
        assert!(matches!(program.read(3), Err(StreamError::Closed)));
    }

    #[test]
    fn who_writes_hears_that_the_reader_is_gone() {
        let pipe = pipe();
        let (waits, hears) = told();
        pipe.write(b"x", false, waits);
        pipe.abandon();
        assert_eq!(hears.try_recv(), Ok(Err(WriteError::Broken)));
        let (late, hears) = told();
        pipe.write(b"y", false, late);
        assert_eq!(hears.try_recv(), Ok(Err(WriteError::Broken)));
        assert!(matches!(Writer(pipe).write(Bytes::from_static(b"z")), Err(StreamError::Closed)));
    }

    #[test]
    fn a_script_reads_what_there_is_and_then_the_end() {
        let pipe = pipe();
        let mut program = Writer(pipe.clone());
        let (reads, hears) = told();
        pipe.read(2, reads);
        assert!(hears.try_recv().is_err());
        program.write(Bytes::from_static(b"abc")).expect("room");
        assert_eq!(hears.try_recv().expect("there is some"), "ab");
        pipe.end();
        assert!(!pipe.is_over(), "a letter is left");
        let (rest, hears) = told();
        pipe.read(9, rest);
        assert_eq!(hears.try_recv().expect("the rest"), "c");
        let (end, hears) = told();
        pipe.read(9, end);
        assert_eq!(hears.try_recv().expect("the end"), "");
        assert!(pipe.is_over());
    }

    #[test]
    fn neither_end_fills_the_host() {
        let pipe = pipe();
        let mut program = Writer(pipe.clone());
        assert_eq!(program.check_write().expect("open"), CAPACITY);
        program.write(vec![0; CAPACITY].into()).expect("room");
        assert_eq!(program.check_write().expect("open"), 0);
        assert!(matches!(program.write(Bytes::from_static(b"x")), Err(StreamError::Trap(_))));
        let (more, hears) = told();
        pipe.write(b"x", false, more);
        assert_eq!(hears.try_recv(), Ok(Err(WriteError::Full)));
    }

    #[test]
    fn a_switch_ends_a_wait() {
        let interrupt = Interrupt::default();
        let mut program = Reader(Pipe::new(&interrupt));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let waits = std::thread::spawn(move || runtime.block_on(program.ready()));
        interrupt.cancel();
        waits.join().expect("it ends");
    }
}
