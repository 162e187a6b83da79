//! Removal of members from an archive (`--delete`).

use bashkit::builtins::{Context, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::{ExecResult, Result};

use super::fatal_error;
use super::header::{BLOCKING_FACTOR, TAR_BLOCK_SIZE};
use super::input::read_archive;
use super::members::MemberFilter;
use super::options::TarOptions;
use super::plan::check_contents;
use super::reader::TarReader;
use super::usage::fatal_usage_error;
use crate::commands::archive::codec::ArchiveCompression;

/// Writes the archive without the members that names select.
pub(super) async fn delete(ctx: &Context<'_>, options: &TarOptions<'_>, names: &[&str]) -> Result<ExecResult> {
    if options.compression() != ArchiveCompression::None {
        return Ok(fatal_usage_error("Cannot update compressed archives"));
    }
    let archive = match read_archive(ctx, options).await? {
        Ok(archive) => archive.bytes,
        Err(result) => return Ok(result),
    };
    if let Err(message) = check_contents(ctx, &archive) {
        return Ok(ExecResult::err(message, 2));
    }
    let mut members = MemberFilter::new(names, options.matching);
    let mut kept = Vec::new();
    let mut reader = TarReader::new(&archive);
    loop {
        // Headers with a long name stand before that of the member.
        let start = reader.offset();
        match reader.member() {
            None => break,
            Some(Err(message)) => return Ok(ExecResult::err(message, 2)),
            Some(Ok(member)) if names.is_empty() || !members.selects(&member.name) => {
                kept.extend_from_slice(&archive[start..member.end]);
            }
            Some(Ok(_)) => {}
        }
    }
    kept.resize((kept.len() + 2 * TAR_BLOCK_SIZE).next_multiple_of(BLOCKING_FACTOR * TAR_BLOCK_SIZE), 0);
    let missing = members.missing();
    let status = if missing.is_empty() { 0 } else { 2 };
    if options.archive() == "-" {
        return Ok(ExecResult { stderr: missing.into(), exit_code: status, ..ExecResult::ok_bytes(kept) });
    }
    if let Err(error) = ctx.fs.write_file(&resolve_path(ctx.cwd, options.archive()), &kept).await {
        return Ok(fatal_error(&format!("{}: Cannot open: {}", options.archive(), io_error_reason(&error))));
    }
    Ok(ExecResult { stderr: missing.into(), ..ExecResult::with_code(String::new(), status) })
}
