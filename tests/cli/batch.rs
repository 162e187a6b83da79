//! `tollhouse batch`: one line in, one line out, whatever is in it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran};

fn lines(jobs: &[Value]) -> String {
    jobs.iter().map(|job| format!("{job}\n")).collect()
}

fn of<'a>(results: &'a [Value], id: &Value) -> &'a Value {
    let mut found = results.iter().filter(|result| result["id"] == *id);
    let result = found.next().unwrap_or_else(|| panic!("no result of {id}"));
    assert!(found.next().is_none(), "two results of {id}");
    result
}

#[test]
fn batch_job_has_everything_it_names() {
    let job = json!({
        "id": "all", "lang": "sh", "stdin": "from stdin\n",
        "script": "pwd; cat; cat data/a.txt; od -An -tx1 data/b.bin; ./run.sh; stat -c %a data/a.txt; echo $WORD $0",
        "files": {"data/a.txt": "text\n", "data/b.bin": {"base64": "AP8="}, "run.sh": "#!/bin/bash\necho ran\n"},
        "modes": {"run.sh": "755", "data/a.txt": "600"},
        "env": {"WORD": "word"},
    });
    let results = Home::new().batch(&lines(&[job]), &[]);
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["stdout"], "/workspace\nfrom stdin\ntext\n 00 ff\nran\n600\nword bash\n", "{}", results[0]);
    assert_eq!((&results[0]["status"], &results[0]["exit_code"]), (&json!("completed"), &json!(0)));
}

#[test]
fn results_have_the_keys_of_run_and_the_id() {
    let results = Home::new().batch("{\"id\": 7, \"script\": \"return 1 + 1\"}\nno job\n", &["--jobs", "1"]);
    for result in &results {
        let keys: Vec<&str> = result.as_object().expect("an object").keys().map(String::as_str).collect();
        let run = ["status", "value", "stdout", "stderr", "exit_code", "error", "calls", "usage", "budgets"];
        let expected: Vec<&str> = ["id"].into_iter().chain(run).chain(["session", "run", "snapshot"]).collect();
        assert_eq!(keys, expected);
    }
    assert_eq!((&results[0]["id"], &results[0]["value"]), (&json!(7), &json!(2)));
}

#[test]
fn batch_line_that_is_no_job_has_an_error_result() {
    let bad = [
        ("{\"id\": \"half\"", "line 1"),
        ("[]", "line 2"),
        ("{\"id\": \"no script\"}", "missing field `script`"),
        ("{\"id\": \"unknown\", \"script\": \"\", \"sript\": 1}", "unknown field `sript`"),
        ("{\"id\": \"lang\", \"lang\": \"perl\", \"script\": \"\"}", "unknown variant `perl`"),
        ("{\"id\": \"out\", \"script\": \"\", \"files\": {\"../x\": \"\"}}", "`../x`"),
        ("{\"id\": \"root\", \"script\": \"\", \"files\": {\"/etc/x\": \"\"}}", "`/etc/x`"),
        ("{\"id\": \"both\", \"script\": \"\", \"files\": {\"a\": \"\", \"a/b\": \"\"}}", "`a/b`: ENOTDIR"),
        (
            "{\"id\": \"mode\", \"script\": \"\", \"files\": {\"a\": \"\"}, \"modes\": {\"a\": \"9\"}}",
            "`9` is not an octal mode",
        ),
        ("{\"id\": \"whose\", \"script\": \"\", \"modes\": {\"a\": \"755\"}}", "`modes` names `a`"),
        ("{\"id\": \"b64\", \"script\": \"\", \"stdin\": {\"base64\": \"!\"}}", "Invalid symbol 33"),
        ("\u{0}\u{1}", "line 12"),
    ];
    let input: String = bad.iter().map(|(line, _)| format!("{line}\n")).collect();
    let results =
        Home::new().batch(&format!("{input}\n\n{{\"id\": \"good\", \"script\": \"return 3\"}}\n"), &["--jobs", "2"]);
    assert_eq!(results.len(), bad.len() + 1, "blank lines are no jobs");
    assert_eq!(of(&results, &json!("good"))["value"], 3);
    for (number, (line, reason)) in bad.iter().enumerate() {
        let place = format!("line {}:", number + 1);
        let message =
            |result: &&Value| result["error"]["message"].as_str().is_some_and(|text| text.starts_with(&place));
        let result = results.iter().find(message).unwrap_or_else(|| panic!("no result of {line}"));
        let told = result["error"]["message"].as_str().expect("a message");
        assert!(told.contains(reason), "{line}: {told}");
        assert_eq!((&result["status"], &result["exit_code"]), (&json!("failed"), &json!(2)), "{line}");
        // Its id is given back wherever the line is JSON at all.
        let id = serde_json::from_str::<Value>(line).ok().and_then(|job| job.get("id").cloned());
        assert_eq!(result["id"], id.unwrap_or_default(), "{line}");
    }
}

