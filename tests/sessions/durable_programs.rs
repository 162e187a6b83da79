//! Runs with programs that wait for a human, or whose process dies: no program is run twice whose result is known, and
//! one that was interrupted goes on from where the script had read.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::components::encode;
use tollhouse_tests::{Home, Ran, root};

/// Programs, and charges that ask.
const POLICY: &str = "[tools]\npay = 'test:payments@^0.1'\nprog = 'test:prog'\n\
    [tool.prog]\nfiles = ['/workspace', '/tmp']\n\
    [[grant]]\nname = 'charges'\nmethod = 'pay/charges/create'\ncalls = 9\napprove = true\n\
    [[grant]]\nname = 'programs'\nmethod = 'prog'\ncalls = 20\n";

fn home_with(policy: &str) -> Home {
    let home = Home::new();
    home.publish_program("wasm32-wasip1");
    home.publish(&root().join("tests/fixtures/payments"));
    home.file("policy.toml", policy);
    home
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

fn start(home: &Home, language: &str, script: &str) -> Value {
    let run = ["run", "--lang", language, "-e", script, "--policy", "policy.toml", "--session", "s", "--json"];
    parsed(&home.run(run))
}

fn resume(home: &Home) -> Value {
    parsed(&home.run(["session", "resume", "s", "--json"]))
}

/// Approves the only call that waits, and resumes the run.
fn approve(home: &Home) -> Value {
    let approved = home.run(["session", "approve", "s"]);
    assert_eq!(approved.status, 0, "{approved:?}");
    resume(home)
}

/// Returns how many calls a grant has paid for.
fn spent(result: &Value, grant: &str) -> u64 {
    let budgets = result["budgets"].as_array().expect("budgets");
    let budget = budgets.iter().find(|budget| budget["grant"] == grant).expect("a budget");
    budget["used"].as_u64().expect("a number")
}

const CHARGE: &str = "pay charges create --amount 5 --currency EUR";

#[test]
fn programs_that_have_ended_do_not_run_again() {
    let home = home_with(POLICY);
    let script = format!(
        "printf 'one\\ntwo\\n' | prog upper > upper; prog write f first; prog exit 3; echo $?; \
         x=$(prog cat f); {CHARGE} > paid; echo $x; prog cat upper; prog write f second; prog cat f; echo"
    );
    let first = start(&home, "sh", &script);
    assert_eq!((&first["status"], &first["stdout"]), (&json!("suspended"), &json!("3\n")), "{first:#}");
    assert_eq!(spent(&first, "programs"), 4, "{first:#}");
    let last = approve(&home);
    assert_eq!(
        (&last["status"], &last["stdout"]),
        (&json!("completed"), &json!("first\nONE\nTWO\nsecond\n")),
        "{last:#}"
    );
    assert_eq!(spent(&last, "programs"), 7, "each is run once: {last:#}");
    let calls = last["calls"].as_array().expect("calls");
    assert!(calls.iter().all(|call| call["outcome"] == "ok"), "{last:#}");
}

/// The program of a pipeline waits for a call that waits for a human: neither keeps the other from waiting.
#[test]
fn program_in_pipeline_waits_with_call_awaiting_approval() {
    let home = home_with(POLICY);
    let begun = Instant::now();
    let first = start(&home, "sh", &format!("{CHARGE} | prog upper | prog cat; echo end"));
    assert_eq!((&first["status"], &first["stdout"]), (&json!("suspended"), &json!("")), "{first:#}");
    assert!(begun.elapsed() < Duration::from_secs(30), "it does not wait for a limit: {:?}", begun.elapsed());
    // Without a decision the programs run again, and wait again.
    let again = resume(&home);
    assert_eq!(again["status"], "suspended", "{again:#}");
    let last = approve(&home);
    assert_eq!(last["status"], "completed", "{last:#}");
    let printed = last["stdout"].as_str().expect("text");
    assert!(printed.contains("\"TOTAL\"") && printed.ends_with("end\n"), "{last:#}");
    assert_eq!((spent(&last, "programs"), spent(&last, "charges")), (2, 1), "{last:#}");
}

/// A program that talks with the script: what it said before is not said again.
const TALK: &str = "
    const {spawn} = require('node:child_process');
    const program = spawn('prog', ['upper']);
    const said = program.stdout[Symbol.asyncIterator]();
    program.stdin.write('one\\n');
    const first = String((await said.next()).value);
    console.log('said', first.trim());
    const receipt = await pay.charges.create({amount: 5, currency: 'EUR'});
    program.stdin.write('two\\n');
    const second = String((await said.next()).value);
    program.stdin.end('three\\n');
    let rest = '';
    for await (const part of said) rest += part;
    return [first, second, rest, receipt.total];";

#[test]
fn program_not_ended_continues_where_the_script_had_read() {
    let home = home_with(POLICY);
    let first = start(&home, "js", TALK);
    assert_eq!((&first["status"], &first["stdout"]), (&json!("suspended"), &json!("said ONE\n")), "{first:#}");
    let again = resume(&home);
    assert_eq!((&again["status"], &again["stdout"]), (&json!("suspended"), &json!("")), "{again:#}");
    let last = approve(&home);
    assert_eq!(last["value"], json!(["ONE\n", "TWO\n", "THREE\n", 5]), "{last:#}");
    assert_eq!(spent(&last, "programs"), 1, "{last:#}");
}

/// What a program wrote that the script had not read is not lost, though the program has ended.
#[test]
fn output_that_was_not_read_is_read_after_the_run_is_resumed() {
    let home = home_with(POLICY);
    let script = format!("prog args unread | {{ {CHARGE} < /dev/null > paid; cat; }}; jq .total paid");
    let first = start(&home, "sh", &script);
    assert_eq!(first["status"], "suspended", "{first:#}");
    let last = approve(&home);
    assert_eq!(last["stdout"], "[\"unread\"]\n5\n", "{last:#}");
    assert_eq!(spent(&last, "programs"), 1, "{last:#}");
}

/// A program itself may need approval, and is refused like any call.
#[test]
fn program_awaiting_approval_keeps_its_input() {
    let home = home_with(&POLICY.replace("calls = 20", "calls = 20\napprove = true"));
    let script = "echo before; echo text | prog upper; echo $?";
    let first = start(&home, "sh", script);
    assert_eq!((&first["status"], &first["stdout"]), (&json!("suspended"), &json!("before\n")), "{first:#}");
    assert_eq!(spent(&first, "programs"), 0, "{first:#}");
    let pending = parsed(&home.run(["session", "pending", "s", "--json"]));
    assert_eq!((&pending[0]["method"], &pending[0]["arguments"]["arguments"]), (&json!("prog"), &json!(["upper"])));
    let last = approve(&home);
    assert_eq!((&last["stdout"], spent(&last, "programs")), (&json!("TEXT\n0\n"), 1), "{last:#}");

    assert_eq!(start(&home, "sh", script)["status"], "suspended");
    assert_eq!(home.run(["session", "deny", "s", "--reason", "not today"]).status, 0);
    let last = resume(&home);
    assert_eq!((&last["status"], &last["stdout"]), (&json!("completed"), &json!("126\n")), "{last:#}");
    assert!(last["stderr"].as_str().is_some_and(|said| said.contains("not today")), "{last:#}");
}

/// What a program had written that was stopped is there in the replay too, as it was then.
#[test]
fn files_of_a_program_that_was_stopped_are_as_they_were() {
    let home = home_with(POLICY);
    let script =
        format!("timeout 0.5 prog write a stopped spin; echo $?; prog cat a; {CHARGE} > paid; prog cat a; cat a");
    let first = start(&home, "sh", &script);
    assert_eq!((&first["status"], &first["stdout"]), (&json!("suspended"), &json!("124\nstopped")), "{first:#}");
    let last = approve(&home);
    assert_eq!((&last["status"], &last["stdout"]), (&json!("completed"), &json!("stoppedstopped")), "{last:#}");
}

/// Program that reads a piece of its input, and could make requests.
const CLIENT: &str = r#"(module
    (import "wasi:cli/stdin@0.2.0" "get-stdin" (func $stdin (result i32)))
    (import "wasi:io/streams@0.2.0" "[method]input-stream.blocking-read" (func $read (param i32 i64 i32)))
    (import "wasi:http/types@0.2.0" "[constructor]fields" (func $fields (result i32)))
    (memory (export "memory") 1)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "wasi:cli/run@0.2.0#run") (result i32)
        (drop (call $fields))
        (call $read (call $stdin) (i64.const 100) (i32.const 0))
        (i32.const 0)))"#;

