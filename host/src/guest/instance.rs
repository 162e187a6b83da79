//! One instance of a guest: made, started, resumed, dropped.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tollhouse_engine::{SHELL_STACK, WASM_STACK};
use wasmtime::Trap;
use wasmtime::component::Component;

use super::bindings::{ScriptGuestPre, types as wit};
use super::fault::is_overflow;
use super::operation::{Completion, Step};
use super::spare::{Instance, Lent, Spares};
use super::state::{Catalog, Output, OutputError, State, linker};
use super::to_end::Runner;
use super::together::Together;
use super::{Language, Mention};
use crate::code::{self, Code, CodeError, Interrupt, NoRoom, Stopped, with_stack};
use crate::vfs::{ApplyError, Edit, Tree};

/// The guests of a process. Each is loaded when it is first used.
pub struct Guests {
    code: Code,
    javascript: OnceLock<ScriptGuestPre<State>>,
    shell: OnceLock<ScriptGuestPre<State>>,
    spares: [Spares; 2],
    loading: Mutex<()>,
}

/// A script, and the world it wakes up in.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Its text.
    pub source: String,
    /// What stack traces call it. By its ending TypeScript is known.
    pub name: String,
    /// True if it was read from a file or a pipe, as with `bash FILE`, and not given as text, as with `bash -c`.
    pub from_file: bool,
    /// Its positional arguments.
    pub arguments: Vec<String>,
    /// Its environment.
    pub environment: Vec<(String, String)>,
    /// If a person typed it, as one of several inputs.
    pub typed: Option<Typed>,
}

/// How an input is run that a person typed. Of JavaScript, the value of its last expression is written to standard
/// output, as `util.inspect` shows it, and what it declares at its top level is left together with `state`; of bash, the
/// directory in which it ends is its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// Whether to write in colours.
    pub colors: bool,
}

/// What a guest is given besides its script.
pub(crate) struct World {
    pub(crate) files: Tree,
    pub(crate) output: Output,
    pub(crate) catalog: Arc<dyn Catalog>,
    /// Its run's memory and fuel.
    pub(crate) together: Together,
    /// Of the run's random numbers.
    pub(crate) seed: [u8; 32],
    pub(crate) interrupt: Interrupt,
    /// Runs scripts within a step of this guest.
    pub(crate) runner: Option<Box<dyn Runner>>,
}

/// Why a guest is gone. Its files and output are as they were when it stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuestError {
    /// Somebody cancelled the run.
    #[error("cancelled")]
    Cancelled,
    /// The run's time was up.
    #[error("out of time")]
    Deadline,
    /// Its output was refused.
    #[error(transparent)]
    Output(OutputError),
    /// It recursed too deeply for its stack.
    #[error("stack exhausted")]
    Stack,
    /// It needed more memory than it may have.
    #[error("memory limit reached")]
    Memory,
    /// It trapped for another reason. The guest is at fault, or the script found a fault in it.
    #[error("the guest trapped: {0}")]
    Trap(String),
}

impl Guests {
    /// Guests that run on these engines.
    #[must_use]
    pub fn new(code: Code) -> Self {
        let (javascript, shell, loading) = Default::default();
        let spares = ["js", "shell"].map(|name| Spares::with_pages(code::embedded(name).pages()));
        Self { code, javascript, shell, spares, loading }
    }

    /// Guests that are all this component, in place of those that this binary carries: a guest that lies to its host.
    pub(crate) fn lying(code: Code, component: &[u8]) -> Result<Self, CodeError> {
        let compiled = |error: wasmtime::Error| CodeError::Compile(error.into());
        let engine = code.guest_engine("js")?;
        let component = Component::new(engine, component).map_err(compiled)?;
        let linker = linker(engine).map_err(compiled)?;
        let pre = linker.instantiate_pre(&component).and_then(ScriptGuestPre::new).map_err(compiled)?;
        let (spares, loading) = Default::default();
        Ok(Self { code, javascript: pre.clone().into(), shell: pre.into(), spares, loading })
    }

