//! `--isolate process`: each job in a process of its own.
//!
//! This process reads lines and writes results, of which it only looks at `id` and `status`. It runs no code, and is
//! not confined, since it starts processes. A worker is another process of this program, with the same options and
//! `--worker`: it prepares host and policy, confines itself, reads the number of a line and the line, writes the
//! result, and ends. The next worker is started while a job runs, so that its line need not wait for it.
//!
//! **Invariant:** nothing that a worker of a job writes is run by another process. So a worker only reads the cache of
//! compiled code, which a worker without a job has filled (`--prepare`).

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::num::ParseIntError;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::Value;
use tollhouse::error::Failure;

use super::job::id_of;
use super::{JobLine, JobReply, LINE, refused, running, too_long};
use crate::locations::Locations;
use crate::{CliError, Exit, Program, Result};

/// Length of the longest result that is accepted from a worker, in bytes: the files that a job may leave, in base64,
/// and the rest of a result.
const RESULT: u64 = 2 * LINE;

/// Time that a worker may take beyond the wall time of its job: to prepare the host, and to write the result.
const PREPARATION: Duration = Duration::from_secs(60);

/// Longest wall time of a job that is waited for: clocks cannot represent any time that a policy can.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Time that a worker may take from the end of its output to its exit, and the interval at which its exit is checked.
const LAST_STEPS: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_micros(200);

/// Starter of workers, which keeps one that waits for a line.
pub(super) struct WorkerPool {
    program: Program,
    arguments: Vec<OsString>,
    /// Time after which a worker that has its line is killed. It keeps the job's own limit unless it is broken.
    time: Duration,
    waiting: Mutex<Vec<JobWorker>>,
}

/// Process for one job.
struct JobWorker {
    /// `None` once it has ended: its number may belong to another process then.
    child: Arc<Mutex<Option<Child>>>,
    input: ChildStdin,
    output: ChildStdout,
}

/// Fields that are read of a result.
#[derive(Deserialize)]
struct JobHeader {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    status: Value,
}

impl WorkerPool {
    pub(super) fn new(locations: &Locations, arguments: Vec<OsString>) -> Self {
        Self { program: locations.program.clone(), arguments, time: PREPARATION, waiting: Mutex::default() }
    }

    /// Runs a first worker that reports problems with the options, the policy or the tools, once and not for each line,
    /// and compiles the code that the others run, which cannot write the cache. It reports the limit `wall` of a job.
    /// Returns its exit status.
    pub(super) fn check(&mut self) -> Result {
        let mut command = self.command();
        command.arg("--prepare").stdin(Stdio::null()).stderr(Stdio::inherit());
        let ended = command
            .output()
            .map_err(|error| CliError::because("cannot start another process of this program", &error))?;
        let status = Exit::from(ended.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
        if status == Exit::SUCCESS {
            let wall = String::from_utf8_lossy(&ended.stdout).trim_end().parse().map_err(|error: ParseIntError| {
                CliError::because("the first process of the batch did not report its limit `wall`", &error)
            })?;
            self.time = PREPARATION + Duration::from_millis(wall).min(LONGEST);
        }
        Ok(status)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program.executable);
        command.args(&self.program.before).args(self.arguments.iter().skip(1)).arg("--worker");
        command
    }

    /// Runs a line in a process of its own.
    pub(super) fn answer(&self, line: &JobLine, running: &running::RunningJob<'_>) -> JobReply {
        let Some(text) = &line.text else { return JobReply::Ours(Box::new(too_long(line))) };
        // The worker finds the same id.
        let id = id_of(text);
        match self.run(line.number, text, running) {
            Ok(WorkerOutput { text, head }) if head.id == id => {
                JobReply::Worker { text, completed: head.status == "completed" }
            }
            Ok(_) => {
                let failure = Failure::host("the process of the job returned the result of another job");
                JobReply::Ours(Box::new(refused(line, id, failure)))
            }
            Err(failure) => JobReply::Ours(Box::new(refused(line, id, failure))),
        }
    }

    fn run(
        &self,
        number: u64,
        line: &[u8],
        running: &running::RunningJob<'_>,
    ) -> std::result::Result<WorkerOutput, Failure> {
        let cannot = |error: io::Error| Failure::host(format!("cannot start a process for the job: {error}"));
        let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = waiting().pop();
        let worker = kept.map_or_else(|| self.start(), Ok).map_err(cannot)?;
        // If this worker cannot be started, the line that needs it reports the error.
        if let Ok(next) = self.start() {
            waiting().push(next);
        }
        let child = Arc::clone(&worker.child);
        running.cancelled_by(move || terminate(&child));
        worker.run(number, line, self.time)
    }

    fn start(&self) -> io::Result<JobWorker> {
        let mut child = self.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no streams"));
        };
        Ok(JobWorker { child: Arc::new(Mutex::new(Some(child))), input, output })
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        // A worker without a line ends.
        let waiting = std::mem::take(self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner));
        for JobWorker { child, input, output } in waiting {
            drop((input, output));
            if let Some(mut child) = child.lock().unwrap_or_else(PoisonError::into_inner).take() {
                let _ = child.wait();
            }
        }
    }
}

/// Result as a worker wrote it.
struct WorkerOutput {
    text: String,
    head: JobHeader,
}

