//! Calls of tools, as long as they take. A call that runs something and takes long becomes a task, if its client can poll
//! one (the extension `io.modelcontextprotocol/tasks` of revision 2026-07-28): the request is answered by the task's
//! handle, and the run goes on.
//!
//! A task belongs to the client whose request it was: other clients find no task by its id. It ends with its run, and its
//! result stays for a time. Tasks are in memory; a run of a session on disk outlives them, and `resume` continues it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, InputRequests, InputRequiredResult,
    InputResponses, Task,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::approvals;
use crate::runs;
use crate::server::{CallInProgress, Connection, is_modern};
use crate::sessions::ClientSessions;
use crate::tool_error::ToolError;

/// Time after which a call becomes a task. Most runs have ended by then, and need no polling.
const PATIENCE: Duration = Duration::from_secs(5);

/// Interval at which clients should poll, in milliseconds.
const POLL: u64 = 1_000;

/// Time for which a task is kept besides that of its run: runs of one session wait for each other, and for consent.
const KEPT: Duration = Duration::from_secs(3600);

/// Most tasks of one client, with those that have ended and are kept. Beyond it a call is answered when it ends.
const MAX_TASKS: usize = 64;

/// Most rounds of questions to the client's user in one task.
const MAX_ROUNDS: usize = 100;

/// Tasks of one client.
#[derive(Default)]
pub(crate) struct ClientTasks {
    manager: TaskManager,
    ids: Mutex<Vec<String>>,
}

impl ClientTasks {
    /// Returns what answers the requests about tasks.
    pub(crate) fn manager(&self) -> &TaskManager {
        &self.manager
    }

    /// Lists the tasks, the oldest first, as clients of 2025-11-25 are told of them. The SDK has no such request.
    pub(crate) fn list(&self) -> Value {
        let ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let known = ids.iter().filter_map(|id| self.manager.get_task(id).ok());
        let tasks: Vec<Value> = known.map(|known| listed(&known.task)).collect();
        json!({ "tasks": tasks })
    }

    /// Turns a call into a task; returns the call if the client has as many tasks as it may.
    fn begin(&self, running: Running, repeated: RepeatedCall) -> Result<CallToolResponse, Running> {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.retain(|id| self.manager.get_task(id).is_ok());
        if ids.len() >= MAX_TASKS {
            return Err(running);
        }
        let kept = u64::try_from((KEPT + repeated.wall).as_millis()).unwrap_or(u64::MAX);
        let options = TaskOptions::new().with_ttl_ms(kept).with_poll_interval_ms(POLL);
        let task = self.manager.spawn(options, |task| Box::pin(repeated.follow(task, running)));
        ids.push(task.task_id.clone());
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }
}

/// Describes a task in the words of 2025-11-25, whose times have other names.
fn listed(task: &Task) -> Value {
    let mut listed = json!({
        "taskId": task.task_id, "status": task.status, "createdAt": task.created_at,
        "lastUpdatedAt": task.last_updated_at, "ttl": task.ttl_ms,
    });
    if let Some(interval) = task.poll_interval_ms {
        listed["pollInterval"] = interval.into();
    }
    if let Some(message) = &task.status_message {
        listed["statusMessage"] = message.as_str().into();
    }
    listed
}

/// Task that a request has become, as an extension of the request.
#[derive(Clone, Default)]
struct TaskOfRequest(Arc<OnceLock<TaskContext>>);

/// Returns the task that a request has become. What its client was to be told meanwhile is the task's status.
pub(crate) fn task_of(context: &RequestContext<RoleServer>) -> Option<&TaskContext> {
    context.extensions.get::<TaskOfRequest>()?.0.get()
}

/// Call of a tool, which may outlive its request.
pub(crate) struct ToolCall {
    connection: Connection,
    context: RequestContext<RoleServer>,
    client: Arc<ClientSessions>,
    /// What counts the call as one in progress.
    _counted: (OwnedSemaphorePermit, CallInProgress),
}

/// Call that goes on, with its answer.
type Running = Pin<Box<dyn Future<Output = (ToolCall, CallToolResponse)> + Send>>;

impl ToolCall {
    /// Creates a call of a client.
    pub(crate) fn new(
        connection: Connection,
        context: RequestContext<RoleServer>,
        client: Arc<ClientSessions>,
        counted: (OwnedSemaphorePermit, CallInProgress),
    ) -> Self {
        Self { connection, context, client, _counted: counted }
    }

    /// Returns true if the call runs something, and its client can poll a task.
    fn may_be_task(&self, tool: &str) -> bool {
        let declares = || self.context.client_capabilities().is_some_and(|declared| declared.supports_tasks());
        is_modern(&self.context) && self.connection.is_run(tool) && declares()
    }

    fn start(self, request: CallToolRequestParams) -> Running {
        Box::pin(async move {
            let answer = self.connection.answer_call(request, &self.context, &self.client).await;
            (self, answer)
        })
    }
}

