//! Connection to one server: its start, its tools, and calls of them.

use std::collections::VecDeque;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, JsonObject, MetaObject, PaginatedRequestParams, ProtocolVersion, RequestMetaObject, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RoleClient, RunningService, ServiceError,
};
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tollhouse::error::{Failure, Payload};
use tollhouse::gate::AuditError;
use tollhouse::json::weight;
use tollhouse::tool::{DefinitionError, HostCall, PinnedServer, SecretUse, Secrets};

use super::relay::MessageRelay;
use super::requests::ServerHandler;
use super::results;
use super::transport::{BoundedTransport, EndReason, Ended, ServerNotes};

/// Field of a call's metadata that has its idempotency key, for servers that know it.
const IDEMPOTENCY_KEY: &str = "tollhouse/idempotency-key";

/// Longest time from the start of a program until its tools are known: package managers download programs.
const START: Duration = Duration::from_secs(60);

/// Longest time of one call, unless the policy says otherwise.
const CALL: Duration = Duration::from_secs(60);

/// Interval at which a waiting call checks whether its run goes on.
const TICK: Duration = Duration::from_millis(10);

/// Most pages of a list of tools.
const MAX_PAGES: usize = 200;

/// Most changed methods that an error names.
const MAX_CHANGED: usize = 10;

/// Bytes of a server's error output that are kept: the last ones.
const LAST_WORDS: usize = 2 << 10;

/// Time for which the rest of a server's error output is awaited.
const MOMENT: Duration = Duration::from_millis(200);

/// Pipes of a started server.
#[derive(Debug)]
pub struct ServerPipes {
    /// Pipe to its standard input.
    pub input: OwnedFd,
    /// Pipe from its standard output.
    pub output: OwnedFd,
    /// Pipe from its standard error.
    pub diagnostics: OwnedFd,
}

/// Reason why a server cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The pipes cannot be used.
    #[error("its pipes cannot be used")]
    Pipes(#[source] std::io::Error),
    /// The server did not answer in time.
    #[error("it did not say within {limit} seconds what it offers{words}", limit = START.as_secs())]
    Silent {
        /// End of its error output.
        words: LastWords,
    },
    /// The server does not speak the protocol, or ended.
    #[error("{reason}{words}")]
    Protocol {
        /// Description of the problem.
        reason: String,
        /// End of its error output.
        words: LastWords,
    },
    /// The definitions of its tools cannot be used.
    #[error(transparent)]
    Definitions(DefinitionError),
    /// It was not started, because the use of its secrets could not be recorded.
    #[error("it was not started, because the use of its secrets could not be recorded")]
    Unrecorded(#[source] AuditError),
}

/// End of a server's error output, for an error. It is a stranger's text.
#[derive(Clone, Debug, Default)]
pub struct LastWords(String);

impl fmt::Display for LastWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "; the last line of its error output: {}", self.0) }
    }
}

/// Connection to one server. It ends when this is dropped.
pub struct ServerConnection {
    name: String,
    timeout: Duration,
    tools: Arc<PinnedServer>,
    /// Its end closes the pipes, which tells the program to end.
    service: RunningService<RoleClient, ServerHandler>,
    ended: Ended,
    /// Set if the server says that its tools have changed.
    changed: Arc<AtomicBool>,
    /// Methods that have changed, once any tool has: from then on no call is made.
    difference: Arc<OnceLock<Vec<String>>>,
    /// Told how the tools have changed: the words of a server, which are for no model.
    on_change: OnChange,
    words: DiagnosticTail,
    /// Secrets whose values the server was given.
    uses: Vec<SecretUse>,
    /// Secrets whose values are in nothing that comes from the server.
    secrets: Secrets,
    /// True if the server is started again when it has ended.
    restarts: AtomicBool,
    threads: Arc<ClientThreads>,
}

/// Receives the name of a server, and how its tools have changed.
pub(super) type OnChange = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Threads of the connections. Their end waits for nobody, so that it may come on any thread.
pub(super) struct ClientThreads(Option<Runtime>);

impl ClientThreads {
    pub(super) fn new(runtime: Runtime) -> Self {
        Self(Some(runtime))
    }

    fn runtime(&self) -> &Runtime {
        self.0.as_ref().expect("it is taken when this is dropped")
    }
}

