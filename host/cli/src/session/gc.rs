//! `tollhouse session gc`.

use clap::Args;
use serde_json::json;

use super::super::locations::Locations;
use super::super::progress::Progress;
use super::super::{Result, format, show};
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
    /// Print one JSON object: kept, removed, leftovers (each {files, bytes}), interrupted
    #[arg(long)]
    json: bool,
}

impl CollectSessionBlobsCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        reserve::release(&locations.store);
        let progress = Progress::new("looking for unused blobs");
        let swept = locations.sessions()?.gc(self.dry_run);
        drop(progress);
        let swept = swept.map_err(|error| super::failed("cannot free unused blobs", &error))?;
        let amount = |amount: tollhouse::store::Amount| json!({ "files": amount.files, "bytes": amount.bytes });
        if self.json {
            show::json(&json!({
                "kept": amount(swept.kept),
                "removed": amount(swept.removed),
                "leftovers": amount(swept.leftovers),
                "interrupted": swept.interrupted,
                "dry_run": self.dry_run,
            }));
            return Ok(Exit::SUCCESS);
        }
        let freed = if self.dry_run { "would be freed" } else { "freed" };
        let (removed, left) = (swept.removed, swept.leftovers);
        let size = format::size(removed.bytes + left.bytes);
        show::line(format_args!("{size} {freed} ({} blobs), {} kept", removed.files, format::size(swept.kept.bytes)));
        if swept.interrupted {
            note!("warning: a commit took too long: there may be more to free");
        }
        Ok(Exit::SUCCESS)
    }
}
