//! The life of one script: start its execution, poll it, say where it stands.
//!
//! The execution is one future, kept here between steps. It is pending exactly when everything in it waits for an
//! operation: nothing else in this guest waits.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bashkit::parser::{self, Parser};
use bashkit::{Bash, Error, ExecOptions, ExecResult, LiveStream, ShellState};

use crate::bindings::output::{self, Stream};
use crate::bindings::types::{Completion, Outcome, Script, Step};
use crate::operations::Outstanding;
use crate::stdin::{self, Demand, ScriptInput};
use crate::{clock, interpreter, limits, mend, operations, outcome, script_command, state};

/// What bashkit's parser makes of a script: what comes before an error, and the error.
type Parsed = (parser::Script, Option<Error>);

/// How much is written before a pause: what a pipe of Linux holds.
const PAUSE: usize = 64 << 10;

/// After so many units of fuel (some 10 ms) a script that never waits ends the step: the time is read anew, and what
/// came of other operations comes in.
const TURN: u64 = 4_096;

/// What is kept of a run between its steps.
struct Run {
    execution: Pin<Box<dyn Future<Output = Outcome>>>,
    woken: Arc<Woken>,
    /// What a script that never waits waits for.
    turn: Option<Outstanding>,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
    /// Bytes of output since the last pause.
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
    /// bashkit's report of a syntax error behind commands that run, and whether it came to be printed.
    static TRAILING: RefCell<Option<(String, bool)>> = const { RefCell::new(None) };
}

/// Whether something in the execution can go on.
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

/// Starts a script.
pub(crate) fn start(script: Script) -> Step {
    clock::begin_run();
    clock::begin_step();
    let run = Run { execution: Box::pin(execute(script)), woken: Arc::default(), turn: None };
    advance(run)
}

/// Delivers a completion. After the script's end there is nothing to deliver it to, and nothing changes.
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
            // shell that could go on lets others do so.
            Poll::Pending if run.woken.0.load(Ordering::Relaxed) => {
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

/// The syntax error that ended the script, if one did so after commands had run.
pub(crate) fn syntax_report() -> Option<String> {
    TRAILING.with_borrow(|trailing| trailing.as_ref().filter(|(_, printed)| *printed).map(|(report, _)| report.clone()))
}

/// The whole of a run.
async fn execute(script: Script) -> Outcome {
    let found = match script.state.as_deref().map(state::read).transpose() {
        Ok(found) => found.flatten(),
        Err(why) => return outcome::unreadable_state(&why),
    };
    let input = Arc::new(ScriptInput::default());
    let parsed = Parser::with_fuel(&script.source, limits::PARSER_STEPS).parse_recovering();
    let demand = survey(&script, &parsed, found.as_ref(), &input);
    mend::begin(&script.source);
    // Not dropped: see `advance`.
    let mut bash = ManuallyDrop::new(interpreter::make(&script, &input, demand, found));
    let arguments = script.arguments.iter().cloned();
    let mut options = ExecOptions::new().parsed(parsed).live(deliver).arg0(script.name.clone()).positional(arguments);
    if demand == Demand::All {
        options = options.stdin(input.rest().await);
    }
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
    clock::set_fuel(script.limits.fuel);
    bash.exec_with_options(&script.source, options).await
}

/// Looks the script through before it runs: for what it reads, and for a syntax error further down.
fn survey(script: &Script, parsed: &Parsed, found: Option<&ShellState>, input: &ScriptInput) -> Demand {
    let (parsed, error) = parsed;
    if let Some(error) = error
        && !parsed.commands.is_empty()
    {
        let report = error.syntax_report(&script.name, &script.source);
        TRAILING.set(report.map(|report| (report, false)));
    }
    let aliases = script.tools.iter().filter_map(|tool| tool.method.split('/').next()).collect();
    let earlier = found.map(state::functions).unwrap_or_default();
    let commands = match earlier.is_empty() {
        true => Cow::Borrowed(&*parsed.commands),
        false => Cow::Owned(earlier.into_iter().chain(parsed.commands.iter().cloned()).collect()),
    };
    let programs = script.tools.iter().filter(|tool| tool.program).map(|tool| tool.method.as_str());
    let programs = programs.chain(script_command::NAMES).collect();
    if stdin::calls_any(&commands, &programs) {
        input.lend();
    }
    stdin::demand(&commands, &aliases)
}

/// Passes output on, as a command writes it. Now and then the command waits for the next step, which comes when somebody
/// has taken what was written.
fn deliver(stream: LiveStream, bytes: &[u8]) -> impl Future<Output = ()> + Send + use<> {
    match stream {
        LiveStream::Stdout => {
            mend::delivered(bytes, &[]);
            output::write(Stream::Stdout, bytes);
        }
        LiveStream::Stderr => {
            mend::delivered(&[], bytes);
            TRAILING.with_borrow_mut(|trailing| {
                if let Some((report, printed)) = trailing {
                    *printed = bytes.ends_with(report.as_bytes());
                }
            });
            output::write(Stream::Stderr, bytes);
        }
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
