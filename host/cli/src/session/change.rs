//! `tollhouse session fork`, `rollback`, `label` and `rm`.

use std::io::{self, IsTerminal as _};

use clap::Args;
use serde_json::{Value, json};
use tollhouse::session::{At, MiddleFork, Point, SessionId, Sessions, SessionsError};

use super::super::locations::{Locations, waiting};
use super::super::stdio::note_part;
use super::super::{CliError, Result, show};
use super::reserve;
use crate::Exit;

/// Create a session from the files of another
///
/// The fork has the policy, tools and stored entries of the other. They share what is left of its budgets: what one
/// spends, the other cannot. In all else they are independent. Copies no files, whatever their size.
///
/// With `--at SEQ` the fork begins in the middle of the run: suspended just before that call, with the results of the calls
/// before it, which are neither made nor paid again. `session resume` continues it there. No approval is taken over. The
/// run may be suspended, interrupted, or have ended, if its journal was kept.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session fork report try-2
  tollhouse session fork report@3 from-run-3
  tollhouse session fork report@3 other-way --at 2")]
pub(crate) struct ForkCommand {
    /// The initial files: SESSION, SESSION@RUN or SESSION@LABEL; with `--at`, the run
    #[arg(value_name = "POINT")]
    from: Point,
    /// The new session
    #[arg(value_name = "ID")]
    to: SessionId,
    /// Begin in the middle of the run, before the call with this number
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Print one JSON object: session, from, run, snapshot; with `--at`, seq and forked (the run that `resume` continues) too
    #[arg(long)]
    json: bool,
}

/// Restore the files that a run of the session left
///
/// The rollback is a change like any other: it has a number, and can itself be rolled back. Spent amounts stay spent.
#[derive(Args)]
pub(crate) struct RollbackCommand {
    /// The files: SESSION@RUN or SESSION@LABEL
    #[arg(value_name = "POINT")]
    to: Point,
    /// Print one JSON object: session, run, snapshot
    #[arg(long)]
    json: bool,
}

/// Label the files that a run left, or remove the label
#[derive(Args)]
pub(crate) struct LabelCommand {
    /// The files: SESSION@RUN, or SESSION for the current ones
    #[arg(value_name = "POINT")]
    point: Point,
    /// The label
    #[arg(value_name = "LABEL")]
    label: String,
    /// Remove the label
    #[arg(long)]
    delete: bool,
    /// Print one JSON object: session, label, run
    #[arg(long)]
    json: bool,
}

/// Remove sessions: files, budgets, runs and log
///
/// A session with an active run is removed after a question on the terminal, or with `--force`: the run is cancelled.
/// Disk space of files that no other session uses is freed by `session gc`; at once, if the disk is full.
#[derive(Args)]
pub(crate) struct RemoveSessionCommand {
    /// The sessions
    #[arg(value_name = "ID", required = true)]
    ids: Vec<SessionId>,
    /// Cancel active runs without asking
    #[arg(short, long)]
    force: bool,
    /// Print an array of {session, records}
    #[arg(long)]
    json: bool,
}

impl ForkCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let sessions = locations.sessions()?;
        let failed = |error| super::failed("cannot fork", &error);
        if let Some(seq) = self.at {
            let forked = sessions.fork_before(&self.from, seq, &self.to).map_err(failed)?;
            return self.show_middle(&forked);
        }
        sessions.fork(&self.from, &self.to).map_err(failed)?;
        if self.json {
            let (snapshot, run) = sessions.reader().snapshot(&self.from).map_err(failed)?;
            let from = &self.from.session;
            show::json(&json!({ "session": self.to, "from": from, "run": run, "snapshot": snapshot.to_string() }));
        } else {
            show::line(&self.to);
        }
        Ok(Exit::SUCCESS)
    }

    fn show_middle(&self, forked: &MiddleFork) -> Result {
        let MiddleFork { run, seq, forked, snapshot, .. } = forked;
        if self.json {
            let (session, from) = (&self.to, &self.from.session);
            show::json(&json!({
                "session": session, "from": from, "run": run, "snapshot": snapshot, "seq": seq, "forked": forked,
            }));
        } else {
            show::line(&self.to);
            note!("`tollhouse session resume {}` continues the run with call {seq}", self.to);
        }
        Ok(Exit::SUCCESS)
    }
}

