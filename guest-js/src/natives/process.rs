//! The end of the script, before its end.
#![expect(unsafe_code, reason = "an exception that no script can catch")]

use rquickjs::{Ctx, Error, Exception, Object, Result, qjs};

use super::add_all;
use crate::limits::{self, Stop};
use crate::modules;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives,
        "exit" => exit,
        "memoryUsed" => limits::memory_used_number,
        "compileCommonJs" => modules::compile_common_js,
        "prepareFile" => modules::prepare_file,
    )
}

/// Ends the script: nothing of it runs any more, `finally` and `catch` neither.
fn exit(ctx: Ctx<'_>, code: u8) -> Result<()> {
    limits::stop(Stop::Exit(code));
    let _ = Exception::throw_internal(&ctx, "process.exit");
    let thrown = ctx.catch();
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the value was just caught and is alive; `JS_Throw` takes over the reference made for it.
    unsafe {
        qjs::JS_SetUncatchableError(raw, thrown.as_raw());
        qjs::JS_Throw(raw, qjs::JS_DupValue(raw, thrown.as_raw()));
    }
    Err(Error::Exception)
}
