//! Signals that ask the process to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
//!
//! The first signal cancels the active operation, so that a session keeps its files and its log. A second one ends the
//! process at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::{SigId, low_level};

/// Exit status of a command that a signal cancelled, whichever signal it was.
pub(crate) const CANCELLED: u8 = 130;

/// Signals that follow the first one within this time belong to it: `timeout` sends its signal to the process, and then to
/// the process's group.
const ECHO: Duration = Duration::from_millis(300);

static RECEIVED: AtomicU32 = AtomicU32::new(0);

/// Request to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalRequest {
    /// Ctrl-C: the user wants the active operation to stop.
    Interrupt,
    /// SIGTERM or SIGHUP: the whole process must end.
    Terminate,
}

/// Thread that waits for signals.
pub(crate) struct SignalListener {
    handle: Handle,
    thread: JoinHandle<()>,
}

impl SignalListener {
    /// Ends the thread. A signal that arrives before somebody listens again is lost, unless a [`SignalGap`] counts it.
    pub(crate) fn end(self) {
        self.handle.close();
        // A thread that panicked has ended too.
        let _ = self.thread.join();
    }
}

/// Signals that arrive after one listener has ended and before the next one begins.
pub(crate) struct SignalGap {
    pending: Arc<AtomicBool>,
    registrations: Vec<SigId>,
}

impl SignalGap {
    /// Begins to count. The listener ends afterwards.
    pub(crate) fn begin() -> Self {
        let pending = Arc::new(AtomicBool::new(false));
        let register = |signal| signal_hook::flag::register(signal, Arc::clone(&pending)).ok();
        let registrations = watched().filter_map(register).collect();
        Self { pending, registrations }
    }

    /// Ends the count. Returns true if a signal arrived.
    pub(crate) fn end(self) -> bool {
        for registration in self.registrations {
            low_level::unregister(registration);
        }
        self.pending.load(Ordering::SeqCst)
    }
}

/// Signals that a listener waits for.
fn watched() -> impl Iterator<Item = i32> {
    let hangup = (!is_hangup_ignored()).then_some(SIGHUP);
    [SIGINT, SIGTERM].into_iter().chain(hangup)
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) fail like any other that finds no space: SIGXFSZ would
/// end the process in the middle of a line.
pub(crate) fn survive_file_size_limit() {
    // Without a handler the process ends as before.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Calls `stop` at the first signal. The second one ends the process.
pub(crate) fn on_first(stop: impl Fn() + Send + 'static) -> Option<SignalListener> {
    let mut stopped: Option<Instant> = None;
    on_each(move |_| match stopped {
        None => {
            stopped = Some(Instant::now());
            stop();
        }
        Some(at) if at.elapsed() < ECHO => {}
        Some(_) => process::exit(i32::from(CANCELLED)),
    })
}

/// Calls `handle` at each signal, on a thread of its own. It must not wait for what a signal ends.
pub(crate) fn on_each(mut handle: impl FnMut(SignalRequest) + Send + 'static) -> Option<SignalListener> {
    // Without a handler, a signal ends the process, which is all that the handler is for.
    let mut signals = Signals::new(watched()).ok()?;
    let closing = signals.handle();
    let thread = thread::spawn(move || {
        let mut last: Option<Instant> = None;
        for signal in signals.forever() {
            // Every Ctrl-C counts: it may be for the next input of the repl.
            if signal != SIGINT && last.is_some_and(|last| last.elapsed() < ECHO) {
                continue;
            }
            last = Some(Instant::now());
            handle(if signal == SIGINT { SignalRequest::Interrupt } else { SignalRequest::Terminate });
            // Not earlier: a question that the signal ends must find the run cancelled, or the script would go on.
            RECEIVED.fetch_add(1, Ordering::Release);
        }
    });
    Some(SignalListener { handle: closing, thread })
}

/// Returns the number of signals that were handled since [`on_first`] or [`on_each`].
pub(crate) fn received() -> u32 {
    RECEIVED.load(Ordering::Acquire)
}

/// Returns true if this process was started to survive a hangup, as `nohup` starts one. Linux reports it in the
/// process's status; elsewhere it is not known.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is signal 1, SIGHUP.
    mask.is_some_and(|mask| mask & 1 == 1)
}
