//! Driver of runs, which releases the interpreter, and collector of the exceptions that Python raises meanwhile.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tollhouse::code::attended;
use tollhouse::error::{Failure, Payload};
use tollhouse::session::{self, CallRun};

/// Collector of exceptions that have no caller to be raised to, and of the runs that they end: a session's run, and
/// those that its tools start.
#[derive(Default)]
pub(crate) struct Raised(Mutex<Watched>);

type Cancel = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Watched {
    error: Option<PyErr>,
    runs: Vec<WatchedRun>,
    last: u64,
}

struct WatchedRun {
    number: u64,
    /// Number of the run's session.
    session: u64,
    cancel: Cancel,
}

impl Raised {
    /// Registers an active run of the session with this number, until [`take`](Self::take) is called with the run's number.
    pub(crate) fn watch(&self, session: u64, cancel: impl Fn() + Send + Sync + 'static) -> u64 {
        let mut watched = self.lock();
        // An exception of a run that could not start was reported to its caller.
        let reported = if watched.runs.is_empty() { watched.error.take() } else { None };
        watched.last += 1;
        let number = watched.last;
        watched.runs.push(WatchedRun { number, session, cancel: Box::new(cancel) });
        // What an exception holds may run Python code when it is freed, which may come back to this lock.
        drop(watched);
        drop(reported);
        number
    }

    /// Records an exception, and cancels the active runs; their callers get it.
    pub(crate) fn raise(&self, error: PyErr) {
        let mut watched = self.lock();
        let spare = if watched.error.is_some() { Some(error) } else { watched.error.replace(error) };
        // As in `watch`: freed after the lock.
        drop(watched);
        drop(spare);
        self.cancel();
    }

    /// Cancels the active runs.
    pub(crate) fn cancel(&self) {
        self.lock().runs.iter().for_each(|run| (run.cancel)());
    }

    /// Cancels the active run of one session.
    pub(crate) fn cancel_session(&self, session: u64) {
        self.lock().runs.iter().filter(|run| run.session == session).for_each(|run| (run.cancel)());
    }

    /// Unregisters a run, and returns the exception that was recorded since the last call.
    pub(crate) fn take(&self, number: u64) -> Option<PyErr> {
        self.forget(number);
        self.lock().error.take()
    }

    /// Unregisters a run, and leaves a recorded exception to others.
    pub(crate) fn forget(&self, number: u64) {
        self.lock().runs.retain(|run| run.number != number);
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs something that may take long, with the interpreter released. On the main thread signals are checked meanwhile:
/// one that raises cancels the run, and its exception is returned beside the result.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    cancel: impl Fn() + Send + 'static,
    work: impl FnOnce() -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    if !is_main_thread(py)? {
        return Ok((py.detach(work), None));
    }
    let raised = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&raised);
    let look = move || {
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            cancel();
            seen.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    };
    let done = py.detach(|| attended(look, work));
    let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok((done, raised))
}

/// Drives a run to its end.
pub(crate) fn finish(py: Python<'_>, session: u64, run: session::Run, raised: &Raised) -> PyResult<session::RunResult> {
    let cancel = run.cancel_handle();
    watched(py, session, raised, move || cancel.cancel(), move || run.finish())
}

/// Drives a call from outside of a script to its end.
pub(crate) fn finish_call(
    py: Python<'_>,
    session: u64,
    call: CallRun,
    raised: &Raised,
) -> PyResult<Result<Payload, Failure>> {
    let interrupt = call.interrupt();
    watched(py, session, raised, move || interrupt.cancel(), move || call.finish())
}

fn watched<T: Send>(
    py: Python<'_>,
    session: u64,
    raised: &Raised,
    cancel: impl Fn() + Clone + Send + Sync + 'static,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let number = raised.watch(session, cancel.clone());
    let done = detached(py, cancel, work);
    let error = raised.take(number);
    let (result, signal) = done?;
    error.or(signal).map_or(Ok(result), Err)
}

/// Runs Python code on a thread of a run, like [`Python::attach`].
///
/// Until Python 3.13, a thread that asks an interpreter for its lock while that ends is ended by unwinding its stack
/// (`pthread_exit`), and giving back its state of the interpreter on the way is a fatal error. Such a thread stops here.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    let outside = StopOnForcedUnwind;
    let done = Python::attach(|py| {
        let inside = StopOnForcedUnwind;
        let done = work(py);
        std::mem::forget(inside);
        done
    });
    std::mem::forget(outside);
    done
}

/// Guard that stops its thread for ever when the stack is unwound, unless a panic does that.
struct StopOnForcedUnwind;

impl Drop for StopOnForcedUnwind {
    fn drop(&mut self) {
        while !std::thread::panicking() {
            std::thread::park();
        }
    }
}

/// Wraps the life of a thread in one interpreter state: creating a state takes longer than many a call.
pub(crate) fn within_python(live: &mut (dyn FnMut() + Send)) {
    Python::attach(|py| {
        py.detach(|| {
            live();
            LEAVING.fetch_add(1, Ordering::SeqCst);
            if is_ending() {
                // A thread that asks an ending interpreter for its lock may never return, or ends the process.
                LEAVING.fetch_sub(1, Ordering::SeqCst);
                loop {
                    std::thread::park();
                }
            }
        });
    });
    LEAVING.fetch_sub(1, Ordering::SeqCst);
}

/// True once the interpreter is ending.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Number of threads that are giving back their states of the interpreter, which must not end meanwhile.
static LEAVING: AtomicUsize = AtomicUsize::new(0);

/// Longest time that the end of the interpreter waits for these threads: one that was there when the process forked is not
/// in the child.
const MAX_LEAVING: Duration = Duration::from_secs(1);

/// Marks that the interpreter is about to end: called by `atexit`.
#[pyfunction]
pub(crate) fn end(py: Python<'_>) {
    ENDING.store(true, Ordering::SeqCst);
    let begun = Instant::now();
    py.detach(|| {
        while LEAVING.load(Ordering::SeqCst) > 0 && begun.elapsed() < MAX_LEAVING {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Returns true if the interpreter is ending.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    // Importing `threading`, or just asking it, takes long compared with a script. The initial thread of a process is
    // the main one, also after a fork; otherwise no signal is handled on it and none is found.
    #[cfg(target_os = "linux")]
    if rustix::thread::gettid() == rustix::process::getpid() {
        return Ok(true);
    }
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}
