//! A server of a process that serves for long: it is connected with while clients are served already, and its program is
//! started again when it has ended.
//!
//! Behind the second wall nothing can be started, so programs that may take the place of one are prepared before it.
//! Each starts with the first message to it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tollhouse::error::{Failure, Payload};
use tollhouse::tool::{HostCall, PinnedServer, SecretUse};

use super::{McpClient, ServerConnection, StartedServer};

/// Shortest time between two starts.
const BACKOFF: Duration = Duration::from_secs(1);

/// Interval at which a waiting call checks whether its run goes on.
const TICK: Duration = Duration::from_millis(10);

/// Reason not to use a server that offers something else.
const DIFFERS: &str = "its tools differ from the pinned ones";

/// Receives the name of a server that cannot be used, and why: a text with words of the server.
pub type OnFailure = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Server whose connection may come later, and may be replaced. Cheap to clone.
#[derive(Clone)]
pub struct ServerSlot(Arc<SlotParts>);

struct SlotParts {
    name: String,
    pins: PinnedServer,
    /// Secrets whose values each of the programs is given.
    secrets: Vec<SecretUse>,
    connector: Arc<McpClient>,
    on_failure: OnFailure,
    state: Mutex<SlotState>,
    changed: Condvar,
}

struct SlotState {
    /// Programs that are not used yet.
    prepared: Vec<StartedServer>,
    started: Instant,
    current: Current,
}

impl SlotState {
    /// Returns true if another program may take the place of one that has ended.
    fn may_start(&self) -> bool {
        !self.prepared.is_empty() && self.started.elapsed() >= BACKOFF
    }
}

enum Current {
    Connecting,
    Connected(Arc<ServerConnection>),
    /// With the reason for scripts, which has no words of the server.
    Failed(&'static str),
}

impl ServerSlot {
    /// Connects with the first of these programs on a thread of its own. A server whose tools are not the pinned ones is
    /// not used.
    #[must_use]
    pub fn new(
        name: &str,
        prepared: Vec<StartedServer>,
        pins: PinnedServer,
        connector: Arc<McpClient>,
        on_failure: OnFailure,
    ) -> Self {
        let secrets = prepared.first().map(|program| program.secrets().to_vec()).unwrap_or_default();
        let state = SlotState { prepared, started: Instant::now(), current: Current::Failed("it was not started") };
        let (name, state) = (name.to_owned(), Mutex::new(state));
        let changed = Condvar::new();
        let slot = Self(Arc::new(SlotParts { name, pins, secrets, connector, on_failure, state, changed }));
        slot.start(&mut slot.state());
        slot
    }

    /// Returns the name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the secrets whose values the server is given.
    pub(super) fn secrets(&self) -> &[SecretUse] {
        &self.0.secrets
    }

    /// Calls a tool, once the server is connected with.
    pub(super) fn call(&self, tool: &str, call: &HostCall<'_>) -> Result<Payload, Failure> {
        self.connection(call)?.call(tool, call)
    }

    /// Returns the failure of a call if the server neither runs nor can be started now.
    pub(super) fn unavailability(&self) -> Option<Failure> {
        let state = self.state();
        match &state.current {
            _ if state.may_start() => None,
            Current::Failed(why) => Some(self.failure(why)),
            Current::Connected(connection) => connection.has_ended().then(|| connection.gone()),
            Current::Connecting => None,
        }
    }

    fn connection(&self, call: &HostCall<'_>) -> Result<Arc<ServerConnection>, Failure> {
        let mut state = self.state();
        loop {
            let may_start = state.may_start();
            match &state.current {
                Current::Connecting if call.is_cancelled() => return Err(Failure::cancelled()),
                Current::Connecting if call.is_over() => return Err(self.late()),
                Current::Connecting => {
                    let waited = self.0.changed.wait_timeout(state, TICK);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                Current::Connected(connection) if !(connection.has_ended() && may_start) => {
                    return Ok(Arc::clone(connection));
                }
                Current::Failed(why) if !may_start => return Err(self.failure(why)),
                Current::Connected(_) | Current::Failed(_) => self.start(&mut state),
            }
        }
    }

    /// Connects with the next program.
    fn start(&self, state: &mut SlotState) {
        let Some(program) = state.prepared.pop() else { return };
        (state.started, state.current) = (Instant::now(), Current::Connecting);
        let slot = self.clone();
        let thread = std::thread::Builder::new().name("tollhouse-mcp-start".to_owned());
        if thread.spawn(move || slot.connect(program)).is_err() {
            state.current = Current::Failed("the system has no thread left");
        }
    }

    fn connect(&self, mut program: StartedServer) {
        let SlotParts { name, pins, connector, on_failure, .. } = &*self.0;
        let (current, told) = match program.connect(connector) {
            Ok(connection) => match pins.difference(name, connection.tools()) {
                None => (Current::Connected(Arc::new(connection)), None),
                Some(lines) => {
                    let told = format!(
                        "its tools differ from the pinned ones. The pinned (-) and the present definitions (+):\n{lines}\n\
                         if that is right, `tollhouse mcp lock --policy FILE --allow-exec {name}` pins the present ones"
                    );
                    (Current::Failed(DIFFERS), Some(told))
                }
            },
            Err(error) => (Current::Failed("it does not start"), Some(crate::tool_error::chain(&error))),
        };
        // Before any call fails: the process may end with the failure, which refers to what is told here.
        if let Some(told) = told {
            on_failure(name, &told);
        }
        let mut state = self.state();
        if matches!(current, Current::Failed(DIFFERS)) {
            // Those that are prepared are the same program.
            state.prepared.clear();
        }
        if let Current::Connected(connection) = &current {
            connection.set_restarts(!state.prepared.is_empty());
        }
        state.current = current;
        drop(state);
        self.0.changed.notify_all();
    }

    fn late(&self) -> Failure {
        let message = format!("the MCP server `{}` has not started within the time of the run", self.0.name);
        Failure::limit(message, "it may still be downloading what it needs: call it again later")
    }

    fn failure(&self, why: &str) -> Failure {
        let name = &self.0.name;
        let hint = format!("whoever runs this server reads more on standard error, or by `tollhouse mcp test {name}`");
        Failure::tool(format!("the MCP server `{name}` cannot be used: {why}")).with_hint(hint)
    }

    /// Locks the state. No change can be seen half done, so a poisoned lock is still good.
    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
