//! Programs: components that are commands of the shell, with streams, files and an exit status; and one call of the gate.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tollhouse_tests::Home;

/// Policy of the tests, unless they give another.
const GRANTED: &str = "[[grant]]\nmethod = \"prog\"\n";

/// A home where the program is `prog`, with these lines of policy besides its files.
fn home_with(policy: &str) -> Home {
    let home = Home::new();
    home.publish_program("wasm32-wasip1");
    home.file(
        "policy.toml",
        format!("{policy}\n[tools]\nprog = \"test:prog\"\n[tool.prog]\nfiles = [\"/workspace\", \"/tmp\"]\n"),
    );
    home
}

fn sh_with(home: &Home, script: &str, more: &[&str]) -> Value {
    home.sh(script, &[&["--policy", "policy.toml"], more].concat())
}

fn sh(script: &str) -> Value {
    sh_with(&home_with(GRANTED), script, &[])
}

fn out(ran: &Value) -> &str {
    ran["stdout"].as_str().unwrap_or_default()
}

#[test]
fn program_published_is_a_shell_command() {
    let ran = sh("prog args 'a b' \"\" -n; printf 'one\\ntwo\\n' | prog upper | tail -1; prog both 2>/dev/null");
    assert_eq!(out(&ran), "[\"a b\", \"\", \"-n\"]\nTWO\nout\n", "{ran}");
    assert_eq!(ran["calls"].as_array().map(Vec::len), Some(3), "{ran}");
    assert_eq!(ran["calls"][0]["arguments"]["arguments"], serde_json::json!(["args", "a b", "", "-n"]), "{ran}");
    assert_eq!(ran["calls"][0]["arguments"]["directory"], "/workspace", "{ran}");
}

#[test]
fn program_exit_status_is_that_of_the_command() {
    let script = "for s in 0 1 3 137 255; do prog exit $s; echo $?; done; prog nonsense; echo $?; nosuch; echo $?";
    assert_eq!(out(&sh(script)), "0\n1\n3\n137\n255\n64\n127\n");
}

#[test]
fn program_for_wasi_0_2_runs_with_two_exit_statuses() {
    let home = home_with(GRANTED);
    home.publish_program("wasm32-wasip2");
    let ran = sh_with(&home, "mkdir sub; cd sub; echo hi > f; prog cat f ../sub/f; prog exit 3; echo $?", &[]);
    assert_eq!(out(&ran), "hi\nhi\n1\n", "{ran}");
}

#[test]
fn program_without_grant_is_denied() {
    let ran = sh_with(&home_with(""), "prog args; echo $?", &[]);
    assert_eq!(out(&ran), "126\n", "{ran}");
    let told = ran["stderr"].as_str().unwrap_or_default();
    assert!(told.contains("no grant allows `prog`"), "{ran}");
    assert_eq!(ran["calls"][0]["outcome"], "denied", "{ran}");
}

