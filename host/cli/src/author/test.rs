//! `tollhouse test`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tollhouse::capability::Limits;
use tollhouse::error::ErrorKind;
use tollhouse::session::Session;
use tollhouse::tool::Tool;
use tollhouse_registry::{Manifest, package_dir, package_manifest};

use super::super::confine::{ConfineArgs, Confinement};
use super::super::examples::{PackageTrial, scratch};
use super::super::locations::Locations;
use super::super::publish::package_error;
use super::super::show;
use super::watch::SourceTimes;
use super::{CtrlCHandler, Result, build, directory, sample_arguments};
use crate::Exit;

/// Time limit of a call without an example, which has the smallest possible arguments.
const PATIENCE: Duration = Duration::from_secs(10);

/// Test a tool: run the examples of its manifest, and call every other function, in the sandbox
///
/// Builds the package first, if it has changed. The component is published in a temporary registry; yours is not
/// changed. Each `[[example]]` of `tool.toml` must give its result. Each function without an example is called with the
/// smallest arguments of its types: it may return an error, but must not trap. There is no network, and there are no
/// secrets and no other tools.
///
/// Exit status 1 if something fails.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse test
  tollhouse test tools/prices --no-build --json")]
pub(crate) struct TestCommand {
    /// A package directory
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Test what was built last
    #[arg(long)]
    no_build: bool,
    #[command(flatten)]
    confine: ConfineArgs,
    /// Print one JSON object: name, version, passed, failed, skipped, tests: [{method, example, outcome, message, diff}]
    #[arg(long)]
    json: bool,
}

/// Result of one test call.
struct TestResult {
    /// Function, without an alias.
    method: String,
    /// Number of the example, counted from 1.
    example: Option<usize>,
    outcome: TestOutcome,
    message: String,
    diff: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TestOutcome {
    Passed,
    Failed,
    Skipped,
}

impl TestCommand {
    /// Runs the tests, and reports the results.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        let directory = directory(&self.path)?;
        let stop = CtrlCHandler::listen();
        if !self.no_build {
            build_if_due(locations, &directory, &stop)?;
        }
        let wall = || self.confine.seal(|| Confinement::of(locations, false).writing_in(scratch(locations).as_deref()));
        let passed = test(locations, &directory, self.json, &stop, &wall)?;
        Ok(if passed { Exit::SUCCESS } else { Exit::FAILURE })
    }
}

/// Builds the package, unless nothing has changed since the last build.
fn build_if_due(locations: &Locations, directory: &Path, stop: &Arc<CtrlCHandler>) -> Result<()> {
    let manifest = package_manifest(directory)
        .map_err(|error| package_error(&format!("cannot build `{}`", directory.display()), &error))?;
    if !SourceTimes::of(directory, &[]).are_older_than(&directory.join(manifest.built())) {
        build::build(locations, directory, false, stop, &|_| Ok(()))?;
    }
    Ok(())
}

/// Tests the last build, prints the results, and returns true if all passed. `wall` confines the process once the
/// package has been read, which may have run cargo.
fn test(
    locations: &Locations,
    directory: &Path,
    as_json: bool,
    stop: &Arc<CtrlCHandler>,
    wall: &dyn Fn() -> Result<()>,
) -> Result<bool> {
    let untested = |error| package_error(&format!("cannot test `{}`", directory.display()), &error);
    let manifest = package_manifest(directory).map_err(untested)?;
    let request = package_dir(directory).map_err(untested)?;
    stop.behind(wall)?;
    let trial = PackageTrial::new(locations, &request, &manifest, Some(stop.as_ref()))?;
    let mut tried = Vec::new();
    let mut with_example = BTreeSet::new();
    let session = trial.session(Limits { tool_wall: PATIENCE, ..Limits::default() })?;
    for (at, example) in manifest.examples.iter().enumerate() {
        let tool = session.gate().tools().find(&PackageTrial::method(&example.method));
        with_example.extend(tool.map(|tool| tool.method().to_owned()));
        let problem = trial.example(example)?.err();
        stop.check()?;
        let outcome = if problem.is_some() { TestOutcome::Failed } else { TestOutcome::Passed };
        let diff = problem.as_ref().and_then(|problem| problem.diff());
        let message = problem.map(|problem| problem.to_string()).unwrap_or_default();
        tried.push(TestResult { method: example.method.clone(), example: Some(at + 1), outcome, message, diff });
    }
    for tool in session.gate().tools().iter().filter(|tool| !with_example.contains(tool.method())) {
        tried.push(call(&trial, &session, tool));
        stop.check()?;
    }
    if as_json {
        print_json_report(&manifest, &tried)
    } else {
        print_report(&tried)
    }
    Ok(tried.iter().all(|tried| tried.outcome != TestOutcome::Failed))
}

