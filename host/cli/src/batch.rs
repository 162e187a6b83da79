//! `tollhouse batch`: many scripts, each in a sandbox of its own.
//!
//! Lines are read no faster than they are worked off: what is in memory is one line for each job that runs, and as
//! many that wait. The host is made once; a line shares nothing else with another.

mod job;
mod left;
mod running;

use std::io::{self, BufRead, IsTerminal as _, Read as _, Write};
use std::num::NonZeroUsize;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use tollhouse::error::Failure;
use tollhouse::session::{Host, RunOptions, RunResult, Status};

use self::job::Job;
use self::left::LeftFiles;
use self::running::Running;
use super::audit::AuditArgs;
use super::confine::ConfineArgs;
use super::opening::{OwnArgs, Prepared, SessionArgs, pair, warn_of_run};
use super::places::Places;
use super::run::Lang;
use super::signals::{self, CANCELLED};
use super::stdio::{Stdout, note_part};
use super::{CliError, Result, show, stdio};
use crate::Exit;

/// The longest line: a job's files are in it, in base64 perhaps. A longer one has a result that says so.
const LINE: u64 = 256 << 20;

/// Stack of a thread that runs scripts, in bytes: enough for wasm's frames, so that no step has to make a stack of its own.
const STACK: usize = 72 << 20;

/// How many scripts may run at the same time: each has a thread, and the engine has room for some hundreds of instances.
const MOST_JOBS: i64 = 256;

/// How often a terminal is told how far it is.
const PROGRESS: Duration = Duration::from_millis(100);

/// Run many scripts: JSON lines in, JSON lines out, a fresh sandbox for each
///
/// A line of standard input is a job, one JSON object: `{"id": …, "lang": "sh", "script": "…"}`, and where wanted
/// `"stdin"`, `"files": {"path": "text" or {"base64": "…"}}`, `"modes": {"path": "755"}` and `"env": {"NAME": "…"}`. Paths
/// are relative to /workspace, where the script starts. Each job has one line of output, the object of `run --json` with
/// the job's `id`, in the order in which they end; so has a line that is no valid job.
///
/// Exit status: 0 if every line has its result, whatever it says; 2 usage or policy error; 130 after SIGINT, SIGTERM or
/// SIGHUP, which cancel the jobs that run and leave out those that wait; 141 nobody reads the output.
#[derive(Args)]
#[command(after_help = "\
Examples:
  echo '{\"id\": 1, \"lang\": \"sh\", \"script\": \"echo hi | tr a-z A-Z\"}' | tollhouse batch
  tollhouse batch --jobs 8 --policy policy.toml --timeout 10s < jobs.jsonl > results.jsonl")]
pub(crate) struct Batch {
    /// How many scripts run at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_JOBS))]
    jobs: Option<u16>,
    /// The language of jobs that do not say [default: by the script's #! line, else js]
    #[arg(long, value_enum)]
    lang: Option<Lang>,
    /// Give the files of /workspace that each script leaves: `files`, `modes` (a directory ends with `/`) and `links`
    #[arg(long)]
    files: bool,
    /// A variable of every script's environment
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair)]
    environment: Vec<(String, String)>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    #[command(flatten)]
    audit: AuditArgs,
}

/// One line of standard input: its number, and its text if it is not too long.
struct Line {
    number: u64,
    text: Option<Vec<u8>>,
}

/// One line of output.
#[derive(Serialize)]
struct Answer {
    id: Value,
    #[serde(flatten)]
    result: RunResult,
    #[serde(flatten)]
    left: Option<LeftFiles>,
}

impl Batch {
    /// Runs what comes in.
    pub(crate) fn execute(mut self, places: &Places) -> Result {
        self.own.read_secrets()?;
        self.audit.read_key()?;
        self.confine.apply(|| self.session.touched(places, false, &self.audit).with_network())?;
        let prepared = self.session.prepare(places, &self.own, &self.audit)?;
        let host = places.host()?;
        // What is wrong with the policy or the tools is told once, not for each line.
        self.confine.isolate(&prepared.session(&host, prepared.files.clone())?)?;
        let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let jobs = self.jobs.map_or_else(cores, usize::from);
        let running = Arc::new(Running::default());
        let work = Work {
            host,
            prepared,
            batch: &self,
            results: Mutex::new(Results::new()),
            closed: AtomicBool::new(false),
            running: Arc::clone(&running),
        };
        signals::on_first(move || {
            running.stop();
            // The main thread may wait for a line for ever.
            process::exit(i32::from(CANCELLED));
        });
        let (lines, waiting) = mpsc::sync_channel(jobs);
        let waiting = Mutex::new(waiting);
        let read = thread::scope(|scope| {
            for _ in 0..jobs {
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || work.run(&waiting))?;
            }
            let mut input = io::stdin().lock();
            let mut number = 0;
            // Ends with the input, or when nobody takes the output.
            while !work.closed.load(Ordering::Relaxed) {
                let Some(text) = next_line(&mut input, &mut number).transpose() else { break };
                if lines.send(Line { number, text: text? }).is_err() {
                    break;
                }
            }
            drop(lines);
            Ok::<_, io::Error>(())
        });
        let results = work.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.finish();
        read.map_err(|error| CliError::because("cannot go through the jobs on standard input", &error))?;
        Ok(if work.running.is_stopped() { Exit::from(CANCELLED) } else { Exit::SUCCESS })
    }
}

