//! Journals of runs that have ended: how long they are kept, and what `session replay` shows of a run.

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran, root};

const GRANTS: &str = "[tools]\nstats = 'tollhouse:stats@*'\nfiler = 'test:filer@*'\n\
    [[grant]]\nname = 'figures'\nmethod = 'stats/describe'\ncalls = 5\n\
    where = [{ any = [{ param = 'values/0', le = 100 }, { param = 'values/0', not_exists = true }] }]\n\
    [[grant]]\nname = 'files'\nmethod = 'filer/**'\n[tool.filer]\nfiles = ['/workspace']\n";

const SCRIPT: &str = "
    const first = await stats.describe({values: [1, 2, 3]});
    await filer.write({path: '/workspace/a', text: 'of the tool'});
    const errors = [];
    for (const values of [[], [101]]) await stats.describe({values}).catch((error) => errors.push(error.name));
    return [first.mean, errors]";

fn home(journal: &str) -> Home {
    let home = Home::with_tools(&["stats"]);
    let asks = "[permissions]\nfiles = ['/workspace']";
    home.publish_with(&root().join("tests/fixtures/filer"), "tollhouse_fixture_filer.wasm", asks);
    home.file("policy.toml", format!("{GRANTS}{journal}"));
    home
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn run(home: &Home, script: &str) -> Value {
    parsed(&home.run(["run", "-e", script, "--policy", "policy.toml", "--session", "s", "--json"]))
}

fn replay(home: &Home, arguments: &[&str]) -> Value {
    parsed(&home.run(["session", "replay"].iter().chain(arguments).chain(&["--json"])))
}

fn has_journal(home: &Home, point: &str) -> bool {
    replay(home, &[point])["journal"] == true
}

/// A replay shows every call with its decision, its result or error, what it took from budgets, and what its tool
/// wrote.
#[test]
fn replay_shows_a_run_call_by_call_with_results_budgets_and_files() {
    let home = home("[journal]\nkeep = 'all'\n");
    let result = run(&home, SCRIPT);
    assert_eq!(result["value"], json!([2, ["ToolError", "CapabilityError"]]), "{result:#}");
    run(&home, "await stats.describe({values: [4]})");

    let replayed = replay(&home, &["s@1"]);
    assert_eq!(
        (&replayed["run"], &replayed["status"], &replayed["journal"]),
        (&json!(1), &json!("completed"), &json!(true))
    );
    let calls = replayed["calls"].as_array().expect("calls");
    let column = |key: &str| -> Vec<&Value> { calls.iter().map(|call| &call[key]).collect() };
    assert_eq!(column("seq"), [1, 2, 3, 4]);
    assert_eq!(column("decision"), ["allowed", "allowed", "allowed", "denied"], "{replayed:#}");
    assert_eq!(column("outcome"), ["ok", "ok", "failed", "denied"]);
    assert_eq!(calls[0]["arguments"]["values"], json!([1, 2, 3]));
    assert_eq!(calls[0]["result"]["mean"], 2);
    let budget =
        |left: u64| json!([{ "grant": "figures", "kind": "calls", "amount": 1, "limit": 5, "remaining": left }]);
    assert_eq!(column("budgets"), [&budget(4), &json!([]), &budget(3), &json!([])]);
    let files = json!([
        { "path": "/workspace", "change": "directory", "bytes": null },
        { "path": "/workspace/a", "change": "file", "bytes": 11 },
    ]);
    assert_eq!(calls[1]["files"], files, "{replayed:#}");
    assert_eq!((&calls[2]["error"]["kind"], &calls[2]["result"]), (&json!("tool"), &Value::Null));
    assert!(calls[3]["reason"].as_str().is_some_and(|why| why.contains("values/0")), "{replayed:#}");

    // The last run goes on with the budget of the one before.
    assert_eq!(replay(&home, &["s"])["calls"][0]["budgets"], budget(2));
    assert_eq!(replay(&home, &["s@1", "--until", "2"])["calls"].as_array().map(Vec::len), Some(2));

    let text = home.run(["session", "replay", "s@1"]).stdout;
    for line in [
        "s@1  script  completed",
        "   1  stats/describe  allowed by `figures`, ok after ",
        "      result     {\"count\":3",
        "      budget     1 of the 5 calls of `figures`, then 4 are left",
        "      file       /workspace/a written, 11 B",
        "   4  stats/describe  denied",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// By default the journal goes when its run ends, and the log remains. A suspended run has its journal whatever is kept.
#[test]
fn journal_of_an_ended_run_is_removed_by_default_and_decisions_remain() {
    let home = home("");
    run(&home, SCRIPT);
    let replayed = replay(&home, &["s@1"]);
    assert_eq!(replayed["journal"], false, "{replayed:#}");
    assert_eq!((&replayed["calls"][0]["outcome"], &replayed["calls"][0]["result"]), (&json!("ok"), &Value::Null));
    let text = home.run(["session", "replay", "s@1"]);
    assert!(text.stderr.contains("journal of this run is not kept"), "{text:?}");

    home.file("policy.toml", GRANTS.replace("where", "approve = true\nwhere"));
    let start = ["run", "-e", SCRIPT, "--policy", "policy.toml", "--session", "waits", "--json"];
    assert_eq!(parsed(&home.run(start))["status"], "suspended");
    assert_eq!(home.run(["session", "gc"]).status, 0);
    let replayed = replay(&home, &["waits"]);
    assert_eq!(
        (&replayed["journal"], &replayed["calls"][0]["decision"]),
        (&json!(true), &json!("asked")),
        "{replayed:#}"
    );
    assert_eq!(home.run(["session", "approve", "waits"]).status, 0);
    let answered = replay(&home, &["waits@1"]);
    assert_eq!(answered["calls"][0]["answers"][0]["allowed"], true, "{answered:#}");
}

/// A journal is kept for its time; a session with a kept journal can be verified, exported and imported, and waits for
/// nothing.
#[test]
fn journals_are_kept_for_their_time_and_in_no_copy() {
    let home = home("[journal]\nkeep = '1d'\n");
    run(&home, SCRIPT);
    run(&home, "return 1");
    assert_eq!(home.run(["session", "gc"]).status, 0);
    assert!(has_journal(&home, "s@1") && has_journal(&home, "s@2"));
    assert_eq!(parsed(&home.run(["session", "pending", "--json"])), json!([]));
    let verified = home.run(["store", "verify"]);
    assert_eq!(verified.status, 0, "{verified:?}");
    let copy = home.path().join("copy.tar");
    let copy = copy.to_str().expect("a path");
    assert_eq!(home.run(["session", "export", "s", copy]).status, 0);
    assert_eq!(home.run(["session", "import", copy, "copy", "--budget", "fresh"]).status, 0);
    assert!(!has_journal(&home, "copy@1"), "a copy has the log alone");
}

/// A journal whose time is over goes at the end of a later run, or by `gc`.
#[test]
fn outdated_journals_are_trimmed_by_later_runs_and_by_gc() {
    let home = home("[journal]\nkeep = '0s'\n");
    run(&home, SCRIPT);
    assert!(has_journal(&home, "s@1"), "no run has ended since");
    run(&home, "return 1");
    assert!(!has_journal(&home, "s@1") && has_journal(&home, "s@2"));
    assert_eq!(home.run(["session", "gc"]).status, 0);
    assert!(!has_journal(&home, "s@2"));
    assert_eq!(run(&home, "return 2")["value"], 2);
}

/// A run that was resumed, and one that is abandoned, have their journals to the end.
#[test]
fn journals_of_resumed_and_abandoned_runs_are_kept_whole() {
    let home = home("");
    home.file("policy.toml", format!("{}[journal]\nkeep = 'all'\n", GRANTS.replace("where", "approve = true\nwhere")));
    let script = "return [(await stats.describe({values: [1]})).mean, (await stats.describe({values: [2]})).mean]";
    assert_eq!(run(&home, script)["status"], "suspended");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    assert_eq!(parsed(&home.run(["session", "resume", "s", "--json"]))["status"], "suspended");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let last = parsed(&home.run(["session", "resume", "s", "--json"]));
    assert_eq!(last["value"], json!([1, 2]), "{last:#}");
    let replayed = replay(&home, &["s"]);
    let means: Vec<&Value> =
        replayed["calls"].as_array().expect("calls").iter().map(|call| &call["result"]["mean"]).collect();
    assert_eq!(means, [1, 2], "{replayed:#}");

    assert_eq!(run(&home, script)["status"], "suspended");
    assert_eq!(home.run(["session", "abandon", "s"]).status, 0);
    assert!(has_journal(&home, "s@2"));
    let nothing = home.run(["session", "resume", "s"]);
    assert!(nothing.status == 1 && nothing.stderr.contains("no run to resume"), "{nothing:?}");
    assert_eq!(run(&home, "return 3")["value"], 3);
}

#[test]
fn retention_and_runs_that_do_not_exist_are_errors() {
    let home = home("[journal]\nkeep = 'forever'\n");
    let ran = home.run(["run", "-e", "return 1", "--policy", "policy.toml"]);
    assert!(ran.status == 2 && ran.stderr.contains("neither `all` nor `suspended` nor a time"), "{ran:?}");
    assert!(ran.stderr.contains("30d"), "{ran:?}");

    assert_eq!(home.run(["session", "new", "s"]).status, 0);
    for (point, why) in [("s", "has no run yet"), ("s@7", "has no run 7 of a script"), ("none@1", "no session `none`")]
    {
        let ran = home.run(["session", "replay", point]);
        assert!(ran.status == 1 && ran.stderr.contains(why), "{ran:?}");
    }
}
