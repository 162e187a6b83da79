//! What the operator of a session does with it: grants, files, a session made from another one, removal.

use std::process::{Child, Stdio};

use rexpect::session::spawn_command;
use serde_json::Value;
use tollhouse_tests::{Home, Ran};

const CALL: &str = "return await probe.length({text: 'four'})";

fn done(home: &Home, arguments: &[&str]) -> Ran {
    let ran = home.run(arguments);
    assert_eq!(ran.status, 0, "{arguments:?}: {ran:?}");
    ran
}

#[test]
fn grant_lets_later_runs_call_more_and_is_on_record() {
    let home = Home::with_fixture();
    done(&home, &["session", "new", "s"]);
    assert_eq!(home.js(CALL, &["--session", "s"])["status"], "denied");
    let granted = done(&home, &["session", "grant", "s", "--allow", "probe/length", "--json"]);
    let granted: Value = serde_json::from_str(&granted.stdout).expect("JSON");
    assert_eq!(granted["policy"]["grant"][0]["method"], "probe/length", "{granted}");
    assert_eq!(home.js(CALL, &["--session", "s"])["value"], 4);
    let log = done(&home, &["session", "log", "s"]).stdout;
    assert!(log.contains("granted `probe/length`"), "{log}");
    assert!(done(&home, &["session", "show", "s"]).stdout.contains("granted `probe/length`"));
    // Nothing else is granted.
    assert_eq!(home.js("await probe.text({count: 1})", &["--session", "s"])["status"], "denied");
    done(&home, &["store", "verify"]);
}

#[test]
fn grant_adds_tools_and_policies_and_refuses_what_makes_no_sense() {
    let home = Home::with_fixture();
    home.file("p.toml", "[tools]\nprobe = 'test:probe'\n[[grant]]\nname = 'own'\nmethod = 'probe/length'\ncalls = 1\n");
    done(&home, &["session", "new", "s", "--policy", "p.toml"]);
    home.file("more.toml", "[tools]\nsecond = 'test:probe'\n[[grant]]\nmethod = 'second/**'\ncalls = 2\n");
    done(&home, &["session", "grant", "s", "--policy", "more.toml"]);
    assert_eq!(home.js("return await second.length({text: 'ab'})", &["--session", "s"])["value"], 2);
    assert_eq!(home.js(CALL, &["--session", "s"])["value"], 4, "what it had it has");
    home.file("same.toml", "[[grant]]\nname = 'own'\nmethod = 'probe/text'\n");
    home.file("limits.toml", "[[grant]]\nmethod = 'probe/text'\n[limits]\nwall = '1s'\n");
    for (arguments, said) in [
        (&["session", "grant", "s"][..], "nothing to grant"),
        (&["session", "grant", "s", "--allow", "nope/*"], "covers nothing"),
        (&["session", "grant", "s", "--policy", "same.toml"], "already has a grant `own`"),
        (&["session", "grant", "s", "--policy", "limits.toml"], "`[limits]` cannot be added"),
        (&["session", "grant", "s", "--tool", "probe=test:probe"], "already mounted `probe`"),
        (&["session", "grant", "none", "--allow", "probe/*"], "no session `none`"),
    ] {
        let ran = home.run(arguments);
        assert!(ran.status != 0 && ran.stderr.contains(said), "{arguments:?}: {ran:?}");
    }
    assert_eq!(home.js("await probe.text({count: 1})", &["--session", "s"])["status"], "denied", "nothing was added");
}

#[test]
fn put_copies_directories_and_rolls_back() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("data/inner")).expect("it can be made");
    home.file("data/a", "one");
    home.file("data/inner/b", "two");
    done(&home, &["session", "new", "s"]);
    done(&home, &["session", "put", "s", "data", "/workspace/data"]);
    assert_eq!(done(&home, &["session", "cat", "s", "/workspace/data/inner/b"]).stdout, "two");
    done(&home, &["session", "put", "s", "data", "/workspace/fixed", "--read-only"]);
    let ran = home.sh("echo x > data/a; echo x > fixed/a; cat data/a fixed/a", &["--session", "s"]);
    assert_eq!(ran["stdout"], "x\none", "{ran}");
    assert_ne!(home.run(["session", "put", "s", "data", "/workspace/data"]).status, 0, "it is not empty");
    done(&home, &["session", "rollback", "s@1"]);
    assert_ne!(home.run(["session", "cat", "s", "/workspace/fixed/a"]).status, 0);
}