/// The next line that is not blank, and its number; inside, none if it is too long.
fn next_line(input: &mut impl BufRead, number: &mut u64) -> io::Result<Option<Option<Vec<u8>>>> {
    loop {
        *number += 1;
        let mut line = Vec::new();
        input.by_ref().take(LINE + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.len() as u64 > LINE && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            return Ok(Some(None));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(Some(line)));
        }
    }
}

/// What the threads share.
struct Work<'a> {
    host: Host,
    prepared: Prepared,
    batch: &'a Batch,
    results: Mutex<Results>,
    /// Whether nobody takes results any more.
    closed: AtomicBool,
    running: Arc<Running>,
}

impl Work<'_> {
    /// Works off lines until there are no more.
    fn run(&self, lines: &Mutex<Receiver<Line>>) {
        loop {
            // The lock is held while waiting: whoever has it is the next to get a line.
            let line = lines.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(line) = line else { return };
            if self.closed.load(Ordering::Relaxed) {
                continue;
            }
            let Some(running) = self.running.begin() else { continue };
            let answer = self.answer(&line, &running);
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            if !results.write(&answer) {
                self.closed.store(true, Ordering::Relaxed);
            }
        }
    }

    fn answer(&self, line: &Line, running: &running::Job<'_>) -> Answer {
        let refused = |id: Value, failure: Failure| {
            let message = format!("line {}: {}", line.number, failure.message);
            Answer { id, result: RunResult::refused(Failure { message, ..failure }), left: None }
        };
        let Some(text) = &line.text else {
            let message = format!("longer than {LINE} bytes");
            return refused(Value::Null, Failure::limit(message, "mount large files with `--mount`"));
        };
        match Job::parse(text) {
            Err((id, failure)) => refused(id, failure),
            Ok(job) => match self.perform(&job, running) {
                Ok(result) => self.complete(job.id, result),
                Err(failure) => refused(job.id, failure),
            },
        }
    }

    /// Adds the files to a result, if they are asked for.
    fn complete(&self, id: Value, result: RunResult) -> Answer {
        if !self.batch.files {
            return Answer { id, result, left: None };
        }
        match LeftFiles::list(&result.files) {
            Ok(left) => Answer { id, result, left: Some(left) },
            Err(error) => {
                let failure = Failure::host(format!("cannot read the files that the script left: {}", error.code()));
                Answer { id, result: RunResult::refused(failure), left: None }
            }
        }
    }

    /// Runs one job to its end.
    fn perform(&self, job: &Job, running: &running::Job<'_>) -> std::result::Result<RunResult, Failure> {
        let files = job.place(self.prepared.files.clone(), &self.prepared.policy.limits)?;
        let host = |error: &dyn std::fmt::Display| Failure::host(error.to_string());
        let session = self.prepared.session(&self.host, Some(files)).map_err(|error| host(&error))?;
        let (language, script) = job.script(self.batch.lang, &self.batch.environment);
        let options = RunOptions { stdin: job.stdin(), ..RunOptions::default() };
        let run = session.start(language, script, options).map_err(|error| host(&error))?;
        running.runs(run.cancel_handle());
        let result = run.finish();
        warn_of_run(session.gate(), &result);
        Ok(result)
    }
}

/// Where results go, and how many there were.
struct Results {
    done: u64,
    failed: u64,
    /// When a terminal was last told; none if there is none.
    told: Option<Instant>,
}

impl Results {
    fn new() -> Self {
        Self { done: 0, failed: 0, told: io::stderr().is_terminal().then(Instant::now) }
    }

    /// Writes one. False if that cannot be done, now and for ever.
    fn write(&mut self, answer: &Answer) -> bool {
        // Standard output keeps its first error, for the exit status.
        show::json(answer);
        if Stdout.flush().is_err() || stdio::has_failed() {
            return false;
        }
        self.done += 1;
        self.failed += u64::from(answer.result.status != Status::Completed);
        if self.told.is_some_and(|told| told.elapsed() > PROGRESS) {
            self.told = Some(Instant::now());
            note_part(&format!("\r{}", self.summary()));
        }
        true
    }

    fn summary(&self) -> String {
        format!("{} done, {} not completed", self.done, self.failed)
    }

    fn finish(&self) {
        if self.told.is_some() {
            note_part(&format!("\r{}\n", self.summary()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::next_line;

    #[test]
    fn blank_lines_are_no_jobs() {
        let (mut input, mut number): (&[u8], _) = (b"\n  \r\n{}\n\n1", 0);
        assert_eq!(next_line(&mut input, &mut number).expect("it reads"), Some(Some(b"{}\n".to_vec())));
        assert_eq!(number, 3);
        assert_eq!(next_line(&mut input, &mut number).expect("it reads"), Some(Some(b"1".to_vec())));
        assert_eq!(number, 5);
        assert_eq!(next_line(&mut input, &mut number).expect("it reads"), None);
    }
}
