//! Runs of scripts for a tool call: one after the other in a session, with the script's output as log messages and the
//! time as progress while a run goes on, and cancelled with the request.
#![expect(deprecated, reason = "log messages are what clients of earlier revisions of the protocol have")]

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, InputResponses, JsonObject, LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{RequestContext, ServiceError};
use serde_json::json;
use tokio::sync::mpsc::{Receiver, channel};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{
    HostError, PendingCall, PendingState, RunOptions, RunResult, Session, Status, Stdin, Waiting,
};

use crate::approvals::{self, AskMode, Deciders};
use crate::arguments::Arguments;
use crate::definitions::{self, names};
use crate::excerpts::shorten;
use crate::exposed;
use crate::live_output::{Captured, LiveOutput, OutputLine};
use crate::relayed::RelayedMessages;
use crate::run_report::{self, FinishedRun};
use crate::server::{Connection, level_rank};
use crate::sessions::{ClientSessions, OpenedSession};
use crate::tasks;
use crate::tool_error::ToolError;

/// Lines of output that wait for a slow client. More are dropped from the log messages, not from the result.
const MAX_LINES: usize = 1000;

/// Time between two notifications of progress.
const PROGRESS: Duration = Duration::from_secs(1);

/// Most characters of the error with which a client answers a question.
const MAX_CLIENT_ERROR: usize = 300;

/// Rounds of questions to the client's user in one request.
const MAX_ROUNDS: usize = 100;

/// What a client repeats when it has answered a result that required input.
pub(crate) struct Retry {
    pub(crate) state: Option<String>,
    pub(crate) responses: InputResponses,
}

/// What a run does.
enum Start {
    Script { language: Language, name: String, source: String, stdin: String },
    Resume { replay_output: bool },
}

/// Continuation of a run whose client has what it printed before.
const RESUME: Start = Start::Resume { replay_output: false };

/// Form in which the end of a run is reported.
#[derive(Clone, Copy)]
enum ReportForm {
    /// The run: value, output, calls.
    Run,
    /// The result of its only call.
    Call,
}

/// Runs a script, or resumes a run, and reports the result.
pub(crate) async fn run(
    connection: &Connection,
    context: &RequestContext<RoleServer>,
    client: Arc<ClientSessions>,
    tool: &str,
    arguments: Option<JsonObject>,
    retry: Retry,
) -> Result<CallToolResponse, ToolError> {
    let (start, session, form) = parse(connection, tool, arguments)?;
    let mode = AskMode::of(connection, context);
    let state = retry.state.as_deref().map(approvals::parse_state).transpose()?;
    let name = state.as_ref().map(|state| state.session.clone()).or(session);
    let opened = open(&client, name).await?;
    let _held = Arc::clone(&opened).hold(&context.ct).await?;
    let mut start = start;
    if state.is_some() && mode == AskMode::Result {
        let can_wait = !refuses_dismissed(connection, &client);
        decide_by_responses(&client, &opened, &retry.responses, &decider(context), can_wait).await?;
        start = RESUME;
    }
    let job = RunJob { connection, context, client: &client, opened: &opened, mode, form };
    job.to_end(start).await
}

fn parse(
    connection: &Connection,
    tool: &str,
    arguments: Option<JsonObject>,
) -> Result<(Start, Option<String>, ReportForm), ToolError> {
    let server = &connection.server.0;
    if tool == definitions::RESUME {
        // Behind a gateway, all runs are calls, and print nothing but their result.
        let (known, form) = match server.is_gateway {
            true => (&names::RESUME_CALL[..], ReportForm::Call),
            false => (&names::RESUME[..], ReportForm::Run),
        };
        let mut arguments = Arguments::new(arguments, known)?;
        let replay_output = arguments.flag("replay_output")?;
        return Ok((Start::Resume { replay_output }, arguments.text("session")?, form));
    }
    if let Some(method) = server.exposed.method(tool) {
        let (name, source) = (method.to_owned(), exposed::script(method, arguments));
        let start = Start::Script { language: Language::Shell, name, source, stdin: String::new() };
        return Ok((start, None, ReportForm::Call));
    }
    let mut arguments = Arguments::new(arguments, &names::RUN)?;
    let language = if tool == definitions::RUN_BASH { Language::Shell } else { Language::JavaScript };
    let source = arguments.required("script")?;
    let stdin = arguments.text("stdin")?.unwrap_or_default();
    // JavaScript may have types: they are taken out, and without any nothing is.
    let name = if language == Language::Shell { "bash" } else { "script.ts" }.to_owned();
    Ok((Start::Script { language, name, source, stdin }, arguments.text("session")?, ReportForm::Run))
}

