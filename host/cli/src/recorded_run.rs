//! `run --record` and `run --replay`.

use std::fs::OpenOptions;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::Args;
use tollhouse::gate::{Answer, ApprovalError, ApprovalRequest, Approver};
use tollhouse::session::{CallSource, Recorder, Recording, Session};
use tollhouse_registry::untrusted_file;

use super::audit::AuditArgs;
use super::error::USAGE;
use super::locations::Locations;
use super::session_args::{OwnArgs, SessionArgs};
use super::{CliError, Result};

/// Options for recordings of a run's calls.
#[derive(Args, Default)]
pub(crate) struct RecordingArgs {
    /// Record the script's calls with their results in this file, which is replaced
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "check", "replay"])]
    pub(crate) record: Option<PathBuf>,
    /// Answer the script's calls from this recording: no tool is called, nobody is asked, and no secret is needed. A call
    /// that is not in it is an error, and so is a recorded call that the script does not make
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "check", "allow_exec"])]
    replay: Option<PathBuf>,
    #[arg(skip)]
    source: OnceLock<CallSource>,
}

impl RecordingArgs {
    /// Reads the recording that answers, before this process is confined and can no longer read it.
    pub(crate) fn read(&self) -> Result<()> {
        let source = match (&self.record, &self.replay) {
            (Some(path), _) => {
                // Noticed now, and not when the calls have been made.
                create(path).map_err(|error| {
                    CliError::because(format!("cannot write the recording `{}`", path.display()), &error).status(USAGE)
                })?;
                CallSource::Recorded(Recorder::new()?)
            }
            (None, Some(path)) => {
                let what = format!("cannot replay `{}`", path.display());
                let text = untrusted_file::read_named(path, Recording::MAX_BYTES)
                    .map_err(|error| CliError::because(&*what, &io::Error::from(error)).status(USAGE))?;
                let recording = Recording::parse(&text);
                CallSource::Replayed(recording.map_err(|error| CliError::because(&*what, &error).status(USAGE))?)
            }
            (None, None) => CallSource::Tools,
        };
        // Read once for each command.
        let _ = self.source.set(source);
        Ok(())
    }

    /// Returns true if the run is recorded or replayed.
    pub(crate) fn is_given(&self) -> bool {
        self.record.is_some() || self.replay.is_some()
    }

    fn source(&self) -> CallSource {
        self.source.get().cloned().unwrap_or_default()
    }

    /// Opens the session in memory of a run that is recorded or replayed.
    pub(crate) fn open(
        &self,
        session: &SessionArgs,
        locations: &Locations,
        own: &OwnArgs,
        audit: &AuditArgs,
    ) -> Result<Session> {
        let mut prepared = session.prepare(locations, own, audit)?;
        prepared.calls = self.source();
        if let CallSource::Replayed(recording) = self.source() {
            prepared = prepared.asking(Arc::new(RecordedConsent(recording)));
        }
        let files = prepared.files.clone();
        prepared.session(&locations.host()?, files)
    }

    /// Writes the recording of a run that has ended.
    pub(crate) fn save(&self) -> Result<()> {
        let (Some(path), CallSource::Recorded(recorder)) = (&self.record, self.source()) else { return Ok(()) };
        std::fs::write(path, recorder.recording().to_text())
            .map_err(|error| CliError::because(format!("cannot write the recording `{}`", path.display()), &error))
    }
}

/// Creates the file of a recording, for its owner alone, unless it is there.
fn create(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    options.mode(0o600);
    options.open(path).map(drop)
}

/// Approver of calls that are answered from a recording. What is in it was approved when it was recorded, and what was
/// refused then is not in it. Nothing is done in either case.
struct RecordedConsent(Recording);

impl Approver for RecordedConsent {
    fn approve(&self, request: &ApprovalRequest<'_>) -> std::result::Result<Answer, ApprovalError> {
        let is_recorded = self.0.has_call(request.method, request.arguments);
        Ok(request.put("answered from a recording")?.answer(is_recorded, "recording"))
    }
}
