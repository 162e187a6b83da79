//! `tollhouse session log`.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use tollhouse::capability::Pattern;
use tollhouse::gate::AuditFile;
use tollhouse::session::SessionId;

use super::super::locations::Locations;
use super::super::{CliError, Result, show};
use crate::Exit;

/// Show the log of a session: every decision, call and request, and what tools printed
///
/// The whole log is checked first; an altered log is not shown. Options select the events that are shown; an event must
/// match all of them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session log report --event denied
  tollhouse session log report --method 'stats/**' --run 2 --json | jq .arguments
  tollhouse session log --audit audit.jsonl")]
pub(crate) struct ShowLogCommand {
    /// The session
    #[arg(value_name = "ID", required_unless_present = "audit", conflicts_with = "audit")]
    id: Option<SessionId>,
    /// Instead of a session, a log that `run --audit` wrote
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Only these events
    #[arg(long = "event", value_name = "EVENT", value_parser = EVENTS)]
    events: Vec<String>,
    /// Only calls of these methods, with the events during them
    #[arg(long, value_name = "PATTERN")]
    method: Option<Pattern>,
    /// Only decisions of this grant
    #[arg(long, value_name = "NAME")]
    grant: Option<String>,
    /// Only this run
    #[arg(long, value_name = "NUMBER")]
    run: Option<u64>,
    /// Show arguments, results and output in full [default: the first 200 characters of each]
    #[arg(long)]
    whole: bool,
    /// Print the lines of the log as they are
    #[arg(long)]
    json: bool,
}

/// Characters of a value that are shown, unless `--whole` is given.
const CLIP: usize = 200;

/// Events, as the log names them.
const EVENTS: [&str; 19] = [
    "started",
    "resumed",
    "forked",
    "copied",
    "asked",
    "answered",
    "resolved",
    "notified",
    "admitted",
    "released",
    "denied",
    "said",
    "requested",
    "secret_used",
    "settled",
    "changed",
    "ended",
    "full",
    "mended",
];

impl ShowLogCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let (mut methods, mut shown) = (HashMap::new(), 0_u64);
        match (&self.id, &self.audit) {
            (Some(id), _) => {
                let sessions = locations.sessions()?;
                let cannot = |error| super::failed("the log cannot be shown", &error);
                sessions.reader().log(id, &mut |_| {}).map_err(cannot)?;
                sessions
                    .reader()
                    .log(id, &mut |line| shown += u64::from(self.show(&line.event, &mut methods)))
                    .map_err(cannot)?;
            }
            (None, audit) => {
                let path = audit.as_deref().expect("clap asks for a session or a file");
                let cannot = |error| CliError::because("the log cannot be shown", &error);
                AuditFile::verify(path).map_err(cannot)?;
                AuditFile::read(path, &mut |event| shown += u64::from(self.show(event, &mut methods)))
                    .map_err(cannot)?;
            }
        }
        if shown == 0 {
            note!("no event matches");
        }
        Ok(Exit::SUCCESS)
    }

    /// Shows an event if it is selected, and returns true if it is. The method is shown once for each call; other events of the call name it by
    /// its number.
    fn show(&self, event: &Value, methods: &mut HashMap<(Option<u64>, Option<u64>), String>) -> bool {
        let call = (event["run"].as_u64(), event["seq"].as_u64());
        if let (Some("asked" | "admitted" | "denied" | "copied"), Some(method)) =
            (event["event"].as_str(), event["method"].as_str())
        {
            methods.insert(call, method.to_owned());
        }
        let is_wanted = self.wants(event, methods.get(&call).map(String::as_str));
        if is_wanted {
            if self.json { show::json(event) } else { show::line(told(event, self.whole)) }
        }
        is_wanted
    }

    fn wants(&self, event: &Value, method: Option<&str>) -> bool {
        let kind = event["event"].as_str().unwrap_or_default();
        (self.events.is_empty() || self.events.iter().any(|wanted| wanted == kind))
            && self.run.is_none_or(|run| event["run"].as_u64() == Some(run))
            && self.grant.as_deref().is_none_or(|grant| event["grant"].as_str() == Some(grant))
            && self.method.as_ref().is_none_or(|pattern| method.is_some_and(|method| pattern.matches(method)))
    }
}

/// Formats an event for a reader: time, position, name, and the other fields as the log has them. Text of tools and
/// guests is quoted and escaped, so that it has no effect on a terminal.
fn told(event: &Value, whole: bool) -> String {
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    let mut line = format!("{} ", text("time").get(..19).unwrap_or_default());
    if let Some(run) = event["run"].as_u64() {
        line += &format!("run {run} ");
    }
    if let Some(seq) = event["seq"].as_u64() {
        line += &format!("call {seq} ");
    }
    line += text("event");
    let passed = ["n", "time", "event", "run", "seq", "prev", "mac"];
    for (key, value) in event.as_object().into_iter().flatten() {
        if !passed.contains(&key.as_str()) && !value.is_null() {
            let value = value.to_string();
            let shown = if whole { None } else { value.char_indices().nth(CLIP) };
            line += &match shown {
                Some((at, _)) => format!("  {key} {}… ({} bytes)", &value[..at], value.len()),
                None => format!("  {key} {value}"),
            };
        }
    }
    line
}
