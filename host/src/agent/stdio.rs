//! Standard output and error of an agent: the run's output, written as it comes, up to the run's limit.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError};

use crate::guest::{Output, OutputError, Stream};

/// Most bytes that an agent may write at once.
const CHUNK: usize = 1 << 20;

/// Stream of the run's output.
#[derive(Clone)]
pub(super) struct AgentOutput {
    output: Arc<Mutex<Output>>,
    stream: Stream,
}

impl AgentOutput {
    pub(super) fn new(output: &Arc<Mutex<Output>>, stream: Stream) -> Self {
        Self { output: Arc::clone(output), stream }
    }

    fn put(&self, bytes: &[u8]) -> Result<(), OutputError> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).write(self.stream, bytes)
    }
}

impl IsTerminal for AgentOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for AgentOutput {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for AgentOutput {
    fn write(&mut self, bytes: Bytes) -> Result<(), StreamError> {
        // Refused output is a trap: the agent's further writes would be lost in silence.
        self.put(&bytes).map_err(|refused| StreamError::Trap(refused.into()))
    }

    fn flush(&mut self) -> Result<(), StreamError> {
        Ok(())
    }

    fn check_write(&mut self) -> Result<usize, StreamError> {
        Ok(CHUNK)
    }
}

#[async_trait::async_trait]
impl Pollable for AgentOutput {
    async fn ready(&mut self) {}
}

impl AsyncWrite for AgentOutput {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.put(bytes).map(|()| bytes.len()).map_err(io::Error::other))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
