//! Machine code: the engines that run it, the guests embedded in this binary, and the cache on disk. And what it runs on,
//! whoever wrote it: a stack that is large enough, room for an instance, its session's memory, its turn on a core, the switch
//! that stops it.
//!
//! **Invariant:** code is mapped into memory only if it is part of this binary, or if [`Cache`] proves that this user's
//! Tollhouse wrote it. Nothing here knows what the code does.

mod attend;
mod cache;
mod embedded;
mod interrupt;
mod memory;
mod room;
mod stack;
mod tools;
mod turns;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tollhouse_registry::check_instances;
use wasmtime::Engine;
use wasmtime::component::Component;

pub use attend::attended;
pub(crate) use attend::sleeps_at_most;
pub use cache::{Cache, CacheError};
pub use embedded::embedded;
pub use interrupt::{Interrupt, Paused, Stopped};
pub(crate) use memory::MemoryShare;
pub use memory::{MemoryAccount, MemoryCharge};
pub use room::NoRoom;
pub(crate) use room::instantiate;
pub(crate) use stack::with_stack;
pub(crate) use tools::{Share, Taken, ToolEngine};

/// How often a running instance looks whether it should stop. A fifth of the 50 ms in which a cancelled run must have
/// stopped.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// The engines of a process, and where their compiled code is kept. Each engine starts when it is first used. Cheap to clone.
#[derive(Clone)]
pub struct Code {
    javascript: Arc<OnceLock<Engine>>,
    shell: Arc<OnceLock<Engine>>,
    starting: Arc<Mutex<()>>,
    /// Those of tools: the second is for tools whose fuel is limited.
    tool: Arc<OnceLock<ToolEngine>>,
    metered: Arc<OnceLock<ToolEngine>>,
    cache: Option<Arc<Cache>>,
    observer: Option<CompileObserver>,
}

/// Function that is called whenever a component of a tool is compiled, with its size in bytes. Compiling takes seconds; what
/// the function returns is dropped when it has ended.
#[derive(Clone)]
pub struct CompileObserver(Arc<dyn Fn(u64) -> Box<dyn Send> + Send + Sync>);

impl CompileObserver {
    /// Observes with this function.
    #[must_use]
    pub fn new(observe: impl Fn(u64) -> Box<dyn Send> + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }
}

impl fmt::Debug for CompileObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompileObserver(…)")
    }
}

