//! Requests of a client, and where each is answered.
// Logging is deprecated in the protocol's revision of 2026-07-28, and what clients of all earlier ones have.
#![expect(deprecated, reason = "clients of earlier revisions of the protocol use it")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::arguments::{excerpt, nearest};
use crate::catalog;
use crate::client::MessageRelay;
use crate::completions;
use crate::deciding;
use crate::definitions;
use crate::exposed::ExposedTools;
use crate::run_places::RunPlaces;
use crate::runs;
use crate::sessions::{ClientSessions, HeldSession, RootSession};
use crate::tasks::{self, ToolCall};
use crate::tool_error::ToolError;
use crate::tool_names::{self, ExposeError};
use crate::waiting_calls::WaitingCalls;
use crate::{files, pending, prompts, resources, session_tool};

/// Runs that may be active at once, of all clients. Each has a thread, and memory up to its session's limit.
const MAX_RUNS: usize = 64;

/// Methods whose parameters may be wrong, and those that a gateway has not.
const METHODS: [&str; 9] = [
    "initialize",
    "ping",
    "server/discover",
    "logging/setLevel",
    "tools/list",
    "tools/call",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];
const SCRIPT_METHODS: [&str; 9] = [
    "completion/complete",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "resources/templates/list",
    "subscriptions/listen",
];

/// Request of 2025-11-25, which later revisions do not have.
const LIST_TASKS: &str = "tasks/list";

/// Shortest text limit: an error of a script must fit.
const MIN_TEXT: usize = 500;

/// Options of a server.
pub struct ServerOptions {
    /// Default session of the client, or the session from which those of several clients are forked.
    pub root: RootSession,
    /// Methods that are tools of the protocol too, with their own schemas.
    pub exposed: Vec<String>,
    /// True for a gateway: mounted tools are the tools of the protocol, all of them unless `exposed` names some, and
    /// clients run no scripts.
    pub is_gateway: bool,
    /// Most characters of the text of a result.
    pub text_limit: usize,
    /// True if the client's user may be asked for consent.
    pub ask_client: bool,
    /// Version of this program, which clients are told.
    pub version: String,
    /// Relay of the messages of mounted servers. A gateway hands them on to its clients.
    pub relay: MessageRelay,
    /// Calls of clients with tokens that wait for a decision by other clients.
    pub waiting: WaitingCalls,
}

/// Server of all its connections. Cheap to clone.
#[derive(Clone)]
pub struct Server(pub(crate) Arc<ServerState>);

pub(crate) struct ServerState {
    pub(crate) root: RootSession,
    pub(crate) exposed: ExposedTools,
    pub(crate) is_gateway: bool,
    pub(crate) text_limit: usize,
    ask_client: bool,
    version: String,
    pub(crate) relay: MessageRelay,
    pub(crate) waiting: WaitingCalls,
    pub(crate) runs: RunPlaces,
    /// Cancelled when the server ends: runs are cancelled then, and calls that wait for consent stay suspended on disk.
    pub(crate) ending: CancellationToken,
    /// Number of the calls of tools that are in progress.
    calls: watch::Sender<usize>,
}

impl Server {
    /// Creates a server.
    ///
    /// # Errors
    /// If a method that is to be exposed does not exist, or has the name of another tool.
    pub fn new(options: ServerOptions) -> Result<Self, ExposeError> {
        let exposed = ExposedTools::new(&options.exposed, options.root.session.gate(), options.is_gateway)?;
        Ok(Self(Arc::new(ServerState {
            root: options.root,
            exposed,
            is_gateway: options.is_gateway,
            text_limit: options.text_limit.max(MIN_TEXT),
            ask_client: options.ask_client,
            version: options.version,
            relay: options.relay,
            waiting: options.waiting,
            runs: RunPlaces::new(MAX_RUNS),
            ending: CancellationToken::new(),
            calls: watch::Sender::new(0),
        })))
    }

    /// Creates the connection of the only client.
    pub(crate) fn connection(&self) -> Connection {
        Connection::new(self.clone(), Clients::Fixed(Arc::new(ClientSessions::of_root(&self.0.root))))
    }

