//! `tollhouse batch`: many scripts, each in a sandbox of its own.
//!
//! Lines are read no faster than they are processed: memory holds one line for each running job, and as many that wait.
//! The host is created once; lines share nothing else with each other. With `--isolate process` they do not even share
//! that (`isolated`).

mod isolated;
mod job;
mod output_files;
mod running;

use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal as _, Read as _, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use tollhouse::code::processor_count;
use tollhouse::error::Failure;
use tollhouse::session::{Host, RunOptions, RunResult, Status};

use self::isolated::WorkerPool;
use self::job::BatchJob;
use self::output_files::OutputFiles;
use self::running::RunningJobs;
use super::audit::AuditArgs;
use super::confine::ConfineArgs;
use super::isolation::Isolation;
use super::locations::Locations;
use super::run::Lang;
use super::session_args::{OwnArgs, PreparedSession, SessionArgs, pair, warn_of_run};
use super::signals::{self, CANCELLED};
use super::stdio::{Stdout, note_part};
use super::{CliError, Result, precompile, show, stdio};
use crate::Exit;

/// Length of the longest line, in bytes: it may contain a job's files in base64. A longer line gets a result that
/// reports it.
const LINE: u64 = 256 << 20;

/// Stack of a thread that runs scripts, in bytes: enough for wasm's frames, so that no step has to allocate a stack of
/// its own.
const STACK: usize = 72 << 20;

/// Most scripts that may run at once: each has a thread, and the engine has room for some hundreds of instances.
const MOST_JOBS: i64 = 256;

/// Interval at which progress is shown on a terminal.
const PROGRESS: Duration = Duration::from_millis(100);

/// Run many scripts: JSON lines in, JSON lines out, a fresh sandbox for each
///
/// A line of standard input is a job, one JSON object: `{"id": …, "lang": "sh", "script": "…"}`, and optionally
/// `"stdin"`, `"files": {"path": "text" or {"base64": "…"}}`, `"modes": {"path": "755"}` and `"env": {"NAME": "…"}`.
/// Paths are relative to /workspace, where the script starts. Each job has one line of output, the object of `run
/// --json` with the job's `id`, in the order in which the jobs end; so has a line that is not a valid job.
///
/// Exit status: 0 if every line has its result, whatever its status; 2 usage or policy error; 130 after SIGINT, SIGTERM
/// or SIGHUP, which cancel the running jobs and leave out the waiting ones; 141 nobody reads the output.
#[derive(Args)]
#[command(after_help = "\
Examples:
  echo '{\"id\": 1, \"lang\": \"sh\", \"script\": \"echo hi | tr a-z A-Z\"}' | tollhouse batch
  tollhouse batch --jobs 8 --policy policy.toml --timeout 10s < jobs.jsonl > results.jsonl")]
pub(crate) struct BatchCommand {
    /// Number of scripts that run at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_JOBS))]
    jobs: Option<u16>,
    /// The language of jobs without `lang` [default: by the script's #! line, else js]
    #[arg(long, value_enum)]
    lang: Option<Lang>,
    /// Add the files that each script leaves in /workspace to its result: `files`, `modes` (a directory ends with `/`)
    /// and `links`
    #[arg(long)]
    files: bool,
    /// A variable of every script's environment
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair)]
    environment: Vec<(String, String)>,
    /// How jobs are isolated: a sandbox each in one process, or a process each, so that code that escapes the sandbox
    /// finds no other job (some milliseconds more per job; not possible with `--audit`)
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    isolate: Isolation,
    /// Run as the process of one job: the number of its line comes on standard input, then the line
    #[arg(long, hide = true)]
    worker: bool,
    /// Run as a process without a job, which compiles the code that those of jobs run
    #[arg(long, hide = true, requires = "worker")]
    prepare: bool,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    #[command(flatten)]
    audit: AuditArgs,
}

/// Line of standard input: its number, and its text if it is not too long.
struct JobLine {
    number: u64,
    text: Option<Vec<u8>>,
}

/// Output for one line.
enum JobReply {
    Ours(Box<JobAnswer>),
    /// Output line that a worker wrote.
    Worker {
        text: String,
        completed: bool,
    },
}

/// Line of output.
#[derive(Serialize)]
struct JobAnswer {
    id: Value,
    #[serde(flatten)]
    result: RunResult,
    #[serde(flatten)]
    left: Option<OutputFiles>,
}

