//! `tollhouse session replay`.

use clap::Args;
use tollhouse::gate::{BudgetKind, CallOutcome};
use tollhouse::session::{CallDecision, ChangedFile, Point, ReplayedCall, ReplayedRun};

use super::super::locations::Locations;
use super::super::receipt::replay_against;
use super::super::show::{cut, plain};
use super::super::{Result, format, show};
use crate::Exit;

/// Show a run call by call: decisions, results, budgets, and files that tools changed
///
/// Runs nothing, unless `--against` says so. Decisions and budgets come from the session's log; results and files from the journal of the run, which is
/// kept while the run can be resumed, and afterwards as the policy says: `[journal] keep = "30d"`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session replay report
  tollhouse session replay report@2 --until 3
  tollhouse session replay report@2 --against acme:payments@2.0.0
  tollhouse session replay report@2 --json | jq '.calls[].budgets'")]
pub(crate) struct ReplayCommand {
    /// The session's last run, or SESSION@RUN
    #[arg(value_name = "SESSION[@RUN]")]
    point: Point,
    /// Only calls up to this number
    #[arg(long, value_name = "SEQ")]
    until: Option<u64>,
    /// Make the calls of this package again by another of its releases, as far as they have no effects, and show what
    /// differs; exit status 1 if something does
    #[arg(long, value_name = "PACKAGE@VERSION", conflicts_with = "until")]
    against: Option<String>,
    /// Print one JSON object: session, run, status, script, journal, calls (each {seq, caller, time, method, arguments,
    /// decision, grant, reason, answers, outcome, micros, result, error, budgets, files})
    #[arg(long)]
    json: bool,
}

/// Most files of a call that are shown as text.
const MAX_FILES: usize = 20;

impl ReplayCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        if let Some(release) = &self.against {
            return replay_against(&locations.host()?, locations, &self.point, release, self.json);
        }
        let replayed = locations.sessions()?.history().replay(&self.point);
        let mut run = replayed.map_err(|error| super::failed("the run cannot be shown", &error))?;
        run.calls.retain(|call| self.until.is_none_or(|until| call.seq <= until));
        if self.json {
            show::json_pretty(&run);
            return Ok(Exit::SUCCESS);
        }
        let ReplayedRun { session, run: number, script, status, .. } = &run;
        show::line(format_args!("{session}@{number}  {}  {status}", plain(script)));
        run.calls.iter().for_each(show_call);
        if run.calls.is_empty() {
            show::line("  no calls");
        } else if !run.journal {
            note!("note: the journal of this run is not kept, so results and files are not known");
        }
        Ok(Exit::SUCCESS)
    }
}

fn show_call(call: &ReplayedCall) {
    let caller = call.caller.map(|caller| format!(" of call {caller}")).unwrap_or_default();
    let grant = call.grant.as_deref().map(|grant| format!(" by `{}`", plain(grant))).unwrap_or_default();
    let decision = match call.decision {
        CallDecision::Allowed => format!("allowed{grant}, {}", outcome(call)),
        CallDecision::Denied => "denied".to_owned(),
        CallDecision::Copied => format!("not made again: {} in the run that was forked", outcome(call)),
        _ => format!("waits for approval{grant}"),
    };
    show::line(format_args!("{:>4}  {}{caller}  {decision}", call.seq, plain(&call.method)));
    row("arguments", &cut(&call.arguments.to_string()));
    if let Some(reason) = &call.reason {
        row("because", &cut(&plain(reason)));
    }
    for answer in &call.answers {
        let word = match (answer.allowed, answer.edited) {
            (true, true) => "approved with other arguments",
            (true, false) => "approved",
            (false, _) => "refused",
        };
        let but = if answer.counted { "" } else { ", and did not count: the call was asked about again" };
        row(word, &format!("by {}{but}", plain(&answer.by)));
    }
    if let Some(result) = &call.result {
        row("result", &cut(&plain(result.get())));
    }
    if let Some(error) = &call.error {
        row("error", &cut(&plain(error["message"].as_str().or(error.as_str()).unwrap_or_default())));
    }
    for cost in &call.budgets {
        let kind = if cost.kind == BudgetKind::Calls { "calls" } else { "spend" };
        let (amount, limit, left, grant) = (cost.amount, cost.limit, cost.remaining, plain(&cost.grant));
        row("budget", &format!("{amount} of the {limit} {kind} of `{grant}`, then {left} are left"));
    }
    let files = call.files.as_deref().unwrap_or_default();
    files.iter().take(MAX_FILES).for_each(|file| row("file", &told(file)));
    if files.len() > MAX_FILES {
        row("file", &format!("and {} more", files.len() - MAX_FILES));
    }
}

fn row(name: &str, text: &str) {
    show::line(format_args!("      {name:<9}  {text}"));
}

fn outcome(call: &ReplayedCall) -> String {
    let word = match call.outcome {
        CallOutcome::Ok => "ok",
        CallOutcome::Failed => "failed",
        CallOutcome::Denied => "denied",
        CallOutcome::Cancelled => "cancelled",
        CallOutcome::Pending => return "has not ended".to_owned(),
    };
    format!("{word} after {}.{:03} ms", call.micros / 1000, call.micros % 1000)
}

fn told(file: &ChangedFile) -> String {
    let path = plain(&file.path);
    match (file.change, file.bytes) {
        ("removed", _) => format!("{path} removed"),
        ("file", Some(bytes)) => format!("{path} written, {}", format::size(bytes)),
        (kind, _) => format!("{path} written, a {kind}"),
    }
}
