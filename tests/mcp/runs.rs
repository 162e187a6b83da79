//! Runs of scripts: results, files of long output, log messages, progress, cancellation, pictures.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::Home;

use super::client::{Client, error, text};

#[test]
fn scripts_return_values_and_leave_files_for_the_next() {
    let home = Home::with_tools(&["stats"]);
    let mut client = Client::start(&home, &["--allow", "stats/*"]);
    let result = client.call(
        "run_javascript",
        json!({ "script": "console.log('hi'); console.error('oh'); await fs.writeFile('a.txt', 'x');
            return (await stats.describe({values: [1, 2, 3]})).mean" }),
    );
    assert_eq!(result["isError"], false, "{result:#}");
    assert_eq!(text(&result), "hi\nstderr:\noh\nreturned: 2");
    let structured = &result["structuredContent"];
    assert_eq!((&structured["status"], &structured["value"]), (&json!("completed"), &json!(2)), "{structured:#}");
    assert_eq!(structured["calls"], json!([{ "seq": 1, "method": "stats/describe", "outcome": "ok" }]));
    assert_eq!((&structured["session"], &structured["run"]), (&json!("main"), &json!(1)));

    let bash = client.call(
        "run_bash",
        json!({ "script": "cat; cat a.txt; stats describe --values '[4]' | jq .mean", "stdin": "in\n" }),
    );
    assert_eq!(text(&bash), "in\nx4", "{bash:#}");

    let typed = client.js("const n: number = 2; return n satisfies number");
    assert_eq!(typed["value"], 2, "{typed:#}");
}

#[test]
fn failures_are_results_that_say_what_to_do() {
    let home = Home::with_tools(&["stats"]);
    let mut client = Client::start(&home, &[]);
    let thrown = client.call("run_javascript", json!({ "script": "null.x" }));
    assert!(error(&thrown).starts_with("failed: TypeError: "), "{thrown:#}");
    assert_eq!(thrown["structuredContent"]["error"]["kind"], "exception");

    let denied = client.call("run_javascript", json!({ "script": "return await stats.describe({values: [1]})" }));
    assert!(error(&denied).contains("denied: CapabilityError: "), "{denied:#}");
    assert!(error(&denied).contains("hint: "), "{denied:#}");
    assert_eq!(denied["structuredContent"]["calls"][0]["outcome"], "denied");

    let exit = client.call("run_bash", json!({ "script": "exit 3" }));
    error(&exit);
    assert_eq!(exit["structuredContent"]["exit_code"], 3);

    // The model is told the right form.
    let wrong = client.call("run_javascript", json!({ "scirpt": "1" }));
    assert!(error(&wrong).contains("did you mean `script`?"), "{wrong:#}");
    let none = client.call("run_javascript", json!({ "script": "1", "session": "mian" }));
    assert!(error(&none).contains("did you mean `main`?"), "{none:#}");
    let unknown = client.call("run_javascrpt", json!({ "script": "1" }));
    assert!(error(&unknown).contains("did you mean `run_javascript`?"), "{unknown:#}");
    assert_eq!(client.js("return 1")["value"], 1);
}

#[test]
fn long_output_is_shortened_and_kept_in_a_file() {
    let home = Home::new();
    let mut client = Client::start(&home, &["--max-text", "1000"]);
    let result = client.call(
        "run_javascript",
        json!({ "script": "for (let i = 0; i < 2000; i++) console.log('line ' + i); return 'v'.repeat(5000)" }),
    );
    let shown = text(&result);
    assert!(shown.chars().count() < 1400, "{}", shown.len());
    assert!(shown.contains("line 0\n") && shown.contains("line 1999\n") && !shown.contains("line 1000\n"), "{shown}");
    assert!(shown.contains("/tmp/tollhouse/run-1-stdout.txt") && shown.contains("run-1-value.txt"), "{shown}");
    let structured = &result["structuredContent"];
    assert!(structured.to_string().len() < 4000, "{}", structured.to_string().len());
    assert_eq!(structured["shortened"][0]["what"], "stdout", "{structured:#}");
    let whole = client.js("return (await fs.readFile('/tmp/tollhouse/run-1-stdout.txt', 'utf8')).split('\\n').length");
    assert_eq!(whole["value"], 2001);

    let mut read = String::new();
    let mut offset = json!(0);
    while !offset.is_null() {
        let part = client.call("read_file", json!({ "path": "/tmp/tollhouse/run-1-value.txt", "offset": offset }));
        read.push_str(part["structuredContent"]["text"].as_str().expect("it is text"));
        offset = part["structuredContent"]["next"].clone();
    }
    assert_eq!(read, "v".repeat(5000));
}

#[test]
fn output_and_progress_come_while_the_run_goes_on() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let run = json!({
        "name": "run_javascript",
        "arguments": { "script": "console.log('first'); await new Promise(done => setTimeout(done, 2500)); console.error('last')" },
        "_meta": { "progressToken": "p" },
    });
    let id = client.send("tools/call", run);
    let message = client.notification("notifications/message");
    assert_eq!(message["params"], json!({ "level": "info", "logger": "stdout", "data": "first" }));
    let progress = client.notification("notifications/progress");
    assert_eq!((&progress["params"]["progressToken"], &progress["params"]["total"]), (&json!("p"), &json!(60.0)));
    let result = client.wait(id);
    assert_eq!(result["result"]["structuredContent"]["status"], "completed", "{result:#}");
    let last = client.notification("notifications/message");
    assert_eq!(last["params"], json!({ "level": "warning", "logger": "stderr", "data": "last" }));

    // A client that wants only errors gets no output as messages.
    client.request("logging/setLevel", json!({ "level": "error" }));
    client.js("console.log('quiet'); console.error('quiet')");
    assert!(client.notifications.iter().all(|message| message["method"] != "notifications/message"));
}

#[test]
fn request_cancelled_stops_its_run_and_session_continues() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    for script in ["for (;;) {}", "await new Promise(done => setTimeout(done, 50000))"] {
        let script = format!("console.log('begun'); {script}");
        let id = client.send("tools/call", json!({ "name": "run_javascript", "arguments": { "script": script } }));
        client.notification("notifications/message");
        client.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));
        let begun = Instant::now();
        // The session has one run at a time: this one begins when the other has ended.
        assert_eq!(client.js("return 1")["value"], 1);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
    let listed = client.call("sessions", json!({ "action": "list" }));
    assert_eq!(listed["structuredContent"]["sessions"][0]["runs"], 4, "{listed:#}");
}

