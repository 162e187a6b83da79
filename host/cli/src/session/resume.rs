//! `tollhouse session resume`, `approve`, `deny`, `edit`, `resolve` and `abandon`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rustix::process::getuid;
use serde_json::{Value, json};
use tollhouse::session::{
    Answered, At, CallListing, PendingCall, Point, Resolution, RunOptions, RunResult, SessionId, Sessions,
    SessionsError, Stdin,
};

use super::super::audit::AuditArgs;
use super::super::confine::ConfineArgs;
use super::super::locations::{Locations, waiting};
use super::super::notify::NotifyArgs;
use super::super::registry::sign::private_key;
use super::super::run::Output;
use super::super::session_args::{OwnArgs, SessionArgs, warn_of_run};
use super::super::{CliError, Result, show, signals};
use super::pending::{pending_json, show_pending};
use crate::Exit;

/// Continue the session's run that is suspended, or whose process died
///
/// The script is replayed from its start with the recorded results: no call is made twice, no time passes, and nothing
/// is printed, until it reaches the point where it stopped. Then it continues. If a call still waits for approval, the
/// run is suspended again. The run has the limits that it was started with, and those that are given here in place of
/// them; its time begins anew.
///
/// Exit status: that of `tollhouse run`; 5 if the run is suspended again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session pending report
  tollhouse session approve report
  tollhouse session resume report")]
pub(crate) struct ResumeCommand {
    /// The session
    #[arg(value_name = "ID")]
    id: SessionId,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    audit: AuditArgs,
    #[command(flatten)]
    confine: ConfineArgs,
    #[command(flatten)]
    notify: NotifyArgs,
    /// The policy that the session was created with: to start MCP servers of it, and for approvals that have to be
    /// signed
    ///
    /// With this option the session's policy must be the same. Signed approvals count only with it: their keys are those of
    /// `tollhouse registry trust` on this machine.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Start the program of an MCP server that the policy names
    #[arg(long = "allow-exec", value_name = "NAME", requires = "policy")]
    allow_exec: Vec<String>,
    /// Print one JSON object: that of `run --json`
    #[arg(long)]
    json: bool,
    /// After the script's output, list its calls and budgets on standard error
    #[arg(long, conflicts_with = "json")]
    summary: bool,
    /// Print what the run had printed before, too
    #[arg(long)]
    replay_output: bool,
}

/// Continuation of a session's run, as `session resume` or `run --resume` asks for it.
pub(crate) struct Resumption {
    /// The session.
    pub(crate) id: SessionId,
    /// Policy, and servers of it that are started.
    pub(crate) session: SessionArgs,
    /// Options of this run alone.
    pub(crate) own: OwnArgs,
    /// Options of the audit log.
    pub(crate) audit: AuditArgs,
    /// Options of the second wall.
    pub(crate) confine: ConfineArgs,
    /// Options of who is told when the run is suspended again.
    pub(crate) notify: NotifyArgs,
    /// Form in which the result is shown.
    pub(crate) shown: ShownResult,
    /// True if what the run had printed before is printed again.
    pub(crate) replay_output: bool,
}

/// Form in which the result of a run is shown.
#[derive(Clone, Copy)]
pub(crate) struct ShownResult {
    /// True for one JSON object.
    pub(crate) json: bool,
    /// True if calls and budgets are listed behind the output.
    pub(crate) summary: bool,
}

/// Approve a call that waits
///
/// Runs nothing: `tollhouse session resume` continues the run. The approval is in the session's log, and holds for
/// exactly this call with these arguments. If its grant names those who can approve (`approved_by`), one of them signs the
/// approval with a private key; the public key is what `tollhouse registry trust` knows on the machine that resumes the run.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session approve report
  tollhouse session approve report@2 3
  tollhouse session approve report --key finance.key")]
