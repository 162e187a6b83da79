//! Streams of `wasi:io` on files. They are always ready.
//!
//! Contrary to the letter of WASI, a stream that reached the end of its file, or failed, can be used again: the file
//! may have grown meanwhile, or space become free. C libraries keep one stream for a descriptor, and expect that.
//! `filesystem-error-code` gives the reason of a failure; wasi-libc does not call it, and reports a full quota as
//! `EIO`.

use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::change::Offset;
use super::work::Open;
use super::{CHUNK, Code, Shared, Slot};

/// Stream that reads from an offset on.
pub(super) struct Reader {
    work: Shared,
    open: Open,
    offset: u64,
    _slot: Slot,
}

/// Stream that writes from an offset on, or appends.
pub(super) struct Writer {
    work: Shared,
    open: Open,
    offset: Offset,
    _slot: Slot,
}

impl Reader {
    pub(super) fn new(work: Shared, open: Open, offset: u64, slot: Slot) -> Self {
        Self { work, open, offset, _slot: slot }
    }
}

impl Writer {
    pub(super) fn new(work: Shared, open: Open, offset: Offset, slot: Slot) -> Self {
        Self { work, open, offset, _slot: slot }
    }
}

fn failed(code: Code) -> StreamError {
    StreamError::LastOperationFailed(code.into())
}

impl InputStream for Reader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        // No platform has a `usize` wider than 64 bits, here and below.
        let length = CHUNK.min(size as u64);
        let (bytes, _) = self.work.lock().read(&self.open, self.offset, length).map_err(failed)?;
        if bytes.is_empty() {
            return Err(StreamError::Closed);
        }
        self.offset = self.offset.saturating_add(bytes.len() as u64);
        Ok(bytes.into())
    }
}

impl OutputStream for Writer {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.work.lock().write(&self.open, self.offset, &bytes).map_err(failed)?;
        if let Offset::At(offset) = &mut self.offset {
            *offset = offset.saturating_add(bytes.len() as u64);
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(usize::try_from(CHUNK).unwrap_or(usize::MAX))
    }
}

#[async_trait::async_trait]
impl Pollable for Reader {
    async fn ready(&mut self) {}
}

#[async_trait::async_trait]
impl Pollable for Writer {
    async fn ready(&mut self) {}
}
