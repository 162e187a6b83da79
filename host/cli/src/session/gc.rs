//! `tollhouse session gc`.

use clap::Args;
use serde_json::json;
use tollhouse::session::{Sessions, SessionsError};
use tollhouse::store::BlobError;

use super::super::locations::Locations;
use super::super::progress::Progress;
use super::super::{CliError, Result, format, show};
use super::losses::{self, Loss};
use super::reserve;
use crate::Exit;

/// Delete data that no session references
///
/// Runs may continue meanwhile. Data that a run, a label or a fork references stays.
#[derive(Args)]
pub(crate) struct CollectSessionBlobsCommand {
    /// Report the data that would be freed, without freeing it
    #[arg(long)]
    dry_run: bool,
    /// Go on if directories of a session cannot be read, as after `store repair`. Frees what only those name as well. Exit
    /// status 1, with the sessions
    #[arg(long)]
    skip_damaged: bool,
    /// Print one JSON object: kept, removed, leftovers (each {files, bytes}), interrupted, dry_run, damaged (an array of
    /// {session, problem, files})
    #[arg(long)]
    json: bool,
}

impl CollectSessionBlobsCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        // A report frees nothing, so it takes no reserve.
        if !self.dry_run {
            reserve::release(&locations.store);
        }
        let progress = Progress::new("looking for unused blobs");
        let sessions = locations.existing_sessions()?;
        let swept = if self.skip_damaged {
            sessions.garbage_collector().collect_skipping_unreadable(self.dry_run)
        } else {
            sessions.garbage_collector().collect(self.dry_run)
        };
        if !self.dry_run {
            reserve::restore(&locations.store);
        }
        drop(progress);
        let swept = swept.map_err(|error| not_freed(&sessions, &error))?;
        let damaged = if swept.unreadable > 0 { losses::find(&sessions) } else { Vec::new() };
        let amount = |amount: tollhouse::store::Amount| json!({ "files": amount.files, "bytes": amount.bytes });
        if self.json {
            show::json(&json!({
                "kept": amount(swept.kept),
                "removed": amount(swept.removed),
                "leftovers": amount(swept.leftovers),
                "interrupted": swept.interrupted,
                "dry_run": self.dry_run,
                "damaged": damaged,
            }));
            return Ok(if damaged.is_empty() { Exit::SUCCESS } else { Exit::FAILURE });
        }
        let freed = if self.dry_run { "would be freed" } else { "freed" };
        let (removed, left) = (swept.removed, swept.leftovers);
        let size = format::size(removed.bytes + left.bytes);
        show::line(format_args!("{size} {freed} ({} blobs), {} kept", removed.files, format::size(swept.kept.bytes)));
        if swept.interrupted {
            note!("warning: a commit took too long: there may be more to free");
        }
        damaged.iter().for_each(Loss::note);
        Ok(if damaged.is_empty() { Exit::SUCCESS } else { Exit::FAILURE })
    }
}

/// Converts an error of garbage collection for the user: of a blob that cannot be read, it says whose it is.
fn not_freed(sessions: &Sessions, error: &SessionsError) -> CliError {
    let shown = super::failed("cannot free unused blobs", error);
    if !matches!(error, SessionsError::Blob(BlobError::Missing(_) | BlobError::Damaged(_))) {
        return shown;
    }
    let damaged = losses::find(sessions);
    damaged.iter().for_each(Loss::note);
    let names: Vec<&str> = damaged.iter().map(|loss| loss.session.as_str()).collect();
    shown.hint(format!(
        "nothing was freed: what `{}` needs is not known. Remove what is damaged (`tollhouse session rm`), or free the rest \
         with `tollhouse session gc --skip-damaged`",
        names.join("`, `")
    ))
}