pub(crate) struct ApproveCommand {
    #[command(flatten)]
    call: DecidedCall,
    /// Sign the approval with the private key in this file, as `tollhouse registry keygen` wrote it
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

/// Refuse a call that waits: for the script it is denied
#[derive(Args)]
pub(crate) struct DenyCommand {
    #[command(flatten)]
    call: DecidedCall,
    /// The reason, which the script sees
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Approve a call that waits, with other arguments than the script's
///
/// Runs nothing: when `tollhouse session resume` continues the run, the call is judged again with these arguments, and the
/// tool gets them as they are judged. The script is not told. Both are in the session's log.
#[derive(Args)]
#[command(
    override_usage = "tollhouse session edit [OPTIONS] <SESSION[@RUN]> [SEQ] <JSON>",
    after_help = "\
Examples:
  tollhouse session edit report '{\"amount\": 10, \"currency\": \"EUR\"}'
  tollhouse session edit report@2 3 '{\"amount\": 10, \"currency\": \"EUR\"}'"
)]
pub(crate) struct EditCommand {
    /// The session, or SESSION@RUN
    #[arg(value_name = "POINT")]
    point: Point,
    /// The call's number [default: the one that waits, if there is one alone], and the arguments as a JSON object
    #[arg(value_name = "SEQ|JSON", num_args = 1..=2, required = true)]
    values: Vec<String>,
    /// Sign the approval with the private key in this file, as `tollhouse registry keygen` wrote it
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    decider: Decider,
}

/// Say what became of a call that had started when its process ended
///
/// A call of a tool that may have an effect is not made again by itself, since it may have taken effect: the run is in doubt.
/// Runs nothing: `tollhouse session resume` continues the run.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse session resolve report 3 retry
  tollhouse session resolve report 3 fail 'the payment was refused'
  tollhouse session resolve report 3 done '{\"total\": 12}'")]
pub(crate) struct ResolveCommand {
    /// The session, or SESSION@RUN
    #[arg(value_name = "POINT")]
    point: Point,
    /// The call's number
    #[arg(value_name = "SEQ")]
    seq: u64,
    /// `retry`: it did not take effect, and is made again; `fail`: it failed; `done`: it took effect
    #[arg(value_name = "WHAT", value_enum)]
    what: Fate,
    /// For `fail`, the message that the script sees; for `done`, the result as JSON
    #[arg(value_name = "MESSAGE|JSON")]
    value: Option<String>,
    /// Name of the person who decides, for the log [default: the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Print one JSON object: session, run, seq, resolution
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Fate {
    Retry,
    Fail,
    Done,
}

/// End a run that waits to be resumed: it does not continue, and its changes of files are dropped
///
/// What its calls have spent stays spent.
#[derive(Args)]
pub(crate) struct AbandonCommand {
    /// The session
    #[arg(value_name = "ID")]
    id: SessionId,
    /// Print one JSON object: session, run
    #[arg(long)]
    json: bool,
}

/// Call that a human decides about.
#[derive(Args)]
struct DecidedCall {
    /// The session, or SESSION@RUN
    #[arg(value_name = "POINT")]
    point: Point,
    /// The call's number [default: the only call that waits]
    #[arg(value_name = "SEQ")]
    seq: Option<u64>,
    #[command(flatten)]
    decider: Decider,
}

/// Who decides, about what, and how it is shown.
#[derive(Args)]
struct Decider {
    /// Decide only about the call with this digest, which `pending --json` shows
    #[arg(long, value_name = "HEX")]
    digest: Option<String>,
    /// Name of the person who decides, for the log [default: the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Print one JSON object: that of `pending --json`
    #[arg(long)]
    json: bool,
}

impl ResumeCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let Self { id, own, audit, confine, notify, policy, allow_exec, json, summary, replay_output } = self;
        let (session, shown) = (SessionArgs::starting(policy, allow_exec), ShownResult { json, summary });
        Resumption { id, session, own, audit, confine, notify, shown, replay_output }.execute(locations)
    }
}

