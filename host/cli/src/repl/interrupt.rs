//! Ctrl-C: stops what runs, and what waits to run; never the repl, unless nobody types.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tollhouse::session::{CancelHandle, SessionId, Waiting};

use super::super::ctrl_c;

/// The exit status of what was cancelled.
pub(super) const CANCELLED: u8 = 130;

/// How long to wait for another run without a word.
const SILENCE: Duration = Duration::from_millis(500);

/// What Ctrl-C does at the moment. Clones share it.
#[derive(Clone)]
pub(super) struct Interrupt(Arc<State>);

struct State {
    /// Whether a person types: then there is always a next input.
    interactive: bool,
    /// Since the input began.
    pressed: AtomicBool,
    now: Mutex<Now>,
}

/// What the repl does.
enum Now {
    /// It waits for an input.
    Idle,
    /// It waits to run one, since then; and whether it said so.
    Waiting(Instant, bool),
    /// It runs one.
    Running(CancelHandle),
}

impl Interrupt {
    /// Takes the signal over.
    pub(super) fn install(interactive: bool) -> Self {
        let state = State { interactive, pressed: AtomicBool::new(false), now: Mutex::new(Now::Idle) };
        let interrupt = Self(Arc::new(state));
        let pressed = interrupt.clone();
        ctrl_c::on_press(move || pressed.press());
        interrupt
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.0.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn press(&self) {
        self.0.pressed.store(true, Ordering::Release);
        match &*self.now() {
            Now::Running(run) => run.cancel(),
            // Nothing of the session is under way, and nobody would look at what was pressed.
            Now::Idle if !self.0.interactive => process::exit(i32::from(CANCELLED)),
            Now::Idle | Now::Waiting(..) => {}
        }
    }

    /// An input begins.
    pub(super) fn begin(&self) {
        self.0.pressed.store(false, Ordering::Release);
        *self.now() = Now::Waiting(Instant::now(), false);
    }

    /// Its run begins.
    pub(super) fn watch(&self, run: CancelHandle) {
        let mut now = self.now();
        if self.pressed() {
            run.cancel();
        }
        *now = Now::Running(run);
    }

    /// It is over.
    pub(super) fn end(&self) {
        *self.now() = Now::Idle;
    }

    /// Whether Ctrl-C was pressed since the input began.
    pub(super) fn pressed(&self) -> bool {
        self.0.pressed.load(Ordering::Acquire)
    }

    /// Waits for a session until it is free, or Ctrl-C; says so once an input.
    pub(super) fn waiting(&self, id: &SessionId) -> Waiting {
        let (interrupt, id) = (self.clone(), id.clone());
        Arc::new(move || {
            if let Now::Waiting(since, said) = &mut *interrupt.now()
                && !*said
                && since.elapsed() > SILENCE
            {
                *said = true;
                eprintln!("waiting for another run of the session `{id}` to end; Ctrl-C gives up");
            }
            !interrupt.pressed()
        })
    }
}
