//! Standard output and standard error.

use rquickjs::{Ctx, Object, Result};

use super::add_all;
use crate::bindings::output::{self, Stream};
use crate::text::Text;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "stdout" => stdout, "stderr" => stderr)
}

fn stdout(text: Text) {
    output::write(Stream::Stdout, text.0.as_bytes());
}

fn stderr(text: Text) {
    output::write(Stream::Stderr, text.0.as_bytes());
}
