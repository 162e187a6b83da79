//! `tollhouse registry gc`.

use std::collections::HashSet;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tollhouse::session::SessionsError;
use tollhouse::tool::Lock;
use tollhouse_registry::Digest;

use super::super::locations::Locations;
use super::super::lock::read_lock;
use super::super::{Result, format, session, show};
use crate::Exit;

/// Remove blobs that neither the index, nor a session, nor a lock references
///
/// Published releases are always referenced. Unreferenced blobs come from writers that were killed, and from an index
/// that was restored from a backup.
#[derive(Args)]
#[command(after_help = "Example:\n  tollhouse registry gc --dry-run --locked ./tollhouse.lock")]
pub(crate) struct CollectRegistryBlobsCommand {
    /// Keep what this `tollhouse.lock` references, too
    #[arg(long, value_name = "FILE")]
    locked: Vec<PathBuf>,
    /// Only report what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object: removed, bytes, dry_run
    #[arg(long)]
    json: bool,
}

impl CollectRegistryBlobsCommand {
    pub(super) fn execute(&self, locations: &Locations) -> Result {
        let mut kept = HashSet::new();
        for path in &self.locked {
            keep(&mut kept, &read_lock(path)?);
        }
        if locations.store.exists() {
            let failed = |error: &SessionsError| session::failed("cannot read the sessions", error);
            let sessions = locations.sessions()?;
            for id in sessions.list().map_err(|error| failed(&error))? {
                match sessions.reader().lock(&id) {
                    Ok(lock) => keep(&mut kept, &lock),
                    // The session was removed since it was listed.
                    Err(SessionsError::Unknown { .. }) => {}
                    // Its references are not known, so nothing may be removed.
                    Err(error) => return Err(failed(&error)),
                }
            }
        }
        let swept = super::existing(locations)?.gc(&kept, self.dry_run).map_err(|error| super::unreadable(&error))?;
        if self.json {
            let removed: Vec<String> = swept.removed.iter().map(ToString::to_string).collect();
            show::json(&json!({ "removed": removed, "bytes": swept.bytes, "dry_run": self.dry_run }));
        } else {
            let would = if self.dry_run { "would be removed" } else { "removed" };
            show::line(format_args!("{} blobs {would}, {}", swept.removed.len(), format::size(swept.bytes)));
        }
        Ok(Exit::SUCCESS)
    }
}

fn keep(kept: &mut HashSet<Digest>, lock: &Lock) {
    for locked in lock.packages.values() {
        let digests = [&locked.component, &locked.wit, &locked.manifest];
        kept.extend(digests.into_iter().filter_map(|hex| format!("sha256:{hex}").parse::<Digest>().ok()));
    }
}