/// Calls a function with its smallest arguments.
fn call(trial: &PackageTrial<'_>, session: &Session, tool: &Tool) -> TestResult {
    let method = tool.function().path.join("/");
    let of = |outcome, message| TestResult { method: method.clone(), example: None, outcome, message, diff: None };
    let arguments = match sample_arguments::arguments(tool.function()) {
        Ok(arguments) => arguments,
        Err(why) => return of(TestOutcome::Skipped, why),
    };
    match trial.call(session, tool.method(), &arguments) {
        Ok(returned) => of(TestOutcome::Passed, format!("{arguments} returns {}", returned.value)),
        // The function's own error, or a program's status.
        Err(failure) if failure.payload.is_some() || failure.kind == ErrorKind::Exit => {
            let error = failure.payload.map_or_else(|| json!(failure.message), |payload| payload.value);
            of(TestOutcome::Passed, format!("{arguments} fails with {error}"))
        }
        Err(failure) => of(TestOutcome::Failed, format!("{arguments}: {}", PackageTrial::told(&failure))),
    }
}

fn count(tried: &[TestResult], outcome: TestOutcome) -> usize {
    tried.iter().filter(|tried| tried.outcome == outcome).count()
}

fn print_report(tried: &[TestResult]) {
    let width = tried.iter().map(|tried| tried.method.len()).max().unwrap_or_default();
    for TestResult { method, example, outcome, message, diff } in tried {
        let word = match outcome {
            TestOutcome::Passed => "ok",
            TestOutcome::Failed => "FAIL",
            TestOutcome::Skipped => "skip",
        };
        let example = example.map_or_else(|| "called".to_owned(), |at| format!("example {at}"));
        let line = format!("{word:<4}  {method:<width$}  {example}  {}", excerpt(message));
        show::line(line.trim_end());
        for line in diff.iter().flat_map(|diff| diff.lines()) {
            show::line(format_args!("      {line}"));
        }
    }
    let [passed, failed, skipped] =
        [TestOutcome::Passed, TestOutcome::Failed, TestOutcome::Skipped].map(|outcome| count(tried, outcome));
    show::line(format_args!("{passed} passed, {failed} failed, {skipped} skipped"));
}

/// Returns a message on one line of limited width: a tool's result may be long.
fn excerpt(message: &str) -> String {
    const WIDTH: usize = 160;
    let line = message.replace('\n', " ");
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}

fn print_json_report(manifest: &Manifest, tried: &[TestResult]) {
    let tests = tried.iter().map(|tried| {
        let outcome = match tried.outcome {
            TestOutcome::Passed => "passed",
            TestOutcome::Failed => "failed",
            TestOutcome::Skipped => "skipped",
        };
        json!({
            "method": tried.method, "example": tried.example, "outcome": outcome, "message": tried.message,
            "diff": tried.diff,
        })
    });
    show::json(&json!({
        "name": manifest.name.to_string(), "version": manifest.version.to_string(),
        "passed": count(tried, TestOutcome::Passed), "failed": count(tried, TestOutcome::Failed),
        "skipped": count(tried, TestOutcome::Skipped), "tests": tests.collect::<Value>(),
    }));
}
