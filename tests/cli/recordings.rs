//! Runs that are recorded, and answered from the recording: `run --record` and `run --replay`.

use serde_json::{Value, json};
use tollhouse_tests::server::Server;
use tollhouse_tests::{Home, Ran, root};

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

/// The tools are called once; afterwards neither they nor their secrets are needed, and random numbers and the date are
/// those of the recording.
#[test]
fn recorded_run_is_replayed_without_tools_secrets_and_network() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(|_| ("200 OK", vec!["X-Page: 1".to_owned()], b"{\"total\": 7}".to_vec()));
    let policy = format!(
        "[[grant]]\nmethod = 'http/fetch'\ncalls = 9\napprove = {{ param = 'url', contains = 'approved' }}\n\
         [tool.http]\nhttp = ['http://127.0.0.1:{0}']\nsecrets = [{{ name = 'KEY', http = ['http://127.0.0.1:{0}'] }}]\n",
        server.port()
    );
    home.file("policy.toml", policy.replace("approve = { param = 'url', contains = 'approved' }\n", ""));
    home.file(
        "script.js",
        format!(
            "const at = 'http://127.0.0.1:{}/';
             const ids = [Math.random(), crypto.randomUUID(), new Date().toISOString().slice(0, 13)];
             const [one, two] = await Promise.all(ids.slice(0, 2).map((id) => {{
                const headers = {{authorization: 'Bearer {{{{secret:KEY}}}}'}};
                return fetch(at + 'approved?' + id, {{headers}});
             }}));
             const failed = await fetch('http://127.0.0.1:1/').catch((error) => error.message);
             require('fs').writeFileSync('total', String((await one.json()).total + (await two.json()).total));
             const bash = await $`curl -s ${{at}}last?${{ids[2]}}`.text();
             return [one.headers.get('x-page'), require('fs').readFileSync('total', 'utf8'), failed, bash];",
            server.port()
        ),
    );
    home.file("key", "hunter2-hunter2");
    let run = ["run", "script.js", "--policy", "policy.toml", "--json"];
    let recorded = home.run(run.iter().copied().chain(["--secret", "KEY=file:key", "--record", "calls.json"]));
    let recorded = parsed(&recorded);
    assert_eq!((&recorded["status"], server.seen().len()), (&json!("completed"), 3), "{recorded:#}");

    home.file("policy.toml", &policy);
    for _ in 0..2 {
        let replayed = parsed(&home.run(run.iter().copied().chain(["--replay", "calls.json"])));
        assert_eq!(
            (&replayed["value"], &replayed["status"]),
            (&recorded["value"], &json!("completed")),
            "{replayed:#}"
        );
        let calls = |result: &Value| result["calls"].as_array().expect("calls").len();
        assert_eq!((calls(&replayed), &replayed["budgets"]), (calls(&recorded), &recorded["budgets"]));
    }
    assert_eq!(server.seen().len(), 3, "nothing was requested again");
    let text = std::fs::read_to_string(home.path().join("calls.json")).expect("it is written");
    assert!(!text.contains("hunter2"), "{text}");
}

fn stats_run(home: &Home, script: &str, more: &[&str]) -> Value {
    parsed(&home.run(["run", "-e", script, "--allow", "stats/*", "--json"].iter().chain(more)))
}

/// A call that is not as it was recorded ends the run, whatever the script does with errors.
#[test]
fn call_that_differs_from_the_recording_is_an_error_with_the_difference() {
    let home = Home::with_tools(&["stats"]);
    let script = "return (await stats.describe({values: [1, 2, 3]})).mean";
    let first = stats_run(&home, script, &["--record", "calls.json"]);
    assert_eq!(first["value"], 2, "{first:#}");
    for (script, why) in [
        ("try { await stats.describe({values: [1, 2]}) } catch {} return 1", "`values` was [1,2,3], and is [1,2]"),
        (
            "return await stats.describe({values: [1, 2, 3]}), await stats.describe({values: [1, 2, 3]})",
            "no further call",
        ),
        ("return 1", "the script did not make call 1 of the recording, of `stats/describe`"),
    ] {
        let replayed = stats_run(&home, script, &["--replay", "calls.json"]);
        let told = replayed["error"]["message"].as_str().unwrap_or_default();
        assert!(told.contains(why) && replayed["status"] == "failed" && replayed["exit_code"] == 1, "{replayed:#}");
    }
    // The gate judges as ever.
    let denied = parsed(&home.run(["run", "-e", script, "--json", "--replay", "calls.json"]));
    assert_eq!(denied["status"], "denied", "{denied:#}");
    // A script that fails by itself says why.
    let failed = stats_run(&home, "throw new RangeError('own')", &["--replay", "calls.json"]);
    assert!(failed["error"]["message"].as_str().is_some_and(|told| told.contains("own")), "{failed:#}");
}

