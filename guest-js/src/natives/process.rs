//! The end of the script, before its end.

use rquickjs::{Ctx, Object, Result};

use super::add_all;
use crate::limits::{self, Stop};
use crate::{errors, modules, runtime};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives,
        "exit" => exit,
        "scriptText" => runtime::script_text,
        "memoryUsed" => limits::memory_used_number,
        "isCommonJs" => modules::is_common_js,
        "compileCommonJs" => modules::compile_common_js,
        "prepareFile" => modules::prepare_file,
    )
}

/// Ends the script: nothing of it runs any more, `finally` and `catch` neither.
fn exit(ctx: Ctx<'_>, code: u8) -> Result<()> {
    limits::stop(Stop::Exit(code));
    Err(errors::uncatchable(&ctx, "process.exit"))
}
