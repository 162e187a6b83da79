//! `tollhouse run`: values, output, exit status, the JSON object.

use serde_json::json;
use tollhouse_tests::Home;

#[test]
fn run_prints_the_returned_value() {
    let home = Home::new();
    let ran = home.js("return 1+1", &[]);
    assert_eq!(ran["value"], 2);
    assert_eq!(ran["status"], "completed");
    assert_eq!(ran["exit_code"], 0);
    assert_eq!(ran["error"], json!(null));
    assert_eq!(home.run(["run", "-e", "return 'raw'"]).stdout, "raw\n");
    assert_eq!(home.run(["run", "-e", "return {a: [1]}"]).stdout, "{\n  \"a\": [\n    1\n  ]\n}\n");
    assert_eq!(home.run(["run", "-e", "console.log('only this')"]).stdout, "only this\n");
}

#[test]
fn run_json_has_exactly_the_keys_of_the_contract() {
    let ran = Home::new().js("console.log('out'); console.error('err'); return null", &[]);
    let keys: Vec<&str> = ran.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "status",
            "value",
            "stdout",
            "stderr",
            "exit_code",
            "error",
            "calls",
            "usage",
            "budgets",
            "session",
            "run",
            "snapshot"
        ]
    );
    let usage: Vec<&str> = ran["usage"].as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(usage, ["fuel", "wall_micros", "memory_bytes", "output_bytes", "file_bytes"]);
    assert_eq!((&ran["stdout"], &ran["stderr"]), (&json!("out\n"), &json!("err\n")));
    assert_eq!(ran["usage"]["output_bytes"], 8);
}

#[test]
fn run_with_check_reports_problems_without_running() {
    let home = Home::with_tools(&["stats"]);
    let check = |code: &str, lang: &str, more: &[&str]| {
        let options: Vec<&str> = ["run", "--check", "-e", code, "--lang", lang].iter().chain(more).copied().collect();
        home.run(options)
    };
    let right = check("console.log((await stats.describe({values: [1]})).mean)", "js", &["--allow", "stats/*"]);
    assert_eq!((right.status, right.stdout.as_str(), right.stderr.as_str()), (0, "", ""));
    for (code, lang, told) in [
        ("await stats.describe({values: [1]})", "js", "CapabilityError: no grant allows `stats/describe`"),
        ("await stats.describ({})", "js", "hint: did you mean `stats.describe`?"),
        ("await stats.describe({value: [1]})", "js", "hint: did you mean `values`?"),
        (
            "await stats.describe([1, 2])",
            "js",
            "`stats.describe` takes one object, such as stats.describe({values: …}); got an array",
        ),
        ("await stats.describe({values: [1]}, 2, 3)", "ts", "got 3 arguments"),
        ("let a = ;", "ts", "SyntaxError"),
        ("echo a\nfi", "sh", "syntax error"),
        ("stats describ | cat", "sh", "there is no tool `stats describ`"),
        ("stats describe --vals 1", "sh", "`stats describe`: unknown flag `--vals`"),
        ("stats describe --values one", "sh", "`stats describe`: `--values[0]`: expected f64"),
    ] {
        let allowed = if told.contains("no grant") { &[][..] } else { &["--allow", "stats/*"] };
        let wrong = check(code, lang, allowed);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (1, ""), "{code}: {}", wrong.stderr);
        assert!(wrong.stderr.contains(told), "{code}: {}", wrong.stderr);
    }
    let json = check("\nstats.describ()", "js", &["--json"]);
    let told: serde_json::Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert_eq!(told["problems"][0]["location"]["line"], 2);
    assert_eq!(told["problems"][0]["kind"], "argument");
}

#[test]
fn shell_script_runs_with_its_exit_status() {
    let home = Home::new();
    let ran = home.sh("for f in 1 2 3; do echo $((f * f)); done | paste -sd+ | bc; exit 3", &[]);
    assert_eq!(ran["stdout"], "14\n");
    assert_eq!(ran["exit_code"], 3);
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&json!("failed"), &json!("exit")));
    assert_eq!(home.run(["run", "--lang", "sh", "-e", "exit 7"]).status, 7);
}

#[test]
fn run_without_lang_detects_the_language() {
    let home = Home::new();
    home.file("a.sh", "echo shell $1");
    home.file("b", "#!/usr/bin/env bash\necho shebang");
    home.file("c.js", "return 'js ' + args[0]");
    assert_eq!(home.run(["run", "a.sh", "--", "one"]).stdout, "shell one\n");
    assert_eq!(home.run(["run", "b"]).stdout, "shebang\n");
    assert_eq!(home.run(["run", "c.js", "--", "two"]).stdout, "js two\n");
}

#[test]
fn standard_input_is_read_when_asked_for() {
    use std::io::Write as _;
    use std::process::Stdio;
    let home = Home::new();
    let mut child = home
        .command(["run", "-e", "return (await stdin.text()).toUpperCase()"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("piped").write_all(b"from a pipe").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "FROM A PIPE\n");

    // A pipe that stays open for ever does not hold up a script that never looks.
    let child = home
        .command(["run", "-e", "return 1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    assert_eq!(child.wait_with_output().expect("it ends").stdout, b"1\n");
}

#[test]
fn run_reads_its_script_from_standard_input() {
    use std::io::Write as _;
    use std::process::Stdio;
    let home = Home::new();
    let mut child = home
        .command(["run", "-", "--lang", "sh"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("piped").write_all(b"echo piped").expect("it reads");
    assert_eq!(child.wait_with_output().expect("it ends").stdout, b"piped\n");
}

#[test]
fn timer_waits_for_its_delay() {
    let ran =
        Home::new().js("const t = Date.now(); await new Promise(r => setTimeout(r, 120)); return Date.now() - t", &[]);
    assert!(ran["value"].as_u64().is_some_and(|waited| waited >= 119), "{ran}");
}

#[test]
fn runs_go_on_beside_one_another() {
    let home = Home::with_tools(&["stats"]);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let home = &home;
            scope.spawn(move || {
                let code = format!("return (await stats.describe({{values: [{number}]}})).mean");
                assert_eq!(home.js(&code, &["--allow", "stats/*"])["value"], json!(number));
            });
        }
    });
}