    /// Cancels the calls of tools that are in progress, and waits until they have ended, for as long as `grace`.
    pub(crate) async fn end(&self, grace: Duration) {
        self.0.ending.cancel();
        // What has not ended by then ends with the process; a session on disk has its journal.
        let _ = tokio::time::timeout(grace, self.idle()).await;
    }

    /// Waits until no call of a tool is in progress.
    pub(crate) async fn idle(&self) {
        // The sender is in this server.
        let _ = self.0.calls.subscribe().wait_for(|calls| *calls == 0).await;
    }

    /// Counts a call of a tool as one in progress; `None` once the server ends.
    fn begin_call(&self) -> Option<CallInProgress> {
        let begun = CallInProgress::new(self.clone());
        (!self.0.ending.is_cancelled()).then_some(begun)
    }
}

/// Call of a tool that is in progress until this is dropped.
pub(crate) struct CallInProgress(Server);

impl CallInProgress {
    fn new(server: Server) -> Self {
        server.0.calls.send_modify(|calls| *calls += 1);
        Self(server)
    }
}

impl Drop for CallInProgress {
    fn drop(&mut self) {
        self.0.0.calls.send_modify(|calls| *calls -= 1);
    }
}

/// The clients of a connection.
#[derive(Clone)]
pub(crate) enum Clients {
    /// One client, whoever sends a request.
    Fixed(Arc<ClientSessions>),
    /// The client that the request's authorization names.
    OfRequest,
}

/// Connection of a client. Clones are the same connection.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) server: Server,
    clients: Clients,
    /// Lowest level of log messages that the client wants, as [`level_rank`] counts.
    level: Arc<AtomicU8>,
    /// Resources whose changes the client wants to be told of.
    subscribed: Arc<Mutex<BTreeSet<String>>>,
    /// True once changes are forwarded.
    forwards: Arc<AtomicBool>,
}

impl Connection {
    pub(crate) fn new(server: Server, clients: Clients) -> Self {
        let level = Arc::new(AtomicU8::new(level_rank(LoggingLevel::Info)));
        Self { server, clients, level, subscribed: Arc::default(), forwards: Arc::default() }
    }

    /// Returns true if the client's user may be asked for consent.
    pub(crate) fn asks_client(&self) -> bool {
        self.server.0.ask_client
    }

    /// Returns the sessions of the client that made a request.
    ///
    /// # Errors
    /// If the request is of nobody.
    pub(crate) fn sessions(&self, context: &RequestContext<RoleServer>) -> Result<Arc<ClientSessions>, ErrorData> {
        match &self.clients {
            Clients::Fixed(sessions) => Ok(Arc::clone(sessions)),
            Clients::OfRequest => crate::http::client_of(&context.extensions)
                .ok_or_else(|| ErrorData::invalid_request("the request has no authorization", None)),
        }
    }

    /// Returns the lowest level of log messages that the client wants for a request; `None` for no messages.
    pub(crate) fn log_level(&self, context: &RequestContext<RoleServer>) -> Option<u8> {
        if is_modern(context) {
            return context.meta.log_level().map(level_rank);
        }
        Some(self.level.load(Ordering::Relaxed))
    }

    /// Checks that prompts and resources are offered: a gateway has tools only, and so has a client that decides.
    fn offers_more_than_tools(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        match self.server.0.is_gateway || crate::http::approver_of(&context.extensions).is_some() {
            true => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this server offers tools only", None)),
            false => Ok(()),
        }
    }

    /// Returns true if a call of this tool runs something.
    pub(crate) fn is_run(&self, tool: &str) -> bool {
        let server = &self.server.0;
        let is_own = matches!(tool, definitions::RUN_JAVASCRIPT | definitions::RUN_BASH | definitions::RESUME);
        server.exposed.is_name(tool) || (is_own && server.offers(tool))
    }

