//! `tollhouse store`.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tollhouse::session::{Sessions, SessionsError};
use tollhouse::store::{self, Backend};

use super::error::chain;
use super::locations::Locations;
use super::progress::Progress;
use super::session::losses::{self, Loss};
use super::{CliError, Result, format, session, show};
use crate::Exit;

/// Check, compact and repair the store of sessions
#[derive(Subcommand)]
#[command(defer = true)]
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
/// names. No process may have the store open. Exit status 1 if anything was lost, with the sessions, runs and files that
/// lost it.
#[derive(Args)]
pub(crate) struct RepairStoreCommand {
    /// Print one JSON object: aside, saved, gaps, lost, blobs, damaged (an array of {session, problem, files})
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

/// Findings of a check of the whole store.
pub(crate) struct StoreCheck {
    /// Number of sessions that are whole.
    pub(crate) sessions: u64,
    blobs: store::Verified,
    /// Problems, each with `session`, `blob` or `record`, and `problem`.
    pub(crate) problems: Vec<Value>,
}

/// Checks every session and every blob of the store.
pub(crate) fn check(sessions: &Sessions) -> std::result::Result<StoreCheck, SessionsError> {
    let (mut problems, mut checked) = (Vec::new(), 0);
    let listed = sessions.list()?;
    let progress = Progress::new("checking sessions");
    for (number, id) in listed.iter().enumerate() {
        progress.now(format!("checking session {} of {}", number + 1, listed.len()));
        match sessions.verifier().verify_session(id) {
            Ok(_) => checked += 1,
            // The session was removed since it was listed.
            Err(SessionsError::Unknown { .. }) => {}
            Err(error) => problems.push(json!({ "session": id, "problem": chain(&error) })),
        }
    }
    if let Err(error) = sessions.verifier().verify_families() {
        problems.push(json!({ "record": "shared budgets", "problem": chain(&error) }));
    }
    progress.now("checking the blobs");
    let blobs = sessions.verifier().verify_blobs()?;
    let damaged = |fault: &store::Fault| json!({ "blob": fault.blob.to_string(), "problem": chain(&fault.error) });
    problems.extend(blobs.faults.iter().map(damaged));
    Ok(StoreCheck { sessions: checked, blobs, problems })
}

impl VerifyStoreCommand {
    fn execute(self, locations: &Locations) -> Result {
        let sessions = locations.existing_sessions()?;
        let StoreCheck { sessions: checked, blobs, problems } =
            check(&sessions).map_err(|error| session::failed("cannot check the store", &error))?;
        if self.json {
            let report =
                json!({ "sessions": checked, "blobs": blobs.blobs, "bytes": blobs.bytes, "problems": problems });
            show::json_pretty(&report);
        } else {
            let size = format::size(blobs.bytes);
            let (whole, blobs) = (format::count(checked, "session"), format::count(blobs.blobs, "blob"));
            show::line(format_args!("{whole} and {blobs} ({size}) are whole"));
            for problem in &problems {
                let what =
                    ["session", "blob", "record"].iter().find_map(|kind| problem[kind].as_str()).unwrap_or_default();
                note!("{what}: {}", problem["problem"].as_str().unwrap_or_default());
            }
        }
        if problems.is_empty() {
            return Ok(Exit::SUCCESS);
        }
        let error = CliError::because(format::count(problems.len() as u64, "problem"), &Damaged);
        Err(error.hint("take damaged sessions from an export, or back to a run whose files are whole (`session rollback`); `tollhouse store repair` keeps damaged files aside"))
    }
}

/// Returns true if everything in the store can be read and is valid.
fn is_whole(locations: &Locations) -> bool {
    let Ok(sessions) = locations.existing_sessions() else { return false };
    check(&sessions).is_ok_and(|checked| checked.problems.is_empty())
}

/// Error with which `verify` ends.
#[derive(Debug, thiserror::Error)]
#[error("the store is damaged")]
struct Damaged;

impl CompactStoreCommand {
    fn execute(self, locations: &Locations) -> Result {
        let compacted = locations.existing_sessions()?.compact();
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
        if !locations.has_store() {
            return Err(locations.no_store());
        }
        if is_whole(locations) {
            if self.json {
                show::json(&json!({ "aside": null, "saved": 0, "gaps": 0, "lost": 0, "blobs": [], "damaged": [] }));
            } else {
                show::line("the store is whole: there is nothing to repair");
            }
            return Ok(Exit::SUCCESS);
        }
        store::refuse_strangers(&locations.store, locations.trust_writers).map_err(|error| failed(error.into()))?;
        let repaired = Sessions::repair(&locations.store, Backend::Sled).map_err(failed)?;
        let records = &repaired.records;
        // What was saved may name what was lost.
        let damaged = losses::find(&locations.existing_sessions()?);
        let is_lost = records.gaps > 0 || records.lost > 0 || !damaged.is_empty();
        let aside: Vec<Value> = repaired.blobs.iter().map(|blob| blob.to_string().into()).collect();
        if self.json {
            show::json(&json!({
                "aside": records.aside.display().to_string(),
                "saved": records.saved,
                "gaps": records.gaps,
                "lost": records.lost,
                "blobs": aside,
                "damaged": damaged,
            }));
        } else {
            show::line(format_args!(
                "{} saved; {} could not be read; groups of commits that are missing: {}",
                format::count(records.saved as u64, "record"),
                format::count(records.gaps as u64, "place"),
                records.lost
            ));
            show::line(format_args!("the damaged database is kept in {}", records.aside.display()));
            show::line(format_args!("{} set aside", format::count(aside.len() as u64, "damaged blob")));
            damaged.iter().for_each(Loss::note);
        }
        if !is_lost {
            return Ok(Exit::SUCCESS);
        }
        Err(CliError::because("the store was repaired", &Lost).hint(
            "take damaged sessions from an export, or back to a run whose files are whole (`tollhouse session rollback`), or \
             remove them (`tollhouse session rm`); `tollhouse store verify` then finds nothing",
        ))
    }
}

/// Error with which `repair` ends if data was lost.
#[derive(Debug, thiserror::Error)]
#[error("something that it contained was lost")]
struct Lost;