impl Resumption {
    /// Continues the run, and shows its result.
    pub(crate) fn execute(mut self, locations: &Locations) -> Result {
        self.own.read_secrets()?;
        self.own.on_suspended = self.notify.start(locations)?;
        self.audit.read_key()?;
        self.session.start_servers(locations, &self.own, self.confine)?;
        self.confine.apply(|| self.session.touched(locations, locations.has_store(), &self.audit).with_network())?;
        let session = self.session.open_to_resume(locations, &self.own, &self.id, &self.audit)?;
        self.confine.isolate(&session)?;
        let stdin = if io::stdin().is_terminal() { Stdin::Empty } else { Stdin::Reader(Box::new(io::stdin())) };
        let output = if self.shown.json { None } else { Some(Box::new(Output) as _) };
        let calls = if self.shown.lists_calls() { CallListing::All } else { CallListing::SinceHeap };
        let options = RunOptions { output, stdin, replay_output: self.replay_output, calls, ..RunOptions::default() };
        let run = session.resume(options)?;
        let cancel = run.cancel_handle();
        signals::on_first(move || cancel.cancel());
        let result = run.finish();
        warn_of_run(session.gate(), &result);
        self.shown.show(&result);
        Ok(Exit::from(result.exit_code))
    }
}

impl ShownResult {
    /// Returns true if all calls of the run are shown.
    fn lists_calls(self) -> bool {
        self.json || self.summary
    }

    /// Shows the result of a run.
    pub(crate) fn show(self, result: &RunResult) {
        if self.json {
            show::json(result);
        } else {
            show::result(result);
            if self.summary {
                show::summary(result);
            }
        }
    }
}

impl ApproveCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let DecidedCall { point, seq, decider } = self.call;
        decider.decide(locations, &point, seq, Verdict::Approved { arguments: None, key: self.key })
    }
}

impl DenyCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let DecidedCall { point, seq, decider } = self.call;
        decider.decide(locations, &point, seq, Verdict::Refused { reason: self.reason })
    }
}

impl EditCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let (seq, text) = match self.values.as_slice() {
            [seq, text] => {
                let number =
                    seq.parse().map_err(|_| CliError::usage(format!("`{seq}` is not the number of a call")))?;
                (Some(number), text)
            }
            [text] => (None, text),
            _ => return Err(CliError::usage("`edit` needs the arguments as a JSON object")),
        };
        let arguments = tollhouse::json::parse_unique(text)
            .map_err(|error| CliError::usage(format!("the arguments are not JSON: {error}")))?;
        if !arguments.is_object() {
            return Err(CliError::usage("the arguments are not a JSON object: `{\"amount\": 10}`"));
        }
        let verdict = Verdict::Approved { arguments: Some(arguments), key: self.key };
        self.decider.decide(locations, &self.point, seq, verdict)
    }
}

impl ResolveCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let resolution = match (self.what, self.value) {
            (Fate::Retry, None) => Resolution::Retry,
            (Fate::Fail, Some(message)) => Resolution::Fail(message),
            (Fate::Done, Some(text)) => Resolution::Done(
                tollhouse::json::parse_unique(&text)
                    .map_err(|error| CliError::usage(format!("the result is not JSON: {error}")))?,
            ),
            (Fate::Retry, Some(_)) => return Err(CliError::usage("`retry` takes no value")),
            (Fate::Fail, None) => return Err(CliError::usage("`fail` needs a message: `fail 'it was refused'`")),
            (Fate::Done, None) => return Err(CliError::usage("`done` needs a result: `done '{\"total\": 12}'`")),
        };
        let (id, run) = session_and_run(&self.point)?;
        let sessions = locations.sessions()?;
        let by = self.by.unwrap_or_else(user);
        let resolved = sessions.unfinished_runs().resolve(id, run, self.seq, &resolution, &by, waiting(id));
        let run = resolved.map_err(|error| super::failed("cannot resolve", &error))?;
        if self.json {
            show::json(&json!({ "session": id, "run": run, "seq": self.seq, "resolution": resolution }));
        } else {
            note!("`tollhouse session resume {id}` continues the run");
        }
        Ok(Exit::SUCCESS)
    }
}

