//! `xxd`: dumps bytes in hexadecimal or binary digits, and converts dumps to bytes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`options`] | command-line options |
//! | [`dump`] | formatting of dumps: lines with addresses, digits only, or an array of C |
//! | [`revert`] | conversion of a dump to bytes (`-r`) |
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod dump;
mod options;
mod revert;
#[cfg(test)]
mod tests;

use std::io::ErrorKind;

use async_trait::async_trait;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result};

use self::dump::dump;
use self::options::{CANNOT_SEEK, XxdOptions};
use self::revert::revert;
use crate::commands::operands;

const HELP: &str = "\
Usage: xxd [OPTIONS] [FILE [OUTPUT]]
Make a hexdump or do the reverse.

  -a\t\tleave out lines of zeros
  -b\t\tbits instead of hexadecimal digits
  -c COLS\tbytes per line (default: 16)
  -d\t\tdecimal offsets
  -e\t\tlittle-endian groups
  -g GROUP\tbytes per group (default: 2)
  -i\t\toutput as a C array
  -l LEN\tstop after LEN bytes
  -n NAME\tname of the C array
  -o OFFSET\tadd OFFSET to the addresses
  -C\t\tupper-case name of the C array
  -p\t\tplain hex dump (no offsets, no ASCII)
  -r\t\treverse: convert hexdump back to binary
  -s OFFSET\tstart at OFFSET bytes, from the end if negative
  -u\t\tupper case digits
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

/// Command `xxd` of the shell.
pub(crate) struct Xxd;

#[async_trait]
impl Builtin for Xxd {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("xxd 2022-01-14 by Juergen Weigert et al.")) {
            return Ok(result);
        }
        let (options, files) = match XxdOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(message) => {
                let status = if message == CANNOT_SEEK { 4 } else { 1 };
                return Ok(ExecResult::err(message, status));
            }
        };
        if options.cannot_revert() {
            return Ok(ExecResult::err("xxd: Sorry, cannot revert this type of hexdump\n", 255));
        }
        let input = files.first().map_or("-", String::as_str);
        let mut data = match operands::read_part(&ctx, input, options.used()).await? {
            Ok(data) => data,
            Err(reason) => return Ok(ExecResult::err(format!("xxd: {input}: {reason}\n"), 2)),
        };
        let start = match options.start(if input == "-" { 0 } else { data.len() }) {
            _ if options.reverse => 0,
            Ok(start) => start,
            Err(message) => return Ok(ExecResult::err(message, 4)),
        };
        let output = files.get(1).filter(|output| *output != "-");
        if options.reverse {
            return write_reverted(&ctx, &options, &data, output).await;
        }
        let Some(output) = output else {
            return Ok(ExecResult::ok_bytes(dump(&options, &data, start, input).into_bytes()));
        };
        if resolve_path(ctx.cwd, output) == resolve_path(ctx.cwd, input) {
            // The output is truncated before the input is read.
            data.clear();
        }
        Ok(write_output(&ctx, output, dump(&options, &data, start, input).as_bytes()).await)
    }
}

/// Writes the bytes of a dump to a file, whose other bytes stay, or to standard output.
async fn write_reverted(
    ctx: &Context<'_>,
    options: &XxdOptions,
    data: &[u8],
    output: Option<&String>,
) -> Result<ExecResult> {
    let Some(output) = output else {
        let (bytes, failure) = revert(options, data, None);
        let (stderr, exit_code) = failure.map(|failure| failure.report()).unwrap_or_default();
        return Ok(ExecResult { stderr: stderr.into(), exit_code, ..ExecResult::ok_bytes(bytes) });
    };
    let file = match ctx.fs.read_file(&resolve_path(ctx.cwd, output)).await {
        Ok(file) => file,
        Err(bashkit::Error::Io(error)) if error.kind() == ErrorKind::NotFound => Vec::new(),
        // To write it without what it has would lose that.
        Err(error) => return Ok(write_failure(output, &error)),
    };
    let (bytes, failure) = revert(options, data, Some(file));
    let written = write_output(ctx, output, &bytes).await;
    Ok(match failure.map(|failure| failure.report()) {
        Some((message, status)) if written.exit_code == 0 => ExecResult::err(message, status),
        _ => written,
    })
}

/// Writes a file. Returns the result of the command.
async fn write_output(ctx: &Context<'_>, output: &str, bytes: &[u8]) -> ExecResult {
    match ctx.fs.write_file(&resolve_path(ctx.cwd, output), bytes).await {
        Ok(()) => ExecResult::ok(String::new()),
        Err(error) => write_failure(output, &error),
    }
}

/// Returns the result of a call that cannot write its output file.
fn write_failure(output: &str, error: &bashkit::Error) -> ExecResult {
    ExecResult::err(format!("xxd: {output}: {}\n", io_error_reason(error)), 3)
}
