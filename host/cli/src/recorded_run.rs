//! `run --record` and `run --replay`.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use tollhouse::session::{CallSource, HostError, Recording, RecordingFile, Session};
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
    opened: OnceLock<Opened>,
}

/// Files of the options.
enum Opened {
    Recorded(RecordingFile),
    Replayed(Recording),
}

impl RecordingArgs {
    /// Opens the files, before this process is confined and can no longer do so.
    pub(crate) fn open_files(&self) -> Result<()> {
        let opened = if let Some(path) = &self.record {
            let refused = |error: HostError| CliError::from(error).status(USAGE);
            Opened::Recorded(RecordingFile::open(path).map_err(refused)?)
        } else if let Some(path) = &self.replay {
            let what = format!("cannot replay `{}`", path.display());
            let text = untrusted_file::read_named(path, Recording::MAX_BYTES)
                .map_err(|error| CliError::because(&*what, &io::Error::from(error)).status(USAGE))?;
            let recording = Recording::parse(&text);
            Opened::Replayed(recording.map_err(|error| CliError::because(&*what, &error).status(USAGE))?)
        } else {
            return Ok(());
        };
        // Done once for each command.
        let _ = self.opened.set(opened);
        Ok(())
    }

    /// Returns true if the run is recorded or replayed.
    pub(crate) fn is_given(&self) -> bool {
        self.record.is_some() || self.replay.is_some()
    }

    fn source(&self) -> CallSource {
        match self.opened.get() {
            Some(Opened::Recorded(file)) => file.call_source(),
            Some(Opened::Replayed(recording)) => CallSource::Replayed(recording.clone()),
            None => CallSource::Tools,
        }
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
        let files = prepared.files.clone();
        prepared.session(&locations.host()?, files)
    }

    /// Writes the recording of a run that has ended.
    pub(crate) fn save(&self) -> Result<()> {
        match self.opened.get() {
            Some(Opened::Recorded(file)) => Ok(file.save()?),
            _ => Ok(()),
        }
    }
}
