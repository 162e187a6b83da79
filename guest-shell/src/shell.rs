//! Life cycle of one script: starting its execution, polling it, and reporting its state.
//!
//! The execution is a single future, which is stored here between steps. It is pending exactly when everything in it
//! waits for an operation: nothing else in this guest waits.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bashkit::{Bash, Error, ExecOptions, ExecResult, LiveStream};

use crate::bindings::output::{self, Stream};
use crate::bindings::types::{Completion, Outcome, Script, Step};
use crate::operations::Outstanding;
use crate::stdin::ScriptStdin;
use crate::{clock, interpreter, operations, outcome, state};

/// Number of bytes that are written before a pause, which is the capacity of a pipe on Linux.
const PAUSE: usize = 64 << 10;

/// Fuel (some 10 ms) after which a script that never waits ends the step, so that the time is read again and results of
/// other operations arrive.
const TURN: u64 = 4_096;

/// State of a run between its steps.
struct Run {
    execution: Pin<Box<dyn Future<Output = Outcome>>>,
    woken: Arc<Woken>,
    /// Timer with duration 0, on which a script waits that otherwise never waits.
    turn: Option<Outstanding>,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
    /// Bytes of output since the last pause.
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
}

/// Flag that something in the execution can continue.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Initializes the guest to the state from which every run starts.
pub(crate) fn initialize() {
    std::panic::set_hook(Box::new(|panic| {
        if clock::running() {
            complain(&format!("tollhouse-guest-shell: {panic}\n"));
        }
    }));
    interpreter::prepare();
}

/// Starts a script and returns its first step.
pub(crate) fn start(script: Script) -> Step {
    clock::begin_run();
    clock::begin_step();
    let run = Run { execution: Box::pin(execute(script)), woken: Arc::default(), turn: None };
    advance(run)
}

/// Delivers a completion and returns the next step. After the end of the script, this has no effect.
pub(crate) fn resume(completion: Completion) -> Step {
    clock::begin_step();
    operations::complete(completion);
    match RUN.take() {
        Some(run) => advance(run),
        None => Step::Blocked(operations::take_changes()),
    }
}

/// Runs until the script waits, ends, or has used its turn.
fn advance(mut run: Run) -> Step {
    let waker = Waker::from(Arc::clone(&run.woken));
    let mut context = Context::from_waker(&waker);
    let began = clock::fuel_used();
    run.turn = run.turn.filter(|turn| !turn.is_over());
    loop {
        run.woken.0.store(false, Ordering::Relaxed);
        match run.execution.as_mut().poll(&mut context) {
            Poll::Ready(outcome) => {
                // The instance is discarded as a whole. Dropping its contents individually would take as long as a
                // short script.
                mem::forget(run);
                return Step::Finished(outcome);
            }
            // A stage of a pipeline may have woken another one that was polled before it, and a shell yields regularly
            // even if it could continue. When nothing can continue, the followers check their files.
            Poll::Pending if run.woken.0.load(Ordering::Relaxed) || operations::wake_followers() => {
                if clock::fuel_used() - began >= TURN {
                    run.turn.get_or_insert_with(|| operations::sleep(Duration::ZERO));
                    break;
                }
            }
            Poll::Pending => break,
        }
    }
    RUN.set(Some(run));
    clock::tell();
    Step::Blocked(operations::take_changes())
}

/// Writes to the script's standard error.
pub(crate) fn complain(text: &str) {
    output::write(Stream::Stderr, text.as_bytes());
}

/// Executes the script, and returns its outcome.
async fn execute(script: Script) -> Outcome {
    let found = match script.state.as_deref().map(state::read).transpose() {
        Ok(found) => found.flatten(),
        Err(why) => return outcome::unreadable_state(&why),
    };
    // This is not dropped: see `advance`.
    let mut bash = ManuallyDrop::new(interpreter::make(&script, found));
    let arguments = script.arguments.iter().cloned();
    let options = ExecOptions::new()
        .live(deliver)
        .stdin_source(Arc::new(ScriptStdin))
        .arg0(script.name.clone())
        .positional(arguments)
        .command_string(!script.from_file);
    let result = run(&mut bash, &script, options).await;
    // A stopped script may be in any state.
    let left = (script.state.is_some() && result.is_ok()).then(|| state::write(&bash));
    let mut outcome = outcome::of(result, &script, left);
    if script.typed.is_some() {
        outcome.value = serde_json::to_string(&bash.shell_state().cwd).ok();
    }
    outcome
}

async fn run(bash: &mut Bash, script: &Script, options: ExecOptions) -> Result<ExecResult, Error> {
    interpreter::wake(bash, &script.name);
    // As in `bash -c`.
    bash.assign(state::SOURCE_VARIABLE, &script.source);
    clock::set_fuel(script.limits.fuel);
    bash.exec_with_options(&script.source, options).await
}

/// Forwards the output of a command. From time to time the command waits for the next step, which begins when the
/// output was consumed.
fn deliver(stream: LiveStream, bytes: &[u8]) -> impl Future<Output = ()> + Send + use<> {
    match stream {
        LiveStream::Stdout => output::write(Stream::Stdout, bytes),
        LiveStream::Stderr => output::write(Stream::Stderr, bytes),
    }
    let written = WRITTEN.get() + bytes.len();
    let pauses = written >= PAUSE;
    WRITTEN.set(if pauses { 0 } else { written });
    async move {
        if pauses {
            // The result does not matter: time has passed.
            let _ = operations::sleep(Duration::ZERO).await;
        }
    }
}
