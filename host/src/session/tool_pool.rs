//! Thread pool for tool calls, which wait for each other if there are too many.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

/// Most threads on which tools run at once, over all sessions of a host: a session that lets sixteen tools loop must
/// not hold up another's calls. Threads are created on demand, and take address space and little else.
pub(super) const MAX_TOOL_THREADS: usize = 1_024;

/// Stack of such a thread, in bytes: the stack that wasm may take, and twice as much for the host's own functions.
pub(super) const TOOL_STACK: usize = 8 << 20;

/// Thread pool of a host. It is created for the first call that needs it: most scripts make their calls on their own
/// thread, or none.
#[derive(Clone, Default)]
pub(super) struct ToolPool(Arc<Mutex<ToolPoolState>>);

#[derive(Default)]
struct ToolPoolState {
    runtime: Option<Runtime>,
    closed: bool,
}

impl ToolPool {
    /// Runs a job as soon as a thread is free.
    ///
    /// # Errors
    /// If the system provides no thread, or the host is gone. The job is dropped.
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
                // Enough for a tool's wasm frames, so that no call has to allocate a stack of its own.
                .thread_stack_size(TOOL_STACK)
                .enable_all()
                .build()?,
        };
        Ok(state.runtime.insert(runtime).handle().clone())
    }

    /// Releases the threads. A tool that cannot be interrupted must not keep the process from ending.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        if let Some(runtime) = state.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// Locks the state. No change can be seen half done, so a poisoned lock is still good.
    fn state(&self) -> MutexGuard<'_, ToolPoolState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
