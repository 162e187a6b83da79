//! Result of a run: the object that `run --json` prints.

use serde::Serialize;
use serde_json::Value;

use super::guest_process::BROKEN_PIPE;
use super::session_state::SessionState;
use super::session_storage::RunSlot;
use crate::capability::Limits;
use crate::error::{ErrorKind, Failure, error_chain};
use crate::gate::{Budget, Calls, incomplete};
use crate::guest::{GuestError, Language, Outcome, OutputError};
use crate::remedy::Remedy;
use crate::vfs::{self, Tree};

/// Exit status of a request that was refused before it ran, as in the CLI.
const REFUSED: u8 = 2;

/// Status of a run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The script ended with status 0, and nothing was thrown.
    Completed,
    /// The script threw, or ended with another status.
    Failed,
    /// A call was denied, and the script did not catch the error.
    Denied,
    /// A limit was reached.
    Limited,
    /// The run was cancelled.
    Cancelled,
    /// The run waits for the approval of a call, and can be resumed.
    Suspended,
    /// The run can be resumed once it is known whether a call took effect that was interrupted.
    InDoubt,
}

/// Resources that a run used.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Usage {
    /// Units of fuel, as the guests count it; for a guest that was stopped in the middle of a step, up to 65,536 too
    /// many.
    pub fuel: u64,
    /// Microseconds from start to end, including waits.
    pub wall_micros: u64,
    /// Peak memory of the guests together, in bytes.
    pub memory_bytes: u64,
    /// Bytes written to standard output and standard error.
    pub output_bytes: u64,
    /// Bytes of all files of the session at the end.
    pub file_bytes: u64,
}

/// Effects of a run on its session.
pub(super) struct RunEffects {
    /// Files after the run.
    pub(super) files: Tree,
    /// State for the next script of a language, as its guest encoded it; empty for no state. With `None`, the previous
    /// state stays.
    pub(super) state: Option<(Language, Vec<u8>)>,
}

impl From<Tree> for RunEffects {
    fn from(files: Tree) -> Self {
        Self { files, state: None }
    }
}

/// Run that has ended, or does not continue here: what its result is made of.
pub(super) struct EndedRun {
    pub(super) outcome: Outcome,
    pub(super) calls: Calls,
    pub(super) usage: Usage,
    /// Standard output and standard error, if they were captured.
    pub(super) captured: (Vec<u8>, Vec<u8>),
}

impl EndedRun {
    /// Builds the result of a run that has ended. Nothing is committed.
    pub(super) fn result(self, session: &SessionState, slot: &RunSlot, files: Tree) -> RunResult {
        let status = Status::of(&self.outcome);
        let run = session.id().is_some().then_some(slot.number());
        RunResult { run, ..self.unfinished(session, slot, status, files) }
    }

    /// Builds the result of a run that has not ended, and does not continue here. Nothing is committed.
    pub(super) fn unfinished(self, session: &SessionState, slot: &RunSlot, status: Status, files: Tree) -> RunResult {
        let Self { outcome, calls, usage, captured: (stdout, stderr) } = self;
        RunResult {
            status,
            value: outcome.value,
            stdout,
            stderr,
            exit_code: status.exit_code(outcome.exit_code),
            error: outcome.error,
            calls,
            usage,
            budgets: session.gate.budgets(),
            session: session.id().map(ToString::to_string),
            run: Some(slot.number()),
            snapshot: None,
            files,
        }
    }
}

/// Result of a run. As JSON it is the object that the command line documents.
#[derive(Clone, Debug, Serialize)]
pub struct RunResult {
    /// Status of the run.
    pub status: Status,
    /// Value that the script returned; null if it returned none.
    pub value: Option<Value>,
    /// Standard output, if it was captured.
    #[serde(serialize_with = "lossy")]
    pub stdout: Vec<u8>,
    /// Standard error, if it was captured.
    #[serde(serialize_with = "lossy")]
    pub stderr: Vec<u8>,
    /// Exit status of `tollhouse run`: 0 to 255; 3 if denied, 4 if limited, 130 if cancelled.
    pub exit_code: u8,
    /// Failure of the run, if it failed.
    pub error: Option<Failure>,
    /// Calls that the gate decided on.
    pub calls: Calls,
    /// Resources that the run used.
    pub usage: Usage,
    /// Remaining budgets of the session.
    pub budgets: Vec<Budget>,
    /// Name of the session; null for an ephemeral one.
    pub session: Option<String>,
    /// Number of the run in its session.
    pub run: Option<u64>,
    /// Snapshot of the files after the run; null for an ephemeral session.
    pub snapshot: Option<String>,
    /// Files after the run.
    #[serde(skip)]
    pub files: Tree,
}

