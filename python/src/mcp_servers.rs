//! MCP servers whose tools sandboxes mount: their programs, the connections with them, and their pinned definitions.
//!
//! Whoever calls Python names the programs, and so is the operator.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tollhouse::capability::{McpServer, Policy};
use tollhouse::error::{Failure, Payload};
use tollhouse::session;
use tollhouse::tool::{HostCall, Lock, LockFile, MAX_LOCK, McpCalls, PinnedServer, SecretUse, Secrets};
use tollhouse_mcp::{ConnectError, LoginPlace, McpClient, ServerConnection, ServerLauncher, StartedServer};
use tollhouse_registry::untrusted_file;

use crate::errors::{NativeError, PolicyError, RuntimeError, SessionConflictError, policy_told, raised, told};
use crate::process::OfProcess;

/// Options of the process that starts a server's program, which take its confinement away.
const UNCONFINED: [&str; 2] = ["--no-landlock", "--no-seccomp"];

/// Servers that run: `McpServers(servers, …)`, with `servers` as the tables `[mcp]` of a policy in JSON.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct McpServers(OfProcess<ServerMounts>);

/// Servers as sessions mount them: connections, tables, pins and secrets.
pub(crate) struct ServerMounts {
    connections: Arc<Connections>,
    /// Tables of the servers, without what a session must not keep: variables, paths and ports.
    tables: BTreeMap<String, McpServer>,
    pins: BTreeMap<String, PinnedServer>,
    secrets: Secrets,
}

/// Connections, until they are closed.
struct Connections(Mutex<Option<Arc<McpClient>>>);

impl Connections {
    /// Locks the client. No change can be seen half done, so a poisoned lock is still good.
    fn client(&self) -> MutexGuard<'_, Option<Arc<McpClient>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl McpCalls for Connections {
    fn call(&self, server: &str, tool: &str, call: &HostCall<'_>) -> Result<Payload, Failure> {
        let client = self.client().clone();
        match client {
            Some(client) => client.call(server, tool, call),
            None => Err(Failure::host(format!("the MCP server `{server}` was closed"))
                .with_hint("close `McpServers` after the sandboxes that use them")),
        }
    }

    fn unavailability(&self, server: &str) -> Option<Failure> {
        self.client().clone()?.unavailability(server)
    }

    fn secrets(&self, server: &str) -> Vec<SecretUse> {
        self.client().as_ref().map(|client| client.secrets(server)).unwrap_or_default()
    }
}

#[pymethods]
impl McpServers {
    /// Starts the servers, and compares what they offer with the lock, if there is one. `secrets` are the values of
    /// secrets, by name; `unconfined` are the servers without a wall; `logins` are the servers that the operator's
    /// login is used at, each with the directory of the logins and the file of their key; `executable` and `before` are
    /// the command that runs this package.
    #[new]
    #[pyo3(signature = (servers, secrets, unconfined, logins, executable, before, lock=None))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them names")]
    fn new(
        py: Python<'_>,
        servers: &str,
        secrets: Vec<(String, String)>,
        unconfined: Vec<String>,
        logins: BTreeMap<String, (PathBuf, PathBuf)>,
        executable: PathBuf,
        before: Vec<OsString>,
        lock: Option<PathBuf>,
    ) -> PyResult<Self> {
        let policy = Policy::parse_json(servers).map_err(|error| PolicyError::new_err(policy_told(&error, None)))?;
        let secrets = secrets.into_iter().try_fold(Secrets::default(), |all, (name, value)| all.with(&name, value));
        let secrets = secrets.map_err(|error| PyValueError::new_err(told(&error)))?;
        let launcher = ServerLauncher {
            executable,
            before,
            flags: Vec::new(),
            environment: std::env::vars_os().collect(),
            logins: None,
        };
        let logins = login_places(&policy.mcp, logins)?;
        py.detach(|| {
            let pinned = lock.as_deref().map(read_lock).transpose()?;
            let started = start(&policy.mcp, &secrets, &unconfined, &logins, &launcher)?;
            let is_confined = |name: &str| {
                !unconfined.iter().any(|other| other == name) && policy.mcp.get(name).is_some_and(|it| it.url.is_none())
            };
            let (client, pins) = connect(started, pinned.as_ref(), &secrets, &is_confined)?;
            let connections = Arc::new(Connections(Mutex::new(Some(Arc::new(client)))));
            let tables = policy.mcp.into_iter().map(|(name, table)| (name, kept(table))).collect();
            let mounts = ServerMounts { connections, tables, pins, secrets };
            Ok(Self(OfProcess::new(mounts, "set of MCP servers", "start them here")))
        })
    }

