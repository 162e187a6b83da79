//! `tollhouse store`.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tollhouse::session::{Sessions, SessionsError};
use tollhouse::store::{self, Backend};

use super::locations::Locations;
use super::progress::Progress;
use super::{CliError, Result, format, session, show};
use crate::Exit;

/// Check, compact and repair the store of sessions
#[derive(Subcommand)]
pub(crate) enum StoreCommand {
    Verify(VerifyStoreCommand),
    Compact(CompactStoreCommand),
    Repair(RepairStoreCommand),
}

/// Check everything in the store: every hash, log, sum and reference
///
/// Runs may continue meanwhile. Exit status 1 if something is wrong, with the problems and what to do about them.
#[derive(Args)]
pub(crate) struct VerifyStoreCommand {
    /// Print one JSON object: sessions, blobs, bytes, problems
    #[arg(long)]
    json: bool,
}

/// Compact the records of the store
///
/// Commits wait meanwhile. `tollhouse session gc` frees files.
#[derive(Args)]
pub(crate) struct CompactStoreCommand {
    /// Print one JSON object: before, after
    #[arg(long)]
    json: bool,
}

/// Save the readable part of a damaged store
///
/// An intact store is not changed. The damaged files are set aside unchanged, and so are blobs that do not match their
/// names. No process may have the store open. Run `tollhouse store verify` afterwards.
#[derive(Args)]
pub(crate) struct RepairStoreCommand {
    /// Print one JSON object: aside, saved, gaps, lost, blobs
    #[arg(long)]
    json: bool,
}

impl StoreCommand {
    /// Executes the command.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        match self {
            Self::Verify(verify) => verify.execute(locations),
            Self::Compact(compact) => compact.execute(locations),
            Self::Repair(repair) => repair.execute(locations),
        }
    }
}

impl VerifyStoreCommand {
    fn execute(self, locations: &Locations) -> Result {
        let sessions = locations.sessions()?;
        let failed = |error| session::failed("cannot check the store", &error);
        let (mut problems, mut checked) = (Vec::new(), 0);
        let listed = sessions.list().map_err(failed)?;
        let progress = Progress::new("checking sessions");
        for (number, id) in listed.iter().enumerate() {
            progress.now(format!("checking session {} of {}", number + 1, listed.len()));
            match sessions.verify_session(id) {
                Ok(_) => checked += 1,
                // The session was removed since it was listed.
                Err(SessionsError::Unknown { .. }) => {}
                Err(error) => problems.push(json!({ "session": id, "problem": chain(&error) })),
            }
        }
        if let Err(error) = sessions.verify_families() {
            problems.push(json!({ "record": "shared budgets", "problem": chain(&error) }));
        }
        progress.now("checking the blobs");
        let blobs = sessions.verify_blobs();
        drop(progress);
        let blobs = blobs.map_err(failed)?;
        let damaged = |fault: &store::Fault| json!({ "blob": fault.blob.to_string(), "problem": chain(&fault.error) });
        problems.extend(blobs.faults.iter().map(damaged));
        if self.json {
            let report =
                json!({ "sessions": checked, "blobs": blobs.blobs, "bytes": blobs.bytes, "problems": problems });
            show::json_pretty(&report);
        } else {
            let size = format::size(blobs.bytes);
            show::line(format_args!("{checked} sessions and {} blobs ({size}) are whole", blobs.blobs));
            for problem in &problems {
                let what =
                    ["session", "blob", "record"].iter().find_map(|kind| problem[kind].as_str()).unwrap_or_default();
                note!("{what}: {}", problem["problem"].as_str().unwrap_or_default());
            }
        }
        if problems.is_empty() {
            return Ok(Exit::SUCCESS);
        }
        let error = CliError::because(format!("{} problems", problems.len()), &Damaged);
        Err(error.hint("take damaged sessions from an export, or back to a run whose files are whole (`session rollback`); `tollhouse store repair` keeps damaged files aside"))
    }
}

/// Returns true if everything in the store can be read and is valid.
fn is_whole(locations: &Locations) -> bool {
    let progress = Progress::new("checking the store");
    let Ok(sessions) = locations.sessions() else { return false };
    let Ok(listed) = sessions.list() else { return false };
    let whole = listed.iter().all(|id| match sessions.verify_session(id) {
        Ok(_) | Err(SessionsError::Unknown { .. }) => true,
        Err(_) => false,
    });
    let blobs = whole.then(|| sessions.verify_blobs());
    drop(progress);
    blobs.is_some_and(|blobs| blobs.is_ok_and(|blobs| blobs.faults.is_empty()))
}

/// Error with which `verify` ends.
#[derive(Debug, thiserror::Error)]
#[error("the store is damaged")]
struct Damaged;

/// Formats an error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl CompactStoreCommand {
    fn execute(self, locations: &Locations) -> Result {
        let compacted = locations.sessions()?.compact();
        let compacted = compacted.map_err(|error| session::failed("cannot compact the store", &error))?;
        let (before, after) = (compacted.before, compacted.after);
        if self.json {
            show::json(&json!({ "before": before, "after": after }));
        } else {
            show::line(format_args!("{} before, {} after", format::size(before), format::size(after)));
        }
        Ok(Exit::SUCCESS)
    }
}

impl RepairStoreCommand {
    fn execute(self, locations: &Locations) -> Result {
        let failed = |error| session::failed("cannot repair the store", &error);
        if locations.store.exists() && is_whole(locations) {
            if self.json {
                show::json(&json!({ "aside": null, "saved": 0, "gaps": 0, "lost": 0, "blobs": [] }));
            } else {
                show::line("the store is whole: there is nothing to repair");
            }
            return Ok(Exit::SUCCESS);
        }
        store::refuse_strangers(&locations.store, locations.trust_writers).map_err(|error| failed(error.into()))?;
        let repaired = Sessions::repair(&locations.store, Backend::Sled).map_err(failed)?;
        let records = &repaired.records;
        let aside: Vec<Value> = repaired.blobs.iter().map(|blob| blob.to_string().into()).collect();
        if self.json {
            show::json(&json!({
                "aside": records.aside.display().to_string(),
                "saved": records.saved,
                "gaps": records.gaps,
                "lost": records.lost,
                "blobs": aside,
            }));
        } else {
            show::line(format_args!(
                "{} records saved; {} places could not be read, {} groups of commits are missing",
                records.saved, records.gaps, records.lost
            ));
            show::line(format_args!("the damaged database is kept in {}", records.aside.display()));
            show::line(format_args!("{} damaged blobs set aside", aside.len()));
        }
        Ok(Exit::SUCCESS)
    }
}
