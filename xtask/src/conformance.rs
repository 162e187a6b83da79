//! Scores the shell, and rival shells in the same run, on recorded cases: scripts with the results of GNU bash and jq.
//!
//! A case is a line of JSON: `{suite, name, script, files, modes, env, expected_stdout, expected_exit}`, or of jq's own
//! suite `{suite, name, program, input, outputs}`. A case passes if standard output and exit status are the same, and a
//! case of jq's suite if the values are equal.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::build::{self, Profile, binary};
use crate::rivals;
use crate::run::{command, root, run, say, target};

/// Number of passed cases, and of all cases, by suite.
type Score = BTreeMap<String, (u32, u32)>;

/// Prints a table with the scores of all cases below a directory, and those of the rivals if `rivals` is true.
pub(crate) fn conformance(directory: &Path, rivals: bool) -> Result<()> {
    build::all(Profile::Debug)?;
    let mut cases = Vec::new();
    read(directory, &mut cases)?;
    if cases.is_empty() {
        bail!("there are no cases (*.jsonl) in {}", directory.display());
    }
    let jobs: String = cases.iter().map(|case| format!("{}\n", job(case))).collect();
    let out = target().join("conformance");
    std::fs::create_dir_all(&out)?;
    std::fs::write(out.join("jobs.jsonl"), jobs)?;
    let mut table = vec![("tollhouse", score(&mut batch(), "tollhouse", &out, &cases)?)];
    if rivals {
        if let Some(bashkit) = rivals::bashkit() {
            table.push(("bashkit", score(&mut command(bashkit), "bashkit", &out, &cases)?));
        }
        if let Some(modules) = rivals::just_bash() {
            let mut node = command("node");
            node.arg(rivals::JUST_BASH_RUNNER).env("NODE_PATH", modules);
            table.push(("just-bash", score(&mut node, "just-bash", &out, &cases)?));
        }
    }
    print(&table);
    Ok(())
}

fn batch() -> std::process::Command {
    let mut batch = command(binary(Profile::Debug));
    batch.args(["batch", "--timeout", "20s"]);
    batch
}

/// Returns all cases below a directory.
fn read(directory: &Path, cases: &mut Vec<Value>) -> Result<()> {
    let entries = root().join(directory).read_dir().with_context(|| format!("cannot read {}", directory.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read(&path, cases)?;
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            for line in std::fs::read_to_string(&path)?.lines() {
                cases.push(serde_json::from_str(line).with_context(|| format!("{} is no case", path.display()))?);
            }
        }
    }
    Ok(())
}

fn id(case: &Value) -> String {
    format!("{}/{}", case["suite"].as_str().unwrap_or_default(), case["name"].as_str().unwrap_or_default())
}

fn job(case: &Value) -> Value {
    let mut job = json!({"id": id(case), "lang": "sh", "script": case["script"]});
    if let Some(program) = case.get("program") {
        job["script"] = "jq -c -f program.jq input.json".into();
        job["files"] = json!({"program.jq": program, "input.json": case["input"]});
    }
    for key in ["files", "modes", "env", "stdin"] {
        if let Some(value) = case.get(key).filter(|value| !value.is_null()) {
            job[key] = value.clone();
        }
    }
    job
}

/// Runs the cases with one shell, and counts those that passed.
fn score(runner: &mut std::process::Command, name: &str, out: &Path, cases: &[Value]) -> Result<Score> {
    say(&format!("{} cases with {name}", cases.len()));
    let results = out.join(format!("{name}.jsonl"));
    run(runner.stdin(File::open(out.join("jobs.jsonl"))?).stdout(File::create(&results)?))?;
    let mut got = HashMap::new();
    for line in std::fs::read_to_string(&results)?.lines() {
        let result: Value = serde_json::from_str(line)?;
        got.insert(result["id"].as_str().unwrap_or_default().to_owned(), result);
    }
    let mut score = Score::new();
    for case in cases {
        let (passed, all) = score.entry(case["suite"].as_str().unwrap_or_default().to_owned()).or_default();
        *passed += u32::from(got.get(&id(case)).is_some_and(|result| passes(case, result)));
        *all += 1;
    }
    Ok(score)
}

fn passes(case: &Value, result: &Value) -> bool {
    if let Some(outputs) = case["outputs"].as_array() {
        let values = |lines: Vec<&str>| lines.into_iter().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
        let expected = values(outputs.iter().filter_map(Value::as_str).collect());
        let given = values(result["stdout"].as_str().unwrap_or_default().lines().collect());
        return match (expected, given) {
            (Ok(expected), Ok(given)) => same(&expected.into(), &given.into()),
            _ => false,
        };
    }
    result["stdout"] == case["expected_stdout"] && result["exit_code"] == case["expected_exit"]
}

/// Returns true if two values are equal, where `1` and `1.0` count as equal.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// Prints a table in Markdown.
fn print(table: &[(&str, Score)]) {
    let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    println!("| suite | cases | {} |\n| --- |{}", names.join(" | "), " --- |".repeat(names.len() + 1));
    let suites = table.first().map(|(_, score)| score.keys()).into_iter().flatten();
    for suite in suites {
        let all = table[0].1[suite].1;
        println!("| {suite} | {all} | {} |", row(table, |score| score[suite].0, all));
    }
    let all = table[0].1.values().map(|(_, all)| all).sum();
    println!("| all | {all} | {} |", row(table, |score| score.values().map(|(passed, _)| passed).sum(), all));
}

fn row(table: &[(&str, Score)], passed: impl Fn(&Score) -> u32, all: u32) -> String {
    let share =
        |(_, score): &(&str, Score)| format!("{:.2} %", 100.0 * f64::from(passed(score)) / f64::from(all.max(1)));
    table.iter().map(share).collect::<Vec<_>>().join(" | ")
}
