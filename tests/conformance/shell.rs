//! The shell against GNU bash: cases with the output that bash gave, through `tollhouse batch`.
//!
//! `tests/conformance/*.jsonl` holds the project's own cases, one for each thing that is mended. What is expected was
//! written by GNU bash 5.2 (`bash -c`) and jq, for what jq 1.6 does not have by jq 1.8's manual.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Map, Value};
use tollhouse_tests::{Home, root};

/// The job that a case is.
fn job(case: &Value) -> Value {
    let mut job = Map::new();
    job.insert("id".to_owned(), case["name"].clone());
    job.insert("lang".to_owned(), "sh".into());
    for key in ["script", "files", "modes", "env", "stdin"] {
        job.extend(case.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    Value::Object(job)
}

#[test]
fn shell_conformance_cases_match_bash() {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(root().join("tests/conformance")).expect("the cases are there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let text = std::fs::read_to_string(&path).expect("it is text");
            cases.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case is JSON")));
        }
    }
    assert!(cases.len() > 50, "the cases are there");
    let lines: String = cases.iter().map(|case| format!("{}\n", job(case))).collect();
    let results = Home::new().batch(&lines, &["--jobs", "2"]);
    let results: HashMap<&str, &Value> =
        results.iter().filter_map(|result| Some((result["id"].as_str()?, result))).collect();
    assert_eq!(results.len(), cases.len(), "names are unique");
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let result = results[case["name"].as_str().expect("a name")];
            let same = result["stdout"] == case["expected_stdout"] && result["exit_code"] == case["expected_exit"];
            (!same).then(|| {
                format!(
                    "{}\n  {}\n  expected {} {}\n  got      {} {} {}",
                    case["name"],
                    case["script"],
                    case["expected_exit"],
                    case["expected_stdout"],
                    result["exit_code"],
                    result["stdout"],
                    result["stderr"],
                )
            })
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// Runs a case by `tollhouse run`, with its input in a real pipe, and says how it differs from what bash gave.
fn difference_with_a_pipe(home: &Home, case: &Value) -> Option<String> {
    let text = |key: &str| case[key].as_str().unwrap_or_default();
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let file = |(name, content): (&String, &Value)| {
        format!("printf %s {} > {}\n", quoted(content.as_str().unwrap_or_default()), quoted(name))
    };
    let files: String = case["files"].as_object().into_iter().flatten().map(file).collect();
    let mut command = home.command(["run", "--lang", "sh", "-e", &format!("{files}{}", text("script"))]);
    for (name, value) in case["env"].as_object().into_iter().flatten() {
        command.arg("--env").arg(format!("{name}={}", value.as_str().unwrap_or_default()));
    }
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("it has a pipe");
    // A script that does not read its input closes the pipe.
    input.write_all(text("stdin").as_bytes()).ok();
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let (stdout, status) = (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code());
    let same = stdout == text("expected_stdout") && status.map(i64::from) == case["expected_exit"].as_i64();
    let stderr = String::from_utf8_lossy(&output.stderr);
    (!same).then(|| {
        format!(
            "{}\n  {}\n  expected {} {:?}\n  got      {status:?} {stdout:?} {stderr}",
            text("name"),
            text("script"),
            case["expected_exit"],
            text("expected_stdout"),
        )
    })
}

#[test]
fn filter_scripts_with_a_real_pipe_give_what_bash_gives() {
    let text = std::fs::read_to_string(root().join("tests/conformance/filters.jsonl")).expect("the cases are there");
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a case is JSON")).collect();
    assert!(cases.len() > 150, "the cases are there");
    let home = Home::new();
    let failures: Vec<String> = cases.iter().filter_map(|case| difference_with_a_pipe(&home, case)).collect();
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
