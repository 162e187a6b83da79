//! The shell against GNU bash: cases with the output that bash gave, through `tollhouse batch`.
//!
//! `tests/conformance/*.jsonl` holds the project's own cases, one for each thing that is mended. What is expected was
//! written by GNU bash 5.2 (`bash -c`) and jq, for what jq 1.6 does not have by jq 1.8's manual.

use std::collections::HashMap;

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
fn the_shell_does_as_bash_does() {
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
