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
        let cannot = |error: &io::Error| CliError::because("cannot start another process of this program", error);
        let processes = processes(listener.local_addr().map_err(|error| cannot(&error))?.port());
        let mut prepare = processes.command(ProcessRole::Prepare);
        let prepared = prepare.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(|error| cannot(&error))?;
        if !prepared.success() {
            // It has said why.
            return Ok(Exit::from(prepared.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)));
        }
        let starter = processes.start_starter().map_err(|error| cannot(&error))?;
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
        let handed = handed().map_err(|error| CliError::because("this process was not started by a server", &error))?;
        ended(serve_worker(&server, handed, sessions, options, self.http.front_port, &stopper))
    }
}

/// Says which clients can have a process each.
fn no_clients() -> CliError {
    CliError::usage("`--isolate process` is for clients with tokens: without them, all are one operator")
        .hint("ask for tokens: `--http ADDRESS --issuer KEY`, or `--oauth FILE`")
}

/// Returns the socket that is the standard input of a process which a server has started.
fn handed() -> io::Result<OwnedFd> {
    io::stdin().as_fd().try_clone_to_owned()
}

/// Starts workers until the front ends.
fn start(processes: &ServerProcesses) -> Result {
    // Ctrl-C in a terminal is for all processes: workers end in order, and this one after them.
    signals::on_first(|| ());
    let requests = handed().map_err(|error| CliError::because("this process was not started by a server", &error))?;
    start_workers(requests, || processes.command(ProcessRole::Worker))
        .map_err(|error| CliError::because("the front process of the server cannot be heard", &error))?;
    Ok(Exit::SUCCESS)
}
