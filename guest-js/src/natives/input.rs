//! Standard input that a script reads synchronously, within a step.

use rquickjs::{Ctx, Object, Result};

use super::add_all;
use crate::bindings::input;
use crate::{convert, errors, limits};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "readNow" => read_now)
}

/// Waits for up to `limit` bytes. Returns `{bytes}`, which are empty at the end of the input, or `{failure}`.
fn read_now<'js>(ctx: Ctx<'js>, limit: u32) -> Result<Object<'js>> {
    // The host may end this guest here, and replay the script in a new one once its input has arrived.
    limits::tell();
    let record = Object::new_proto(ctx.clone(), None)?;
    match input::read(limit) {
        Ok(bytes) => record.set("bytes", convert::bytes_value(&ctx, bytes)?)?,
        Err(failure) => record.set("failure", errors::to_record(&ctx, failure)?)?,
    }
    Ok(record)
}
