//! The step API: a host that performs operations itself, in any order, cancels, and survives traps.

use serde_json::json;
use tollhouse::capability::{Grant, Policy};
use tollhouse::error::Failure;
use tollhouse::gate::CallOutcome;
use tollhouse::guest::{Completion, Language, Script, Value};
use tollhouse::session::{
    Host, HostError, HostOptions, Operation, Pending, Run, RunOptions, Session, SessionOptions, Status, Step,
};
use tollhouse_tests::Home;

fn session(home: &Home) -> Session {
    let options = HostOptions { registry: Some(home.path().join("tollhouse/registry")), ..HostOptions::default() };
    let host = Host::new(&options).expect("the engines start");
    let policy = Policy::default().with(Grant::allow("probe/**").expect("a pattern"));
    host.session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session")
}

fn start(session: &Session, source: &str) -> Run {
    let script = Script { source: source.to_owned(), name: "steps.js".to_owned(), ..Script::default() };
    session.start(Language::JavaScript, script, RunOptions::default()).expect("a run")
}

fn blocked(run: &mut Run) -> Vec<Pending> {
    match run.step() {
        Step::Blocked(started) => started,
        Step::Finished(result) => panic!("it ended: {result:?}"),
    }
}

#[test]
fn run_in_steps_takes_answers_from_the_host() {
    let home = Home::with_fixture();
    let mut run = start(&session(&home), "return await probe.text({count: 3}) + await probe.text({count: 1})");
    for answer in ["one ", "two"] {
        let started = blocked(&mut run);
        assert_eq!(started.len(), 1);
        let Operation::Call(call) = &started[0].operation else { panic!("a call") };
        assert_eq!(call.method(), "probe/text");
        assert!(call.arguments()["count"].is_u64());
        run.resume(Completion { id: started[0].id, result: Ok(Value::Json(json!(answer).into())) });
    }
    let Step::Finished(result) = run.step() else { panic!("it waits") };
    assert_eq!(result.value, Some(json!("one two")));
    assert!(result.calls.as_slice().iter().all(|call| call.outcome == CallOutcome::Ok));
}

#[test]
fn completions_come_in_any_order_and_one_at_a_time() {
    let home = Home::with_fixture();
    let session = session(&home);
    // Every order of four completions: what the script sees is exactly the order in which they were given.
    for order in permutations(4) {
        let mut run = start(
            &session,
            "const seen = []; await Promise.all([0, 1, 2, 3].map(n => probe.text({count: n}).then(t => seen.push(t)))); return seen.join('')",
        );
        let started = blocked(&mut run);
        assert_eq!(started.len(), 4);
        for &index in &order {
            run.resume(Completion { id: started[index].id, result: Ok(Value::Json(json!(index.to_string()).into())) });
        }
        let Step::Finished(result) = run.step() else { panic!("it waits") };
        let expected: String = order.iter().map(ToString::to_string).collect();
        assert_eq!(result.value, Some(json!(expected)));
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(count - 1);
    let insert = |shorter: &Vec<usize>| {
        (0..count).map(|at| [&shorter[..at], &[count - 1], &shorter[at..]].concat()).collect::<Vec<_>>()
    };
    shorter.iter().flat_map(insert).collect()
}

#[test]
fn run_in_steps_drops_completions_nobody_waits_for() {
    let home = Home::with_fixture();
    let mut run = start(&session(&home), "return await probe.text({count: 1})");
    let started = blocked(&mut run);
    run.resume(Completion { id: 999, result: Ok(Value::Nothing) });
    run.resume(Completion { id: started[0].id, result: Err(Failure::tool("the first counts")) });
    run.resume(Completion { id: started[0].id, result: Ok(Value::Json(json!("too late").into())) });
    let Step::Finished(result) = run.step() else { panic!("it waits") };
    assert!(result.error.as_ref().is_some_and(|error| error.message == "the first counts"), "{result:?}");
}

#[test]
fn run_in_steps_denies_ungranted_calls_without_the_host() {
    let home = Home::with_fixture();
    let options = HostOptions { registry: Some(home.path().join("tollhouse/registry")), ..HostOptions::default() };
    let host = Host::new(&options).expect("the engines start");
    let session = host.session(SessionOptions::default()).expect("a session");
    let mut run = start(&session, "try { await probe.text({count: 1}) } catch (e) { return e.kind }");
    let Step::Finished(result) = run.step() else { panic!("the call was handed out") };
    assert_eq!(result.value, Some(json!("capability")));
    assert_eq!(result.calls.as_slice()[0].outcome, CallOutcome::Denied);
}

#[test]
fn cancelling_stops_a_loop_a_wait_and_a_tool() {
    let home = Home::with_fixture();
    let session = session(&home);
    for source in ["while (true) {}", "await new Promise(r => setTimeout(r, 1e8))", "await probe.spin({})"] {
        let run = start(&session, source);
        let cancel = run.cancel_handle();
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            cancel.cancel();
        });
        let result = run.finish();
        assert_eq!(result.status, Status::Cancelled, "{source}: {result:?}");
        canceller.join().expect("it cancelled");
    }
    // The session is free, and works.
    assert_eq!(start(&session, "return 'works'").finish().value, Some(json!("works")));
}

#[test]
fn run_in_steps_out_of_fuel_keeps_files_and_calls() {
    let home = Home::with_fixture();
    let session = session(&home);
    let source = "await fs.writeFile('before', 'kept'); await probe.text({count: 1}); while (true) {}";
    let run = start(&session, source);
    let cancel = run.cancel_handle();
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(1_000));
        cancel.cancel();
    });
    let result = run.finish();
    assert_eq!(result.calls.as_slice().len(), 1);
    assert_eq!(start(&session, "return await fs.readFile('before')").finish().value, Some(json!("kept")));
}

#[test]
fn run_in_steps_refuses_a_second_run_of_its_session() {
    let home = Home::with_fixture();
    let session = session(&home);
    let first = start(&session, "return 1");
    let script = Script { source: "return 2".to_owned(), ..Script::default() };
    let second = session.start(Language::JavaScript, script, RunOptions::default());
    assert!(matches!(second, Err(HostError::Busy)));
    drop(first);
    assert_eq!(start(&session, "return 3").finish().value, Some(json!(3)));
}
