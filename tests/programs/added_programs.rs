//! `tollhouse programs`, and `--allow NAME/run`: programs of others as commands, on the session's files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tollhouse_tests::server::Server;
use tollhouse_tests::{Home, Ran, built, program_file};

/// A home with the tests' program under the name `prog`, added from its file.
fn home() -> Home {
    let home = Home::new();
    assert_eq!(add(&home, "prog", &[]).status, 0);
    home
}

/// Adds the tests' program under a name.
fn add(home: &Home, name: &str, more: &[&str]) -> Ran {
    let file = program_file("wasm32-wasip1");
    let from = file.to_str().expect("its path is text");
    home.run(["programs", "add", name, "--from", from].iter().chain(more))
}

fn digest_of(file: &Path) -> String {
    tollhouse_registry::Digest::of(&fs::read(file).expect("it is built")).hex()
}

fn out(ran: &Value) -> &str {
    ran["stdout"].as_str().unwrap_or_default()
}

/// Runs `programs add python3` in this home with an executable `python3` that is this shell script.
fn add_python3_by(home: &Home, script: &str) -> std::process::Command {
    let bin = home.path().join("bin");
    fs::create_dir_all(&bin).expect("the home can be written");
    let python = bin.join("python3");
    fs::write(&python, format!("#!/bin/sh\n{script}")).expect("the home can be written");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("it is ours");
    fs::create_dir_all(home.path().join("tmp")).expect("the home can be written");
    let mut command = home.command(["programs", "add", "python3"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("TMPDIR", home.path().join("tmp"));
    command
}

fn is_empty(directory: PathBuf) -> bool {
    fs::read_dir(directory).expect("it is there").next().is_none()
}

#[test]
fn program_added_from_a_file_works_on_the_session_s_files() {
    let home = home();
    fs::create_dir(home.path().join("in")).expect("the home can be written");
    home.file("in/given", "from the machine\n");
    let script = "echo hi > f; prog cat f; prog write g made; cat g; echo; mkdir -p d; cd d; prog cat ../f
        prog write h x; cd /tmp; prog write i tmp; cat i; echo; prog cat /data/given; prog write /data/given no; echo $?
        cat /data/given
        prog cat /etc/passwd 2>/dev/null; echo $?; printf 'a\\nb\\n' | prog upper | tail -n 1; prog exit 7; echo $?
        ls /workspace /workspace/d";
    let ran = home.sh(script, &["--allow", "prog/run", "--mount", "in:/data:ro"]);
    let expected =
        "hi\nmade\nhi\ntmp\nfrom the machine\n1\nfrom the machine\n1\nB\n7\n/workspace:\nd\nf\ng\n\n/workspace/d:\nh\n";
    assert_eq!(out(&ran), expected, "{ran}");
    let host = fs::read_to_string(home.path().join("in/given")).expect("it is there");
    assert_eq!(host, "from the machine\n", "nothing of the machine is changed");
}

#[test]
fn program_runs_as_a_command_from_javascript() {
    let home = home();
    let code = "const { promisify } = require('util'); const exec = promisify(require('child_process').exec);
        fs.writeFileSync('f', 'one');
        const called = await prog({arguments: ['cat', 'f'], directory: '/workspace'});
        const { stdout } = await exec('prog cat f; prog write g two');
        return [called.stdout, stdout, fs.readFileSync('g', 'utf8')]";
    let ran = home.js(code, &["--allow", "prog/run"]);
    assert_eq!(ran["value"], serde_json::json!(["one", "one", "two"]), "{ran}");
}

#[test]
fn allow_without_run_gives_a_program_no_files_and_says_so() {
    let home = home();
    let script = "echo hi > f; prog args x; prog cat f";
    let ran = home.run(["run", "--allow", "prog", "--lang", "sh", "-e", script]);
    assert_eq!((&*ran.stdout, ran.status), ("[\"x\"]\n", 1), "{ran:?}");
    assert!(ran.stderr.contains("note: `prog` sees no files: `--allow prog/run` gives it the session's"), "{ran:?}");
    let ran = home.run(["run", "--allow", "prog", "--lang", "sh", "-e", "prog args x"]);
    assert_eq!((&*ran.stdout, &*ran.stderr), ("[\"x\"]\n", ""), "a run that went well needs no note");
    let ran = home.sh("prog args x; echo $?", &[]);
    assert_eq!(out(&ran), "126\n", "{ran}");
    assert!(ran["stderr"].as_str().is_some_and(|told| told.contains("grant it: `--allow prog/run`")), "{ran}");
}

#[test]
fn policy_that_says_what_a_program_may_touch_is_not_widened() {
    let home = home();
    home.file("policy.toml", "[tool.prog]\nfiles = [\"/workspace/in\"]\n");
    let script =
        "mkdir in; echo a > in/f; echo b > f; prog cat in/f; prog cat f; echo $?; prog write f x; echo $?; cat f";
    let ran = home.sh(script, &["--policy", "policy.toml", "--allow", "prog/run"]);
    assert_eq!(out(&ran), "a\n1\n1\nb\n", "{ran}");
}

#[test]
fn allow_with_run_grants_no_other_program() {
    let home = home();
    assert_eq!(add(&home, "other", &[]).status, 0);
    let ran = home.sh("other args x; echo $?", &["--allow", "prog/run"]);
    assert_eq!(out(&ran), "126\n", "{ran}");
    let home = Home::with_tools(&["stats"]);
    let ran = home.run(["run", "--allow", "stats/run", "-e", "1"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("`stats/run` covers nothing that is mounted"), "{ran:?}");
}

#[test]
fn session_keeps_the_grant_of_a_program() {
    let home = home();
    let granted: &[&str] = &["--session", "s", "--allow", "prog/run"];
    assert_eq!(out(&home.sh("prog write f kept; cat f", granted)), "kept");
    assert_eq!(out(&home.sh("prog cat f", granted)), "kept");
    assert_eq!(out(&home.sh("prog cat f", &["--session", "s"])), "kept");
    assert_eq!(home.run(["session", "new", "t"]).status, 0);
    assert_eq!(out(&home.sh("prog args x; echo $?", &["--session", "t"])), "126\n");
    let ran = home.run(["session", "grant", "t", "--allow", "prog/run"]);
    assert_eq!((ran.status, ran.stdout.contains("may call prog")), (0, true), "{ran:?}");
    assert_eq!(out(&home.sh("prog write f x; cat f", &["--session", "t"])), "x");
}

#[test]
fn program_added_again_is_unchanged_and_other_bytes_need_a_version() {
    let home = home();
    let ran = add(&home, "prog", &["--json"]);
    let told: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
    assert_eq!((&told["name"], &told["version"]), (&"local:prog".into(), &"0.1.0".into()), "{ran:?}");
    assert_eq!(told["already"], true, "{ran:?}");
    let other = program_file("wasm32-wasip2");
    let from = other.to_str().expect("its path is text");
    let ran = home.run(["programs", "add", "prog", "--from", from]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("`--version VERSION` adds it as another one"), "{ran:?}");
    let ran = home.run(["programs", "add", "prog", "--from", from, "--version", "0.2.0"]);
    assert!(ran.stdout.starts_with("added local:prog@0.2.0 sha256:"), "{ran:?}");
    assert_eq!(out(&home.sh("prog args x", &["--allow", "prog/run"])), "[\"x\"]\n");
}

#[test]
fn programs_are_listed_taken_back_and_added_again() {
    let home = home();
    let ran = home.run(["programs", "ls"]);
    assert!(ran.stdout.starts_with("prog         local:prog@0.1.0\n"), "{ran:?}");
    assert!(ran.stdout.contains("python3      not added: `tollhouse programs add python3`\n"), "{ran:?}");
    assert_eq!(out(&home.sh("prog args x", &["--session", "s", "--allow", "prog/run"])), "[\"x\"]\n");
    assert_eq!(home.run(["programs", "rm", "prog"]).stdout, "removed local:prog@0.1.0\n");
    assert_eq!(home.run(["run", "--allow", "prog/run", "-e", "1"]).status, 2);
    assert_eq!(out(&home.sh("prog args x", &["--session", "s"])), "[\"x\"]\n", "a session keeps what it has");
    let ran = home.run(["programs", "rm", "prog"]);
    assert_eq!((ran.status, ran.stderr.contains("the program `prog` is not added")), (1, true), "{ran:?}");
    let ran = add(&home, "prog", &[]);
    assert!(ran.stdout.starts_with("added local:prog@0.1.0"), "{ran:?}");
    assert_eq!(out(&home.sh("prog args x", &["--allow", "prog/run"])), "[\"x\"]\n");
    let listed: Value = serde_json::from_str(&home.run(["programs", "ls", "--json"]).stdout).expect("it is JSON");
    assert_eq!((&listed[0]["program"], &listed[0]["added"]), (&"prog".into(), &true.into()), "{listed}");
}

#[test]
fn program_that_uses_no_files_is_added() {
    let home = Home::new();
    let module = "(module (memory (export \"memory\") 1) (func (export \"_start\")))";
    home.file("nothing.wasm", wat::parse_str(module).expect("it is a module"));
    let ran = home.run(["programs", "add", "nothing", "--from", "nothing.wasm"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(out(&home.sh("nothing; echo $?", &["--allow", "nothing/run"])), "0\n");
}

#[test]
fn tool_is_not_taken_back_as_a_program() {
    let home = Home::with_tools(&["stats"]);
    assert_eq!(home.run(["programs", "rm", "stats"]).status, 1);
    assert_eq!(home.js("return (await stats.describe({values: [1]})).mean", &["--allow", "stats/*"])["value"], 1);
}

#[test]
fn file_that_is_no_program_or_has_another_digest_is_not_added() {
    let home = Home::new();
    let tool = built().join("../wasm32-wasip2/guest/tollhouse_tool_stats.wasm");
    let tool = tool.to_str().expect("its path is text");
    let text = home.file("text", "no program");
    let archive = home.file("archive.whl", "PK\x03\x04 of somebody else");
    let [text, archive] = [&text, &archive].map(|path| path.to_str().expect("its path is text"));
    let zeros = "0".repeat(64);
    let file = program_file("wasm32-wasip1");
    let file = file.to_str().expect("its path is text");
    for (arguments, told) in [
        (vec!["x", "--from", tool], "it exports no `wasi:cli/run`"),
        (vec!["x", "--from", text], "it does not begin like WebAssembly"),
        (vec!["x", "--from", archive], "it does not begin like WebAssembly"),
        (vec!["python3", "--from", archive], "this is not a file of componentize-py==0.25.1"),
        (vec!["x", "--from", file, "--sha256", &zeros], "is not what `--sha256` says"),
        (vec!["x", "--from", file, "--sha256", "12"], "64 hexadecimal digits"),
        (vec!["x", "--from", "nosuch.wasm"], "cannot read `nosuch.wasm`"),
        (vec!["X Y", "--from", file], "cannot be the name of a program"),
        (vec!["grep", "--from", file], "is a builtin of the shell"),
        (vec!["x"], "`x` is not a known program: python3"),
        (vec!["rg"], "`cargo xtask programs rg`"),
        (vec!["python3", "--from", file, "--version", "1.0.0"], "always 3.14.0"),
    ] {
        let ran = home.run(["programs", "add"].iter().chain(&arguments));
        assert!(ran.status != 0 && ran.stderr.contains(told), "{arguments:?}: {ran:?}");
    }
    assert!(!home.run(["programs", "ls"]).stdout.contains('@'), "nothing was added");
    let digest = digest_of(&program_file("wasm32-wasip1"));
    assert_eq!(add(&home, "prog", &["--sha256", &digest]).status, 0);
}

#[test]
fn program_is_fetched_from_an_address_if_its_digest_is_known() {
    let file = program_file("wasm32-wasip1");
    let (bytes, digest) = (fs::read(&file).expect("it is built"), digest_of(&file));
    let server = Server::start(move |_| ("200 OK", Vec::new(), bytes.clone()));
    let address = format!("http://127.0.0.1:{}/prog.wasm", server.port());
    let home = Home::new();
    let ran = home.run(["programs", "add", "prog", "--from", &address]);
    assert!(ran.status == 2 && ran.stderr.contains("`--sha256 HEX`"), "{ran:?}");
    let ran = home.run(["programs", "add", "prog", "--from", &address, "--sha256", &"1".repeat(64)]);
    assert!(ran.status == 1 && ran.stderr.contains("nothing of it was used"), "{ran:?}");
    let ran = home.run(["programs", "add", "prog", "--from", &address, "--sha256", &digest]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(out(&home.sh("prog args x", &["--allow", "prog/run"])), "[\"x\"]\n");
    let missing = Server::start(|_| ("404 Not Found", Vec::new(), Vec::new()));
    let address = format!("http://127.0.0.1:{}/prog.wasm", missing.port());
    let ran = home.run(["programs", "add", "other", "--from", &address, "--sha256", &digest]);
    assert!(ran.status == 1 && ran.stderr.contains("`--from FILE`"), "{ran:?}");
}

#[test]
fn package_that_was_written_is_added_on_another_machine() {
    let home = Home::new();
    let ran = add(&home, "prog", &["--output", "made"]);
    assert!(ran.status == 0 && ran.stdout.starts_with("wrote prog ("), "{ran:?}");
    assert!(!home.run(["programs", "ls"]).stdout.contains('@'), "nothing is published");
    let other = Home::new();
    let made = home.path().join("made");
    let made = made.to_str().expect("its path is text");
    let ran = other.run(["programs", "add", "nosuch", "--from", made]);
    assert!(ran.status == 2 && ran.stderr.contains("is the package `local:prog`"), "{ran:?}");
    let ran = other.run(["programs", "add", "prog", "--from", made]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(out(&other.sh("echo hi > f; prog cat f", &["--allow", "prog/run"])), "hi\n");
}

#[test]
fn python3_without_a_network_or_a_python_says_what_to_do() {
    let home = Home::new();
    let mut command = home.command(["programs", "add", "python3"]);
    let ran = Ran::of(&command.env("PATH", "/nonexistent").output().expect("the binary is built"));
    assert!(ran.status == 1 && ran.stderr.contains("Python 3.10 or newer makes it"), "{ran:?}");
    let offline = "echo 'ERROR: No matching distribution found for componentize-py' >&2; exit 1";
    let ran = Ran::of(&add_python3_by(&home, offline).output().expect("the binary is built"));
    for told in ["No matching distribution found", "`tollhouse programs add python3 --from FILE`"] {
        assert!(ran.status == 1 && ran.stderr.contains(told), "{told}: {ran:?}");
    }
    assert!(is_empty(home.path().join("tmp")), "what it worked in is gone");
    // It fetches something else than what is known.
    let wrong =
        "while [ $# -gt 1 ]; do [ \"$1\" = --dest ] && mkdir -p \"$2\" && echo wrong > \"$2/x.whl\"; shift; done";
    let ran = Ran::of(&add_python3_by(&home, wrong).output().expect("the binary is built"));
    assert!(ran.status == 1 && ran.stderr.contains("this is not a file of componentize-py"), "{ran:?}");
    assert!(!home.run(["programs", "ls"]).stdout.contains('@'), "nothing was added");
}

#[test]
fn interrupted_add_leaves_nothing_behind() {
    let home = Home::new();
    let mut command = add_python3_by(&home, "echo $$ > ../started; sleep 60");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary is built");
    let started = home.path().join("tmp/started");
    let begun = Instant::now();
    while !started.exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!(ran.status, 130, "{ran:?}");
    assert!(begun.elapsed() < Duration::from_secs(50), "what it ran was ended");
    fs::remove_file(started).expect("it started");
    assert!(is_empty(home.path().join("tmp")), "what it worked in is gone");
    assert!(!home.run(["programs", "ls"]).stdout.contains('@'), "nothing was added");
}

#[test]
fn missing_python3_is_answered_with_how_to_add_it() {
    let home = Home::new();
    let ran = home.sh("python3 -c 1", &[]);
    for told in ["command not found\nhint: ", "`tollhouse programs add python3`", "`--allow python3/run`"] {
        assert!(ran["stderr"].as_str().is_some_and(|stderr| stderr.contains(told)), "{told}: {ran}");
    }
    let ran = home.run(["run", "--allow", "python3/run", "-e", "1"]);
    assert!(ran.status == 2 && ran.stderr.contains("`tollhouse programs add python3` adds it"), "{ran:?}");
    // Of those that are compiled, `programs add` has none.
    let ran = home.run(["run", "--allow", "git/run", "-e", "1"]);
    assert!(ran.status == 2 && ran.stderr.contains("`cargo xtask programs git` makes and publishes it"), "{ran:?}");
}

#[test]
fn script_runs_by_the_program_that_its_first_line_names() {
    let home = home();
    let script =
        "printf '#!/usr/bin/env -S prog args\\necho wrong\\n' > s; chmod +x s; ./s a 'b c'; PATH=$PWD:$PATH; s d
        printf '#!/usr/bin/prog args\\n' > t; chmod +x t; ./t | prog upper";
    let ran = home.sh(script, &["--allow", "prog/run"]);
    assert_eq!(out(&ran), "[\"./s\", \"a\", \"b c\"]\n[\"/workspace/s\", \"d\"]\n[\"./T\"]\n", "{ran}");
    let script = "printf '#!/usr/bin/env python3\\necho wrong\\n' > s; chmod +x s; ./s; echo $?
        printf '#!/usr/bin/python3\\necho wrong\\n' > s; ./s; echo $?; printf '#!/bin/dash\\necho right\\n' > s; ./s";
    let ran = home.sh(script, &[]);
    assert_eq!(out(&ran), "127\n127\nright\n", "{ran}");
    for told in [
        "env: ‘python3’: No such file or directory\nhint: Python is",
        "./s: cannot execute: required file not found\nhint",
    ] {
        assert!(ran["stderr"].as_str().is_some_and(|stderr| stderr.contains(told)), "{told}: {ran}");
    }
}
