//! What an agent reads: fetched when it first asks, a bounded part ahead of it, and waited for in a way that the end of
//! the run interrupts.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncRead;
use wasmtime_wasi::cli::{IsTerminal, StdinStream};
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, pipe};

use crate::code::{Interrupt, TICK};

/// How many bytes are read at once, and how many such parts are kept ahead of the agent.
const PART: usize = 64 << 10;
const PARTS: usize = 4;

/// An agent's standard input. Clones share what was read so far.
#[derive(Clone)]
pub(super) struct Input {
    shared: Arc<Mutex<Shared>>,
    interrupt: Interrupt,
}

struct Shared {
    source: Source,
    /// Read, and not yet taken.
    part: Bytes,
    /// Why it ended before its end; the next read says so.
    error: Option<std::io::Error>,
}

enum Source {
    /// Nobody asked yet.
    Unread(Box<dyn Read + Send>),
    /// A thread reads.
    Reading(Receiver<std::io::Result<Bytes>>),
    /// It is at its end.
    Ended,
}

impl Input {
    pub(super) fn new(reader: Box<dyn Read + Send>, interrupt: Interrupt) -> Self {
        let shared = Shared { source: Source::Unread(reader), part: Bytes::new(), error: None };
        Self { shared: Arc::new(Mutex::new(shared)), interrupt }
    }

    /// Each change is whole, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Takes over what the reading thread has, without waiting. False if there is nothing yet.
    fn fetch(&mut self) -> bool {
        if !self.part.is_empty() {
            return true;
        }
        if let Source::Unread(_) = self.source
            && let Source::Unread(reader) = std::mem::replace(&mut self.source, Source::Ended)
        {
            match start(reader) {
                Ok(receiver) => self.source = Source::Reading(receiver),
                Err(error) => self.error = Some(error),
            }
        }
        let Source::Reading(receiver) = &self.source else { return true };
        match receiver.try_recv() {
            Ok(Ok(part)) => self.part = part,
            Err(TryRecvError::Empty) => return false,
            Err(TryRecvError::Disconnected) => self.source = Source::Ended,
            Ok(Err(error)) => {
                self.source = Source::Ended;
                self.error = Some(error);
            }
        }
        true
    }
}

/// Reads on a thread of its own, which ends when nobody takes what it reads, or stays in a read that never ends.
fn start(mut reader: Box<dyn Read + Send>) -> std::io::Result<Receiver<std::io::Result<Bytes>>> {
    let (sender, receiver) = sync_channel(PARTS);
    let read = move || {
        loop {
            let mut part = vec![0; PART];
            let sent = match reader.read(&mut part) {
                Ok(0) => return,
                Ok(count) => {
                    part.truncate(count);
                    sender.send(Ok(part.into()))
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => sender.send(Err(error)),
            };
            if sent.is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("tollhouse-stdin".into()).spawn(read)?;
    Ok(receiver)
}

impl IsTerminal for Input {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for Input {
    /// Only WASI 0.3 asks for this one, which agents do not find.
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        StdinStream::async_stream(&pipe::MemoryInputPipe::new(Bytes::new()))
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.clone())
    }
}

impl InputStream for Input {
    fn read(&mut self, size: usize) -> Result<Bytes, StreamError> {
        let mut shared = self.lock();
        if !shared.fetch() {
            return Ok(Bytes::new());
        }
        if let Some(error) = shared.error.take() {
            return Err(StreamError::LastOperationFailed(error.into()));
        }
        if shared.part.is_empty() && matches!(shared.source, Source::Ended) {
            return Err(StreamError::Closed);
        }
        let count = shared.part.len().min(size);
        Ok(shared.part.split_to(count))
    }
}

#[async_trait::async_trait]
impl Pollable for Input {
    async fn ready(&mut self) {
        loop {
            // When the run is to end, the agent runs into its epoch at once.
            let there = self.lock().fetch();
            if there || self.interrupt.stopped().is_some() {
                return tokio::task::yield_now().await;
            }
            tokio::time::sleep(TICK / 10).await;
        }
    }
}
