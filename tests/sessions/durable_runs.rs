//! Runs that wait for a human, or whose process dies, and continue in the middle: no call is made twice, and nothing
//! that was done is lost.

pub(super) mod concurrent_scripts;

use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse::capability::{Approve, Grant, Policy};
use tollhouse::gate::{Answer, ApprovalError, ApprovalRequest, Approver};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Answered, OpenOptions, RunOptions, SessionId, SessionOptions, Sessions, Status};
use tollhouse::tool::{HostCall, HostTool};
use tollhouse_tests::screen::TerminalScreen;
use tollhouse_tests::server::Server;
use tollhouse_tests::{Home, Ran, root};

/// Charges, of which each asks, and calls that do not.
const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\nstats = 'tollhouse:stats@*'\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 3\n\
    spend = { param = 'amount', limit = 1000 }\napprove = true\n\
    [[grant]]\nname = 'free'\nmethod = 'pay/charges/list'\ncalls = 5\n\
    [[grant]]\nmethod = 'stats/**'\n";

/// A script that calls tools, runs bash, writes files and prints, then pays in the middle of a loop.
const SCRIPT: &str = "
    const fs = require('node:fs');
    const seen = [Math.random(), Date.now()];
    console.log('begins');
    const names = await pay.charges.list({limit: 2});
    const shown = await shell('echo from bash; for i in 1 2; do echo line $i >> /workspace/log.txt; done');
    fs.writeFileSync('/workspace/seen.json', JSON.stringify(seen));
    await new Promise(done => setTimeout(done, 20));
    const totals = [];
    for (const amount of [1, 2]) {
        const [receipt, mean] = await Promise.all([
            pay.charges.create({amount, currency: 'EUR'}),
            stats.describe({values: [amount, 3]}),
        ]);
        totals.push(receipt.total, mean.mean);
        console.log('paid', amount);
    }
    return {names, shown: shown.stdout, totals, seen, then: JSON.parse(fs.readFileSync('/workspace/seen.json')),
        lines: fs.readFileSync('/workspace/log.txt', 'utf8'), random: typeof Math.random()};";

