//! `--isolate process`: each job in a process of its own.
//!
//! This process reads lines and writes results, and looks at nothing in them but their `id` and `status`. It runs no code, and
//! stands outside of the second wall, since it starts processes. A worker is this program once more, with the same options and
//! `--worker`: it makes host and policy ready, goes behind the wall, reads the number of a line and the line, writes the result,
//! and ends. The next one is started while a job runs, so that its line need not wait for it.
//!
//! **Invariant:** nothing that a worker of a job writes is run by another process. So it only reads the cache of compiled code,
//! which a worker without a job has filled (`--prepare`).

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::Value;
use tollhouse::error::Failure;

use super::job::id_of;
use super::{LINE, Line, Reply, refused, running, too_long};
use crate::places::Places;
use crate::{CliError, Exit, Program, Result};

/// The longest result that is taken of a worker: what a job may leave, in base64, and what else is in a result.
const RESULT: u64 = 2 * LINE;

/// How long a worker may take from the end of its output to its own, and how long it is waited for at a time.
const LAST_STEPS: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_micros(200);

/// Starts workers, and keeps one that waits for a line.
pub(super) struct Workers {
    program: Program,
    arguments: Vec<OsString>,
    waiting: Mutex<Vec<Worker>>,
}

/// A process for one job.
struct Worker {
    /// None once it has ended: its number may be another process's then.
    child: Arc<Mutex<Option<Child>>>,
    input: ChildStdin,
    output: ChildStdout,
}

/// What is looked at in a result.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    status: Value,
}

impl Workers {
    pub(super) fn new(places: &Places, arguments: Vec<OsString>) -> Self {
        Self { program: places.program.clone(), arguments, waiting: Mutex::default() }
    }

    /// Has a first worker tell what is wrong with the options, the policy or the tools, once and not for each line, and compile
    /// what the others run, who cannot write the cache. Returns how it ended.
    pub(super) fn check(&self) -> Result {
        let status = self.command().arg("--prepare").stdin(Stdio::null()).status();
        let status = status.map_err(|error| CliError::because("cannot start this program once more", &error))?;
        Ok(Exit::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program.executable);
        command.args(&self.program.before).args(self.arguments.iter().skip(1)).arg("--worker");
        command
    }

    /// Has a line answered by a process of its own.
    pub(super) fn answer(&self, line: &Line, running: &running::Job<'_>) -> Reply {
        let Some(text) = &line.text else { return Reply::Ours(Box::new(too_long(line))) };
        // The worker finds the same one.
        let id = id_of(text);
        match self.run(line.number, text, running) {
            Ok(Ran { text, head }) if head.id == id => Reply::Worker { text, completed: head.status == "completed" },
            Ok(_) => {
                let failure = Failure::host("the process of the job gave the result of another one");
                Reply::Ours(Box::new(refused(line, id, failure)))
            }
            Err(failure) => Reply::Ours(Box::new(refused(line, id, failure))),
        }
    }

    fn run(&self, number: u64, line: &[u8], running: &running::Job<'_>) -> std::result::Result<Ran, Failure> {
        let cannot = |error: io::Error| Failure::host(format!("cannot start a process for the job: {error}"));
        let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = waiting().pop();
        let worker = kept.map_or_else(|| self.start(), Ok).map_err(cannot)?;
        // If this one cannot be started, the line that needs it says so.
        if let Ok(next) = self.start() {
            waiting().push(next);
        }
        let child = Arc::clone(&worker.child);
        running.cancelled_by(move || terminate(&child));
        worker.run(number, line)
    }

    fn start(&self) -> io::Result<Worker> {
        let mut child = self.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no streams"));
        };
        Ok(Worker { child: Arc::new(Mutex::new(Some(child))), input, output })
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        // Without a line a worker ends.
        let waiting = std::mem::take(self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner));
        for Worker { child, input, output } in waiting {
            drop((input, output));
            if let Some(mut child) = child.lock().unwrap_or_else(PoisonError::into_inner).take() {
                let _ = child.wait();
            }
        }
    }
}

