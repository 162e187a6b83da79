//! Runs, driven to their end without the interpreter, and what Python raises meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use tollhouse::code::attended;
use tollhouse::error::{Failure, Payload};
use tollhouse::session::{self, CallRun};

/// What was raised where nobody could be told, and the runs that it ends: that of a session, and those that its tools make.
#[derive(Default)]
pub(crate) struct Raised(Mutex<Watched>);

type Cancel = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Watched {
    error: Option<PyErr>,
    runs: Vec<(u64, Cancel)>,
    last: u64,
}

impl Raised {
    /// A run goes on, until [`take`](Self::take) is called with its number.
    pub(crate) fn watch(&self, cancel: impl Fn() + Send + Sync + 'static) -> u64 {
        let mut watched = self.lock();
        if watched.runs.is_empty() {
            // Of one that could not begin: who began it was told.
            watched.error = None;
        }
        watched.last += 1;
        let number = watched.last;
        watched.runs.push((number, Box::new(cancel)));
        number
    }

    /// Ends what goes on; who runs it is told why.
    pub(crate) fn raise(&self, error: PyErr) {
        self.lock().error.get_or_insert(error);
        self.cancel();
    }

    /// Ends what goes on.
    pub(crate) fn cancel(&self) {
        self.lock().runs.iter().for_each(|(_, cancel)| cancel());
    }

    /// A run is over: what was raised since it was last asked.
    pub(crate) fn take(&self, number: u64) -> Option<PyErr> {
        self.forget(number);
        self.lock().error.take()
    }

    /// A run is over.
    pub(crate) fn forget(&self, number: u64) {
        self.lock().runs.retain(|(other, _)| *other != number);
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something that may take long, without the interpreter. On the main thread signals are looked for meanwhile: one that
/// raises cancels the run, and is given beside what was done.
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

/// Runs a run to its end.
pub(crate) fn finish(py: Python<'_>, run: session::Run, raised: &Raised) -> PyResult<session::RunResult> {
    let cancel = run.cancel_handle();
    watched(py, raised, move || cancel.cancel(), move || run.finish())
}

/// Makes a call.
pub(crate) fn finish_call(py: Python<'_>, call: CallRun, raised: &Raised) -> PyResult<Result<Payload, Failure>> {
    let interrupt = call.interrupt();
    watched(py, raised, move || interrupt.cancel(), move || call.finish())
}

fn watched<T: Send>(
    py: Python<'_>,
    raised: &Raised,
    cancel: impl Fn() + Clone + Send + Sync + 'static,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let number = raised.watch(cancel.clone());
    let done = detached(py, cancel, work);
    let error = raised.take(number);
    let (result, signal) = done?;
    error.or(signal).map_or(Ok(result), Err)
}

/// The life of a thread, within one state of the interpreter: to make one takes longer than many a call.
pub(crate) fn within_python(live: &mut (dyn FnMut() + Send)) {
    Python::attach(|py| {
        py.detach(|| {
            live();
            // Whoever asks for an interpreter that ends may never return.
            while is_ending() {
                std::thread::park();
            }
        });
    });
}

/// Whether the interpreter ends.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The interpreter is about to end: called by `atexit`.
#[pyfunction]
pub(crate) fn end() {
    ENDING.store(true, Ordering::Release);
}

/// Whether it ends.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    // To import `threading`, or only to ask it, takes long beside a script. The thread that a process begins with is the
    // main one, also after a fork, or no signal is handled on it and none is found.
    #[cfg(target_os = "linux")]
    if rustix::thread::gettid() == rustix::process::getpid() {
        return Ok(true);
    }
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}
