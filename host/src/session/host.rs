//! The host, created once per process, and the options of sessions.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tollhouse_registry::Registry;
use wasmtime::component::Component;

use super::command_grants::grant_commands;
use super::persistence::{OpenOptions, SessionId, Sessions, SessionsError, SpendingObserver, is_same_but_for_limits};
use super::recording::{CallSource, SessionCalls};
use super::saved_session::PortableError;
use super::session_handle::Session;
use super::session_storage::SessionStorage;
use super::thread_pool::{Around, ThreadPool};
use super::tool_pool::{TOOL_STACK, ToolPool};
use crate::capability::{Limits, Policy, PolicyError};
use crate::code::{Cache, CacheError, Code, CodeError, CompileObserver};
use crate::error::Failure;
use crate::gate::{Approver, Audit, Both, Gate, GateOptions, NarrowError, Nowhere, redacted};
use crate::guest::{Guests, Language};
use crate::ledger::Used;
use crate::tool::{
    CLOCK_RESOLUTION, HostTool, KeyValue, Lock, Locked, McpCalls, MountError, MountedTools, Network, Packages, Secrets,
    ToolServices,
};
use crate::vfs::{self, Tree};

/// Number of agents whose compiled code is kept for their next run.
const MAX_AGENTS: usize = 16;

/// Directories and settings of a host. The library does not read the environment: the embedding program provides them.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// Directory for compiled code, for later processes. With `None`, code is not cached on disk.
    pub cache: Option<PathBuf>,
    /// Registry that packages are mounted from. With `None`, nothing can be mounted.
    pub registry: Option<PathBuf>,
    /// True to accept a registry that other users can write to. They can publish in it.
    pub trust_writers: bool,
    /// Network access of tools that may reach the network.
    pub network: Network,
    /// Function that is called for each compilation of a tool.
    pub on_compile: Option<CompileObserver>,
    /// Wrapper of each thread that calls host functions.
    pub around_host_functions: Option<Around>,
}

/// Host of sessions. Created once per process; cheap to clone.
#[derive(Clone)]
pub struct Host(Arc<HostState>);

pub(super) struct HostState {
    code: Code,
    /// Compiled code of the agents that ran last, by digest.
    agents: Mutex<VecDeque<(String, Component)>>,
    guests: Guests,
    packages: Packages,
    network: Network,
    pool: ToolPool,
    threads: ThreadPool,
    /// Threads that call host functions.
    callers: ThreadPool,
}