#[test]
fn job_that_would_lose_something_is_refused() {
    let home = Home::new();
    for (line, said) in [
        (r#"["echo", "sh", "echo hi"]"#, "a job is a JSON object"),
        (r#"{"id": 12345678901234567890123, "script": "1"}"#, "would be returned rounded"),
        (r#"{"id": [1.5], "script": "1"}"#, "would be returned rounded"),
        (r#"{"id": 1, "id": 2, "script": "1"}"#, "duplicate field `id`"),
        (r#"{"script": "1", "files": {"a": "1", "a": "2"}}"#, "`a` appears twice"),
        (r#"{"script": "1", "env": {"A": "1", "A": "2"}}"#, "`A` appears twice"),
        (r#"{"script": "1", "files": {"a": "1"}, "modes": {"a": "644", "a": "600"}}"#, "`a` appears twice"),
        (r#"{"script": "1", "files": {"d/a": "1", "./d//a": "2"}}"#, "are the same file"),
    ] {
        let result = &home.batch(line, &[])[0];
        assert_eq!(result["status"], "failed", "{line}: {result}");
        assert_eq!(result["error"]["kind"], "argument", "{line}: {result}");
        let message = result["error"]["message"].as_str().expect("a message");
        assert!(message.contains(said), "{line}: {message}");
    }
    for id in ["18446744073709551615", "-9223372036854775808", "\"x\"", "null", "{\"a\":[1,true]}"] {
        let results = home.batch(&format!("{{\"id\": {id}, \"script\": \"1\"}}"), &[]);
        assert_eq!(results[0]["id"].to_string(), id);
    }
}

#[test]
fn batch_jobs_are_isolated() {
    let write = json!({"id": 1, "lang": "sh", "script": "echo x > /workspace/left; echo x > /tmp/left; left=1"});
    let look = json!({"id": 2, "lang": "sh", "script": "ls /workspace /tmp | grep -c left; echo [$left]"});
    let results = Home::new().batch(&lines(&[write, look]), &["--jobs", "1"]);
    assert_eq!(of(&results, &json!(2))["stdout"], "0\n[]\n");
}

#[test]
fn budgets_are_each_jobs_own_and_nothing_is_granted_unasked() {
    let home = Home::with_tools(&["stats"]);
    let job = |id: u32| json!({"id": id, "script": "return (await stats.describe({values: [1, 2, 3]})).mean"});
    let results = home.batch(&lines(&[job(1)]), &[]);
    assert_eq!((&results[0]["status"], &results[0]["error"]["kind"]), (&json!("denied"), &json!("capability")));
    home.file("policy.toml", "[[grant]]\nmethod = 'stats/*'\ncalls = 1\n");
    let results = home.batch(&lines(&[job(1), job(2), job(3)]), &["--policy", "policy.toml"]);
    for id in 1..=3 {
        let result = of(&results, &json!(id));
        assert_eq!((&result["value"], &result["budgets"][0]["remaining"]), (&json!(2), &json!(0)), "{result}");
    }
}

#[test]
fn limits_stop_a_job_and_no_other() {
    let endless = json!({"id": "endless", "lang": "sh", "script": "while :; do :; done"});
    let good = json!({"id": "good", "lang": "sh", "script": "echo good"});
    let begun = Instant::now();
    let results = Home::new().batch(&lines(&[endless.clone(), endless, good]), &["--jobs", "3", "--timeout", "1s"]);
    let limited = results.iter().filter(|result| result["status"] == "limited").count();
    assert_eq!((results.len(), limited), (3, 2));
    assert_eq!(of(&results, &json!("good"))["stdout"], "good\n");
    assert!(begun.elapsed() < Duration::from_secs(20), "they run beside one another");
}

/// Only a few lines are read ahead of the work, not all of them: the writer is held up.
#[test]
fn lines_are_read_as_they_are_worked_off() {
    let mut child = Home::new()
        .command(["batch", "--jobs", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    // The result of a line comes before the next line is there.
    for id in 0..3 {
        writeln!(input, "{}", json!({"id": id, "lang": "sh", "script": "echo $((6 * 7))"})).expect("it reads");
        let mut line = String::new();
        output.read_line(&mut line).expect("it answers");
        let result: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!((&result["id"], &result["stdout"]), (&json!(id), &json!("42\n")));
    }
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn batch_with_wrong_option_or_policy_fails_once() {
    let home = Home::new();
    home.file("policy.toml", "[[grant]]\nmethod = 'stats/*'\ncals = 1\n");
    let ran = home.run(["batch", "--policy", "policy.toml"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("cals"), "{}", ran.stderr);
    assert_eq!(home.run(["batch", "--jobs", "0"]).status, 2);
}

#[test]
fn batch_with_files_gives_what_each_script_left() {
    let script = r#"mkdir d; mv run d; ln -s d/run link; printf '\xff' > bytes; chmod 600 bytes"#;
    let job = json!({"id": 1, "lang": "sh", "script": script, "files": {"run": "x"}, "modes": {"run": "755"}});
    let results = Home::new().batch(&job.to_string(), &["--files"]);
    assert_eq!(results[0]["files"], json!({"bytes": {"base64": "/w=="}, "d/run": "x"}), "{}", results[0]);
    assert_eq!(results[0]["modes"], json!({"bytes": "600", "d/": "755", "d/run": "755"}));
    assert_eq!(results[0]["links"], json!({"link": "d/run"}));
}

#[test]
fn batch_without_files_gives_no_files() {
    let results = Home::new().batch(&json!({"lang": "sh", "script": "echo > f"}).to_string(), &[]);
    assert!(results[0].get("files").is_none() && results[0].get("modes").is_none(), "{}", results[0]);
}

#[test]
fn jobs_in_processes_of_their_own_give_what_they_give_in_one() {
    let home = Home::new();
    let jobs: Vec<Value> = (0..12)
        .map(|id| json!({"id": id, "lang": "sh", "script": format!("echo {id}; cat; exit {}", id % 3), "stdin": "in"}))
        .collect();
    let input = format!(
        "{}no job\n\n{{\"id\": \"typo\", \"scrip\": 1}}\n{{\"id\": 1e3, \"script\": \"return 1\"}}\n\
         [5]\n{{\"id\": 1, \"id\": 2, \"script\": \"\"}}\n{{\"id\": \"deep\", \"script\": {}\n",
        lines(&jobs),
        "[".repeat(200) + &"]".repeat(200) + "}",
    );
    let sorted = |options: &[&str]| {
        let mut results = home.batch(&input, options);
        for result in &mut results {
            result["usage"] = Value::Null;
        }
        let mut texts: Vec<String> = results.iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    assert_eq!(sorted(&["--isolate", "process"]), sorted(&[]));
}

/// The process of a job is not the one that reads the lines, nor that of another job, and none is left.
#[test]
fn jobs_in_processes_of_their_own_share_none() {
    let home = Home::new();
    let job = json!({"id": 1, "script": "for (;;) await new Promise((go) => setTimeout(go, 10))"});
    let mut batch = home
        .command(["batch", "--isolate", "process", "--jobs", "2", "--timeout", "60s"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary is built");
    let mut input = batch.stdin.take().expect("it is piped");
    let second = json!({"id": 2, "script": "for (;;) await new Promise((go) => setTimeout(go, 10))"});
    input.write_all(lines(&[job, second]).as_bytes()).expect("it reads");
    // Two that run, and at most two that wait.
    let children = || children_of(batch.id());
    let began = Instant::now();
    while children().len() < 3 && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let found = children();
    assert!((3..=4).contains(&found.len()), "{found:?}");
    // One dies: its job has a result all the same, the other one's goes on.
    let busy = found.iter().copied().find(|pid| is_busy(*pid)).expect("one of them runs a job");
    assert!(
        std::process::Command::new("kill").args(["-9", &busy.to_string()]).status().expect("it is there").success()
    );
    let mut output = BufReader::new(batch.stdout.take().expect("it is piped"));
    let mut told = String::new();
    output.read_line(&mut told).expect("it is text");
    let died: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(died["error"]["kind"], "host", "{died}");
    let message = died["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("the process of the job returned no result: signal: 9"), "{died}");
    // A signal cancels the other one, whose process tells.
    assert!(std::process::Command::new("kill").arg(batch.id().to_string()).status().expect("it is there").success());
    told.clear();
    output.read_line(&mut told).expect("it is text");
    let cancelled: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert_eq!(batch.wait().expect("it ends").code(), Some(130));
    drop(input);
    let began = Instant::now();
    while found.iter().any(|pid| is_alive(*pid)) && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!found.iter().any(|pid| is_alive(*pid)), "a process is left");
}

/// Processes that a process has started and that have not ended.
/// Nothing runs on for a batch that was killed.
#[test]
fn jobs_in_processes_of_their_own_end_with_the_batch() {
    let home = Home::new();
    let job = json!({"id": 1, "script": "for (;;);"});
    let mut batch = home
        .command(["batch", "--isolate", "process", "--jobs", "1", "--timeout", "10m"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary is built");
    let mut input = batch.stdin.take().expect("it is piped");
    input.write_all(lines(&[job]).as_bytes()).expect("it reads");
    let busy = || children_of(batch.id()).into_iter().find(|pid| is_busy(*pid));
    let began = Instant::now();
    let mut working = None;
    while working.is_none() && began.elapsed() < Duration::from_secs(20) {
        working = busy();
    }
    let found = children_of(batch.id());
    assert!(working.is_some(), "{found:?}");
    batch.kill().expect("it is ours");
    batch.wait().expect("it ends");
    let began = Instant::now();
    while found.iter().any(|pid| is_alive(*pid)) && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!found.iter().any(|pid| is_alive(*pid)), "a process is left");
    drop(input);
}

fn children_of(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()).collect()
}

/// Returns true if a worker is running its line, by the processor time that it uses.
fn is_busy(pid: u32) -> bool {
    let now = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let before = now();
    std::thread::sleep(Duration::from_millis(300));
    before != now()
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn batch_in_processes_with_wrong_option_or_policy_fails_once() {
    let home = Home::new();
    home.file("policy.toml", "[[grnt]]\n");
    let input = lines(&[json!({"id": 1, "script": "1"}), json!({"id": 2, "script": "1"})]);
    let run = |options: &[&str]| fed(&home, ["batch", "--isolate", "process"].iter().chain(options).copied(), &input);
    let ran = run(&["--policy", "policy.toml"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    let in_one = fed(&home, ["batch", "--policy", "policy.toml"], &input);
    assert_eq!(ran.stderr, in_one.stderr);
    let ran = run(&["--audit", "log"]);
    assert!(ran.status == 2 && ran.stderr.contains("processes cannot keep one log"), "{ran:?}");
    for options in [["--policy", "/dev/fd/9"], ["--policy", "-"], ["--secret", "KEY=file:/dev/fd/9"]] {
        let ran = run(&options);
        assert!(ran.status == 2 && ran.stderr.contains("it can be read once"), "{options:?}: {ran:?}");
    }
}

/// Runs the binary with this standard input, of which it need not read anything.
fn fed<'a>(home: &Home, arguments: impl IntoIterator<Item = &'a str>, input: &str) -> Ran {
    home.file("input", input);
    let file = std::fs::File::open(home.path().join("input")).expect("it was written");
    Ran::of(&home.command(arguments).stdin(file).output().expect("the binary is built"))
}

/// A worker only reads the cache of compiled code, and so it has to be able to: otherwise each job would compile its tools
/// again.
#[test]
fn process_of_a_job_runs_the_code_that_the_cache_has() {
    let home = Home::with_tools(&["stats"]);
    let script = "return (await stats.describe({values: [1, 2, 3]})).mean";
    let lines: String = (1..4).map(|id| format!("{}\n", json!({ "id": id, "script": script }))).collect();
    let mut command = home.command(["batch", "--isolate", "process", "--jobs", "1", "--allow", "stats/*"]);
    command.env("TOLLHOUSE_LOG", "tollhouse::code=debug");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    child.stdin.take().expect("it is piped").write_all(lines.as_bytes()).expect("it reads");
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!(ran.stdout.matches(r#""status":"completed""#).count(), 3, "{ran:?}");
    assert!(!ran.stderr.contains("warning"), "{ran:?}");
    // The first process, which has no job, may have compiled the tool.
    assert!(ran.stderr.matches("compiled").count() <= 1, "{ran:?}");
}
