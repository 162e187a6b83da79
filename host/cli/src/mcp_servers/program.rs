//! `tollhouse mcp-program`: the process between this program and the program of an MCP server.
//!
//! It is made before the second wall, behind which the process of a run can neither start nor signal another one. It
//! confines the server's program, starts it, and hands its input and output on. When the other side closes its input,
//! because the run ended or was killed, it ends the program and everything that that has started.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use tollhouse_mcp::SERVER_VARIABLE;

use crate::confine::{ConfineArgs, ProgramAccess};
use crate::{CliError, Exit, Result};

/// Variables of this environment that the server's program has too.
const INHERITED: [&str; 2] = ["PATH", "HOME"];

/// Time that a program has to end by itself once its input is closed, and again once it is asked to.
const GRACE: Duration = Duration::from_millis(500);

/// Interval at which the end of a program is checked.
const PAUSE: Duration = Duration::from_millis(5);

/// Longest time for ending what a program has left behind.
const ORPHANS: Duration = Duration::from_secs(30);

/// Start the program of an MCP server, confined, and end it with this process's input
#[derive(Args)]
pub(crate) struct McpProgramCommand {
    /// A path that it may read and execute
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// A path that it may also write
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// A TCP port that it may connect to
    #[arg(long = "port", value_name = "PORT")]
    ports: Vec<u16>,
    #[command(flatten)]
    confine: ConfineArgs,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

/// Reason to end the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RelayEnd {
    /// Nobody writes to it, or reads of it, any more.
    Input,
    /// It has closed its output.
    Output,
}

impl McpProgramCommand {
    /// Runs the program until it ends, or until the input of this process does.
    pub(crate) fn execute(self) -> Result {
        if !waits_for_input()? {
            return Ok(Exit::SUCCESS);
        }
        adopt_orphans();
        let mut child = self.start()?;
        let ended = relay(&mut child)
            .map_err(|error| CliError::because("cannot hand on the input and output of the server", &error))?;
        // Its sender is in a thread that does not end before this.
        let by = ended.recv().unwrap_or(RelayEnd::Input);
        end(&mut child, by);
        Ok(Exit::SUCCESS)
    }

    /// Starts the program from a thread of its own, which alone is confined: this process has yet to end it.
    fn start(&self) -> Result<Child> {
        let program = PathBuf::from(&self.command[0]);
        let mut access =
            ProgramAccess { read: self.read.clone(), write: self.write.clone(), ports: self.ports.clone() };
        if program.is_absolute() {
            access.read.push(program.clone());
        }
        let mut command = Command::new(&program);
        command.args(&self.command[1..]).env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        for (name, value) in std::env::vars_os() {
            let Some(name) = name.to_str() else { continue };
            match name.strip_prefix(SERVER_VARIABLE) {
                Some(own) => drop(command.env(own, value)),
                None if INHERITED.contains(&name) => drop(command.env(name, value)),
                None => {}
            }
        }
        let confine = self.confine;
        let started = thread::spawn(move || {
            confine.confine_program(&access)?;
            command.spawn().map_err(|error| CliError::because(format!("cannot run `{}`", program.display()), &error))
        });
        started.join().expect("nothing there panics")
    }
}

/// Waits for the first message. Returns false if the input ends before one.
fn waits_for_input() -> Result<bool> {
    let input = io::stdin();
    let mut watched = [PollFd::new(&input, PollFlags::IN)];
    loop {
        match poll(&mut watched, None) {
            Ok(_) => return Ok(watched[0].revents().contains(PollFlags::IN)),
            Err(Errno::INTR) => {}
            Err(error) => return Err(CliError::because("cannot wait for a message", &io::Error::from(error))),
        }
    }
}

/// Hands input and output on, each on a thread, and tells when one of them ends.
fn relay(child: &mut Child) -> io::Result<Receiver<RelayEnd>> {
    let mut from_host = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut to_host = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (mut input, mut output) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
    let (sender, ended) = channel();
    let (other, unread) = (sender.clone(), sender.clone());
    let read_by_host = to_host.try_clone()?;
    // A program that does not read blocks the thread of its input, which then does not notice that the host is gone.
    thread::Builder::new().spawn(move || {
        let mut watched = [PollFd::new(&read_by_host, PollFlags::empty())];
        while poll(&mut watched, None) == Err(Errno::INTR) {}
        let _ = unread.send(RelayEnd::Input);
    })?;
    thread::Builder::new().spawn(move || {
        // A program that reads no more may still write.
        if io::copy(&mut from_host, &mut input).is_err() {
            let _ = io::copy(&mut from_host, &mut io::sink());
        }
        drop(input);
        let _ = sender.send(RelayEnd::Input);
    })?;
    thread::Builder::new().spawn(move || {
        let _ = io::copy(&mut output, &mut to_host);
        let _ = other.send(RelayEnd::Output);
    })?;
    Ok(ended)
}

/// Ends the program and what it has started: by the end of its input, then by a request, then by force.
fn end(child: &mut Child, by: RelayEnd) {
    let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    if !ends_within(group, GRACE) && by == RelayEnd::Input {
        let _ = kill_process_group(group, Signal::TERM);
        ends_within(group, GRACE);
    }
    // The number of the group is taken until its first process is waited for.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    end_orphans();
}

/// Waits until the program has ended, and leaves it to be waited for.
fn ends_within(program: Pid, time: Duration) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let until = Instant::now() + time;
    loop {
        match waitid(WaitId::Pid(program), options) {
            Ok(None) if Instant::now() < until => thread::sleep(PAUSE),
            Ok(None) => return false,
            // It has ended, or cannot be waited for.
            Ok(Some(_)) | Err(_) => return true,
        }
    }
}

/// Makes this process the parent of what the program leaves behind, in groups of their own too.
#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // Without it, the group of the program is ended.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Ends the processes that the program has left behind.
#[cfg(target_os = "linux")]
fn end_orphans() {
    let until = Instant::now() + ORPHANS;
    // Without a pause while there are any: a chain of processes that each start the next must not outrun this.
    loop {
        let orphans = children();
        if orphans.is_empty() || Instant::now() >= until {
            return;
        }
        for orphan in orphans {
            let _ = rustix::process::kill_process(orphan, Signal::KILL);
        }
        while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
        thread::yield_now();
    }
}

/// Lists the children of this process, whichever of its threads has them.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let listed = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let texts: Vec<String> = listed.collect();
    texts.iter().flat_map(|text| text.split_whitespace()).filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

#[cfg(not(target_os = "linux"))]
fn end_orphans() {
    let _ = ORPHANS;
}
