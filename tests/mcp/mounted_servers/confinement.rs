//! What the program of a mounted server gets of this machine, and that it ends with the run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran};

use super::{ALLOWED, assert_gone, is_alive, js, pinned, policy};

#[test]
fn server_has_path_home_and_what_the_policy_says_of_the_environment() {
    let home = pinned("");
    home.file("policy.toml", policy("normal", "env = { MODE = \"quiet\", TOKEN = \"secret:TOKEN\" }"));
    let missing = home.run(["run", "-e", "1"].iter().chain(&ALLOWED));
    assert!(missing.status == 2 && missing.stderr.contains("needs the secret `TOKEN`"), "{missing:?}");
    let mut command = home.command(["run", "-e", "return await fix.environment({})", "--secret", "TOKEN=env:MY_TOKEN"]);
    command.args(ALLOWED).arg("--json");
    command
        .env("MY_TOKEN", "s3cr3t-of-the-test")
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/home/x")
        .env("OTHER", "no");
    let ran = Ran::of(&command.output().expect("it runs"));
    let ran: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let found = ran["value"].as_object().unwrap_or_else(|| panic!("{ran}"));
    // Python adds one of its own.
    let mut names: Vec<&str> = found.keys().map(String::as_str).filter(|name| *name != "LC_CTYPE").collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "MODE", "PATH", "TOKEN"], "{ran}");
    assert_eq!(found["TOKEN"], "{{secret:TOKEN}}", "it has the value, and scripts do not");
}

#[test]
fn server_and_all_that_it_started_end_with_the_run() {
    let home = pinned("");
    let ran = js(&home, "return await fix.start({})");
    assert_gone(&ran["value"]["pid"]);
    assert_gone(&ran["value"]["own"]);
    // The same if the process of the run is killed.
    let code = "console.log(JSON.stringify(await fix.start({}))); await new Promise(() => setTimeout(() => {}, 1e9))";
    let mut command = home.command(["run", "-e", code]);
    let mut child = command.args(ALLOWED).stdout(std::process::Stdio::piped()).spawn().expect("it runs");
    let mut line = String::new();
    let output = child.stdout.take().expect("it is piped");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).expect("it prints");
    let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
    assert!(is_alive(&told["pid"]) && is_alive(&told["own"]), "{told}");
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    assert_gone(&told["pid"]);
    assert_gone(&told["own"]);
}

/// Outside of its directories and ports, a server is told that it may not.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "takes a kernel with Landlock"]
fn server_under_landlock_reaches_only_files_ports_and_processes_that_the_policy_names() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let outside = tempfile::tempdir().expect("a directory");
    let (open, shut) = (outside.path().join("open"), outside.path().join("shut"));
    for directory in [&open, &shut] {
        std::fs::create_dir(directory).expect("a directory");
        std::fs::write(directory.join("secret"), "secret").expect("a file");
    }
    let socket = open.join("socket");
    let _unix = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let attempts = |home: &Home| {
        let code = format!(
            "const out = {{}}; const attempt = async (name, call) => {{ try {{ out[name] = await call }} catch (e) {{ out[name] = e.message }} }};
             await attempt('readOpen', fix.read({{path: {:?}}})); await attempt('readShut', fix.read({{path: {:?}}}));
             await attempt('writeOpen', fix.write({{path: {:?}}})); await attempt('writeShut', fix.write({{path: {:?}}}));
             await attempt('tcp', fix.connect({{path: '{port}'}})); await attempt('unix', fix.connect({{path: {:?}}}));
             await attempt('other', fix.read({{path: '/proc/1/environ'}}));
             await attempt('kill', fix.kill({{path: '{}'}})); return out",
            open.join("secret"), shut.join("secret"), open.join("new"), shut.join("new"), socket, std::process::id(),
        );
        let ran = js(home, &code);
        assert_eq!(ran["status"], "completed", "{ran}");
        ran["value"].clone()
    };
    let is_denied = |value: &Value| value.as_str().is_some_and(|told| told.contains("PermissionError"));
    let nothing = attempts(&pinned(""));
    for name in ["readOpen", "readShut", "writeOpen", "writeShut", "tcp", "unix", "other", "kill"] {
        assert!(is_denied(&nothing[name]), "{name}: {nothing}");
    }
    let some = attempts(&pinned(&format!("write = [{open:?}]\nports = [{port}]")));
    assert_eq!((&some["readOpen"], &some["writeOpen"]), (&json!("secret"), &json!("written")), "{some}");
    assert_eq!(some["tcp"], "connected", "{some}");
    for name in ["readShut", "writeShut", "unix", "other", "kill"] {
        assert!(is_denied(&some[name]), "{name}: {some}");
    }
    let elsewhere = pinned(&format!("ports = [{}]", port.checked_add(1).unwrap_or(1)));
    assert!(is_denied(&attempts(&elsewhere)["tcp"]));
    // Nor by what is no TCP for Landlock, or no call of `connect`.
    let reached = js(&elsewhere, &format!("return await fix.reach({{path: '{port}'}})"));
    let refused = json!({ "mptcp": "PermissionError", "sctp": "PermissionError", "fastOpen": "PermissionError" });
    assert_eq!(reached["value"], refused, "{reached}");
}

