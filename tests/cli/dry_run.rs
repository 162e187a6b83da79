//! Dry runs: the gate judges as ever, examples or a human answer what it admits, and no tool runs.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tollhouse::capability::{Grant, Policy};
use tollhouse::error::Failure;
use tollhouse::guest::{Language, Script};
use tollhouse::session::{CallSource, RunOptions, SessionOptions, Status, Step};
use tollhouse::tool::{DryRun, DryRunHandler, HostCall, HostTool, UnansweredCall, UsedExample};
use tollhouse_tests::screen::TerminalScreen;
use tollhouse_tests::server::Server;
use tollhouse_tests::{Home, Ran, root};

/// Line with which a question for a result ends.
const ASKS: &str = "Enter alone for an error in the script:";

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn dry_run(home: &Home, script: &str, more: &[&str]) -> Ran {
    home.run(["run", "-e", script, "--dry-run", "--json"].iter().chain(more))
}

#[test]
fn dry_run_is_answered_from_examples_and_notes_each_once() {
    let home = Home::with_tools(&["stats"]);
    let script = "const means = [];
        for (const values of [[1, 2, 3], [10, 20], [30, 50]]) means.push((await stats.describe({values})).mean);
        return means";
    let ran = dry_run(&home, script, &["--allow", "stats/*"]);
    let result = parsed(&ran);
    // No tool ran: the means of the other values are 15 and 40.
    assert_eq!((&result["value"], &result["status"]), (&json!([2, 2, 2]), &json!("completed")), "{result:#}");
    assert_eq!(result["calls"].as_array().map(Vec::len), Some(3));
    let notes: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(
        notes,
        [
            "dry run: `stats/describe` is answered by example 1 of `tollhouse:stats@0.1.0`, of the same arguments: {\"values\":[1,2,3]}",
            "dry run: `stats/describe` is answered by example 1 of `tollhouse:stats@0.1.0`, of other arguments: {\"values\":[1,2,3]}",
        ],
        "{ran:?}"
    );
    let shell = home.run(
        ["run", "--lang", "sh", "-e", "stats describe --values '[7]' | jq .mean", "--dry-run"]
            .iter()
            .chain(&["--allow", "stats/*"]),
    );
    assert_eq!((shell.status, shell.stdout.trim()), (0, "2"), "{shell:?}");
}

/// Budgets, constraints and missing grants deny as in a real run; what needs approval is refused where nobody is there.
#[test]
fn calls_of_a_dry_run_are_denied_as_in_a_real_run() {
    let home = Home::with_tools(&["stats"]);
    home.file(
        "policy.toml",
        "[[grant]]\nname = 'few'\nmethod = 'stats/describe'\ncalls = 2\nwhere = [{ param = 'values/0', le = 5 }]\n\
         [[grant]]\nmethod = 'stats/quantiles'\napprove = true\n",
    );
    let script = "const seen = [];
        for (const values of [[9], [1], [2], [3]]) {
            seen.push(await stats.describe({values}).then((result) => result.mean, (error) => error.name));
        }
        for (const call of [() => stats.histogram({values: [1], bins: 1}),
            () => stats.quantiles({values: [1], probabilities: [0.5]}), () => stats.describe({values: 'x'})]) {
            seen.push(await call().catch((error) => error.name));
        }
        return seen";
    let real = parsed(&home.run(["run", "-e", script, "--policy", "policy.toml", "--json"]));
    let dry = parsed(&dry_run(&home, script, &["--policy", "policy.toml"]));
    assert_eq!(real["value"][0], "CapabilityError", "{real:#}");
    let denied = |result: &Value| -> Vec<Value> {
        let seen = result["value"].as_array().expect("a list");
        seen.iter().filter(|seen| seen.is_string()).cloned().collect()
    };
    assert_eq!((denied(&dry), &dry["budgets"]), (denied(&real), &real["budgets"]), "{dry:#}");
    assert_eq!(
        dry["value"],
        json!(["CapabilityError", 2, 2, "CapabilityError", "CapabilityError", "CapabilityError", "ArgumentError"])
    );
}