const CLIENT_WIT: &str = "
    package test:client@0.1.0;
    world client {
        import wasi:cli/stdin@0.2.0; import wasi:io/streams@0.2.0; import wasi:http/types@0.2.0;
        export wasi:cli/run@0.2.0;
    }
    package wasi:io@0.2.0 {
        interface error { resource error; }
        interface streams {
            use error.{error};
            variant stream-error { last-operation-failed(error), closed }
            resource input-stream { blocking-read: func(len: u64) -> result<list<u8>, stream-error>; }
        }
    }
    package wasi:cli@0.2.0 {
        interface stdin { use wasi:io/streams@0.2.0.{input-stream}; get-stdin: func() -> input-stream; }
        interface run { run: func() -> result; }
    }
    package wasi:http@0.2.0 { interface types { resource fields { constructor(); } } }";

/// A program that may have an effect must not run again, so what needs consent cannot wait for it.
#[test]
fn call_needing_approval_beside_program_with_effects_is_refused() {
    let policy = POLICY.replace("'test:prog'", "'test:client'");
    let files = "[tool.prog]\nfiles = ['/workspace', '/tmp']\n";
    let home = home_with(&policy.replace(files, "[tool.prog]\nhttp = ['GET https://example.com']\n"));
    std::fs::create_dir(home.path().join("client")).expect("the home can be written");
    home.file("client/client.wasm", encode(CLIENT_WIT, "client", CLIENT));
    let client = home.file(
        "client/tool.toml",
        "name = 'test:client'\nversion = '0.1.0'\ndescription = 'Reads, and may ask.'\nlicense = 'MIT'\n\
         component = 'client.wasm'\n[permissions]\nhttp = ['GET https://example.com']\n",
    );
    home.publish(client.parent().expect("it is in a directory"));
    let first = start(&home, "sh", &format!("{CHARGE} | prog upper; echo ${{PIPESTATUS[0]}}"));
    assert_eq!((&first["status"], &first["stdout"]), (&json!("completed"), &json!("126\n")), "{first:#}");
    let told = first["stderr"].as_str().unwrap_or_default();
    assert!(told.contains("which may have an effect"), "{first:#}");
}

