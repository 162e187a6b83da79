//! Decisions about calls that wait: with other arguments, in time, and where the session goes on elsewhere.

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran, root};

use super::on_disk::archives::Archive;

/// Charges that ask, with a budget; and a list that does not.
const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 5\n\
    spend = { param = 'amount', limit = 100 }\napprove = true\n\
    [[grant]]\nname = 'free'\nmethod = 'pay/charges/list'\ncalls = 5\n";

/// A script that pays twice, and says what it asked for and what it got.
const SCRIPT: &str = "
    const random = Math.random();
    console.log('random', random);
    const totals = [];
    for (const amount of [10, 20]) {
        try { totals.push((await pay.charges.create({amount, currency: 'EUR'})).total) }
        catch (error) { totals.push(`${error.name}: ${error.message}`) }
        console.log('paid', amount);
        require('fs').appendFileSync('log', `${amount}\\n`);
    }
    return [totals, random, require('fs').readFileSync('log', 'utf8')];";

fn home_with(policy: &str) -> Home {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("policy.toml", policy);
    home.file("script.js", SCRIPT);
    home
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn start(home: &Home, more: &[&str]) -> Value {
    let run = ["run", "script.js", "--policy", "policy.toml", "--session", "s", "--json"];
    parsed(&home.run(run.iter().chain(more)))
}

fn resume(home: &Home) -> Value {
    parsed(&home.run(["session", "resume", "s", "--json"]))
}

fn used(result: &Value, grant: &str, kind: &str) -> Value {
    let budgets = result["budgets"].as_array().expect("budgets");
    let budget = budgets.iter().find(|budget| budget["grant"] == grant && budget["kind"] == kind);
    budget.expect("a budget")["used"].clone()
}

/// A human changes the arguments: the tool gets them, the budget is spent by them, and the script goes on unaware, also
/// when it is replayed again.
#[test]
fn call_edited_on_approval_uses_the_new_arguments() {
    let home = home_with(POLICY);
    assert_eq!(start(&home, &[])["status"], "suspended");
    let refused = home.run(["session", "edit", "s", "[1]"]);
    assert!(refused.status == 2 && refused.stderr.contains("not a JSON object"), "{refused:?}");
    let refused = home.run(["session", "edit", "s", "one", "{}"]);
    assert!(refused.status == 2 && refused.stderr.contains("not the number of a call"), "{refused:?}");
    let edited =
        home.run(["session", "edit", "s@1", "1", r#"{"amount": 7, "currency": "EUR"}"#, "--by", "eve", "--json"]);
    let edited = parsed(&edited);
    assert_eq!(edited["arguments"]["amount"], 10, "the script's: {edited:#}");
    assert_eq!(edited["decision"]["arguments"]["amount"], 7, "{edited:#}");
    let shown = home.run(["session", "pending", "s"]).stdout;
    assert!(shown.contains("approved by eve with other arguments") && shown.contains("instead: amount = 7"), "{shown}");

    let second = resume(&home);
    assert_eq!((&second["status"], used(&second, "charges", "spend")), (&json!("suspended"), json!(7)), "{second:#}");
    assert_eq!(second["calls"][0]["arguments"]["amount"], 7, "{second:#}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let last = resume(&home);
    assert_eq!((&last["value"][0], used(&last, "charges", "spend")), (&json!([7, 20]), json!(27)), "{last:#}");
    assert_eq!(last["calls"][0]["arguments"]["amount"], 7, "{last:#}");
    let log = home.run(["session", "log", "s", "--json", "--event", "answered"]).stdout;
    let first: Value = serde_json::from_str(log.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&first["by"], &first["edited"], &first["arguments"]),
        (&json!("eve"), &json!(true), &json!(null)),
        "{log}"
    );
    let log = home.run(["session", "log", "s", "--json", "--event", "admitted"]).stdout;
    let first: Value = serde_json::from_str(log.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["arguments"]["amount"], 7, "{log}");
    assert_eq!(home.run(["store", "verify"]).status, 0);
}

/// Whoever changes the arguments grants nothing: types, grants and budgets hold for them as for any.
#[test]
fn call_edited_is_judged_by_types_grants_and_budgets() {
    for (arguments, why) in [
        (r#"{"amount": 1000, "currency": "EUR"}"#, "its budget is 100"),
        (r#"{"amount": "much", "currency": "EUR"}"#, "amount"),
        (r#"{"currency": "EUR"}"#, "amount"),
    ] {
        let home = home_with(POLICY);
        assert_eq!(start(&home, &[])["status"], "suspended");
        assert_eq!(home.run(["session", "edit", "s", arguments]).status, 0);
        let second = resume(&home);
        assert_eq!(second["status"], "suspended", "it goes on to the next call: {second:#}");
        assert_eq!((&second["calls"][0]["outcome"], used(&second, "charges", "calls")), (&json!("denied"), json!(0)));
        assert_eq!(home.run(["session", "deny", "s"]).status, 0);
        let last = resume(&home);
        let told = last["value"][0][0].as_str().unwrap_or_default();
        assert!(told.contains(why), "{arguments}: {last:#}");
    }
}

/// Other arguments may fall under another grant that asks: then a human is asked about them.
#[test]
fn call_edited_into_another_grant_needs_its_approval() {
    let large = POLICY.replace(
        "[[grant]]\nname = 'charges'",
        "[[grant]]\nname = 'large'\nmethod = 'pay/charges/create'\n\
        where = [{ param = 'amount', gt = 50 }]\napprove = true\n[[grant]]\nname = 'charges'",
    );
    let home = home_with(&large);
    assert_eq!(start(&home, &[])["status"], "suspended");
    assert_eq!(home.run(["session", "edit", "s", r#"{"amount": 60, "currency": "EUR"}"#]).status, 0);
    assert_eq!(resume(&home)["status"], "suspended");
    let pending = parsed(&home.run(["session", "pending", "s", "--json"]));
    assert_eq!(
        (&pending[0]["grant"], &pending[0]["arguments"]["amount"]),
        (&json!("large"), &json!(60)),
        "{pending:#}"
    );
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let second = resume(&home);
    assert_eq!(second["calls"][0]["arguments"]["amount"], 60, "{second:#}");
    assert_eq!(second["calls"][0]["outcome"], "ok", "{second:#}");
}

/// A question is asked once, and only so long: after that the call is denied, whoever says what.
#[test]
fn question_unanswered_in_time_is_a_denial() {
    let home = home_with(&POLICY.replace("approve = true", "approve = true\napprove_within = '2s'"));
    assert_eq!(start(&home, &[])["status"], "suspended");
    let pending = parsed(&home.run(["session", "pending", "s", "--json"]));
    let [asked, expires] = ["asked", "expires"].map(|key| pending[0][key].as_u64().expect("a time"));
    assert_eq!(expires - asked, 2_000_000_000);
    // Resuming it without a decision asks no second question.
    assert_eq!(resume(&home)["status"], "suspended");
    let again = parsed(&home.run(["session", "pending", "s", "--json"]));
    assert_eq!(again[0]["asked"], asked, "{again:#}");
    let log = home.run(["session", "log", "s", "--json", "--event", "asked"]).stdout;
    assert_eq!(log.lines().count(), 1, "{log}");
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let late = home.run(["session", "approve", "s"]);
    assert!(late.status == 1 && late.stderr.contains("was to be approved earlier"), "{late:?}");
    let second = resume(&home);
    assert_eq!(
        (&second["status"], &second["calls"][0]["outcome"]),
        (&json!("suspended"), &json!("denied")),
        "{second:#}"
    );
    // An answer in time counts, however late the run is resumed.
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let last = resume(&home);
    let told = last["value"][0][0].as_str().unwrap_or_default();
    assert!(told.contains("nobody approved the call in time"), "{last:#}");
    assert_eq!(last["value"][0][1], 20, "{last:#}");

    let wrong = home_with("[[grant]]\nmethod = 'a'\napprove_within = '2s'\n");
    let wrong = wrong.run(["policy", "check", "--policy", "policy.toml"]);
    assert!(wrong.status == 2 && wrong.stderr.contains("needs none"), "{wrong:?}");
}

/// A refusal is final, and so is a question that nobody answered in time: by the time the run is resumed, the grant that asked
/// may be used up, and a later one would allow the call unasked.
#[test]
fn call_refused_or_unanswered_is_denied_although_a_later_grant_allows_it() {
    let policy = "[tools]\npay = 'test:payments@^0.1'\n\
        [[grant]]\nname = 'asked'\nmethod = 'pay/charges/create'\ncalls = 1\napprove = true\napprove_within = '4s'\n\
        [[grant]]\nname = 'small'\nmethod = 'pay/charges/create'\nwhere = [{ param = 'amount', le = 50 }]\n";
    let script = "const charge = amount =>
        pay.charges.create({amount, currency: 'EUR'}).then(() => 'paid', error => error.message);
        return await Promise.all([charge(10), charge(20)]);";
    for (is_refused, why) in
        [(true, "a human refused the call (grant `asked`): no"), (false, "nobody approved the call")]
    {
        let home = home_with(policy);
        home.file("script.js", script);
        assert_eq!(start(&home, &[])["status"], "suspended");
        assert_eq!(home.run(["session", "approve", "s", "1"]).status, 0);
        if is_refused {
            assert_eq!(home.run(["session", "deny", "s", "2", "--reason", "no"]).status, 0);
        } else {
            std::thread::sleep(std::time::Duration::from_millis(4100));
        }
        let last = resume(&home);
        assert_eq!((&last["status"], &last["value"][0]), (&json!("completed"), &json!("paid")), "{last:#}");
        assert!(last["value"][1].as_str().is_some_and(|told| told.contains(why)), "{last:#}");
        assert_eq!(last["calls"][1]["outcome"], "denied", "{last:#}");
        let log = home.run(["session", "log", "s", "--json", "--event", "admitted"]).stdout;
        assert_eq!(log.lines().count(), 1, "{log}");
    }
}

/// An approval that the log does not have allows no call: whoever asks the log who approved a call gets an answer.
#[test]
fn approval_that_only_the_journal_has_allows_no_call() {
    let home = home_with(POLICY);
    assert_eq!(start(&home, &[])["status"], "suspended");
    let pending = parsed(&home.run(["session", "pending", "s", "--json"]));
    let digest = pending[0]["digest"].as_str().expect("a digest");
    assert_eq!(home.run(["session", "export", "s", "s.tlh", "--hand-over"]).status, 0);
    let mut forged = Archive::read(&std::fs::read(home.path().join("s.tlh")).expect("an archive"));
    let question = format!("\"digest\":\"{digest}\"}}}}\n");
    let decision = json!({ "allowed": true, "by": "eve", "at": pending[0]["asked"], "digest": digest });
    let decided = json!({ "entry": "decided", "seq": 1, "decision": decision });
    forged.replace_text(b'J', &question, &format!("{question}{decided}\n"));
    home.file("forged.tlh", forged.write());
    let at = |store: &str, more: &[&str]| home.run(["--store", store, "session"].iter().chain(more));
    for (store, file) in [("one", "forged.tlh"), ("two", "s.tlh")] {
        assert_eq!(at(store, &["import", file, "v", "--budget", "keep"]).status, 0, "{file}");
    }
    let resumed = at("one", &["resume", "v", "--json"]);
    let told = format!("{} {}", resumed.stdout, resumed.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(resumed.status != 0 && told.contains("an approval of call 1, and its log does not"), "{resumed:?}");
    let log = at("one", &["log", "v", "--json", "--event", "admitted"]);
    assert_eq!(log.stdout, "", "{log:?}");
    // The twin: one that was made is in both.
    assert_eq!(at("two", &["approve", "v"]).status, 0);
    assert_eq!(parsed(&at("two", &["resume", "v", "--json"]))["calls"][0]["outcome"], "ok");
}

/// A run keeps the limits that it was started with; those that are given when it is resumed replace them.
#[test]
fn run_resumed_keeps_its_limits_unless_replaced() {
    let home = home_with(POLICY);
    home.file("script.js", "await pay.charges.create({amount: 1, currency: 'EUR'}); for (;;);");
    assert_eq!(start(&home, &["--timeout", "2s"])["status"], "suspended");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let limited = resume(&home);
    let told = limited["error"]["message"].as_str().unwrap_or_default();
    assert!(limited["status"] == "limited" && told.contains("2000 ms"), "{limited:#}");

    assert_eq!(start(&home, &["--timeout", "2m"])["status"], "suspended");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let limited = parsed(&home.run(["session", "resume", "s", "--json", "--timeout", "1500ms"]));
    let told = limited["error"]["message"].as_str().unwrap_or_default();
    assert!(limited["status"] == "limited" && told.contains("1500 ms"), "{limited:#}");
}

/// The whole way: a run is moved in the middle of its loop, goes on elsewhere with the rest of its budget, and nowhere
/// else.
#[test]
fn session_handed_over_during_a_run_continues_elsewhere_only() {
    let (home, other) = (home_with(POLICY), home_with(POLICY));
    let first = start(&home, &[]);
    assert_eq!(first["status"], "suspended", "{first:#}");
    let random = first["stdout"].as_str().and_then(|text| text.trim().strip_prefix("random ")).expect("it is printed");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let second = resume(&home);
    assert_eq!((&second["status"], used(&second, "charges", "spend")), (&json!("suspended"), json!(10)), "{second:#}");
    let file = home.path().join("s.tlh");
    let file = file.to_str().expect("a path");
    let moved = parsed(&home.run(["session", "export", "s", file, "--hand-over", "--json"]));
    let id = moved["hand_over"].as_str().expect("an identifier");

    // The original does not go on.
    assert_eq!(home.run(["session", "pending", "s", "--json"]).stdout.trim(), "[]");
    for refused in [
        vec!["session", "resume", "s"],
        vec!["session", "approve", "s"],
        vec!["session", "abandon", "s"],
        vec!["session", "put", "s", "policy.toml", "/workspace/p"],
        vec!["session", "rollback", "s@0"],
        vec!["session", "grant", "s", "--allow", "pay/**"],
        vec!["session", "label", "s@0", "first"],
        vec!["run", "-e", "return 1", "--session", "s"],
    ] {
        let ran = home.run(&refused);
        assert!(ran.status == 1 && ran.stderr.contains("was handed over"), "{refused:?}: {ran:?}");
    }
    // The file can be written again, and is the same hand-over.
    let again = parsed(&home.run(["session", "export", "s", file, "--hand-over", "--json", "--force"]));
    assert_eq!(again["hand_over"], id, "{again:#}");
    // A fork has the files, and nothing of the budgets, since they went along.
    assert_eq!(home.run(["session", "fork", "s", "fork"]).status, 0);
    let list = "return await pay.charges.list({limit: 1})";
    let ran = parsed(&home.run(["run", "-e", list, "--session", "fork", "--json"]));
    assert_eq!((&ran["status"], used(&ran, "free", "calls")), (&json!("denied"), json!(5)), "{ran:#}");
    // A copy of the original has no run, and may be used.
    let copy = home.path().join("copy.tlh");
    let copy = copy.to_str().expect("a path");
    assert_eq!(home.run(["session", "export", "s", copy]).status, 0);
    assert_eq!(home.run(["session", "import", copy, "copy", "--budget", "fresh"]).status, 0);
    assert_eq!(home.run(["run", "-e", "return 1", "--session", "copy"]).status, 0);
    assert!(home.run(["session", "resume", "copy"]).stderr.contains("no run to resume"));
    // And it brings back no budgets, also when the original is gone.
    for name in ["second", "third"] {
        let imported = parsed(&home.run(["session", "import", copy, name, "--json"]));
        assert_eq!(imported["budget"], "exhausted", "{imported:#}");
        let ran = parsed(&home.run(["run", "-e", list, "--session", name, "--json"]));
        assert_eq!((&ran["status"], used(&ran, "free", "calls")), (&json!("denied"), json!(5)), "{ran:#}");
        if name == "second" {
            assert_eq!(home.run(["session", "rm", "s"]).status, 0);
        }
    }
    assert_eq!(home.run(["store", "verify"]).status, 0);

    // Elsewhere it goes on in the middle, with the same random numbers and the rest of its budget.
    let imported = parsed(&other.run(["session", "import", file, "s", "--json"]));
    assert_eq!(imported["budget"], "keep", "{imported:#}");
    let twice = other.run(["session", "import", file, "t"]);
    assert!(twice.status == 1 && twice.stderr.contains("was imported before, as `s`"), "{twice:?}");
    assert_eq!(other.run(["store", "verify"]).status, 0);
    let pending = parsed(&other.run(["session", "pending", "s", "--json"]));
    assert_eq!(pending[0]["arguments"]["amount"], 20, "{pending:#}");
    assert_eq!(other.run(["session", "approve", "s"]).status, 0);
    let last = resume(&other);
    assert_eq!((&last["status"], &last["value"][0]), (&json!("completed"), &json!([10, 20])), "{last:#}");
    assert_eq!((&last["value"][2], &last["stdout"]), (&json!("10\n20\n"), &json!("paid 20\n")), "{last:#}");
    assert_eq!(last["value"][1].to_string(), random, "{last:#}");
    assert_eq!((used(&last, "charges", "spend"), used(&last, "charges", "calls")), (json!(30), json!(2)), "{last:#}");
    assert_eq!(other.run(["store", "verify"]).status, 0);
    // It can come back, with what is left now.
    let back = home.path().join("back.tlh");
    let back = back.to_str().expect("a path");
    assert_eq!(other.run(["session", "export", "s", back, "--hand-over"]).status, 0);
    assert_eq!(home.run(["session", "import", back, "back", "--json"]).status, 0);
    let one = "return (await pay.charges.list({limit: 1})).length";
    let ran = parsed(&home.run(["run", "-e", one, "--session", "back", "--json"]));
    assert_eq!((&ran["value"], used(&ran, "free", "calls")), (&json!(1), json!(1)), "{ran:#}");
    assert_eq!((used(&ran, "charges", "spend"), used(&ran, "charges", "calls")), (json!(30), json!(2)), "{ran:#}");
    // Its fork shares what is left, although nobody spent it here.
    assert_eq!(home.run(["session", "fork", "back", "sibling"]).status, 0);
    for (name, calls) in [("back", 2), ("sibling", 3), ("back", 4), ("sibling", 5)] {
        let ran = parsed(&home.run(["run", "-e", one, "--session", name, "--json"]));
        assert_eq!((&ran["status"], used(&ran, "free", "calls")), (&json!("completed"), json!(calls)), "{ran:#}");
    }
    for name in ["back", "sibling"] {
        assert_eq!(parsed(&home.run(["run", "-e", one, "--session", name, "--json"]))["status"], "denied", "{name}");
    }
    assert_eq!(home.run(["store", "verify"]).status, 0);
    // Also when it is gone.
    assert_eq!(other.run(["session", "rm", "s"]).status, 0);
    let twice = other.run(["session", "import", file, "t"]);
    assert!(twice.status == 1 && twice.stderr.contains("was imported before"), "{twice:?}");
}

/// What forks spent in another store is spent where the session comes back, and it can be handed over again.
#[test]
fn spending_of_forks_elsewhere_comes_back_with_the_session() {
    let (home, other) = (Home::with_tools(&["stats"]), Home::with_tools(&["stats"]));
    let path = |name: &str| home.path().join(name).to_str().expect("a path").to_owned();
    let call = |home: &Home, session: &str| {
        parsed(&home.run([
            "run",
            "-e",
            "return (await stats.describe({values: [1]})).mean",
            "--session",
            session,
            "--json",
        ]))
    };
    home.file("budget.toml", "[[grant]]\nmethod = 'stats/describe'\ncalls = 5\n");
    assert_eq!(home.run(["session", "new", "s", "--policy", "budget.toml"]).status, 0);
    assert_eq!(call(&home, "s")["value"], 1);
    assert_eq!(home.run(["session", "export", "s", &path("1"), "--hand-over"]).status, 0);
    assert_eq!(other.run(["session", "import", &path("1"), "s"]).status, 0);
    assert_eq!(other.run(["session", "fork", "s", "fork"]).status, 0);
    assert_eq!((call(&other, "fork")["value"].clone(), call(&other, "fork")["value"].clone()), (json!(1), json!(1)));
    assert_eq!(other.run(["session", "rm", "fork"]).status, 0);
    assert_eq!(other.run(["session", "export", "s", &path("2"), "--hand-over"]).status, 0);
    assert_eq!(home.run(["session", "import", &path("2"), "back"]).status, 0);
    assert_eq!(call(&home, "back")["value"], 1);
    // A fork of the original shares again what is left.
    assert_eq!(home.run(["session", "fork", "s", "again"]).status, 0);
    assert_eq!(call(&home, "again")["value"], 1);
    for session in ["back", "again"] {
        assert_eq!(call(&home, session)["status"], "denied", "5 of 5 are spent");
    }
    assert_eq!(home.run(["session", "rm", "again"]).status, 0);
    let moved = parsed(&home.run(["session", "export", "back", &path("3"), "--hand-over", "--json"]));
    let third = Home::with_tools(&["stats"]);
    let imported = parsed(&third.run(["session", "import", &path("3"), "s", "--json"]));
    assert_eq!(imported["budget"], "keep", "the original has none: {moved:#} {imported:#}");
    assert_eq!(call(&third, "s")["status"], "denied");
    // The file of the first hand-over would bring back what has come back since, and gone again.
    let stale = home.run(["session", "import", &path("1"), "stale"]);
    assert!(stale.status == 1 && stale.stderr.contains("or a later one, was imported before, as `back`"), "{stale:?}");
    for home in [&home, &other, &third] {
        assert_eq!(home.run(["store", "verify"]).status, 0);
    }
}

/// A fork that is made at the same time has the budgets, or the hand-over has them.
#[test]
fn fork_during_hand_over_never_doubles_the_budgets() {
    let home = Home::with_tools(&["stats"]);
    let call = "return await stats.describe({values: [1]})";
    for round in 0..12 {
        let (name, fork) = (format!("s{round}"), format!("f{round}"));
        let file = home.path().join(&name);
        let file = file.to_str().expect("a path");
        home.file("budget.toml", "[[grant]]\nmethod = 'stats/describe'\ncalls = 2\n");
        let made = home.run(["session", "new", &name, "--policy", "budget.toml"]);
        assert_eq!(made.status, 0, "{made:?}");
        let moved = std::thread::scope(|scope| {
            let forked = scope.spawn(|| home.run(["session", "fork", &name, &fork]));
            let moved = parsed(&home.run(["session", "export", &name, file, "--hand-over", "--json"]));
            assert_eq!(forked.join().expect("it does not panic").status, 0);
            moved
        });
        let elsewhere = Home::with_tools(&["stats"]);
        let imported = parsed(&elsewhere.run(["session", "import", file, "t", "--json"]));
        let ran = parsed(&home.run(["run", "-e", call, "--session", &fork, "--json"]));
        let spends = [imported["budget"] == "keep", ran["status"] == "completed"];
        assert!(spends == [true, false] || spends == [false, true], "{moved:#} {imported:#} {ran:#}");
    }
}

/// In the store that it comes from, a session that was handed over shares its budgets with what is left there.
#[test]
fn session_handed_over_within_its_store_shares_its_budgets() {
    let home = home_with(POLICY);
    assert_eq!(start(&home, &[])["status"], "suspended");
    let file = home.path().join("s.tlh");
    let file = file.to_str().expect("a path");
    assert_eq!(home.run(["session", "export", "s", file, "--hand-over"]).status, 0);
    assert_eq!(home.run(["session", "import", file, "t"]).status, 0);
    assert_eq!(home.run(["session", "approve", "t"]).status, 0);
    let second = parsed(&home.run(["session", "resume", "t", "--json"]));
    assert_eq!((&second["status"], used(&second, "charges", "spend")), (&json!("suspended"), json!(10)), "{second:#}");
    assert_eq!(home.run(["session", "rm", "s"]).status, 0);
    assert_eq!(home.run(["session", "gc"]).status, 0);
    assert_eq!(home.run(["session", "approve", "t"]).status, 0);
    let last = parsed(&home.run(["session", "resume", "t", "--json"]));
    assert_eq!(last["value"][0], json!([10, 20]), "{last:#}");
    assert_eq!(home.run(["store", "verify"]).status, 0);
}

/// A copy holds nothing of what an unfinished run was given, also not where it is long.
#[test]
fn session_copy_contains_nothing_of_the_journal() {
    let home = home_with(POLICY);
    let blobs = || {
        let file = home.path().join("copy.tlh");
        let file = file.to_str().expect("a path").to_owned();
        parsed(&home.run(["session", "export", "s", &file, "--force", "--json"]))["blobs"].as_u64().expect("a number")
    };
    assert_eq!(home.run(["run", "-e", "return 1", "--session", "s", "--policy", "policy.toml"]).status, 0);
    let before = blobs();
    // Long enough for a blob of its own, as the script is in the journal.
    let script = format!("/* {} */ await pay.charges.create({{amount: 1, currency: 'EUR'}})", "long ".repeat(100_000));
    home.file("script.js", script);
    assert_eq!(start(&home, &[])["status"], "suspended");
    assert_eq!(blobs(), before);
}
