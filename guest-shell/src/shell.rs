//! The life of one script: start its execution, poll it, say where it stands.
//!
//! The execution is one future, kept here between steps. It is pending exactly when everything in it waits for an
//! operation: nothing else in this guest waits.

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

/// Bytes that are written before a pause: the capacity of a pipe on Linux.
const PAUSE: usize = 64 << 10;

/// After so many units of fuel (some 10 ms) a script that never waits ends the step: the time is read anew, and what
/// came of other operations comes in.
const TURN: u64 = 4_096;

/// State of a run between its steps.
struct Run {
    execution: Pin<Box<dyn Future<Output = Outcome>>>,
    woken: Arc<Woken>,
    /// Timer without length, which a script waits for that never waits by itself.
    turn: Option<Outstanding>,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
    /// Bytes of output since the last pause.
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
}

/// Flag that something in the execution can go on.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Brings the guest to the state that every run starts from.
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

/// Delivers a completion and returns the next step. After the script's end there is nothing to deliver it to, and
/// nothing changes.
pub(crate) fn resume(completion: Completion) -> Step {
    clock::begin_step();
    operations::complete(completion);
    match RUN.take() {
        Some(run) => advance(run),
        None => Step::Blocked(operations::take_changes()),
    }
}

/// Runs until the script waits or ends, or had its turn.
fn advance(mut run: Run) -> Step {
    let waker = Waker::from(Arc::clone(&run.woken));
    let mut context = Context::from_waker(&waker);
    let began = clock::fuel_used();
    run.turn = run.turn.filter(|turn| !turn.is_over());
    loop {
        run.woken.0.store(false, Ordering::Relaxed);
        match run.execution.as_mut().poll(&mut context) {
            Poll::Ready(outcome) => {
                // The instance goes as a whole: to drop what is in it, piece by piece, takes as long as a short script.
                mem::forget(run);
                return Step::Finished(outcome);
            }
            // One stage of a pipeline may have woken another that was polled before it, and every so many commands a
            // shell that could go on lets others do so. When nothing can go on, those who follow files look at them.
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

/// The whole of a run.
async fn execute(script: Script) -> Outcome {
    let found = match script.state.as_deref().map(state::read).transpose() {
        Ok(found) => found.flatten(),
        Err(why) => return outcome::unreadable_state(&why),
    };
    // Not dropped: see `advance`.
    let mut bash = ManuallyDrop::new(interpreter::make(&script, found));
    let arguments = script.arguments.iter().cloned();
    let options = ExecOptions::new()
        .live(deliver)
        .stdin_source(Arc::new(ScriptStdin))
        .arg0(script.name.clone())
        .positional(arguments)
        .command_string(!script.from_file);
    let result = run(&mut bash, &script, options).await;
    // A script that was stopped may have been so anywhere.
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

/// Passes output on, as a command writes it. Now and then the command waits for the next step, which comes when somebody
/// has taken what was written.
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
            // Whatever comes of it, time has passed.
            let _ = operations::sleep(Duration::ZERO).await;
        }
    }
}