    /// The guest of a language, loaded if it was not.
    pub(super) fn get(&self, language: Language) -> Result<&ScriptGuestPre<State>, CodeError> {
        let (slot, name) = match language {
            Language::JavaScript => (&self.javascript, "js"),
            Language::Shell => (&self.shell, "shell"),
        };
        if let Some(guest) = slot.get() {
            return Ok(guest);
        }
        // Unpacked once, however many want it.
        let _one = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(guest) = slot.get() {
            return Ok(guest);
        }
        let component = self.code.embedded_guest(name)?;
        let damaged = |error: wasmtime::Error| CodeError::Embedded { name, source: error.into() };
        let linker = linker(component.engine()).map_err(damaged)?;
        let pre = linker.instantiate_pre(&component).and_then(ScriptGuestPre::new).map_err(damaged)?;
        Ok(slot.get_or_init(|| pre))
    }

    fn spares(&self, language: Language) -> &Spares {
        match language {
            Language::JavaScript => &self.spares[0],
            Language::Shell => &self.spares[1],
        }
    }

    /// Makes a fresh instance. If there is no room for it, waits so long for some.
    ///
    /// # Errors
    /// If the guest in this binary cannot be loaded, or the pool of instances is exhausted.
    pub(crate) fn instantiate(&self, language: Language, world: World, patience: Duration) -> Result<Guest, CodeError> {
        let pre = self.get(language)?;
        let together = world.together;
        let limits = wit::Limits { fuel: together.fuel_left(), memory: together.memory_limit() };
        // The shell has no use for it, and its frames are large: they never stand below another guest's.
        let runner = world.runner.filter(|_| language == Language::JavaScript);
        let state = State::new(world.files, world.output, world.catalog, &together, world.seed, runner);
        let spares = self.spares(language);
        let lent = code::instantiate(&world.interrupt, patience, || spares.lend(pre, &world.interrupt));
        let mut instance = lent.map_err(|error| match error.downcast::<NoRoom>() {
            Ok(full) => CodeError::Full(full),
            Err(error) => CodeError::Engine(error.into()),
        })?;
        instance.wake(state);
        let stack = match language {
            Language::JavaScript => WASM_STACK,
            Language::Shell => SHELL_STACK,
        };
        Ok(Guest { instance, limits, stack, keeps: false })
    }
}

/// One instance. After an error it must not be resumed, only asked for its files and figures.
pub struct Guest {
    instance: Lent,
    limits: wit::Limits,
    /// What its engine lets it take of the stack, in bytes.
    stack: usize,
    /// Whether it was asked for what its script leaves.
    keeps: bool,
}

impl Guest {
    /// Starts a script in a directory, at a time (nanoseconds since the epoch), and runs it until it waits or ends. With
    /// `state`, what the last one left (empty if there was none), its outcome has one too.
    ///
    /// # Errors
    /// Why the guest is gone.
    pub fn start(
        &mut self,
        script: &Script,
        directory: &str,
        state: Option<Vec<u8>>,
        now: u64,
    ) -> Result<Step, GuestError> {
        let tools = self.instance.store.data().catalog.tools();
        let script = wit::Script {
            source: script.source.clone(),
            name: script.name.clone(),
            from_file: script.from_file,
            arguments: script.arguments.clone(),
            environment: script.environment.clone(),
            directory: directory.to_owned(),
            tools: tools
                .into_iter()
                .map(|tool| wit::Tool {
                    method: tool.method,
                    path: tool.path,
                    granted: tool.granted,
                    program: tool.program,
                    open: tool.open,
                    command: tool.command,
                })
                .collect(),
            limits: self.limits,
            state,
            typed: script.typed.map(|Typed { colors }| wit::Typed { colors }),
        };
        self.keeps = script.state.is_some();
        self.instance.store.data_mut().now = now;
        let step = self.enter(|Instance { store, bindings }| bindings.call_start(store, &script));
        self.step(step)
    }

