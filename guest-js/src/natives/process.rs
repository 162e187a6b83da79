//! Functions that end a script early or inspect its text.

use rquickjs::{Ctx, Object, Result};

use super::add_all;
use crate::limits::{self, StopReason};
use crate::source::{self, Dialect};
use crate::text::Text;
use crate::{errors, modules, runtime};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives,
        "exit" => exit,
        "scriptText" => runtime::script_text,
        "callText" => call_text,
        "memoryUsed" => limits::memory_used_number,
        "memoryLimit" => limits::memory_limit_number,
        "checkSyntax" => modules::check_syntax,
        "isCommonJs" => modules::is_common_js,
        "compileCommonJs" => modules::compile_common_js,
        "requireModule" => modules::require_module,
        "prepareFile" => modules::prepare_file,
    )
}

/// Returns the text of the call at a position of a file, as `assert` quotes it.
fn call_text(name: Text, text: Text, line: usize, column: usize) -> Option<String> {
    source::call_text(&text.0, Dialect::of(&name.0), line, column)
}

/// Ends the script at once. No further code runs, not even in `finally` and `catch`.
fn exit(ctx: Ctx<'_>, code: u8) -> Result<()> {
    limits::stop(StopReason::Exit(code));
    Err(errors::uncatchable(&ctx, "process.exit"))
}
