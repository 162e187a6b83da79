//! Archives that members are added to (`-r`, `-u`).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::HashMap;
use std::result::Result as StdResult;

use bashkit::builtins::{Context, resolve_path};
use bashkit::error::io_error_reason;
use bashkit::limits::ExecutionBudgetLease;
use bashkit::{Error, ExecResult, Result};

use super::fatal_error;
use super::header::TAR_BLOCK_SIZE;
use super::options::TarOptions;
use super::reader::TarReader;
use super::usage::{fatal_usage_error, not_an_archive};
use crate::commands::archive::codec::ArchiveCompression;
use crate::commands::budget::consume_pass;

/// Archive before members are added to it.
#[derive(Default)]
pub(super) struct OldArchive {
    /// Bytes of the members, without the archive's end.
    pub(super) members: Vec<u8>,
    /// Newest times of members by their names, in seconds; only for an update.
    pub(super) times: HashMap<String, u64>,
    _lease: Option<ExecutionBudgetLease>,
}

/// Reads the archive of `-r` and `-u`, which need not be there.
pub(super) async fn read_old_archive(
    ctx: &Context<'_>,
    options: &TarOptions<'_>,
    update: bool,
) -> Result<StdResult<OldArchive, ExecResult>> {
    let name = options.archive();
    if name == "-" {
        return Ok(Err(fatal_usage_error("Options '-Aru' are incompatible with '-f -'")));
    }
    if options.compression() != ArchiveCompression::None {
        return Ok(Err(fatal_usage_error("Cannot update compressed archives")));
    }
    let mut members = match ctx.fs.read_file(&resolve_path(ctx.cwd, name)).await {
        Ok(bytes) => bytes,
        Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            return Ok(Err(fatal_error(&format!("{name}: Cannot open: {}", io_error_reason(&error)))));
        }
    };
    let lease = ctx.lease_budget_bytes(members.len())?;
    ctx.consume_budget_input(members.len())?;
    consume_pass(ctx, members.len())?;
    if ArchiveCompression::detect(&members) != ArchiveCompression::None {
        return Ok(Err(fatal_error("Cannot update compressed archives")));
    }
    Ok(members_end_and_times(&members, update).map(|(end, times)| {
        members.truncate(end);
        OldArchive { members, times, _lease: lease }
    }))
}

/// Returns the place behind the last member, and the newest times of members for an update.
fn members_end_and_times(archive: &[u8], update: bool) -> StdResult<(usize, HashMap<String, u64>), ExecResult> {
    let mut times = HashMap::new();
    let mut reader = TarReader::new(archive);
    while let Some(header) = reader.header() {
        if !header.has_right_checksum() {
            return Err(not_an_archive("tar: Skipping to next header\n"));
        }
        if reader.take_long_names(header) {
            continue;
        }
        let member = reader.take_member(header).ok().filter(|member| member.end <= archive.len());
        let Some(member) = member else {
            return Err(fatal_error("Unexpected EOF in archive"));
        };
        if update {
            let time = header.modified();
            let newest = times.entry(member.name).or_insert(time);
            *newest = time.max(*newest);
        }
    }
    if !archive.is_empty() && archive.len() < TAR_BLOCK_SIZE {
        return Err(not_an_archive(""));
    }
    Ok((reader.offset(), times))
}
