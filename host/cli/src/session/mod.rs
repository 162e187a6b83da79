//! `tollhouse session`.

mod change;
mod files;
mod gc;
mod grant;
mod log;
mod look;
mod new;
pub(crate) mod reserve;
mod transfer;

pub(super) use files::copy;

use clap::Subcommand;
use tollhouse::session::SessionsError;

use super::places::Places;
use super::{CliError, Result};

/// Create, inspect, copy and change sessions
///
/// A session holds files, budgets and runs that outlive a process: `tollhouse run --session report …` creates one, or
/// continues it. Each run leaves a snapshot of the files; `report@3` names those that run 3 left, `report@0` those that
/// the session was created with, `report@good` those that carry the label `good`, and `report` the current ones.
#[derive(Subcommand)]
pub(crate) enum Session {
    New(new::New),
    Ls(look::Ls),
    Show(look::Show),
    Log(log::Log),
    Files(files::Files),
    Cat(files::Cat),
    Put(files::Put),
    Get(files::Get),
    Diff(files::Diff),
    Fork(change::Fork),
    Rollback(change::Rollback),
    Label(change::Label),
    Grant(grant::Grant),
    Export(transfer::Export),
    Import(transfer::Import),
    Rm(change::Rm),
    Gc(gc::Gc),
}

impl Session {
    /// Executes the command.
    pub(crate) fn execute(self, places: &Places) -> Result {
        match self {
            Self::New(new) => new.execute(places),
            Self::Ls(ls) => ls.execute(places),
            Self::Show(show) => show.execute(places),
            Self::Log(log) => log.execute(places),
            Self::Files(files) => files.execute(places),
            Self::Cat(cat) => cat.execute(places),
            Self::Put(put) => put.execute(places),
            Self::Get(get) => get.execute(places),
            Self::Diff(diff) => diff.execute(places),
            Self::Fork(fork) => fork.execute(places),
            Self::Rollback(rollback) => rollback.execute(places),
            Self::Label(label) => label.execute(places),
            Self::Grant(grant) => grant.execute(places),
            Self::Export(export) => export.execute(places),
            Self::Import(import) => import.execute(places),
            Self::Rm(rm) => rm.execute(places),
            Self::Gc(gc) => gc.execute(places),
        }
    }
}

/// Converts an error of a session for the user.
pub(crate) fn failed(what: &str, error: &SessionsError) -> CliError {
    let shown = CliError::because(what, error);
    match error {
        SessionsError::Unknown { nearest: Some(near), .. } => shown.hint(format!("did you mean `{near}`?")),
        SessionsError::Unknown { .. } => shown.hint("`tollhouse session ls` lists those that there are"),
        SessionsError::Differs { session, .. } => shown
            .hint(format!("a session keeps what it was made with: leave `--policy`, `--allow` and `--tool` out, or take another name; `tollhouse session show {session}` shows what it has, and `tollhouse session grant {session}` adds to it"))
            .status(super::error::USAGE),
        SessionsError::NoPoint { session, .. } => {
            shown.hint(format!("`tollhouse session show {session}` lists its runs and labels"))
        }
        SessionsError::Token => shown.hint("run without `--session`, or make the session from a policy file"),
        SessionsError::Damaged { .. } => shown.hint("`tollhouse store verify` says what else is damaged"),
        _ => shown,
    }
}
