//! `mcp --http --isolate process`: a process for each client.
//!
//! | role | process |
//! | --- | --- |
//! | none | the front: it listens, judges tokens and hands connections to workers. It is confined, runs nothing and starts nothing |
//! | `prepare` | ends before there is a client: it reports problems with the options, the policy or the tools, and compiles the code that workers run, which cannot write the cache |
//! | `starter` | starts workers, on the word of the front, with the command line of the front; not confined, since it starts processes |
//! | `worker` | runs the scripts of one client, with servers of its own, confined as a server of all clients is |

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use tollhouse_mcp::{
    AcceptedTokens, AccessTokenJudge, Stopper, WorkerLimits, WorkerSessions, serve_front, serve_worker, start_workers,
};

use super::oauth::OAuthConfiguration;
use super::{McpCommand, ended, note_listening, stopper, unaccepted};
use crate::confine::Confinement;
use crate::locations::Locations;
use crate::{CliError, Exit, Program, Result, precompile, signals};

/// Role of a process that the front, or the starter, has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProcessRole {
    /// Check the options, and compile what workers run
    Prepare,
    /// Start workers
    Starter,
    /// Run what a client asks for
    Worker,
}

/// Descriptors that a worker needs: for its connections, files and programs.
const MIN_DESCRIPTORS: u64 = 256;

/// Command line of the processes of a server.
struct ServerProcesses {
    program: Program,
    arguments: Vec<OsString>,
    port: u16,
}

impl ServerProcesses {
    fn command(&self, role: ProcessRole) -> Command {
        let mut command = Command::new(&self.program.executable);
        command.args(&self.program.before).args(self.arguments.iter().skip(1));
        let name = role.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        command.args(["--role", &name, "--front-port", &self.port.to_string()]);
        command
    }

    /// Starts the starter. Returns the socket on which it is told to start workers.
    fn start_starter(&self) -> io::Result<OwnedFd> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = self.command(ProcessRole::Starter);
        // It ends with this process, or after it.
        drop(command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).spawn()?);
        Ok(ours.into())
    }
}

impl McpCommand {
    /// Executes the command as one of the processes of a server that has a process for each client.
    pub(super) fn execute_isolated(mut self, locations: &Locations, arguments: Vec<OsString>) -> Result {
        let processes = |port| ServerProcesses { program: locations.program.clone(), arguments, port };
        match self.http.role {
            None => self.serve_front(processes),
            Some(ProcessRole::Starter) => start(&processes(self.http.front_port)),
            Some(role) => {
                if role == ProcessRole::Worker {
                    leave_capabilities().map_err(|error| unstarted(&error))?;
                    end_with_starter(self.http.starter).map_err(|error| unstarted(&error))?;
                    leave_descriptors().map_err(|error| unstarted(&error))?;
                }
                self.begin(locations)?;
                self.serve_worker(locations, role)
            }
        }
    }

    /// Serves as the front.
    fn serve_front(&self, processes: impl FnOnce(u16) -> ServerProcesses) -> Result {
        self.check_isolated()?;
        let Some(listener) = self.http.bind()? else { return Err(no_clients()) };
        let (issuer, oauth) = (self.http.token_key()?, self.http.oauth()?);
        self.check_undecided(oauth.as_ref())?;
        let cannot = |error: &io::Error| CliError::because("cannot start another process of this program", error);
        let processes = processes(listener.local_addr().map_err(|error| cannot(&error))?.port());
        let mut prepare = processes.command(ProcessRole::Prepare);
        let prepared = prepare.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(|error| cannot(&error))?;
        if !prepared.success() {
            // It has said why.
            return Ok(Exit::from(prepared.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)));
        }
        let starter = processes.start_starter().map_err(|error| cannot(&error))?;
        leave_capabilities().map_err(|error| cannot(&error))?;
        self.confine.apply(Confinement::of_front)?;
        let options = self.http.options(oauth.as_ref());
        let oauth = oauth.map(|oauth| AccessTokenJudge::new(oauth.tokens)).transpose();
        let oauth = oauth.map_err(|error| unaccepted(&error))?;
        self.confine.isolate_front(oauth.as_ref().and_then(AccessTokenJudge::port))?;
        let stopper = stopper();
        note_listening(&listener);
        let limits = WorkerLimits { most: self.http.max_workers.into(), idle: self.http.worker_idle };
        ended(serve_front(listener, &options, AcceptedTokens { issuer, oauth }, limits, starter, &stopper))
    }

    /// Checks that each client can have a process.
    fn check_isolated(&self) -> Result<()> {
        if self.http.issuer.is_none() && self.http.oauth.is_none() {
            return Err(no_clients());
        }
        if self.audit.files().0.is_some() {
            return Err(CliError::usage("`--audit` and `--isolate process`: processes cannot keep one log")
                .hint("leave one of them out; the calls of a run are in its result"));
        }
        if let Some(stream) = self.session.stream(&self.own) {
            let stream = stream.display();
            let what =
                format!("`{stream}` and `--isolate process`: each process would read it, and it can be read once");
            return Err(CliError::usage(what).hint("name a file in its place"));
        }
        Ok(())
    }

    /// Checks that no client decides about calls of others: those wait in processes that know of no other client.
    fn check_undecided(&self, oauth: Option<&OAuthConfiguration>) -> Result<()> {
        if self.http.approvers.is_none() && oauth.is_none_or(|oauth| oauth.tokens.approve.is_none()) {
            return Ok(());
        }
        let what = "`--isolate process` and clients that decide: calls wait in the processes of their clients";
        Err(CliError::usage(what).hint("leave out `--approvers`, and `approve` of `--oauth`; or isolate by sandboxes"))
    }

    /// Serves as the worker of a client, or prepares what workers need.
    fn serve_worker(&self, locations: &Locations, role: ProcessRole) -> Result {
        let (oauth, is_worker) = (self.http.oauth()?, role == ProcessRole::Worker);
        self.confine.apply(|| {
            let touched = self.session.touched(locations, false, &self.audit).with_network();
            // What a worker writes is run by no other process.
            if is_worker { touched.reading_cache(locations) } else { touched }
        })?;
        let host = locations.host()?;
        let (server, session) = self.server(locations, &host, false)?;
        let sealed = self.http.issuer.as_ref().map(|_| self.opener_of_tokens(locations, &host)).transpose()?;
        let options = self.http.options(oauth.as_ref());
        let subjects = oauth.map(|oauth| self.subjects(locations, &host, oauth.tokens.scopes)).transpose()?;
        if !is_worker {
            if let Some(subjects) = &subjects {
                subjects.check().map_err(|error| unaccepted(&error))?;
            }
            self.confine.isolate(&session)?;
            precompile::prepare(&host, session.gate())?;
            return Ok(Exit::SUCCESS);
        }
        self.confine.isolate_worker(&session)?;
        let stopper: Stopper = stopper();
        let sessions = WorkerSessions { sealed, subjects };
        let handed = handed().map_err(|error| unstarted(&error))?;
        ended(serve_worker(&server, handed, sessions, options, self.http.front_port, &stopper))
    }
}