#[test]
fn arguments_are_judged_and_budgets_count() {
    let home = home_with(
        "[[grant]]\nmethod = \"prog\"\ncalls = 2\nwhere = [{ param = \"arguments/0\", in = [\"args\", \"upper\"] }]\n",
    );
    let ran = sh_with(&home, "prog args 1; prog exit 3; echo $?; echo x | prog upper; prog args 2; echo $?", &[]);
    assert_eq!(out(&ran), "[\"1\"]\n126\nX\n126\n", "{ran}");
    assert_eq!(ran["budgets"][0]["remaining"], 0, "{ran}");
    let outcomes: Vec<&str> =
        ran["calls"].as_array().expect("calls").iter().filter_map(|call| call["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["ok", "denied", "ok", "denied"]);
}

#[test]
fn policy_clause_on_program_input_is_refused() {
    let home = home_with("[[grant]]\nmethod = \"prog\"\nwhere = [{ param = \"stdin\", eq = \"x\" }]\n");
    let ran = home.run(["run", "--policy", "policy.toml", "--lang", "sh", "-e", "echo x | prog cat"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("`stdin`"), "{}", ran.stderr);
}

#[test]
fn pipelines_end_when_their_reader_does() {
    let begun = Instant::now();
    let ran = sh_with(&home_with(GRANTED), "yes | prog cat | head -1; prog yes | head -2; echo ${PIPESTATUS[0]}", &[]);
    assert_eq!(out(&ran), "y\ny\ny\n141\n", "{ran}");
    let ran = sh("prog yes | prog upper | prog cat | head -1; seq 3 | prog cat | prog count");
    assert_eq!(out(&ran), "Y\n6\n", "{ran}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn pipe_of_a_hundred_megabytes_takes_little_memory() {
    let ran = sh_with(&home_with(GRANTED), "prog zeros 100000000 | prog count", &["--memory", "64MiB"]);
    assert_eq!(out(&ran), "100000000\n", "{ran}");
}

#[test]
fn program_has_directory_environment_and_no_terminal() {
    let ran = sh("mkdir -p a/b; cd a/b; echo deep > f; echo up > ../f
        prog cat f; prog cat ./f; prog cat ../f; prog cat /workspace/a/b/f; prog ls .; prog ls ..
        prog cd /workspace/a f; prog write new text; cat new; prog cat /etc/passwd; echo $?
        export GIVEN=yes; HIDDEN=no; prog env GIVEN; prog env HIDDEN; ONCE=1 prog env ONCE; prog tty");
    let expected = "deep\ndeep\nup\ndeep\nf\nb f\nup\ntext1\nyes\n(unset)\n1\nfalse false\n";
    assert_eq!(out(&ran), expected, "{ran}");
}

#[test]
fn program_streams_are_redirected_separately() {
    let ran = sh("echo in > f; prog upper < f > out 2> err; cat out; prog both > out 2> err; cat out err
        x=$(prog both 2>/dev/null); echo \"[$x]\"; prog both 2>&1 | wc -l; prog cat <<< here; prog both");
    assert_eq!(out(&ran), "IN\nout\nerr\n[out]\n2\nhere\nout\n", "{ran}");
    assert_eq!(ran["stderr"], "err\n", "{ran}");
}

#[test]
fn loop_input_is_not_consumed_by_program_that_reads_nothing() {
    let ran = sh("seq 2 > f; while read -r n; do prog args $n; done < f
        seq 2 | while read -r n; do prog args $n; done; printf '1\\n2\\n' | while read -r n; do prog args $n; done");
    assert_eq!(out(&ran), "[\"1\"]\n[\"2\"]\n".repeat(3), "{ran}");
}

#[test]
fn programs_run_in_the_background() {
    let ran = sh("prog write a 1 & prog write b 2 & wait; cat a b; prog yes > /dev/null & kill %1; wait; echo over");
    assert_eq!(out(&ran), "12over\n", "{ran}");
}

#[test]
fn program_changes_are_visible_after_it_ends() {
    let ran =
        sh("prog write f one; cat f; prog cat f; prog write /tmp/g two; cat /tmp/g; prog write /etc/h x; echo $?");
    assert_eq!(out(&ran), "oneonetwo1\n", "{ran}");
}

/// A file that a program wrote is written, as on a system, whatever becomes of the program.
#[test]
fn program_stopped_leaves_the_files_it_wrote() {
    let ran = sh("timeout 0.5 prog write a stopped spin; echo $?; cat a; echo
        prog write b trapped trap 2>/dev/null; echo $?; cat b; echo
        prog write c killed sleep 100000 & while [ ! -e seen ]; do prog write seen 1; done; sleep 0.3; kill %1; wait; cat c; echo
        prog write d unread yes | head -1; cat d");
    assert_eq!(out(&ran), "124\nstopped\n134\ntrapped\nkilled\ny\nunread", "{ran}");
    let home = home_with(GRANTED);
    let ran = sh_with(&home, "prog write f 'in time' spin", &["--timeout", "1s", "--session", "s"]);
    assert_eq!(ran["status"], "limited", "{ran}");
    assert_eq!(out(&home.sh("cat f", &["--session", "s"])), "in time");
    let ran = home.js(
        "try { await prog({arguments: ['write', 'g', 'kept', 'trap'], directory: '/workspace'}) } catch { return fs.readFile('g', 'utf8') }",
        &["--policy", "policy.toml"],
    );
    assert_eq!(ran["value"], "kept", "{ran}");
}

/// Outside of a pipe too.
#[test]
fn program_output_is_visible_while_it_runs() {
    let home = home_with(GRANTED);
    for script in
        ["prog yes", "f() { prog yes; }; if true; then f; fi", "( { prog yes; } )", "for i in 1; do prog yes; done"]
    {
        let mut command = home.command(["run", "--policy", "policy.toml", "--lang", "sh", "-e", script]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary is built");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it writes");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert_eq!(line, "y\n", "{script}");
    }
    let ran = sh("echo a; prog args b; { echo c; prog args d; } | cat; x=$(prog args e); echo $x; prog both 2>&1
        { echo f; prog both; } > g 2>&1; cat g; exec 3>&1 > h; prog args i; exec >&3; cat h; prog args j && prog exit 3 || echo $?");
    let expected = "a\n[\"b\"]\nc\n[\"d\"]\n[\"e\"]\nout\nerr\nf\nout\nerr\n[\"i\"]\n[\"j\"]\n3\n";
    assert_eq!(out(&ran), expected, "{ran}");
}

#[test]
fn program_that_runs_out_of_time_is_stopped() {
    let ran = sh("timeout 0.3 prog spin; echo $?; timeout 0.3 prog cat; echo $?");
    // It waits for nothing: an empty input is at its end.
    assert_eq!(out(&ran), "124\n0\n", "{ran}");
    let begun = Instant::now();
    let ran = sh_with(&home_with(GRANTED), "prog spin & prog yes | prog count", &["--timeout", "1s"]);
    assert_eq!(ran["status"], "limited", "{ran}");
    assert!(begun.elapsed() < Duration::from_secs(30), "nothing runs on: {:?}", begun.elapsed());
}

#[test]
fn program_that_traps_is_a_failed_command() {
    let home = home_with(GRANTED);
    let ran = sh_with(
        &home,
        "prog write f before; prog eat 300000000; echo $?; prog trap; echo $?; prog panic; echo $?; cat f",
        &[],
    );
    assert_eq!(ran["status"], "completed", "{ran}");
    let lines: Vec<&str> = out(&ran).lines().collect();
    assert_eq!(lines[1..], ["134", "134", "before"], "{ran}");
    assert!(["134", "137"].contains(&lines[0]), "{ran}");
    let told = ran["stderr"].as_str().unwrap_or_default();
    assert!(told.contains("as asked") && told.contains("trapped"), "{told}");
}

#[test]
fn programs_running_at_once_are_limited() {
    let ran = sh("for i in $(seq 20); do prog sleep 3000 2> err$i & done; wait; cat err*; prog args");
    assert_eq!(out(&ran).matches("16 programs run already").count(), 4, "{ran}");
    assert!(out(&ran).ends_with("[]\n"), "there is room again: {ran}");
}

#[test]
fn javascript_calls_the_same_program() {
    let home = home_with(GRANTED);
    let js = |code: &str| home.js(code, &["--policy", "policy.toml"]);
    let ran = js("return await prog({arguments: ['upper'], stdin: 'abc\\n'})");
    assert_eq!(ran["value"], serde_json::json!({"exitCode": 0, "stdout": "ABC\n", "stderr": ""}), "{ran}");
    let ran = js("await fs.mkdir('/workspace/d'); await fs.writeFile('/workspace/d/f', 'x');
        const seen = await prog({arguments: ['cat', 'f'], directory: '/workspace/d'});
        const none = await prog({arguments: ['exit', '3']});
        await prog({arguments: ['write', 'g', 'left']});
        return [seen.stdout, none.exitCode, await fs.readFile('/workspace/g')]");
    assert_eq!(ran["value"], serde_json::json!(["x", 3, "left"]), "{ran}");
    let ran = js("await prog({arguments: ['trap']})");
    assert_eq!(ran["error"]["kind"], "tool", "{ran}");
    let ran = js("await prog({words: []})");
    assert_eq!(ran["error"]["kind"], "argument", "{ran}");
}

#[test]
fn program_output_is_limited() {
    let home = home_with(&format!("[limits]\nresult = \"1MiB\"\noutput = \"1MiB\"\n{GRANTED}"));
    let ran = home.js("await prog({arguments: ['zeros', '4000000']})", &["--policy", "policy.toml"]);
    assert_eq!(ran["error"]["kind"], "limit", "{ran}");
    let ran = sh_with(&home, "prog zeros 4000000", &[]);
    assert_eq!(ran["status"], "limited", "{ran}");
}

#[test]
fn program_without_own_input_reads_the_input_of_the_script() {
    let home = home_with(GRANTED);
    let script = home.file("script.sh", "prog args; prog upper; echo x | prog cat; prog count");
    home.file("input.txt", "one\ntwo\n");
    let script = script.to_str().expect("text");
    let mut command = home.command(["run", script, "--policy", "policy.toml"]);
    let input = std::fs::File::open(home.path().join("input.txt")).expect("it was written");
    let output = command.stdin(input).output().expect("the binary is built");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(told, "[]\nONE\nTWO\nx\n0\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn program_is_known_to_call_javascript_and_help() {
    let home = home_with(GRANTED);
    let ran = home.run(["call", "prog", r#"{"arguments": ["args", "x"]}"#, "--policy", "policy.toml"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains(r#"[\"x\"]"#), "{ran:?}");
    let types = home.run(["types", "--policy", "policy.toml"]).stdout;
    assert!(types.contains("declare function prog(args: {"), "{types}");
    let ran =
        sh_with(&home, "tool --list; tool --help prog; tool prog --arguments '[\"args\", \"y\"]' | jq -r .stdout", &[]);
    assert!(out(&ran).contains("--arguments") && out(&ran).contains("[\"y\"]"), "{ran}");
}

#[test]
fn module_that_is_no_program_is_not_published() {
    let home = Home::new();
    let module = wat::parse_str("(module (memory (export \"memory\") 1))").expect("a module");
    let path = home.file("library.wasm", module);
    let ran = home.run(["publish", path.to_str().expect("text"), "--name", "a:b", "--version", "1.0.0"]);
    assert_ne!(ran.status, 0);
    assert!(ran.stderr.contains("core WebAssembly module"), "{}", ran.stderr);
}
