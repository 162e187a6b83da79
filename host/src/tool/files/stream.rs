//! Files as streams of `wasi:io`. They are always ready.
//!
//! Against the letter of WASI, a stream that came to the end of its file, or failed, can be used again: a file may have
//! grown meanwhile, or room been made. C libraries keep one stream for a descriptor, and expect that of it. Why it
//! failed is told by `filesystem-error-code`; wasi-libc does not ask, and makes `EIO` of a full quota.

use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::change::Offset;
use super::work::Open;
use super::{CHUNK, Code, Shared, Slot};

/// Reads on, from an offset.
pub(super) struct Reader {
    work: Shared,
    open: Open,
    offset: u64,
    _slot: Slot,
}

/// Writes on, from an offset or behind the end.
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