impl RollbackCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        if self.to.at == At::Head {
            return Err(CliError::usage(format!("`{}` is the session's current state", self.to))
                .hint(format!("name a run or a label: `{}@3`", self.to)));
        }
        let sessions = locations.sessions()?;
        let id = &self.to.session;
        let failed = |error| super::failed("cannot roll back", &error);
        let snapshot = sessions.rollback(&self.to, waiting(id)).map_err(failed)?;
        let run = sessions.show(id).map_err(failed)?.head.left_by;
        if self.json {
            show::json(&json!({ "session": id, "run": run, "snapshot": snapshot.to_string() }));
        } else {
            show::line(format_args!("{id}@{run} has the files of {}", self.to));
        }
        Ok(Exit::SUCCESS)
    }
}

impl LabelCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let sessions = locations.sessions()?;
        let id = &self.point.session;
        let failed = |error| super::failed("cannot label", &error);
        let run = if self.delete { None } else { Some(sessions.reader().snapshot(&self.point).map_err(failed)?.1) };
        sessions.label(id, &self.label, run).map_err(failed)?;
        if self.json {
            show::json(&json!({ "session": id, "label": self.label, "run": run }));
        } else if let Some(run) = run {
            show::line(format_args!("{id}@{} is {id}@{run}", self.label));
        }
        Ok(Exit::SUCCESS)
    }
}

impl RemoveSessionCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let is_full = reserve::release(&locations.store);
        let sessions = locations.sessions()?;
        let mut removed = Vec::new();
        let done = self.remove_all(&sessions, &mut removed);
        if is_full && locations.has_store() {
            // The freed space would be taken by others, before `session gc` can be called. Its error is not that of the
            // removal.
            let _ = sessions.garbage_collector().collect(false);
            reserve::restore(&locations.store);
        }
        if self.json {
            show::json_pretty(&removed);
        }
        match done {
            Err(error) if !removed.is_empty() => {
                let names: Vec<&str> = removed.iter().filter_map(|removed| removed["session"].as_str()).collect();
                Err(error.also(format!("removed before: `{}`", names.join("`, `"))))
            }
            done => done.map(|()| Exit::SUCCESS),
        }
    }

    /// Removes the sessions, and adds each to `removed`. If one of them does not exist, none is removed.
    fn remove_all(&self, sessions: &Sessions, removed: &mut Vec<Value>) -> Result<()> {
        let failed = |id: &SessionId, error: &SessionsError| super::failed(&format!("cannot remove `{id}`"), error);
        for id in &self.ids {
            if !sessions.contains(id).map_err(|error| failed(id, &error))? {
                let error = sessions.show(id).err().unwrap_or_else(|| SessionsError::Replaced(id.clone()));
                return Err(failed(id, &error));
            }
        }
        for id in &self.ids {
            if !self.force {
                may_remove(sessions, id)?;
            }
            let records = sessions.remove(id, &waiting(id)).map_err(|error| failed(id, &error))?.records;
            removed.push(json!({ "session": id, "records": records }));
        }
        Ok(())
    }
}

/// Asks before a session with an active run is removed. Without a terminal, nobody can answer, and it is not removed.
fn may_remove(sessions: &Sessions, id: &SessionId) -> Result<()> {
    let shown = sessions.show(id).map_err(|error| super::failed(&format!("cannot remove `{id}`"), &error))?;
    if !shown.busy {
        return Ok(());
    }
    let running = CliError::usage(format!("the session `{id}` has a run that has not ended")).status(1);
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(running.hint("wait for it, or cancel it and remove the session with `--force`"));
    }
    note_part(&format!("the session `{id}` has a run that has not ended: cancel it, and remove the session? [y/N] "));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(|error| CliError::because("cannot read the answer", &error))?;
    if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(running.hint("nothing was removed")) }
}
