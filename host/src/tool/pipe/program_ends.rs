//! The ends of a pipe that a program has, as streams of WASI.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wasmtime_wasi::cli::{IsTerminal, StdinStream, StdoutStream};
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError};

use super::{CAPACITY, Pipe, PipeState, WriteError};

/// Input end of a program.
#[derive(Clone)]
pub(crate) struct PipeReader(pub(crate) Pipe);

/// Output end of a program.
#[derive(Clone)]
pub(crate) struct PipeWriter(pub(crate) Pipe);

impl InputStream for PipeReader {
    fn read(&mut self, size: usize) -> Result<Bytes, StreamError> {
        let read = |state: &mut PipeState| {
            state.repeat_input();
            match (state.bytes.is_empty(), state.ended) {
                (false, _) => Ok(state.take(size)),
                (true, true) => Err(StreamError::Closed),
                (true, false) => {
                    state.wanted = size > 0;
                    Ok(Bytes::new())
                }
            }
        };
        self.0.change(read)
    }
}

#[async_trait::async_trait]
impl Pollable for PipeReader {
    async fn ready(&mut self) {
        let there = |state: &mut PipeState| {
            state.repeat_input();
            state.wanted = state.bytes.is_empty() && !state.ended;
            !state.wanted
        };
        self.0.until(there).await;
    }
}

impl OutputStream for PipeWriter {
    fn write(&mut self, mut bytes: Bytes) -> Result<(), StreamError> {
        self.0.change(|state| {
            let given = bytes.len();
            if !state.skip_repeated(&mut bytes) {
                return Err(StreamError::Closed);
            }
            if bytes.is_empty() && given > 0 {
                return Ok(());
            }
            if state.gone {
                return Err(StreamError::Closed);
            }
            // `check_write` gave the limit; a program that writes more is faulty.
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
        if !state.repeated_output.is_empty() && !state.differs {
            return Ok(CAPACITY.saturating_sub(state.bytes.len()));
        }
        if state.gone || state.differs {
            return Err(StreamError::Closed);
        }
        Ok(CAPACITY.saturating_sub(state.bytes.len()))
    }
}

#[async_trait::async_trait]
impl Pollable for PipeWriter {
    async fn ready(&mut self) {
        self.0.until(|state| state.gone || state.bytes.len() < CAPACITY).await;
    }
}

impl IsTerminal for PipeReader {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl IsTerminal for PipeWriter {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for PipeReader {
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        Box::new(AsyncUnsupported)
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.clone())
    }
}

impl StdoutStream for PipeWriter {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(AsyncUnsupported)
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

/// Marker for streams of WASI 0.3, which programs do not have here.
struct AsyncUnsupported;

impl AsyncRead for AsyncUnsupported {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for AsyncUnsupported {
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