    /// Answers a call of a tool. Errors are results for the model.
    pub(crate) async fn answer_call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        client: &Arc<ClientSessions>,
    ) -> CallToolResponse {
        let answered = self.dispatch(request, context, Arc::clone(client)).await;
        answered.unwrap_or_else(|error| {
            let error = error.with_names_of(client);
            let error = if self.server.0.is_gateway { error.for_gateway() } else { error };
            error.into_result().into()
        })
    }

    async fn dispatch(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        client: Arc<ClientSessions>,
    ) -> Result<CallToolResponse, ToolError> {
        let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let retry = runs::Retry { state: request_state, responses: input_responses.unwrap_or_default() };
        let server = &self.server.0;
        match &*name {
            _ if server.exposed.is_name(&name) => {
                crate::exposed::call(self, context, client, &name, arguments, retry).await
            }
            // An exposed tool cannot have the name of one that is offered.
            other if !server.offers(other) => Err(server.unknown_tool(other)),
            definitions::RUN_JAVASCRIPT | definitions::RUN_BASH | definitions::RESUME => {
                runs::run(self, context, client, &name, arguments, retry).await
            }
            _ => self.answer(name.into_owned(), arguments, context, client).await.map(Into::into),
        }
    }

    /// Answers a call of a tool that runs nothing, on a thread that may wait for files.
    async fn answer(
        &self,
        name: String,
        arguments: Option<JsonObject>,
        context: &RequestContext<RoleServer>,
        client: Arc<ClientSessions>,
    ) -> Result<CallToolResult, ToolError> {
        let (server, limit) = (self.server.clone(), self.server.0.text_limit);
        let answered = match name.as_str() {
            // They change a session: a run of it ends first.
            definitions::WRITE_FILE => {
                let held = hold(&client, arguments.as_ref(), context).await?;
                tokio::task::spawn_blocking(move || files::write(&client, &held, arguments))
            }
            definitions::SESSIONS if session_tool::is_rollback(arguments.as_ref()) => {
                let held = hold(&client, arguments.as_ref(), context).await?;
                tokio::task::spawn_blocking(move || session_tool::rollback(&client, &held, arguments))
            }
            _ => tokio::task::spawn_blocking(move || match name.as_str() {
                definitions::SEARCH_TOOLS => catalog::search(&client, arguments),
                definitions::DESCRIBE_TOOLS => catalog::describe(&client, arguments, limit),
                definitions::LIST_FILES => files::list(&client, arguments, limit),
                definitions::READ_FILE => files::read(&client, arguments, limit),
                definitions::SESSIONS => session_tool::call(&client, arguments, limit),
                definitions::PENDING => pending::list(&client, arguments, limit),
                other => Err(server.0.unknown_tool(other)),
            }),
        };
        answered.await.unwrap_or_else(|error| Err(ToolError::because("the tool failed", &error)))
    }
}

/// Waits until nothing else uses the session that the arguments name.
async fn hold(
    client: &Arc<ClientSessions>,
    arguments: Option<&JsonObject>,
    context: &RequestContext<RoleServer>,
) -> Result<HeldSession, ToolError> {
    let name = arguments.and_then(|arguments| arguments.get("session")?.as_str());
    runs::open(client, name.map(str::to_owned)).await?.hold(&context.ct).await
}

impl ServerState {
    /// Returns true if a tool of the server itself has this name.
    fn offers(&self, name: &str) -> bool {
        tool_names::reserved(self.is_gateway).contains(&name)
    }

    fn unknown_tool(&self, name: &str) -> ToolError {
        let error = ToolError::new(format!("there is no tool `{}`", excerpt(name)));
        let own = tool_names::reserved(self.is_gateway).iter().copied();
        match nearest(name, own.chain(self.exposed.names())) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if self.is_gateway => error.hint("`tools/list` lists the tools that are granted"),
            None => error.hint("tools of `search_tools` are called by scripts: `run_javascript`, `run_bash`"),
        }
    }
}

