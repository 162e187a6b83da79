//! What is made once a process, and what is made once a session.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::runtime::{Handle, Runtime};
use tollhouse_registry::Registry;
use wasmtime::component::Component;

use super::component::ComponentRun;
use super::run::{Run, RunOptions};
use super::scope::Scope;
use crate::agent::Program;
use crate::capability::{Limits, Policy, PolicyError};
use crate::code::{Cache, CacheError, Code, CodeError, Interrupt};
use crate::error::{Failure, Payload};
use crate::gate::{Approver, Audit, CallOutcome, Gate, GateOptions, NarrowError};
use crate::guest::{Catalog, Guests, Language, MountedTool, Script};
use crate::tool::{MountError, Network, Packages, Secrets, Services, Tool, Warm, unfit};
use crate::vfs::{ApplyError, Edit, Tree};

/// The most threads on which tools run at once, over all sessions of a host.
const MAX_TOOL_THREADS: usize = 64;

/// How many agents' code is kept for their next run.
const MAX_AGENTS: usize = 16;

/// Stack of such a thread, in bytes: what wasm may take, and the host's own functions twice over.
const TOOL_STACK: usize = 8 << 20;

/// Where a host keeps and finds things. The library asks no environment: whoever embeds it says.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// Compiled code is kept here, for later processes. None: nothing is kept.
    pub cache: Option<PathBuf>,
    /// The registry that packages are mounted from. None: nothing can be mounted.
    pub registry: Option<PathBuf>,
    /// How tools that may reach the network reach it.
    pub network: Network,
}

/// Runs sessions. Made once a process; cheap to clone.
#[derive(Clone)]
pub struct Host(Arc<HostState>);

struct HostState {
    code: Code,
    /// The code of the agents that ran last, by digest.
    agents: Mutex<VecDeque<(String, Component)>>,
    guests: Guests,
    packages: Packages,
    network: Network,
    runtime: Option<Runtime>,
}

