//! Streams of `wasi:io` on files. They are always ready.
//!
//! Contrary to the letter of WASI, a stream that reached the end of its file, or failed, can be used again: the file
//! may have grown meanwhile, or space become free. C libraries keep one stream for a descriptor, and expect that.
//! `filesystem-error-code` gives the reason of a failure; wasi-libc does not call it, and reports a full quota as
//! `EIO`.

use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::working_tree::OpenEntry;
use super::write_operations::WriteOffset;
use super::{CHUNK, Code, OpenSlot, SharedTree};

/// Stream that reads from an offset on.
pub(super) struct FileReader {
    work: SharedTree,
    open: OpenEntry,
    offset: u64,
    _slot: OpenSlot,
}

/// Stream that writes from an offset on, or appends.
pub(super) struct FileWriter {
    work: SharedTree,
    open: OpenEntry,
    offset: WriteOffset,
    _slot: OpenSlot,
}

impl FileReader {
    pub(super) fn new(work: SharedTree, open: OpenEntry, offset: u64, slot: OpenSlot) -> Self {
        Self { work, open, offset, _slot: slot }
    }
}

impl FileWriter {
    pub(super) fn new(work: SharedTree, open: OpenEntry, offset: WriteOffset, slot: OpenSlot) -> Self {
        Self { work, open, offset, _slot: slot }
    }
}

fn failed(code: Code) -> StreamError {
    StreamError::LastOperationFailed(code.into())
}

impl InputStream for FileReader {
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

impl OutputStream for FileWriter {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.work.lock().write(&self.open, self.offset, &bytes).map_err(failed)?;
        if let WriteOffset::At(offset) = &mut self.offset {
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
impl Pollable for FileReader {
    async fn ready(&mut self) {}
}

#[async_trait::async_trait]
impl Pollable for FileWriter {
    async fn ready(&mut self) {}
}