/// A process that dies while a program without effects runs: the program runs again, and is paid for once.
#[test]
fn program_interrupted_runs_again_and_is_charged_once() {
    let home = home_with(POLICY);
    let script = "prog write f kept; echo begun; prog write g new sleep 600; cat f g; echo";
    let run = ["run", "--lang", "sh", "-e", script, "--policy", "policy.toml", "--session", "s"];
    let mut command = home.command(run);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it is built");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("text");
    std::thread::sleep(Duration::from_millis(200));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert_eq!(line, "begun\n");
    let last = resume(&home);
    assert_eq!(last["status"], "completed", "{last:#}");
    assert!(last["stdout"].as_str().is_some_and(|text| text.ends_with("keptnew\n")), "{last:#}");
    assert_eq!(spent(&last, "programs"), 2, "{last:#}");
}

/// A journal is bounded: a run that reads very much of programs goes on, and is refused what needs consent.
#[test]
fn run_that_reads_too_much_of_programs_is_refused_approval() {
    let home = home_with(POLICY);
    let first = start(&home, "sh", &format!("prog zeros 9000000 | wc -c; {CHARGE}; echo $?"));
    assert_eq!((&first["status"], &first["stdout"]), (&json!("completed"), &json!("9000000\n126\n")), "{first:#}");
    let told = first["stderr"].as_str().unwrap_or_default();
    assert!(told.contains("needs approval"), "{first:#}");
}
