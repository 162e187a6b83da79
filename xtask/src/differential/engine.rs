//! Process that reads jobs and answers with results, one JSON line each: `tollhouse batch`, or the reference's worker.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::case::TestCase;

/// Running process, and the command that starts it again if it dies.
pub(crate) struct EngineProcess {
    start: Box<dyn Fn() -> Command + Send>,
    running: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
    /// Number of jobs after which the process is replaced.
    renew_after: usize,
    done: usize,
}

impl EngineProcess {
    /// Returns an engine whose process starts with its first job.
    pub(crate) fn new(renew_after: usize, start: impl Fn() -> Command + Send + 'static) -> Self {
        Self { start: Box::new(start), running: None, renew_after, done: 0 }
    }

    /// Runs cases and returns their results in the order of the cases.
    pub(crate) fn run(&mut self, cases: &[&TestCase]) -> Result<Vec<Value>> {
        let mut results = HashMap::new();
        let mut open: Vec<(String, String)> =
            cases.iter().enumerate().map(|(at, case)| (at.to_string(), line(at, case))).collect();
        while !open.is_empty() {
            let (before, fresh) = (results.len(), self.running.is_none());
            self.attempt(&open, &mut results)?;
            open.retain(|(id, _)| !results.contains_key(id));
            if fresh
                && results.len() == before
                && let Some((id, _)) = open.first()
            {
                // A new process died without a result, so its first job is the cause.
                results.insert(id.clone(), json!({"crashed": true}));
                open.remove(0);
            }
        }
        Ok((0..cases.len()).map(|at| results.remove(&at.to_string()).unwrap_or_default()).collect())
    }

    /// Sends jobs, and collects the answers until the process ends.
    fn attempt(&mut self, jobs: &[(String, String)], results: &mut HashMap<String, Value>) -> Result<()> {
        if self.done >= self.renew_after {
            self.stop();
        }
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.spawn()?,
        };
        self.done += jobs.len();
        let (_, input, output) = &mut running;
        let alive = std::thread::scope(|scope| {
            // The process may stop reading until its answers are read, so jobs are sent on a thread of their own.
            let sending = scope.spawn(move || {
                jobs.iter().try_for_each(|(_, job)| input.write_all(job.as_bytes())).and_then(|()| input.flush())
            });
            let mut missing = jobs.len();
            let mut answer = String::new();
            while missing > 0 {
                answer.clear();
                if output.read_line(&mut answer).context("cannot read results")? == 0 {
                    break;
                }
                let result: Value = serde_json::from_str(&answer).context("an engine wrote what is not JSON")?;
                results.insert(result["id"].as_str().unwrap_or_default().to_owned(), result);
                missing -= 1;
            }
            let sent = sending.join().is_ok_and(|sent| sent.is_ok());
            Ok::<_, anyhow::Error>(sent && missing == 0)
        })?;
        if alive {
            self.running = Some(running);
        } else {
            drop(running.1);
            running.0.kill().ok();
            running.0.wait().context("cannot wait for an engine")?;
        }
        Ok(())
    }

    fn spawn(&mut self) -> Result<(Child, ChildStdin, BufReader<ChildStdout>)> {
        self.done = 0;
        let mut command = (self.start)();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {command:?}"))?;
        let input = child.stdin.take().context("no pipe to an engine")?;
        let output = child.stdout.take().context("no pipe from an engine")?;
        Ok((child, input, BufReader::new(output)))
    }

    /// Kills the process if it runs.
    fn stop(&mut self) {
        if let Some((mut child, input, output)) = self.running.take() {
            drop((input, output));
            child.kill().ok();
            child.wait().ok();
        }
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns the job line of a case. Its id is the position of the case, so that equal cases stay apart.
fn line(at: usize, case: &TestCase) -> String {
    let mut job = case.job();
    job["id"] = at.to_string().into();
    format!("{job}\n")
}