/// Returns the session of a point, and its run if it is named.
fn session_and_run(point: &Point) -> Result<(&SessionId, Option<u64>)> {
    match point.at {
        At::Head => Ok((&point.session, None)),
        At::Run(run) => Ok((&point.session, Some(run))),
        At::Label(_) => Err(CliError::usage("a label names files, and not a run: write SESSION@RUN")),
    }
}

/// Returns who uses the command line.
fn user() -> String {
    format!("uid {} on the command line", getuid().as_raw())
}

impl AbandonCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let sessions = locations.sessions()?;
        let abandoned = sessions.unfinished_runs().abandon(&self.id, waiting(&self.id));
        let run = abandoned.map_err(|error| super::failed("cannot end the run", &error))?;
        if self.json {
            show::json(&json!({ "session": self.id, "run": run }));
        } else {
            show::line(format_args!("{}@{run} is cancelled", self.id));
        }
        Ok(Exit::SUCCESS)
    }
}

/// What was decided about a call.
enum Verdict {
    Approved {
        /// Arguments in place of the script's.
        arguments: Option<Value>,
        /// File of the private key that signs the approval.
        key: Option<PathBuf>,
    },
    Refused {
        reason: Option<String>,
    },
}

/// Returns the call that waits and is to be approved with a signature.
fn signed_call(sessions: &Sessions, id: &SessionId, seq: Option<u64>, digest: Option<&str>) -> Result<PendingCall> {
    let calls = sessions.call_decisions().pending_calls(id).map_err(|error| super::failed("cannot decide", &error))?;
    let is_meant = |pending: &PendingCall| {
        seq.is_none_or(|seq| pending.call.seq == seq)
            && digest.is_none_or(|digest| pending.call.digest == digest)
            && (seq.is_some() || pending.decision.is_none())
    };
    let mut meant = calls.into_iter().filter(is_meant);
    let call = match (meant.next(), meant.next()) {
        (Some(call), None) => call,
        (None, _) => return Err(CliError::usage(format!("no such call of the session `{id}` waits for approval"))),
        (Some(_), Some(_)) => {
            return Err(super::failed("cannot decide", &SessionsError::Several(id.clone())));
        }
    };
    if call.call.approved_by.is_none() {
        let what = format!("call {} of `{id}` needs no signature: its grant has no `approved_by`", call.call.seq);
        return Err(CliError::usage(what).hint("approve it without `--key`"));
    }
    Ok(call)
}

impl Decider {
    fn decide(self, locations: &Locations, point: &Point, seq: Option<u64>, verdict: Verdict) -> Result {
        let (id, run) = session_and_run(point)?;
        let sessions = locations.sessions()?;
        let by = self.by.unwrap_or_else(user);
        let answered = match verdict {
            Verdict::Refused { reason } => {
                Answered { allowed: false, by, reason, digest: self.digest, arguments: None, signature: None }
            }
            Verdict::Approved { arguments, key } => {
                let (mut digest, mut signature) = (self.digest, None);
                if let Some(path) = key {
                    let key = private_key(&path)?;
                    let pending = signed_call(&sessions, id, seq, digest.as_deref())?;
                    signature = pending.approval_statement(arguments.as_ref()).map(|statement| statement.sign(&key));
                    // Nothing else is decided about than what was signed.
                    digest = Some(pending.call.digest);
                }
                Answered { allowed: true, by, reason: None, digest, arguments, signature }
            }
        };
        let decided = sessions.call_decisions().decide(id, run, seq, &answered, waiting(id));
        let call = decided.map_err(|error| super::failed("cannot decide", &error))?;
        if self.json {
            show::json(&pending_json(&call));
        } else {
            show_pending(&call);
            note!("`tollhouse session resume {id}` continues the run");
        }
        Ok(Exit::SUCCESS)
    }
}