impl Drop for ClientThreads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl ServerConnection {
    /// Connects, and lists the tools.
    pub(super) fn new(
        threads: Arc<ClientThreads>,
        name: &str,
        pipes: ServerPipes,
        relay: &MessageRelay,
        on_change: OnChange,
        secrets: &Secrets,
    ) -> Result<Self, ConnectError> {
        let words = DiagnosticTail::new(secrets.clone());
        let ended = Ended::default();
        let handler = ServerHandler::new(name, relay.clone(), secrets.clone());
        let changed = Arc::clone(&handler.changed);
        let started = async { timeout(START, started(handler, pipes, &words, &ended)).await };
        let started = threads.runtime().block_on(started);
        let (service, tools) = match started {
            Ok(started) => started?,
            Err(_) => return Err(ConnectError::Silent { words: words.last() }),
        };
        // Whatever the server said so far, the list that was just read is newer.
        changed.store(false, Ordering::Release);
        let (name, tools, difference) = (name.to_owned(), Arc::new(tools), Arc::default());
        Ok(Self {
            name,
            timeout: CALL,
            tools,
            service,
            ended,
            changed,
            difference,
            on_change,
            words,
            uses: Vec::new(),
            secrets: secrets.clone(),
            restarts: AtomicBool::new(false),
            threads,
        })
    }

    /// Sets the longest time of one call.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Names the secrets whose values the server was given.
    pub(super) fn with_secrets(mut self, uses: Vec<SecretUse>) -> Self {
        self.uses = uses;
        self
    }

    /// Returns the secrets whose values the server was given.
    pub(super) fn secrets(&self) -> &[SecretUse] {
        &self.uses
    }

    /// Returns the server's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the definitions of the server's tools, as it listed them.
    #[must_use]
    pub fn tools(&self) -> &PinnedServer {
        &self.tools
    }