/// Reason why a host or a session cannot be created or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The engine or a guest cannot be used.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// A tool cannot be mounted.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The registry cannot be read.
    #[error(transparent)]
    Registry(#[from] tollhouse_registry::Error),
    /// The system provided no random numbers.
    #[error("cannot draw random numbers")]
    Random(#[source] std::io::Error),
    /// The policy is not valid for the mounted tools.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The session cannot be opened or saved.
    #[error(transparent)]
    Sessions(#[from] SessionsError),
    /// The entries that tools have stored cannot be read.
    #[error("the entries of `wasi:keyvalue` cannot be read: {0}")]
    KeyValue(String),
    /// The policy of a delegated session would be wider than its parent's.
    #[error(transparent)]
    Narrow(#[from] NarrowError),
    /// The run cannot be run again, since something differs that it depends on.
    #[error("the run cannot be run again")]
    Replay(#[from] super::journal::ReplayError),
    /// The session is in memory, where no run can be resumed.
    #[error("a session in memory has no run to resume")]
    NotResumable,
    /// The policy wants signed approvals, and the host has not said which policy and whose keys hold.
    #[error("the session's policy wants signed approvals, which cannot be checked here")]
    UncheckedApprovals,
    /// The run to be resumed calls a tool of an MCP server that nobody has a connection with. It is as it was.
    #[error("the run calls `{method}`, and the MCP server `{server}` is not started")]
    ServerNotStarted {
        /// Name of the server.
        server: String,
        /// Method that the run has called, or waits for.
        method: String,
    },
    /// The policy grants a tool a secret whose value was not given.
    #[error("the policy grants the secret `{0}`, but no value was given for it")]
    Secret(String),
    /// The session has a run that has not ended.
    #[error("the session has a run that has not ended")]
    Busy,
    /// The file of a recording cannot be written.
    #[error("cannot write the recording `{}`", path.display())]
    RecordingFile {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another session has the recorder.
    #[error("the recorder has recorded another session")]
    RecorderTaken,
    /// The session's calls are recorded, or answered from a recording, and only those of scripts can be.
    #[error("in a session that is recorded or replayed only scripts run")]
    Unrecordable,
    /// The session cannot be saved to bytes, or loaded from them.
    #[error(transparent)]
    Portable(#[from] PortableError),
}

/// Options of a new session.
#[derive(Default)]
pub struct SessionOptions {
    /// Policy: mounts, grants and limits.
    pub policy: Policy,
    /// Packages to mount in addition to those of the policy: alias and requirement (`ns:name@^1`).
    pub tools: Vec<(String, String)>,
    /// Aliases of programs that scripts may run as commands: each is granted, and sees the session's files unless the
    /// policy has permissions for it. A tool that is not a program gets its function `run`, and no files.
    pub commands: Vec<String>,
    /// Host functions that the embedding program provides as tools.
    pub host_tools: Vec<HostTool>,
    /// Connections to the MCP servers of the policy. With `None`, their tools are mounted, and calls of them fail.
    pub mcp: Option<Arc<dyn McpCalls>>,
    /// Lock that pins the mounted releases and MCP servers. With `None`, the highest compatible releases are mounted, and
    /// the policy may name no server.
    pub lock: Option<Lock>,
    /// Initial files. With `None`, an empty `/workspace` and `/tmp`.
    pub files: Option<Tree>,
    /// Destination of every audit event. With `None`, events are dropped.
    pub audit: Option<Arc<dyn Audit>>,
    /// Approver that is asked where a grant requires it. With `None`, such a call is denied.
    pub approver: Option<Arc<dyn Approver>>,
    /// Values of the secrets that the policy grants to tools.
    pub secrets: Secrets,
    /// Source of the results of the scripts' calls. Of calls that a recording answers, the approver is not asked.
    pub calls: CallSource,
}

impl Host {
    /// Opens the cache and the registry. Engines start when they are first used.
    ///
    /// # Errors
    /// If the cache or the registry cannot be used.
    pub fn new(options: &HostOptions) -> Result<Self, HostError> {
        Self::with(options, |code| Ok(Guests::new(code)))
    }

    /// Creates a host whose script guests are all this component, whatever the language: for tests of hostile guests.
    ///
    /// # Errors
    /// Those of [`Host::new`], and if the component is not a guest.
    #[doc(hidden)]
    pub fn with_guest(options: &HostOptions, component: &[u8]) -> Result<Self, HostError> {
        Self::with(options, |code| Guests::lying(code, component))
    }

    fn with(options: &HostOptions, guests: impl FnOnce(Code) -> Result<Guests, CodeError>) -> Result<Self, HostError> {
        let cache = options.cache.as_ref().map(Cache::open).transpose()?;
        let registry = options
            .registry
            .as_ref()
            .map(|path| Registry::unchecked(path).trusting_writers(options.trust_writers).checked())
            .transpose()?;
        let code = Code::new(cache).observed(options.on_compile.clone());
        Ok(Self(Arc::new(HostState {
            guests: guests(code.clone())?,
            packages: Packages::new(code.clone(), registry),
            code,
            network: options.network.clone(),
            agents: Mutex::default(),
            pool: ToolPool::default(),
            threads: ThreadPool::new("tollhouse-program", TOOL_STACK, None),
            callers: ThreadPool::new("tollhouse-caller", TOOL_STACK, options.around_host_functions.clone()),
        })))
    }

    pub(super) fn state(&self) -> &Arc<HostState> {
        &self.0
    }

    /// Returns the packages that sessions can mount.
    #[must_use]
    pub fn packages(&self) -> &Packages {
        &self.0.packages
    }

    /// Returns true if a text ends in the middle of a statement, so that its author continues on the next line. The
    /// extension of `name`, the script's name, tells TypeScript from JavaScript.
    ///
    /// # Errors
    /// If the guest of the language cannot be loaded.
    pub fn is_open(&self, language: Language, source: &str, name: &str) -> Result<bool, HostError> {
        Ok(self.0.guests.is_open(language, source, name)?)
    }

    /// Returns why a script does not parse, or `None` if it does. The extension of `name`, the script's name, tells
    /// TypeScript from JavaScript. Nothing of the script is run.
    ///
    /// # Errors
    /// If the guest of the language cannot be loaded.
    pub fn syntax_error(&self, language: Language, source: &str, name: &str) -> Result<Option<Failure>, HostError> {
        Ok(self.0.guests.syntax_error(language, source, name)?)
    }

    /// Creates a session in memory.
    ///
    /// # Errors
    /// If a tool cannot be mounted, or the policy is not valid for the mounted tools.
    pub fn session(&self, options: SessionOptions) -> Result<Session, HostError> {
        let mut policy = options.policy;
        let mounted = self.0.packages.mount(&policy, &options.tools, options.lock.as_ref())?;
        let mounted = with_host_tools(mounted, &options.host_tools, options.mcp.as_ref())?;
        grant_commands(&mut policy, &options.commands, &mounted)?;
        let files = options.files.unwrap_or_else(|| Tree::new(file_limits(&policy.limits), vfs::now()));
        let audit = redacted(options.audit.unwrap_or_else(|| Arc::new(Nowhere)), &options.secrets);
        let approver = options.calls.approver(options.approver);
        let secrets = options.secrets.clone();
        let gate = GateOptions { audit: Some(audit), approver, signatures: None, secrets };
        let gate = Gate::new(mounted, policy, gate)?;
        let services = ToolServices {
            network: self.0.network.clone(),
            secrets: options.secrets,
            dry_run: options.calls.dry_run().cloned(),
            ..ToolServices::default()
        };
        let storage = match options.calls.seed() {
            Some(secret) => SessionStorage::Memory { secret, runs: Arc::default() },
            None => SessionStorage::in_process(Arc::default())?,
        };
        let calls = Arc::new(SessionCalls::of(options.calls, guest_now())?);
        Ok(Session::new(&self.0, gate, files, services, storage, calls))
    }

    /// Opens a session on disk, and creates it if it does not exist. Its policy and tools are then fixed, but for the
    /// limits of the policy: those of the policy that is given apply to the runs of this [`Session`].
    ///
    /// # Errors
    /// Those of [`Host::session`]; if the session was created with something else, or its tools have changed since.
    pub fn open(&self, sessions: &Sessions, id: &SessionId, options: OpenOptions) -> Result<Session, HostError> {
        let is_known = sessions.contains(id)?;
        if is_known && options.must_create {
            return Err(SessionsError::Exists(id.clone()).into());
        }
        let mounted = self.mount_for(sessions, id, is_known, &options)?;
        // Keys and policy are both the host's, or neither is.
        let keys = options.approver_keys.filter(|_| options.policy.is_some());
        let asked = asked_policy(options.policy, &options.commands, &mounted)?;
        let mut policy = session_policy(sessions, id, is_known, asked)?;
        let fixed = policy.clone();
        options.limits.apply(&mut policy.limits);
        let limits = file_limits(&fixed.limits);
        if !is_known {
            let files = options.files.unwrap_or_else(|| Tree::new(limits, vfs::now()));
            create(sessions, id, &fixed, &mounted, &files, options.must_create)?;
        }
        let persistent = Arc::new(sessions.live(id, options.waiting)?);
        let other_audit = options.audit.as_ref().map(|other| redacted(Arc::clone(other), &options.secrets));
        let audit = match options.audit {
            Some(other) => Arc::new(Both(persistent.audit(), other)) as Arc<dyn Audit>,
            None => persistent.audit(),
        };
        let audit = redacted(audit, &options.secrets);
        let signatures = keys.map(|keys| sessions.record_reader().signature_check(id, keys)).transpose()?;
        let secrets = options.secrets.clone();
        let gate = GateOptions { audit: Some(audit), approver: options.approver, signatures, secrets };
        let gate = Gate::new(mounted, policy, gate)?;
        gate.restore(&sessions.reader().spent(id)?);
        let store = KeyValue::kept(persistent.keyvalue());
        let (network, secrets) = (self.0.network.clone(), options.secrets);
        let services = ToolServices { network, secrets, store: store.clone(), ..ToolServices::default() };
        let (secret, files) = (sessions.record_reader().seed(id)?, persistent.head(limits)?);
        let storage = SessionStorage::Disk { secret, persistent: Arc::clone(&persistent), main: true, other_audit };
        let session = Session::new(&self.0, gate, files, services, storage, Arc::default());
        let session = match options.on_suspended {
            Some(observer) => session.observed(observer),
            None => session,
        };
        persistent.on_spending(LiveAccounts { gate: session.weak_gate(), store });
        Ok(session)
    }

    /// Mounts the tools of a session on disk: those that it was created with, or those of the options.
    fn mount_for(
        &self,
        sessions: &Sessions,
        id: &SessionId,
        is_known: bool,
        options: &OpenOptions,
    ) -> Result<Arc<MountedTools>, HostError> {
        let mounted = if is_known {
            let lock = sessions.reader().lock(id)?;
            // The store says which releases are mounted; that they are of the given policy's packages is not for it to say.
            let of_policy = options.policy.iter().flat_map(|policy| &policy.tools).flatten();
            self.same(id, &lock, options.tools.iter().map(|(alias, wanted)| (alias, wanted)).chain(of_policy))?;
            if options.lock.as_ref().is_some_and(|asked| !asked.is_same(&lock)) {
                return Err(SessionsError::Differs { session: id.clone(), what: "tools" }.into());
            }
            self.0.packages.mount_locked(&lock, &sessions.reader().policy(id)?.signed)?
        } else {
            let policy = options.policy.clone().unwrap_or_default();
            self.0.packages.mount(&policy, &options.tools, options.lock.as_ref())?
        };
        Ok(with_host_tools(mounted, &options.host_tools, options.mcp.as_ref())?)
    }

    /// Rejects tools that differ from those that a session was created with.
    fn same<'t>(
        &self,
        id: &SessionId,
        lock: &Lock,
        tools: impl IntoIterator<Item = (&'t String, &'t String)>,
    ) -> Result<(), HostError> {
        for (alias, requirement) in tools {
            let fits = |locked: &Locked| requirement.parse().is_ok_and(|wanted| locked.fits(&wanted));
            let fits = lock.packages.get(alias).is_some_and(fits);
            if !fits {
                return Err(SessionsError::Differs { session: id.clone(), what: "tools" }.into());
            }
        }
        Ok(())
    }
}

/// In-memory state of a session on disk that other processes may change.
struct LiveAccounts {
    gate: Weak<Gate>,
    store: KeyValue,
}

impl SpendingObserver for LiveAccounts {
    fn restore(&self, spent: &HashMap<String, Used>) {
        if let Some(gate) = self.gate.upgrade() {
            gate.restore(spent);
        }
    }

    fn shift(&self, account: &str, before: Used, after: Used) {
        if let Some(gate) = self.gate.upgrade() {
            gate.shift(account, before, after);
        }
    }

    fn forget(&self) {
        self.store.forget();
    }
}

/// Adds host functions to the mounted tools, and answers to those of MCP servers.
pub(super) fn with_host_tools(
    mounted: Arc<MountedTools>,
    tools: &[HostTool],
    mcp: Option<&Arc<dyn McpCalls>>,
) -> Result<Arc<MountedTools>, MountError> {
    let is_bare = tools.is_empty() && (mcp.is_none() || mounted.servers().is_empty());
    if is_bare { Ok(mounted) } else { mounted.with_answers(tools, mcp).map(Arc::new) }
}

/// Returns the policy that a session on disk is asked to have, with the grants of its commands; `None` if whatever it has
/// will do.
fn asked_policy(
    policy: Option<Policy>,
    commands: &[String],
    mounted: &MountedTools,
) -> Result<Option<Policy>, PolicyError> {
    if policy.is_none() && commands.is_empty() {
        return Ok(None);
    }
    let mut policy = policy.unwrap_or_default();
    grant_commands(&mut policy, commands, mounted)?;
    Ok(Some(policy))
}

/// Returns the policy of a session on disk: the one that was asked for, which must be the one that a known session was
/// created with. Limits are of runs, and those of the creation apply where no policy is given.
fn session_policy(
    sessions: &Sessions,
    id: &SessionId,
    is_known: bool,
    asked: Option<Policy>,
) -> Result<Policy, SessionsError> {
    if !is_known {
        return Ok(asked.unwrap_or_default());
    }
    let saved = sessions.reader().policy(id)?;
    match asked {
        None => Ok(saved),
        Some(policy) if is_same_but_for_limits(&policy, &saved) => Ok(policy),
        Some(_) => Err(SessionsError::Differs { session: id.clone(), what: "grants" }),
    }
}

/// Creates a session on disk. Unless it must be created, one that another process creates meanwhile serves as well, if it
/// is the same.
fn create(
    sessions: &Sessions,
    id: &SessionId,
    policy: &Policy,
    mounted: &Arc<MountedTools>,
    files: &Tree,
    must_create: bool,
) -> Result<(), HostError> {
    // An invalid policy must not be saved.
    drop(Gate::new(Arc::clone(mounted), policy.clone(), GateOptions::default())?);
    let lock = mounted.lock();
    match sessions.creator().create(id, policy, &lock, files) {
        Err(SessionsError::Exists(_)) if !must_create => Ok(sessions.creator().same(id, policy, &lock)?),
        created => Ok(created?),
    }
}

/// Returns the limits on the files of a session.
pub(super) fn file_limits(limits: &Limits) -> vfs::Limits {
    vfs::Limits { bytes: limits.files, file_bytes: u64::MAX, ..vfs::Limits::default() }
}

impl HostState {
    /// Locks the list of agents. No change can be seen half done, so a poisoned lock is still good.
    fn agents(&self) -> MutexGuard<'_, VecDeque<(String, Component)>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the code of an agent, compiled if no earlier process has done so.
    pub(super) fn compile_agent(&self, digest: &str, bytes: &[u8]) -> Result<Component, CodeError> {
        let known = |agents: &VecDeque<(String, Component)>| {
            agents.iter().find(|(known, _)| known == digest).map(|(_, component)| component.clone())
        };
        if let Some(component) = known(&self.agents()) {
            return Ok(component);
        }
        let compile = |tools| self.code.tool(tools, &format!("agent-{digest}"), || Ok::<_, CodeError>(bytes.to_vec()));
        let component = self.code.tools(false).and_then(compile)?;
        let mut agents = self.agents();
        agents.truncate(MAX_AGENTS - 1);
        agents.push_front((digest.to_owned(), component.clone()));
        Ok(component)
    }

    pub(super) fn packages(&self) -> &Packages {
        &self.packages
    }

    pub(super) fn guests(&self) -> &Guests {
        &self.guests
    }

    pub(super) fn pool(&self) -> ToolPool {
        self.pool.clone()
    }

    pub(super) fn threads(&self) -> ThreadPool {
        self.threads.clone()
    }

    pub(super) fn callers(&self) -> ThreadPool {
        self.callers.clone()
    }
}

impl Drop for HostState {
    fn drop(&mut self) {
        self.threads.close();
        self.callers.close();
        self.pool.close();
    }
}

/// Returns the time in nanoseconds since the Unix epoch, as guests and tools see it: in whole units of
/// [`CLOCK_RESOLUTION`].
pub(super) fn guest_now() -> u64 {
    let now = vfs::now();
    now - now % CLOCK_RESOLUTION
}