/// The error says what to do, the script can catch it, and no request is made. No value of a secret is needed.
#[test]
fn call_without_an_example_is_an_error_that_the_script_catches() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(|_| ("200 OK", Vec::new(), Vec::new()));
    home.file(
        "policy.toml",
        format!(
            "[[grant]]\nmethod = 'http/*'\n[tool.http]\nhttp = ['http://127.0.0.1:{0}']\n\
             secrets = [{{ name = 'KEY', http = ['http://127.0.0.1:{0}'] }}]\n",
            server.port()
        ),
    );
    let script = format!(
        "try {{ await fetch('http://127.0.0.1:{}/') }} catch (error) {{ return [error.message, error.hint] }}",
        server.port()
    );
    let result = parsed(&dry_run(&home, &script, &["--policy", "policy.toml"]));
    let told = result["value"].to_string();
    assert!(told.contains("`http/fetch` is not called in a dry run") && told.contains("--replay FILE"), "{result:#}");
    assert_eq!(server.seen().len(), 0);
}

const EXAMPLES: &str = "[[example]]\nmethod = 'random'\n\
    [[example]]\nmethod = 'fail'\narguments = { code = 1 }\nerror = { code = 1, message = 'no' }\n\
    [[example]]\nmethod = 'bytes'\narguments = { count = 3 }\nresult = 'AAEC'\n\
    [[example]]\nmethod = 'length'\narguments = { text = 'abc' }\nresult = 3\n\
    [[example]]\nmethod = 'sleep'\narguments = { millis = 1 }\n";

/// Values have the types that the tool's would have; an error of an example is the tool's error.
#[test]
fn examples_are_typed_as_results_of_the_tool() {
    let home = Home::with_fixture_and(&EXAMPLES.replace("'no'", "'problem 1'"));
    let script = "
        const bytes = await probe.bytes({count: 9});
        const failed = await probe.fail({code: 1}).catch((error) => [error.name, error.payload.code]);
        const other = await probe.random().catch((error) => error.message);
        const made = await probe.counter.new({start: 1}).catch((error) => error.message);
        return [bytes instanceof Uint8Array, bytes.length, failed, await probe.length({text: 'x'}),
            await probe.sleep({millis: 60_000}) ?? null, other, made]";
    let result = parsed(&dry_run(&home, script, &["--allow", "probe/**"]));
    let value = &result["value"];
    assert_eq!(value[0], true, "{result:#}");
    assert_eq!(json!([value[1], value[2], value[3], value[4]]), json!([3, ["ToolError", 1], 3, null]), "{result:#}");
    for index in [5, 6] {
        assert!(
            value[index].as_str().is_some_and(|told| told.contains("no example of it with a result")),
            "{result:#}"
        );
    }
}

/// A program with streams writes what a human says that it writes; nobody else knows.
#[test]
fn program_of_a_dry_run_writes_what_is_typed() {
    let home = Home::new();
    home.publish_program("wasm32-wasip2");
    home.file("script.sh", "echo hi > kept; prog rm kept | tr a-z A-Z; echo ${PIPESTATUS[0]}; ls");
    let run = ["run", "script.sh", "--allow", "prog/run", "--dry-run"];
    let mut screen = TerminalScreen::start(&home, &run, 30, 100);
    let _ = screen.sees(ASKS);
    screen.types("{\"exitCode\": 3, \"stdout\": \"out\\n\", \"stderr\": \"\"}\n");
    let (status, lines) = screen.ends();
    assert!(status == 0 && lines.ends_with(&["OUT".to_owned(), "3".to_owned(), "kept".to_owned()]), "{lines:#?}");

    let ran = home.run(run);
    assert!(ran.stdout.ends_with("kept\n") && ran.stderr.contains("not called in a dry run"), "{ran:?}");
}

/// On a terminal a human types the result, which is checked by its declared type.
#[test]
fn result_is_asked_for_on_the_terminal_and_checked_by_its_type() {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file(
        "script.js",
        "const {total} = await pay.charges.create({amount: 7, currency: 'EUR'}); return `got ${total}`",
    );
    home.file("policy.toml", "[tools]\npay = 'test:payments@^0.1'\n[[grant]]\nmethod = 'pay/**'\n");
    let mut screen =
        TerminalScreen::start(&home, &["run", "script.js", "--policy", "policy.toml", "--dry-run"], 30, 100);
    let lines = screen.sees(ASKS);
    assert!(lines.iter().any(|line| line.contains("method   pay/charges/create")), "{lines:#?}");
    screen.types("{\"total\": \"many\"}\n");
    let lines = screen.sees("That is no result:");
    assert!(lines.iter().any(|line| line.contains("total")), "{lines:#?}");
    let _ = screen.sees(ASKS);
    screen.types("{\"total\": 7, \"currency\": \"EUR\", \"items\": 0}\n");
    let (status, lines) = screen.ends();
    assert_eq!(status, 0, "{lines:#?}");
    assert!(lines.iter().any(|line| line == "got 7"), "{lines:#?}");

    let mut screen =
        TerminalScreen::start(&home, &["run", "script.js", "--policy", "policy.toml", "--dry-run"], 30, 100);
    let _ = screen.sees(ASKS);
    screen.types("\n");
    let (status, lines) = screen.ends();
    assert!(status == 1 && lines.iter().any(|line| line.contains("nothing answers it")), "{lines:#?}");
}

