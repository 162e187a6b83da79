//! Sessions and runs: the step API, and the driver, which is its first user.
//!
//! A [`Host`] is created once per process. A [`Session`] holds files, grants and their spent budgets. A [`Run`] is one
//! execution of one script, in steps: each step returns the operations that it waits for, and takes their results.
//!
//! **Invariant:** at any moment at most one guest of a run executes; tools run beside it. A guest that runs a script to
//! completion within its own step is suspended meanwhile. `resume` takes one completion at a time, and completions are
//! delivered in the order in which they were given.

mod call;
mod catalog;
mod check;
mod commands;
mod component;
mod cores;
mod grant;
mod host;
mod kept;
mod nest;
mod options;
mod pool;
mod portable;
mod process;
mod result;
mod run;
mod scope;
mod state;
mod step;
mod streams;
mod threads;
mod to_end;
mod work;

pub use call::CallRun;
pub use component::ComponentRun;
pub use grant::Widening;
pub use host::{Host, HostError, HostOptions, SessionOptions};
pub use kept::{
    At, Checked, Created, Exported, Head, ImportBudget, ImportOptions, Imported, ImportedBudget, LogLine, OpenOptions,
    Origin, Overrides, Point, PointError, Removed, RunRecord, Salvaged, SessionId, SessionIdError, Sessions,
    SessionsError, Shown, States, Waiting,
};
pub use options::{RunOptions, Stdin};
pub use portable::PortableError;
use result::Left;
pub use result::{RunResult, Status, Usage};
pub use run::Run;
pub use state::Session;
pub use step::{CancelHandle, Operation, Pending, ProgramStreams, Step};
pub use threads::Around;