/// Returns a session, which is opened on a thread that may wait for files if it is not open yet.
pub(crate) async fn open(client: &Arc<ClientSessions>, name: Option<String>) -> Result<Arc<OpenedSession>, ToolError> {
    if let Some(opened) = client.find_open(name.as_deref().unwrap_or(crate::sessions::MAIN)) {
        return Ok(opened);
    }
    let client = Arc::clone(client);
    blocking(move || client.get(name.as_deref())).await
}

/// Does something that waits for files on another thread.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ToolError::because("the server failed", &error)))
}

/// Returns true if a dismissed question is a refusal: a gateway's calls have one session, which takes no other call
/// while one waits.
fn refuses_dismissed(connection: &Connection, client: &ClientSessions) -> bool {
    connection.server.0.is_gateway && !client.on_disk()
}

/// Returns who decides, for the session's log.
fn decider(context: &RequestContext<RoleServer>) -> String {
    format!("the user of the MCP client {}", client_name(context))
}

/// Returns the name that a client gives itself, for the session's log.
pub(crate) fn client_name(context: &RequestContext<RoleServer>) -> String {
    let client = context.client_info().map_or_else(|| "unnamed".to_owned(), |info| info.name);
    client.chars().filter(|c| !c.is_control()).take(80).collect()
}

/// Outcome of the questions about calls that wait.
enum Asked {
    /// Each is decided, or is refused when the run is resumed.
    Decided,
    /// The run stays suspended.
    Undecided,
    /// The client waits for the run no longer.
    Cancelled,
}

/// Run of a request.
struct RunJob<'a> {
    connection: &'a Connection,
    context: &'a RequestContext<RoleServer>,
    client: &'a Arc<ClientSessions>,
    opened: &'a Arc<OpenedSession>,
    mode: AskMode,
    form: ReportForm,
}

