//! What a run may use besides what `hostile` reaches: each limit says its name, its value and how to raise it, and after it
//! the session works.

use serde_json::{Value, json};
use tollhouse::capability::{Limits, Policy, Setting};
use tollhouse::error::ErrorKind;
use tollhouse::guest::Language;
use tollhouse::session::{RunResult, Session, SessionOptions, Status};
use tollhouse_tests::{Home, run};

/// A session with the fixture, everything granted, and these limits.
fn session(home: &Home, limits: &[&str]) -> Session {
    let mut policy = Policy::parse("[[grant]]\nmethod = '**'").expect("a policy");
    for limit in limits {
        limit.parse::<Setting>().expect("a limit").apply(&mut policy.limits);
    }
    home.host().session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session")
}

/// The error must say this value, and this way to raise it; the session's next run works.
fn says(session: &Session, result: &RunResult, value: &str, raise: &str) {
    let error = result.error.as_ref().expect("an error");
    let hint = error.hint.as_deref().unwrap_or_default();
    assert_eq!((result.status, error.kind), (Status::Limited, ErrorKind::Limit), "{error}");
    assert!(error.message.contains(value) && hint.contains(raise), "{error} ({hint})");
    works(session);
}

fn works(session: &Session) {
    let next = run(session, Language::JavaScript, "return (await shell('probe length --text four')).stdout");
    assert_eq!(next.value, Some(json!("4\n")), "{:?}", next.error);
}

#[test]
fn calls_of_a_run_are_limited() {
    let home = Home::with_fixture();
    let session = session(&home, &["calls=5"]);
    let result = run(&session, Language::JavaScript, "for (;;) await probe.length({ text: 'x' })");
    says(&session, &result, "limit of 5 calls", "raise `calls` under `[limits]`");
    let outcomes = json!(result.calls.as_slice().iter().map(|call| call.outcome).collect::<Vec<_>>());
    assert_eq!(outcomes, json!(["ok", "ok", "ok", "ok", "ok", "denied"]));
}

/// Calls beyond the limit fill neither the record nor the log; and refused calls count too.
#[test]
fn calls_beyond_the_limit_are_not_on_record() {
    let home = Home::with_fixture();
    let session = session(&home, &["calls=5"]);
    let script = "let kinds = {};
        for (let n = 0; n < 1000; n++)
            try { await probe.length(n === 0 ? { text: 'x' } : {}) } catch (error) { kinds[error.kind] = (kinds[error.kind] ?? 0) + 1 }
        return kinds";
    let result = run(&session, Language::JavaScript, script);
    assert_eq!(result.value, Some(json!({ "argument": 4, "limit": 995 })), "{:?}", result.error);
    assert_eq!(result.calls.as_slice().len(), 6);
    works(&session);
}

#[test]
fn calls_by_tools_count_for_their_run() {
    let home = Home::with_tools(&["stats"]);
    home.publish(&tollhouse_tests::root().join("tests/fixtures/relay"));
    home.file("policy.toml", "[[grant]]\nmethod = '**'\n[tool.relay]\ntools = ['stats/*']\n[limits]\ncalls = 3\n");
    let script = "const seen = [await relay.mean({ values: [3] })];
        try { await relay.mean({ values: [4] }) } catch (error) { seen.push(error.message) }
        return seen";
    let ran = home.js(script, &["--policy", "policy.toml"]);
    assert_eq!(ran["value"][0], 3, "{ran}");
    assert!(ran["value"][1].as_str().is_some_and(|told| told.contains("limit of 3 calls")), "{ran}");
}

#[test]
fn pending_operations_of_a_script_are_limited() {
    let home = Home::with_fixture();
    let session = session(&home, &["pending=20"]);
    for script in [
        "await Promise.all(Array.from({ length: 21 }, () => probe.sleep({ millis: 1 })))",
        "for (let n = 0; n < 21; n++) setTimeout(() => {}, 1e6); await probe.length({ text: '' })",
        "for (let n = 0; n < 30; n++) { setTimeout(() => {}, 1e6); await probe.length({ text: '' }) }",
    ] {
        let result = run(&session, Language::JavaScript, script);
        says(&session, &result, "limit of 20 operations", "raise `pending` under `[limits]`");
    }
    let many = "for i in {1..30}; do sleep 100 & done; wait";
    says(&session, &run(&session, Language::Shell, many), "limit of 20 operations", "raise `pending` under `[limits]`");
    let enough = "await Promise.all(Array.from({ length: 20 }, () => probe.sleep({ millis: 1 }))); return 1";
    assert_eq!(run(&session, Language::JavaScript, enough).value, Some(json!(1)));
}

