//! Output that cannot be written, and signals: nothing is lost without an error or a status.

use std::fs::File;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran};

/// Far below the time limit of the runs, on a machine that does other things.
const SOON: Duration = Duration::from_secs(20);

/// Runs the binary with standard output on a full disk.
fn full(home: &Home, arguments: &[&str], stdin: &str) -> Ran {
    let disk = File::options().write(true).open("/dev/full").expect("Linux has it");
    let input = home.file("stdin", stdin);
    let mut command = home.command(arguments);
    command.stdout(disk).stdin(File::open(input).expect("it was written"));
    Ran::of(&command.stderr(Stdio::piped()).output().expect("it runs"))
}

#[test]
fn full_disk_on_stdout_is_an_error_of_every_command() {
    let home = Home::with_fixture();
    home.js("return 1", &["--session", "s"]);
    let job = r#"{"id": 1, "script": "return 1"}"#;
    let commands: [&[&str]; 12] = [
        &["run", "-e", "console.log(1)"],
        &["run", "-e", "return 1"],
        &["run", "-e", "return 1", "--json"],
        &["run", "--lang", "sh", "-e", "echo 1"],
        &["batch"],
        &["tools"],
        &["tools", "--json"],
        &["types"],
        &["session", "ls"],
        &["session", "files", "s", "/"],
        &["registry", "ls"],
        &["--help"],
    ];
    for arguments in commands {
        let ran = full(&home, arguments, job);
        assert_eq!(ran.status, 1, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("No space left on device"), "{arguments:?}: {ran:?}");
    }
    let ran = full(&home, &["run", "-e", "console.log(1); await probe.length({text: 'x'})"], "");
    assert_eq!(ran.status, 1, "the script ended where its output was lost: {ran:?}");
}

#[test]
fn closed_stdout_is_an_error_of_commands_that_write() {
    let home = Home::with_fixture();
    let closed = |arguments: &[&str]| {
        let wanted = home.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"exec "$0" "$@" >&-"#]).arg(wanted.get_program()).args(wanted.get_args());
        shell.env_clear().envs(wanted.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(&shell.stdin(Stdio::null()).output().expect("it runs"))
    };
    let writing: [&[&str]; 5] = [
        &["run", "-e", "console.log(1)"],
        &["run", "--lang", "sh", "-e", "echo 1"],
        &["tools"],
        &["--help"],
        &["run", "-e", "return 1", "--json"],
    ];
    for arguments in writing {
        let ran = closed(arguments);
        assert_eq!(ran.status, 1, "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("Bad file descriptor"), "{arguments:?}: {ran:?}");
    }
    let silent = closed(&["run", "-e", "const nothing = 1"]);
    assert_eq!((silent.status, silent.stderr.as_str()), (0, ""), "what writes nothing loses nothing");
}

/// Reads the first bytes of what a command writes, closes the pipe, and waits for the command's end.
fn cut(home: &Home, arguments: &[&str], bytes: usize) -> Ran {
    let mut child = home.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut first = vec![0; bytes];
    child.stdout.take().expect("it is piped").read_exact(&mut first).expect("it writes");
    Ran::of(&child.wait_with_output().expect("it ends"))
}

#[test]
fn limit_of_file_sizes_is_an_error_and_kills_nothing() {
    let home = Home::with_fixture();
    // The limit is far above what the program itself writes, and five bytes above what the file has.
    let shell = r#"ulimit -f 131072; head -c 134217723 /dev/zero > out; "$0" "$@" >> out"#;
    let program = home.command(["run", "-e", "console.log('hello, world')"]);
    let mut limited = Command::new("bash");
    limited.args(["-c", shell]).arg(program.get_program()).args(program.get_args()).current_dir(home.path());
    limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::of(&limited.output().expect("bash starts"));
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("File too large"), "{ran:?}");
}

#[test]
fn broken_pipe_ends_run_at_once_with_141_and_keeps_its_files() {
    let home = Home::new();
    let begun = Instant::now();
    let ran = cut(&home, &["run", "--session", "s", "--lang", "sh", "-e", "echo kept > kept; yes"], 2);
    assert_eq!((ran.status, ran.stderr.as_str()), (141, ""), "{ran:?}");
    assert!(begun.elapsed() < SOON);
    assert_eq!(home.run(["session", "cat", "s", "/workspace/kept"]).stdout, "kept\n");
    let forever = "let n = 0; for (;;) { console.log('y'); if (++n % 100 === 0) await null; }";
    assert_eq!(cut(&home, &["run", "-e", forever], 2).status, 141);
}

#[test]
fn broken_pipe_ends_listing_quietly_with_141() {
    let home = Home::with_fixture();
    // More than a pipe holds, so that the end of the reader is noticed.
    let source = "for (let n = 0; n < 3000; n++) await fs.writeFile('/workspace/a-file-of-a-long-name-' + n, '')";
    home.js(source, &["--session", "s"]);
    let ran = cut(&home, &["session", "files", "s"], 1);
    assert_eq!((ran.status, ran.stderr.as_str()), (141, ""), "{ran:?}");
}

/// Starts a command that says `begun`, and waits for that.
fn begun(home: &Home, arguments: &[&str]) -> Child {
    let mut command = home.command(arguments);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::piped()).spawn().expect("it starts");
    let mut first = [0; 6];
    child.stdout.as_mut().expect("it is piped").read_exact(&mut first).expect("it begins");
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("there is `kill`");
    assert!(sent.success(), "it was still there");
}