/// A result as a worker wrote it.
struct Ran {
    text: String,
    head: Head,
}

impl Worker {
    fn run(mut self, number: u64, line: &[u8]) -> std::result::Result<Ran, Failure> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        // A worker that has ended does not read; its status tells more than this error.
        let _ = writeln!(self.input, "{number}")
            .and_then(|()| self.input.write_all(line))
            .and_then(|()| self.input.write_all(b"\n"));
        drop(self.input);
        let mut bytes = Vec::new();
        let read = self.output.take(RESULT).read_to_end(&mut bytes);
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        let status = child.map_or_else(|| Err(io::Error::other("it is gone")), |child| end(child, bytes.len()));
        let cannot = |error: io::Error| Failure::host(format!("the process of the job cannot be heard: {error}"));
        let (status, _) = (status.map_err(cannot)?, read.map_err(cannot)?);
        let text = String::from_utf8(bytes).ok().and_then(|text| Some(text.strip_suffix('\n')?.to_owned()));
        let head = text.as_ref().filter(|text| is_one_line(text)).and_then(|text| serde_json::from_str(text).ok());
        match (text, head) {
            (Some(text), Some(head)) => Ok(Ran { text, head }),
            _ => Err(Failure::host(format!("the process of the job gave no result: {status}"))),
        }
    }
}

/// Returns true for what every reader takes for one line: JSON allows a carriage return between its values, and readers that
/// take one for the end of a line would find another result behind it.
fn is_one_line(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ')
}

/// Waits until a worker has ended, which has closed its output after `length` bytes; one that writes on, or does not end, is
/// killed.
fn end(mut child: Child, length: usize) -> io::Result<ExitStatus> {
    let until = Instant::now() + LAST_STEPS;
    while (length as u64) < RESULT && Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(PAUSE);
    }
    child.kill()?;
    child.wait()
}

/// Has a worker cancel its job, and write the result.
fn terminate(child: &Mutex<Option<Child>>) {
    if let Some(child) = &*child.lock().unwrap_or_else(PoisonError::into_inner) {
        // It may have ended, and stays until it is waited for.
        let _ = kill_process(Pid::from_child(child), Signal::TERM);
    }
}

/// Has a worker end as soon as nobody reads its output: when the process that started it has died, however that was.
///
/// The signal that Linux sends for a parent's death comes at the end of the parent's *thread*, which a worker outlives.
pub(super) fn end_with_reader() {
    std::thread::spawn(|| {
        let output = io::stdout();
        let mut watched = [PollFd::new(&output, PollFlags::empty())];
        // It returns when the pipe has no reader, or not at all: the output may be no pipe.
        while poll(&mut watched, None) == Err(Errno::INTR) {}
        if watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
            std::process::exit(1);
        }
    });
}

/// Reads, in a worker, the number that comes before the line, and returns that of the line before. Without one there is no line.
pub(super) fn number_before(input: &mut impl BufRead) -> io::Result<u64> {
    let mut number = String::new();
    input.take(32).read_line(&mut number)?;
    Ok(number.trim_end().parse::<u64>().unwrap_or(1).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is heard of a worker that does what a shell script says.
    fn heard(script: &str) -> std::result::Result<String, String> {
        let mut command = Command::new("/bin/sh");
        let child = command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("there is a shell");
        let (input, output) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
        let worker = Worker { child: Arc::new(Mutex::new(Some(child))), input, output };
        worker.run(1, b"{}").map(|ran| ran.text).map_err(|failure| failure.message)
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
            assert!(heard(script).expect_err(script).contains("gave no result"), "{script}");
        }
    }

    #[test]
    fn worker_that_does_not_end_is_killed() {
        let begun = Instant::now();
        heard("echo '{\"id\":1}'; exec >/dev/null; exec sleep 1000").expect("it gave its result before");
        assert!(begun.elapsed() < 10 * LAST_STEPS);
    }
}