/// Whoever wrote a recording has no more rights than the tool: a file that it was not granted, or that is read-only.
#[test]
fn recording_changes_only_files_that_its_tool_may_change() {
    let home = Home::with_tools(&["archive"]);
    std::fs::create_dir(home.path().join("fixed")).expect("it is new");
    home.file("policy.toml", "[[grant]]\nmethod = 'archive/*'\n[tool.archive]\nfiles = ['/workspace/out', '/fixed']\n");
    home.file(
        "script.js",
        "await fs.mkdir('/workspace/in'); await fs.writeFile('/workspace/in/a', 'x');
         const bytes = await archive.pack({ format: 'zip', entries: [{ name: 'a.txt', text: 'hello' }] });
         await archive.extract({ bytes, to: '/workspace/out/deep' });
         return await fs.readFile('/workspace/out/deep/a.txt', 'utf8')",
    );
    let run = ["run", "script.js", "--policy", "policy.toml", "--mount", "fixed:/fixed:ro", "--json"];
    let with = |options: [&str; 2]| parsed(&home.run(run.iter().copied().chain(options)));
    assert_eq!(with(["--record", "calls.json"])["value"], "hello");
    assert_eq!(with(["--replay", "calls.json"])["value"], "hello");
    let text = std::fs::read_to_string(home.path().join("calls.json")).expect("it is written");
    for forbidden in ["/workspace/other.txt", "/etc/passwd", "/fixed/a.txt"] {
        let forged = text.replace("/workspace/out/deep/a.txt", forbidden);
        assert_ne!(forged, text);
        home.file("calls.json", forged);
        let replayed = with(["--replay", "calls.json"]);
        let told = replayed["error"]["message"].as_str().unwrap_or_default();
        assert!(told.contains(&format!("a change of `{forbidden}` by `archive/extract`")), "{replayed:#}");
        assert_eq!(replayed["status"], "failed", "{replayed:#}");
    }
}

/// The answers to concurrent calls of a script are replayed in the order in which they came.
#[test]
fn answers_are_replayed_in_the_order_in_which_they_came() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(|head| {
        if head.contains("/slow") {
            std::thread::sleep(std::time::Duration::from_millis(600));
        }
        ("200 OK", Vec::new(), head.split(' ').nth(1).unwrap_or_default().as_bytes().to_vec())
    });
    let script = format!(
        "const get = async (path) => (await fetch('http://127.0.0.1:{}/' + path)).text();
         const order = [];
         await Promise.all(['slow', 'fast'].map(async (path) => order.push(await get(path))));
         return order",
        server.port()
    );
    let net = format!("http://127.0.0.1:{}", server.port());
    let run = |mode: &str| parsed(&home.run(["run", "-e", &script, "--allow-net", &net, "--json", mode, "calls.json"]));
    let recorded = run("--record");
    assert_eq!(recorded["value"], json!(["/fast", "/slow"]), "{recorded:#}");
    assert_eq!(run("--replay")["value"], recorded["value"]);
}

/// A question that was refused is refused again, and an approved one needs nobody.
#[test]
fn refused_questions_are_refused_in_the_replay() {
    let home = Home::with_tools(&["stats"]);
    home.file("policy.toml", "[[grant]]\nmethod = 'stats/*'\napprove = { param = 'values/0', gt = 5 }\n");
    let script = "const seen = [];
        for (const value of [1, 9]) {
            seen.push(await stats.describe({values: [value]}).then((result) => result.mean, (error) => error.name));
        }
        return seen";
    let run =
        |mode: &str| parsed(&home.run(["run", "-e", script, "--policy", "policy.toml", "--json", mode, "calls.json"]));
    let recorded = run("--record");
    assert_eq!(recorded["value"], json!([1, "CapabilityError"]), "{recorded:#}");
    let replayed = run("--replay");
    assert_eq!((&replayed["value"], &replayed["status"]), (&recorded["value"], &recorded["status"]), "{replayed:#}");
}

/// Failures, payloads, bytes and files that a tool wrote come back as they were.
#[test]
fn failures_and_files_of_tools_are_replayed() {
    let home = Home::with_tools(&["stats"]);
    let asks = "[permissions]\nfiles = ['/workspace']";
    home.publish_with(&root().join("tests/fixtures/filer"), "tollhouse_fixture_filer.wasm", asks);
    home.file("policy.toml", "[[grant]]\nmethod = '**'\n[tool.filer]\nfiles = ['/workspace']\n");
    let script = "
        const failed = await stats.describe({values: []}).catch((error) => [error.name, error.message, error.payload]);
        await filer.write({path: '/workspace/a', text: 'of the tool'});
        return [failed, require('fs').readFileSync('a', 'utf8')]";
    let run =
        |mode: &str| parsed(&home.run(["run", "-e", script, "--policy", "policy.toml", "--json", mode, "calls.json"]));
    let recorded = run("--record");
    assert_eq!((&recorded["value"][0][0], &recorded["value"][1]), (&json!("ToolError"), &json!("of the tool")));
    assert_eq!(run("--replay")["value"], recorded["value"]);
}