impl JobWorker {
    fn run(mut self, number: u64, line: &[u8], time: Duration) -> std::result::Result<WorkerOutput, Failure> {
        let deadline = Instant::now() + time;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        // A worker that has ended does not read; its status tells more than this error.
        let _ = writeln!(self.input, "{number}")
            .and_then(|()| self.input.write_all(line))
            .and_then(|()| self.input.write_all(b"\n"));
        drop(self.input);
        let mut bytes = Vec::new();
        let read = read_before(deadline, self.output, &mut bytes);
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        let late = matches!(&read, Err(error) if error.kind() == io::ErrorKind::TimedOut);
        let time_left = if late { Duration::ZERO } else { LAST_STEPS };
        let status =
            child.map_or_else(|| Err(io::Error::other("it is gone")), |child| end(child, bytes.len(), time_left));
        if late {
            return Err(Failure::host("the process of the job went on beyond its limit `wall`, and was killed"));
        }
        let cannot = |error: io::Error| Failure::host(format!("cannot read from the process of the job: {error}"));
        let (status, _) = (status.map_err(cannot)?, read.map_err(cannot)?);
        let text = String::from_utf8(bytes).ok().and_then(|text| Some(text.strip_suffix('\n')?.to_owned()));
        let head = text.as_ref().filter(|text| is_one_line(text)).and_then(|text| serde_json::from_str(text).ok());
        match (text, head) {
            (Some(text), Some(head)) => Ok(WorkerOutput { text, head }),
            _ => Err(Failure::host(format!("the process of the job returned no result: {status}"))),
        }
    }
}

/// Returns true if every reader takes a text for one line: JSON allows a carriage return between its values, and a
/// reader that takes one for the end of a line would find another result behind it.
fn is_one_line(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ')
}

/// Reads the output of a worker, up to the length of the longest result.
///
/// # Errors
///
/// [`io::ErrorKind::TimedOut`], if the output was not closed before the deadline.
fn read_before(deadline: Instant, mut output: ChildStdout, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut piece = vec![0; 64 << 10];
    while (bytes.len() as u64) < RESULT {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Err(Errno::INTR) => continue,
            ready => ready?,
        };
        match output.read(&mut piece)? {
            0 => break,
            length => bytes.extend_from_slice(&piece[..length]),
        }
    }
    Ok(())
}

/// Waits until a worker has ended that has closed its output after `length` bytes; a worker that continues to write, or
/// does not end within the time, is killed.
fn end(mut child: Child, length: usize, time: Duration) -> io::Result<ExitStatus> {
    let until = Instant::now() + time;
    while (length as u64) < RESULT && Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(PAUSE);
    }
    child.kill()?;
    child.wait()
}

/// Asks a worker to cancel its job and write the result.
fn terminate(child: &Mutex<Option<Child>>) {
    if let Some(child) = &*child.lock().unwrap_or_else(PoisonError::into_inner) {
        // The worker may have ended; it remains until it is waited for.
        let _ = kill_process(Pid::from_child(child), Signal::TERM);
    }
}

/// Ends a worker as soon as its output has no reader: when the process that started it has died, for whatever reason.
///
/// The signal that Linux sends for a parent's death comes at the end of the parent's *thread*, which a worker outlives.
pub(super) fn end_with_reader() {
    std::thread::spawn(|| {
        let output = io::stdout();
        let mut watched = [PollFd::new(&output, PollFlags::empty())];
        // It returns when the pipe has no reader, or never: the output may not be a pipe.
        while poll(&mut watched, None) == Err(Errno::INTR) {}
        if watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
            std::process::exit(1);
        }
    });
}

/// Reads, in a worker, the number before the line, and returns that of the previous line. Without a number there is no
/// line.
pub(super) fn number_before(input: &mut impl BufRead) -> io::Result<u64> {
    let mut number = String::new();
    input.take(32).read_line(&mut number)?;
    Ok(number.trim_end().parse::<u64>().unwrap_or(1).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Result of a worker that runs a shell script.
    fn heard(script: &str) -> std::result::Result<String, String> {
        heard_within(Duration::from_secs(600), script)
    }

    fn heard_within(time: Duration, script: &str) -> std::result::Result<String, String> {
        let mut command = Command::new("/bin/sh");
        let child = command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("there is a shell");
        let (input, output) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
        let worker = JobWorker { child: Arc::new(Mutex::new(Some(child))), input, output };
        worker.run(1, b"{}", time).map(|ran| ran.text).map_err(|failure| failure.message)
    }

    #[test]
    fn worker_is_heard_that_writes_one_line() {
        assert_eq!(heard("echo '{\"id\":1}'").as_deref(), Ok("{\"id\":1}"));
        assert_eq!(heard("printf '{\"id\":\"\\177\"}\\n'").as_deref(), Ok("{\"id\":\"\u{7f}\"}"));
    }

    #[test]
    fn worker_that_writes_what_may_be_read_as_another_result_is_not_heard() {
        for script in [
            "printf '{\"id\":1,\"x\":[\\r{\"id\":2}\\r]}\\n'",
            "printf '{\"id\":1}\\n{\"id\":2}\\n'",
            "printf '{\"id\":1,\\t\"x\":2}\\n'",
            "printf '{\"id\":1,\"id\":2}\\n'",
            "printf '{\"id\":1}'",
        ] {
            assert!(heard(script).expect_err(script).contains("returned no result"), "{script}");
        }
    }

    #[test]
    fn worker_that_does_not_end_is_killed() {
        let begun = Instant::now();
        heard("echo '{\"id\":1}'; exec >/dev/null; exec sleep 1000").expect("it gave its result before");
        assert!(begun.elapsed() < 10 * LAST_STEPS);
    }
    #[test]
    fn worker_that_goes_on_beyond_its_time_is_killed() {
        for script in ["exec sleep 1000", "trap '' TERM; while :; do echo x; sleep 0.01; done"] {
            let problem = heard_within(Duration::from_millis(200), script).expect_err(script);
            assert!(problem.contains("beyond its limit `wall`"), "{script}: {problem}");
        }
    }
}