    /// Returns the tools: server, name, and the reason why it cannot be mounted, if there is one.
    fn tools(&self) -> PyResult<Vec<(String, String, Option<String>)>> {
        let mut listed = Vec::new();
        for (server, pins) in &self.0.get()?.pins {
            let refused = pins.refused(server);
            for name in pins.names() {
                let reason = refused.iter().find(|tool| tool.name == name).map(|tool| tool.reason.clone());
                listed.push((server.clone(), name.to_owned(), reason));
            }
        }
        Ok(listed)
    }

    /// Returns the pinned definitions as JSON: `{server: {"tools": {name: text}}}`, each text that of a definition.
    fn definitions(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.get()?.pins).map_err(|error| raised(&error))
    }

    /// Writes what the servers offer to a lock. What else that pins stays.
    fn pin(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let pins = self.0.get()?.pins.clone();
        py.detach(|| {
            let mut found = if path.exists() { read_lock_file(&path)? } else { LockFile::default() };
            found.lock.servers.extend(pins);
            let text = found.to_toml().ok_or_else(|| NativeError::new_err("the lock is of an earlier version"))?;
            write(&path, &text).map_err(PyErr::from)
        })
    }

    /// Ends the servers.
    fn close(&self, py: Python<'_>) {
        let Ok(mounts) = self.0.get() else { return };
        let client = mounts.connections.client().take();
        py.detach(|| drop(client));
    }
}

impl McpServers {
    /// Returns what sessions mount, in the process that started the servers.
    pub(crate) fn mounts(&self) -> PyResult<&ServerMounts> {
        let mounts = self.0.get()?;
        if mounts.connections.client().is_none() {
            return Err(RuntimeError::new_err("these MCP servers were closed: start them again"));
        }
        Ok(mounts)
    }
}

impl ServerMounts {
    /// Adds the servers to the policy of a new session. Returns the lock that pins their tools.
    pub(crate) fn mount(&self, host: &session::Host, policy: &mut Policy) -> PyResult<Lock> {
        if let Some(other) = policy.mcp.keys().find(|name| !self.tables.contains_key(*name)) {
            let message = format!("the policy names the MCP server `{other}`, which `mcp` does not start");
            return Err(PolicyError::new_err(message));
        }
        policy.mcp.clone_from(&self.tables);
        let pinned = host.packages().pin(policy, &[], &Lock::default());
        let pinned = pinned.map_err(|error| PolicyError::new_err(told(&error)))?;
        Ok(Lock { servers: self.pins.clone(), ..pinned })
    }

    /// Compares the tools with those that a session was created with.
    pub(crate) fn check(&self, lock: &Lock) -> PyResult<()> {
        for (name, present) in &self.pins {
            let Some(pinned) = lock.servers.get(name) else {
                let message = format!("the session was made without the MCP server `{name}`: open another one");
                return Err(SessionConflictError::new_err(message));
            };
            if let Some(lines) = pinned.difference(name, present) {
                let message = format!(
                    "the tools of the MCP server `{name}` differ from those that the session was made with, pinned (-) \
                     and present (+):\n{lines}"
                );
                return Err(SessionConflictError::new_err(message));
            }
        }
        Ok(())
    }

    /// Returns what calls the tools.
    pub(crate) fn calls(&self) -> Arc<dyn McpCalls> {
        Arc::clone(&self.connections) as _
    }

    /// Returns the values of the servers' secrets, which results and logs do not show.
    pub(crate) fn secrets(&self) -> Secrets {
        self.secrets.clone()
    }
}

/// Returns what a session keeps of a server's table.
fn kept(table: McpServer) -> McpServer {
    McpServer { command: table.command, url: table.url, span: table.span, ..McpServer::default() }
}