/// Says which clients can have a process each.
fn no_clients() -> CliError {
    CliError::usage("`--isolate process` is for clients with tokens: without them, all are one operator")
        .hint("ask for tokens: `--http ADDRESS --issuer KEY`, or `--oauth FILE`")
}

/// Says that a process with a role was not started by one of a server.
fn unstarted(error: &io::Error) -> CliError {
    CliError::because("this process was not started by a server", error)
}

/// Has the kernel kill this process when its starter ends. A worker that was taken over ends of itself for nobody, and the
/// filters leave it no system call to take this back.
#[cfg(target_os = "linux")]
fn end_with_starter(starter: u32) -> io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    // It is the end of the thread that counts which has started this process: the starter starts workers on its first one.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = getppid().and_then(|parent| u32::try_from(parent.as_raw_nonzero().get()).ok());
    // It may have ended before the kernel was told.
    if parent == Some(starter) { Ok(()) } else { Err(io::Error::other("the process that started it has ended")) }
}

/// Does nothing: a worker ends when the front process has closed its socket.
#[cfg(not(target_os = "linux"))]
fn end_with_starter(_: u32) -> io::Result<()> {
    Ok(())
}

/// Leaves the threads that this one will start no capabilities of the kernel, which processes of root have, but that of reading
/// files of others: what the command line names may be theirs. Root without them is a user, within the limits of users.
#[cfg(target_os = "linux")]
fn leave_capabilities() -> io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
    let left = capabilities(None)?.permitted & CapabilitySet::DAC_READ_SEARCH;
    let sets = CapabilitySets { effective: left, permitted: left, inheritable: CapabilitySet::empty() };
    Ok(set_capabilities(None, sets)?)
}

/// Does nothing: other kernels have no capabilities.
#[cfg(not(target_os = "linux"))]
fn leave_capabilities() -> io::Result<()> {
    Ok(())
}

/// Leaves this process half of the descriptors that it might have. Those that are on their way from one process to another
/// count for the user: a worker that was taken over, and sends itself as many as it may, must not keep the front, which has the
/// whole limit, from handing out connections.
fn leave_descriptors() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Some(most) = getrlimit(Resource::Nofile).current else { return Ok(()) };
    let half = Some((most / 2).max(MIN_DESCRIPTORS).min(most));
    Ok(setrlimit(Resource::Nofile, Rlimit { current: half, maximum: half })?)
}

/// Returns the socket that is the standard input of a process which a server has started.
fn handed() -> io::Result<OwnedFd> {
    io::stdin().as_fd().try_clone_to_owned()
}

/// Starts workers until the front ends.
fn start(processes: &ServerProcesses) -> Result {
    // Ctrl-C in a terminal is for all processes: workers end in order, and this one after them.
    signals::on_first(|| ());
    let requests = handed().map_err(|error| unstarted(&error))?;
    let own = std::process::id().to_string();
    let command = || {
        let mut command = processes.command(ProcessRole::Worker);
        command.args(["--starter", &own]);
        command
    };
    start_workers(requests, command, |line: &str| note!("{line}"))
        .map_err(|error| CliError::because("the front process of the server cannot be heard", &error))?;
    Ok(Exit::SUCCESS)
}