impl RunJob<'_> {
    /// Runs until the script has ended, or waits for somebody who cannot be asked now.
    async fn to_end(&self, mut start: Start) -> Result<CallToolResponse, ToolError> {
        let server = &self.connection.server.0;
        let _place = tokio::select! {
            place = server.runs.take(self.client.account()) => place,
            () = self.context.ct.cancelled() => return Err(ToolError::cancelled()),
        };
        self.opened.approver.set_deciders(match self.mode {
            _ if self.client.on_disk() || self.client.has_approvers() => Deciders::Anybody,
            AskMode::Never => Deciders::Nobody,
            AskMode::Request | AskMode::Result => Deciders::Client,
        });
        let before = self.client.files(self.opened).ok();
        let given_up = if matches!(start, Start::Script { .. }) { self.unfinished().await } else { None };
        let captured = Captured::default();
        let mut dropped = 0;
        let (mut stdout, mut stderr) = (String::new(), String::new());
        for _ in 0..MAX_ROUNDS {
            let result = self.execute(start, &captured).await?;
            let (more_stdout, more_stderr, more_dropped) = captured.take();
            stdout.push_str(&more_stdout);
            stderr.push_str(&more_stderr);
            dropped += more_dropped;
            let pending = self.pending(&result).await?;
            if !pending.is_empty()
                && self.mode == AskMode::Result
                && let Some(required) = approvals::input_required(self.opened, &pending)
            {
                return Ok(required.into());
            }
            if !pending.is_empty() && self.mode == AskMode::Request {
                match self.ask(&pending).await? {
                    Asked::Decided => {
                        start = RESUME;
                        continue;
                    }
                    Asked::Undecided => {}
                    Asked::Cancelled => return self.abandon().await,
                }
            }
            let finished = FinishedRun { result, stdout, stderr, dropped, pending, before, given_up };
            return self.report(finished).await.map(Into::into);
        }
        Err(ToolError::new("the script asks for approval again and again").hint("`pending` lists what waits"))
    }

    /// Returns the interrupted run of the session, which cannot be resumed once another one has begun.
    async fn unfinished(&self) -> Option<u64> {
        if !self.client.on_disk() {
            return None;
        }
        let (client, opened) = (Arc::clone(self.client), Arc::clone(self.opened));
        blocking(move || Ok(client.store()?.unfinished_runs().run_of(&client.id(&opened.name)?)?)).await.ok().flatten()
    }

    /// Lists the calls of a suspended run that wait for a decision.
    async fn pending(&self, result: &RunResult) -> Result<Vec<PendingCall>, ToolError> {
        if result.status != Status::Suspended {
            return Ok(Vec::new());
        }
        pending_calls(self.client, self.opened).await
    }

    /// Asks the client's user about calls that wait.
    async fn ask(&self, pending: &[PendingCall]) -> Result<Asked, ToolError> {
        let by = decider(self.context);
        let in_memory = !self.client.on_disk();
        let refuses_dismissed = refuses_dismissed(self.connection, self.client);
        let mut answers = Vec::new();
        for call in pending.iter().filter(|call| call.state == PendingState::Waits) {
            let asked = tokio::select! {
                asked = approvals::ask(&self.context.peer, call, &by) => asked,
                () = self.context.ct.cancelled() => return Ok(self.cancelled()),
            };
            match asked {
                Ok(Some(answer)) => answers.push((call.call.seq, answer)),
                Ok(None) if refuses_dismissed => {
                    answers.push((call.call.seq, approvals::dismissed(call, &by)));
                }
                // Dismissed, or too long to be shown.
                Ok(None) => return Ok(Asked::Undecided),
                Err(ServiceError::TransportClosed) => return Ok(self.cancelled()),
                // A client that cannot do what it declared. In memory, nobody else could decide.
                Err(error) if in_memory => {
                    let told = shorten(&error.to_string(), MAX_CLIENT_ERROR).text;
                    let why = format!("the client was asked and did not answer: {}", approvals::visible(&told));
                    self.opened.approver.refuse_unasked(call, why);
                }
                Err(_) => return Ok(Asked::Undecided),
            }
        }
        decide(self.client, self.opened, answers).await?;
        Ok(Asked::Decided)
    }

    /// Says what becomes of a run whose request has ended. One on disk waits if the client has left, or the server ends:
    /// the client may come back.
    fn cancelled(&self) -> Asked {
        let has_left = self.context.peer.is_transport_closed() || self.connection.server.0.ending.is_cancelled();
        if has_left && self.client.on_disk() { Asked::Undecided } else { Asked::Cancelled }
    }

    /// Ends the run, which waits: nobody waits for it.
    async fn abandon(&self) -> Result<CallToolResponse, ToolError> {
        abandon(self.client, self.opened).await?;
        Err(ToolError::cancelled())
    }

    async fn report(&self, finished: FinishedRun) -> Result<rmcp::model::CallToolResult, ToolError> {
        let (client, opened) = (Arc::clone(self.client), Arc::clone(self.opened));
        let (limit, form) = (self.connection.server.0.text_limit, self.form);
        let report = move || match form {
            ReportForm::Run => run_report::report(&client, &opened, finished, limit),
            ReportForm::Call => exposed::report(&client, &opened, finished, limit),
        };
        blocking(move || Ok(report())).await
    }

    /// Starts or resumes the run, and waits for its end.
    async fn execute(&self, start: Start, captured: &Captured) -> Result<RunResult, ToolError> {
        // What the script of a call prints is the call's result.
        let level = match self.form {
            ReportForm::Run => self.connection.log_level(self.context),
            ReportForm::Call => None,
        };
        let (sender, lines) = channel(MAX_LINES);
        let output = LiveOutput::new(captured.clone(), level.map(|_| sender));
        let stop = Arc::<Stop>::default();
        let opened = Arc::clone(self.opened);
        opened.given_up.store(false, Ordering::Relaxed);
        let work = {
            let stop = Arc::clone(&stop);
            move || {
                let run = begin(&opened.session, start, output)?;
                let cancel = run.cancel_handle();
                stop.set(Box::new(move || cancel.cancel()));
                Ok(run.finish())
            }
        };
        let (connection, context, wall) = (self.connection, self.context, self.opened.session.gate().limits().wall);
        let request = WatchedRequest { connection, context, opened: self.opened, level, wall };
        request.watch(lines, &stop, work).await
    }
}

/// Ends the run of a session that waits for a decision.
pub(crate) async fn abandon(client: &Arc<ClientSessions>, opened: &Arc<OpenedSession>) -> Result<(), ToolError> {
    let (client, opened) = (Arc::clone(client), Arc::clone(opened));
    blocking(move || {
        client.store()?.unfinished_runs().abandon(&client.id(&opened.name)?, Arc::new(|| true))?;
        Ok(())
    })
    .await
}

/// Starts a script, or resumes the unfinished run.
fn begin(session: &Session, start: Start, output: LiveOutput) -> Result<tollhouse::session::Run, HostError> {
    let output = Some(Box::new(output) as _);
    match start {
        Start::Resume { replay_output } => {
            session.resume(RunOptions { output, replay_output, ..RunOptions::default() })
        }
        Start::Script { language, name, source, stdin } => {
            let script = Script { source, name, ..Script::default() };
            let stdin = if stdin.is_empty() { Stdin::Empty } else { Stdin::Bytes(stdin.into_bytes()) };
            session.start(language, script, RunOptions { output, stdin, ..RunOptions::default() })
        }
    }
}

/// Cancels a run that may not have begun yet.
#[derive(Default)]
pub(crate) struct Stop(Mutex<StopState>);

