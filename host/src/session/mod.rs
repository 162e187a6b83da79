//! Sessions and runs: the step API, and the driver, which is its first user.
//!
//! A [`Host`] is created once per process. A [`Session`] holds files, grants and their spent budgets. A [`Run`] is one
//! execution of one script, in steps: each step returns the operations that it waits for, and takes their results.
//!
//! **Invariant:** at any moment at most one guest of a run executes; tools run beside it. A guest that runs a script to
//! completion within its own step is suspended meanwhile. `resume` takes one completion at a time, and completions are
//! delivered in the order in which they were given.

mod call_run;
mod catalog;
mod command_grants;
mod component_run;
mod cpu_affinity;
mod first_step;
mod guest_process;
mod guest_seed;
mod heap;
mod host;
mod inline_runner;
mod journal;
mod nested_scripts;
mod operation_executor;
mod operation_queue;
mod options;
mod persistence;
mod receipt;
mod recording;
mod result;
mod run;
mod run_input;
mod run_scope;
mod saved_session;
mod script_check;
mod session_handle;
mod session_state;
mod session_storage;
mod step;
mod stream_table;
mod suspended_run;
mod thread_pool;
mod tool_pool;
mod widening;

pub use call_run::CallRun;
pub use component_run::ComponentRun;
pub use host::{Host, HostError, HostOptions, SessionOptions};
pub use journal::{ReplayError, Resolution};
pub use options::{CallListing, HeapUse, RunOptions, Stdin};
pub use persistence::{
    Answered, At, CallDecision, CallDecisions, CallInDoubt, CallsForHumans, ChangedFile, Checked, Created, Exported,
    FileOrigin, FileWriter, ForkedRun, GarbageCollector, HandOver, Head, HumanAnswer, ImportBudget, ImportOptions,
    Imported, ImportedBudget, LogLine, MiddleFork, OpenOptions, Origin, OriginCall, Overrides, PendingCall,
    PendingState, Point, PointError, RecordStatus, Removed, ReplayedCall, ReplayedRun, RunHistory, RunRecord, Salvaged,
    SessionId, SessionIdError, SessionReader, SessionTransfer, SessionVerifier, Sessions, SessionsError, Shown, States,
    UnfinishedRuns, UnreadableSession, Waiting,
};
pub use receipt::{CallVerdict, ReceiptError, Verification, VerifiedCall, VerifyOptions};
pub use recording::{CallSource, Recorder, Recording, RecordingError, RecordingFile};
use result::RunEffects;
pub use result::{RunResult, Status, Usage};
pub use run::{CallRepetition, CheckedCall, Run};
pub use saved_session::PortableError;
pub use session_handle::Session;
pub use step::{CancelHandle, Operation, Pending, ProgramStreams, Step};
pub use suspended_run::{SuspendedRun, SuspensionObserver};
pub use thread_pool::Around;
pub use widening::Widening;