/// Answers a call: by its result, or by a task if it takes long and its client can poll one.
pub(crate) async fn answer(mut call: ToolCall, request: CallToolRequestParams) -> CallToolResponse {
    // The token of the request is cancelled with the answer, which may be a task.
    let cancelled = CancellationToken::new();
    let of_request = std::mem::replace(&mut call.context.ct, cancelled.clone());
    let ending = call.connection.server.0.ending.clone();
    let client = Arc::clone(&call.client);
    let repeated = call.may_be_task(&request.name).then(|| {
        let link = TaskOfRequest::default();
        call.context.extensions.insert(link.clone());
        let (request, client, cancelled) = (request.clone(), Arc::clone(&client), cancelled.clone());
        RepeatedCall { request, client, cancelled, ending: ending.clone(), link, wall: longest_run(&call) }
    });
    let may_be_task = repeated.is_some();
    let mut running = call.start(request);
    tokio::select! {
        (_, answer) = &mut running => return answer,
        () = of_request.cancelled() => cancelled.cancel(),
        () = ending.cancelled() => cancelled.cancel(),
        () = tokio::time::sleep(PATIENCE), if may_be_task => {
            if let Some(repeated) = repeated {
                match client.tasks.begin(running, repeated) {
                    Ok(task) => return task,
                    Err(call) => running = call,
                }
            }
        }
    }
    tokio::select! {
        (_, answer) = &mut running => return answer,
        () = of_request.cancelled() => cancelled.cancel(),
        () = ending.cancelled() => cancelled.cancel(),
    }
    running.await.1
}

/// Returns the longest time of a run of the client.
fn longest_run(call: &ToolCall) -> Duration {
    call.client.find_open(crate::sessions::MAIN).map_or(KEPT, |main| main.session.gate().limits().wall)
}

/// Call of a task, which is repeated with the answers to questions.
struct RepeatedCall {
    request: CallToolRequestParams,
    client: Arc<ClientSessions>,
    /// Cancels the run.
    cancelled: CancellationToken,
    ending: CancellationToken,
    link: TaskOfRequest,
    wall: Duration,
}

impl RepeatedCall {
    /// Follows the call to the end of its run.
    async fn follow(self, task: TaskContext, mut running: Running) -> Result<CallToolResult, TaskExit> {
        // It is set once, here.
        let _ = self.link.0.set(task.clone());
        let mut round = 0;
        loop {
            let (call, answer) = tokio::select! {
                answered = &mut running => answered,
                () = task.cancelled() => return self.stop(running).await,
                () = self.ending.cancelled() => return self.stop(running).await,
            };
            let required = match answer {
                CallToolResponse::Complete(result) => return Ok(result),
                CallToolResponse::InputRequired(required) => required,
                _ => return Err(ErrorData::internal_error("the call has no result", None).into()),
            };
            let InputRequiredResult { input_requests, request_state, .. } = required;
            if round == MAX_ROUNDS {
                // Nobody is asked any more, so that the run would wait for ever.
                return Err(match self.give_up(request_state.as_deref()).await {
                    TaskExit::Cancelled => {
                        ErrorData::internal_error("the script asks for approval again and again", None).into()
                    }
                    failed => failed,
                });
            }
            let responses = match self.ask(&task, input_requests.unwrap_or_default(), round).await {
                Some(responses) => responses,
                None => return Err(self.give_up(request_state.as_deref()).await),
            };
            let mut request = self.request.clone();
            (request.request_state, request.input_responses) = (request_state, Some(responses));
            running = call.start(request);
            round += 1;
        }
    }

    /// Stops the run. What it had done before is its result, if it has one.
    async fn stop(&self, running: Running) -> Result<CallToolResult, TaskExit> {
        self.cancelled.cancel();
        match running.await.1 {
            CallToolResponse::Complete(result) if result.is_error != Some(true) => Ok(result),
            CallToolResponse::InputRequired(required) => Err(self.give_up(required.request_state.as_deref()).await),
            _ => Err(TaskExit::Cancelled),
        }
    }

    /// Asks the client, which answers by `tasks/update`. Returns `None` if the task is cancelled, or the server ends.
    async fn ask(&self, task: &TaskContext, requests: InputRequests, round: usize) -> Option<InputResponses> {
        let mut asked = Vec::new();
        for (key, request) in requests {
            // A question that was dismissed may be asked again, and each key is used once in a task.
            let (task, name) = (task.clone(), format!("{key}.{round}"));
            // Questions are there at once, before the first is answered.
            asked.push((key, tokio::spawn(async move { task.request_input(name, request).await })));
        }
        let mut responses = InputResponses::new();
        for (key, answer) in asked {
            let answered = tokio::select! {
                answered = answer => answered,
                () = self.ending.cancelled() => return None,
            };
            responses.insert(key, answered.ok()?.ok()?);
        }
        Some(responses)
    }

    /// Ends a run that waits, unless the server ends: then the run of a session on disk stays suspended. Returns the end
    /// of the task.
    async fn give_up(&self, state: Option<&str>) -> TaskExit {
        if self.ending.is_cancelled() && self.client.on_disk() {
            return TaskExit::Cancelled;
        }
        match self.abandon(state).await {
            Ok(()) => TaskExit::Cancelled,
            Err(error) => ErrorData::internal_error(error.to_string(), None).into(),
        }
    }

    /// Ends the run that this state of a request names.
    async fn abandon(&self, state: Option<&str>) -> Result<(), ToolError> {
        let Some(state) = state else { return Ok(()) };
        let state = approvals::parse_state(state)?;
        let opened = runs::open(&self.client, Some(state.session)).await?;
        runs::abandon(&self.client, &opened).await
    }
}