    /// Returns true if the server is not there any more.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.get().is_some() || self.service.is_closed()
    }

    /// Says whether the server is started again when it has ended.
    pub(super) fn set_restarts(&self, restarts: bool) {
        self.restarts.store(restarts, Ordering::Relaxed);
    }

    /// Calls a tool, on a thread that may block.
    pub(super) fn call(&self, tool: &str, call: &HostCall<'_>) -> Result<Payload, Failure> {
        let arguments = call.arguments.as_object().cloned().unwrap_or_default();
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        params.meta = Some(metadata(call));
        let (peer, known) = (self.service.peer().clone(), Arc::clone(&self.tools));
        let (name, changed, difference) = (self.name.clone(), Arc::clone(&self.changed), Arc::clone(&self.difference));
        let (limit, on_change, secrets) = (self.timeout, Arc::clone(&self.on_change), self.secrets.clone());
        let (sender, receiver) = sync_channel(1);
        let request = self.threads.runtime().spawn(async move {
            let answered = timeout(limit, async {
                if changed.swap(false, Ordering::AcqRel) {
                    // A server whose list cannot be read is not called either: the next call tries again.
                    let found = listed(&peer, &secrets).await.inspect_err(|error| {
                        changed.store(true, Ordering::Release);
                        if let ListError::Definitions(error) = error {
                            on_change(&name, &error.to_string());
                        }
                    })?;
                    if let Some(lines) = known.difference(&name, &found) {
                        let methods = known.changed(&found).map(|tool| format!("{name}/{tool}")).collect();
                        if difference.set(methods).is_ok() {
                            on_change(&name, &lines);
                        }
                    }
                }
                if difference.get().is_some() {
                    return Err(CallError::Changed);
                }
                peer.call_tool_once(params).await.map_err(CallError::Service)
            });
            // Nobody receives it if the call was given up.
            let _ = sender.send(answered.await.unwrap_or(Err(CallError::Late)));
        });
        let answered = loop {
            match receiver.recv_timeout(TICK) {
                Ok(answered) => break answered,
                Err(RecvTimeoutError::Timeout) if call.is_over() => {
                    // Its end tells the server that nobody waits any more.
                    request.abort();
                    return Err(Failure::cancelled());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Err(CallError::Service(ServiceError::TransportClosed)),
            }
        };
        let answer = answered.map_err(|error| self.failure(call.method, error))?;
        let payload = results::payload(call.method, answer, &self.secrets)?;
        call.keep(weight(&payload.value))?;
        Ok(payload)
    }

    fn failure(&self, method: &str, error: CallError) -> Failure {
        let name = &self.name;
        match error {
            CallError::Late => {
                let message = format!("`{method}` was not answered within {} ms", self.timeout.as_millis());
                Failure::limit(
                    message,
                    format!("it may have taken effect; raise `timeout` under `[mcp.{name}]` of the policy"),
                )
            }
            CallError::Changed => {
                let methods = self.difference.get().map_or(&[][..], Vec::as_slice);
                let shown: Vec<String> = methods.iter().take(MAX_CHANGED).map(|method| format!("`{method}`")).collect();
                let more = if methods.len() > MAX_CHANGED { " and others" } else { "" };
                let what = match shown.is_empty() {
                    true => "there are tools that were not pinned".to_owned(),
                    false => format!("not as they were pinned: {}{more}", shown.join(", ")),
                };
                let message =
                    format!("`{method}` is not called: the MCP server `{name}` has changed its tools meanwhile");
                Failure::tool(message).with_hint(format!(
                    "{what}; no tool of it is called any more. Whoever runs this reads the difference on standard \
                     error, or by `tollhouse mcp test {name}`"
                ))
            }
            CallError::Definitions => Failure::tool(format!(
                "`{method}` is not called: the MCP server `{name}` has changed its tools, and lists what cannot be used"
            )),
            CallError::Service(ServiceError::McpError(error)) => results::protocol_error(&error, &self.secrets),
            CallError::Service(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => self.gone(),
            CallError::Service(_) => {
                Failure::tool(format!("`{method}` answered with something that the protocol does not have"))
            }
        }
    }

    /// Returns the failure of a call of a server that is not there any more.
    pub(super) fn gone(&self) -> Failure {
        let (name, words) = (&self.name, self.words.last());
        let reason = self.ended.get().cloned().unwrap_or(EndReason::Closed);
        let message = format!("the MCP server `{name}` has ended: {reason}");
        let again = match self.restarts.load(Ordering::Relaxed) {
            true => "for a later call, and has forgotten what it knew",
            false => "with the next `tollhouse run`, or when `tollhouse mcp` is started again",
        };
        let hint =
            format!("calls that it had not answered may have taken effect; the server is started again {again}{words}");
        match reason {
            EndReason::Limit(_) => Failure::limit(message, hint),
            _ => Failure::tool(message).with_hint(hint),
        }
    }
}

/// Reason why a call has no answer.
enum CallError {
    Service(ServiceError),
    Definitions,
    Changed,
    Late,
}

impl From<ListError> for CallError {
    fn from(error: ListError) -> Self {
        match error {
            ListError::Service(error) => Self::Service(error),
            ListError::Definitions(_) => Self::Definitions,
        }
    }
}

/// Reason why the tools are not known.
enum ListError {
    Service(ServiceError),
    Definitions(DefinitionError),
}

async fn started(
    handler: ServerHandler,
    pipes: ServerPipes,
    words: &DiagnosticTail,
    ended: &Ended,
) -> Result<(RunningService<RoleClient, ServerHandler>, PinnedServer), ConnectError> {
    let output = Receiver::from_owned_fd(pipes.output).map_err(ConnectError::Pipes)?;
    let input = Sender::from_owned_fd(pipes.input).map_err(ConnectError::Pipes)?;
    words.follow(Receiver::from_owned_fd(pipes.diagnostics).map_err(ConnectError::Pipes)?);
    let secrets = handler.secrets.clone();
    let notes = ServerNotes::new(&handler.server, handler.relay.clone(), secrets.clone());
    let transport = BoundedTransport::new(output, input, Arc::clone(ended), notes);
    // Servers of the latest version are asked what they are, those before it are initialized.
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    let protocol = |what: String| {
        let reason = match ended.get() {
            Some(reason) => format!("it has ended: {reason}"),
            None => what,
        };
        ConnectError::Protocol { reason, words: words.last() }
    };
    let service = handler.serve_with_lifecycle(transport, lifecycle).await;
    let service = service.map_err(|error| protocol(told(&error, &secrets)))?;
    match listed(service.peer(), &secrets).await {
        Ok(tools) => Ok((service, tools)),
        Err(ListError::Definitions(error)) => Err(ConnectError::Definitions(error)),
        Err(ListError::Service(error)) => {
            Err(protocol(format!("it does not list its tools: {}", results::shortened(&error.to_string(), &secrets))))
        }
    }
}

/// Describes why a server could not be initialized, in a bounded text.
fn told(error: &ClientInitializeError, secrets: &Secrets) -> String {
    match error {
        // Others contain whole messages of the server.
        ClientInitializeError::JsonRpcError(error) => {
            format!("it refuses to start: {}", results::shortened(&error.message, secrets))
        }
        // Of the two ways to begin, every server has the second one.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => told(fallback, secrets),
        _ => "it does not speak the Model Context Protocol".to_owned(),
    }
}

/// Returns what a server is told of a call beside its arguments.
fn metadata(call: &HostCall<'_>) -> RequestMetaObject {
    let key = (IDEMPOTENCY_KEY.to_owned(), Value::String(call.idempotency_key()));
    RequestMetaObject(MetaObject(JsonObject::from_iter([key])))
}

/// Lists the tools, page by page. A definition that contains the value of a secret is refused: what is pinned is kept,
/// and shown to a model, as the server wrote it.
async fn listed(peer: &Peer<RoleClient>, secrets: &Secrets) -> Result<PinnedServer, ListError> {
    let mut pinned = PinnedServer::default();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let page = peer.list_tools(params).await.map_err(ListError::Service)?;
        let definition = |tool: &Tool| serde_json::to_value(tool).unwrap_or(Value::Null);
        let definitions: Vec<Value> = page.tools.iter().map(definition).collect();
        if let Some(telling) = definitions.iter().find(|definition| secrets.redact_json(definition).is_some()) {
            let name = results::shortened(telling["name"].as_str().unwrap_or_default(), secrets);
            return Err(ListError::Definitions(DefinitionError::Secret(name)));
        }
        pinned.extend(definitions).map_err(ListError::Definitions)?;
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(pinned);
        }
    }
    Err(ListError::Definitions(DefinitionError::TooMany))
}