fn last_run(home: &Home, session: &str) -> Value {
    let shown: Value = serde_json::from_str(&home.run(["session", "show", session, "--json"]).stdout).expect("JSON");
    shown["runs"].as_array().and_then(|runs| runs.last()).cloned().expect("a run")
}

#[test]
fn termination_and_hangup_cancel_run_and_keep_its_files() {
    let home = Home::new();
    for name in ["-TERM", "-HUP", "-INT"] {
        let script = "echo \"$0\" > kept; echo begun; sleep 1000";
        let child = begun(&home, &["run", "--session", "s", "--lang", "sh", "-e", script]);
        signal(&child, name);
        let ran = Ran::of(&child.wait_with_output().expect("it ends"));
        assert_eq!(ran.status, 130, "{name}: {ran:?}");
        assert_eq!(last_run(&home, "s")["status"], "cancelled", "{name}");
        assert_eq!(home.run(["session", "cat", "s", "/workspace/kept"]).status, 0, "{name}");
    }
}

#[test]
fn timeout_which_signals_process_and_group_cancels_and_does_not_kill() {
    let home = Home::new();
    let mut command = Command::new("timeout");
    command.arg("2").arg(tollhouse_tests::binary()).env_clear().envs(home.environment()).current_dir(home.path());
    command.args(["run", "--session", "s", "--lang", "sh", "-e", "echo x > kept; sleep 1000"]);
    let output = command.output().expect("there is `timeout`");
    assert_eq!(output.status.code(), Some(124), "`timeout` says that it ended it");
    assert_eq!(last_run(&home, "s")["status"], "cancelled");
    assert_eq!(home.run(["session", "cat", "s", "/workspace/kept"]).stdout, "x\n");
}

#[test]
fn hangup_that_was_ignored_at_the_start_stays_ignored() {
    let home = Home::new();
    let mut command = Command::new("nohup");
    command.arg(tollhouse_tests::binary()).env_clear().envs(home.environment()).current_dir(home.path());
    command.args(["run", "--lang", "sh", "-e", "echo begun; sleep 1; echo ended"]);
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().expect("there is `nohup`");
    let mut first = [0; 6];
    child.stdout.as_mut().expect("it is piped").read_exact(&mut first).expect("it begins");
    signal(&child, "-HUP");
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "ended\n"));
}

#[test]
fn signal_ends_batch_with_the_results_of_jobs_that_run() {
    let home = Home::new();
    let mut child =
        home.command(["batch", "--jobs", "2"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    let jobs = ["return 1", "await new Promise(() => setTimeout(() => {}, 1e9))"];
    for (id, script) in jobs.iter().enumerate() {
        std::io::Write::write_all(&mut input, format!("{}\n", json!({ "id": id, "script": script })).as_bytes())
            .expect("it reads");
    }
    let mut first = [0; 1];
    child.stdout.as_mut().expect("it is piped").read_exact(&mut first).expect("the first job has ended");
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-TERM");
    // Its input stays open: it does not wait for more.
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    drop(input);
    assert_eq!(ran.status, 130, "{ran:?}");
    let last: Value = serde_json::from_str(ran.stdout.lines().last().expect("two results")).expect("JSON");
    assert_eq!((&last["id"], &last["status"], &last["exit_code"]), (&json!(1), &json!("cancelled"), &json!(130)));
}

#[test]
fn termination_ends_repl_after_its_run() {
    let home = Home::new();
    let mut child = home
        .command(["repl", "--lang", "sh", "--session", "s"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    std::io::Write::write_all(&mut input, b"echo x > kept; echo begun; sleep 1000\necho more\n").expect("it reads");
    let mut first = [0; 6];
    child.stdout.as_mut().expect("it is piped").read_exact(&mut first).expect("it begins");
    signal(&child, "-TERM");
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!((ran.status, ran.stdout.as_str()), (130, ""), "the next input does not run");
    assert_eq!(last_run(&home, "s")["status"], "cancelled");
    assert_eq!(home.run(["session", "cat", "s", "/workspace/kept"]).stdout, "x\n");
}

#[test]
fn second_signal_ends_the_process_at_once() {
    let home = Home::new();
    // A reader that reads no more: the run waits for the pipe, and cannot end in order.
    let child = begun(&home, &["run", "--lang", "sh", "-e", "echo begun; yes"]);
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-TERM");
    // Longer than what belongs to the first signal.
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "-TERM");
    let ended = Instant::now();
    let mut child = child;
    let status = child.wait().expect("it ends");
    assert!(ended.elapsed() < SOON);
    assert_eq!(status.code(), Some(130));
}