/// A script within a script ends, and the outer one is told.
#[test]
fn inner_script_beyond_pending_limit_is_stopped() {
    let home = Home::with_fixture();
    let session = session(&home, &["pending=20"]);
    let script =
        "try { await shell('for i in {1..30}; do sleep 100 & done; wait') } catch (error) { return error.kind }";
    assert_eq!(run(&session, Language::JavaScript, script).value, Some(json!("limit")));
}

/// The arguments of waiting calls are bounded, though the host still holds them when they are gone from the guest's
/// memory.
#[test]
fn arguments_of_calls_that_wait_are_bounded() {
    let home = Home::with_fixture();
    let session = session(&home, &["memory=64MiB", "concurrency=1", "wall=30s"]);
    let script = "probe.spin({}).catch(() => {});
        for (let n = 0; n < 100; n++) {
            probe.length({ text: 'x'.repeat(4 << 20) }).catch(() => {});
            await new Promise((go) => setTimeout(go, 0));
        }";
    says(&session, &run(&session, Language::JavaScript, script), "memory limit of 67108864", "raise `memory`");
}

#[test]
fn scripts_of_a_run_are_limited_in_number_and_depth() {
    let home = Home::with_fixture();
    let two = session(&home, &["processes=2"]);
    let result = run(&two, Language::JavaScript, "await Promise.all([shell('sleep 1'), shell('echo hi')])");
    says(&two, &result, "2 scripts of this run", "raise `processes` under `[limits]`");
    let flat = session(&home, &["depth=1"]);
    let nested = "return (await shell('node -e \"console.log(1)\"')).stderr";
    let result = run(&flat, Language::JavaScript, nested);
    let told = format!("{:?} {:?}", result.value, result.error);
    assert!(told.contains("at most 1 deep"), "{told}");
    works(&flat);
    let none = session(&home, &["depth=0"]);
    let result = run(&none, Language::JavaScript, "await shell('echo hi')");
    assert!(result.error.as_ref().is_some_and(|error| error.message.contains("at most 0 deep")), "{:?}", result.error);
    let more = session(&home, &["processes=40"]);
    let many = "return (await Promise.all(Array.from({ length: 39 }, () => shell('echo hi')))).length";
    let result = run(&more, Language::JavaScript, many);
    assert_eq!(result.value, Some(json!(39)), "{:?}", result.error);
}

#[test]
fn tool_call_duration_is_limited() {
    let home = Home::with_fixture();
    let session = session(&home, &["tool_wall=200ms", "wall=60s"]);
    let result = run(&session, Language::JavaScript, "await probe.spin({})");
    says(&session, &result, "200 ms", "raise `tool_wall` under `[limits]`");
    let caught = "const told = [];
        for (const call of [probe.spin, probe.sleep, probe.spin])
            try { await call({ ...(call === probe.sleep && { millis: 1e7 }) }) } catch (error) { told.push(error.kind) }
        return told";
    assert_eq!(run(&session, Language::JavaScript, caught).value, Some(json!(["limit", "limit", "limit"])));
    works(&session);
}

