//! Machine code and what it runs on: engines, embedded guests, the cache of compiled code, stacks, limits of instances,
//! a session's memory, time slices on the CPU, interrupts.
//!
//! **Invariant:** code is mapped into memory only if it is part of this binary, if this process has just compiled it, or if
//! [`Cache`] proves that this user's Tollhouse wrote it. Nothing here knows what the code does.

mod cache;
mod cpu_scheduler;
mod embedded;
mod instance_limit;
mod interrupt;
mod poll_hook;
mod processors;
mod stack;
mod tool_engine;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tollhouse_registry::check_instances;
use tracing::debug;
use wasmtime::Engine;
use wasmtime::component::Component;

pub use cache::{Cache, CacheError};
pub use embedded::{Embedded, GuestContent, embedded};
pub use instance_limit::NoRoom;
pub(crate) use instance_limit::instantiate;
pub use interrupt::{Interrupt, Paused, Stopped};
pub use poll_hook::attended;
pub(crate) use poll_hook::max_sleep;
pub use processors::processor_count;
pub(crate) use stack::with_stack;
pub(crate) use tollhouse_types::memory::MemoryShare;
pub use tollhouse_types::memory::{MemoryAccount, MemoryCharge};
pub(crate) use tool_engine::{Permit, Quota, ToolEngine};

/// Interval at which a running instance checks whether it should stop: a fifth of the 50 ms within which a cancelled
/// run must have stopped.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Engines of a process, and the cache of their compiled code. Each engine starts when it is first used. Cheap to
/// clone.
#[derive(Clone)]
pub struct Code {
    javascript: Arc<OnceLock<Engine>>,
    shell: Arc<OnceLock<Engine>>,
    starting: Arc<Mutex<()>>,
    /// Engines of tools: the second is for tools whose fuel is limited.
    tool: Arc<OnceLock<ToolEngine>>,
    metered: Arc<OnceLock<ToolEngine>>,
    cache: Option<Arc<Cache>>,
    observer: Option<CompileObserver>,
}

/// Callback that is called with the size in bytes whenever the component of a tool or a portable guest is compiled, which
/// takes seconds. The value that it returns is dropped when compilation ends.
#[derive(Clone)]
pub struct CompileObserver(Arc<dyn Fn(u64) -> Box<dyn Send> + Send + Sync>);

impl CompileObserver {
    /// Creates an observer from a callback.
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

/// Reason why code cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// The engine cannot run on this machine.
    #[error("cannot start the WebAssembly engine")]
    Engine(#[source] anyhow::Error),
    /// A component cannot be compiled.
    #[error("component does not compile")]
    Compile(#[source] anyhow::Error),
    /// The engine's instances are all in use, and none became free in time.
    #[error("there is no free slot for another guest: {0}")]
    Full(NoRoom),
    /// An embedded guest is damaged, or was compiled for another processor.
    #[error("the `{name}` guest in this binary cannot be loaded on this machine")]
    Embedded {
        /// Name of the guest.
        name: &'static str,
        /// Cause of the failure.
        #[source]
        source: anyhow::Error,
    },
}

/// Opens the process's page map, so that instances are wiped as fast after the process was made undumpable (see
/// prctl(2), `PR_SET_DUMPABLE`). Call it before that.
///
/// # Errors
/// If no engine can start on this machine.
pub fn open_pagemap() -> Result<(), CodeError> {
    tollhouse_engine::open_pagemap().map_err(|error| CodeError::Engine(error.into()))
}

impl Code {
    /// Creates the engines' holder. With a cache, compiled code is reused by later processes.
    #[must_use]
    pub fn new(cache: Option<Cache>) -> Self {
        let (javascript, shell, starting, tool, metered) = Default::default();
        Self { javascript, shell, starting, tool, metered, cache: cache.map(Arc::new), observer: None }
    }

    /// Adds an observer of compilations.
    pub(crate) fn observed(self, observer: Option<CompileObserver>) -> Self {
        Self { observer, ..self }
    }

    /// Returns the engine of the guest `js` or `shell`.
    pub(crate) fn guest_engine(&self, name: &str) -> Result<&Engine, CodeError> {
        if name == "shell" {
            self.started(&self.shell, || start(tollhouse_engine::shell()))
        } else {
            self.started(&self.javascript, || start(tollhouse_engine::guest()))
        }
    }

    /// Returns an engine, starting it when it is first used. Engines start one at a time: each reserves much of the
    /// address space, and a thousand sessions may begin at once.
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

    /// Returns the engine of tools whose fuel is limited, or the engine of all other tools.
    pub(crate) fn tools(&self, metered: bool) -> Result<&ToolEngine, CodeError> {
        if metered {
            self.started(&self.metered, || ToolEngine::start(tollhouse_engine::metered()))
        } else {
            self.started(&self.tool, || ToolEngine::start(tollhouse_engine::tool()))
        }
    }

    /// Returns the cache, if there is one.
    #[must_use]
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_deref()
    }

    /// Loads an embedded guest: `js` or `shell`.
    ///
    /// # Errors
    /// If the guest cannot be unpacked, or does not compile.
    pub fn embedded_guest(&self, name: &'static str) -> Result<Component, CodeError> {
        self.guest(name, embedded(name))
    }

    /// Loads a guest that this binary has. A guest that is not compiled yet takes seconds, once for each version of
    /// Tollhouse if there is a cache.
    fn guest(&self, name: &'static str, guest: Embedded) -> Result<Component, CodeError> {
        let engine = self.guest_engine(name)?;
        let fingerprint = tollhouse_engine::fingerprint(engine);
        let key = format!("guest-{name}-{}-{}.cwasm", &fingerprint[..16], guest.digest);
        if let Some(component) = self.cache().and_then(|cache| cache.component(engine, &key)) {
            return Ok(component);
        }
        let damaged = |source: anyhow::Error| CodeError::Embedded { name, source };
        let unpack = |content| zstd::decode_all(content).map_err(|error| damaged(error.into()));
        let code = match guest.content {
            GuestContent::MachineCode(code) => {
                debug!(target: "tollhouse::code", guest = name, "unpacked");
                unpack(code)?
            }
            GuestContent::Component(component) => self.compile(engine, &unpack(component)?, name)?,
        };
        self.keep(&key, &code);
        deserialize(engine, &code).map_err(damaged)
    }

    /// Compiles a component, which takes seconds, and tells the observer. `what` names it in the log.
    fn compile(&self, engine: &Engine, component: &[u8], what: &str) -> Result<Vec<u8>, CodeError> {
        let observed = self.observer.as_ref().map(|observer| observer.0(component.len() as u64));
        let started_at = Instant::now();
        let code = engine.precompile_component(component).map_err(|error| CodeError::Compile(error.into()))?;
        debug!(target: "tollhouse::code", what, bytes = component.len(), elapsed = ?started_at.elapsed(), "compiled");
        drop(observed);
        Ok(code)
    }

    /// Loads the component of a tool for an engine of tools, compiling it if no earlier process has. `digest` is the
    /// sha256 of `bytes`, which the caller has checked; `bytes` is called only if needed.
    ///
    /// # Errors
    /// If the component does not compile, or `bytes` fails.
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
        let bytes = bytes()?;
        // Checked again, as `publish` does: a registry that others have written may hold components that this version
        // would not publish.
        check_instances(&bytes).map_err(|error| CodeError::Compile(error.into()))?;
        let code = self.compile(&tools.engine, &bytes, digest)?;
        self.keep(&key, &code);
        deserialize(&tools.engine, &code).map_err(|error| CodeError::Compile(error).into())
    }