#[test]
fn question_of_a_dry_run_says_that_nothing_is_called() {
    let home = Home::with_tools(&["stats"]);
    home.file("script.js", "return (await stats.describe({values: [4]})).mean");
    home.file("policy.toml", "[[grant]]\nname = 'asks'\nmethod = 'stats/*'\napprove = true\n");
    let mut screen =
        TerminalScreen::start(&home, &["run", "script.js", "--policy", "policy.toml", "--dry-run"], 30, 100);
    let question = screen.asks();
    assert!(question.iter().any(|line| line.starts_with("dry run, nothing is called: grant `asks`")), "{question:#?}");
    screen.consents(&question);
    let (status, lines) = screen.ends();
    assert!(status == 0 && lines.iter().any(|line| line.trim() == "2"), "{lines:#?}");
}

#[test]
fn options_that_a_dry_run_does_not_go_with_are_usage_errors() {
    let home = Home::with_tools(&["stats"]);
    for more in [&["--session", "s"][..], &["--record", "f"], &["--replay", "f"], &["--audit", "a"], &["--check"]] {
        let ran = home.run(["run", "-e", "return 1", "--dry-run"].iter().chain(more));
        assert!(ran.status == 2 && ran.stderr.contains("cannot be used with"), "{more:?}: {ran:?}");
    }
}

/// Handler that answers one function, and remembers the others.
#[derive(Default)]
struct Answering(Mutex<Vec<String>>);

impl DryRunHandler for Answering {
    fn example_used(&self, used: &UsedExample<'_>) {
        self.0.lock().expect("nobody panics").push(used.to_string());
    }

    fn answer(&self, call: &UnansweredCall<'_>) -> Result<Option<Value>, Failure> {
        self.0.lock().expect("nobody panics").push(format!("{} {}", call.method(), call.arguments()));
        Ok(call.arguments()["city"].as_str().map(|city| match city {
            "Oslo" => json!({ "temp": 4 }),
            _ => json!({ "temp": "cold" }),
        }))
    }
}

/// In Rust, functions of the program are not called either, also by a host that executes the tools itself, and answers
/// are checked by the schema of the result.
#[test]
fn handler_of_the_library_answers_in_place_of_host_functions() {
    let home = Home::new();
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let result = json!({ "type": "object", "properties": { "temp": { "type": "number" } } });
    let weather = HostTool::new("weather", "Tells the weather.", schema).and_then(|tool| tool.returning(result));
    let weather = weather.expect("a tool").answered_by(|_: &HostCall<'_>| panic!("a function was called"));
    let handler = Arc::new(Answering::default());
    let policy = Policy::default().with(Grant::allow("weather").expect("a pattern"));
    let session = home
        .host()
        .session(SessionOptions {
            policy,
            host_tools: vec![weather],
            calls: CallSource::DryRun(DryRun::new(handler.clone())),
            ..SessionOptions::default()
        })
        .expect("a session");
    let source = "const told = [];
        for (const city of ['Oslo', 'Rome', undefined]) {
            told.push(await weather({city}).then((result) => result.temp, (error) => error.message));
        }
        return told";
    let script = Script { source: source.to_owned(), name: "script".to_owned(), ..Script::default() };
    let mut run = session.start(Language::JavaScript, script, RunOptions::default()).expect("it starts");
    let result = loop {
        match run.step() {
            Step::Finished(result) => break result,
            Step::Blocked(started) => {
                assert!(started.is_empty(), "no call is for this host");
                run.wait();
            }
        }
    };
    assert_eq!(result.status, Status::Completed, "{:?}", result.error);
    let told = serde_json::to_value(&result.value).expect("JSON");
    assert_eq!(told[0], 4, "{told:#}");
    assert!(told[1].as_str().is_some_and(|told| told.contains("is not what it returns")), "{told:#}");
    assert!(told[2].as_str().is_some_and(|told| told.contains("nothing answers it")), "{told:#}");
    assert_eq!(handler.0.lock().expect("nobody panics").len(), 3);
}