/// Published with limits that are lower than the session's, and called in a session whose are lower still.
#[test]
fn manifest_limits_lower_but_never_raise_those_of_the_session() {
    let home = Home::with_fixture_and(
        "[limits]\nwall = \"300ms\"\nmemory = \"16MiB\"\nargument = \"1KiB\"\nresult = \"2KiB\"\noutput = \"10B\"\n",
    );
    let wide = session(&home, &[]);
    for (call, value) in [
        ("probe.spin({})", "300 ms"),
        ("probe.allocate({ bytes: 64 << 20 })", "16777216"),
        ("probe.length({ text: 'x'.repeat(2000) })", "limit of 1024"),
        ("probe.text({ count: 3000 })", "limit of 2048"),
    ] {
        let result = run(&wide, Language::JavaScript, &format!("await {call}"));
        says(&wide, &result, value, "`tool.toml`");
    }
    let narrow = ["tool_wall=100ms", "memory=4MiB", "argument=100B", "result=200B"];
    let mut policy = Policy::parse("[[grant]]\nmethod = '**'").expect("a policy");
    for limit in narrow {
        limit.parse::<Setting>().expect("a limit").apply(&mut policy.limits);
    }
    let tight = home.host().session(SessionOptions { policy, ..SessionOptions::default() }).expect("a session");
    for (method, arguments, value) in [
        ("probe/spin", json!({}), "100 ms"),
        ("probe/allocate", json!({ "bytes": 8 << 20 }), "4194304"),
        ("probe/length", json!({ "text": "x".repeat(200) }), "limit of 100"),
        ("probe/text", json!({ "count": 300 }), "limit of 200"),
    ] {
        let error = tight.call(method, &arguments.to_string()).expect_err("a limit");
        let hint = error.hint.unwrap_or_default();
        assert_eq!(error.kind, ErrorKind::Limit, "{method}: {}", error.message);
        assert!(
            error.message.contains(value) && !hint.contains("tool.toml`; "),
            "{method}: {} ({hint})",
            error.message
        );
    }
}

/// A limit on fuel in a manifest is as deterministic as a count can be: a call that fits, always fits.
#[test]
fn manifest_fuel_limit_stops_calls_deterministically() {
    let home = Home::with_fixture_and("[limits]\nfuel = 5_000_000\n");
    let session = session(&home, &["wall=60s"]);
    let result = run(&session, Language::JavaScript, "await probe.spin({})");
    says(&session, &result, "limit of 5000000 units of fuel", "`fuel` under `[limits]` in its `tool.toml`");
    let caught = "const kinds = new Set();
        const fits = async (count) => {
            try { await probe.text({ count }); return true } catch (error) { kinds.add(error.kind); return false }
        };
        let [low, high] = [0, 1 << 26];
        while (high - low > 1) { const middle = (low + high) >> 1; if (await fits(middle)) low = middle; else high = middle }
        const again = [];
        for (let n = 0; n < 20; n++) again.push(await fits(low), await fits(high));
        return [[...kinds], low > 0, again.every((fits, n) => fits === (n % 2 === 0))]";
    let result = run(&session, Language::JavaScript, caught);
    assert_eq!(result.value, Some(json!([["limit"], true, true])), "{:?}", result.error);
    // An instance that is kept is filled up for each call, and for a resource's end.
    let kept = "const counter = await probe.counter.new({ start: 0 });
        for (let n = 0; n < 2000; n++) await probe.counter.increment({ self: counter, by: 1 });
        const sum = await probe.counter.increment({ self: counter, by: 0 });
        await probe.counter.drop({ self: counter });
        return sum";
    assert_eq!(run(&session, Language::JavaScript, kept).value, Some(json!(2000)));
}

/// Without the line nothing counts: the same call goes on until its time is up.
#[test]
fn tool_without_fuel_limit_runs_until_its_time_is_up() {
    let home = Home::with_fixture();
    let session = session(&home, &["tool_wall=300ms"]);
    let result = run(&session, Language::JavaScript, "await probe.spin({})");
    says(&session, &result, "300 ms", "`tool_wall`");
}

#[test]
fn program_fuel_is_limited() {
    let home = Home::new();
    let program = tollhouse_tests::root().join("tests/fixtures/program");
    let manifest = std::fs::read_to_string(program.join("tool.toml")).expect("it is there");
    let component = tollhouse_tests::built().join("../wasm32-wasip2/guest/tollhouse_fixture_program.wasm");
    let package = home.path().join("prog");
    std::fs::create_dir(&package).expect("the home can be written");
    std::fs::copy(component, package.join("program.wasm")).expect("it is built: run `cargo xtask build`");
    let text = format!("component = \"program.wasm\"\n{manifest}\n[limits]\nfuel = 5_000_000\n");
    std::fs::write(package.join("tool.toml"), text).expect("the home can be written");
    home.publish(&package);
    let ran = home.sh("prog args a; prog spin || echo $?", &["--allow", "**"]);
    assert_eq!(ran["stdout"], "[\"a\"]\n137\n", "{ran}");
    let told = ran["stderr"].as_str().unwrap_or_default();
    assert!(told.contains("limit of 5000000 units of fuel") && told.contains("tool.toml"), "{ran}");
}

