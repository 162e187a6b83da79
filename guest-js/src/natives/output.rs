//! Standard output and standard error.

use rquickjs::{Ctx, Object, Result};

use super::add_all;
use crate::bindings::output::{self, Stream};
use crate::text::{Bytes, Text};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "stdout" => stdout, "stderr" => stderr, "outputBytes" => write_bytes)
}

fn stdout(text: Text) {
    output::write(Stream::Stdout, text.0.as_bytes());
}

fn stderr(text: Text) {
    output::write(Stream::Stderr, text.0.as_bytes());
}

/// Bytes that are no text, to standard output or, if so asked, standard error.
fn write_bytes(bytes: Bytes, to_stderr: bool) {
    output::write(if to_stderr { Stream::Stderr } else { Stream::Stdout }, &bytes.0);
}
