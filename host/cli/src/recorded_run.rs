//! `run --record`, `run --replay` and `run --dry-run`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use clap::Args;
use tollhouse::capability::Limits;
use tollhouse::session::{CallSource, HostError, Recording, RecordingFile, RunResult, Session, Status};
use tollhouse::tool::DryRun;
use tollhouse_registry::untrusted_file;

use super::approve::{TerminalApprover, TerminalDryRun};
use super::audit::AuditArgs;
use super::error::USAGE;
use super::locations::Locations;
use super::session_args::{OwnArgs, SessionArgs};
use super::{CliError, Result};

/// Options for runs whose calls are recorded, or not made.
#[derive(Args, Default)]
pub(crate) struct RecordingArgs {
    /// Record the script's calls with their results in this file, which has to be new or empty
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "check", "replay"])]
    pub(crate) record: Option<PathBuf>,
    /// Let `--record` replace a file that exists
    #[arg(long, requires = "record")]
    force: bool,
    /// Answer the script's calls from this recording: no tool is called, nobody is asked, and no secret is needed. A call
    /// that is not in it is an error, and so is a recorded call that the script does not make
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "check", "allow_exec"])]
    replay: Option<PathBuf>,
    /// Call no tool and spend nothing: calls that the policy allows are answered from the examples of the tools'
    /// manifests. A call without an example asks on the terminal for its result; without a terminal, or with `--no-wait`,
    /// it is an error in the script
    #[arg(long, conflicts_with_all = ["id", "check", "record", "replay", "allow_exec", "audit"])]
    dry_run: bool,
    #[arg(skip)]
    opened: OnceLock<Opened>,
}

/// Files of the options.
enum Opened {
    Recorded(RecordingFile),
    /// Text of a recording, of which nothing was read yet.
    Replayed(Mutex<Vec<u8>>),
}

impl RecordingArgs {
    /// Opens the files, before this process is confined and can no longer do so.
    pub(crate) fn open_files(&self) -> Result<()> {
        let opened = if let Some(path) = &self.record {
            let refused = |error: HostError| unwritable(error).status(USAGE);
            let opened = if self.force { RecordingFile::open(path) } else { RecordingFile::create(path) };
            Opened::Recorded(opened.map_err(refused)?)
        } else if let Some(path) = &self.replay {
            let text = untrusted_file::read_named(path, Recording::MAX_BYTES);
            Opened::Replayed(Mutex::new(text.map_err(|error| self.unreadable(&io::Error::from(error)))?))
        } else {
            return Ok(());
        };
        // Done once for each command.
        let _ = self.opened.set(opened);
        Ok(())
    }

    /// Returns true if the run is recorded or replayed.
    pub(crate) fn is_recorded(&self) -> bool {
        self.record.is_some() || self.replay.is_some()
    }

    /// Returns true if the run is recorded, replayed or a dry run.
    pub(crate) fn is_given(&self) -> bool {
        self.is_recorded() || self.dry_run
    }

    /// Returns the source of the calls of a run with these limits, within which a recording is read.
    fn source(&self, limits: &Limits, asks: bool) -> Result<CallSource> {
        Ok(match self.opened.get() {
            Some(Opened::Recorded(file)) => file.call_source(),
            Some(Opened::Replayed(text)) => {
                let text = std::mem::take(&mut *text.lock().unwrap_or_else(PoisonError::into_inner));
                let recording = Recording::parse_within(&text, limits);
                CallSource::Replayed(recording.map_err(|error| self.unreadable(&error))?)
            }
            None if self.dry_run => CallSource::DryRun(DryRun::new(Arc::new(TerminalDryRun { asks }))),
            None => CallSource::Tools,
        })
    }

    /// Creates the error of a recording that cannot be replayed.
    fn unreadable(&self, error: &(dyn std::error::Error + 'static)) -> CliError {
        let path = self.replay.as_deref().unwrap_or(Path::new(""));
        CliError::because(format!("cannot replay `{}`", path.display()), error).status(USAGE)
    }

    /// Opens the session in memory of a run that is recorded, replayed or a dry run.
    pub(crate) fn open(
        &self,
        session: &SessionArgs,
        locations: &Locations,
        own: &OwnArgs,
        audit: &AuditArgs,
    ) -> Result<Session> {
        let mut prepared = session.prepare(locations, own, audit)?;
        prepared.calls = self.source(&prepared.policy.limits, own.asks())?;
        if self.dry_run && own.asks() {
            prepared = prepared.asking(Arc::new(TerminalApprover { is_dry_run: true }));
        }
        let files = prepared.files.clone();
        prepared.session(&locations.host()?, files)
    }

    /// Writes the recording of a run that has ended. A run that failed before its first call does not replace an earlier
    /// recording: its script may never have started.
    pub(crate) fn save(&self, result: &RunResult) -> Result<()> {
        let Some(Opened::Recorded(file)) = self.opened.get() else { return Ok(()) };
        if result.status != Status::Completed && result.calls.as_slice().is_empty() && file.has_content() {
            note!("note: the script failed before it made a call: the recording keeps what it had");
            return Ok(());
        }
        file.save().map_err(|error| unwritable(error).also("the script has ended; the file keeps what it had"))
    }
}

/// Converts an error of the file of a recording for the user.
fn unwritable(error: HostError) -> CliError {
    match error {
        HostError::RecordingFile { path, source } => {
            let error = CliError::because(format!("cannot write the recording `{}`", path.display()), &source);
            match source.kind() {
                io::ErrorKind::AlreadyExists => error.hint("name another file, or replace it with `--force`"),
                _ => error,
            }
        }
        error => error.into(),
    }
}