fn home() -> Home {
    let home = Home::with_tools(&["stats"]);
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("policy.toml", POLICY);
    home.file("script.js", SCRIPT);
    home
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn start(home: &Home) -> Value {
    parsed(&home.run(["run", "script.js", "--policy", "policy.toml", "--session", "s", "--json"]))
}

fn outcomes(result: &Value) -> Vec<(&str, &str)> {
    let calls = result["calls"].as_array().expect("calls");
    calls.iter().map(|call| (call["method"].as_str().unwrap_or(""), call["outcome"].as_str().unwrap_or(""))).collect()
}

/// The whole way: suspended, listed, approved in another process, resumed, suspended again in the same loop, refused.
#[test]
fn run_awaiting_approval_continues_within_its_loop() {
    let home = home();
    let first = start(&home);
    assert_eq!((&first["status"], &first["exit_code"]), (&json!("suspended"), &json!(5)), "{first:#}");
    assert_eq!(first["stdout"], "begins\n", "{first:#}");
    assert_eq!(
        outcomes(&first),
        [("pay/charges/list", "ok"), ("pay/charges/create", "pending"), ("stats/describe", "ok")],
        "{first:#}"
    );
    let spent = |result: &Value, kind: &str| {
        let budgets = result["budgets"].as_array().expect("budgets");
        let of = budgets.iter().find(|budget| budget["grant"] == "charges" && budget["kind"] == kind);
        of.expect("a budget")["used"].clone()
    };
    assert_eq!(spent(&first, "spend"), 0, "what waits spends nothing");

    let pending = parsed(&home.run(["session", "pending", "s", "--json"]));
    let call = &pending[0];
    assert_eq!(pending.as_array().map(Vec::len), Some(1));
    assert_eq!((&call["session"], &call["run"], &call["seq"]), (&json!("s"), &json!(1), &json!(2)), "{call:#}");
    assert_eq!(call["arguments"]["amount"], 1);

    // Other runs, and changes of its files, would be lost when it continues.
    let other = home.run(["run", "-e", "return 1", "--session", "s"]);
    assert!(other.status == 1 && other.stderr.contains("is suspended"), "{other:?}");
    let put = home.run(["session", "put", "s", "policy.toml", "/workspace/p"]);
    assert!(put.status == 1 && put.stderr.contains("is suspended"), "{put:?}");

    // Without a decision it waits again, and no call is made again.
    let waiting = parsed(&home.run(["session", "resume", "s", "--json"]));
    assert_eq!((&waiting["status"], &waiting["stdout"]), (&json!("suspended"), &json!("")), "{waiting:#}");
    assert_eq!(outcomes(&waiting), outcomes(&first));

    let wrong = home.run(["session", "approve", "s", "2", "--digest", "00"]);
    assert!(wrong.status == 1 && wrong.stderr.contains("no call with this digest"), "{wrong:?}");
    let digest = call["digest"].as_str().expect("a digest");
    let approved = parsed(&home.run(["session", "approve", "s@1", "2", "--digest", digest, "--by", "eve", "--json"]));
    assert_eq!(approved["decision"]["allowed"], true, "{approved:#}");
    let again = home.run(["session", "deny", "s"]);
    assert!(again.status == 1 && again.stderr.contains("no call that waits"), "{again:?}");
    let again = home.run(["session", "deny", "s", "2"]);
    assert!(again.status == 1 && again.stderr.contains("was decided by eve"), "{again:?}");

    let second = parsed(&home.run(["session", "resume", "s", "--json"]));
    assert_eq!((&second["status"], &second["stdout"]), (&json!("suspended"), &json!("paid 1\n")), "{second:#}");
    assert_eq!((spent(&second, "spend"), spent(&second, "calls")), (json!(1), json!(1)), "{second:#}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let last = parsed(&home.run(["session", "resume", "s", "--json"]));
    assert_eq!((&last["status"], &last["stdout"]), (&json!("completed"), &json!("paid 2\n")), "{last:#}");
    let value = &last["value"];
    assert_eq!(value["totals"], json!([1, 2, 2, 2.5]), "{value:#}");
    assert_eq!((&value["seen"], &value["shown"]), (&value["then"], &json!("from bash\n")), "{value:#}");
    assert_eq!(value["lines"], "line 1\nline 2\n");
    assert_eq!((spent(&last, "spend"), spent(&last, "calls")), (json!(3), json!(2)));
    assert_eq!(outcomes(&last).iter().filter(|(_, outcome)| *outcome == "ok").count(), 5, "{last:#}");

    // The session is an ordinary one again, and its log tells the story.
    let after = parsed(&home.run(["run", "-e", "return require('fs').readdirSync('.')", "--session", "s", "--json"]));
    assert_eq!((&after["value"], &after["run"]), (&json!(["log.txt", "seen.json"]), &json!(2)), "{after:#}");
    let log = home.run(["session", "log", "s", "--json", "--run", "1"]);
    let events: Vec<Value> = log.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!((named("started"), named("resumed"), named("answered"), named("admitted")), (1, 3, 2, 5), "{log:?}");
    assert!(home.run(["session", "pending"]).stderr.contains("no call waits"));
    let nothing = home.run(["session", "resume", "s"]);
    assert!(nothing.status == 1 && nothing.stderr.contains("no run to resume"), "{nothing:?}");
}

/// A refusal is an error in the script, at the call.
#[test]
fn call_refused_throws_where_it_was_made() {
    let home = home();
    let script = "try { await pay.charges.create({amount: 1, currency: 'EUR'}) } catch (error) { \
        return [error.name, error.message] }";
    let first = parsed(&home.run(["run", "-e", script, "--policy", "policy.toml", "--session", "s", "--json"]));
    assert_eq!(first["status"], "suspended", "{first:#}");
    assert_eq!(home.run(["session", "deny", "s", "--reason", "too dear"]).status, 0);
    let last = parsed(&home.run(["session", "resume", "s", "--json"]));
    let [name, message] = [&last["value"][0], &last["value"][1]].map(|value| value.as_str().unwrap_or_default());
    assert!(name == "CapabilityError" && message.ends_with("refused the call (grant `charges`): too dear"), "{last:#}");
    assert_eq!(outcomes(&last), [("pay/charges/create", "denied")]);
}

/// Calls of one `Promise.all` wait at once, and are decided in any order; bash waits as well.
#[test]
fn calls_awaiting_approval_at_once_are_decided_in_any_order() {
    let home = home();
    let script = "return await Promise.all([1, 2, 3].map(amount => pay.charges.create({amount, currency: 'EUR'})))";
    let first = parsed(&home.run(["run", "-e", script, "--policy", "policy.toml", "--session", "s", "--json"]));
    assert_eq!(first["status"], "suspended", "{first:#}");
    let ambiguous = home.run(["session", "approve", "s"]);
    assert!(ambiguous.status == 1 && ambiguous.stderr.contains("several calls"), "{ambiguous:?}");
    for seq in ["3", "1", "2"] {
        assert_eq!(home.run(["session", "approve", "s", seq]).status, 0);
    }
    let last = parsed(&home.run(["session", "resume", "s", "--json"]));
    let totals: Vec<&Value> = last["value"].as_array().expect("receipts").iter().map(|one| &one["total"]).collect();
    assert_eq!(totals, [1, 2, 3], "{last:#}");

    let script = "echo before; x=$RANDOM; pay charges create --amount 5 --currency EUR > out.json || echo refused; \
        echo $x; jq .total out.json";
    let ran = home.run(["run", "--lang", "sh", "-e", script, "--policy", "policy.toml", "--session", "b"]);
    assert!(ran.status == 5 && ran.stdout == "before\n", "{ran:?}");
    assert!(ran.stderr.contains("session approve b"), "{ran:?}");
    assert_eq!(home.run(["session", "approve", "b"]).status, 0);
    let ran = home.run(["session", "resume", "b"]);
    assert!(ran.status == 0 && ran.stdout.ends_with("\n5\n") && !ran.stdout.contains("before"), "{ran:?}");
}

/// What a run depends on must be as it was; an abandoned run leaves the files as they were.
#[test]
fn run_under_other_conditions_is_not_resumed_but_can_be_abandoned() {
    let home = home();
    assert_eq!(start(&home)["status"], "suspended");
    let copy = home.path().join("copy.tar");
    let copy = copy.to_str().expect("a path");
    assert_eq!(home.run(["session", "export", "s", copy]).status, 0);
    assert_eq!(home.run(["session", "import", copy, "copy", "--budget", "fresh"]).status, 0);
    let resumed = home.run(["session", "resume", "copy"]);
    assert!(resumed.status == 1 && resumed.stderr.contains("no run to resume"), "{resumed:?}");
    assert_eq!(home.run(["session", "fork", "s", "fork"]).status, 0);
    assert_eq!(home.run(["session", "pending", "fork", "--json"]).stdout.trim(), "[]");

    let ran = home.run(["session", "abandon", "s"]);
    assert!(ran.status == 0 && ran.stdout.contains("s@1 is cancelled"), "{ran:?}");
    assert_eq!(home.run(["session", "pending", "s", "--json"]).stdout.trim(), "[]");
    let after = parsed(&home.run(["run", "-e", "return require('fs').readdirSync('.')", "--session", "s", "--json"]));
    assert_eq!(after["value"], json!([]), "{after:#}");
    let verified = home.run(["store", "verify"]);
    assert_eq!(verified.status, 0, "{verified:?}");
}

/// On a terminal a human is asked at once, unless nobody is to be asked now.
#[test]
fn run_with_no_wait_suspends_on_a_terminal_too() {
    let home = home();
    let script = "return (await pay.charges.create({amount: 7, currency: 'EUR'})).total";
    let begin = ["run", "-e", script, "--policy", "policy.toml", "--session", "s", "--no-wait"];
    let (status, lines) = TerminalScreen::start(&home, &begin, 30, 120).ends();
    assert!(status == 5 && lines.iter().any(|line| line.contains("session approve s")), "{lines:#?}");
    // Whoever resumes it on a terminal is asked there.
    let mut screen = TerminalScreen::start(&home, &["session", "resume", "s"], 30, 120);
    let question = screen.asks();
    screen.consents(&question);
    let (status, lines) = screen.ends();
    assert!(status == 0 && lines.iter().any(|line| line.trim() == "7"), "{lines:#?}");
}

/// In memory nothing can wait, so a question that nobody answers is a refusal, as before.
#[test]
fn question_without_session_unanswered_is_a_refusal() {
    let home = home();
    let script = "await pay.charges.create({amount: 1, currency: 'EUR'})";
    let ran = home.run(["run", "-e", script, "--policy", "policy.toml"]);
    assert!(ran.status == 3 && ran.stderr.contains("--session"), "{ran:?}");
}

/// A run that cannot be replayed is not suspended: its calls are refused, with the reason of old.
#[test]
fn run_that_cannot_be_replayed_is_refused_approval() {
    let home = home();
    let policy = home.file("policy.toml", POLICY);
    let script = "const text = await require('node:stream/consumers').text(process.stdin); \
        try { await pay.charges.create({amount: 1, currency: 'EUR'}) } catch (error) { return [text.length, error.message] }";
    let mut command = home.command(["run", "-e", script, "--policy", policy.to_str().expect("a path")]);
    let mut child = command
        .args(["--session", "s", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it is built");
    let mut input = child.stdin.take().expect("it is piped");
    std::thread::spawn(move || std::io::Write::write_all(&mut input, &vec![b'x'; 9 << 20]));
    let output = child.wait_with_output().expect("it ends");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&result["status"], &result["value"][0]), (&json!("completed"), &json!(9 << 20)), "{result:#}");
    assert!(result["value"][1].as_str().is_some_and(|message| message.contains("needs approval")), "{result:#}");
}

/// A call that waits while the run loses its journal is refused, since nobody could resume the run.
#[test]
fn call_waiting_is_refused_once_its_run_loses_its_journal() {
    let home = home();
    let script = "const text = require('node:stream/consumers').text(process.stdin); \
        const paid = await pay.charges.create({amount: 1, currency: 'EUR'}).catch(error => error.message); \
        return [(await text).length, paid]";
    let mut command = home.command(["run", "-e", script, "--policy", "policy.toml", "--session", "s", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it is built");
    let mut input = child.stdin.take().expect("it is piped");
    std::thread::spawn(move || std::io::Write::write_all(&mut input, &vec![b'x'; 9 << 20]));
    let result: Value = serde_json::from_slice(&child.wait_with_output().expect("it ends").stdout).expect("JSON");
    let why = result["value"][1].as_str().unwrap_or_default();
    assert!(result["value"][0] == 9 << 20 && why.contains("read more than 8 MiB"), "{result:#}");
    assert_eq!(outcomes(&result), [("pay/charges/create", "denied")]);
}

/// A run that is stopped while it is replayed is as it was: what it waits for is not lost.
#[test]
fn replay_stopped_leaves_the_run_as_it_was() {
    let home = home();
    let script = "for (let at = 0; at < 1e5; at++); \
        return (await pay.charges.create({amount: 7, currency: 'EUR'})).total";
    let begin = ["run", "-e", script, "--policy", "policy.toml", "--session", "s", "--json"];
    assert_eq!(parsed(&home.run(begin))["status"], "suspended");
    let stopped = parsed(&home.run(["session", "resume", "s", "--json", "--fuel", "1"]));
    assert_eq!(stopped["status"], "limited", "{stopped:#}");
    assert!(stopped["error"]["hint"].as_str().is_some_and(|hint| hint.contains("can be resumed again")), "{stopped:#}");
    let other = home.run(["run", "-e", "return 1", "--session", "s"]);
    assert!(other.status == 1 && other.stderr.contains("is suspended"), "{other:?}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let last = parsed(&home.run(["session", "resume", "s", "--json"]));
    assert_eq!((&last["status"], &last["value"]), (&json!("completed"), &json!(7)), "{last:#}");
}

/// Input that had not been read to its end is not silently shorter.
#[test]
fn input_that_is_lost_is_an_error() {
    let home = home();
    let script = "const input = process.stdin[Symbol.asyncIterator](); const first = (await input.next()).value; \
        await pay.charges.create({amount: 1, currency: 'EUR'}); \
        try { for await (const part of input) console.log('more') } catch (error) { return [String(first), error.message] } \
        return 'it ended'";
    let mut command = home.command(["run", "-e", script, "--policy", "policy.toml", "--session", "s"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is built");
    let mut input = child.stdin.take().expect("it is piped");
    std::io::Write::write_all(&mut input, b"some").expect("it reads");
    // The script may wait for more, which keeps the run from being suspended.
    std::thread::sleep(Duration::from_millis(500));
    std::io::Write::write_all(&mut input, b" text").expect("it reads");
    let ended = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        child.try_wait().expect("it runs")
    });
    let code = ended.and_then(|status| status.code());
    drop(input);
    if code != Some(5) {
        // It reads ahead: then it is suspended at the end of its input, of which nothing is lost.
        assert_eq!(child.wait().expect("it ends").code(), Some(5));
    }
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let last = parsed(&home.run(["session", "resume", "s", "--json"]));
    let lost = last["value"][1].as_str().is_some_and(|message| message.contains("the rest of standard input is lost"));
    assert!(if code == Some(5) { lost } else { last["value"] == "it ended" }, "{last:#}");
}

/// What was read from standard input is read again, to its end.
#[test]
fn input_read_before_suspension_is_read_again_on_resume() {
    let home = home();
    let script = "let text = ''; for await (const part of process.stdin) text += part; \
        await pay.charges.create({amount: 1, currency: 'EUR'}); return text";
    let mut command = home.command(["run", "-e", script, "--policy", "policy.toml", "--session", "s"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is built");
    std::io::Write::write_all(&mut child.stdin.take().expect("it is piped"), b"some text").expect("it reads");
    assert_eq!(child.wait().expect("it ends").code(), Some(5));
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let last = parsed(&home.run(["session", "resume", "s", "--json"]));
    assert_eq!(last["value"], "some text", "{last:#}");
}

/// Kills the process once the script has printed this line.
fn kill_at(home: &Home, line: &str, arguments: &[&str]) -> String {
    use std::io::BufRead as _;
    let mut child: Child =
        home.command(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary is built");
    let mut printed = String::new();
    let mut output = std::io::BufReader::new(child.stdout.take().expect("it is piped"));
    while !printed.ends_with(&format!("{line}\n")) && output.read_line(&mut printed).expect("text") > 0 {}
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    printed
}

/// A process that is killed loses nothing that a call had returned, and repeats none.
#[test]
fn run_killed_continues_after_its_last_returned_call() {
    let home = home();
    let script = "
        const all = [];
        for (let at = 0; at < 4; at++) {
            all.push((await pay.charges.list({customerId: `c${at}`, limit: 1}))[0]);
            require('fs').appendFileSync('log', `${at}\\n`);
            console.log(`done ${at}`);
            if (at === 2) { for (;;) await new Promise(done => setTimeout(done, 5)); }
        }
        return [all, require('fs').readFileSync('log', 'utf8')];";
    home.file("loop.js", script);
    let killed = kill_at(&home, "done 2", &["run", "loop.js", "--policy", "policy.toml", "--session", "s"]);
    assert_eq!(killed, "done 0\ndone 1\ndone 2\n");
    let shown = parsed(&home.run(["session", "show", "s", "--json"]));
    assert_eq!(shown["runs"][1]["status"], "interrupted", "{shown:#}");
    // It continues behind the last call whose result was durable, and runs into its time limit in the endless loop.
    let ran = parsed(&home.run(["session", "resume", "s", "--json", "--timeout", "1s"]));
    assert_eq!(ran["status"], "limited", "{ran:#}");
    assert!(["", "done 2\n"].contains(&ran["stdout"].as_str().expect("text")), "{ran:#}");
    let lists = outcomes(&ran).iter().filter(|(method, _)| *method == "pay/charges/list").count();
    assert_eq!(lists, 3, "{ran:#}");
    let budgets = ran["budgets"].as_array().expect("budgets");
    let used = budgets.iter().find(|budget| budget["grant"] == "free").expect("a budget");
    assert_eq!(used["used"], 3, "each call is paid for once: {ran:#}");
}

/// Time passes for a timer while the run is suspended.
#[test]
fn timer_elapsed_during_suspension_fires_on_resume() {
    let home = home();
    let script = "const late = new Promise(done => setTimeout(() => done('late'), 300)); \
        await pay.charges.create({amount: 1, currency: 'EUR'}); return await late";
    let first = parsed(&home.run(["run", "-e", script, "--policy", "policy.toml", "--session", "s", "--json"]));
    assert_eq!(first["status"], "suspended", "{first:#}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    std::thread::sleep(Duration::from_millis(300));
    let last = parsed(&home.run(["session", "resume", "s", "--json"]));
    assert_eq!((&last["value"], &last["status"]), (&json!("late"), &json!("completed")), "{last:#}");
}

/// The same for a host that embeds Tollhouse, with a function of its own, which takes effect each time.
#[test]
fn host_function_is_called_once_however_often_resumed() {
    let home = Home::new();
    let (host, sessions, made) = (home.host(), Sessions::in_memory(), Arc::new(AtomicU64::new(0)));
    let name: SessionId = "s".parse().expect("a name");
    let counted = Arc::clone(&made);
    let schema = json!({ "type": "object", "properties": { "by": { "type": "integer" } } });
    let add = HostTool::new("count.add", "Counts.", schema).expect("a tool");
    let add = add.answered_by(move |_: &HostCall<'_>| Ok(json!(counted.fetch_add(1, Ordering::SeqCst) + 1).into()));
    let grant = |pattern: &str| Grant::allow(pattern).expect("a pattern");
    let asks = grant("count/add").named("asks").calls(9).approve(Approve::Always);
    let policy = Some(Policy::default().with(asks));
    let options = OpenOptions { policy, host_tools: vec![add], ..OpenOptions::default() };
    let session = host.open(&sessions, &name, options).expect("it opens");
    let source = "const a = await count.add({by: 1}); const b = await count.add({by: 2}); return [a, b]".to_owned();
    let script = Script { source, ..Script::default() };
    let run = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
    assert_eq!(run.finish().status, Status::Suspended);
    let answered =
        Answered { allowed: true, by: "test".to_owned(), reason: None, digest: None, arguments: None, signature: None };
    for waits in [1, 2] {
        let pending = sessions.call_decisions().pending_calls(&name).expect("it is read");
        assert_eq!((pending.len(), &pending[0].call.arguments), (1, &json!({ "by": waits })));
        sessions.call_decisions().decide(&name, None, None, &answered, Arc::new(|| true)).expect("it waits");
        let result = session.resume(RunOptions::default()).expect("it is suspended").finish();
        assert_eq!(made.load(Ordering::SeqCst), waits, "{:?}", result.error);
        if waits == 2 {
            assert_eq!(result.value, Some(json!([1, 2])));
        }
    }
    assert!(session.resume(RunOptions::default()).is_err(), "nothing is left to resume");
}

/// Approver that records the question, and leaves each decision to later.
struct Later;

impl Approver for Later {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Result<Answer, ApprovalError> {
        request.put("may it count?")?;
        Err(ApprovalError::Deferred)
    }
}

/// An approver that leaves the decision to later suspends the run; a run in memory cannot wait, and the call is refused.
#[test]
fn decision_deferred_suspends_run_on_disk_and_refuses_in_memory() {
    let home = Home::new();
    let (host, sessions, name): (_, _, SessionId) = (home.host(), Sessions::in_memory(), "s".parse().expect("a name"));
    let add = HostTool::new("count.add", "Counts.", json!({ "type": "object" })).expect("a tool");
    let add = add.answered_by(|_: &HostCall<'_>| Ok(json!(1).into()));
    let asks = Grant::allow("count/add").expect("a pattern").named("asks").approve(Approve::Always);
    let policy = Policy::default().with(asks);
    let script = || Script { source: "return await count.add({})".to_owned(), ..Script::default() };

    let options = SessionOptions {
        policy: policy.clone(),
        host_tools: vec![add.clone()],
        approver: Some(Arc::new(Later)),
        ..SessionOptions::default()
    };
    let session = host.session(options).expect("it is made");
    let refused = session.start(Language::JavaScript, script(), RunOptions::default()).expect("it starts").finish();
    let message = refused.error.map(|error| error.message).unwrap_or_default();
    assert!(refused.status == Status::Denied && message.contains("left to later"), "{message}");

    let options = OpenOptions {
        policy: Some(policy),
        host_tools: vec![add],
        approver: Some(Arc::new(Later)),
        ..OpenOptions::default()
    };
    let session = host.open(&sessions, &name, options).expect("it opens");
    let run = session.start(Language::JavaScript, script(), RunOptions::default()).expect("it starts");
    assert_eq!(run.finish().status, Status::Suspended);
    let again = session.resume(RunOptions::default()).expect("it is suspended").finish();
    assert_eq!(again.status, Status::Suspended);
    let answered =
        Answered { allowed: true, by: "test".to_owned(), reason: None, digest: None, arguments: None, signature: None };
    sessions.call_decisions().decide(&name, None, None, &answered, Arc::new(|| true)).expect("it waits");
    let last = session.resume(RunOptions::default()).expect("it is suspended").finish();
    assert_eq!(last.value, Some(json!(1)), "{:?}", last.error);
}

/// A small generator of numbers, so that a failure names its seed.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// What takes effect outside takes effect once, whenever the process is killed: a call that may have is not made again
/// by itself.
#[test]
fn requests_are_made_once_however_often_the_process_is_killed() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(|head: &str| ("200 OK", Vec::new(), head.split(' ').nth(1).unwrap_or("").into()));
    let at = format!("http://127.0.0.1:{}", server.port());
    let script = format!(
        "const got = [];
        const get = async path => {{ try {{ return await (await fetch('{at}' + path)).text() }} catch (error) {{ return error.message }} }};
        for (let at = 0; at < 6; at++) {{
            got.push(await get(`/a${{at}}`), ...await Promise.all([get(`/b${{at}}`), get(`/c${{at}}`)]));
            console.log(at);
        }}
        return got;"
    );
    home.file("get.js", script);
    let seen = || server.seen().iter().map(|head| head.split(' ').nth(1).unwrap_or("").to_owned()).collect::<Vec<_>>();
    let numbers = &mut Numbers(u64::from(std::process::id()));
    for round in 0..5 {
        let (name, before) = (format!("s{round}"), seen().len());
        let begin = ["run", "get.js", "--allow-net", &at, "--session", &name];
        let resume = ["session", "resume", &name];
        let mut result = Value::Null;
        for attempt in 0.. {
            assert!(attempt < 40, "{result:#}");
            let show = home.run(["session", "show", &name, "--json"]);
            let show: Value = serde_json::from_str(&show.stdout).unwrap_or_default();
            let status = show["runs"][1]["status"].as_str().unwrap_or_default();
            if status == "completed" {
                break;
            }
            let arguments: &[&str] = if status.is_empty() { &begin } else { &resume };
            if attempt < 4 {
                let mut command = home.command(arguments);
                let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is built");
                std::thread::sleep(Duration::from_millis(20 + numbers.below(120)));
                let _ = child.kill();
                child.wait().expect("it ends");
                continue;
            }
            result = parsed(&home.run(arguments.iter().chain(&["--json"])));
            if result["status"] != "in_doubt" {
                break;
            }
            let mine = seen().split_off(before);
            for call in result["calls"].as_array().expect("calls").iter().filter(|call| call["outcome"] == "pending") {
                let path = call["arguments"]["url"].as_str().and_then(|url| url.strip_prefix(&at)).expect("a path");
                let seq = call["seq"].to_string();
                let fate = if mine.iter().any(|seen| seen == path) { vec!["fail", "lost"] } else { vec!["retry"] };
                let resolved = home.run(["session", "resolve", &name, &seq].into_iter().chain(fate));
                // A call that has not started is not in doubt.
                assert!(resolved.status == 0 || resolved.stderr.contains("in doubt"), "{resolved:?}");
            }
        }
        assert!(["completed", ""].contains(&result["status"].as_str().unwrap_or("")), "{result:#}");
        let mut mine = seen().split_off(before);
        mine.sort();
        let all: Vec<String> = "abc".chars().flat_map(|kind| (0..6).map(move |at| format!("/{kind}{at}"))).collect();
        assert_eq!(mine, all, "each request is made, and made once");
    }
}