/// Few tools are kept where the address space is short: kept ones leave some room for calls.
#[test]
fn kept_instances_leave_room_where_there_is_little() {
    let home = Home::with_fixture();
    let code = "const kept = [], told = new Set();
        for (let n = 0; n < 80; n++)
            try { kept.push(await probe.counter.new({ start: n })) } catch (error) { told.add(error.kind + ' ' + error.message) }
        return [kept.length, [...told], await probe.length({ text: 'four' })]";
    let few = "ulimit -v 2000000000; exec \"$0\" run --json --allow '**' --no-landlock -e \"$1\"";
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", few]).arg(tollhouse_tests::binary()).arg(code).env_clear().envs(home.environment());
    let output = bash.current_dir(home.path()).stdin(std::process::Stdio::null()).output().expect("bash runs");
    let told = String::from_utf8_lossy(&output.stdout);
    let ran: Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("no JSON: {output:?}"));
    assert_eq!((&ran["value"][0], &ran["value"][2]), (&json!(50), &json!(4)), "{ran}");
    let told = &ran["value"][1][0];
    assert!(told.as_str().is_some_and(|told| told.contains("all runs of this process keep at most 50")), "{ran}");
    // Where there is more, a run's own limit is the one.
    assert_eq!(home.js(code, &["--allow", "**"])["value"][0], 80);
}

#[test]
fn manifest_output_limit_truncates_logged_output() {
    let home = Home::with_fixture_and("[limits]\noutput = \"10B\"\n");
    home.js("await probe.print({ bytes: 5000 })", &["--allow", "**", "--audit", "audit.jsonl"]);
    let log = std::fs::read_to_string(home.path().join("audit.jsonl")).expect("it was written");
    let said: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .filter(|line: &Value| line.to_string().contains("stdout"))
        .collect();
    assert_eq!(said.len(), 1, "{log}");
    assert!(said[0].to_string().len() < 1_000, "{}", said[0]);
}

#[test]
fn flags_and_a_policy_say_the_same() {
    let home = Home::with_fixture();
    let code = "for (;;) await probe.length({ text: '' })";
    let ran = home.js(code, &["--allow", "**", "--limit", "calls=3", "--limit", "tool_wall=5s"]);
    assert_eq!((&ran["status"], ran["calls"].as_array().map(Vec::len)), (&json!("limited"), Some(4)), "{ran}");
    home.file(
        "policy.toml",
        "[[grant]]\nmethod = '**'\n[limits]\ncalls = 3\npending = 9\nprocesses = 1\ndepth = 2\ntool_wall = '5s'\n",
    );
    assert_eq!(home.js(code, &["--policy", "policy.toml"])["error"], ran["error"]);
    for (limit, told) in [
        ("call=3", "there is no limit `call`"),
        ("calls", "NAME=VALUE"),
        ("pending=0", "no script could wait"),
        ("memory=5MB", "is not a size"),
    ] {
        let refused = home.run(["run", "--limit", limit, "-e", "1"]);
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(refused.stderr.contains(told), "{limit}: {}", refused.stderr);
    }
}

#[test]
fn policy_limits_written_are_read_back_equal() {
    let text = "[limits]\ncalls = 3\npending = 9\nprocesses = 1\ndepth = 2\ntool_wall = '5s'\n";
    let policy = Policy::parse(text).expect("a policy");
    let again = [Policy::parse(&policy.to_toml()), Policy::parse_json(&policy.to_json().to_string())];
    for again in again {
        assert_eq!(again.expect("what it wrote").limits, policy.limits);
    }
    assert_eq!(policy.limits.at_most(&Limits::default()), policy.limits);
}