/// Why there is no host, or no session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// There is no code to run.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// A tool cannot be mounted.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The registry cannot be read.
    #[error(transparent)]
    Registry(#[from] tollhouse_registry::Error),
    /// The system gave no threads.
    #[error("cannot start threads for tools")]
    Threads(#[source] std::io::Error),
    /// The system gave no random numbers.
    #[error("cannot draw random numbers")]
    Random(#[source] std::io::Error),
    /// The policy makes no sense for what is mounted.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A narrower session would be wider.
    #[error(transparent)]
    Narrow(#[from] NarrowError),
    /// A tool is granted a secret that nobody gave.
    #[error("the policy grants the secret `{0}`, and nobody gave its value")]
    Secret(String),
    /// One run of a session at a time.
    #[error("the session has a run that has not ended")]
    Busy,
}

/// What a session starts from.
#[derive(Default)]
pub struct SessionOptions {
    /// What is mounted, granted and limited.
    pub policy: Policy,
    /// Packages to mount besides those of the policy: alias and requirement (`ns:name@^1`).
    pub tools: Vec<(String, String)>,
    /// The files it starts with. None: an empty `/workspace` and `/tmp`.
    pub files: Option<Tree>,
    /// Where every decision is written. None: nowhere.
    pub audit: Option<Arc<dyn Audit>>,
    /// Who is asked where a grant says so. None: nobody, and such a call is denied.
    pub approver: Option<Arc<dyn Approver>>,
    /// The values of the secrets that the policy grants to tools.
    pub secrets: Secrets,
}

impl Host {
    /// Starts the engines.
    ///
    /// # Errors
    /// If this machine cannot run them, or the cache or registry cannot be used.
    pub fn new(options: &HostOptions) -> Result<Self, HostError> {
        let cache = options.cache.as_ref().map(Cache::open).transpose()?;
        let registry = options.registry.as_ref().map(Registry::open).transpose()?;
        let code = Code::new(cache)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(MAX_TOOL_THREADS)
            .thread_name("tollhouse-tool")
            // Enough for a tool's wasm frames, so that no call has to make a stack of its own.
            .thread_stack_size(TOOL_STACK)
            .enable_all()
            .build()
            .map_err(HostError::Threads)?;
        Ok(Self(Arc::new(HostState {
            guests: Guests::new(code.clone()),
            packages: Packages::new(code.clone(), registry),
            code,
            network: options.network.clone(),
            agents: Mutex::default(),
            runtime: Some(runtime),
        })))
    }

    /// The packages that sessions can mount.
    #[must_use]
    pub fn packages(&self) -> &Packages {
        &self.0.packages
    }

    /// Makes a session in memory.
    ///
    /// # Errors
    /// If a tool cannot be mounted.
    pub fn session(&self, options: SessionOptions) -> Result<Session, HostError> {
        let policy = options.policy;
        let mounted = self.0.packages.mount(policy.tools.as_ref(), &options.tools)?;
        let files = options.files.unwrap_or_else(|| {
            let bytes = policy.limits.files;
            Tree::new(crate::vfs::Limits { bytes, file_bytes: u64::MAX, ..Default::default() }, 0)
        });
        let gate = Gate::new(mounted, policy, GateOptions { audit: options.audit, approver: options.approver })?;
        let services = Services { network: self.0.network.clone(), secrets: options.secrets, ..Services::default() };
        self.0.session(gate, files, services)
    }
}

impl HostState {
    /// Each change to the list is whole, so a poisoned lock is still good.
    fn agents(&self) -> MutexGuard<'_, VecDeque<(String, Component)>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(self: &Arc<Self>, gate: Gate, files: Tree, services: Services) -> Result<Session, HostError> {
        let gate = Arc::new(gate);
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| HostError::Random(error.into()))?;
        let catalog = Arc::new(GateCatalog { granted: granted(&gate), gate: Arc::clone(&gate) });
        Ok(Session(Arc::new(SessionState {
            host: Arc::clone(self),
            id: None,
            secret,
            gate,
            catalog,
            head: Mutex::new(files),
            warm: Arc::default(),
            services: Arc::new(services),
            runs: AtomicU64::new(0),
            busy: AtomicBool::new(false),
        })))
    }
}

impl Drop for HostState {
    /// A tool that cannot be interrupted must not keep the process from ending.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Files, grants and budgets that outlive a run. Cheap to clone; clones are one session.
#[derive(Clone)]
pub struct Session(Arc<SessionState>);

impl Session {
    /// Prepares a run of a script; [`Run::step`] or [`Run::finish`] starts it.
    ///
    /// # Errors
    /// If another run of the session has not ended, or the guest cannot be loaded.
    pub fn start(&self, language: Language, script: Script, options: RunOptions) -> Result<Run, HostError> {
        self.0.begin()?;
        let number = self.0.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let run = Run::new(Arc::clone(&self.0), number, language, script, options);
        if run.is_err() {
            self.0.release();
        }
        Ok(run?)
    }

    /// Prepares a run of an agent that is a component (`wasi:cli/command`) and imports tools by their WIT names.
    ///
    /// # Errors
    /// If another run of the session has not ended. An agent that cannot be linked is a run that fails.
    pub fn start_component(
        &self,
        component: Vec<u8>,
        program: Program,
        options: RunOptions,
    ) -> Result<ComponentRun, HostError> {
        self.0.begin()?;
        let number = self.0.runs.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(ComponentRun::new(Arc::clone(&self.0), number, component, program, options))
    }

    /// Calls one tool, without a script: through the gate like every call, on this thread.
    ///
    /// # Errors
    /// What a script would be told: no such method, arguments that do not fit, no grant, the tool's own error.
    pub fn call(&self, method: &str, arguments: &str) -> Result<Payload, Failure> {
        let state = &self.0;
        if let Some(name) = state.missing_secret() {
            return Err(Failure::policy(HostError::Secret(name).to_string()));
        }
        let scope = Scope::new(state, state.runs.fetch_add(1, Ordering::Relaxed) + 1);
        let admission = state.gate.admit(&scope.record, method, arguments)?;
        let interrupt = Interrupt::default();
        if let Some(deadline) = Instant::now().checked_add(state.limits().wall) {
            interrupt.set_deadline(deadline);
        }
        let context = scope.context(&admission, interrupt, state.head());
        let result = admission.invoke(&context);
        let changed = state.change(&context.edits()).map_err(|error| unfit(method, &error));
        let result = result.and_then(|payload| changed.map(|()| payload));
        let outcome = if result.is_ok() { CallOutcome::Ok } else { CallOutcome::Failed };
        state.gate.settle(&scope.record, admission.seq, outcome, result.as_ref().err());
        result
    }

    /// A session that may do less, for a sub-agent: it begins with these files, its grants narrow those of this session,
    /// and what it spends is spent here too.
    ///
    /// # Errors
    /// If `narrower` covers more than this session's policy.
    pub fn delegate(&self, narrower: Policy) -> Result<Self, HostError> {
        let gate = self.0.gate.attenuate(narrower)?;
        let services = Services { store: self.0.services.store.fork(), ..Services::clone(&self.0.services) };
        self.0.host.session(gate, self.files(), services)
    }

    /// The files as the last run left them.
    #[must_use]
    pub fn files(&self) -> Tree {
        self.0.head()
    }

    /// The gate before the session's tools.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }
}

/// What the runs of a session share.
pub(super) struct SessionState {
    host: Arc<HostState>,
    pub(super) id: Option<String>,
    /// What the session's random numbers are drawn from.
    secret: [u8; 32],
    pub(super) gate: Arc<Gate>,
    pub(super) catalog: Arc<dyn Catalog>,
    head: Mutex<Tree>,
    pub(super) warm: Arc<Warm>,
    pub(super) services: Arc<Services>,
    runs: AtomicU64,
    busy: AtomicBool,
}

impl SessionState {
    pub(super) fn limits(&self) -> &Limits {
        self.gate.limits()
    }

    pub(super) fn head(&self) -> Tree {
        self.head.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tree of a run that ended becomes the head.
    pub(super) fn commit(&self, files: Tree) {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = files;
    }

    /// Changes the head.
    pub(super) fn change(&self, edits: &[Edit]) -> Result<(), ApplyError> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner).apply(edits)
    }

    /// Takes the session for a run.
    fn begin(&self) -> Result<(), HostError> {
        if let Some(name) = self.missing_secret() {
            return Err(HostError::Secret(name));
        }
        if self.busy.swap(true, Ordering::AcqRel) {
            return Err(HostError::Busy);
        }
        Ok(())
    }

    /// A secret that a tool is granted and nobody gave.
    fn missing_secret(&self) -> Option<String> {
        self.gate.secrets().into_iter().find(|name| !self.services.secrets.has(name))
    }

    /// Lets the next run start.
    pub(super) fn release(&self) {
        self.busy.store(false, Ordering::Release);
    }

    /// The code of an agent, compiled if no earlier process has.
    pub(super) fn compile_agent(&self, digest: &str, bytes: &[u8]) -> Result<Component, String> {
        let known = |agents: &VecDeque<(String, Component)>| {
            agents.iter().find(|(known, _)| known == digest).map(|(_, component)| component.clone())
        };
        if let Some(component) = known(&self.host.agents()) {
            return Ok(component);
        }
        let compiled = self.host.code.tool(&format!("agent-{digest}"), || Ok::<_, CodeError>(bytes.to_vec()));
        let component = compiled.map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
        let mut agents = self.host.agents();
        agents.truncate(MAX_AGENTS - 1);
        agents.push_front((digest.to_owned(), component.clone()));
        Ok(component)
    }

    pub(super) fn guests(&self) -> &Guests {
        &self.host.guests
    }

    pub(super) fn pool(&self) -> Handle {
        let runtime = self.host.runtime.as_ref().expect("it is taken only when the last session is gone");
        runtime.handle().clone()
    }

    /// A seed for one purpose in the life of the session, the same whenever it is asked for.
    pub(super) fn seed(&self, purpose: &str, numbers: &[u64]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        hasher.update(purpose.as_bytes());
        for number in numbers {
            hasher.update(&number.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// The gate and what is behind it, as guests see them.
struct GateCatalog {
    gate: Arc<Gate>,
    /// Canonical methods: judged once a session, not once a run.
    granted: HashSet<String>,
}

fn granted(gate: &Gate) -> HashSet<String> {
    let granted = gate.tools().iter().map(|tool| tool.method()).filter(|method| gate.grants(method));
    granted.map(str::to_owned).collect()
}

impl Catalog for GateCatalog {
    fn tools(&self) -> Vec<MountedTool> {
        let listed = self.gate.tools().iter().map(|tool| MountedTool {
            method: tool.method().to_owned(),
            path: tool.path().to_owned(),
            granted: self.granted.contains(tool.method()),
        });
        listed.collect()
    }

    fn describe(&self, method: &str) -> Option<String> {
        let tool = self.gate.tools().get(method)?;
        Some(tool.describe(self.granted.contains(method)).to_string())
    }

    fn parse_words(&self, method: &str, words: &[String]) -> Result<String, String> {
        let tool: &Arc<Tool> = self.gate.tools().get(method).ok_or_else(|| format!("there is no tool `{method}`"))?;
        tool.parse_words(words).map(|arguments| arguments.to_string())
    }

    fn help(&self, prefix: &str) -> Option<String> {
        self.gate.tools().help(prefix)
    }

    fn budgets(&self) -> String {
        serde_json::to_string(&self.gate.budgets()).expect("budgets are plain data")
    }
}

/// Nanoseconds since the Unix epoch, by the host's clock.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
