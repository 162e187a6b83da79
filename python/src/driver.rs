//! Runs, driven to their end without the interpreter, and what Python raises meanwhile.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tollhouse::error::{Failure, Payload};
use tollhouse::session::{self, CallRun};

/// How often the main thread looks for a signal, while it waits.
const LOOK: Duration = Duration::from_millis(20);

/// Stack of the thread that works for the main thread, in bytes: enough for a guest, so that none has to be made.
const STACK: usize = 8 << 20;

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
pub(crate) fn detached<T: Send + 'static>(
    py: Python<'_>,
    cancel: &impl Fn(),
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<(T, Option<PyErr>)> {
    if !is_main_thread(py)? {
        return Ok((py.detach(work), None));
    }
    let (sender, receiver) = channel();
    // Who has gone away needs no result.
    helper(Box::new(move || drop(sender.send(work()))))?;
    let receiver = Mutex::new(receiver);
    let wait = || receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK);
    let mut raised = None;
    loop {
        match py.detach(wait) {
            Ok(done) => return Ok((done, raised)),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals() {
                    cancel();
                    raised.get_or_insert(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("the run panicked")),
        }
    }
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

fn watched<T: Send + 'static>(
    py: Python<'_>,
    raised: &Raised,
    cancel: impl Fn() + Clone + Send + Sync + 'static,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let number = raised.watch(cancel.clone());
    let done = detached(py, &cancel, work);
    let error = raised.take(number);
    let (result, signal) = done?;
    error.or(signal).map_or(Ok(result), Err)
}

type Job = Box<dyn FnOnce() + Send>;

/// The thread that works for the main thread, one job at a time, and the process that it is in: a fork has none.
static HELPER: Mutex<Option<(u32, Sender<Job>)>> = Mutex::new(None);

fn helper(job: Job) -> PyResult<()> {
    let mut helper = HELPER.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    let job = match helper.as_ref().filter(|(owner, _)| *owner == process) {
        Some((_, sender)) => match sender.send(job) {
            Ok(()) => return Ok(()),
            // A job that panicked took it along.
            Err(unsent) => unsent.0,
        },
        None => job,
    };
    let (sender, receiver) = channel::<Job>();
    let work = move || {
        job();
        receiver.into_iter().for_each(|job| job());
    };
    std::thread::Builder::new().name("tollhouse-python".to_owned()).stack_size(STACK).spawn(work)?;
    *helper = Some((process, sender));
    Ok(())
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    static GET_IDENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let get_ident =
        GET_IDENT.get_or_try_init(py, || Ok::<_, PyErr>(py.import("threading")?.getattr("get_ident")?.unbind()))?;
    // Asked for each time: a fork makes another thread the main one.
    let main = py.import("threading")?.call_method0("main_thread")?.getattr("ident")?;
    main.eq(get_ident.bind(py).call0()?)
}
