//! `--notify`: whom the operator has told when a run is suspended.
//!
//! Who is told is said on the command line or in the environment, and nowhere else: neither a policy nor a session could name a
//! program of this machine. A process of its own tells them ([`worker`]), which is made before the second wall: behind it, this
//! process could neither start a program nor, perhaps, open a connection. So the run waits for nobody.

mod target;
mod worker;

use std::io::{self, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tollhouse::gate::DeferredCall;
use tollhouse::session::{SessionId, SuspendedRun, SuspensionObserver};

use self::target::NotifyTarget;
pub(crate) use self::worker::NotifyWorkerCommand;
use super::locations::Locations;
use super::{CliError, Result, format};

/// Most calls that a notification lists.
const MAX_CALLS: usize = 20;

/// Most bytes of a call's arguments in a notification.
const MAX_ARGUMENTS: usize = 2 << 10;

/// Most bytes of a notification: what the pipe of a worker takes at once.
const MAX_LINE: usize = 60 << 10;

/// Longest time that a worker is waited for which does not read.
const PATIENCE: Duration = Duration::from_secs(1);

/// Options for telling somebody that a run is suspended.
#[derive(Args, Default)]
pub(crate) struct NotifyArgs {
    /// Tell somebody when a run of a session is suspended: start a program, which gets a JSON object on its standard input, or
    /// send the object to a URL with POST. The run waits for neither; each has 10 seconds, and what came of it is in the
    /// session's log [env: TOLLHOUSE_NOTIFY, one a line]
    #[arg(long = "notify", value_name = "cmd:PROGRAM ARGS|URL")]
    targets: Vec<String>,
    /// Put the arguments of the calls into what is told [env: TOLLHOUSE_NOTIFY_ARGUMENTS=1]
    #[arg(long)]
    notify_arguments: bool,
}

/// First line that a worker gets.
#[derive(Serialize, Deserialize)]
struct WorkerOrder {
    /// Whom it tells, as the operator wrote it. Not on its command line: addresses of webhooks are secret.
    targets: Vec<String>,
}

/// Worker that tells whom the operator has named.
struct Notifier {
    /// Input of the worker; `None` once it cannot be written to.
    worker: Mutex<Option<ChildStdin>>,
    with_arguments: bool,
}

impl NotifyArgs {
    /// Starts the worker like [`Self::start`], for a command whose session may be in memory, where no run is suspended. The
    /// environment names whom to tell for all commands, and the command line for this one.
    ///
    /// # Errors
    /// Those of [`Self::start`]; if the command line names somebody who would never be told.
    pub(crate) fn start_for(
        &self,
        session: Option<&SessionId>,
        locations: &Locations,
    ) -> Result<Option<Arc<dyn SuspensionObserver>>> {
        if session.is_some() {
            return self.start(locations);
        }
        if self.targets.is_empty() && !self.notify_arguments {
            return Ok(None);
        }
        Err(CliError::usage("`--notify` and `--notify-arguments` are for runs that can be suspended")
            .hint("`--session NAME` keeps the session; without it, a call that needs approval is refused"))
    }

    /// Starts the worker, if somebody is to be told. It comes before the process is confined, since a confined process starts no
    /// program.
    ///
    /// # Errors
    /// If a target is neither a program nor an address.
    pub(crate) fn start(&self, locations: &Locations) -> Result<Option<Arc<dyn SuspensionObserver>>> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let named = set("TOLLHOUSE_NOTIFY").unwrap_or_default();
        let named = named.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
        let targets: Vec<String> = self.targets.iter().cloned().chain(named).collect();
        if targets.is_empty() {
            return Ok(None);
        }
        for target in &targets {
            NotifyTarget::parse(target)?;
        }
        let with_arguments =
            self.notify_arguments || set("TOLLHOUSE_NOTIFY_ARGUMENTS").is_some_and(|value| value == "1");
        let cannot = |error: io::Error| CliError::because("cannot start what `--notify` tells", &error);
        let mut worker = start_worker(locations).map_err(cannot)?;
        let mut order = serde_json::to_vec(&WorkerOrder { targets }).expect("it is plain data");
        order.push(b'\n');
        worker.write_all(&order).map_err(cannot)?;
        rustix::io::ioctl_fionbio(&worker, true).map_err(|error| cannot(error.into()))?;
        Ok(Some(Arc::new(Notifier { worker: Mutex::new(Some(worker)), with_arguments })))
    }
}

/// Starts a worker, and returns its input. It outlives this process if it has to, and ends with its input.
fn start_worker(locations: &Locations) -> io::Result<ChildStdin> {
    let mut command = Command::new(&locations.program.executable);
    command.args(&locations.program.before).arg("--store").arg(std::path::absolute(&locations.store)?);
    if locations.trust_writers {
        command.arg("--trust-writers");
    }
    command.arg("notify-worker").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // What interrupts this process does not end it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    child.stdin.take().ok_or_else(|| io::Error::other("its input is not piped"))
}

impl SuspensionObserver for Notifier {
    fn suspended(&self, run: &SuspendedRun<'_>) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(input) = worker.as_mut() else { return };
        let mut line = notification(run, self.with_arguments, MAX_CALLS).to_string();
        if line.len() >= MAX_LINE {
            line = notification(run, false, 1).to_string();
        }
        line.push('\n');
        if let Err(error) = write_within(input, line.as_bytes(), PATIENCE) {
            note!("warning: nobody is told that the run is suspended: {error}");
            *worker = None;
        }
    }
}

/// Writes to a pipe that does not block, within a time.
fn write_within(pipe: &mut ChildStdin, mut bytes: &[u8], patience: Duration) -> io::Result<()> {
    let until = Instant::now() + patience;
    while !bytes.is_empty() {
        match pipe.write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns what is told of a suspended run. Reasons contain values of arguments, and come with these only.
fn notification(run: &SuspendedRun<'_>, with_arguments: bool, most: usize) -> Value {
    let SuspendedRun { session, run, calls, .. } = run;
    let listed: Vec<Value> = calls.iter().take(most).map(|call| told(call, with_arguments)).collect();
    let names =
        calls.iter().take(most).map(|call| format!("call {} of `{}` (grant `{}`)", call.seq, call.method, call.grant));
    let names: Vec<String> = names.collect();
    let more = calls.len().saturating_sub(most);
    let others = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text = format!(
        "run {run} of the session `{session}` waits for approval of {}{others}: `tollhouse session pending {session}`",
        names.join(", ")
    );
    json!({ "event": "suspended", "session": session, "run": run, "calls": listed, "more": more, "text": text })
}

fn told(call: &DeferredCall, with_arguments: bool) -> Value {
    let mut told = json!({
        "seq": call.seq,
        "method": call.method,
        "grant": call.grant,
        "cost": call.cost,
        "asked_at": format::time(call.asked),
        "expires_at": call.expires.map(format::time),
        "approved_by": call.approved_by,
        "digest": call.digest,
    });
    if with_arguments {
        let (arguments, reason) = call.shown();
        let fits = arguments.to_string().len() <= MAX_ARGUMENTS;
        told["arguments"] = if fits { arguments.clone() } else { Value::Null };
        told["reason"] = if reason.len() <= MAX_ARGUMENTS { reason.into() } else { Value::Null };
    }
    told
}