/// Returns true if a request is of the protocol's revision of 2026-07-28 or a later one.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Returns the rank of a log level, from the least severe.
pub(crate) fn level_rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        _ => 7,
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let (capabilities, instructions) = if self.server.0.is_gateway {
            let of_tools = ServerCapabilities::builder().enable_logging().enable_tools().enable_tasks().build();
            (of_tools, definitions::GATEWAY_INSTRUCTIONS)
        } else {
            let of_scripts = ServerCapabilities::builder()
                .enable_completions()
                .enable_logging()
                .enable_prompts()
                .enable_resources()
                .enable_resources_list_changed()
                .enable_resources_subscribe()
                .enable_tools()
                .enable_tasks()
                .build();
            (of_scripts, definitions::INSTRUCTIONS)
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("tollhouse", self.server.0.version.clone()).with_title("Tollhouse"))
            .with_instructions(instructions)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let client = match &self.clients {
            Clients::Fixed(client) => Some(Arc::clone(client)),
            Clients::OfRequest => crate::http::client_of(&context.extensions),
        };
        if let Some(client) = client
            && !self.server.0.is_gateway
            && !self.forwards.swap(true, Ordering::Relaxed)
        {
            let subscribed = Arc::clone(&self.subscribed);
            tokio::spawn(resources::forward(client.changes(), subscribed, context.peer));
        }
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.level.store(level_rank(request.level), Ordering::Relaxed);
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if crate::http::approver_of(&context.extensions).is_some() {
            return Ok(ListToolsResult::with_all_items(deciding::tools()));
        }
        let client = self.sessions(&context)?;
        let main = client.get(None).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let gate = main.session.gate();
        let cursor = request.and_then(|request| request.cursor);
        let server = &self.server.0;
        let own = if server.is_gateway { definitions::gateway(gate) } else { definitions::all(gate) };
        server.exposed.page(own, &main, cursor.as_deref())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        if method == LIST_TASKS && context.protocol_version() == Some(ProtocolVersion::V_2025_11_25) {
            // All are on the first page.
            return match request.params.as_ref().is_some_and(|params| !params["cursor"].is_null()) {
                true => Err(ErrorData::invalid_params("no such cursor", None)),
                false => Ok(CustomResult::new(self.sessions(&context)?.tasks.list())),
            };
        }
        let is_known = METHODS.contains(&method) || (!self.server.0.is_gateway && SCRIPT_METHODS.contains(&method));
        Err(match is_known {
            true => ErrorData::invalid_params(format!("the parameters are not those of `{method}`"), None),
            false => {
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{}`", excerpt(method)), None)
            }
        })
    }

    fn get_tool(&self, _: &str) -> Option<Tool> {
        // Arguments are checked by the tools, whose errors are for models.
        None
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(approver) = crate::http::approver_of(&context.extensions) {
            let client = runs::client_name(&context);
            return Ok(deciding::answer(self.server.clone(), approver, client, request).await.into());
        }
        let client = self.sessions(&context)?;
        let permit = match client.begin_request() {
            Ok(permit) => permit,
            Err(error) => return Ok(error.into_result().into()),
        };
        let Some(in_progress) = self.server.begin_call() else {
            return Err(ErrorData::internal_error("the server ends", None));
        };
        let call = ToolCall::new(self.clone(), context, client, (permit, in_progress));
        Ok(tasks::answer(call, request).await)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.sessions(&context)?.tasks.manager().get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.sessions(&context)?.tasks.manager().update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.sessions(&context)?.tasks.manager().cancel_task(&request.task_id)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.offers_more_than_tools(&context)?;
        let client = self.sessions(&context)?;
        blocking(move || completions::complete(&client, &request)).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.offers_more_than_tools(&context)?;
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.offers_more_than_tools(&context)?;
        let client = self.sessions(&context)?;
        let main = client.get(None).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        prompts::get(&request, main.session.gate()).map(Into::into)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.offers_more_than_tools(&context)?;
        let client = self.sessions(&context)?;
        let cursor = request.and_then(|request| request.cursor);
        blocking(move || resources::list(&client, cursor.as_deref())).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.offers_more_than_tools(&context)?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.offers_more_than_tools(&context)?;
        let client = self.sessions(&context)?;
        blocking(move || resources::read(&client, &request.uri)).await.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.offers_more_than_tools(&context)?;
        let client = self.sessions(&context)?;
        blocking(move || {
            resources::check(&client, &request.uri)?;
            Ok(request.uri)
        })
        .await
        .and_then(|uri| resources::remember(&self.subscribed, uri))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        (!self.server.0.is_gateway).then(|| requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let client = self.sessions(context.request_context())?;
        resources::listen(client.changes(), &context).await;
        Ok(())
    }
}

/// Does something that waits for files on another thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorData> + Send + 'static,
) -> Result<T, ErrorData> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ErrorData::internal_error(error.to_string(), None)))
}