    /// Stores compiled code in the cache. A cache that cannot be written only makes later starts slower, so failures
    /// are ignored.
    fn keep(&self, key: &str, code: &[u8]) {
        if let Some(cache) = self.cache() {
            let _ = cache.put(key, code);
        }
    }
}

/// Returns true if an instance passed larger values to its host at once than its store permits.
pub(crate) fn is_too_much_at_once(error: &wasmtime::Error) -> bool {
    // wasmtime's type for this error is private; `values_that_are_too_much_at_once_are_known` fails if the text
    // changes.
    error.root_cause().to_string().contains("fuel allocated for hostcalls has been exhausted")
}

/// Maps machine code that this process just made, or that is part of this binary.
#[expect(unsafe_code, reason = "wasmtime cannot check machine code; both callers got it from the compiler itself")]
fn deserialize(engine: &Engine, code: &[u8]) -> anyhow::Result<Component> {
    // SAFETY: `code` is the output of `precompile_component`, in this process or when this binary was built.
    Ok(unsafe { Component::deserialize(engine, code) }?)
}

/// Starts the clock of an engine.
fn start(engine: wasmtime::Result<Engine>) -> Result<Engine, CodeError> {
    let engine = engine.map_err(|error| CodeError::Engine(error.into()))?;
    tick(engine.weak());
    Ok(engine)
}

/// Advances the clock of an engine until the engine is dropped.
fn tick(engine: wasmtime::EngineWeak) {
    let ticker = move || {
        loop {
            std::thread::sleep(TICK);
            match engine.upgrade() {
                Some(engine) => engine.increment_epoch(),
                None => return,
            }
            cpu_scheduler::tick();
        }
    };
    // Without the ticker no limit on time would hold, so a process that cannot start a thread must not continue.
    std::thread::Builder::new().name("tollhouse-tick".into()).spawn(ticker).expect("the process can start a thread");
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn portable_guest_loaded_twice_is_compiled_once() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let compiled = Arc::new(AtomicU64::new(0));
        let load = || {
            let compiled = Arc::clone(&compiled);
            let observer = CompileObserver::new(move |bytes| {
                assert!(bytes > 1 << 20, "the component was unpacked");
                compiled.fetch_add(1, Ordering::Relaxed);
                Box::new(())
            });
            let cache = Cache::open(home.path().join("code")).expect("it opens");
            let code = Code::new(Some(cache)).observed(Some(observer));
            let guest = embedded::portable(tollhouse_guests::JAVASCRIPT);
            code.guest("js", guest).expect("it compiles")
        };
        for _ in 0..2 {
            let guest = load();
            assert!(guest.component_type().exports(guest.engine()).any(|(name, _)| name == "start"));
        }
        assert_eq!(compiled.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn damaged_portable_guest_is_refused_by_name() {
        let mut guest = embedded::portable(tollhouse_guests::JAVASCRIPT);
        guest.content = GuestContent::Component(&tollhouse_guests::JAVASCRIPT.component[..1000]);
        let error = Code::new(None).guest("js", guest).expect_err("it is cut short");
        assert!(matches!(error, CodeError::Embedded { name: "js", .. }), "{error:?}");
    }
}
