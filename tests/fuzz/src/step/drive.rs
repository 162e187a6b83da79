//! The host's side: for each operation of a guest, performs it, completes it with some other result, or ignores it.

use std::collections::BTreeSet;
use std::time::Duration;

use arbitrary::{Arbitrary as _, Unstructured};
use serde_json::json;
use tollhouse::capability::{Amount, Grant, Limits, Policy};
use tollhouse::error::Failure;
use tollhouse::gate::CallOutcome;
use tollhouse::guest::{Completion, Language, OperationId, Script, Value};
use tollhouse::session::{Operation, Pending, Run, RunOptions, RunResult, Session, SessionOptions, Status, Step};

use super::image::script;
use super::plan::{Plan, Said, Slot, Started, What};
use super::puppet::HOST;

/// Largest number of steps of a run, more than all guests of a plan can take.
const ROUNDS: usize = 400;

/// Budget of the grant: number of calls, and the sum of an argument.
const CALLS: u64 = 6;
const SPEND: u64 = 12;

/// Limits of a run: bytes of output, and bytes of files.
const OUTPUT: u64 = 4096;
const FILES: u64 = 4096;

/// Longest timer that is waited for.
const PATIENCE: Duration = Duration::from_millis(1);

/// Drives a run of the plan, and then a run of a well-behaved guest in the same session.
pub(super) fn drive(plan: &Plan, choices: &mut Unstructured<'_>) {
    let session = session();
    let mut run = start(&session, &plan.slots);
    let mut host = Host::default();
    for _ in 0..ROUNDS {
        match run.step() {
            Step::Finished(result) => {
                holds(&result);
                break;
            }
            Step::Blocked(started) => {
                if !host.turn(&mut run, started, choices) {
                    break;
                }
            }
        }
    }
    // Dropping an unfinished run cancels it.
    drop(run);
    works(&session);
}

fn session() -> Session {
    let grant = Grant::allow("fuzz/*").expect("a pattern").calls(CALLS).spend("n", Amount::whole(SPEND));
    let wall = Duration::from_secs(5);
    let limits = Limits { wall, output: OUTPUT, files: FILES, memory: 8 << 20, ..Limits::default() };
    let policy = Policy { limits, ..Policy::default().with(grant.expect("a path")) };
    HOST.session(SessionOptions { policy, ..SessionOptions::default() }).expect("the policy fits")
}

fn start(session: &Session, slots: &[Slot]) -> Run {
    let script = Script { source: script(slots), name: "fuzz".to_owned(), ..Script::default() };
    session.start(Language::JavaScript, script, RunOptions::default()).expect("the session is free")
}

/// Operations of a run that the host knows.
#[derive(Default)]
struct Host {
    /// Every operation that was handed out.
    seen: BTreeSet<OperationId>,
    /// Operations that were neither performed nor completed.
    left: Vec<OperationId>,
}

impl Host {
    /// Handles new operations, or else completes an old one. Returns false if the run is abandoned.
    fn turn(&mut self, run: &mut Run, started: Vec<Pending>, choices: &mut Unstructured<'_>) -> bool {
        let idle = started.is_empty();
        let mut comes = false;
        for pending in started {
            assert!(self.seen.insert(pending.id), "operation {} was handed out twice", pending.id);
            if let Operation::Call(call) = &pending.operation {
                assert_eq!(call.method(), "fuzz/add", "nothing else is there to be called");
                assert!(call.arguments()["n"].as_u64().is_some_and(|n| n <= SPEND), "{}", call.arguments());
            }
            match choices.int_in_range(0..=3).unwrap_or(0) {
                0 => self.left.push(pending.id),
                1 => run.resume(Completion { id: pending.id, result: answer(choices) }),
                _ => {
                    // Only operations that certainly end are waited for.
                    comes |= match &pending.operation {
                        Operation::Call(_) => true,
                        Operation::Sleep(duration) => *duration <= PATIENCE,
                        Operation::Read { .. } => true,
                        _ => false,
                    };
                    run.perform(pending);
                }
            }
        }
        if choices.ratio(1, 8).unwrap_or(false) {
            // Completes an operation that may not exist.
            let id = u64::arbitrary(choices).unwrap_or(1) % 8;
            run.resume(Completion { id, result: answer(choices) });
        }
        if comes {
            run.wait();
            return true;
        }
        match self.left.pop() {
            Some(id) => run.resume(Completion { id, result: answer(choices) }),
            None if idle => return false,
            None => {}
        }
        true
    }
}

/// Returns an arbitrary outcome, whatever the operation is.
fn answer(choices: &mut Unstructured<'_>) -> Result<Value, Failure> {
    match choices.int_in_range(0..=4).unwrap_or(0) {
        0 => Ok(Value::Json(json!(7).into())),
        1 => Ok(Value::Bytes(b"bytes".to_vec())),
        2 => Ok(Value::Exited(3)),
        3 => Err(Failure::tool("fuzz")),
        _ => Ok(Value::Nothing),
    }
}

/// Checks the end of the first run of a session.
fn holds(result: &RunResult) {
    bounded(result);
    let calls = result.calls.as_slice();
    for (call, seq) in calls.iter().zip(1..) {
        assert_eq!(call.seq, seq, "calls are numbered as they were judged");
        assert!(call.outcome == CallOutcome::Denied || call.method == "fuzz/add", "{call:?}");
        assert!(call.outcome != CallOutcome::Pending, "it has ended: {call:?}");
    }
    let count = |outcomes: &[CallOutcome]| {
        u64::try_from(calls.iter().filter(|call| outcomes.contains(&call.outcome)).count()).expect("there are few")
    };
    // A cancelled call may have started before it was cancelled.
    let made = count(&[CallOutcome::Ok, CallOutcome::Failed]);
    let most = Amount::whole(made + count(&[CallOutcome::Cancelled]));
    let used = result.budgets.first().expect("calls are counted").used;
    assert!(Amount::whole(made) <= used && used <= most, "{used} of {made} to {most} calls");
}

fn bounded(result: &RunResult) {
    for budget in &result.budgets {
        assert!(budget.used <= budget.limit, "{budget:?}");
    }
    assert!(result.status != Status::Completed || result.error.is_none(), "{result:?}");
    assert!(result.usage.output_bytes <= OUTPUT && result.usage.file_bytes <= FILES, "{:?}", result.usage);
}

/// Checks that the session still works.
fn works(session: &Session) {
    let call = What::Call { method: "fuzz/add".to_owned(), arguments: r#"{"n":1}"#.to_owned() };
    let started = vec![Started { id: 1, what: call }];
    let blocked = Said::Blocked { started, cancelled: Vec::new() };
    let value = Some("42".to_owned());
    let finished = Said::Finished { value, exit_code: 0, error: None, fuel: 1, state: None };
    let slots = [blocked, finished].map(|said| Slot { imports: Vec::new(), said });
    let result = start(session, &slots).finish();
    assert_eq!((result.status, &result.value), (Status::Completed, &Some(json!(42))), "{result:?}");
    bounded(&result);
}
