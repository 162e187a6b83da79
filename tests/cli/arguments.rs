//! Wrong input on the command line, and errors where JSON was asked for.

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran};

fn usage(ran: &Ran, said: &str) {
    assert_eq!(ran.status, 2, "{ran:?}");
    // Lines may be broken for the terminal's width.
    let text = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(said), "`{said}` is not in {text}");
}

#[test]
fn arguments_that_are_quoted_do_not_act_on_a_terminal() {
    let home = Home::new();
    let hostile = "\u{1b}[2J\nerror: all is well\u{202e}";
    for arguments in [
        vec![hostile],
        vec!["run", hostile, hostile],
        vec!["run", "--timeout", hostile],
        vec!["run", "--lang", hostile],
        vec!["batch", "--jobs", hostile],
        vec!["session", hostile],
    ] {
        let ran = home.run(arguments.clone());
        assert_eq!(ran.status, 2, "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.contains(['\u{1b}', '\u{202e}']), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.lines().any(|line| line.starts_with("error: all")), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("\\u{1b}[2J"), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn argument_of_a_script_without_its_separator_is_refused_with_a_tip() {
    let home = Home::new();
    home.file("a.js", "return process.argv[2]");
    usage(&home.run(["run", "a.js", "x"]), "an argument of the script comes after `--`: `-- x`");
    assert_eq!(home.run(["run", "a.js", "--", "x"]).stdout, "x\n");
}

#[test]
fn further_lines_of_a_failure_are_indented() {
    let home = Home::new();
    let ran = home.run(["run", "-e", "throw new Error('one\\nhint: two\\n\\nthree')"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let (quoted, told) = ran.stderr.split_once("^\n").expect("the line is quoted");
    assert!(quoted.starts_with("script:1\n    throw new Error("), "{ran:?}");
    assert!(told.starts_with("Error: one\n    hint: two\n"), "{ran:?}");
    assert!(told.lines().skip(1).all(|line| line.is_empty() || line.starts_with("    ")), "{ran:?}");
}

#[test]
fn json_is_asked_for_and_errors_are_json() {
    let home = Home::with_fixture();
    home.file("bad.toml", "[[grant]]\nmethods = 'probe/*'\n");
    home.file("nothing.toml", "[[grant]]\nmethod = 'nope/*'\n");
    let cases: [(&[&str], &str, &str); 5] = [
        (&["run", "--json", "--nope", "-e", "1"], "usage", "--nope"),
        (&["run", "--json", "missing.js"], "usage", "missing.js"),
        (&["run", "--json", "--policy", "bad.toml", "-e", "1"], "policy", "unknown key `methods`"),
        (&["run", "--json", "--policy", "nothing.toml", "-e", "1"], "policy", "covers nothing"),
        (&["tools", "--json", "--policy", "nothing.toml"], "policy", "covers nothing"),
    ];
    for (arguments, kind, message) in cases {
        let ran = home.run(arguments);
        assert_eq!(ran.status, 2, "{arguments:?}: {ran:?}");
        let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"));
        assert_eq!((&said["status"], &said["exit_code"]), (&json!("failed"), &json!(2)), "{arguments:?}");
        assert_eq!(said["error"]["kind"], kind, "{arguments:?}: {said}");
        assert!(said["error"]["message"].as_str().is_some_and(|text| text.contains(message)), "{said}");
        assert!(!ran.stderr.is_empty(), "a person reads it too");
    }
    // The object of a run has all its keys.
    let ran: Value = serde_json::from_str(&home.run(["run", "--json", "missing.js"]).stdout).expect("JSON");
    assert_eq!(ran["calls"], json!([]));
}

#[test]
fn exit_code_in_json_is_that_of_the_process() {
    let home = Home::with_fixture();
    let denied = ["run", "--json", "-e", "await probe.length({text: 'x'})"];
    let limited = ["run", "--json", "--limit", "output=1KiB", "-e", "for (;;) console.log('0123456789')"];
    let thrown = ["run", "--json", "-e", "throw new Error('x')"];
    let exits = ["run", "--json", "--lang", "sh", "-e", "exit 7"];
    // Found by the host, after the guest ended with 0.
    let unreadable = ["run", "--json", "-e", "return { ['👍 ok'.slice(1)]: 1 }"];
    for (arguments, status, word) in [
        (denied.as_slice(), 3, "denied"),
        (limited.as_slice(), 4, "limited"),
        (thrown.as_slice(), 1, "failed"),
        (exits.as_slice(), 7, "failed"),
        (unreadable.as_slice(), 1, "failed"),
    ] {
        let ran = home.run(arguments);
        let said: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!((ran.status, &said["exit_code"], &said["status"]), (status, &json!(status), &json!(word)));
    }
}

#[test]
fn size_without_unit_is_refused_where_it_is_small() {
    let home = Home::new();
    home.file("text.toml", "[limits]\nmemory = '256'\n");
    home.file("number.toml", "[limits]\nmemory = 256\n");
    for arguments in [
        &["run", "--memory", "256", "-e", "1"][..],
        &["run", "--limit", "files=12", "-e", "1"],
        &["run", "--policy", "text.toml", "-e", "1"],
        &["run", "--policy", "number.toml", "-e", "1"],
    ] {
        let ran = home.run(arguments);
        let given = if arguments.contains(&"files=12") { "12" } else { "256" };
        usage(&ran, &format!("`{given}` has no unit; try `{given}MiB`, or `{given}B` for {given} bytes"));
    }
    home.file("small.toml", "[limits]\nfiles = '900B'\noutput = 65536\n");
    let ran = home.run(["run", "--policy", "small.toml", "--session", "s", "-e", "return 1"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(home.run(["run", "--session", "s", "-e", "return 2"]).stdout, "2\n", "it is read back");
}

#[test]
fn mount_that_is_wrong_is_explained() {
    let home = Home::new();
    home.file("a", "x");
    let run = |mount: &str| home.run(["run", "-e", "1", "--mount", mount]);
    usage(&run("a"), "`--mount a`: there is no colon");
    usage(&run("a:/workspace/b:rw"), "`rw` is not a mode; the only mode is `ro`");
    usage(&run("a:b"), "`b` is not a path of the session: it must begin with `/`");
    usage(&run("a:b:rw"), "write HOST:GUEST or HOST:GUEST:ro");
    assert_eq!(run("a:/workspace/a:ro").status, 0);
}

#[test]
fn misspelt_keys_are_explained() {
    let home = Home::new();
    home.file("p.toml", "[[grant]]\nmethods = 'a/*'\n");
    usage(&home.run(["run", "--policy", "p.toml", "-e", "1"]), "did you mean `method`?");
    std::fs::create_dir(home.path().join("tool")).expect("it can be made");
    home.file("tool/tool.toml", "name = 'a:b'\nversion = '1.0.0'\n[limits]\nmemry = '1MiB'\n");
    usage(&home.run(["publish", "tool"]), "unknown key `memry` in `[limits]`; did you mean `memory`?");
}

#[test]
fn file_operand_dash_is_standard_input_or_output() {
    let home = Home::with_fixture();
    home.js("await fs.writeFile('out', 'bytes')", &["--session", "s"]);
    let ran = home.run(["session", "get", "s", "/workspace/out", "-"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "bytes"), "{ran:?}");
    assert!(!home.path().join("-").exists(), "no file of that name is made");
    usage(&home.run(["session", "get", "s", "/workspace", "-"]), "`/workspace` is a directory");
    let policy = home.file("p", "[[grant]]\nmethod = 'probe/**'\n");
    let mut command = home.command(["policy", "check", "--policy", "-"]);
    command.stdin(std::fs::File::open(policy).expect("it is there"));
    let ran = Ran::of(&command.output().expect("it runs"));
    assert!(ran.status == 0 && ran.stdout.contains("probe/length"), "{ran:?}");
}

#[test]
fn policy_to_check_is_an_operand_or_an_option() {
    let home = Home::with_fixture();
    home.file("p.toml", "[[grant]]\nmethod = 'probe/length'\n");
    let [operand, option] =
        [&["p.toml"][..], &["--policy", "p.toml"]].map(|policy| home.run([&["policy", "check"], policy].concat()));
    assert!(operand.status == 0 && operand.stdout.contains("probe/length"), "{operand:?}");
    assert_eq!(operand.stdout, option.stdout);
    usage(&home.run(["policy", "check", "p.toml", "--policy", "p.toml"]), "cannot be used with");
    usage(&home.run(["policy", "check", "missing.toml"]), "missing.toml");
}

#[test]
fn allow_that_the_policy_leaves_out_names_the_option() {
    let home = Home::with_fixture();
    home.file("p.toml", "[tools]\nother = 'test:probe'\n[[grant]]\nmethod = 'other/**'\n");
    let ran = home.run(["run", "-e", "1", "--policy", "p.toml", "--allow", "probe/*"]);
    usage(&ran, "`--allow probe/*`: `[tools]` of the policy `p.toml` does not mount `probe`");
}

#[test]
fn lock_of_one_policy_does_not_bind_another() {
    let home = Home::with_fixture();
    home.file("first.toml", "[tools]\none = 'test:probe'\n[[grant]]\nmethod = 'one/**'\n");
    home.file("second.toml", "[tools]\ntwo = 'test:probe'\n[[grant]]\nmethod = 'two/**'\n");
    let run = |policy: &str| home.run(["run", "--policy", policy, "-e", "return 1"]);
    assert_eq!(home.run(["lock", "--policy", "first.toml"]).status, 0);
    assert_eq!(run("second.toml").stdout, "1\n", "it is free");
    assert_eq!(home.run(["lock", "--policy", "second.toml"]).status, 0);
    assert!(home.path().join("second.tollhouse.lock").exists(), "the first lock stays");
    assert_eq!((run("first.toml").stdout, run("second.toml").stdout), ("1\n".into(), "1\n".into()));
    // Renamed, the policy is bound still: its lock does not stop to hold in silence.
    home.file("renamed.toml", "[tools]\nnew = 'test:probe'\n[[grant]]\nmethod = 'new/**'\n");
    std::fs::remove_file(home.path().join("first.toml")).expect("it is there");
    usage(&run("renamed.toml"), "tollhouse.lock");
}
