//! Forks in the middle of a run: the other branch needs no paid call again, gains no budget, and asks again.

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran, root};

/// Charges, of which the dear ones ask.
const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\nstats = 'tollhouse:stats@*'\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 3\n\
    spend = { param = 'amount', limit = 1000 }\napprove = { param = 'amount', gt = 10 }\n\
    where = [{ param = 'amount', le = 500 }]\n\
    [[grant]]\nmethod = 'stats/**'\n";

/// A script that pays, runs bash, draws random numbers and writes a file, pays what needs approval, and has another way.
const SCRIPT: &str = "
    const fs = require('node:fs');
    const before = [crypto.randomUUID(), Date.now(), (await shell('echo $RANDOM')).stdout];
    const first = await pay.charges.create({amount: 1, currency: 'EUR'});
    fs.appendFileSync('/workspace/log', `paid ${first.total}\\n`);
    console.log('paid', first.total);
    let way;
    try { way = (await pay.charges.create({amount: 20, currency: 'EUR'})).total }
    catch (error) { way = error.name }
    fs.appendFileSync('/workspace/log', `then ${way}\\n`);
    return {before, way, after: crypto.randomUUID(), log: fs.readFileSync('/workspace/log', 'utf8')};";

fn home(more: &str) -> Home {
    let home = Home::with_tools(&["stats"]);
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("policy.toml", format!("{POLICY}{more}"));
    home.file("script.js", SCRIPT);
    home
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn start(home: &Home, script: &str) -> Value {
    home.file("other.js", script);
    parsed(&home.run(["run", "other.js", "--policy", "policy.toml", "--session", "s", "--json"]))
}

/// Runs a command that has to succeed.
fn done(home: &Home, command: &str) -> String {
    let ran = home.run(command.split(' '));
    assert_eq!(ran.status, 0, "{command}: {ran:?}");
    ran.stdout
}

/// Runs a command that has to fail, and returns what it said.
fn refused(home: &Home, command: &str) -> String {
    let ran = home.run(command.split(' '));
    assert_eq!(ran.status, 1, "{command}: {ran:?}");
    ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn resume(home: &Home, session: &str) -> Value {
    parsed(&home.run(["session", "resume", session, "--json"]))
}

fn outcomes(result: &Value) -> Vec<&str> {
    let calls = result["calls"].as_array().expect("calls");
    calls.iter().map(|call| call["outcome"].as_str().unwrap_or_default()).collect()
}

/// Calls and amount that are spent of the grant `charges`, by all sessions that share it.
fn spent(result: &Value) -> (u64, u64) {
    let used = |kind: &str| {
        let budgets = result["budgets"].as_array().expect("budgets");
        let of = budgets.iter().find(|budget| budget["grant"] == "charges" && budget["kind"] == kind);
        of.and_then(|budget| budget["used"].as_u64()).expect("a budget")
    };
    (used("calls"), used("spend"))
}

/// The fork of a suspended run goes the other way, while the original goes on: the first payment is made once, and both
/// pay from one budget. An approval of the original is none of the fork.
#[test]
fn fork_of_a_suspended_run_takes_the_other_branch_without_a_paid_call() {
    let home = home("");
    let suspended = start(&home, SCRIPT);
    assert_eq!((&suspended["status"], spent(&suspended)), (&json!("suspended"), (1, 1)), "{suspended:#}");
    done(&home, "session approve s");
    let forked = parsed(&home.run("session fork s@1 b --at 2 --json".split(' ')));
    assert_eq!(
        (&forked["session"], &forked["run"], &forked["seq"], &forked["forked"]),
        (&json!("b"), &json!(1), &json!(2), &json!(1)),
        "{forked:#}"
    );
    assert!(done(&home, "session show b").contains("in the middle of run 1: before call 2"));
    assert_eq!(done(&home, "session pending b --json").trim(), "[]");
    assert!(refused(&home, "run -e 1 --session b").contains("is suspended"));

    let asks = resume(&home, "b");
    assert_eq!((&asks["status"], &asks["stdout"], spent(&asks)), (&json!("suspended"), &json!(""), (1, 1)), "{asks:#}");
    let pending: Value = serde_json::from_str(&done(&home, "session pending b --json")).expect("JSON");
    assert_eq!((&pending[0]["seq"], &pending[0]["arguments"]["amount"]), (&json!(2), &json!(20)), "{pending:#}");
    done(&home, "session deny b");
    let other = resume(&home, "b");
    assert_eq!((&other["status"], outcomes(&other)), (&json!("completed"), vec!["ok", "denied"]), "{other:#}");
    assert_eq!(other["value"]["log"], "paid 1\nthen CapabilityError\n", "{other:#}");
    assert_eq!(spent(&other), (1, 1));

    let one = resume(&home, "s");
    assert_eq!((&one["value"]["log"], spent(&one)), (&json!("paid 1\nthen 20\n"), (2, 21)), "{one:#}");
    assert_eq!(one["value"]["before"], other["value"]["before"], "what was before is as it was");
    assert_ne!(one["value"]["after"], other["value"]["after"], "what comes after is drawn anew");
    let later = parsed(&home.run(["run", "-e", "return 1", "--session", "b", "--json"]));
    assert_eq!((spent(&later), &later["run"]), ((2, 21), &json!(2)), "one budget: {later:#}");
    let log: Vec<String> = done(&home, "session log b --run 1 --json")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["event"].as_str().expect("a word").to_owned())
        .collect();
    assert_eq!(log[..3], ["forked", "copied", "resumed"], "{log:?}");
    assert!(done(&home, "session replay b@1").contains("not made again: ok"));
    done(&home, "store verify");
}

/// A run that has ended is forked before any of its calls if its journal was kept, and so is the fork.
#[test]
fn ended_run_with_a_kept_journal_is_forked_before_any_of_its_calls() {
    let home = home("[journal]\nkeep = 'all'\n");
    let script = "const done = [crypto.randomUUID()];
        const charge = async (amount) => done.push((await pay.charges.create({amount, currency: 'EUR'})).total);
        await charge(1);
        await Promise.all([charge(2), stats.describe({values: [1, 2]}).then((of) => done.push(of.mean))]);
        return done";
    let first = start(&home, script);
    assert_eq!((&first["status"], spent(&first)), (&json!("completed"), (2, 3)), "{first:#}");
    for (seq, calls, spend) in [(3, 2, 3), (2, 3, 5)] {
        done(&home, &format!("session fork s@1 at{seq} --at {seq}"));
        let again = resume(&home, &format!("at{seq}"));
        assert_eq!((&again["status"], outcomes(&again)), (&json!("completed"), vec!["ok"; 3]), "{again:#}");
        assert_eq!(spent(&again), (calls, spend), "{again:#}");
        assert_eq!(again["value"][0], first["value"][0]);
    }
    // The budget of three calls is used up: the fork of a fork shares it too, and its first call is refused.
    done(&home, "session fork at2 last --at 1");
    let last = resume(&home, "last");
    assert_eq!(
        (&last["status"], outcomes(&last), spent(&last)),
        (&json!("denied"), vec!["denied"], (3, 5)),
        "{last:#}"
    );
    done(&home, "session fork at2@1 nested --at 3");
    assert_eq!(outcomes(&resume(&home, "nested")), ["ok"; 3]);
    done(&home, "store verify");
}

/// A result that came after the call at which the run is forked is taken over, since it was paid for.
#[test]
fn result_that_came_later_is_taken_over() {
    let home = home("");
    let script = "return await Promise.all([
        pay.charges.create({amount: 1, currency: 'EUR'}).then((receipt) => receipt.total),
        pay.charges.create({amount: 20, currency: 'EUR'}).then((receipt) => receipt.total, (error) => error.name),
        stats.describe({values: [4]}).then((of) => of.mean)])";
    let first = start(&home, script);
    assert_eq!((&first["status"], spent(&first)), (&json!("suspended"), (1, 1)), "{first:#}");
    done(&home, "session fork s b --at 2");
    assert_eq!(resume(&home, "b")["status"], "suspended");
    done(&home, "session approve b 2");
    let other = resume(&home, "b");
    assert_eq!((&other["value"], spent(&other)), (&json!([1, 20, 4]), (2, 21)), "{other:#}");
}

