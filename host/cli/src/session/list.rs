//! `tollhouse session ls` and `tollhouse session show`.

use std::collections::{BTreeMap, HashMap};

use clap::Args;
use serde_json::{Value, json};
use tollhouse::capability::{Amount, Policy};
use tollhouse::ledger::Used;
use tollhouse::session::{RecordStatus, RunRecord, SessionId, Sessions, SessionsError, Shown};

use super::super::locations::Locations;
use super::super::{Result, format, show};
use crate::Exit;

/// List the sessions: their files, budgets and forks
#[derive(Args)]
pub(crate) struct ListSessionsCommand {
    /// Print an array of {session, created, changed, runs, running, unfinished, snapshot, bytes, entries, limit, budgets, shared_with, from}
    #[arg(long)]
    json: bool,
}

/// Show a session: its authority, its remaining budgets, and its runs
#[derive(Args)]
pub(crate) struct ShowSessionCommand {
    /// The session
    #[arg(value_name = "ID")]
    id: SessionId,
    /// Print one JSON object: the keys of `ls`, and policy, lock, labels, runs
    #[arg(long)]
    json: bool,
}

/// Session with its policy and its spent budgets.
struct SessionSummary {
    shown: Shown,
    policy: Policy,
    spent: HashMap<String, Used>,
}

/// Budget: grant, what it counts, limit, used amount.
type Budget = (String, &'static str, Amount, Amount);

impl SessionSummary {
    fn of(sessions: &Sessions, id: &SessionId) -> std::result::Result<Self, SessionsError> {
        Ok(Self {
            shown: sessions.show(id)?,
            policy: sessions.reader().policy(id)?,
            spent: sessions.reader().spent(id)?,
        })
    }

    fn budgets(&self) -> Vec<Budget> {
        let mut budgets = Vec::new();
        for grant in &self.policy.grants {
            let used = self.spent.get(&grant.name).copied().unwrap_or_default();
            if let Some(limit) = grant.calls {
                budgets.push((grant.name.clone(), "calls", Amount::whole(limit), Amount::whole(used.calls)));
            }
            if let Some(spend) = &grant.spend {
                budgets.push((grant.name.clone(), "spend", spend.limit, used.spend));
            }
        }
        budgets
    }

    /// Prints what is left of each budget, and who shares it.
    fn show_budgets(&self) {
        let budgets = self.budgets();
        for (grant, kind, limit, used) in &budgets {
            let (bar, left) = (format::share(*used, *limit, 20), limit.saturating_sub(*used));
            show::line(format_args!("  budget    {bar} {grant}: {used} of {limit} {kind} used, {left} left"));
        }
        let others = self.shown.shared_with;
        if others > 0 && !budgets.is_empty() {
            let sessions = if others == 1 { "session" } else { "sessions" };
            show::line(format_args!("  shared    what is left is shared with {others} other {sessions}"));
        }
    }

    fn json(&self) -> Value {
        let Shown { session, created, head, busy, shared_with, .. } = &self.shown;
        let budgets = self.budgets().into_iter().map(|(grant, kind, limit, used)| {
            json!({ "grant": grant, "kind": kind, "limit": limit, "used": used, "remaining": limit.saturating_sub(used) })
        });
        json!({
            "session": session,
            "created": format::time(created.created),
            "changed": format::time(head.changed),
            "runs": head.runs,
            "running": busy,
            "unfinished": head.unfinished,
            "snapshot": head.snapshot.to_string(),
            "bytes": head.bytes,
            "entries": head.entries,
            "limit": self.policy.limits.files,
            "budgets": budgets.collect::<Vec<_>>(),
            "shared_with": shared_with,
            "from": created.from,
            "states": head.states,
        })
    }
}

impl ListSessionsCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let sessions = locations.sessions()?;
        let seen = all(&sessions).map_err(|error| super::failed("cannot list the sessions", &error))?;
        if self.json {
            let listed: Vec<Value> = seen.values().map(SessionSummary::json).collect();
            show::json_pretty(&listed);
            return Ok(Exit::SUCCESS);
        }
        if seen.is_empty() {
            note!("there are no sessions: `tollhouse run --session NAME …` creates one");
            return Ok(Exit::SUCCESS);
        }
        show::line(format_args!(
            "{:<28} {:>5}  {:<27} {:<18} {}",
            "SESSION", "RUNS", "FILES", "CHANGED", "BUDGETS LEFT"
        ));
        for (depth, id) in forest(&seen) {
            show::line(row(depth, &seen[id]));
        }
        Ok(Exit::SUCCESS)
    }
}