#[derive(Default)]
struct StopState {
    stopped: bool,
    cancel: Option<Box<dyn Fn() + Send>>,
}

impl Stop {
    /// Sets what cancels the run, and does so at once if that was asked for before.
    pub(crate) fn set(&self, cancel: Box<dyn Fn() + Send>) {
        let mut state = self.state();
        if state.stopped {
            cancel();
        }
        state.cancel = Some(cancel);
    }

    fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        if let Some(cancel) = &state.cancel {
            cancel();
        }
    }

    fn state(&self) -> MutexGuard<'_, StopState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops a run that nobody waits for any more when this is dropped. One that has ended is not changed.
struct StopOnDrop<'a>(&'a Stop);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Request whose work runs something.
pub(crate) struct WatchedRequest<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) context: &'a RequestContext<RoleServer>,
    pub(crate) opened: &'a OpenedSession,
    /// Lowest level of log messages of the run's output; `None` for no such messages.
    pub(crate) level: Option<u8>,
    /// Longest time of the work.
    pub(crate) wall: Duration,
}

impl WatchedRequest<'_> {
    /// Does work on a thread of its own; meanwhile passes output, progress and what mounted servers say on to the client,
    /// and stops the work if the request is cancelled.
    pub(crate) async fn watch<T: Send + 'static>(
        &self,
        mut lines: Receiver<OutputLine>,
        stop: &Stop,
        work: impl FnOnce() -> Result<T, HostError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let context = self.context;
        // A task that is kept no longer is dropped.
        let _stopped = StopOnDrop(stop);
        let mut relayed = RelayedMessages::new(self.connection, context, self.wall);
        // A mounted server may be asked, and say something, as soon as the work begins.
        let mut job = tokio::task::spawn_blocking(work);
        // The first tick of `interval` is due at once, and to wait for it takes up to a millisecond.
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + PROGRESS, PROGRESS);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut stopped = false;
        let done = loop {
            tokio::select! {
                done = &mut job => break done,
                Some(line) = lines.recv() => log(context, self.level, line).await,
                Some(message) = relayed.next() => relayed.hand_on(message).await,
                _ = ticks.tick() => relayed.tick().await,
                () = context.ct.cancelled(), if !stopped => {
                    stopped = true;
                    self.opened.given_up.store(true, Ordering::Relaxed);
                    stop.stop();
                }
            }
        };
        while let Ok(line) = lines.try_recv() {
            log(context, self.level, line).await;
        }
        relayed.finish().await;
        done.map_err(|error| ToolError::because("the run failed", &error))?.map_err(Into::into)
    }
}

/// Sends a line of output as a log message, if the client wants such.
async fn log(context: &RequestContext<RoleServer>, wanted: Option<u8>, line: OutputLine) {
    let level = if line.is_error { LoggingLevel::Warning } else { LoggingLevel::Info };
    // The request of a task is answered.
    if tasks::task_of(context).is_some() {
        return;
    }
    if wanted.is_none_or(|wanted| level_rank(level) < wanted) {
        return;
    }
    let message = LoggingMessageNotificationParam::new(level, json!(line.text));
    let logger = if line.is_error { "stderr" } else { "stdout" };
    // As above.
    let _ = context.peer.notify_logging_message(message.with_logger(logger)).await;
}

async fn pending_calls(
    client: &Arc<ClientSessions>,
    opened: &Arc<OpenedSession>,
) -> Result<Vec<PendingCall>, ToolError> {
    let (client, opened) = (Arc::clone(client), Arc::clone(opened));
    blocking(move || Ok(client.store()?.call_decisions().pending_calls(&client.id(&opened.name)?)?)).await
}

/// Decides about calls as the client answered.
async fn decide_by_responses(
    client: &Arc<ClientSessions>,
    opened: &Arc<OpenedSession>,
    responses: &InputResponses,
    by: &str,
    can_wait: bool,
) -> Result<(), ToolError> {
    let pending = pending_calls(client, opened).await?;
    decide(client, opened, approvals::answers(&pending, &opened.asked, responses, by, can_wait)).await
}

async fn decide(
    client: &Arc<ClientSessions>,
    opened: &Arc<OpenedSession>,
    answers: Vec<(u64, tollhouse::session::Answered)>,
) -> Result<(), ToolError> {
    let (client, opened) = (Arc::clone(client), Arc::clone(opened));
    blocking(move || {
        let id = client.id(&opened.name)?;
        for (seq, answer) in answers {
            let waiting: Waiting = Arc::new(|| true);
            client.store()?.call_decisions().decide(&id, None, Some(seq), &answer, waiting)?;
        }
        Ok(())
    })
    .await
}
