//! A tool's standard output and error: the beginning is kept, the rest is dropped, and the tool never notices; or, where
//! what it writes is its result, the tool ends.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError};

use crate::code::{MemoryAccount, MemoryCharge};

/// How many bytes of each stream are kept, unless the tool's manifest says fewer.
pub(super) const KEPT: usize = 64 << 10;

/// How many bytes a tool may write in one go.
const CHUNK: usize = 1 << 20;

/// What a tool wrote. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Kept {
    state: Arc<Mutex<State>>,
    /// How much there may be, if who writes more is to end.
    limit: Option<usize>,
}

struct State {
    bytes: Vec<u8>,
    /// How many are kept.
    room: usize,
    /// What they take of the session's memory, where they are a result.
    charge: Option<MemoryCharge>,
    /// More was written than there may be.
    over: bool,
    /// More was written than there is memory for.
    is_short: bool,
}

impl Default for State {
    fn default() -> Self {
        Self { bytes: Vec::new(), room: KEPT, charge: None, over: false, is_short: false }
    }
}

/// The trap of a program that wrote more than its result may have.
#[derive(Debug, thiserror::Error)]
#[error("it wrote more than its result may have")]
struct TooMuch;

impl Kept {
    /// What ends who writes more, or more than there is memory for.
    pub(super) fn bounded(limit: usize, memory: &MemoryAccount) -> Self {
        let state = State { charge: Some(memory.open()), ..State::default() };
        Self { state: Arc::new(Mutex::new(state)), limit: Some(limit) }
    }

    /// Keeps so many bytes at most.
    pub(super) fn keep_at_most(&self, bytes: usize) {
        self.lock().room = bytes;
    }

    /// What was kept, as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.lock().bytes).into_owned()
    }

    /// Whether more was written than there may be.
    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Returns true if more was written than there is memory for.
    pub(super) fn is_short(&self) -> bool {
        self.lock().is_short
    }

    /// Forgets what was kept.
    pub(super) fn clear(&self) {
        self.lock().bytes.clear();
    }

    fn keep(&self, bytes: &[u8]) -> Result<(), TooMuch> {
        let mut kept = self.lock();
        let room = self.limit.unwrap_or(kept.room).saturating_sub(kept.bytes.len());
        let bytes_kept = &bytes[..bytes.len().min(room)];
        if kept.charge.as_mut().is_some_and(|charge| !charge.grow(bytes_kept.len() as u64)) {
            kept.is_short = true;
            return Err(TooMuch);
        }
        kept.bytes.extend_from_slice(bytes_kept);
        kept.over |= bytes.len() > room;
        if kept.over && self.limit.is_some() { Err(TooMuch) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IsTerminal for Kept {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Kept {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Kept {
    fn write(&mut self, bytes: Bytes) -> Result<(), StreamError> {
        self.keep(&bytes).map_err(|over| StreamError::Trap(over.into()))
    }

    fn flush(&mut self) -> Result<(), StreamError> {
        Ok(())
    }

    fn check_write(&mut self) -> Result<usize, StreamError> {
        Ok(CHUNK)
    }
}

#[async_trait::async_trait]
impl Pollable for Kept {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Kept {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.keep(bytes).map(|()| bytes.len()).map_err(io::Error::other))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
