//! Signals: Ctrl-C stops the running or waiting input, but not the repl, unless standard input is not a terminal.
//! SIGTERM and SIGHUP stop the input too, and end the repl.

use std::io;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tollhouse::session::{CancelHandle, SessionId, Waiting};

use super::super::signals::{self, CANCELLED, SignalRequest};

/// Time to wait for another run without a message.
const SILENCE: Duration = Duration::from_millis(500);

/// Handler of Ctrl-C in the current state. Clones share it.
#[derive(Clone)]
pub(super) struct ReplInterrupt(Arc<InterruptState>);

struct InterruptState {
    /// True if a person types: then there is always a next input.
    interactive: bool,
    /// True if Ctrl-C was pressed since the input began.
    pressed: AtomicBool,
    /// Set by the first signal that ends the repl.
    ended: AtomicBool,
    /// Settings that the terminal had before the editor changed them.
    terminal: Option<Termios>,
    now: Mutex<ReplState>,
}

/// State of the repl.
enum ReplState {
    /// The repl waits for an input.
    Idle,
    /// An input waits to run: since when, and whether a message was shown.
    Waiting(Instant, bool),
    /// An input runs.
    Running(CancelHandle),
}

impl ReplInterrupt {
    /// Installs the signal handler.
    pub(super) fn install(interactive: bool) -> Self {
        let state = InterruptState {
            interactive,
            pressed: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            terminal: if interactive { tcgetattr(io::stdin()).ok() } else { None },
            now: Mutex::new(ReplState::Idle),
        };
        let interrupt = Self(Arc::new(state));
        let pressed = interrupt.clone();
        signals::on_each(move |request| pressed.press(request));
        interrupt
    }

    fn now(&self) -> MutexGuard<'_, ReplState> {
        self.0.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn press(&self, request: SignalRequest) {
        let ends = request == SignalRequest::Terminate || !self.0.interactive;
        if ends && self.0.ended.swap(true, Ordering::AcqRel) {
            self.exit();
        }
        self.0.pressed.store(true, Ordering::Release);
        match &*self.now() {
            ReplState::Running(run) => run.cancel(),
            // No run is active, and the thread that reads inputs may wait for one for ever.
            ReplState::Idle if ends => self.exit(),
            ReplState::Idle | ReplState::Waiting(..) => {}
        }
    }

    /// Ends the process, and restores the terminal.
    fn exit(&self) -> ! {
        if let Some(terminal) = &self.0.terminal {
            // A terminal that is gone needs no settings.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, terminal);
        }
        process::exit(i32::from(CANCELLED));
    }

    /// Returns true once a signal has ended the repl.
    pub(super) fn is_ended(&self) -> bool {
        self.0.ended.load(Ordering::Acquire)
    }

    /// Marks the start of an input.
    pub(super) fn begin(&self) {
        self.0.pressed.store(false, Ordering::Release);
        *self.now() = ReplState::Waiting(Instant::now(), false);
    }

    /// Marks the start of an input's run.
    pub(super) fn watch(&self, run: CancelHandle) {
        let mut now = self.now();
        if self.pressed() {
            run.cancel();
        }
        *now = ReplState::Running(run);
    }

    /// Marks the end of an input.
    pub(super) fn end(&self) {
        *self.now() = ReplState::Idle;
    }

    /// Returns true if Ctrl-C was pressed since the input began.
    pub(super) fn pressed(&self) -> bool {
        self.0.pressed.load(Ordering::Acquire)
    }

    /// Returns a callback that waits until a session is free, or for Ctrl-C; it reports the wait once per input.
    pub(super) fn waiting(&self, id: &SessionId) -> Waiting {
        let (interrupt, id) = (self.clone(), id.clone());
        Arc::new(move || {
            if let ReplState::Waiting(since, said) = &mut *interrupt.now()
                && !*said
                && since.elapsed() > SILENCE
            {
                *said = true;
                note!("waiting for another run of the session `{id}` to end; Ctrl-C gives up");
            }
            !interrupt.pressed()
        })
    }
}