#[test]
fn new_session_begins_with_the_files_of_another_and_its_own_policy() {
    let home = Home::with_fixture();
    home.js("await fs.writeFile('kept', 'first')", &["--session", "first"]);
    home.js("await fs.writeFile('kept', 'second')", &["--session", "first"]);
    done(&home, &["session", "new", "next", "--from", "first@1", "--allow", "probe/**"]);
    assert_eq!(done(&home, &["session", "cat", "next", "/workspace/kept"]).stdout, "first");
    assert_eq!(home.js(CALL, &["--session", "next"])["value"], 4);
    assert_eq!(home.js(CALL, &["--session", "first"])["status"], "denied");
    // Nothing ties it to the other one.
    done(&home, &["session", "rm", "first"]);
    done(&home, &["session", "gc"]);
    assert_eq!(done(&home, &["session", "cat", "next", "/workspace/kept"]).stdout, "first");
    assert_ne!(home.run(["session", "new", "none", "--from", "first@1"]).status, 0);
}

/// Starts a run that lasts, and waits until it has begun.
fn lasting(home: &Home) -> Child {
    let mut command = home.command(["run", "--session", "s", "--lang", "sh", "-e", "echo begun; sleep 1000"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut first = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().expect("it is piped"), &mut first).expect("it begins");
    child
}

#[test]
fn running_session_is_removed_with_force_or_after_a_question() {
    let home = Home::new();
    let mut child = lasting(&home);
    let refused = home.run(["session", "rm", "s"]);
    assert!(refused.status == 1 && refused.stderr.contains("--force"), "{refused:?}");
    assert!(child.try_wait().expect("it can be asked").is_none(), "it goes on");
    // At a terminal.
    let asked = |answer: &str| {
        let mut command = home.command(["session", "rm", "s"]);
        command.stdin(Stdio::inherit());
        let mut terminal = spawn_command(command, Some(60_000)).expect("it starts");
        terminal.exp_string("[y/N]").expect("it asks");
        terminal.send_line(answer).expect("it reads");
        terminal.exp_eof().expect("it ends")
    };
    assert!(asked("n").contains("nothing was removed"));
    assert!(child.try_wait().expect("it can be asked").is_none(), "it goes on");
    asked("y");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let mut child = lasting(&home);
    done(&home, &["session", "rm", "s", "--force"]);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn misspelt_session_is_said_on_a_terminal() {
    let home = Home::new();
    done(&home, &["session", "new", "report-1"]);
    let typed = |name: &str| {
        let mut command = home.command(["run", "--session", name, "-e", "return 'ended'"]);
        command.stdin(Stdio::inherit());
        let mut terminal = spawn_command(command, Some(60_000)).expect("it starts");
        terminal.exp_eof().expect("it ends")
    };
    let said = typed("reprot-1");
    assert!(said.contains("Did you mean `report-1`?") && said.contains("ended"), "{said}");
    assert!(!typed("report-2").contains("Did you mean"), "numbered on purpose");
    let piped = home.run(["run", "--session", "reprt-1", "-e", "return 1"]);
    assert_eq!(piped.stderr, "", "no terminal");
}

#[test]
fn export_replaces_a_file_with_force_only() {
    let home = Home::new();
    done(&home, &["session", "new", "s"]);
    done(&home, &["session", "export", "s", "s.tlh"]);
    let again = home.run(["session", "export", "s", "s.tlh"]);
    assert!(
        again.status == 2 && again.stderr.contains("already exists") && again.stderr.contains("--force"),
        "{again:?}"
    );
    done(&home, &["session", "export", "s", "s.tlh", "--force"]);
    done(&home, &["session", "import", "s.tlh", "copy"]);
}