#[test]
fn runs_of_one_session_queue_and_those_of_two_overlap() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    client.call("sessions", json!({ "action": "create", "to": "other" }));
    let send = |client: &mut Client, session: &str, script: &str| {
        let arguments = json!({ "script": script, "session": session });
        client.send("tools/call", json!({ "name": "run_javascript", "arguments": arguments }))
    };

    // The second finds what the first left at its end.
    let logs = "await fs.appendFile('log', 'begun '); await new Promise(done => setTimeout(done, 700));
        await fs.appendFile('log', 'ended '); return await fs.readFile('log', 'utf8')";
    let ids = ["main", "main"].map(|session| send(&mut client, session, logs));
    // The answers may come in any order.
    let mut found: Vec<String> = Vec::new();
    while found.len() < 2 {
        let message = client.receive().expect("it runs");
        if ids.iter().any(|id| message["id"] == *id) {
            found.push(message["result"]["structuredContent"]["value"].to_string());
        }
    }
    found.sort_by_key(String::len);
    assert_eq!(found, ["\"begun ended \"", "\"begun ended begun ended \""]);

    // Both begin before either answers.
    let stays = "console.log('begun'); await new Promise(done => setTimeout(done, 50000))";
    let ids = ["main", "other"].map(|session| send(&mut client, session, stays));
    for _ in ids {
        client.notification("notifications/message");
    }
    for id in ids {
        client.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    assert_eq!(client.js("return 1")["value"], 1);
}

#[test]
fn pictures_of_a_run_are_shown() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let script = format!(
        "await fs.mkdir('out', {{recursive: true}}); await fs.writeFile('out/dot.png', Buffer.from('{png}', 'base64'));
         await fs.writeFile('out/note.txt', 'no picture')"
    );
    let result = client.call("run_javascript", json!({ "script": script }));
    let content = result["content"].as_array().expect("content");
    assert_eq!(content.len(), 2, "{result:#}");
    assert_eq!(content[1], json!({ "type": "image", "data": png, "mimeType": "image/png" }));
    // It is not new in the next run.
    assert_eq!(
        client.call("run_javascript", json!({ "script": "return 1" }))["content"].as_array().map(Vec::len),
        Some(1)
    );
    let read = client.call("read_file", json!({ "path": "out/dot.png" }));
    assert_eq!(read["content"][0]["mimeType"], "image/png", "{read:#}");
}

#[test]
fn names_and_hints_of_errors_and_lists_of_files_are_no_longer_than_texts() {
    let home = Home::new();
    let mut client = Client::start(&home, &["--max-text", "1000"]);
    let script = "const e = new Error('x'); e.name = 'N'.repeat(1e6); e.hint = 'h'.repeat(1e6); throw e";
    let failed = client.call("run_javascript", json!({ "script": script }));
    assert!(failed.to_string().len() < 12_000, "{}", failed.to_string().len());
    client.js("for (let i = 0; i < 300; i++) await fs.writeFile('a_file_with_a_long_name_' + i, '')");
    let listed = client.call("list_files", json!({}));
    assert!(text(&listed).chars().count() < 1200, "{listed:#}");
    assert!(text(&listed).contains("more: a script lists them all"), "{listed:#}");
    let structured = &listed["structuredContent"];
    let shown = structured["entries"].as_array().expect("a list").len() as u64;
    assert_eq!(structured["more"], 300 - shown, "{structured:#}");
}

#[test]
fn run_interrupted_is_listed_and_replaced_by_another_script() {
    let home = Home::new();
    let arguments = ["--session", "agent"];
    let mut client = Client::start(&home, &arguments);
    let script = "await fs.writeFile('k', '1'); console.log('on'); await new Promise(done => setTimeout(done, 50_000))";
    client.send("tools/call", json!({ "name": "run_javascript", "arguments": { "script": script } }));
    client.notification("notifications/message");
    client.kill();
    let mut client = Client::start(&home, &arguments);
    let listed = client.call("sessions", json!({ "action": "list" }));
    assert_eq!(listed["structuredContent"]["sessions"][0]["unfinished"], 1, "{listed:#}");
    assert!(text(&listed).contains("run 1 has not ended: `resume` continues it"), "{listed:#}");
    let other = client.call("run_javascript", json!({ "script": "return 1" }));
    assert_eq!(other["structuredContent"]["given_up"], 1, "{other:#}");
    assert!(text(&other).contains("run 1, which was interrupted, cannot be resumed any more"), "{other:#}");
    let next = client.call("run_javascript", json!({ "script": "return 1" }));
    assert_eq!((text(&next), &next["structuredContent"]["given_up"]), ("returned: 1", &Value::Null));
}
