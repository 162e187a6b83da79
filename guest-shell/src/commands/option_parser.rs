//! Parser of command lines in the manner of the C library's `getopt_long`, with GNU's hint behind a mistake.

use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{self, OptArg, ParsedOpt};

/// Parses a command line: the options that `short` (`ab:c::`) and `long` describe, and the operands, which may stand
/// between options if `permute`. The error is the result of the command, with this status.
pub(crate) fn gnu_getopt(
    command: &str,
    words: &[String],
    short: &str,
    long: &[(&str, OptArg, char)],
    permute: bool,
    status: i32,
) -> Result<(Vec<ParsedOpt>, Vec<String>), ExecResult> {
    arg_parser::gnu_getopt(command, words, short, long, permute, status).map_err(|refusal| {
        let message = format!("{}Try '{command} --help' for more information.\n", &*refusal.stderr);
        ExecResult::err(message, status)
    })
}
