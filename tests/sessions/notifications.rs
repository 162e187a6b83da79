//! Notifications that a run is suspended: who is told what, and that the run waits for nobody.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::server::Server;
use tollhouse_tests::{Home, Ran, root};

/// Longest time that something is waited for that a process of its own does.
const PATIENCE: Duration = Duration::from_secs(60);

const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 3\n\
    spend = { param = 'amount', limit = 1000 }\napprove = true\napprove_within = '1h'\n";

fn home() -> Home {
    let home = Home::new();
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("policy.toml", POLICY);
    home.file("pay.js", "return (await pay.charges.create({amount: 30, currency: 'EUR'})).total");
    home
}

/// Runs the script, which is suspended, with these further options and variables. Programs need `PATH`.
fn run(home: &Home, options: &[&str], variables: &[(&str, &str)]) -> (Ran, Duration) {
    let begin = ["run", "pay.js", "--policy", "policy.toml", "--session", "s"];
    let mut command = home.command(begin.iter().chain(options));
    command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/bin:/usr/bin")));
    command.envs(variables.iter().copied());
    let begun = Instant::now();
    let ran = Ran::of(&command.output().expect("the binary is built"));
    assert_eq!(ran.status, 5, "{ran:?}");
    (ran, begun.elapsed())
}

fn awaited<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the events of the log that say who was told, once there are so many.
fn notified(home: &Home, number: usize) -> Vec<Value> {
    awaited("the outcome in the log", || {
        let log = home.run(["session", "log", "s", "--event", "notified", "--json"]);
        let events: Vec<Value> = log.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        (events.len() >= number).then_some(events)
    })
}

/// Returns what a program has written to a file, once it is a line.
fn line_of(path: &Path) -> Value {
    let text =
        awaited("what the program got", || std::fs::read_to_string(path).ok().filter(|text| text.ends_with('\n')));
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn suspended_run_is_told_to_a_program_and_a_webhook_without_arguments() {
    let (home, server) = (home(), Server::start_reading(|_, _| ("204 No Content", Vec::new(), Vec::new())));
    let told = home.path().join("told.json");
    let program = format!("cmd:sh -c 'cat > {}.new; mv {0}.new {0}'", told.display());
    let hook = format!("http://127.0.0.1:{}/hooks/s3cret", server.port());
    run(&home, &["--notify", &program, "--notify", &hook], &[]);
    let message = line_of(&told);
    assert_eq!(
        (&message["event"], &message["session"], &message["run"]),
        (&json!("suspended"), &json!("s"), &json!(1))
    );
    let call = &message["calls"][0];
    assert_eq!((&call["seq"], &call["method"]), (&json!(1), &json!("pay/charges/create")), "{message:#}");
    assert_eq!((&call["grant"], &call["cost"][1]["amount"]), (&json!("charges"), &json!(30)), "{message:#}");
    assert!(call["expires_at"].is_string(), "{message:#}");
    assert!(call.get("arguments").is_none() && !message.to_string().contains("EUR"), "{message:#}");
    let head = awaited("the request", || server.seen().first().cloned());
    assert!(head.starts_with("POST /hooks/s3cret "), "{head}");
    let events = notified(&home, 2);
    let mut to: Vec<&str> = events.iter().filter_map(|event| event["to"].as_str()).collect();
    to.sort_unstable();
    assert_eq!(to, ["cmd:sh", &format!("http://127.0.0.1:{}", server.port())], "{events:#?}");
    assert!(events.iter().all(|event| event["error"].is_null() && event["run"] == 1), "{events:#?}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    assert_eq!(home.run(["session", "resume", "s"]).stdout, "30\n");
}

#[test]
fn arguments_are_told_if_the_operator_asks_for_them() {
    let home = home();
    let told = home.path().join("told.json");
    let program = format!("cmd:sh -c 'cat > {}.new; mv {0}.new {0}'", told.display());
    run(&home, &[], &[("TOLLHOUSE_NOTIFY", &program), ("TOLLHOUSE_NOTIFY_ARGUMENTS", "1")]);
    let message = line_of(&told);
    let arguments = &message["calls"][0]["arguments"];
    assert_eq!((&arguments["amount"], &arguments["currency"]), (&json!(30), &json!("EUR")), "{message:#}");
}

#[test]
fn notifier_that_fails_or_hangs_neither_fails_nor_holds_the_run() {
    let home = home();
    let (_, alone) = run(&home, &[], &[]);
    assert_eq!(home.run(["session", "deny", "s"]).status, 0);
    assert_eq!(home.run(["session", "resume", "s"]).status, 3);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let hook = format!("http://{}/", silent.local_addr().expect("it is bound"));
    let options =
        ["--notify", "cmd:false", "--notify", "cmd:sleep 60", "--notify", "cmd:/nowhere/at/all", "--notify", &hook];
    let (_, told) = run(&home, &options, &[]);
    assert!(told < alone + Duration::from_secs(5), "{told:?} in place of {alone:?}");
    let events = notified(&home, 4);
    let error = |to: &str| {
        let event = events.iter().find(|event| event["to"].as_str().is_some_and(|name| name.starts_with(to)));
        event.and_then(|event| event["error"].as_str()).unwrap_or_default().to_owned()
    };
    assert!(error("cmd:false").contains("it failed"), "{events:#?}");
    assert!(error("cmd:sleep").contains("10 seconds, and was killed"), "{events:#?}");
    assert!(error("cmd:/nowhere").contains("cannot be started"), "{events:#?}");
    assert!(error("http://").contains("within 10 seconds"), "{events:#?}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    assert_eq!(home.run(["session", "resume", "s"]).stdout, "30\n");
}

#[test]
fn suspended_input_of_a_repl_is_told() {
    let home = home();
    let told = home.path().join("told.json");
    let program = format!("cmd:sh -c 'cat > {}.new; mv {0}.new {0}'", told.display());
    let options = ["repl", "--policy", "policy.toml", "--session", "s", "--notify", &program];
    let mut command = home.command(options);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/bin:/usr/bin")));
    let input = home.path().join("input");
    std::fs::write(&input, "await pay.charges.create({amount: 30, currency: 'EUR'})\n").expect("there is room");
    let output = command.stdin(std::fs::File::open(input).expect("it is there")).output().expect("it is built");
    let ran = Ran::of(&output);
    assert_eq!(ran.status, 5, "{ran:?}");
    let message = line_of(&told);
    assert_eq!((&message["session"], &message["calls"][0]["method"]), (&json!("s"), &json!("pay/charges/create")));
}

#[test]
fn target_that_is_neither_a_program_nor_an_address_is_refused_before_the_run() {
    let home = home();
    let refused =
        home.run(["run", "pay.js", "--policy", "policy.toml", "--session", "s", "--notify", "ops@example.org"]);
    assert!(refused.status == 2 && refused.stderr.contains("`cmd:PROGRAM ARGS`"), "{refused:?}");
    assert!(home.run(["session", "show", "s"]).status != 0, "no session was created");
}

#[test]
fn notify_option_without_a_session_is_an_error() {
    let home = home();
    for options in [&["--notify", "cmd:true"][..], &["--notify-arguments"]] {
        let begin = ["run", "pay.js", "--policy", "policy.toml"];
        let ran = home.run(begin.iter().chain(options));
        assert!(ran.status == 2 && ran.stderr.contains("--session NAME"), "{options:?}: {ran:?}");
    }
}