/// What is open already is held by no rule.
#[cfg(target_os = "linux")]
#[test]
fn server_inherits_no_descriptors() {
    let home = pinned("");
    let secret = home.file("secret", "secret");
    let mut command = Command::new("sh");
    command.args(["-c", "exec 5<>\"$1\" 9<\"$1\"; shift; exec \"$@\"", "sh"]).arg(&secret);
    let run = home.command(["run", "-e", "return await fix.descriptors({})", "--json"].iter().chain(&ALLOWED));
    command.arg(run.get_program()).args(run.get_args());
    run.get_envs().for_each(|(name, value)| match value {
        Some(value) => drop(command.env(name, value)),
        None => drop(command.env_remove(name)),
    });
    if let Some(directory) = run.get_current_dir() {
        command.current_dir(directory);
    }
    let ran = Ran::of(&command.output().expect("it runs"));
    let ran: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(ran["value"]["open"], json!([0, 1, 2]), "{ran}");
}

#[test]
fn server_that_reads_no_more_ends_with_the_run() {
    let home = pinned("timeout = '2s'");
    let code = "const {own} = await fix.deaf({}); let told;
        try { await fix.echo({text: 'x'.repeat(400000)}) } catch (error) { told = error.name }
        return {own, told}";
    let ran = js(&home, code);
    assert_eq!(ran["value"]["told"], "LimitError", "{ran}");
    assert_gone(&ran["value"]["own"]);
    // The same if the process of the run is killed meanwhile.
    let code = "console.log(JSON.stringify(await fix.deaf({}))); await fix.echo({text: 'x'.repeat(400000)})";
    let home = pinned("timeout = '100s'");
    let mut command = home.command(["run", "-e", code]);
    let mut child = command.args(ALLOWED).stdout(std::process::Stdio::piped()).spawn().expect("it runs");
    let mut line = String::new();
    let output = child.stdout.take().expect("it is piped");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).expect("it prints");
    let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
    thread::sleep(Duration::from_millis(500));
    assert!(is_alive(&told["own"]), "{told}");
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    assert_gone(&told["own"]);
}

/// A gigabyte goes past without being kept.
#[cfg(target_os = "linux")]
#[test]
fn gigabyte_of_a_server_takes_no_memory() {
    let home = pinned("");
    let code = "try { await fix.giga({}) } catch (error) { return error.name }";
    let mut command = home.command(["run", "--json", "-e", code]);
    let child = command.args(ALLOWED).stdout(std::process::Stdio::piped()).spawn().expect("it runs");
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let watched = thread::spawn(move || peak(&status));
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert!(ran.stdout.contains("LimitError"), "{ran:?}");
    let peak = watched.join().expect("it only reads");
    assert!(peak > 0 && peak < 600 << 10, "{peak} KiB");
}

/// Returns the most memory in KiB that a process was seen to have.
#[cfg(target_os = "linux")]
fn peak(status: &Path) -> u64 {
    let mut most = 0;
    while let Ok(text) = std::fs::read_to_string(status) {
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(kib) = line.and_then(|line| line.split_whitespace().next()?.parse().ok()) else { break };
        most = most.max(kib);
        thread::sleep(Duration::from_millis(5));
    }
    most
}