impl BatchCommand {
    /// Runs the batch. `arguments` are the whole command line, with the program's name.
    pub(crate) fn execute(mut self, locations: &Locations, arguments: Vec<OsString>) -> Result {
        let running = Arc::new(RunningJobs::default());
        if self.isolate == Isolation::Process && !self.worker {
            if self.audit.files().0.is_some() {
                return Err(CliError::usage("`--audit` and `--isolate process`: processes cannot keep one log")
                    .hint("leave one of them out; the calls of a job are in its result"));
            }
            if let Some(stream) = self.session.stream(&self.own) {
                let what = format!(
                    "`{}` and `--isolate process`: each process would read it, and it can be read once",
                    stream.display()
                );
                return Err(CliError::usage(what).hint("name a file in its place"));
            }
            let mut workers = WorkerPool::new(locations, arguments);
            let checked = workers.check()?;
            if checked != Exit::SUCCESS {
                return Ok(checked);
            }
            return self.go_through(&running, &|line, job| workers.answer(line, job));
        }
        self.own.read_secrets()?;
        self.session.start_servers(locations, &self.own, self.confine)?;
        self.audit.read_key()?;
        self.confine.apply(|| {
            let touched = self.session.touched(locations, false, &self.audit).with_network();
            // Processes of jobs take compiled code from a process that has seen no job.
            if self.worker && !self.prepare { touched.reading_cache(locations) } else { touched }
        })?;
        if self.worker {
            // The reader's thread is confined too: before Linux 7.0, Landlock does not confine threads that run already.
            isolated::end_with_reader();
        }
        let prepared = self.session.prepare(locations, &self.own, &self.audit)?;
        let host = locations.host()?;
        // Problems of the policy or the tools are reported once, not for each line.
        let session = prepared.session(&host, prepared.files.clone())?;
        self.confine.isolate(&session)?;
        if self.prepare {
            precompile::prepare(&host, session.gate())?;
            println!("{}", u64::try_from(prepared.policy.limits.wall.as_millis()).unwrap_or(u64::MAX));
            return Ok(Exit::SUCCESS);
        }
        drop(session);
        let work = JobRunner { host, prepared, batch: &self };
        self.go_through(&running, &|line, job| JobReply::Ours(Box::new(work.answer(line, job))))
    }

    /// Reads the lines, processes them on as many threads as there are concurrent jobs, and writes the answers.
    fn go_through(
        &self,
        running: &Arc<RunningJobs>,
        answer: &(dyn Fn(&JobLine, &running::RunningJob<'_>) -> JobReply + Sync),
    ) -> Result {
        let jobs = if self.worker { 1 } else { self.jobs.map_or_else(processor_count, usize::from) };
        let stopped = Arc::clone(running);
        signals::on_first(move || {
            stopped.stop();
            let stopped = Arc::clone(&stopped);
            // The main thread may wait for a line for ever.
            thread::spawn(move || {
                stopped.wait();
                process::exit(i32::from(CANCELLED));
            });
        });
        let (lines, waiting) = mpsc::sync_channel(jobs);
        let (waiting, results, closed) = (Mutex::new(waiting), Mutex::new(ResultWriter::new()), AtomicBool::new(false));
        let round = LineProcessor { lines: &waiting, results: &results, closed: &closed, running, answer };
        let read = thread::scope(|scope| {
            for _ in 0..jobs {
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || round.run())?;
            }
            let mut input = io::stdin().lock();
            let mut number = if self.worker { isolated::number_before(&mut input)? } else { 0 };
            // Ends with the input, or when the output has no reader.
            while !closed.load(Ordering::Relaxed) {
                let Some(text) = next_line(&mut input, &mut number).transpose() else { break };
                if lines.send(JobLine { number, text: text? }).is_err() {
                    break;
                }
            }
            drop(lines);
            Ok::<_, io::Error>(())
        });
        results.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
        read.map_err(|error| CliError::because("cannot go through the jobs on standard input", &error))?;
        Ok(if running.is_stopped() { Exit::from(CANCELLED) } else { Exit::SUCCESS })
    }
}

/// Reads the next line that is not blank, with its number; the inner value is `None` if the line is too long.
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

/// State that the threads share.
struct LineProcessor<'a> {
    lines: &'a Mutex<Receiver<JobLine>>,
    results: &'a Mutex<ResultWriter>,
    /// True once nobody takes results any more.
    closed: &'a AtomicBool,
    running: &'a RunningJobs,
    answer: &'a (dyn Fn(&JobLine, &running::RunningJob<'_>) -> JobReply + Sync),
}