fn all(sessions: &Sessions) -> std::result::Result<BTreeMap<SessionId, SessionSummary>, SessionsError> {
    let mut seen = BTreeMap::new();
    for id in sessions.list()? {
        match SessionSummary::of(sessions, &id) {
            Ok(found) => drop(seen.insert(id, found)),
            // The session was removed since it was listed.
            Err(SessionsError::Unknown { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(seen)
}

/// Returns every session with its depth: a fork is listed below its origin, if that still exists.
fn forest(seen: &BTreeMap<SessionId, SessionSummary>) -> Vec<(usize, &SessionId)> {
    let mut below: BTreeMap<Option<&SessionId>, Vec<&SessionId>> = BTreeMap::new();
    for (id, found) in seen {
        let from = found.shown.created.from.as_ref().map(|from| &from.session);
        // If two claim to be forked from each other, as removing and recreating them can cause, both are roots.
        let older = |from: &&SessionId| {
            seen.get(*from).is_some_and(|from| from.shown.created.created < found.shown.created.created)
        };
        below.entry(from.filter(older)).or_default().push(id);
    }
    let mut drawn = Vec::new();
    let mut next: Vec<(usize, &SessionId)> =
        below.remove(&None).into_iter().flatten().rev().map(|id| (0, id)).collect();
    while let Some((depth, id)) = next.pop() {
        drawn.push((depth, id));
        next.extend(below.remove(&Some(id)).into_iter().flatten().rev().map(|id| (depth + 1, id)));
    }
    drawn
}

fn row(depth: usize, seen: &SessionSummary) -> String {
    let Shown { session, head, busy, .. } = &seen.shown;
    let name = match depth {
        0 => session.to_string(),
        depth => format!("{}└ {session}", "  ".repeat(depth - 1)),
    };
    let limit = seen.policy.limits.files;
    let files = format!("{} {}", format::bar(head.bytes, limit, 10), format::size(head.bytes));
    let left = seen.budgets().into_iter().map(|(grant, _, limit, used)| {
        let left = limit.saturating_sub(used);
        format!("{grant} {left}/{limit}")
    });
    let running = if *busy { "*" } else { "" };
    let runs = format!("{}{running}", head.runs);
    let left = left.collect::<Vec<_>>().join(", ");
    format!("{name:<28} {runs:>5}  {files:<27} {:<18} {left}", format::short_time(head.changed))
}

impl ShowSessionCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let sessions = locations.sessions()?;
        let failed = |error| super::failed("cannot show the session", &error);
        let seen = SessionSummary::of(&sessions, &self.id).map_err(failed)?;
        let (runs, labels) =
            (sessions.reader().runs(&self.id).map_err(failed)?, sessions.reader().labels(&self.id).map_err(failed)?);
        let lock = sessions.reader().lock(&self.id).map_err(failed)?;
        if self.json {
            let mut shown = seen.json();
            shown["policy"] = seen.policy.to_json();
            shown["lock"] = serde_json::to_value(&lock).expect("a lock is plain data");
            shown["labels"] =
                labels.into_iter().map(|(label, run)| (label, json!(run))).collect::<serde_json::Map<_, _>>().into();
            shown["runs"] = runs.iter().map(|(number, run)| run_json(*number, run, seen.shown.busy)).collect();
            show::json_pretty(&shown);
            return Ok(Exit::SUCCESS);
        }
        show_state(&seen);
        seen.show_budgets();
        for (alias, locked) in &lock.packages {
            show::line(format_args!(
                "  tool      {alias} = {locked} ({})",
                locked.component.get(..12).unwrap_or_default()
            ));
        }
        for (name, server) in &lock.servers {
            show::line(format_args!("  server    {name}, {} tools", server.names().count()));
        }
        show_runs(&seen, &runs, &labels);
        Ok(Exit::SUCCESS)
    }
}

/// Shows the session, where it comes from, and its files.
fn show_state(seen: &SessionSummary) {
    let Shown { session, created, head, busy, .. } = &seen.shown;
    show::line(format_args!("{session}{}", if *busy { "  (running)" } else { "" }));
    show::line(format_args!("  created   {}", format::time(created.created)));
    if let Some(run) = head.unfinished.filter(|_| head.handed_over.is_none()) {
        show::line(format_args!("  waits     run {run}: `tollhouse session resume {session}` continues it"));
    }
    if let Some(from) = &created.from {
        let middle = from.at.as_ref();
        let middle = middle.map(|at| format!(", in the middle of run {}: before call {}", at.run, at.seq));
        show::line(format_args!("  from      {}@{}{}", from.session, from.run, middle.unwrap_or_default()));
    }
    show::line(format_args!("  snapshot  {}", head.snapshot));
    let limit = seen.policy.limits.files;
    show::line(format_args!(
        "  files     {} {} of {}, {} entries",
        format::bar(head.bytes, limit, 20),
        format::size(head.bytes),
        format::size(limit),
        head.entries
    ));
    if !head.states.is_empty() {
        let languages: Vec<&str> = head.states.keys().map(String::as_str).collect();
        show::line(format_args!("  state     of {}", languages.join(", ")));
    }
}

/// Shows a table of the runs, with their labels.
fn show_runs(seen: &SessionSummary, runs: &[(u64, RunRecord)], labels: &[(String, u64)]) {
    show::line("\n  RUN  WHEN                STATUS       CALLS  SCRIPT");
    for (number, run) in runs {
        let named: Vec<&str> =
            labels.iter().filter(|(_, labelled)| labelled == number).map(|(label, _)| label.as_str()).collect();
        let named = if named.is_empty() { String::new() } else { format!("  [{}]", named.join(", ")) };
        let status = status(run, seen.shown.busy);
        let here = if *number == seen.shown.head.left_by { "*" } else { " " };
        show::line(format_args!(
            "{here}{number:>4}  {:<18}  {status:<11}  {:>5}  {}{named}",
            format::short_time(run.started),
            run.calls,
            run.script
        ));
    }
}

/// Returns the status of a run. A run that has not ended was interrupted, unless the session is active.
fn status(run: &RunRecord, busy: bool) -> RecordStatus {
    if run.status == RecordStatus::Running && !busy { RecordStatus::Interrupted } else { run.status }
}

fn run_json(number: u64, run: &RunRecord, busy: bool) -> Value {
    json!({
        "run": number,
        "status": status(run, busy),
        "script": run.script,
        "hash": run.hash,
        "started": format::time(run.started),
        "ended": run.ended.map(format::time),
        "base": run.base.to_string(),
        "snapshot": run.snapshot.map(|snapshot| snapshot.to_string()),
        "error": run.error,
        "calls": run.calls,
        "denied": run.denied,
        "states": run.states,
    })
}
