//! Standard output and standard error.

use std::cell::Cell;

use rquickjs::{Ctx, Object, Result};

use super::add_all;
use crate::bindings::output::{self, Stream};
use crate::text::{Bytes, Text};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "stdout" => stdout, "stderr" => stderr, "outputBytes" => write_bytes)
}

/// Number of bytes that are written before the script pauses: the capacity of a pipe on Linux.
const PAUSE: usize = 64 << 10;

thread_local! {
    /// Bytes of output since the last pause.
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
}

fn write(to: Stream, bytes: &[u8]) {
    output::write(to, bytes);
    WRITTEN.set(WRITTEN.get().saturating_add(bytes.len()));
}

/// Returns true if so much was written that the reader should get time to consume it.
pub(crate) fn wants_pause() -> bool {
    let wants = WRITTEN.get() >= PAUSE;
    if wants {
        WRITTEN.set(0);
    }
    wants
}

fn stdout(text: Text) {
    write(Stream::Stdout, text.0.as_bytes());
}

fn stderr(text: Text) {
    write(Stream::Stderr, text.0.as_bytes());
}

/// Writes raw bytes to standard output, or to standard error.
fn write_bytes(bytes: Bytes, to_stderr: bool) {
    write(if to_stderr { Stream::Stderr } else { Stream::Stdout }, &bytes.0);
}