#[test]
fn recordings_that_cannot_be_used_are_usage_errors() {
    let home = Home::with_tools(&["stats"]);
    home.file("empty", "");
    home.file("other", "{\"format\": \"tollhouse recording 9\", \"started\": 1, \"seed\": \"\"}");
    for (arguments, why) in [
        (&["--replay", "missing"][..], "cannot replay `missing`"),
        (&["--replay", "empty"], "it is no recording: line 1"),
        (&["--replay", "other"], "tollhouse recording 9"),
        (&["--record", "no/directory"], "cannot write the recording"),
        (&["--replay", "other", "--record", "new"], "cannot be used with"),
        (&["--record", "new", "--session", "s"], "cannot be used with"),
    ] {
        let ran = home.run(["run", "-e", "return 1"].iter().chain(arguments));
        assert!(ran.status == 2 && ran.stderr.contains(why), "{arguments:?}: {ran:?}");
    }
}

/// A run that fails is recorded as far as it came.
#[test]
fn failed_run_is_recorded_too() {
    let home = Home::with_tools(&["stats"]);
    let script = "await stats.describe({values: [1]}); throw new Error('late')";
    let first = stats_run(&home, script, &["--record", "calls.json"]);
    assert_eq!(first["status"], "failed", "{first:#}");
    let again = stats_run(&home, script, &["--replay", "calls.json"]);
    assert_eq!(again["error"]["message"], first["error"]["message"], "{again:#}");
    assert_eq!(again["calls"].as_array().map(Vec::len), Some(1), "{again:#}");
}

/// A recording takes the place of a file only if that is wanted, and of no file that a link leads to.
#[test]
fn recording_replaces_no_file_unless_told_and_follows_no_link() {
    let home = Home::new();
    let record = |more: &[&str]| home.run(["run", "-e", "return 1", "--record", "calls.json"].iter().chain(more));
    home.file("calls.json", "mine");
    let ran = record(&[]);
    assert!(ran.status == 2 && ran.stderr.contains("already exists") && ran.stderr.contains("--force"), "{ran:?}");
    let content = |name: &str| std::fs::read_to_string(home.path().join(name)).expect("it is there");
    assert_eq!((content("calls.json").as_str(), ran.stdout.as_str()), ("mine", ""), "and nothing has run");
    assert_eq!(record(&["--force"]).status, 0);
    assert!(content("calls.json").contains("tollhouse recording 1"));
    home.file("letter", "mine");
    for target in ["letter", "nothing"] {
        std::fs::remove_file(home.path().join("calls.json")).expect("it is there");
        std::os::unix::fs::symlink(target, home.path().join("calls.json")).expect("it is made");
        for more in [&[][..], &["--force"]] {
            let ran = record(more);
            assert!(ran.status == 2 && ran.stderr.contains("it is a link"), "{target}: {ran:?}");
        }
    }
    assert_eq!(content("letter"), "mine");
    assert!(!home.path().join("nothing").exists());
    // An empty file has nothing to lose.
    home.file("calls.new", "");
    assert_eq!(home.run(["run", "-e", "return 1", "--record", "calls.new"]).status, 0);
}

/// A recording may be a stranger's, and a script relies on the types of its tools.
#[test]
fn recorded_result_of_another_type_ends_the_replay() {
    let home = Home::with_tools(&["stats"]);
    let script =
        "const found = await stats.describe({values: [1, 2, 3]}).catch(() => 'caught'); return found.mean ?? found";
    assert_eq!(stats_run(&home, script, &["--record", "calls.json"])["value"], 2);
    assert_eq!(stats_run(&home, script, &["--replay", "calls.json"])["value"], 2);
    let text = std::fs::read_to_string(home.path().join("calls.json")).expect("it is written");
    let (header, call) = text.split_once('\n').expect("a header and a call");
    let call: Value = serde_json::from_str(call).expect("JSON");
    let (whole, mean) = ("/answer/result/json/value", "/answer/result/json/value/mean");
    assert_eq!(call.pointer(mean).and_then(Value::as_f64), Some(2.0), "{call:#}");
    for (pointer, value) in [
        (mean, json!("two")),
        (mean, json!({ "evil": true })),
        (whole, json!({ "evil": true })),
        (whole, json!([])),
        (whole, Value::Null),
    ] {
        let mut forged = call.clone();
        *forged.pointer_mut(pointer).expect("it is there") = value;
        home.file("forged.json", format!("{header}\n{forged}\n"));
        let ran = stats_run(&home, script, &["--replay", "forged.json"]);
        let told = ran["error"]["message"].as_str().unwrap_or_default();
        assert!(ran["status"] == "failed" && told.contains("`stats/describe` does not return"), "{forged}: {ran:#}");
    }
}