/// Returns the places of logins by server. A login that is not there is an error: without it, the server would be
/// asked as nobody, or by whatever else the options have.
fn login_places(
    tables: &BTreeMap<String, McpServer>,
    logins: BTreeMap<String, (PathBuf, PathBuf)>,
) -> PyResult<BTreeMap<String, LoginPlace>> {
    let place = |(name, (directory, key)): (String, (PathBuf, PathBuf))| {
        let (place, table) = (LoginPlace { directory, key }, tables.get(&name));
        let Some(url) = table.and_then(|table| table.url.as_ref()) else {
            let message =
                format!("the MCP server `{name}` has a `login`, but no `url`: a program gets tokens as `secrets`");
            return Err(PolicyError::new_err(message));
        };
        if table.is_some_and(|table| table.headers.contains_key("authorization")) {
            let message =
                format!("the MCP server `{name}` has both a `login` and an `Authorization` among its `headers`");
            return Err(PolicyError::new_err(message));
        }
        if !place.contains(url) {
            return Err(NativeError::new_err(format!(
                "the MCP server `{name}` cannot be used: in `{}` there is no login at {url} (`tollhouse mcp login --url \
                 {url}` makes one)",
                place.directory.display()
            )));
        }
        Ok((name, place))
    };
    logins.into_iter().map(place).collect()
}

/// Starts all servers, so that they start at the same time.
fn start(
    tables: &BTreeMap<String, McpServer>,
    secrets: &Secrets,
    unconfined: &[String],
    logins: &BTreeMap<String, LoginPlace>,
    launcher: &ServerLauncher,
) -> PyResult<Vec<StartedServer>> {
    let start = |(name, table): (&String, &McpServer)| {
        let mut launcher = ServerLauncher { logins: logins.get(name).cloned(), ..launcher.clone() };
        if unconfined.contains(name) {
            launcher.flags = UNCONFINED.into_iter().map(Into::into).collect();
        }
        launcher.start(name, table, secrets).map_err(|error| raised(&error))
    };
    tables.iter().map(start).collect()
}

/// Connects with all servers, and compares what they offer with the pins, if there are some.
fn connect(
    started: Vec<StartedServer>,
    pinned: Option<&Lock>,
    secrets: &Secrets,
    is_confined: &dyn Fn(&str) -> bool,
) -> PyResult<(McpClient, BTreeMap<String, PinnedServer>)> {
    let mut client = McpClient::new()?.withholding(secrets.clone());
    let mut pins = BTreeMap::new();
    for server in started {
        let is_confined = is_confined(server.name());
        let connection = connected(server, &client, is_confined)?;
        if let Some(pinned) = pinned {
            compare(pinned, &connection)?;
        }
        pins.insert(connection.name().to_owned(), connection.tools().clone());
        client = client.with(connection);
    }
    Ok((client, pins))
}

/// What is said of a program that may have ended, or waits, because the wall keeps something from it.
const CONFINED: &str = "\nhint: it runs behind a wall, and reads the system's files and those in `read` alone: name there \
                        what else it needs (a Python server: `sys.base_prefix`), or start it with `\"confine\": False`";

fn connected(mut server: StartedServer, client: &McpClient, is_confined: bool) -> PyResult<ServerConnection> {
    let name = server.name().to_owned();
    let connected = server.connect(client);
    // Whether or not that succeeded, the process ends with its pipes. Without a thread, it is forgotten with this one.
    let _ = thread::Builder::new().name("tollhouse-mcp-end".to_owned()).spawn(move || server.wait());
    connected.map_err(|error| {
        let may_lack = matches!(error, ConnectError::Protocol { .. } | ConnectError::Silent { .. });
        let hint = if is_confined && may_lack { CONFINED } else { "" };
        NativeError::new_err(format!("the MCP server `{name}` cannot be used: {}{hint}", told(&error)))
    })
}

fn compare(pinned: &Lock, connection: &ServerConnection) -> PyResult<()> {
    let name = connection.name();
    let Some(pins) = pinned.servers.get(name) else {
        let message =
            format!("the lock does not pin the MCP server `{name}`: `McpServers.pin` does, or `tollhouse mcp lock`");
        return Err(PolicyError::new_err(message));
    };
    match pins.difference(name, connection.tools()) {
        None => Ok(()),
        Some(lines) => Err(PolicyError::new_err(format!(
            "the tools of the MCP server `{name}` differ from the pinned ones, pinned (-) and present (+):\n{lines}"
        ))),
    }
}

fn read_lock(path: &Path) -> PyResult<Lock> {
    Ok(read_lock_file(path)?.lock)
}

fn read_lock_file(path: &Path) -> PyResult<LockFile> {
    let text = untrusted_file::read_named_text(path, MAX_LOCK).map_err(io::Error::from)?;
    let cannot = |error| PolicyError::new_err(format!("cannot read the lock `{}`: {}", path.display(), told(&error)));
    LockFile::parse(&text).map_err(cannot)
}

/// Replaces the file as a whole, durably.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The name too: pins survive a power loss.
    File::open(directory)?.sync_all()
}