/// End of a server's error output.
#[derive(Clone)]
struct DiagnosticTail {
    found: Arc<(Mutex<Diagnostics>, Condvar)>,
    secrets: Secrets,
}

#[derive(Default)]
struct Diagnostics {
    kept: VecDeque<u8>,
    /// True if there was more before it.
    is_cut: bool,
    /// Set once all of it was read.
    is_whole: bool,
}

impl DiagnosticTail {
    fn new(secrets: Secrets) -> Self {
        Self { found: Arc::default(), secrets }
    }

    /// Reads error output to its end, and keeps the last part of it.
    fn follow(&self, mut diagnostics: Receiver) {
        let tail = self.clone();
        tokio::spawn(async move {
            let mut part = [0; 4 << 10];
            while let Ok(read @ 1..) = diagnostics.read(&mut part).await {
                let mut found = tail.lock();
                found.kept.extend(&part[..read]);
                let surplus = found.kept.len().saturating_sub(LAST_WORDS);
                found.kept.drain(..surplus);
                found.is_cut |= surplus > 0;
            }
            tail.lock().is_whole = true;
            tail.found.1.notify_all();
        });
    }

    /// Returns the last line, without values of secrets and characters that a terminal acts upon. What a server wrote
    /// before it ended may be on its way for a moment.
    fn last(&self) -> LastWords {
        let waited = self.found.1.wait_timeout_while(self.lock(), MOMENT, |found| !found.is_whole);
        let (found, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let kept: Vec<u8> = found.kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        // A part of a secret would not be found, so the rest of a line whose beginning is not kept is not shown.
        let text = match text.split_once('\n') {
            _ if !found.is_cut => &*text,
            Some((_, whole)) if !whole.trim().is_empty() => whole,
            _ => return LastWords(format!("(a line of more than {LAST_WORDS} bytes)")),
        };
        let redacted = self.secrets.redact_text(text);
        let text = redacted.as_deref().unwrap_or(text);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        LastWords(line.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect())
    }

    /// Locks the output. No change can be seen half done, so a poisoned lock is still good.
    fn lock(&self) -> MutexGuard<'_, Diagnostics> {
        self.found.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