#[test]
fn run_that_cannot_be_forked_at_a_call_says_why_and_what_to_do() {
    let home = home("");
    assert_eq!(start(&home, "return (await stats.describe({values: [1]})).mean")["value"], 1);
    let unkept = refused(&home, "session fork s@1 b --at 1");
    assert!(unkept.contains("the journal of run 1") && unkept.contains("keep = \"30d\""), "{unkept}");
    assert!(refused(&home, "session fork s@7 b --at 1").contains("no run 7"));
    assert!(refused(&home, "session fork none@1 b --at 1").contains("no session `none`"));

    let script = "await pay.charges.create({amount: 600, currency: 'EUR'}).catch(() => {});
        const pay20 = () => pay.charges.create({amount: 20, currency: 'EUR'});
        await Promise.all([pay20(), pay20()])";
    assert_eq!(start(&home, script)["status"], "suspended");
    for (seq, why) in [
        (0, "the run has no such call"),
        (9, "its last one is 3"),
        (1, "the policy refused it"),
        (3, "call 2 before it has no result: fork at call 2"),
    ] {
        let said = refused(&home, &format!("session fork s b --at {seq}"));
        assert!(said.contains(why) && said.contains("session replay s@2"), "{seq}: {said}");
    }
    let taken = home.run("session fork s s --at 2".split(' '));
    assert!(taken.status == 2 && taken.stderr.contains("already exists"), "{taken:?}");
    assert!(refused(&home, "session show b").contains("no session `b`"), "nothing was made");
    // Of what it made before, the refusal is taken over.
    done(&home, "session fork s b --at 2");
    assert_eq!(outcomes(&resume(&home, "b")), ["denied", "pending", "pending"]);
    done(&home, "session abandon s");
    assert!(refused(&home, "session fork s@2 c --at 2").contains("the journal of run 2"), "it has ended");
}