/// Why there is no code to run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// This machine cannot run the engine.
    #[error("cannot start the WebAssembly engine")]
    Engine(#[source] anyhow::Error),
    /// A component does not compile.
    #[error("component does not compile")]
    Compile(#[source] anyhow::Error),
    /// As many instances live as there may be, and none ended in time.
    #[error("there is no room for another guest: {0}")]
    Full(NoRoom),
    /// The guest in this binary cannot be unpacked.
    #[error("the `{name}` guest in this binary is damaged")]
    Embedded {
        /// Which guest.
        name: &'static str,
        /// Why.
        #[source]
        source: anyhow::Error,
    },
}

/// Lets instances be wiped as fast as before in a process that will not be dumpable: see prctl(2), `PR_SET_DUMPABLE`. It is
/// called before that.
///
/// # Errors
/// If no engine starts here.
pub fn open_pagemap() -> Result<(), CodeError> {
    tollhouse_engine::open_pagemap().map_err(|error| CodeError::Engine(error.into()))
}

impl Code {
    /// With a cache, what was compiled once is compiled for every later process.
    #[must_use]
    pub fn new(cache: Option<Cache>) -> Self {
        let (javascript, shell, starting, tool, metered) = Default::default();
        Self { javascript, shell, starting, tool, metered, cache: cache.map(Arc::new), observer: None }
    }

    /// Tells an observer of each compilation.
    pub(crate) fn observed(self, observer: Option<CompileObserver>) -> Self {
        Self { observer, ..self }
    }

    /// The engine of the guest `js` or `shell`.
    pub(crate) fn guest_engine(&self, name: &str) -> Result<&Engine, CodeError> {
        if name == "shell" {
            self.started(&self.shell, || start(tollhouse_engine::shell()))
        } else {
            self.started(&self.javascript, || start(tollhouse_engine::guest()))
        }
    }

    /// An engine that starts when it is first used. One at a time: each reserves much of the address space, and a thousand
    /// sessions may begin at once.
    fn started<'e, E>(
        &self,
        slot: &'e OnceLock<E>,
        start: impl FnOnce() -> Result<E, CodeError>,
    ) -> Result<&'e E, CodeError> {
        if let Some(engine) = slot.get() {
            return Ok(engine);
        }
        let _one = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = slot.get() {
            return Ok(engine);
        }
        let engine = start()?;
        Ok(slot.get_or_init(|| engine))
    }

    /// The engine of tools whose fuel is limited, or of all others.
    pub(crate) fn tools(&self, metered: bool) -> Result<&ToolEngine, CodeError> {
        if metered {
            self.started(&self.metered, || ToolEngine::start(tollhouse_engine::metered()))
        } else {
            self.started(&self.tool, || ToolEngine::start(tollhouse_engine::tool()))
        }
    }

    /// The cache, if there is one.
    #[must_use]
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_deref()
    }

    /// Loads a guest that this binary carries. `name` is `js` or `shell`.
    ///
    /// # Errors
    /// If it cannot be unpacked.
    pub fn embedded_guest(&self, name: &'static str) -> Result<Component, CodeError> {
        let guest = embedded(name);
        let damaged = |source: anyhow::Error| CodeError::Embedded { name, source };
        let key = format!("guest-{name}-{}.cwasm", guest.digest);
        let engine = self.guest_engine(name)?;
        if let Some(component) = self.cache().and_then(|cache| cache.component(engine, &key)) {
            return Ok(component);
        }
        let code = zstd::decode_all(guest.code).map_err(|error| damaged(error.into()))?;
        self.keep(&key, &code);
        deserialize(engine, &code).map_err(damaged)
    }

    /// Loads a tool's component for an engine of tools, compiling it if no earlier process has. `digest` is the sha256 of
    /// `bytes`, checked by whoever read them; `bytes` is asked for only if it is needed.
    ///
    /// # Errors
    /// If it does not compile, or `bytes` fails.
    pub(crate) fn tool<E: From<CodeError>>(
        &self,
        tools: &ToolEngine,
        digest: &str,
        bytes: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Component, E> {
        let key = tools.key(digest);
        if let Some(component) = self.cache().and_then(|cache| cache.component(&tools.engine, &key)) {
            return Ok(component);
        }
        let compile = |error: wasmtime::Error| CodeError::Compile(error.into());
        let bytes = bytes()?;
        let observed = self.observer.as_ref().map(|observer| observer.0(bytes.len() as u64));
        // Once more: a registry that others have written may hold what no `publish` of this version would take.
        check_instances(&bytes).map_err(|error| CodeError::Compile(error.into()))?;
        let code = tools.engine.precompile_component(&bytes).map_err(compile)?;
        drop(observed);
        self.keep(&key, &code);
        deserialize(&tools.engine, &code).map_err(|error| CodeError::Compile(error).into())
    }

    /// A cache that cannot be written makes later starts slower and nothing else, so it is no error.
    fn keep(&self, key: &str, code: &[u8]) {
        if let Some(cache) = self.cache() {
            let _ = cache.put(key, code);
        }
    }
}

/// Returns true if an instance passed more values to its host at once than its store lets it.
pub(crate) fn is_too_much_at_once(error: &wasmtime::Error) -> bool {
    // wasmtime's type for it is private; `values_that_are_too_much_at_once_are_known` fails if the text changes.
    error.root_cause().to_string().contains("fuel allocated for hostcalls has been exhausted")
}

/// Maps machine code that this process just made, or that stands in this binary.
#[expect(unsafe_code, reason = "wasmtime cannot check machine code; both callers got it from the compiler itself")]
fn deserialize(engine: &Engine, code: &[u8]) -> anyhow::Result<Component> {
    // SAFETY: `code` is the output of `precompile_component`, in this process or when this binary was built.
    Ok(unsafe { Component::deserialize(engine, code) }?)
}

/// An engine whose clock goes.
fn start(engine: wasmtime::Result<Engine>) -> Result<Engine, CodeError> {
    let engine = engine.map_err(|error| CodeError::Engine(error.into()))?;
    tick(engine.weak());
    Ok(engine)
}

/// Advances the clock of an engine until that is gone.
fn tick(engine: wasmtime::EngineWeak) {
    let ticker = move || {
        loop {
            std::thread::sleep(TICK);
            match engine.upgrade() {
                Some(engine) => engine.increment_epoch(),
                None => return,
            }
            turns::tick();
        }
    };
    // Without the ticker no limit on time would hold, so a process that cannot start a thread must not go on.
    std::thread::Builder::new().name("tollhouse-tick".into()).spawn(ticker).expect("the process can start a thread");
}
