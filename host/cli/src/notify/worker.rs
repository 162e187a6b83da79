//! `tollhouse notify-worker`: the process that tells whom `--notify` names.
//!
//! It gets a line with whom to tell, then one for each suspended run, and ends when its input has ended and all are told. It is
//! made before the second wall, and so are the programs that it starts. What comes from the other side of the wall is data to it:
//! it is passed on and logged, and names nobody.

use std::io::{self, BufRead, BufReader, Read as _};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;
use tollhouse::session::{SessionId, Sessions};

use super::super::locations::Locations;
use super::super::{CliError, Result};
use super::target::NotifyTarget;
use super::{MAX_LINE, WorkerOrder};
use crate::Exit;

/// Most notifications that wait; further ones are dropped, and the log says so.
const MAX_WAITING: usize = 1000;

/// Longest line that is read: also the first, with the targets.
const MAX_READ: u64 = 16 * MAX_LINE as u64;

/// Longest time that a session is waited for to log what came of a notification.
const LOG_PATIENCE: Duration = Duration::from_secs(60);

/// Name of a target, and what came of telling it.
type Outcome = (String, std::result::Result<(), String>);

/// Tell whom `--notify` names about suspended runs, which are read from standard input
#[derive(Args)]
pub(crate) struct NotifyWorkerCommand {}

impl NotifyWorkerCommand {
    /// Tells about runs until the input ends.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        let mut lines = BufReader::new(io::stdin());
        let Some(order) = next_line(&mut lines) else { return Ok(Exit::SUCCESS) };
        let order: WorkerOrder = serde_json::from_str(&order)
            .map_err(|error| CliError::because("the first line does not say whom to tell", &error))?;
        let targets = order.targets.iter().map(|target| NotifyTarget::parse(target)).collect::<Result<Vec<_>>>()?;
        let (sender, waiting) = sync_channel(MAX_WAITING);
        thread::scope(|scope| {
            // The input is read at once: whoever writes it must not wait.
            scope.spawn(|| {
                let sender = sender;
                while let Some(line) = next_line(&mut lines) {
                    if let Err(TrySendError::Full(line)) = sender.try_send(line) {
                        log_dropped(&targets, &line, locations);
                    }
                }
            });
            tell_all(&targets, &waiting, locations);
        });
        Ok(Exit::SUCCESS)
    }
}

/// Reads a line of limited length; `None` at the end, and for a line that is too long or no text.
fn next_line(input: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let read = input.by_ref().take(MAX_READ).read_line(&mut line).ok()?;
    (read > 0 && line.ends_with('\n')).then(|| line.trim_end().to_owned())
}

/// Tells all targets of each notification, at the same time, and logs what came of it.
fn tell_all(targets: &[NotifyTarget], waiting: &Receiver<String>, locations: &Locations) {
    for notification in waiting {
        let text = notification.as_str();
        let outcomes: Vec<Outcome> = thread::scope(|scope| {
            let told = targets.iter().map(|target| scope.spawn(move || (target.name(), target.tell(text))));
            let told: Vec<_> = told.collect();
            told.into_iter().filter_map(|told| told.join().ok()).collect()
        });
        // A store that cannot be opened now may be there for the next one.
        let Ok(sessions) = locations.sessions() else { continue };
        log_outcomes(&sessions, &notification, &outcomes);
    }
}

/// Logs that nobody is told of a notification, since too many wait.
fn log_dropped(targets: &[NotifyTarget], notification: &str, locations: &Locations) {
    let Ok(sessions) = locations.sessions() else { return };
    let dropped = || Err("too many notifications wait".to_owned());
    let outcomes: Vec<Outcome> = targets.iter().map(|target| (target.name(), dropped())).collect();
    log_outcomes(&sessions, notification, &outcomes);
}

fn log_outcomes(sessions: &Sessions, notification: &str, outcomes: &[Outcome]) {
    let told: Value = serde_json::from_str(notification).unwrap_or_default();
    let session = told["session"].as_str().and_then(|name| name.parse::<SessionId>().ok());
    let (Some(session), Some(run)) = (session, told["run"].as_u64()) else { return };
    let until = Instant::now() + LOG_PATIENCE;
    for (to, outcome) in outcomes {
        let error = outcome.as_ref().err().map(String::as_str);
        // Nobody is left to be told of an error.
        let _ = sessions.record_notification(&session, run, to, error, Arc::new(move || Instant::now() < until));
    }
}
