//! Confinement of a program that embeds Tollhouse and requests it, like `confine` of the Python package.

use std::path::PathBuf;
use std::thread;

use super::{ConfinePhase, Confinement, FilterStatus, ThreadScope, hold, process};

/// First version of Landlock that can restrict threads that already run (Linux 7.0).
const HOLDS_RUNNING_THREADS: u8 = 8;

/// Files and kinds of system calls that an embedding program keeps when it confines itself.
#[derive(Debug, Default)]
pub struct ProcessConfinement {
    /// Files that stay readable, and directories with all that is below them.
    pub read: Vec<PathBuf>,
    /// Files and directories that stay writable too. Each must exist, otherwise it becomes inaccessible.
    pub write: Vec<PathBuf>,
    /// Store of sessions on disk, in which a socket may be opened.
    pub store: Option<PathBuf>,
    /// True if internet sockets may be opened, as for tools that are granted hosts.
    pub network: bool,
}

/// Reason why a process was not confined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// The kernel lacks a part of the confinement; nothing was changed.
    #[error("this system has no {0}")]
    Unsupported(&'static str),
    /// Landlock of this kernel cannot restrict threads that already run; nothing was changed.
    #[error("{0} threads run already, which Landlock of this kernel (before Linux 7.0) cannot hold")]
    ThreadsRun(usize),
    /// The kernel refused a part of the confinement. Other parts may be in force.
    #[error("the kernel refuses {what}")]
    Refused {
        /// Name of the part.
        what: &'static str,
        /// Error of the kernel.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ProcessConfinement {
    /// Confines this process for the rest of its life. Threads that start later are restricted too.
    ///
    /// # Errors
    /// If the kernel lacks a part of the confinement or refuses it, or threads run that it could not restrict.
    pub fn apply(self) -> Result<(), ConfineError> {
        let phase = ConfinePhase { network: self.network, store: self.store.is_some(), ..ConfinePhase::RUN };
        let running = running_threads();
        let landlock = supported(phase)?;
        if running > 1 && landlock < HOLDS_RUNNING_THREADS {
            return Err(ConfineError::ThreadsRun(running - 1));
        }
        process::refuse_core().map_err(|error| refused("a limit on core dumps", error))?;
        let Self { read, write, store, network } = self;
        let stood = Confinement { read, write, store, network }.stand(ThreadScope::All);
        stood.map_err(|error| refused("Landlock's rules", error))?;
        process::close_memory().map_err(|error| refused("memory that other processes cannot read", error))?;
        hold(phase, ThreadScope::All).map_err(|error| refused("seccomp's filters", error))?;
        Ok(())
    }
}

/// Tries the confinement in a thread of its own, which then ends, and returns the version of Landlock.
fn supported(phase: ConfinePhase) -> Result<u8, ConfineError> {
    let tried = thread::spawn(move || {
        let stood =
            Confinement::default().stand(ThreadScope::Current).map_err(|error| refused("Landlock's rules", error))?;
        let landlock = stood.ok_or(ConfineError::Unsupported("Landlock"))?;
        match hold(phase, ThreadScope::Current).map_err(|error| refused("seccomp's filters", error))? {
            FilterStatus::Active => Ok(landlock),
            FilterStatus::Unsupported => Err(ConfineError::Unsupported("seccomp")),
        }
    });
    tried.join().unwrap_or(Err(ConfineError::Unsupported("thread that can be confined")))
}

/// Counts the threads of this process; 1 where the system does not list them.
fn running_threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count)
}

fn refused<E>(what: &'static str, error: E) -> ConfineError
where
    E: std::error::Error + Send + Sync + 'static,
{
    ConfineError::Refused { what, source: Box::new(error) }
}
