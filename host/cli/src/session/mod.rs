//! `tollhouse session`.

mod change;
mod files;
mod gc;
mod grant;
mod list;
mod log;
pub(crate) mod losses;
mod new;
mod pending;
mod replay;
pub(crate) mod reserve;
mod resume;
pub(crate) mod transfer;
mod why;

pub(super) use files::copy;
pub(super) use resume::{Resumption, ShownResult};

use clap::Subcommand;
use tollhouse::session::SessionsError;
use tollhouse::store::{BlobError, StoreError};

use super::locations::Locations;
use super::{CliError, Result};

/// Create, inspect, copy and change sessions
///
/// A session holds files, budgets and runs that outlive a process: `tollhouse run --session report …` creates one, or
/// continues it. Each run leaves a snapshot of the files; `report@3` names those that run 3 left, `report@0` those that
/// the session was created with, `report@good` those that carry the label `good`, and `report` the current ones.
#[derive(Subcommand)]
#[command(defer = true)]
pub(crate) enum SessionCommand {
    New(new::NewSessionCommand),
    Ls(list::ListSessionsCommand),
    Show(list::ShowSessionCommand),
    Log(log::ShowLogCommand),
    Replay(replay::ReplayCommand),
    Receipt(super::receipt::ReceiptCommand),
    Why(why::WhyCommand),
    Resume(resume::ResumeCommand),
    Pending(pending::PendingCallsCommand),
    Approve(resume::ApproveCommand),
    Deny(resume::DenyCommand),
    Edit(resume::EditCommand),
    Resolve(resume::ResolveCommand),
    Abandon(resume::AbandonCommand),
    Files(files::ListFilesCommand),
    Cat(files::CatFileCommand),
    Put(files::PutFileCommand),
    Get(files::GetFileCommand),
    Diff(files::DiffSessionCommand),
    Fork(change::ForkCommand),
    Rollback(change::RollbackCommand),
    Label(change::LabelCommand),
    Grant(grant::GrantCommand),
    Export(transfer::ExportSessionCommand),
    Import(transfer::ImportSessionCommand),
    Rm(change::RemoveSessionCommand),
    Gc(gc::CollectSessionBlobsCommand),
}

impl SessionCommand {
    /// Executes the command.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        match self {
            Self::New(new) => new.execute(locations),
            Self::Ls(ls) => ls.execute(locations),
            Self::Show(show) => show.execute(locations),
            Self::Log(log) => log.execute(locations),
            Self::Replay(replay) => replay.execute(locations),
            Self::Receipt(receipt) => receipt.execute(locations),
            Self::Why(why) => why.execute(locations),
            Self::Resume(resume) => resume.execute(locations),
            Self::Pending(pending) => pending.execute(locations),
            Self::Approve(approve) => approve.execute(locations),
            Self::Deny(deny) => deny.execute(locations),
            Self::Edit(edit) => edit.execute(locations),
            Self::Resolve(resolve) => resolve.execute(locations),
            Self::Abandon(abandon) => abandon.execute(locations),
            Self::Files(files) => files.execute(locations),
            Self::Cat(cat) => cat.execute(locations),
            Self::Put(put) => put.execute(locations),
            Self::Get(get) => get.execute(locations),
            Self::Diff(diff) => diff.execute(locations),
            Self::Fork(fork) => fork.execute(locations),
            Self::Rollback(rollback) => rollback.execute(locations),
            Self::Label(label) => label.execute(locations),
            Self::Grant(grant) => grant.execute(locations),
            Self::Export(export) => export.execute(locations),
            Self::Import(import) => import.execute(locations),
            Self::Rm(rm) => rm.execute(locations),
            Self::Gc(gc) => gc.execute(locations),
        }
    }
}

/// Hint for a full disk.
pub(crate) const FREE_SPACE: &str = "free space on that disk, for example by `tollhouse session rm` and `tollhouse session gc`, for which a store keeps space in reserve";

/// Hint for a store that cannot be read.
pub(crate) const REPAIR: &str = "`tollhouse store repair` sets the damaged files aside, and saves what can be read";

/// Converts an error of a session for the user.
pub(crate) fn failed(what: &str, error: &SessionsError) -> CliError {
    let shown = CliError::because(what, error);
    match error {
        SessionsError::Unknown { nearest: Some(near), .. } => shown.hint(format!("did you mean `{near}`?")),
        SessionsError::Unknown { .. } => shown.hint("`tollhouse session ls` lists the sessions"),
        SessionsError::Differs { session, .. } => shown
            .hint(format!("a session keeps its policy and tools: leave `--policy`, `--allow` and `--tool` out, or use another name; `tollhouse session show {session}` shows what it has, and `tollhouse session grant {session}` adds to it"))
            .status(super::error::USAGE),
        SessionsError::Exists(id) => shown
            .hint(format!("choose another name; `tollhouse run --session {id}` continues this session, and `tollhouse session rm {id}` removes it"))
            .status(super::error::USAGE),
        SessionsError::Label(_) => shown.status(super::error::USAGE),
        SessionsError::NoPoint { session, .. } => {
            shown.hint(format!("`tollhouse session show {session}` lists its runs and labels"))
        }
        SessionsError::Suspended { session, .. } => shown.hint(format!(
            "`tollhouse session pending {session}` shows what it waits for, `session resume {session}` continues it, and `session abandon {session}` ends it"
        )),
        SessionsError::HandedOver(session) => shown.hint(format!(
            "it goes on where its export was imported; `tollhouse session fork {session} NAME` begins another with its files"
        )),
        SessionsError::Replay { session, .. } => {
            shown.hint(format!("`tollhouse session abandon {session}` ends the run; the files are as before it"))
        }
        SessionsError::NoJournal { session, run } => shown.hint(format!(
            "the journal of a run that has ended is kept if the policy with which the session was created says so: `[journal] keep = \"30d\"`; `tollhouse session fork {session}@{run} NAME` begins with the files that the run left"
        )),
        SessionsError::NotForkable { session, run, .. } => {
            shown.hint(format!("`tollhouse session replay {session}@{run}` shows its calls"))
        }
        SessionsError::Several(session) => {
            shown.hint(format!("name one by its number: `tollhouse session pending {session}` lists them"))
        }
        SessionsError::Unsigned { session, seq, approvers } => shown.hint(format!(
            "`tollhouse session approve {session} {seq} --key FILE`, with the private key of {}",
            approvers.join(" or ")
        )),
        SessionsError::Token => shown.hint("run without `--session`, or create the session from a policy file"),
        SessionsError::NoArchive | SessionsError::Archive(_) => {
            shown.hint("it must be a file that `tollhouse session export` wrote, whole and unchanged")
        }
        SessionsError::Damaged { .. }
        | SessionsError::Blob(BlobError::Missing(_) | BlobError::Damaged(_))
        | SessionsError::Node { .. } => shown.hint("`tollhouse store verify` lists everything that is damaged"),
        SessionsError::Store(StoreError::Full(_)) | SessionsError::Blob(BlobError::Full { .. }) => shown.hint(FREE_SPACE),
        SessionsError::Store(StoreError::Damaged(_)) => shown.hint(REPAIR),
        _ => shown,
    }
}
