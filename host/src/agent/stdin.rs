//! Standard input of an agent: read from when the agent first asks, a bounded part ahead of it, with waits that the end
//! of the run interrupts.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncRead;
use wasmtime_wasi::cli::{IsTerminal, StdinStream};
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, pipe};

use crate::code::{Interrupt, TICK};

/// Bytes of one read, and the number of such chunks that are buffered ahead of the agent.
const PART: usize = 64 << 10;
const PARTS: usize = 4;

/// Standard input of an agent. Clones share their position.
#[derive(Clone)]
pub(super) struct AgentStdin {
    shared: Arc<Mutex<StdinState>>,
    interrupt: Interrupt,
}

struct StdinState {
    source: StdinSource,
    /// Bytes that were read and not yet taken.
    part: Bytes,
    /// Read error that the next read reports.
    error: Option<std::io::Error>,
}

enum StdinSource {
    /// Source that nobody has read from.
    Unread(Box<dyn Read + Send>),
    /// Chunks from the thread that reads.
    Reading(Receiver<std::io::Result<Bytes>>),
    /// End of the input.
    Ended,
}

impl AgentStdin {
    pub(super) fn new(reader: Box<dyn Read + Send>, interrupt: Interrupt) -> Self {
        let shared = StdinState { source: StdinSource::Unread(reader), part: Bytes::new(), error: None };
        Self { shared: Arc::new(Mutex::new(shared)), interrupt }
    }

    /// Locks the state. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, StdinState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StdinState {
    /// Takes over a chunk from the reading thread, without waiting. Returns false if there is none yet.
    fn fetch(&mut self) -> bool {
        if !self.part.is_empty() {
            return true;
        }
        if let StdinSource::Unread(_) = self.source
            && let StdinSource::Unread(reader) = std::mem::replace(&mut self.source, StdinSource::Ended)
        {
            match start(reader) {
                Ok(receiver) => self.source = StdinSource::Reading(receiver),
                Err(error) => self.error = Some(error),
            }
        }
        let StdinSource::Reading(receiver) = &self.source else { return true };
        match receiver.try_recv() {
            Ok(Ok(part)) => self.part = part,
            Err(TryRecvError::Empty) => return false,
            Err(TryRecvError::Disconnected) => self.source = StdinSource::Ended,
            Ok(Err(error)) => {
                self.source = StdinSource::Ended;
                self.error = Some(error);
            }
        }
        true
    }
}

/// Starts a thread that reads. It ends when nobody takes its chunks any more, or stays in a read that never returns.
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

impl IsTerminal for AgentStdin {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for AgentStdin {
    /// Never used: only WASI 0.3 calls it, which agents do not have.
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        StdinStream::async_stream(&pipe::MemoryInputPipe::new(Bytes::new()))
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.clone())
    }
}

impl InputStream for AgentStdin {
    fn read(&mut self, size: usize) -> Result<Bytes, StreamError> {
        let mut shared = self.lock();
        if !shared.fetch() {
            return Ok(Bytes::new());
        }
        if let Some(error) = shared.error.take() {
            return Err(StreamError::LastOperationFailed(error.into()));
        }
        if shared.part.is_empty() && matches!(shared.source, StdinSource::Ended) {
            return Err(StreamError::Closed);
        }
        let count = shared.part.len().min(size);
        Ok(shared.part.split_to(count))
    }
}

#[async_trait::async_trait]
impl Pollable for AgentStdin {
    async fn ready(&mut self) {
        loop {
            // At the end of the run the agent stops at its epoch at once.
            let there = self.lock().fetch();
            if there || self.interrupt.stopped().is_some() {
                return tokio::task::yield_now().await;
            }
            tokio::time::sleep(TICK / 10).await;
        }
    }
}
