//! Archives that are read, decompressed.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::result::Result as StdResult;

use bashkit::builtins::{Context, resolve_path};
use bashkit::limits::ExecutionBudgetLease;
use bashkit::{Error, ExecResult, Result};

use super::fatal_error;
use super::header::TarHeader;
use super::options::TarOptions;
use super::usage::not_an_archive;
use crate::commands::archive::codec::ArchiveCompression;
use crate::commands::budget::{budgeted_copy, consume_pass, with_execution_budget};
use crate::commands::operands::file_error_reason;

/// Bytes whose memory is counted while they live.
pub(super) struct ArchiveBytes {
    pub(super) bytes: Vec<u8>,
    _lease: Option<ExecutionBudgetLease>,
}

/// Reads the archive of a call and decompresses it, by its first bytes unless an option says how.
pub(super) async fn read_archive(
    ctx: &Context<'_>,
    options: &TarOptions<'_>,
) -> Result<StdResult<ArchiveBytes, ExecResult>> {
    let packed = match read_packed(ctx, options.archive()).await? {
        Ok(packed) => packed,
        Err(result) => return Ok(Err(result)),
    };
    ctx.consume_budget_input(packed.bytes.len())?;
    let compression = match options.compression() {
        ArchiveCompression::None => ArchiveCompression::detect(&packed.bytes),
        compression => compression,
    };
    let archive = if compression == ArchiveCompression::None {
        packed
    } else {
        let max_size = ctx.fs.limits().max_total_bytes;
        match with_execution_budget(ctx, |budget| compression.decompress(&packed.bytes, max_size, "tar", budget)) {
            Ok(unpacked) => {
                let (bytes, _lease) = unpacked.into_parts();
                ArchiveBytes { bytes, _lease }
            }
            Err(Error::Execution(reason)) => {
                // As the child of GNU's that decompresses.
                let program = compression.program();
                let reason = reason.strip_prefix("tar: ").unwrap_or(&reason);
                return Ok(Err(fatal_error(&format!("{program}: {reason}\ntar: Child returned status 1"))));
            }
            Err(error) => return Err(error),
        }
    };
    ctx.consume_budget_input(archive.bytes.len())?;
    consume_pass(ctx, archive.bytes.len())?;
    match TarHeader::at(&archive.bytes, 0) {
        None if !archive.bytes.is_empty() => return Ok(Err(not_an_archive(""))),
        Some(header) if !header.is_end() && !header.has_right_checksum() => {
            return Ok(Err(not_an_archive("tar: Skipping to next header\n")));
        }
        _ => {}
    }
    Ok(Ok(archive))
}

/// Reads a file or standard input. The error is the result of an archive that cannot be read.
async fn read_packed(ctx: &Context<'_>, name: &str) -> Result<StdResult<ArchiveBytes, ExecResult>> {
    if name == "-" {
        let input = ctx.stdin_to_end().await?;
        let (bytes, _lease) = budgeted_copy(ctx, input.as_bytes())?.into_parts();
        return Ok(Ok(ArchiveBytes { bytes, _lease }));
    }
    match ctx.fs.read_file(&resolve_path(ctx.cwd, name)).await {
        Ok(bytes) => {
            let _lease = ctx.lease_budget_bytes(bytes.len())?;
            Ok(Ok(ArchiveBytes { bytes, _lease }))
        }
        Err(error) => Ok(Err(match &*file_error_reason(error)? {
            reason @ "Is a directory" => {
                fatal_error(&format!("{name}: Cannot read: {reason}\ntar: At beginning of tape, quitting now"))
            }
            reason => fatal_error(&format!("{name}: Cannot open: {reason}")),
        })),
    }
}