impl RunResult {
    /// Builds the result of a request that could not be run at all.
    #[must_use]
    pub fn refused(failure: Failure) -> Self {
        let outcome = Outcome { exit_code: REFUSED, ..Outcome::failed(failure) };
        let status = Status::of(&outcome);
        Self {
            status,
            value: None,
            stdout: Vec::new(),
            stderr: Vec::new(),
            exit_code: status.exit_code(outcome.exit_code),
            error: outcome.error,
            calls: Calls::default(),
            usage: Usage::default(),
            budgets: Vec::new(),
            session: None,
            run: None,
            snapshot: None,
            files: Tree::new(vfs::Limits::default(), 0),
        }
    }

    /// Marks a run whose effects could not be saved: the session is as it was before.
    pub(super) fn mark_unsaved(&mut self, error: &dyn std::error::Error) {
        let message = format!("the effects of the run cannot be kept: {}", error_chain(error));
        let hint = "the session's files are as they were before the run; spent amounts stay spent";
        (self.status, self.exit_code) = (Status::Failed, 1);
        self.error = Some(Failure::host(message).with_hint(hint));
    }
}

impl RunResult {
    /// Marks a run whose effects could not be saved, and that can be resumed.
    pub(super) fn mark_resumable(&mut self) {
        if let Some(failure) = &mut self.error {
            let hint = failure.hint.take().map(|hint| format!("; {hint}")).unwrap_or_default();
            failure.hint = Some(format!("the run can be resumed until another one begins{hint}"));
        }
    }

    /// Marks a run whose end could not be recorded in the audit log.
    pub(super) fn mark_unlogged(&mut self, error: &dyn std::error::Error) {
        if self.error.is_none() {
            (self.status, self.exit_code) = (Status::Failed, 1);
            self.error = Some(incomplete(&error_chain(error)));
        }
    }
}

fn lossy<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

impl Status {
    /// Returns the status as JSON spells it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Limited => "limited",
            Self::Cancelled => "cancelled",
            Self::Suspended => "suspended",
            Self::InDoubt => "in_doubt",
        }
    }

    /// Returns the exit status of a process with this status. `own` is the script's own exit status, which is 0 where
    /// the host found the failure.
    fn exit_code(self, own: u8) -> u8 {
        match self {
            Self::Completed => 0,
            Self::Failed => own.max(1),
            Self::Denied => 3,
            Self::Limited => 4,
            Self::Cancelled => 130,
            Self::Suspended | Self::InDoubt => 5,
        }
    }

    /// Returns the status of an outcome.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        match outcome.error.as_ref().map(|error| error.kind) {
            None if outcome.exit_code == 0 => Self::Completed,
            Some(ErrorKind::Capability | ErrorKind::Approval) => Self::Denied,
            Some(ErrorKind::Limit) => Self::Limited,
            Some(ErrorKind::Cancelled) => Self::Cancelled,
            _ => Self::Failed,
        }
    }
}

/// Returns the outcome of a run whose guest is gone.
pub(super) fn outcome_of(error: &GuestError, limits: &Limits) -> Outcome {
    let failure = match error {
        GuestError::Cancelled => Failure::cancelled(),
        GuestError::Deadline => out_of_time(limits),
        GuestError::Output(OutputError::BrokenPipe) => {
            return Outcome { exit_code: BROKEN_PIPE, ..Outcome::failed(Failure::exit(BROKEN_PIPE)) };
        }
        GuestError::Output(OutputError::Write(error)) => {
            Failure::host(format!("the script's output cannot be written: {error}"))
        }
        GuestError::Output(OutputError::Full) => Failure::limit(
            format!("output limit of {} bytes reached", limits.output),
            format!("write to a file, or {}", Remedy::RaiseLimit("output")),
        ),
        GuestError::Memory | GuestError::Output(OutputError::Memory) => {
            Failure::limit(format!("memory limit of {} bytes reached", limits.memory), Remedy::RaiseLimit("memory"))
        }
        GuestError::Stack => Failure::limit(
            "stack limit reached",
            "the script, or a value it parses, is nested too deeply; make it flatter or use a loop",
        ),
        // Scripts of which this is not the end are started anew.
        GuestError::IncompleteInput => Failure::host("the script's standard input did not come to its end"),
        GuestError::Trap(trap) => Failure::host(format!("the guest trapped: {trap}")),
    };
    let exit_code = if failure.kind == ErrorKind::Cancelled { 130 } else { 1 };
    Outcome { exit_code, ..Outcome::failed(failure) }
}

/// Returns the failure of a run whose time is up.
pub(super) fn out_of_time(limits: &Limits) -> Failure {
    Failure::limit(format!("time limit of {} ms reached", limits.wall.as_millis()), Remedy::RaiseLimit("wall"))
}