    /// Whether a text ends in the middle of something.
    ///
    /// # Errors
    /// Why the guest is gone.
    pub(crate) fn is_open(&mut self, source: &str, name: &str) -> Result<bool, GuestError> {
        let open = self.enter(|Instance { store, bindings }| bindings.call_is_open(store, source, name));
        open.map_err(|error| self.why(&error))
    }

    /// What a script mentions by names that it does not define itself.
    ///
    /// # Errors
    /// Why the guest is gone.
    pub(crate) fn mentions(&mut self, source: &str, name: &str) -> Result<Vec<Mention>, GuestError> {
        let found = self.enter(|Instance { store, bindings }| bindings.call_mentions(store, source, name));
        found.map_err(|error| self.why(&error))
    }

    /// Delivers one completion, at a time, and runs on until the script waits or ends.
    ///
    /// # Errors
    /// Why the guest is gone.
    pub fn resume(&mut self, completion: Completion, now: u64) -> Result<Step, GuestError> {
        self.instance.store.data_mut().now = now;
        let completion = completion.into();
        let step = self.enter(|Instance { store, bindings }| bindings.call_resume(store, &completion));
        self.step(step)
    }

    /// Calls it, on a stack that is large enough.
    fn enter<T>(&mut self, call: impl FnOnce(&mut Instance) -> T) -> T {
        with_stack(self.stack, || call(&mut self.instance))
    }

    fn step(&mut self, step: wasmtime::Result<wit::Step>) -> Result<Step, GuestError> {
        let State { fuel, memory, .. } = self.instance.store.data_mut();
        match step.map(|step| Step::read(step, memory.left())) {
            Ok(Step::Finished(outcome)) => {
                fuel.spent(outcome.fuel);
                Ok(Step::Finished(outcome.keeping(self.keeps)))
            }
            Ok(step) => Ok(step),
            Err(error) => {
                fuel.lost();
                Err(self.why(&error))
            }
        }
    }

    fn why(&self, error: &wasmtime::Error) -> GuestError {
        match error.downcast_ref::<Stopped>() {
            Some(Stopped::Cancelled) => return GuestError::Cancelled,
            Some(Stopped::Deadline) => return GuestError::Deadline,
            None => {}
        }
        if let Some(refused) = error.downcast_ref::<OutputError>() {
            return GuestError::Output(refused.clone());
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => GuestError::Stack,
            // An allocation that fails ends as `unreachable`, so the refusal before it is the cause.
            _ if self.instance.store.data().memory.refused() => GuestError::Memory,
            Some(Trap::MemoryOutOfBounds) if is_overflow(error) => GuestError::Stack,
            Some(trap) => GuestError::Trap(trap.to_string()),
            None => GuestError::Trap(error.root_cause().to_string()),
        }
    }

    /// What one step may take of the stack, in bytes.
    pub(crate) fn stack(&self) -> usize {
        self.stack
    }

    /// The files as the guest sees them now.
    #[must_use]
    pub fn files(&self) -> &Tree {
        &self.instance.store.data().files
    }

    /// Gives the files away for others, between two steps.
    pub(crate) fn swap_files(&mut self, files: &mut Tree) {
        std::mem::swap(&mut self.instance.store.data_mut().files, files);
    }

    /// Changes the files between two steps, as a tool did on its own view of them.
    ///
    /// # Errors
    /// If that does not fit; then nothing is changed.
    pub(crate) fn change_files(&mut self, edits: &[Edit]) -> Result<(), ApplyError> {
        if edits.is_empty() { Ok(()) } else { self.instance.store.data_mut().files.apply(edits) }
    }

    /// Bytes written to both streams so far.
    #[must_use]
    pub fn output_bytes(&self) -> u64 {
        self.instance.store.data().output.written()
    }
}