impl LineProcessor<'_> {
    /// Processes lines until there are no more.
    fn run(&self) {
        loop {
            // The lock is held while waiting: its holder is the next to get a line.
            let line = self.lines.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(line) = line else { return };
            if self.closed.load(Ordering::Relaxed) {
                continue;
            }
            let Some(running) = self.running.begin() else { continue };
            let reply = (self.answer)(&line, &running);
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            if !results.write(reply) {
                self.closed.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// Returns the answer for a line that cannot be run.
fn refused(line: &JobLine, id: Value, failure: Failure) -> JobAnswer {
    let message = format!("line {}: {}", line.number, failure.message);
    JobAnswer { id, result: RunResult::refused(Failure { message, ..failure }), left: None }
}

/// Returns the answer for a line that is too long.
fn too_long(line: &JobLine) -> JobAnswer {
    let message = format!("longer than {LINE} bytes");
    refused(line, Value::Null, Failure::limit(message, "mount large files with `--mount`"))
}

/// Runner of jobs in this process.
struct JobRunner<'a> {
    host: Host,
    prepared: PreparedSession,
    batch: &'a BatchCommand,
}

impl JobRunner<'_> {
    fn answer(&self, line: &JobLine, running: &running::RunningJob<'_>) -> JobAnswer {
        let Some(text) = &line.text else { return too_long(line) };
        match BatchJob::parse(text) {
            Err((id, failure)) => refused(line, id, failure),
            Ok(job) => match self.perform(&job, running) {
                Ok(result) => self.complete(job.id, result),
                Err(failure) => refused(line, job.id, failure),
            },
        }
    }

    /// Adds the files to a result, if they are requested.
    fn complete(&self, id: Value, result: RunResult) -> JobAnswer {
        if !self.batch.files {
            return JobAnswer { id, result, left: None };
        }
        match OutputFiles::list(&result.files) {
            Ok(left) => JobAnswer { id, result, left: Some(left) },
            Err(error) => {
                let failure = Failure::host(format!("cannot read the files that the script left: {}", error.code()));
                JobAnswer { id, result: RunResult::refused(failure), left: None }
            }
        }
    }

    /// Runs one job to its end.
    fn perform(&self, job: &BatchJob, running: &running::RunningJob<'_>) -> std::result::Result<RunResult, Failure> {
        let files = job.place(self.prepared.files.clone(), &self.prepared.policy.limits)?;
        let host = |error: &dyn std::fmt::Display| Failure::host(error.to_string());
        let session = self.prepared.session(&self.host, Some(files)).map_err(|error| host(&error))?;
        let (language, script) = job.script(self.batch.lang, &self.batch.environment);
        let options = RunOptions { stdin: job.stdin(), ..RunOptions::default() };
        let run = session.start(language, script, options).map_err(|error| host(&error))?;
        let handle = run.cancel_handle();
        running.cancelled_by(move || handle.cancel());
        let result = run.finish();
        if !self.batch.worker {
            warn_of_run(session.gate(), &result);
        }
        Ok(result)
    }
}

/// Writer of results, with their counts.
struct ResultWriter {
    done: u64,
    failed: u64,
    /// Time of the last progress message; `None` without a terminal.
    told: Option<Instant>,
}

impl ResultWriter {
    fn new() -> Self {
        Self { done: 0, failed: 0, told: io::stderr().is_terminal().then(Instant::now) }
    }

    /// Writes one result. Returns false once that is impossible.
    fn write(&mut self, reply: JobReply) -> bool {
        // Standard output keeps its first error, for the exit status.
        let completed = match reply {
            JobReply::Ours(answer) => {
                show::json(&answer);
                answer.result.status == Status::Completed
            }
            JobReply::Worker { text, completed } => {
                show::json_text(text);
                completed
            }
        };
        if Stdout.flush().is_err() || stdio::has_failed() {
            return false;
        }
        self.done += 1;
        self.failed += u64::from(!completed);
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
    fn batch_input_skips_blank_lines() {
        let (mut input, mut number): (&[u8], _) = (b"\n  \r\n{}\n\n1", 0);
        assert_eq!(next_line(&mut input, &mut number).expect("it reads"), Some(Some(b"{}\n".to_vec())));
        assert_eq!(number, 3);
        assert_eq!(next_line(&mut input, &mut number).expect("it reads"), Some(Some(b"1".to_vec())));
        assert_eq!(number, 5);
        assert_eq!(next_line(&mut input, &mut number).expect("it reads"), None);
    }
}
