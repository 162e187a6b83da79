//! Standard output and error of a tool: the beginning is kept, the rest is dropped without the tool noticing. If the
//! output is the tool's result, the tool ends instead.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError};

use crate::code::{MemoryAccount, MemoryCharge};

/// Bytes that are kept of each stream, unless the tool's manifest says fewer.
pub(super) const KEPT: usize = 64 << 10;

/// Most bytes that a tool may write at once.
const CHUNK: usize = 1 << 20;

/// Captured output of a tool. Clones share it.
#[derive(Clone, Default)]
pub(super) struct CapturedOutput {
    state: Arc<Mutex<CaptureState>>,
    /// Limit beyond which the writer is ended, if there is one.
    limit: Option<usize>,
}

struct CaptureState {
    bytes: Vec<u8>,
    /// Bytes that are kept.
    room: usize,
    /// Memory of the output in the session's account, if the output is a result.
    charge: Option<MemoryCharge>,
    /// True after a write beyond the limit.
    over: bool,
    /// True after a write that there was no memory for.
    is_short: bool,
}

impl Default for CaptureState {
    fn default() -> Self {
        Self { bytes: Vec::new(), room: KEPT, charge: None, over: false, is_short: false }
    }
}

/// Trap of a program whose output exceeds the size of a result.
#[derive(Debug, thiserror::Error)]
#[error("it wrote more than its result may have")]
struct TooMuch;

impl CapturedOutput {
    /// Creates an output that ends its writer beyond the limit, or beyond the memory.
    pub(super) fn bounded(limit: usize, memory: &MemoryAccount) -> Self {
        let state = CaptureState { charge: Some(memory.open()), ..CaptureState::default() };
        Self { state: Arc::new(Mutex::new(state)), limit: Some(limit) }
    }

    /// Limits the bytes that are kept.
    pub(super) fn keep_at_most(&self, bytes: usize) {
        self.lock().room = bytes;
    }

    /// Returns the kept output as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.lock().bytes).into_owned()
    }

    /// Returns true after a write beyond the limit.
    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Returns true after a write that there was no memory for.
    pub(super) fn is_short(&self) -> bool {
        self.lock().is_short
    }

    /// Discards the kept output.
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

    fn lock(&self) -> MutexGuard<'_, CaptureState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IsTerminal for CapturedOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for CapturedOutput {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for CapturedOutput {
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
impl Pollable for CapturedOutput {
    async fn ready(&mut self) {}
}

impl AsyncWrite for CapturedOutput {
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