/// A run that began with another policy is not resumed, as without a fork.
#[test]
fn fork_of_a_run_with_another_policy_is_not_resumed() {
    let home = home("[journal]\nkeep = 'all'\n");
    assert_eq!(start(&home, "return (await stats.describe({values: [1]})).mean")["value"], 1);
    done(&home, "session grant s --allow pay/charges/list");
    done(&home, "session fork s@1 b --at 1");
    let said = refused(&home, "session resume b");
    assert!(said.contains("the policy of the session, or the tools that it pins, changed"), "{said}");
    done(&home, "session abandon b");
}

/// The original of a hand-over is forked at the call that went along: its fork has none of the budget, which went too.
#[test]
fn fork_of_a_handed_over_run_has_no_budget() {
    let home = home("");
    assert_eq!(start(&home, SCRIPT)["status"], "suspended");
    let file = home.path().join("moved.tlh");
    assert_eq!(home.run(["session", "export", "s", file.to_str().expect("a path"), "--hand-over"]).status, 0);
    done(&home, "session fork s@1 b --at 2");
    let other = resume(&home, "b");
    assert_eq!(
        (&other["value"]["way"], outcomes(&other)),
        (&json!("CapabilityError"), vec!["ok", "denied"]),
        "{other:#}"
    );
    done(&home, "store verify");
}

/// A signature is for one session: the fork asks for another.
#[test]
fn signature_for_the_original_is_not_valid_for_the_fork() {
    let home = home("");
    home.file("policy.toml", POLICY.replace("approve =", "approved_by = ['cfo']\napprove ="));
    done(&home, "registry keygen --out cfo.key");
    let key = std::fs::read_to_string(home.path().join("cfo.key.pub")).expect("a key");
    done(&home, &format!("registry trust add cfo {}", key.trim()));
    assert_eq!(start(&home, SCRIPT)["status"], "suspended");
    done(&home, "session approve s --key cfo.key");
    done(&home, "session fork s b --at 2");
    let resume = |session: &str| parsed(&home.run(["session", "resume", session, "--policy", "policy.toml", "--json"]));
    assert_eq!(resume("b")["status"], "suspended");
    done(&home, "session approve b --key cfo.key");
    assert_eq!(resume("b")["value"]["way"], 20);
    assert_eq!(resume("s")["value"]["way"], 20);
}

/// Files that tools changed are there as they were before the call, and bash is forked as well.
#[test]
fn fork_of_a_shell_script_has_the_files_of_the_tools_before_the_call() {
    let home = home("");
    let asks = "[permissions]\nfiles = ['/workspace']";
    home.publish_with(&root().join("tests/fixtures/filer"), "tollhouse_fixture_filer.wasm", asks);
    let policy = POLICY.replace("[tools]\n", "[tools]\nfiler = 'test:filer@*'\n");
    let more = "[[grant]]\nmethod = 'filer/**'\n[tool.filer]\nfiles = ['/workspace']\n[journal]\nkeep = 'all'\n";
    home.file("policy.toml", format!("{policy}{more}"));
    let script = "filer write --path /workspace/a --text one; cat a; filer write --path /workspace/a --text two; cat a; \
        filer write --path /workspace/b --text three; cat a b";
    home.file("files.sh", script);
    let ran = home.run("run files.sh --policy policy.toml --session s --lang sh".split(' '));
    assert!(ran.status == 0 && ran.stdout.ends_with("twothree"), "{ran:?}");
    done(&home, "session fork s@1 b --at 3");
    assert!(done(&home, "session resume b").ends_with("twothree"));
    for (file, text) in [("a", "two"), ("b", "three")] {
        assert_eq!(done(&home, &format!("session cat b /workspace/{file}")), text);
    }
}
