//! Threads for the calls of tools, which wait for each other where there are too many.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

/// The most threads on which tools run at once, over all sessions of a host: a session that lets sixteen tools loop must not
/// keep another's calls waiting. They are made when they are needed, and take address space and little else.
pub(super) const MAX_TOOL_THREADS: usize = 1_024;

/// Stack of such a thread, in bytes: what wasm may take, and the host's own functions twice over.
pub(super) const TOOL_STACK: usize = 8 << 20;

/// The pool of a host. It is made for the first call that needs it: most scripts make theirs on their own thread, or none.
#[derive(Clone, Default)]
pub(super) struct Pool(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    runtime: Option<Runtime>,
    closed: bool,
}

impl Pool {
    /// Does a job, when a thread is free.
    ///
    /// # Errors
    /// If the system gives no thread, or the host is gone. The job is dropped.
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.handle()?.spawn_blocking(job);
        Ok(())
    }

    fn handle(&self) -> io::Result<Handle> {
        let mut state = self.state();
        if state.closed {
            return Err(io::Error::other("the host is gone"));
        }
        let runtime = match state.runtime.take() {
            Some(runtime) => runtime,
            None => Builder::new_multi_thread()
                .worker_threads(1)
                .max_blocking_threads(MAX_TOOL_THREADS)
                .thread_name("tollhouse-tool")
                // Enough for a tool's wasm frames, so that no call has to make a stack of its own.
                .thread_stack_size(TOOL_STACK)
                .enable_all()
                .build()?,
        };
        Ok(state.runtime.insert(runtime).handle().clone())
    }

    /// Lets go of the threads. A tool that cannot be interrupted must not keep the process from ending.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        if let Some(runtime) = state.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// Each change is whole, so a poisoned lock is still good.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
